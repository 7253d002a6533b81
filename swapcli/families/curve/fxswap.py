"""Twocrypto pools with the StableSwap maths, which Curve calls FXSwap, computed like the pool and maths contracts.

YieldBasis uses these pools, too. A swap follows the StableSwap invariant of the balances at the price scale; `gamma`
exists but is not used. The pool reports version v2.1.0d, its maths contract v0.1.0.

The scale moves towards the oracle at most once per block, with its first swap. The cost is first paid with donated
liquidity tokens: the tokens released by the block (`burnable_shares`) are burned as far as needed to keep the value of
the other tokens. The rest comes from the pool's profit, half of which is kept.

Source: v2.1.0d as verified for deployed pools, with StableswapMath.vy of curvefi/twocrypto-ng a29db23. One pool is
known (0x57129759d0e23116c1e7402dbc084e53d2e209a2 of Ethereum) that takes the lesser of both steps of the scale in place
of the greater; it differs in the output of a second swap in the same block after a move.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isqrt, log

from swapcli.core.annotations import Final
from swapcli.core.errors import SwapReverts
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.curve.cryptoswap_math import A_MULTIPLIER
from swapcli.families.curve.stableswap_curve import StableSwapCurve
from swapcli.families.curve.stableswap_math import find_balance, invariant, price_of_second
from swapcli.families.hull_curve import HULL_SAMPLES
from swapcli.families.rounding import require_uint256

FX_VERSION: Final = "v2.1.0d"
"""The version of the pool contract."""
FX_MATHS_VERSION: Final = "v0.1.0"
"""The version of the maths contract."""
_CLOSENESS: Final = 0.6
"""The ratio of successive distances from balance of the points at which a rising rate is looked for.

The last of sixteen is at 3e-4 of the first, which finds fees that change within a thousandth of balance.
"""


class FxPrices(NamedTuple):
    """The values that a swap changes besides the balances; see `CryptoPrices`.

    `supply` is the number of liquidity tokens.
    """

    scale: int
    oracle: int
    last: int
    invariant: int
    xcp_profit: int
    virtual_price: int
    supply: int
    burnable: int
    scale_is_fixed: bool


class FxRules(NamedTuple):
    """The rules for moving the scale; `is_ramping` allows the virtual price to fall."""

    amp: int
    allowed_extra_profit: int
    adjustment_step: int
    is_ramping: bool


def find_invariant(amp: int, balances: Sequence[int]) -> int:
    """Return D at scaled balances as `newton_D` does. Raises `SwapReverts`."""
    _check_amp(amp)
    if not all(balances):
        raise SwapReverts("a balance is worth nothing at the price scale")
    return invariant(balances, amp, precision=A_MULTIPLIER)


def find_other_balance(amp: int, balances: Sequence[int], d: int, j: int) -> int:
    """Return the j-th balance at which the invariant is `d`, as the contract's `get_y` does. Raises `SwapReverts`."""
    _check_amp(amp)
    if not balances[1 - j]:
        raise SwapReverts("a balance is worth nothing at the price scale")
    return find_balance(balances, j, amp, d, A_MULTIPLIER)


def fee_at(balances: Sequence[int], mid_fee: int, out_fee: int, fee_gamma: int) -> int:
    """Return the contract's fee, scaled by 10^10, at scaled balances."""
    total = balances[0] + balances[1]
    closeness = 4 * WAD * balances[0] // total * balances[1] // total
    share = fee_gamma * closeness
    share //= share // WAD + WAD - closeness
    return (mid_fee * share + out_fee * (WAD - share)) // WAD


def tweak_price(prices: FxPrices, rules: FxRules, balances: Sequence[int]) -> FxPrices:
    """Return the prices after a swap that left the scaled `balances`, as the contract's `tweak_price` does."""
    d = find_invariant(rules.amp, balances)
    last = price_of_second(balances, rules.amp, d, A_MULTIPLIER)
    last = require_uint256(last * prices.scale) // WAD
    if not last:
        raise SwapReverts("the price would be below what the contract can store")
    value = _value(d, prices.scale)
    virtual_price = WAD * value // prices.supply
    if virtual_price < prices.virtual_price and not rules.is_ramping:
        raise SwapReverts("the swap would lower the value of the pool's liquidity")
    xcp_profit = require_uint256(prices.xcp_profit + virtual_price) - prices.virtual_price
    if xcp_profit < 0 or prices.burnable >= prices.supply:
        raise SwapReverts("the pool's profit or supply is below what the contract can compute")
    after = prices._replace(
        last=last, invariant=d, xcp_profit=xcp_profit, virtual_price=virtual_price, burnable=0, scale_is_fixed=True
    )
    least = max(WAD, (xcp_profit + WAD) // 2)
    boosted = WAD * value // (prices.supply - prices.burnable)
    if boosted > least + rules.allowed_extra_profit and not prices.scale_is_fixed:
        return _move_scale(after, rules, balances, least, prices.burnable)
    return after


def _move_scale(prices: FxPrices, rules: FxRules, balances: Sequence[int], least: int, burnable: int) -> FxPrices:
    """Return `prices` with the scale closer to the oracle, if that leaves a virtual price of at least `least`."""
    scale, oracle, supply = prices.scale, prices.oracle, prices.supply
    norm = abs(oracle * WAD // scale - WAD)
    step = max(rules.adjustment_step, norm // 5)
    if norm <= step:
        return prices
    moved = (scale * (norm - step) + step * oracle) // norm
    d = find_invariant(rules.amp, (balances[0], balances[1] * moved // scale))
    value = _value(d, moved)
    virtual_price, burned = WAD * value // supply, 0
    goal = max(least, prices.virtual_price)
    if virtual_price < goal:
        needed = WAD * value // goal
        if needed >= supply:
            raise SwapReverts("the contract cannot burn donated liquidity")
        burned = min(supply - needed, burnable)
        virtual_price = WAD * value // (supply - burned)
    if virtual_price <= WAD or virtual_price < least:
        return prices
    return prices._replace(scale=moved, invariant=d, virtual_price=virtual_price, supply=supply - burned)


def _value(d: int, scale: int) -> int:
    """Return the contract's xcp: the value of the liquidity as the balance of either coin in a constant-product
    pool."""
    return require_uint256(d * WAD) // 2 // isqrt(WAD * scale)


def _check_amp(amp: int) -> None:
    """Raise `SwapReverts` if the contract's maths, which subtracts the unit of A from 2 A, would underflow."""
    if 2 * amp < A_MULTIPLIER:
        raise SwapReverts("A is below the contract's range")


class FxSwapCurve(StableSwapCurve):
    """One direction of an FXSwap pool: `StableSwapCurve` without a fee, and the fee at the balances after the trade.

    The fee is out - (out - mid) g k / (g k + 1 - k) with g = fee gamma and k = 4 x y / (x + y)^2.
    """

    __slots__ = ("_fee_gamma", "_fee_spread", "_out_fee")

    def __init__(
        self,
        balances: Sequence[int],
        d: int,
        direction: tuple[int, int],
        amp: float,
        fees: tuple[float, float, float],
        units: tuple[float, float],
    ) -> None:
        """Take `fees` (the lowest and the highest as fractions) and the fee gamma. See `StableSwapCurve`."""
        mid_fee, self._out_fee, self._fee_gamma = fees
        self._fee_spread = self._out_fee - mid_fee
        super().__init__(balances, d, direction, amp, 0.0, 0.0, units)

    def _depths_of_falling_fee(self) -> Sequence[float]:
        """Return trades that come closer and closer to balance, if the fee falls on the way."""
        if not self._fee_spread or self._x >= self._y:
            return ()
        balance = log(2.0 * self._y)  # in balance, each coin is half of D
        return [*(balance * (1.0 - _CLOSENESS**k) for k in range(HULL_SAMPLES)), balance]

    def _subtract_fee(self, sold: float, gross: float, state_after: float) -> float:
        x, y = self._x + sold, state_after
        z = (x - y) / (x + y)
        k = 1.0 - z * z
        g = self._fee_gamma
        return gross * (1.0 - self._out_fee + self._fee_spread * g * k / (g * k + z * z))

    def _marginal(self, sold: float, gross: float, state_after: float) -> tuple[float, float, float]:
        price, slope, sold_by_t = super()._marginal(sold, gross, state_after)
        bend = -1.0 / slope  # d ln price / d sold
        g, spread = self._fee_gamma, self._fee_spread
        x, y = self._x + sold, state_after
        total = x + y
        z = (x - y) / total
        k = 1.0 - z * z
        rest = g * k + z * z
        fee = self._out_fee - spread * g * k / rest
        if not spread:
            return price * (1.0 - fee), slope, sold_by_t
        bent = price * bend
        z1 = (1.0 + price - z * (1.0 - price)) / total
        z2 = (bent * (1.0 + z) - 2.0 * z1 * (1.0 - price)) / total
        k1, k2 = -2.0 * z * z1, -2.0 * (z1 * z1 + z * z2)
        by_k = g / (rest * rest)
        fee1 = -spread * by_k * k1
        fee2 = -spread * by_k * (2.0 * (1.0 - g) / rest * k1 * k1 + k2)
        rate = price * (1.0 - fee) - gross * fee1
        rate1 = bent * (1.0 - fee) - 2.0 * price * fee1 - gross * fee2
        return rate, -rate / rate1 if rate1 else inf, sold_by_t
