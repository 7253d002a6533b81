"""A curve between two fees: one taken from the input before the trade, and one from the output after it."""

from __future__ import annotations

from swapcli.core.model.pool import RateCurve


class HookedCurve:
    """The curve of one direction; see `RateCurve`. `input_part` and `output_part` are the fractions that remain after
    the fees.

    With the curve F of the pool itself, the output is `output_part` F(`input_part` x), which is concave because F is.
    """

    __slots__ = ("_inner", "_input_part", "_output_part", "_rate_part")

    def __init__(self, inner: RateCurve, input_part: float, output_part: float) -> None:
        self._inner, self._input_part, self._output_part = inner, input_part, output_part
        self._rate_part = input_part * output_part

    @property
    def start_rate(self) -> float:
        """The marginal rate of the first unit."""
        return self._inner.start_rate * self._rate_part

    @property
    def capacity(self) -> float:
        """The largest input that the pool accepts."""
        return self._inner.capacity / self._input_part

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        amount_in, amount_out, slope = self._inner.trade_to_marginal_rate(rate / self._rate_part)
        return amount_in / self._input_part, amount_out * self._output_part, slope / self._input_part

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        return self._inner.amount_out(amount_in * self._input_part) * self._output_part

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        return self._inner.rate(amount_in * self._input_part) * self._rate_part
