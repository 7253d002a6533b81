"""The rate curve of a sampled pool. A sample is an input amount with its quoted output.

The curve joins the vertices of the concave hull of the samples. Its marginal rate falls linearly between nodes: at a
vertex it is the slope of the parabola through that vertex and its neighbours, and inside each edge there is a node
where it is the edge's own slope, placed so that the edge ends at its vertex (Schumaker, "On Shape Preserving Quadratic
Spline Interpolation", 1983). So the curve is smooth, concave, and nowhere below the hull.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple
from swapcli.families.hull_curve import concave_hull

_TILT: Final = 1e-7
"""The smallest relative decrease of the rate along an edge.

Without one, a constant price has no depth, and the solver jumps between nothing and everything; a thousandth of a basis
point is far below what a quote shows.
"""
_MIN_FALL: Final = 1e-9
"""Edges whose slopes differ by less than this are merged: floats would not distinguish their rates."""


class QuotedSale(NamedTuple):
    """An amount of the sold token, and the quoted amount of the bought token, in base units."""

    amount_in: int
    amount_out: int


class _Node(NamedTuple):
    """A point of the curve, and its marginal rate there."""

    amount_in: float
    amount_out: float
    rate: float


class SampledCurve:
    """A concave curve over samples with increasing inputs, at least one of which has an output. See `RateCurve`.

    Example: `SampledCurve([QuotedSale(1, 2), QuotedSale(2, 3)]).amount_out(2.0)` is 3.0.
    """

    __slots__ = ("_amounts_in", "_falling_rates", "_nodes", "capacity", "start_rate")

    def __init__(self, samples: Sequence[QuotedSale]) -> None:
        self._nodes = _nodes(_merge_edges(increasing_hull(samples)))
        self._amounts_in = [node.amount_in for node in self._nodes]
        self._falling_rates = [-node.rate for node in self._nodes]
        self.capacity: float = self._nodes[-1].amount_in
        self.start_rate: float = self._nodes[0].rate

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        last = self._nodes[-1]
        if rate <= last.rate:
            return last.amount_in, last.amount_out, 0.0
        at = bisect_left(self._falling_rates, -rate)
        before, after = self._nodes[at - 1], self._nodes[at]
        width = (after.amount_in - before.amount_in) / (before.rate - after.rate)
        sold = (before.rate - rate) * width
        return before.amount_in + sold, before.amount_out + sold * (before.rate + rate) / 2.0, rate * width

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`; input beyond `capacity` adds nothing."""
        if amount_in <= 0.0:
            return 0.0
        if amount_in >= self.capacity:
            return self._nodes[-1].amount_out
        before, rate = self._at(amount_in)
        return before.amount_out + (amount_in - before.amount_in) * (before.rate + rate) / 2.0

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold; 0.0 at and beyond `capacity`."""
        if amount_in >= self.capacity:
            return 0.0
        return self._at(amount_in)[1] if amount_in > 0.0 else self.start_rate

    def _at(self, amount_in: float) -> tuple[_Node, float]:
        """Return the last node before an amount below the capacity, and the rate at the amount."""
        at = bisect_right(self._amounts_in, amount_in)
        before, after = self._nodes[at - 1], self._nodes[at]
        part = (amount_in - before.amount_in) / (after.amount_in - before.amount_in)
        return before, before.rate + part * (after.rate - before.rate)


def increasing_hull(samples: Sequence[QuotedSale]) -> list[QuotedSale]:
    """Return the vertices of the smallest concave increasing curve from zero that is nowhere below the samples.

    The first is (0, 0); the slopes fall strictly and are positive.
    """
    rising = [QuotedSale(0, 0)]
    for sample in samples:
        if sample.amount_out > rising[-1].amount_out:
            rising.append(sample)
    return concave_hull(rising)


def _merge_edges(hull: Sequence[QuotedSale]) -> list[QuotedSale]:
    """Return the vertices at which the slope falls noticeably, and the ends."""
    vertices = [hull[0]]
    for sample in hull[1:]:
        if len(vertices) > 1 and _slope(vertices[-1], sample) > _slope(*vertices[-2:]) * (1.0 - _MIN_FALL):
            vertices.pop()
        vertices.append(sample)
    return vertices


def _slope(start: QuotedSale, end: QuotedSale) -> float:
    return (end.amount_out - start.amount_out) / (end.amount_in - start.amount_in)


def _nodes(hull: Sequence[QuotedSale]) -> list[_Node]:
    widths = [float(after.amount_in - before.amount_in) for before, after in pairwise(hull)]
    slopes = [_slope(before, after) for before, after in pairwise(hull)]
    rates = _vertex_rates(widths, slopes)
    nodes = [_Node(0.0, 0.0, rates[0])]
    for number, (width, slope) in enumerate(zip(widths, slopes, strict=True)):
        start, end, first, last = hull[number], hull[number + 1], rates[number], rates[number + 1]
        # This much of the edge has a rate above its slope, so that the mean over the edge is the slope.
        part = width * (slope - last) / (first - last)
        gain = part * (first + slope) / 2.0
        middle = _Node(start.amount_in + part, start.amount_out + gain, slope)
        # Rounding can move it beyond the end.
        nodes.append(_Node(min(middle.amount_in, end.amount_in), min(middle.amount_out, end.amount_out), slope))
        nodes.append(_Node(float(end.amount_in), float(end.amount_out), last))
    return nodes


def _vertex_rates(widths: Sequence[float], slopes: Sequence[float]) -> list[float]:
    """Return the rate at each vertex: above the slope of the next edge and below that of the previous one."""
    margin = _MIN_FALL / 4.0  # from both slopes, so that every edge has a rate above its slope and one below
    inner = [
        min(
            max((after_width * slope + width * after) / (width + after_width), after * (1.0 + margin)),
            slope * (1.0 - margin),
        )
        for width, after_width, slope, after in zip(widths, widths[1:], slopes, slopes[1:], strict=False)
    ]
    first = max(2.0 * slopes[0] - inner[0], slopes[0]) if inner else slopes[0]
    last = min(slopes[-1] * slopes[-1] / inner[-1], slopes[-1]) if inner else slopes[-1]
    return [first * (1.0 + _TILT), *inner, last * (1.0 - _TILT)]
