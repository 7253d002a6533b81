"""One direction of a Lunarbase pool with the quadratic rule, in floating point.

Let g be the value of a sale in the bought token, R the reserve of that token, r the sale as a part of the pool's total
value, c = K r^2, and s the root of 1 - c. The price range is as wide as the sale requires, so the sale pays g / (1 + u)
with u = g (1 - s) / R. The marginal rate is (1 - (g / R) (c / s)) / (1 + u)^2 of the first one. It falls until a larger
sale would be paid less, where the curve ends.
"""

from __future__ import annotations

from math import log, sqrt

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple

_MAX_STEPS: Final = 60
"""The maximum number of steps.

Bisection alone gains one bit per step, so 60 reach the precision of a float; usually four are enough.
"""
_CLOSE: Final = 1e-13
"""A search for an amount ends once a step changes the amount by at most this fraction."""
_MARGIN: Final = 1e-9
"""The relative error at which the search for a capacity ends. The capacity is then reduced by this fraction."""


class Side(NamedTuple):
    """The data of a direction: `rate` is output per input at the published price, after the fee; `price` is before the
    fee.

    `wealth` is the pool's total value in the sold token, `reserve` is in the bought token, and `k` is the whole
    coefficient.
    """

    rate: float
    price: float
    reserve: float
    wealth: float
    k: float


class RangeCurve:
    """The curve of one direction; see `RateCurve`."""

    __slots__ = ("_end_rate", "_side", "capacity", "start_rate")

    def __init__(self, side: Side) -> None:
        self._side = side
        sellable = min(side.rate, side.reserve, side.wealth) > 0.0
        self.start_rate: float = side.rate if sellable else 0.0
        self.capacity: float = self._find_capacity() if sellable else 0.0
        if not self.capacity:
            self.start_rate = 0.0
        self._end_rate: float = self._rate(self.capacity) if self.capacity else 0.0

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        if rate <= self._end_rate:
            return self.capacity, self.amount_out(self.capacity), 0.0
        low, high = 0.0, self.capacity
        amount = min(self._guess(rate / self._side.rate), high)
        for _ in range(_MAX_STEPS):
            reached, slope = self._rate(amount), self._log_slope(amount)
            if reached > rate:
                low = amount
            else:
                high = amount
            step = log(reached / rate) / slope if reached > 0.0 and slope > 0.0 else 0.0
            before, amount = amount, amount + step
            if not low <= amount <= high:
                amount = 0.5 * (low + high)
            if abs(amount - before) <= _CLOSE * amount:
                break
        slope = self._log_slope(amount)
        return amount, self.amount_out(amount), 1.0 / slope if slope > 0.0 else 0.0

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        amount = min(amount_in, self.capacity)
        if amount <= 0.0:
            return 0.0
        return self._side.rate * amount / (1.0 + self._terms(amount)[0])

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        return self._rate(amount_in) if amount_in < self.capacity else 0.0

    def _terms(self, amount: float) -> tuple[float, float, float]:
        """Return u, (g / R) (c / s), and c; the second is infinite if the range would end at a price of zero."""
        side = self._side
        part = amount / side.wealth
        c = side.k * part * part
        if c >= 1.0:
            return amount * side.price / side.reserve, float("inf"), 1.0
        s, depth = sqrt(1.0 - c), amount * side.price / side.reserve
        return depth * c / (1.0 + s), depth * c / s, c

    def _rate(self, amount: float) -> float:
        u, loss, _ = self._terms(amount)
        return self._side.rate * max(1.0 - loss, 0.0) / (1.0 + u) ** 2

    def _log_slope(self, amount: float) -> float:
        """Return minus the derivative of the logarithm of the rate by the amount; 0 if the rate does not fall."""
        u, loss, c = self._terms(amount)
        if not amount or loss >= 1.0:
            return 0.0
        return loss * (3.0 + c / (1.0 - c)) / (amount * (1.0 - loss)) + 2.0 * (u + loss) / (amount * (1.0 + u))

    def _guess(self, part: float) -> float:
        """Return about the amount at which the rate is a given part of the first one: exact for small c.

        With A = (g / R) c, which grows with the third power of the amount, that part is (1 - A) / (1 + A / 2)^2.
        """
        loss = 2.0 * (1.0 - part) / (sqrt((1.0 + part) ** 2 + part * (1.0 - part)) + 1.0 + part)
        return self._amount_of(loss)

    def _amount_of(self, loss: float) -> float:
        side = self._side
        growth = side.k * side.price / side.reserve
        return float((loss * side.wealth / growth * side.wealth) ** (1.0 / 3.0))

    def _find_capacity(self) -> float:
        """Return the input that is paid most, or that takes the whole reserve, slightly reduced."""
        side = self._side
        low, high = 0.0, min(side.reserve / side.price * 2.0, side.wealth, self._amount_of(1.0))
        while high - low > _MARGIN * high:
            middle = 0.5 * (low + high)
            u, loss, _ = self._terms(middle)
            if loss < 1.0 and middle * side.price < side.reserve * (1.0 + u):
                low = middle
            else:
                high = middle
        return low * (1.0 - _MARGIN)
