"""Balancer V2's weighted pools, exactly as `WeightedMath` computes them and the Vault settles them.

The fee comes off the input first, rounded up. Amounts are scaled to 18 decimals; the output is y * (1 - (x / (x + in))
^ (w_in / w_out)) with every step rounded against the trader, and the power with an additional margin. A swap takes at
most 30% of the input token's balance, and balances are 112 bits wide.

`version` is the version of the pool's factory. The first (task `20210418-weighted-pool`) has no shortcuts: it adds the
margin even for the exponents 1, 2 and 4, which later versions (from `20220908-weighted-pool-v2` on) multiply out.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, expm1, log, log1p, nextafter

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.log_exp import power
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_multi_token
from swapcli.families.reserves import reserves_after_swap, to_18_decimals
from swapcli.families.rounding import mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.swap_fees import FEE_PER_PPM, read_fee_remainder, write_swap_fee
from swapcli.families.token_positions import token_indices

_BALANCE_BITS: Final = 112
# `WeightedMath._MIN_WEIGHT`, `_MAX_IN_RATIO` and `FixedPoint.MAX_POW_RELATIVE_ERROR` of Balancer V2.
_MIN_WEIGHT: Final = WAD // 100
MAX_IN_RATIO: Final = 3 * WAD // 10
_POWER_MARGIN: Final = 10_000
_FIRST_VERSION: Final = 1
_LATEST_VERSION: Final = 4


@dataclass(frozen=True, slots=True)
class Weighted(Pool):
    """A Balancer V2 weighted pool: `reserves` in base units, `weights` as fractions scaled by 10^18 that add up to one,
    and the factory's `version`.

    `pool_id` is the Vault's ID for the pool: 32 bytes in hex, empty if unknown. `fee_remainder_wad` is the part of the
    fee that `fee_ppm` rounds off, as a fraction scaled by 10^18.
    """

    reserves: tuple[int, ...]
    weights: tuple[int, ...]
    version: int = _LATEST_VERSION
    pool_id: str = ""
    fee_remainder_wad: int = 0

    family: ClassVar[str] = "weighted"
    swap_gas: ClassVar[int] = 87_700
    holds_reserves_in_vault: ClassVar[bool] = True

    @property
    def swap_fee(self) -> int:
        """The total fee as a fraction scaled by 10^18."""
        return self.fee_ppm * FEE_PER_PPM + self.fee_remainder_wad

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` through the Vault.

        Raises the same errors as `Pool.swap`, with `SwapReverts` above 30% of the balance.
        """
        i, j = token_indices(self, token_in, token_out)
        if not (self.reserves[i] and self.reserves[j]):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        if self.reserves[i] + amount_in >> _BALANCE_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} would raise a balance above 2^112 - 1")
        amount_in_after_fee = amount_in - mul_div_up(amount_in, self.swap_fee, WAD)
        amount_out = self._amount_out(i, j, amount_in_after_fee)
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        after: Self = _replace_reserves(self, reserves_after_swap(self.reserves, i, amount_in, j, amount_out))
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> WeightedCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        x, y = self.reserves[i], self.reserves[j]
        max_in_after_fee = x * MAX_IN_RATIO // WAD
        complement = WAD - self.swap_fee
        max_in = min(max_in_after_fee * WAD // complement, (1 << _BALANCE_BITS) - 1 - x)
        return WeightedCurve(x, y, self.weights[i] / self.weights[j], complement / WAD, max_in)

    def state(self) -> dict[str, object]:
        """Return `reserves` and `weights`, and if needed `version` (unless it is the latest), `pool_id` and
        `swap_fee`."""
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "weights": [str(weight) for weight in self.weights],
        }
        if self.version != _LATEST_VERSION:
            state["version"] = self.version
        if self.pool_id:
            state["pool_id"] = self.pool_id
        return state | write_swap_fee(self.swap_fee, self.fee_ppm)

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves` (which may be zero) and `weights` (each at least 1%).

        Optional: `version`, `pool_id`, and `swap_fee` for a fee that is not a whole number of parts per million.
        """
        check_multi_token(identity)
        fields = StateFields(state)
        count = len(identity.tokens)
        reserves = fields.uints("reserves", count, _BALANCE_BITS)
        weights = read_weights(fields, count)
        version = fields.optional_uint("version")
        if version is None:
            version = _LATEST_VERSION
        elif not _FIRST_VERSION <= version <= _LATEST_VERSION:
            raise InvalidPoolState("version", f"expected {_FIRST_VERSION} to {_LATEST_VERSION}, not {version}")
        return cls(
            *identity,
            reserves,
            weights,
            version,
            fields.optional_hex("pool_id", 32) or "",
            read_fee_remainder(identity, fields),
        )

    def _amount_out(self, i: int, j: int, amount_in_after_fee: int) -> int:
        scale_in, scale_out = to_18_decimals(self.decimals[i]), to_18_decimals(self.decimals[j])
        x, y, sold = self.reserves[i] * scale_in, self.reserves[j] * scale_out, amount_in_after_fee * scale_in
        if sold > x * MAX_IN_RATIO // WAD:
            raise SwapReverts(f"pool {self.key} takes at most 30% of its balance in one swap")
        base = mul_div_up(x, WAD, x + sold)
        left = power_up(base, self.weights[i] * WAD // self.weights[j], self.version > _FIRST_VERSION)
        return y * max(WAD - left, 0) // WAD // scale_out


_replace_reserves = fast_replace(Weighted, "reserves")


def read_weights(fields: StateFields, count: int) -> tuple[int, ...]:
    """Read `weights`: fractions scaled by 10^18, each at least 1%, that add up to one."""
    weights = fields.uints("weights", count)
    for k, weight in enumerate(weights):
        if weight < _MIN_WEIGHT:
            raise InvalidPoolState(f"weights[{k}]", f"expected at least {_MIN_WEIGHT} (1%), not {weight}")
    if sum(weights) != WAD:
        raise InvalidPoolState("weights", f"expected a sum of 10^18, not {sum(weights)}")
    return weights


def power_up(base: int, exponent: int, has_shortcuts: bool = True) -> int:
    """Return base ^ exponent, rounded up, as the contracts' `powUp` does. Exponents 1, 2 and 4 are multiplied out."""
    if has_shortcuts:
        if exponent == WAD:
            return base
        if exponent == 2 * WAD:
            return mul_div_up(base, base, WAD)
        if exponent == 4 * WAD:
            square = mul_div_up(base, base, WAD)
            return mul_div_up(square, square, WAD)
    raw = power(base, exponent)
    return raw + mul_div_up(raw, _POWER_MARGIN, WAD) + 1


class WeightedCurve:
    """The curve out = y (1 - q^-w) with q = (x + g in) / x, w = w_in / w_out, g = 1 - fee. Every method has a closed
    form.

    The marginal rate is start_rate / q^(1 + w). The contract's margin on the power, 10^-14 of the output token's
    balance, is omitted: it would make the output of the first unit zero.
    """

    __slots__ = ("_gamma", "_weight_ratio", "_x", "_y", "capacity", "start_rate")

    def __init__(self, x: int, y: int, weight_ratio: float, gamma: float, max_in: int) -> None:
        """Take both reserves and the largest input in base units; `gamma` is one minus the fee."""
        self._x, self._y, self._weight_ratio, self._gamma = float(x), float(y), weight_ratio, gamma
        sellable = x > 0 and y > 0 and max_in > 0
        self.capacity: float = nextafter(float(max_in), 0.0) if sellable else 0.0
        self.start_rate: float = gamma * weight_ratio * y / x if sellable else 0.0

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        start = self.start_rate
        if rate >= start:
            return 0.0, 0.0, 0.0
        x, w, gamma = self._x, self._weight_ratio, self._gamma
        log_q = log(start / rate) / (1.0 + w)
        amount_in = x * expm1(log_q) / gamma if log_q < 1.0 else self.capacity
        if amount_in < self.capacity:
            return amount_in, -self._y * expm1(-w * log_q), x * exp(log_q) / (gamma * (1.0 + w))
        return self.capacity, self.amount_out(self.capacity), 0.0

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        if amount_in > self.capacity:
            amount_in = self.capacity
        if amount_in <= 0.0:
            return 0.0
        return -self._y * expm1(-self._weight_ratio * log1p(self._gamma * amount_in / self._x))

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        if amount_in >= self.capacity:
            return 0.0
        return self.start_rate * exp(-(1.0 + self._weight_ratio) * log1p(self._gamma * amount_in / self._x))
