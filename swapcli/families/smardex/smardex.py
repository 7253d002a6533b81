"""SmarDex pairs: constant product on fictive reserves, which follow a moving average of the price.

The fictive reserves have the price of the pair and a different depth than its real reserves. A sale that moves the
price away from its average over the last 300 seconds trades on the current fictive reserves. A sale that moves it back
trades on them only until the price reaches the average. There, they are recomputed from the real reserves, at the same
price. The way back then has a different depth, so a sale to the average and back can gain.

The liquidity providers' part of the fee stays in both kinds of reserves. The protocol's part leaves them if the factory
collects it. The average is the one at the state's `timestamp`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.rounding import UINT128_LIMIT, require_uint128, require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward
from swapcli.families.two_part_curve import TwoPartCurve
from swapcli.families.uniswap.constant_product import ConstantProductCurve

_AVERAGE_PERIOD_S: Final = 300  # the contract's `LATENCY_WINDOW`
_COLLECTED_LIMIT: Final = 1 << 104  # above every uint104
_MAX_FEE_PPM: Final = 100_000
"""The contract's limit for both parts together."""


class PriceAverage(NamedTuple):
    """The average price as a ratio of two numbers, one per token, and the time of its last change (0 if it has not
    changed yet)."""

    first: int
    second: int
    updated_at: int


class _Reserves(NamedTuple):
    """One side of a swap: the real and fictive reserves of the sold and of the bought token."""

    real_in: int
    real_out: int
    fictive_in: int
    fictive_out: int


@dataclass(frozen=True, slots=True)
class SmarDex(Pool):
    """A SmarDex pair.

    `fee_ppm` is the sum of the providers' fee, `lp_fee_ppm`, and the protocol's fee, which stays in the pair if it
    `keeps_protocol_fee`.
    """

    reserves: tuple[int, int]
    fictive_reserves: tuple[int, int]
    average: PriceAverage
    lp_fee_ppm: int
    timestamp: int
    keeps_protocol_fee: bool

    family: ClassVar[str] = "smardex"
    swap_gas: ClassVar[int] = 66_700
    """Measured with the bytecode: 6,800 more than a Uniswap V2 pair in the same EVM."""

    @property
    def changes_without_events(self) -> bool:
        """Whether the average is still moving towards the price."""
        return self.timestamp - self.average.updated_at < _AVERAGE_PERIOD_S

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` as the contract's `swap` does. Raises the same errors as `Pool.swap`."""
        try:
            return self._swap(token_in, token_out, amount_in)
        except ZeroDivisionError:
            raise SwapReverts(
                f"pool {self.key}: the contract divides by zero, because a fictive reserve is too small"
            ) from None

    def _swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        forward = is_forward(self, token_in, token_out)
        before, average = self._side(forward), self._current_average(forward)
        net = amount_in * (PPM - self.fee_ppm) // PPM
        limit = self._sale_to_average(before, average, net)
        first = net if limit is None else min(limit, net)
        if first == net and _is_about(before, average):
            before = _with_new_fictive(before)
        gross = first * PPM // (PPM - self.fee_ppm)
        amount_out, after = self._sell(before, gross)
        if first < net:
            more, after = self._sell(_with_new_fictive(after), amount_in - gross)
            amount_out += more
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        if not (after.fictive_in and after.fictive_out) or max(*after[2:], *average) >= UINT128_LIMIT:
            raise SwapReverts(f"pool {self.key} cannot store its fictive reserves after {amount_in}")
        taken = 0 if self.keeps_protocol_fee else amount_in * (self.fee_ppm - self.lp_fee_ppm) // PPM
        if taken >= _COLLECTED_LIMIT:
            raise SwapReverts(f"pool {self.key} cannot store the protocol's fee of {taken}")
        real = self._ordered(forward, before.real_in + amount_in - taken, before.real_out - amount_out)
        require_uint128(max(real))
        fictive = self._ordered(forward, after.fictive_in, after.fictive_out)
        changed = PriceAverage(*self._ordered(forward, *average), self.timestamp)
        pool: Self = _after_swap(self, real, fictive, changed)
        return amount_out, pool

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one part up to the average price if
        the sale moves there, and one beyond."""
        forward = is_forward(self, token_in, token_out)
        try:
            before, average = self._side(forward), self._current_average(forward)
            first = self._sale_to_average(before, average, 0)
            if first is None or _is_about(before, average):
                return self._part(_with_new_fictive(before) if _is_about(before, average) else before)
            gross = first * PPM // (PPM - self.fee_ppm)
            if not gross:
                return self._part(_with_new_fictive(before))
            _, between = self._sell(before, gross)
            return TwoPartCurve(self._part(before, gross), self._part(_with_new_fictive(between)))
        except (SwapReverts, InsufficientLiquidity, ZeroDivisionError):
            return ZeroCurve()

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        state: dict[str, object] = {
            "reserves": [str(each) for each in self.reserves],
            "fictive_reserves": [str(each) for each in self.fictive_reserves],
            "average": [str(self.average.first), str(self.average.second), self.average.updated_at],
            "lp_fee_ppm": self.lp_fee_ppm,
            "timestamp": self.timestamp,
        }
        return {**state, "keeps_protocol_fee": True} if self.keeps_protocol_fee else state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `state`; without `keeps_protocol_fee`, the protocol's fee leaves the pair."""
        check_pair(identity)
        fields = StateFields(state)
        lp_fee_ppm = fields.integer("lp_fee_ppm", 1, _MAX_FEE_PPM)
        if not lp_fee_ppm <= identity.fee_ppm <= _MAX_FEE_PPM:
            raise InvalidPoolState("lp_fee_ppm", f"{lp_fee_ppm} cannot be a part of the fee of {identity.fee_ppm} ppm")
        reserves, fictive = fields.uints("reserves", 2, 128), fields.uints("fictive_reserves", 2, 128)
        average = PriceAverage(*fields.uints("average", 3, 128))
        timestamp = fields.uint("timestamp", 40)
        if average.updated_at > timestamp:
            raise InvalidPoolState("average", f"its time is after the state's own time {timestamp}")
        if average.updated_at and not (average.first and average.second):
            raise InvalidPoolState("average", "one of the two numbers of its price is zero")
        return cls(
            *identity,
            (reserves[0], reserves[1]),
            (fictive[0], fictive[1]),
            average,
            lp_fee_ppm,
            timestamp,
            fields.boolean("keeps_protocol_fee"),
        )

    def _side(self, forward: bool) -> _Reserves:
        side = _Reserves(*self._ordered(forward, *self.reserves), *self._ordered(forward, *self.fictive_reserves))
        if not all(side):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        return side

    def _ordered(self, forward: bool, first: int, second: int) -> tuple[int, int]:
        return (first, second) if forward else (second, first)

    def _current_average(self, forward: bool) -> tuple[int, int]:
        """Return the average price at the state's time, as numbers for the sold and the bought token."""
        average_in, average_out = self._ordered(forward, self.average.first, self.average.second)
        fictive_in, fictive_out = self._ordered(forward, *self.fictive_reserves)
        if not self.average.updated_at:
            return fictive_in, fictive_out
        elapsed = min(self.timestamp - self.average.updated_at, _AVERAGE_PERIOD_S)
        if not elapsed:
            return average_in, average_out
        before = require_uint256((_AVERAGE_PERIOD_S - elapsed) * average_out * fictive_in) // average_in
        return fictive_in, (before + elapsed * fictive_out) // _AVERAGE_PERIOD_S

    def _sale_to_average(self, side: _Reserves, average: tuple[int, int], net: int) -> int | None:
        """Return the input after the fee that brings the price to its average, or None if a sale moves it away.

        `net` is the input with which the contract compares it; that comparison may overflow.
        """
        _, _, fictive_in, fictive_out = side
        average_in, average_out = average
        if require_uint256(fictive_out * average_in) <= require_uint256(fictive_in * average_out):
            return None
        pool_fee = self.fee_ppm - self.lp_fee_ppm
        offset = fictive_in * (2 * PPM - 2 * pool_fee - self.lp_fee_ppm)
        divisor = 2 * (PPM - pool_fee)
        product = require_uint256(fictive_in * fictive_out * 4) // average_out * average_in
        square = require_uint256(
            require_uint256(product * ((PPM - self.fee_ppm) * (PPM - pool_fee)))
            + fictive_in * fictive_in * self.lp_fee_ppm * self.lp_fee_ppm
        )
        require_uint256((offset + net * divisor) ** 2)
        root = isqrt(square)
        if root < offset:
            raise SwapReverts(f"pool {self.key}: the price average underflows")
        return (root - offset) // divisor

    def _sell(self, side: _Reserves, amount: int) -> tuple[int, _Reserves]:
        """Sell on constant fictive reserves, and return the output and all reserves afterwards."""
        net = require_uint256(amount * (PPM - self.fee_ppm))
        amount_out = require_uint256(net * side.fictive_out) // require_uint256(side.fictive_in * PPM + net)
        added = (net + amount * self.lp_fee_ppm) // PPM
        if amount_out > min(side.real_out, side.fictive_out):
            raise InsufficientLiquidity(f"pool {self.key} holds less than {amount_out} of the output token")
        return amount_out, _Reserves(
            side.real_in + added, side.real_out - amount_out, side.fictive_in + added, side.fictive_out - amount_out
        )

    def _part(self, side: _Reserves, max_in: int | None = None) -> RateCurve:
        """Return the curve of a sale on constant fictive reserves, up to the pair's balance."""
        if not (side.real_out and side.fictive_in and side.fictive_out):
            return ZeroCurve()
        limit = float(UINT128_LIMIT - 1 - side.fictive_in) if max_in is None else float(max_in)
        if side.real_out < side.fictive_out:
            left = side.fictive_out - side.real_out
            limit = min(limit, side.real_out * side.fictive_in / left * PPM / (PPM - self.fee_ppm))
        return ConstantProductCurve(float(side.fictive_in), float(side.fictive_out), self.fee_ppm, limit)


_after_swap = fast_replace(SmarDex, "reserves", "fictive_reserves", "average")


def _is_about(side: _Reserves, average: tuple[int, int]) -> bool:
    """Return whether the price equals its average to within a millionth."""
    x, y = (require_uint256(each) for each in (side.fictive_in * average[1], side.fictive_out * average[0]))
    low, high = min(x, y), max(x, y)
    return low == high or high < low + low // PPM


def _with_new_fictive(side: _Reserves) -> _Reserves:
    """Return the reserves with fictive ones recomputed from the real ones, at the same price."""
    real_in, real_out, fictive_in, fictive_out = side
    if require_uint256(real_out * fictive_in) < require_uint256(real_in * fictive_out):
        part = require_uint256(real_out * real_out // fictive_out * fictive_in) // real_in
        new_in = part * fictive_in // fictive_out + real_out * fictive_in // fictive_out
        return side._replace(fictive_in=new_in // 4, fictive_out=(real_out + part) // 4)
    new_in = fictive_in * real_out // fictive_out + real_in
    new_out = real_in * fictive_out // fictive_in + real_out
    return side._replace(fictive_in=new_in // 4, fictive_out=new_out // 4)
