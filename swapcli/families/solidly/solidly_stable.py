"""Stable pools of Solidly forks, x^3 y + x y^3 = k, exactly as their contracts compute them.

The fee comes off the input first, rounded down, and leaves the pool. Both reserves are scaled to 18 decimals, and an
integer Newton iteration finds the new reserve y with f(x, y) >= k. Its branches for a step that rounds to zero are the
contract's own, including one that scales its arguments twice: with fewer than 18 decimals, that test usually overflows,
and the swap reverts although another input succeeds. This is the second version, from Velodrome V2, which Aerodrome's
`Pool` uses. The first version, from Solidly and Velodrome V1, stops at a step of at most one unit, which may be too
early for the invariant: then the swap reverts.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import asinh, atanh, cbrt, expm1, log1p, sinh, sqrt

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RoundingGain
from swapcli.core.model.units import WAD
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_pair
from swapcli.families.rounding import require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.swap_fees import FEE_PER_PPM, floored_fee_units, read_fee_remainder, write_swap_fee
from swapcli.families.token_positions import is_forward

_MAX_NEWTON_STEPS: Final = 255
"""The number of steps after which the contract reverts."""
_MAX_DECIMALS: Final = 36  # far above those of any token
FIRST_VERSION: Final = 1  # of Solidly; its search for the balance has other steps
LATEST_VERSION: Final = 2  # as Aerodrome has it


@dataclass(frozen=True, slots=True)
class SolidlyStable(Pool):
    """A stable pool of a Solidly fork: `reserves` of the two tokens in base units. `version` is the contract's version:
    1 as in Velodrome V1, or 2 as in Aerodrome.

    `fee_remainder_wad` is the part of the fee that `fee_ppm` rounds off, as a fraction scaled by 10^18.
    """

    reserves: tuple[int, int]
    version: int = LATEST_VERSION
    fee_remainder_wad: int = 0

    family: ClassVar[str] = "solidly_stable"
    swap_gas: ClassVar[int] = 123_200
    computes_output: ClassVar[bool] = True

    @property
    def swap_fee(self) -> int:
        """The total fee as a fraction scaled by 10^18."""
        return self.fee_ppm * FEE_PER_PPM + self.fee_remainder_wad

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` at the output of the contract's `getAmountOut`. Raises the same errors as `Pool.swap`."""
        forward = is_forward(self, token_in, token_out)
        if not all(self.reserves):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        amount_in_after_fee = amount_in - amount_in * self.swap_fee // WAD
        k = self._invariant_of_reserves(*self.reserves)
        amount_out = self._amount_out(forward, amount_in_after_fee, k)
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        x, y = self.reserves
        after = (x + amount_in_after_fee, y - amount_out) if forward else (x - amount_out, y + amount_in_after_fee)
        if min(after) <= 0 or self._invariant_of_reserves(*after) < k:
            raise SwapReverts(f"pool {self.key}: {amount_in} would break the contract's invariant")
        pool_after: Self = _replace_reserves(self, after)
        return amount_out, pool_after

    def curve(self, token_in: str, token_out: str) -> SolidlyStableCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = (0, 1) if is_forward(self, token_in, token_out) else (1, 0)
        return SolidlyStableCurve(
            self.reserves[i], self.reserves[j], self.decimals[i], self.decimals[j], (WAD - self.swap_fee) / WAD
        )

    def rounding_gain(self, token_in: str, token_out: str) -> RoundingGain | None:
        """Return what a trader may gain because the fee and the invariant are rounded down.

        With X and Y in whole tokens, four floors may put k of the reserves before a swap (X + Y)^2 + 1 too low, in
        10^-18. The contract pays until that k is reached, and k falls by at least X (X^2 + Y^2) for each token paid.
        """
        i, j = (0, 1) if is_forward(self, token_in, token_out) else (1, 0)
        x, y = (self.reserves[k] / 10.0 ** self.decimals[k] for k in (i, j))
        if not (x and y):
            return None
        too_low = 2.0 * ((x + y) ** 2 + 1.0) / (x * (x * x + y * y)) + 1.0  # twice this amount, plus one unit
        units = min(too_low / WAD, y) * 10.0 ** self.decimals[j]
        return RoundingGain(floored_fee_units(self.swap_fee) if self.swap_fee else 0.0, units)

    def state(self) -> dict[str, object]:
        """Return `reserves`, `version` unless it is the latest, and `swap_fee` if `fee_ppm` rounds it."""
        state: dict[str, object] = {"reserves": [str(reserve) for reserve in self.reserves]}
        if self.version != LATEST_VERSION:
            state["version"] = self.version
        return state | write_swap_fee(self.swap_fee, self.fee_ppm)

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves: [x, y]` (which may be zero), and the optional `version` and `swap_fee`.

        `swap_fee` is needed only for a fee that is not a whole number of parts per million.
        """
        check_pair(identity)
        if max(identity.decimals) > _MAX_DECIMALS:
            raise InvalidPoolState("decimals", f"at most {_MAX_DECIMALS} are supported, got {max(identity.decimals)}")
        fields = StateFields(state)
        x, y = fields.uints("reserves", 2)
        version = fields.integer("version", FIRST_VERSION, LATEST_VERSION) if fields.has("version") else LATEST_VERSION
        address, protocol, tokens, decimals, fee_ppm = identity
        remainder = read_fee_remainder(identity, fields)
        return cls(address, protocol, tokens, decimals, fee_ppm, (x, y), version, remainder)

    def _amount_out(self, forward: bool, amount_in_after_fee: int, k: int) -> int:
        i, j = (0, 1) if forward else (1, 0)
        unit_in, unit_out = _base_units(self.decimals[i]), _base_units(self.decimals[j])
        x = require_uint256(amount_in_after_fee * WAD) // unit_in + self.reserves[i] * WAD // unit_in
        y = self.reserves[j] * WAD // unit_out
        find = _find_reserve_out_first_version if self.version == FIRST_VERSION else self._find_reserve_out
        return (y - find(x, k, y)) * unit_out // WAD

    def _find_reserve_out(self, x: int, k: int, y: int) -> int:
        """Return the contract's `_get_y`: the smallest y that it finds with f(x, y) >= k, starting from the previous
        reserve."""
        for _ in range(_MAX_NEWTON_STEPS):
            f = _invariant(x, y)
            slope = _invariant_slope(x, y)
            if not slope:
                break
            if f < k:
                step = (k - f) * WAD // slope
                if step == 0:
                    if self._invariant_of_reserves(x, y + 1) > k:
                        return y + 1
                    step = 1
                y += step
            else:
                step = (f - k) * WAD // slope
                if step == 0:
                    if f == k or _invariant(x, y - 1) < k:
                        return y
                    step = 1
                y -= step
                if y < 0:
                    break
        raise SwapReverts(f"pool {self.key}: the contract finds no output reserve")

    def _invariant_of_reserves(self, x: int, y: int) -> int:
        """Return the contract's `_k` for amounts in base units."""
        first, second = self.decimals
        return _invariant(
            require_uint256(x * WAD) // _base_units(first), require_uint256(y * WAD) // _base_units(second)
        )


_replace_reserves = fast_replace(SolidlyStable, "reserves")


class SolidlyStableCurve:
    """A curve on which the price depends only on t = x / y, because the invariant is homogeneous. Every method has a
    closed form.

    p = (3 t^2 + 1) / (t^3 + 3 t) gives (1 - p) / (1 + p) = ((t - 1) / (t + 1))^3: a cube root turns a price into
    s = (t - 1) / (t + 1). On the curve x^4 is proportional to t^3 / (1 + t^2). In the other direction y solves the
    cubic y^3 + x^2 y = k / x, whose one real root is a hyperbolic sine.
    """

    __slots__ = ("_gamma", "_net", "_s", "_t", "_unit", "_x", "_y", "capacity", "start_rate")

    def __init__(self, x: int, y: int, decimals_in: int, decimals_out: int, gamma: float) -> None:
        """Take the reserves of the sold and the bought token in base units; `gamma` is one minus the fee."""
        self._gamma = gamma
        self._x, self._y = float(x), float(y)
        unit_in, unit_out = 10.0**decimals_in, 10.0**decimals_out
        self._unit = gamma * unit_out / unit_in
        self.capacity: float = _max_input(self._x / unit_in, self._y / unit_out) * unit_in / gamma if x and y else 0.0
        if self.capacity == 0.0:
            self.start_rate: float = 0.0
            return
        self._t = t = (self._x / unit_in) / (self._y / unit_out)
        self._s = (t - 1.0) / (t + 1.0)
        self.start_rate = _price(t) * self._unit

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`.
        With equal reserves, the slope is a huge number."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        price = rate / self._unit
        s0, t0 = self._s, self._t
        s = cbrt((1.0 - price) / (1.0 + price))
        if s <= s0:  # a rate that differs from the first unit's only by rounding
            return 0.0, 0.0, 0.0
        apart = (s - s0) / (1.0 - s * s0) if s < 1.0 else 1.0
        log_t = 2.0 * atanh(apart) if apart < 1.0 else _MAX_LOG_RATIO
        rise = t0 * expm1(log_t)  # t - t0 without the cancellation of a small trade
        t = t0 + rise
        log_x = 0.75 * log_t - 0.25 * log1p(rise * (t + t0) / (1.0 + t0 * t0))
        amount_in = self._x * expm1(log_x) / self._gamma
        if amount_in >= self.capacity:
            return self.capacity, self.amount_out(self.capacity), 0.0
        tt, ss = t * t, s * s
        steepness = (3.0 + tt) * (1.0 + ss + ss * ss) / (12.0 * (1.0 + tt) * max(ss, _MIN_SQUARED_SKEW))
        return amount_in, -self._y * expm1(log_x - log_t), (self._x / self._gamma + amount_in) * steepness

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        if amount_in > self.capacity:
            amount_in = self.capacity
        # If the output is far below one base unit, it may be negative in floats.
        return max(self._y * self._fraction_out(self._gamma * amount_in / self._x), 0.0) if amount_in > 0.0 else 0.0

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        if amount_in >= self.capacity:
            return 0.0
        growth = self._gamma * amount_in / self._x
        left = 1.0 - self._fraction_out(growth)
        return _price(self._t * (1.0 + growth) / left) * self._unit if left > 0.0 else 0.0

    def _fraction_out(self, growth: float) -> float:
        """Return the fraction of the output reserve that is paid when the input reserve grows by the fraction `growth`.

        With y in units of the reserve before the swap: y^3 + p y = q. The root alone would lose small trades to
        cancellation; one Newton step on the change of the cubic restores them.
        """
        tt = self._t * self._t
        x = 1.0 + growth
        p, q = tt * x * x, (tt + 1.0) / x
        root = sqrt(p / 3.0)
        y = 2.0 * root * sinh(asinh(0.5 * q / (root * root * root)) / 3.0)
        out = 1.0 - y
        change = (tt + 1.0) * growth / x + tt * growth * (1.0 + x) * y - out * (1.0 + y + y * y + tt)
        return out + change / (3.0 * y * y + p)


_MIN_SQUARED_SKEW: Final = 1e-10
"""A lower bound of s^2 in the slope, which is infinite at s = 0 (equal reserves); chosen by hand."""
_MAX_LOG_RATIO: Final = 300.0
"""A bound on ln(t / t0): e^300 is far beyond any pool, and its square still fits a float."""


def _price(t: float) -> float:
    return (3.0 * t + 1.0 / t) / (t * t + 3.0)


def _max_input(x: float, y: float) -> float:
    """Return the input in whole tokens at which the contract's products overflow; 0.0 if they already do."""
    max_reserve = cbrt(min(2.0**256 * 1e-36 / (2.0 * y), 2.0**256 * 1e-36)) * 0.99
    return max_reserve - x if max_reserve > max(x, y) else 0.0


def _find_reserve_out_first_version(x: int, k: int, y: int) -> int:
    """Return the `_get_y` of the first version: the first iterate after a step of at most one unit."""
    for _ in range(_MAX_NEWTON_STEPS):
        before = y
        cube_x, square_y = require_uint256(x * x) // WAD * x // WAD, require_uint256(y * y) // WAD
        f = require_uint256(x * (require_uint256(square_y * y) // WAD)) // WAD
        f += require_uint256(cube_x * y) // WAD
        slope = require_uint256(3 * x * square_y) // WAD + cube_x
        if not slope:
            raise SwapReverts("the contract divides by zero")
        step = require_uint256(abs(k - f) * WAD) // slope
        y += step if f < k else -step
        if y < 0:
            raise SwapReverts("the contract finds no output reserve")
        if abs(y - before) <= 1:
            break
    return y


def _base_units(decimals: int) -> int:
    unit: int = 10**decimals
    return unit


def _invariant(x: int, y: int) -> int:
    xx, yy = x * x, y * y
    product = (x * y // WAD) * (xx // WAD + yy // WAD)
    require_uint256(xx | yy | product)
    return product // WAD


def _invariant_slope(x: int, y: int) -> int:
    """Return df/dy. `_f` with the same arguments has shown that their squares fit."""
    mixed, cube = 3 * x * (y * y // WAD), (x * x // WAD) * x
    require_uint256(mixed | cube)
    return mixed // WAD + cube // WAD
