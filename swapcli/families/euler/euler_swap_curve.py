"""One direction of EulerSwap in floating point: from the reserves to the equilibrium, and beyond it.

Let r be the price of the sold token in the bought one, x0 and y0 the equilibrium of both, and c and d one minus the
concentration of the half on which the sold or the bought token, respectively, is below it. The marginal rate is

    r (1 + c ((x0 / x)^2 - 1))    while x <= x0, and    r / (1 + d ((y0 / y)^2 - 1))    after that.

Outputs are differences in closed form, so that small trades and high concentrations lose no digits.

The amount that the account can pay grows linearly with the input, which is its collateral, but the output is concave.
So the output exceeds the line after one point, or between two, or nowhere. Swaps end at the first point.
"""

from __future__ import annotations

from math import inf, sqrt
from sys import float_info

from swapcli.core.records import NamedTuple

_BISECTIONS = 80
"""The number of halvings of a float range after which its ends are adjacent, unless it begins at zero."""
_ROUNDING = 1e-12
"""The part by which a limit is lowered: floats lose up to this much compared with the integers of the swap."""


class SecuredRange(NamedTuple):
    """An upper bound of the output, `base + slope * input`, for inputs after the fee from the end of the previous range
    to `end`.

    If several ranges have the same end, all of them apply.
    """

    end: float
    base: float
    slope: float


class EulerSwapCurve:
    """The curve of one direction; see `RateCurve`. Pairs have a value for the sold token and one for the bought token;
    `kept` is one minus the fee.

    `to_equilibrium` is the input after the fee that reaches the equilibrium, 0 beyond it; it cannot be computed from
    floating-point reserves, which lose its digits. `limits` are the largest input after the fee, and the largest
    output. `secured` are further limits.
    """

    __slots__ = (
        "_c", "_d", "_end", "_kept", "_middle", "_paid", "_r", "_reserve_in", "_reserve_out", "_x0", "_y0", "capacity",
        "start_rate",
    )  # fmt: skip

    def __init__(
        self,
        reserves: tuple[float, float],
        equilibrium: tuple[float, float],
        rate: float,
        dilutions: tuple[float, float],
        kept: float,
        to_equilibrium: float,
        limits: tuple[float, float],
        secured: tuple[SecuredRange, ...] = (),
    ) -> None:
        self._r, self._kept = rate, kept
        (self._c, self._d), (self._x0, self._y0) = dilutions, equilibrium
        self._reserve_in, reserve_out = reserves
        self._middle = to_equilibrium
        self._paid = self._head(self._middle)
        # Reserves may be slightly above the curve because of rounding; beyond the equilibrium, the bought one is
        # decisive.
        self._reserve_out = min(reserve_out, self._y0) if self._middle else reserve_out
        self._end = self._largest(*limits)
        self._end = self._secured_end(self._end, secured)
        self.capacity: float = self._end / kept if self._end > 0.0 else 0.0
        self.start_rate: float = self.rate(0.0)

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        net, slope = self._net_at(rate / self._kept)
        if net >= self._end:
            return self.capacity, self._output(self._end), 0.0
        return net / self._kept, self._output(net), slope / self._kept

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        return self._output(min(amount_in * self._kept, self._end))

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        net = amount_in * self._kept
        if net >= self._end:
            return 0.0
        if net < self._middle:
            part = self._x0 / (self._reserve_in + net) if self._c else 1.0
            return self._kept * self._r * (1.0 + self._c * (part * part - 1.0))
        left = self._left(net - self._middle)
        if left <= 0.0:
            return 0.0
        part = self._y0 / left
        # Above 0 even if rounding leaves nothing, as happens far above an equilibrium without concentration.
        return self._kept * self._r / max(1.0 + self._d * (part * part - 1.0), float_info.epsilon)

    def _output(self, net: float) -> float:
        if net <= 0.0:
            return 0.0
        return self._head(net) if net <= self._middle else self._paid + self._tail(net - self._middle)

    def _head(self, net: float) -> float:
        """Return the output for an input up to the equilibrium."""
        start = self._reserve_in
        if not (net and self._c):
            return self._r * net
        return self._r * net * (1.0 + self._c * (self._x0 / start * (self._x0 / (start + net)) - 1.0))

    def _tail(self, net: float) -> float:
        """Return the output for an input from the equilibrium on: the smaller root of a quadratic equation."""
        y, value = self._reserve_out, self._r * net
        if y <= 0.0 or value <= 0.0:
            return 0.0
        # Divided by y^2: (1 - d) / y t^2 - t (value / y + 1 + d ((y0 / y)^2 - 1)) + value = 0.
        part, share = self._y0 / y, value / y
        dilution = self._d * part * part
        middle = share + 1.0 - self._d + dilution
        # middle^2 - 4 (1 - d) share, as a sum of squares and products that are not negative.
        gap = share - (1.0 - self._d)
        square = gap * gap + dilution * (2.0 * (share + 1.0 - self._d) + dilution)
        return 2.0 * value / (middle + sqrt(square))

    def _left(self, net: float) -> float:
        """Return the bought token's reserve after an input from the equilibrium on, accurately even if little is
        left."""
        y, paid = self._reserve_out, self._tail(net)
        if paid < 0.5 * y or not self._d:
            return y - paid
        rest = self._r * net - paid * (1.0 - self._d)
        return paid * self._d * self._y0 / y * (self._y0 / rest) if rest > 0.0 else 0.0

    def _net_at(self, rate: float) -> tuple[float, float]:
        """Return the input after the fee at which the rate before the fee is `rate`, and -d input / d ln rate."""
        level = rate / self._r
        if self._middle and level > 1.0:
            room = level - 1.0 + self._c
            x = self._x0 * sqrt(self._c / room)
            return max(x - self._reserve_in, 0.0), 0.5 * x * level / room
        # The trade to a rate between the halves ends at the equilibrium.
        weight = max(1.0 / level, 1.0)
        room = weight - 1.0 + self._d
        if not self._d:
            return (self._middle, 0.0) if weight <= 1.0 else (self._end, 0.0)
        y = min(self._y0 * sqrt(self._d / room), self._reserve_out)
        slope = 0.5 * y * weight / (room * rate) if y < self._reserve_out else 0.0
        return self._middle + self._needed(self._reserve_out - y), slope

    def _needed(self, amount_out: float) -> float:
        """Return the input from the equilibrium on that buys an amount."""
        y = self._reserve_out
        left = y - amount_out
        if left <= 0.0:
            return inf if self._d else amount_out / self._r
        return amount_out / self._r * (1.0 + self._d * (self._y0 / y * (self._y0 / left) - 1.0))

    def _secured_end(self, end: float, secured: tuple[SecuredRange, ...]) -> float:
        """Return the input after the fee, at most `end`, up to which all outputs are secured."""
        start = last = 0.0
        for each in secured:
            start, last = (last, each.end) if each.end > last else (start, last)
            if start >= end:
                break
            end = self._first_excess(each, start, min(each.end, end), end)
        return end

    def _first_excess(self, limit: SecuredRange, low: float, high: float, end: float) -> float:
        """Return the first input from `low` to `high` at which the output exceeds the limit, otherwise `end`."""

        def is_secured(net: float) -> bool:
            # Fees round down, by at most one unit of the input, and outputs by one unit.
            return self._output(net + 1.0) + 1.0 <= limit.base + limit.slope * net

        if limit.base + limit.slope * low < 0.0 or not is_secured(low):
            return min(low, end)
        if limit.slope:
            # The excess is largest where the output grows as fast as the limit.
            high = min(max(self._net_at(limit.slope)[0], low), high)
        if is_secured(high):
            return end
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if is_secured(middle) else (low, middle)
        return low * (1.0 - _ROUNDING)

    def _largest(self, input_limit: float, output_limit: float) -> float:
        """Return the largest input after the fee."""
        if output_limit <= 0.0 or input_limit <= 0.0:
            return 0.0
        if output_limit >= self._paid:
            return min(input_limit, self._middle + self._needed(output_limit - self._paid))
        # On the first half: r n (1 - c + c x0^2 / (s (s + n))) = output, a quadratic equation in n.
        s, value = self._reserve_in, output_limit / self._r
        if not self._c:
            return min(input_limit, value)
        part = self._x0 / s
        concentration = 1.0 - self._c
        half = concentration * s + self._c * self._x0 * part - value
        root = sqrt(half * half + 4.0 * concentration * value * s)
        net = 2.0 * value * s / (half + root) if half > 0.0 else (root - half) / (2.0 * concentration)
        return min(input_limit, net)
