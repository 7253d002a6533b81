"""Lunarbase: a pool that trades at a price published by its operator, less a fee and slippage that depends on the size
of the sale.

The formulas are in `lunarbase_math`. A swap does not move the published price. Callers without a privilege pay
`fee_multiplier` times the fee. The contract, which is not published, is behind a proxy. Its slippage rule was replaced
on 2026-08-21, so the state records which rule a pool has. Whether the fee stays in the reserves is not published
either, so a route uses such a pool once.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import MAX_FEE_PPM, Pool, PoolIdentity, RateCurve, RoundingGain
from swapcli.core.model.units import PPM
from swapcli.families.fast_replace import fast_replace
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.oracle_priced.lunarbase_curve import RangeCurve, Side
from swapcli.families.oracle_priced.lunarbase_math import (
    K_UNIT,
    MAX_SLIPPAGE,
    Q24,
    Q96,
    SLIPPAGE_SCALE,
    SLIPPAGE_UNIT,
    Anchor,
    gross_output,
    split_fee,
)
from swapcli.families.reserves import reserves_after_swap
from swapcli.families.rounding import CAPACITY_MARGIN
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward
from swapcli.families.two_part_curve import TwoPartCurve
from swapcli.families.uniswap.constant_product import ConstantProductCurve

QUADRATIC: Final = "quadratic"
LINEAR: Final = "linear"
_ROOT_BITS: Final = 160
_RESERVE_BITS: Final = 112
_FEE_BITS: Final = 24
_COEFFICIENT_BITS: Final = 32
_MULTIPLIER_BITS: Final = 128
"""More bits than any multiplier that leaves an output: the contract's is a whole word."""
_STEPS: Final = 60
"""The number of halvings that find a tangent to the precision of a float."""
_WIDTH_ERROR: Final = 2.0**-46
"""The error of an output, per unit of the coefficient: the width of the range is rounded down to 48 bits."""
_ROOT_ERROR: Final = float(1 << 26)
"""The end of the range is rounded down by up to one unit of a width of at least 2^-24 of the root."""


@dataclass(frozen=True, slots=True)
class Lunarbase(Pool):
    """A Lunarbase pool. `anchor` is the square root of the price of the first token in the second, times 2^96.

    `fee_bid` is the fee for selling the first token and `fee_ask` the fee for selling the second, both in parts of 2^24
    of the output; `fee_ppm` is the lower one for callers without a privilege. `concentration` is the slippage
    coefficient times 2^12.
    """

    reserves: tuple[int, int]
    anchor: int
    fee_ask: int
    fee_bid: int
    concentration: int
    is_linear: bool = False
    fee_multiplier: int = 1

    family: ClassVar[str] = "lunarbase"
    swap_gas: ClassVar[int] = 120_000
    """The estimate of public routers, since the contract is not published."""
    changes_without_events: ClassVar[bool] = True
    """The published price becomes stale after some blocks, and the pool then rejects swaps."""

    @property
    def is_single_use(self) -> bool:
        """Whether only the pool's first swap is predictable."""
        return True

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in`. Raises the same errors as `Pool.swap`."""
        sells_x = is_forward(self, token_in, token_out)
        gross, _ = gross_output(self._anchor, amount_in, sells_x, self.is_linear)
        amount_out, _ = split_fee(gross, self.fee_bid if sells_x else self.fee_ask, self.fee_multiplier)
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        i = 0 if sells_x else 1
        reserves = reserves_after_swap(self.reserves, i, amount_in, 1 - i, gross)
        if reserves[i] >> _RESERVE_BITS:
            raise SwapReverts(f"pool {self.key} cannot store a reserve of {reserves[i]}")
        after: Self = _replace_reserves(self, reserves)
        return amount_out, after

    @property
    def _anchor(self) -> Anchor:
        return Anchor(self.anchor, *self.reserves, self.concentration)

    def _side(self, sells_x: bool) -> Side:
        """Return one direction in floating point."""
        price = (self.anchor / Q96) ** 2
        reserve_x, reserve_y = self.reserves
        wealth = reserve_x * price + reserve_y
        fee = min((self.fee_bid if sells_x else self.fee_ask) / Q24 * max(self.fee_multiplier, 1), 1.0)
        k = self.concentration / K_UNIT
        if sells_x:
            return Side(price * (1.0 - fee), price, float(reserve_y), wealth / price, k)
        return Side((1.0 - fee) / price, 1.0 / price, float(reserve_x), wealth, k)

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`.

        With the linear slippage rule, exact amounts are up to 3 parts per million below the curve.
        """
        side = self._side(is_forward(self, token_in, token_out))
        if min(side.rate, side.reserve, side.wealth) <= 0.0:
            return ZeroCurve()
        if not side.k:
            return fixed_rate_curve(side.rate, int(side.reserve * side.rate / side.price))
        return _linear_curve(side) if self.is_linear else RangeCurve(side)

    def rounding_gain(self, token_in: str, token_out: str) -> RoundingGain | None:
        """Return what a trader may gain because the fee is rounded down and the range is rounded."""
        del token_in, token_out
        part = 0.0 if self.is_linear else self.concentration / K_UNIT * _WIDTH_ERROR + _ROOT_ERROR / self.anchor
        return RoundingGain(0.0, float(max(self.fee_multiplier, 1)) + 1.0, part)

    def state(self) -> dict[str, object]:
        """Return the fields of the class by name, `slippage` for the rule, and the multiplier if it is not 1."""
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "anchor": str(self.anchor),
            "fee_ask": self.fee_ask,
            "fee_bid": self.fee_bid,
            "concentration": self.concentration,
            "slippage": LINEAR if self.is_linear else QUADRATIC,
        }
        return state if self.fee_multiplier == 1 else state | {"fee_multiplier": str(self.fee_multiplier)}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `state`. The identity's `fee_ppm` is the `lowest_fee_ppm` of the pool's fees."""
        check_pair(identity)
        fields = StateFields(state)
        reserves = fields.uints("reserves", 2, _RESERVE_BITS)
        anchor = fields.integer("anchor", 1, (1 << _ROOT_BITS) - 1)
        fee_ask, fee_bid = (fields.uint(name, _FEE_BITS) for name in ("fee_ask", "fee_bid"))
        multiplier = fields.optional_uint("fee_multiplier", _MULTIPLIER_BITS)
        multiplier = 1 if multiplier is None else max(multiplier, 1)
        lowest = lowest_fee_ppm(fee_ask, fee_bid, multiplier)
        if identity.fee_ppm != lowest:
            raise InvalidPoolState("fee_ppm", f"{identity.fee_ppm} differs from {lowest}, the lower one of its fees")
        return cls(
            *identity,
            (reserves[0], reserves[1]),
            anchor,
            fee_ask,
            fee_bid,
            fields.uint("concentration", _COEFFICIENT_BITS),
            fields.choice("slippage", (QUADRATIC, LINEAR)) == LINEAR,
            multiplier,
        )


_replace_reserves = fast_replace(Lunarbase, "reserves")


def lowest_fee_ppm(fee_ask: int, fee_bid: int, multiplier: int) -> int:
    """Return the lower of the two directions' fees, times `multiplier`, in parts per million, rounded down."""
    return min(min(fee_ask, fee_bid) * multiplier * PPM // Q24, MAX_FEE_PPM)


def _linear_curve(side: Side) -> RateCurve:
    """Return the curve of the linear rule without rounding: a constant product up to the limit of the slippage.

    With a virtual reserve x of the sold token, a sale of a pays the part 1 / (1 + a / x) of its value. Beyond the
    limit, the rate of the whole sale is constant, so from the tangent point on, the curve is the tangent to the end of
    that line.
    """
    x = side.wealth * SLIPPAGE_UNIT * SLIPPAGE_SCALE / side.k
    limit = MAX_SLIPPAGE / SLIPPAGE_UNIT
    depth = side.reserve / side.price / x  # of the bought reserve
    if depth <= limit / (1.0 + limit):
        end = depth / (1.0 - depth)
        return ConstantProductCurve(x, x * side.rate, 0, x * end * CAPACITY_MARGIN)
    end, paid = depth * (1.0 + limit), depth
    low, high = 0.0, limit
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if (paid - middle / (1.0 + middle)) * (1.0 + middle) ** 2 < end - middle:
            low = middle
        else:
            high = middle
    first = ConstantProductCurve(x, x * side.rate, 0, x * low)
    rest = paid - low / (1.0 + low)
    second = fixed_rate_curve(side.rate * rest / (end - low), int(x * side.rate * rest))
    return TwoPartCurve(first, second) if low else second
