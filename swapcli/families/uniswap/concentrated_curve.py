"""One direction of a concentrated pool in floating point, for the solver.

Both directions are the same curve in q, which grows as input is sold: 1 / sqrt(price) when token0 is sold, sqrt(price)
when token1 is. Over a segment of liquidity L, from q_a to q_b, with g = 1 - fee:

    amount_in = L (q_b - q_a) / g        amount_out = L (1 / q_a - 1 / q_b)        marginal rate = g / q^2

A table has q and the cumulative amounts at each tick, so every method is one bisection and one such formula. It is
built only as far as it is used: most directions of a market never trade, or stay near the price.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import expm1, inf, log1p, sqrt

from swapcli.core.annotations import Final
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple
from swapcli.families.rounding import CAPACITY_MARGIN
from swapcli.families.tick_math import Q96, limited_sqrt_ratio, sqrt_ratio_at_tick

# The point at which the table's walk continues: the index of the next tick, q and the amounts so far, the liquidity,
# and the last tick (None at the pool's price).
_Walk = tuple[int, float, float, float, int, int | None]


class _Table(NamedTuple):
    """Segments by their start: q, input and output so far, and liquidity; then the end, at which the liquidity is 0.

    The table is valid for a q below `q_limit` and an input below `in_limit`, which are infinite once it is complete. It
    never changes: a thread that reads it while another one extends it sees either the old or the new table.
    """

    qs: list[float]
    ins: list[float]
    outs: list[float]
    liquidities: list[float]
    q_limit: float
    in_limit: float
    walk: _Walk


_LOG_SQRT_TICK = log1p(1e-4) / 2
_BLOCK_BITS = 9
_BLOCK_MASK = (1 << _BLOCK_BITS) - 1
# The contract rounds ratios to whole units of 2^-96: below this tick, a float would show the difference.
_MIN_FLOAT_TICK = -580_000
# A segment that adds a larger part than this to the input starts below the capacity, however much liquidity follows.
_MIN_GROWTH = 1.0 + 2.0**-40


class TickScale(NamedTuple):
    """The meaning of a tick and a square-root price in one protocol.

    `unit` is the square-root price of 1. `sqrt_price(tick)` is a float; `growth(price, tick, down)` is the relative
    growth of q from a price to a tick, and `growth_between(a, b)` from one tick to another. `safe_growth_per_tick` is
    less than half the growth of q in a tick, so that this growth per tick certainly stays inside the first segment.
    """

    unit: int
    safe_growth_per_tick: float
    sqrt_price: Callable[[int], float]
    growth: Callable[[int, int, bool], float]
    growth_between: Callable[[int, int], float]


class ConcentratedCurve:
    """The curve of one direction; see `RateCurve`. `liquidity_nets` has the liquidity that each tick adds on the way
    up; `down` sells token0.

    The fee is `fee / whole` of the input. `scale` defaults to Uniswap V3's scale.
    """

    __slots__ = (
        "_down",
        "_first_segment_end",
        "_gamma",
        "_liquidity",
        "_liquidity_nets",
        "_price",
        "_scale",
        "_start_q",
        "_table",
        "_tick",
        "_ticks",
        "start_rate",
    )  # fmt: skip

    def __init__(
        self,
        sqrt_price: int,
        tick: int,
        liquidity: int,
        ticks: Sequence[int],
        liquidity_nets: Sequence[int],
        fee: int,
        down: bool,
        *,
        whole: int = PPM,
        scale: TickScale | None = None,
    ) -> None:
        self._price, self._tick, self._liquidity = sqrt_price, tick, liquidity
        self._ticks, self._liquidity_nets, self._down = ticks, liquidity_nets, down
        self._gamma = (whole - fee) / whole
        self._scale = scale = scale or UNISWAP_SCALE
        self._start_q = q = scale.unit / sqrt_price if down else sqrt_price / scale.unit
        self._table: _Table | None = None
        ticks_ahead = self._ticks_ahead() if liquidity else 0
        # Below this q, the first segment alone gives the table's result.
        self._first_segment_end = q * (1.0 + ticks_ahead * scale.safe_growth_per_tick) if ticks_ahead else 0.0
        if ticks_ahead:
            self.start_rate = self._gamma / (q * q)
        else:
            qs, _, _, liquidities, *_ = self._extend_table(-inf, -inf)
            self.start_rate = self._gamma / (qs[0] * qs[0]) if liquidities[0] else 0.0

    @property
    def capacity(self) -> float:
        """The input that uses up all liquidity."""
        return self._whole_table().ins[-1]

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        gamma = self._gamma
        q = sqrt(gamma / rate)
        if q < self._first_segment_end:
            start, liquidity = self._start_q, float(self._liquidity)
            step = liquidity * (q - start)
            return step / gamma, step / (start * q), 0.5 * liquidity * q / gamma
        table = self._table
        if table is None or q >= table.q_limit:
            table = self._extend_table(q, -inf)
        qs, ins, outs, liquidities, _, _, _ = table
        i = bisect_right(qs, q) - 1
        if i < 0:
            return 0.0, 0.0, 0.0
        liquidity = liquidities[i]
        if not liquidity:
            return ins[i], outs[i], 0.0
        start = qs[i]
        step = liquidity * (q - start)
        return ins[i] + step / gamma, outs[i] + step / (start * q), 0.5 * liquidity * q / gamma

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        if self._first_segment_end and amount_in > 0.0:
            start, liquidity = self._start_q, float(self._liquidity)
            step = amount_in * self._gamma
            end = start + step / liquidity
            if end < self._first_segment_end:
                return step / (start * end)
        table = self._table
        if table is None or amount_in >= table.in_limit:
            table = self._extend_table(-inf, amount_in)
        qs, ins, outs, liquidities, _, _, _ = table
        i = bisect_right(ins, amount_in) - 1
        if i < 0:
            return 0.0
        if not liquidities[i]:
            return outs[i]
        start = qs[i]
        step = (amount_in - ins[i]) * self._gamma
        return outs[i] + step / (start * (start + step / liquidities[i]))

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        gamma = self._gamma
        if self._first_segment_end:
            q = self._start_q + amount_in * gamma / float(self._liquidity)
            if q < self._first_segment_end:
                return gamma / (q * q)
        table = self._table
        if table is None or amount_in >= table.in_limit:
            table = self._extend_table(-inf, amount_in)
        qs, ins, _, liquidities, _, _, _ = table
        i = max(bisect_right(ins, amount_in) - 1, 0)
        if not liquidities[i]:
            return 0.0
        q = qs[i] + (amount_in - ins[i]) * gamma / liquidities[i]
        return gamma / (q * q)

    def _ticks_ahead(self) -> int:
        """Return the number of whole ticks up to the next initialised one; at 0 the first segment can be empty."""
        ticks, tick = self._ticks, self._tick
        if self._down:
            return tick - ticks[bisect_right(ticks, tick) - 1]
        return ticks[bisect_right(ticks, tick)] - tick - 1

    def _whole_table(self) -> _Table:
        table = self._table
        return table if table is not None and table.q_limit == inf else self._extend_table(inf, inf)

    def _extend_table(self, target_q: float, target_in: float) -> _Table:
        """Extend the table by walking over the ticks until it is valid for a given q and input.

        It starts at the first liquidity, and gives the same results as the complete table.
        """
        ticks, nets, gamma, down = self._ticks, self._liquidity_nets, self._gamma, self._down
        price = self._price
        _, _, sqrt_price, growth, growth_between = self._scale
        former = self._table
        if former is None:
            qs, ins, outs, liquidities = [], [], [], []
            walk: _Walk = (bisect_right(ticks, self._tick) - down, self._start_q, 0.0, 0.0, self._liquidity, None)
        elif former.q_limit == inf:
            return former
        else:
            qs, ins, outs, liquidities = former.qs[:], former.ins[:], former.outs[:], former.liquidities[:]
            walk = former.walk
        i, q, amount_in, amount_out, liquidity, last = walk
        end_index, direction = (-1, -1) if down else (len(ticks), 1)
        while i != end_index:
            tick = ticks[i]
            width = growth(price, tick, down) if last is None else growth_between(last, tick)
            end = 1.0 / sqrt_price(tick) if down else sqrt_price(tick)
            depth = float(liquidity)
            if qs or (depth and width):
                qs.append(q)
                ins.append(amount_in)
                outs.append(amount_out)
                liquidities.append(depth)
            start, start_in = q, amount_in
            amount_in += depth * q * width / gamma
            amount_out += depth * width / end
            q, last = end, tick
            liquidity += direction * nets[i]
            i += direction
            if start > target_q and start_in > target_in and amount_in > start_in * _MIN_GROWTH:
                walk = i, q, amount_in, amount_out, liquidity, last
                self._table = table = _Table(qs, ins, outs, liquidities, start, start_in, walk)
                return table
        _close_segments(qs, ins, outs, liquidities, q, amount_in * CAPACITY_MARGIN, gamma)
        self._table = table = _Table(qs, ins, outs, liquidities, inf, inf, walk)
        return table


def _close_segments(
    qs: list[float],
    ins: list[float],
    outs: list[float],
    liquidities: list[float],
    q: float,
    capacity: float,
    gamma: float,
) -> None:
    """End the segments of a table when the input reaches `capacity`; `q` is the end of the last one."""
    amount_out = 0.0
    while ins and ins[-1] >= capacity:
        q, amount_out = qs.pop(), outs.pop()
        ins.pop()
        liquidities.pop()
    if ins:
        step = (capacity - ins[-1]) * gamma
        q = qs[-1] + step / liquidities[-1]
        amount_out = outs[-1] + step / (qs[-1] * q)
    qs.append(q)
    ins.append(capacity)
    outs.append(amount_out)
    liquidities.append(0.0)


def _relative_growth(price: int, tick: int, down: bool) -> float:
    """Return the relative growth of q from a price to a tick; 0 if the price is beyond the price limit."""
    edge = limited_sqrt_ratio(tick)
    return max(price - edge if down else edge - price, 0) / min(price, edge)


def _relative_growth_between(a: int, b: int) -> float:
    """Return the relative growth of q between two ticks."""
    low = min(a, b)
    if low > _MIN_FLOAT_TICK:
        return _growth_over(abs(a - b))
    return _relative_growth(limited_sqrt_ratio(a), b, b < a)


@lru_cache(maxsize=1 << 12)
def _growth_over(ticks: int) -> float:
    return expm1(ticks * _LOG_SQRT_TICK)


@lru_cache(maxsize=1 << 16)
def _sqrt_price(tick: int) -> float:
    """Return the square-root price at `tick`, accurate to 3 units in the last place; far cheaper than the exact one."""
    if tick <= _MIN_FLOAT_TICK:
        return limited_sqrt_ratio(tick) / Q96
    return _block_ratio(tick >> _BLOCK_BITS << _BLOCK_BITS) * _block_ratio(tick & _BLOCK_MASK)


@lru_cache(maxsize=1 << 12)
def _block_ratio(tick: int) -> float:
    return sqrt_ratio_at_tick(tick) / Q96


UNISWAP_SCALE: Final = TickScale(Q96, 2.4e-5, _sqrt_price, _relative_growth, _relative_growth_between)
"""Ticks of 1.0001 and Q64.96: one tick is a growth of 5e-5."""
