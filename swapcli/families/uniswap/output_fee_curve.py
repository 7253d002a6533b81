"""A curve minus a fee that is proportional to the input, but taken from the output."""

from __future__ import annotations

from swapcli.core.model.pool import RateCurve


class OutputFeeCurve:
    """The curve of one direction; see `RateCurve`.

    `fee` is output per unit of input; trades end when one more unit costs more than it pays.
    """

    __slots__ = ("_fee", "_inner", "capacity", "start_rate")

    def __init__(self, inner: RateCurve, fee: float) -> None:
        self._inner, self._fee = inner, fee
        self.start_rate: float = max(inner.start_rate - fee, 0.0)
        self.capacity: float = inner.trade_to_marginal_rate(fee)[0] if fee and self.start_rate else inner.capacity
        if not self.start_rate:
            self.capacity = 0.0

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        whole = rate + self._fee
        amount_in, amount_out, slope = self._inner.trade_to_marginal_rate(whole)
        return amount_in, amount_out - self._fee * amount_in, slope * rate / whole

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        amount_in = min(amount_in, self.capacity)
        return self._inner.amount_out(amount_in) - self._fee * amount_in

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        return max(self._inner.rate(amount_in) - self._fee, 0.0) if amount_in < self.capacity else 0.0
