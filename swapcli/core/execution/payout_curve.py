"""The market's output for any part of an order: a concave curve through a few exact quotes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate, pairwise
from math import exp, inf, log, sqrt

from swapcli.core.errors import InvalidAmount
from swapcli.core.records import NamedTuple

Payout = Callable[[int], int]
"""Returns the exact output of selling an amount in one swap on today's market, both in base units.

It raises quote errors.
"""

_QUOTES = 16
"""The number of exact quotes, down to 1/181 of the order: no plan has more parts than that."""
_STEP = sqrt(2.0)
_LEAST_PAYOUT = 10_000
"""The smallest quoted output, in base units: the price of a smaller one is not accurate to a basis point."""


class PayoutCurve(NamedTuple):
    """A curve through exact quotes: `payouts` for `amounts`, both ascending, in base units, from 0 to the whole order.

    `fair_price` is the price without fees to which the market returns, in output units per input unit, and `fees` the
    fee of each hop, as log prices. Between two quotes, `1 / sqrt(price)` is linear in the amount, as it is in
    constant-product and concentrated pools; `slopes` are the slopes of these lines, and `roots` their values at
    `amounts`.
    """

    amounts: tuple[int, ...]
    payouts: tuple[int, ...]
    fair_price: float
    fees: tuple[float, ...]
    slopes: tuple[float, ...]
    roots: tuple[float, ...]

    @property
    def amount_in(self) -> int:
        """The whole order, in base units."""
        return self.amounts[-1]

    @property
    def advantage(self) -> float:
        """How much better today's price is than the fair one, as a log price, >= 0. Other traders will take this gain,
        too."""
        return max(sum(self.fees) - 2.0 * log(self.roots[0]) - log(self.fair_price), 0.0)

    def payout(self, amount: float) -> float:
        """Return the output of `amount`, between 0 and the whole order; exact at the quotes up to float rounding."""
        index, start, width = self._interval(amount)
        secant = (self.payouts[index + 1] - self.payouts[index]) / width
        bend = self.slopes[index] * width / 2.0
        root = sqrt(1.0 / secant + bend * bend)
        sold = amount - start
        return self.payouts[index] + sold / ((root - bend) * (root - bend + self.slopes[index] * sold))

    def price(self, amount: float) -> float:
        """Return the price of the next unit after `amount` has been sold, in output units."""
        root = self._root(amount)
        return 1.0 / (root * root)

    def displacement(self, amount: float) -> float:
        """Return how much selling `amount` lowers the price of the next unit, as a log price, >= 0."""
        return 2.0 * log(self._root(amount) / self.roots[0])

    def amount_at(self, displacement: float) -> float:
        """Return the smallest amount whose sale displaces the price by `displacement`; at most the whole order."""
        if displacement <= 0.0:
            return 0.0
        root = self.roots[0] * exp(displacement / 2.0)
        if root >= self.roots[-1]:
            return float(self.amount_in)
        index = bisect_right(self.roots, root) - 1
        before, after = self.roots[index], self.roots[index + 1]
        start, end = self.amounts[index], self.amounts[index + 1]
        return start + (end - start) * (root - before) / (after - before)

    def _root(self, amount: float) -> float:
        index, start, width = self._interval(amount)
        before, after = self.roots[index], self.roots[index + 1]
        return before + (after - before) * (amount - start) / width

    def _interval(self, amount: float) -> tuple[int, int, int]:
        """Return the number, start and width of the interval that contains `amount`."""
        index = min(max(bisect_right(self.amounts, amount) - 1, 0), len(self.amounts) - 2)
        return index, self.amounts[index], self.amounts[index + 1] - self.amounts[index]


def sample_payouts(payout: Payout, amount_in: int, fair_price: float, fees: tuple[float, ...] = ()) -> PayoutCurve:
    """Return the curve of an order of `amount_in` base units through about 16 exact quotes.

    `fair_price` is the mid price of the route's pools, in output units per input unit; preferably its median over the
    last minutes, so that one recent swap does not distort it. `fees` are the pool fees of each hop, as log prices;
    without them, the price of the first unit gives their sum. Raises `InvalidAmount` if the fair price or the output is
    not positive, and any error that `payout` raises.
    """
    if not 0.0 < fair_price < inf:
        raise InvalidAmount("no pool gives a mid price for this order", hint="choose tokens whose pools have a price")
    quotes = {0: 0, amount_in: payout(amount_in)}
    for number in range(1, _QUOTES):
        amount = round(amount_in / _STEP**number)
        if amount not in quotes:
            quotes[amount] = payout(amount)
    return curve_through(quotes, fair_price, fees)


def curve_through(quotes: dict[int, int], fair_price: float, fees: tuple[float, ...] = ()) -> PayoutCurve:
    """Return the curve through `quotes`, which maps amounts, including 0, to outputs.

    Quotes below the line between their neighbours are omitted.
    """
    hull: list[tuple[int, int]] = []
    for point in sorted(quotes.items()):
        while len(hull) > 1 and _price(hull[-2], hull[-1]) <= _price(hull[-1], point):
            hull.pop()
        hull.append(point)
    if hull[-1][1] < _LEAST_PAYOUT:
        raise InvalidAmount("the order is too small to be priced", hint="choose a larger AMOUNT")
    if hull[-1][1] <= hull[-2][1]:
        raise InvalidAmount("the pools cannot fill the whole order", hint="choose a smaller AMOUNT")
    amounts, payouts = zip(*hull, strict=True)
    levels = [1.0 / sqrt(_price(*ends)) for ends in pairwise(hull)]
    middles = [(start + end) / 2.0 for start, end in pairwise(amounts)]
    slopes = _slopes(middles, levels)
    roots = _roots(amounts, levels, slopes)
    first = 1.0 / (roots[0] * roots[0])
    fees = fees or (max(log(fair_price / first), 0.0),)
    fee = sum(fees)
    # Within the fees, today's price is as good an estimate as an earlier one. A price below them does not recover by
    # itself.
    advantage = log(first / fair_price) + fee
    fair_price = first * exp(fee - max(advantage - fee, 0.0))
    return PayoutCurve(amounts, payouts, fair_price, fees, slopes, roots)


def _price(start: tuple[int, int], end: tuple[int, int]) -> float:
    return (end[1] - start[1]) / (end[0] - start[0])


def _slopes(middles: list[float], levels: list[float]) -> tuple[float, ...]:
    """Return the slope of each interval's line: the smaller of the slopes to its neighbours, which keeps them in
    order."""
    between = [
        (after - before) / (end - start)
        for (start, end), (before, after) in zip(pairwise(middles), pairwise(levels), strict=True)
    ]
    if not between:
        return (0.0,)
    inner = [min(pair) for pair in pairwise(between)]
    return (between[0], *inner, between[-1])


def _roots(amounts: tuple[int, ...], levels: list[float], slopes: tuple[float, ...]) -> tuple[float, ...]:
    """Return `1 / sqrt(price)` at each amount: between the lines that meet there, and never decreasing."""
    ends = []
    for (start, end), level, slope in zip(pairwise(amounts), levels, slopes, strict=True):
        bend = slope * (end - start) / 2.0
        middle = sqrt(level * level + bend * bend)
        ends.append((middle - bend, middle + bend))
    meetings = [(left + right) / 2.0 for (_, left), (right, _) in pairwise(ends)]
    return tuple(accumulate((ends[0][0], *meetings, ends[-1][1]), max))
