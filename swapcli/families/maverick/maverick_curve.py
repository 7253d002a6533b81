"""One direction of a Maverick V2 pool in floating point, for the solver: one segment per tick.

As in a concentrated pool, q is the square root of the price that rises as the input is sold; a segment of liquidity L
takes L (q_b - q_a) / g and pays L (1 / q_a - 1 / q_b), with g = 1 - fee. Each tick has its own reserves, so a segment
follows from the tick's input and output, and not from a cumulative liquidity.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from math import inf, sqrt

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple

_MIN_GROWTH: Final = 1.0 + 1e-12
"""In a tick of a few units, the rounded amounts can give an end price that is not above the start price."""


class TickSale(NamedTuple):
    """A tick whose whole reserve is bought: q at its start and at its edge, the input without the fee, and the output.

    Amounts are base units.
    """

    q: float
    edge: float
    amount_in: float
    amount_out: float


class MaverickCurve:
    """The curve of one direction; see `RateCurve`. `gamma` is one minus the fee."""

    __slots__ = ("_gamma", "_ins", "_liquidities", "_outs", "_qs", "capacity", "start_rate")

    def __init__(self, sales: Iterable[TickSale], gamma: float) -> None:
        self._gamma = gamma
        self._qs: list[float] = []
        self._ins: list[float] = []
        self._outs: list[float] = []
        self._liquidities: list[float] = []
        end, amount_in, amount_out = 0.0, 0.0, 0.0
        for sale in sales:
            if sale.amount_in <= 0.0 or sale.amount_out <= 0.0:
                continue
            q = max(sale.q, end)
            # In a tick of a few units, the rounded amounts can also give an end price far beyond the edge. All the
            # ticks after it would then start there, so the units that rounding adds to the input are omitted.
            end = max(min(sale.amount_in / (sale.amount_out * q), sale.edge), q * _MIN_GROWTH)
            net = min(sale.amount_in, sale.amount_out * q * end)
            liquidity = net / (end - q)
            self._qs.append(q)
            self._ins.append(amount_in)
            self._outs.append(amount_out)
            self._liquidities.append(liquidity)
            amount_in += net / gamma
            amount_out += liquidity * (1.0 / q - 1.0 / end)
        self.start_rate: float = gamma / self._qs[0] ** 2 if self._qs else 0.0
        self._qs.append(end or inf)
        self._ins.append(amount_in)
        self._outs.append(amount_out)
        self._liquidities.append(0.0)
        self.capacity: float = amount_in

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        q = sqrt(self._gamma / rate)
        i = bisect_right(self._qs, q) - 1
        liquidity = self._liquidities[i]
        # Between two ticks with liquidity, the rate jumps.
        if not liquidity or q >= self._end_of(i):
            last = i if not liquidity else i + 1
            return self._ins[last], self._outs[last], 0.0
        start = self._qs[i]
        step = liquidity * (q - start)
        slope = 0.5 * liquidity * q / self._gamma
        return self._ins[i] + step / self._gamma, self._outs[i] + step / (start * q), slope

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        i = bisect_right(self._ins, amount_in) - 1
        liquidity, start = self._liquidities[i], self._qs[i]
        if not liquidity:
            return self._outs[i]
        step = (amount_in - self._ins[i]) * self._gamma
        return self._outs[i] + step / (start * (start + step / liquidity))

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        i = bisect_right(self._ins, amount_in) - 1
        liquidity = self._liquidities[i]
        if not liquidity:
            return 0.0
        q = self._qs[i] + (amount_in - self._ins[i]) * self._gamma / liquidity
        return self._gamma / (q * q)

    def _end_of(self, i: int) -> float:
        return self._qs[i] + (self._ins[i + 1] - self._ins[i]) * self._gamma / self._liquidities[i]
