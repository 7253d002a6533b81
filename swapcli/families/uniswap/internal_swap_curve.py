"""The curve of a pool whose hook first sells its own tokens, as described in `internal_swap`: its concave hull.

With the pool's marginal rate r and the tokens A of the hook, a buyer of x pays the hook (A / r) (1 - k x), where k is
the relative rise of its price with x; the rest goes to the pool, whose curve is F. So the output is A + F(s x - A / r)
with s = 1 + k A / r. For an input below A / (r s), the hook does not sell its whole balance; there, the hull is the
chord, whose rate is r s.
"""

from __future__ import annotations

from swapcli.core.model.pool import RateCurve
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.internal_swap import InternalSwap


class InternalSwapCurve:
    """The curve of one direction; see `RateCurve`. `inner` is the pool's own direction, and `rate` its marginal rate
    without a fee."""

    __slots__ = ("_amount", "_inner", "_offset", "_scale", "_start", "start_rate")

    def __init__(self, inner: RateCurve, amount: float, rate: float, rise: float) -> None:
        self._inner, self._amount = inner, amount
        self._offset = amount / rate
        self._scale = 1.0 + rise * self._offset
        self._start = self._offset / self._scale
        self.start_rate: float = rate * self._scale

    @property
    def capacity(self) -> float:
        """The largest input that the pool and its hook accept."""
        return (self._inner.capacity + self._offset) / self._scale

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        amount_in, amount_out, slope = self._inner.trade_to_marginal_rate(rate / self._scale)
        return self._start + amount_in / self._scale, self._amount + amount_out, slope / self._scale

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        if amount_in <= self._start:
            return self.start_rate * amount_in
        return self._amount + self._inner.amount_out(self._scale * amount_in - self._offset)

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        if amount_in < self._start:
            return self.start_rate
        return self._scale * self._inner.rate(self._scale * amount_in - self._offset)


def internal_swap_curve(inner: RateCurve, plain: Concentrated, internal: InternalSwap, *, down: bool) -> RateCurve:
    """Return the floating-point curve for selling token0 (`down`) or token1. `inner` is the pool's own curve in this
    direction."""
    if not plain.liquidity:
        return inner
    price = plain.sqrt_price_x96 / Q96
    if down:
        return InternalSwapCurve(inner, internal.amount, price * price, price / plain.liquidity)
    return InternalSwapCurve(inner, internal.amount, 1.0 / (price * price), 1.0 / (price * plain.liquidity))
