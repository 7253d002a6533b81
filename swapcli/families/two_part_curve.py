"""Two consecutive curves: the second continues where the first reaches its capacity."""

from __future__ import annotations

from swapcli.core.model.pool import RateCurve


class TwoPartCurve:
    """A curve that consists of two parts; see `RateCurve`. The second part should not start at a higher rate than the
    rate at which the first part ends."""

    __slots__ = ("_end_rate", "_first", "_paid", "_second", "capacity", "start_rate")

    def __init__(self, first: RateCurve, second: RateCurve) -> None:
        self._first, self._second = first, second
        self._paid = first.amount_out(first.capacity)
        # The rate just before the end, since it is 0 at the capacity itself.
        self._end_rate = max(first.rate(first.capacity * (1.0 - 2.0**-50)), second.start_rate)
        self.capacity: float = first.capacity + second.capacity
        self.start_rate: float = max(first.start_rate, self._end_rate)

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        if rate > self._end_rate:
            return self._first.trade_to_marginal_rate(rate)
        amount_in, amount_out, slope = self._second.trade_to_marginal_rate(rate)
        return self._first.capacity + amount_in, self._paid + amount_out, slope

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        if amount_in <= self._first.capacity:
            return self._first.amount_out(amount_in)
        return self._paid + self._second.amount_out(amount_in - self._first.capacity)

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        if amount_in < self._first.capacity:
            return self._first.rate(amount_in)
        return self._second.rate(amount_in - self._first.capacity)
