"""Constant product pools, x * y = k: Uniswap V2, its forks with any fee, and volatile Solidly pools.

Uniswap V2 keeps the fee inside the reserves: the output is the largest with (x * 10^6 + in * (10^6 - fee)) * (y - out)
>= x * y * 10^6, and reserves are 112 bits wide. Solidly, Velodrome and Aerodrome (`variant` "solidly") first deduct the
fee from the input, rounded down, and move it out of the pool, so both the output and the reserves afterwards differ;
some have fees finer than one part per million. Such a pool pays no more than requested: with the `variant`
"solidly_v2_output", the trader requests the output of Uniswap's formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import nextafter, sqrt

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RoundingGain
from swapcli.core.model.units import PPM, WAD
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_pair
from swapcli.families.rounding import UINT256_LIMIT, WORD_BITS, require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.swap_fees import FEE_PER_PPM, floored_fee_units, read_fee_remainder, write_swap_fee
from swapcli.families.token_positions import is_forward

UNISWAP_V2: Final = "uniswap_v2"
SOLIDLY: Final = "solidly"
SOLIDLY_V2_OUTPUT: Final = "solidly_v2_output"

MAX_RESERVE = (1 << 112) - 1  # uint112


@dataclass(frozen=True, slots=True)
class ConstantProduct(Pool):
    """A pair: `reserves` of the two tokens in base units; `is_solidly` and `has_v2_output` select the variant.

    `fee_remainder_wad` is the part of the fee that `fee_ppm` rounds off, as a fraction scaled by 10^18; only Solidly
    pools have such fees.
    """

    reserves: tuple[int, int]
    is_solidly: bool = False
    has_v2_output: bool = False
    fee_remainder_wad: int = 0

    family: ClassVar[str] = "constant_product"
    swap_gas: ClassVar[int] = 59_900

    @property
    def computes_output(self) -> bool:
        """Whether the pair pays the output that its own function from Solidly computes."""
        return self.is_solidly and not self.has_v2_output

    @property
    def swap_fee(self) -> int:
        """The total fee as a fraction scaled by 10^18."""
        return self.fee_ppm * FEE_PER_PPM + self.fee_remainder_wad

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` for the largest output that the pair allows. Raises the same errors as `Pool.swap`."""
        forward = is_forward(self, token_in, token_out)
        x, y = self.reserves if forward else self.reserves[::-1]
        if not (x and y):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        trade = _swap_solidly if self.is_solidly else _swap_uniswap
        amount_out, x_after = trade(self, x, y, amount_in)
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        y_after = y - amount_out
        after: Self = _replace_reserves(self, (x_after, y_after) if forward else (y_after, x_after))
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> ConstantProductCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        x, y = self.reserves if is_forward(self, token_in, token_out) else self.reserves[::-1]
        max_in = UINT256_LIMIT // (y or 1) if self.is_solidly else MAX_RESERVE - x
        return ConstantProductCurve(x, y, self.fee_ppm + self.fee_remainder_wad / FEE_PER_PPM, max_in)

    def rounding_gain(self, token_in: str, token_out: str) -> RoundingGain | None:
        """Return what a trader may gain from Solidly's rounded-down fee. All other rounding in both contracts favours
        the pool."""
        del token_in, token_out
        return RoundingGain(floored_fee_units(self.swap_fee)) if self.computes_output and self.swap_fee else None

    def state(self) -> dict[str, object]:
        """Return `reserves` and, for Solidly pools, `variant`, and `swap_fee` if `fee_ppm` rounds it."""
        state: dict[str, object] = {"reserves": [str(reserve) for reserve in self.reserves]}
        if self.is_solidly:
            state["variant"] = SOLIDLY_V2_OUTPUT if self.has_v2_output else SOLIDLY
        return state | write_swap_fee(self.swap_fee, self.fee_ppm)

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves: [x, y]` (which may be zero), and the optional `variant`.

        Pools of Solidly may have `swap_fee`, for a fee that is not a whole number of parts per million.
        """
        check_pair(identity)
        fields = StateFields(state)
        variant = fields.choice("variant", (UNISWAP_V2, SOLIDLY, SOLIDLY_V2_OUTPUT), default=UNISWAP_V2)
        solidly = variant != UNISWAP_V2
        x, y = fields.uints("reserves", 2, WORD_BITS if solidly else 112)
        if x * y >> WORD_BITS:
            raise InvalidPoolState("reserves", "their product exceeds 256 bits")
        remainder = read_fee_remainder(identity, fields)
        if remainder and not solidly:
            raise InvalidPoolState("swap_fee", "only Solidly's pools have a fee finer than a part per million")
        return cls(
            *identity,
            (x, y),
            solidly,
            variant == SOLIDLY_V2_OUTPUT,
            remainder,
        )

    def gas_units(self, after: Pool) -> int:
        """Return the gas of a swap; Solidly pools also pay out the fee and write price observations."""
        del after
        return SOLIDLY_GAS if self.is_solidly else self.swap_gas


SOLIDLY_GAS = 117_100
"""The gas units of a swap in a volatile Solidly pool, measured on the contract's bytecode in a local EVM."""
_replace_reserves = fast_replace(ConstantProduct, "reserves")


class ConstantProductCurve:
    """The curve out = g a y / (x + g a) with g = 1 - fee. Every method has a closed form.

    With q = (x + g a) / x the marginal rate is start_rate / q^2.
    """

    __slots__ = ("_gamma", "_x", "_y", "capacity", "start_rate")

    def __init__(self, x: float, y: float, fee_ppm: float, max_in: float) -> None:
        """Take the reserves of the sold and the bought token; `max_in` is the largest input that the contract
        accepts."""
        self._x, self._y = float(x), float(y)
        self._gamma = (PPM - fee_ppm) / PPM
        sellable = x > 0 and y > 0 and max_in > 0
        self.capacity: float = nextafter(float(max_in), 0.0) if sellable else 0.0
        self.start_rate: float = self._gamma * y / x if sellable else 0.0

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        start = self.start_rate
        if rate >= start:
            return 0.0, 0.0, 0.0
        excess = (start - rate) / rate
        q = sqrt(1.0 + excess)
        x, gamma = self._x, self._gamma
        growth = excess / (q + 1.0)  # q - 1 without its cancellation
        amount_in = x * growth / gamma
        if amount_in < self.capacity:
            return amount_in, self._y * growth / q, 0.5 * x * q / gamma
        return self.capacity, self.amount_out(self.capacity), 0.0

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        if amount_in > self.capacity:
            amount_in = self.capacity
        if amount_in <= 0.0:
            return 0.0
        amount_in_after_fee = self._gamma * amount_in
        return self._y * (amount_in_after_fee / (self._x + amount_in_after_fee))

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        if amount_in >= self.capacity:
            return 0.0
        q = 1.0 + self._gamma * amount_in / self._x
        return self.start_rate / (q * q)


def _swap_uniswap(pool: ConstantProduct, x: int, y: int, amount_in: int) -> tuple[int, int]:
    x_after = x + amount_in
    if x_after > MAX_RESERVE:
        raise SwapReverts(f"pool {pool.key}: {amount_in} would raise a reserve above 2^112 - 1")
    scaled_in_after_fee = amount_in * (PPM - pool.fee_ppm)
    return scaled_in_after_fee * y // (x * PPM + scaled_in_after_fee), x_after


def _swap_solidly(pool: ConstantProduct, x: int, y: int, amount_in: int) -> tuple[int, int]:
    amount_in_after_fee = amount_in - amount_in * pool.swap_fee // WAD
    x_after = x + amount_in_after_fee
    amount_out = amount_in_after_fee * y // x_after
    if pool.has_v2_output:
        # The fee is not rounded down here, so this is at most the pool's output.
        scaled_in_after_fee = amount_in * (WAD - pool.swap_fee)
        amount_out = scaled_in_after_fee * y // (x * WAD + scaled_in_after_fee)
    require_uint256(amount_in_after_fee * y | x_after * (y - amount_out))
    return amount_out, x_after
