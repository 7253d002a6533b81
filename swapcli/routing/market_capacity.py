"""The capacity of a market: upper bounds on the input it can take and the output it can pay within the hop limit.

The bounds resemble a maximum flow. Hop by hop, a token can pass on at most the sum of what its pools can take, and a
pool takes no more than its output token can pass on in turn. Each pool counts in full for each of its directions and on
every path, so that a real route moves less. An order beyond a bound has no route; one within it may have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf

from swapcli.records import NamedTuple
from swapcli.routing.cancellation import CancelCheck, no_cancellation
from swapcli.routing.graph.best_paths import relax_layers
from swapcli.routing.graph.digraph import TokenPair, hop_distances
from swapcli.routing.graph.market_graph import Arc, MarketGraph
from swapcli.routing.solver.constants import BISECTIONS, BRACKET_FACTOR, ROUNDING_MARGIN, UNBOUNDED_AMOUNT
from swapcli.routing.solver.parallel_pools import Hop
from swapcli.routing.solver.roots import bisect

_EdgeBound = Callable[[int, int, float], float]
_Rows = tuple[list[dict[int, float]], list[dict[int, float]]]


class _Limits(NamedTuple):
    """The bound at which the work stops early, and the check called on the way."""

    sufficient: float
    check: CancelCheck


def max_input(
    graph: MarketGraph,
    endpoints: TokenPair,
    max_hops: int,
    sufficient: float = inf,
    check: CancelCheck = no_cancellation,
) -> float:
    """Return an upper bound on the input, in base units, of an order between `endpoints` (source, target).

    Stops early with infinity once the bound reaches `sufficient`. Calls `check` once per token and hop.
    """
    source, target = endpoints

    def edge_bound(before: int, token: int, room: float) -> float:
        """Return how much of `before` the arcs to `token` take, if at most `room` of `token` may come out."""
        arcs = graph.arcs_by_pair[before].get(token, ())
        return sum(_max_input(arc, room) for arc in arcs)

    rows = (graph.best_rate_in, graph.best_rate_out)
    return _propagate(graph, rows, (target, source), max_hops, edge_bound, _Limits(sufficient, check))


def max_output(
    graph: MarketGraph,
    endpoints: TokenPair,
    max_hops: int,
    sufficient: float = inf,
    check: CancelCheck = no_cancellation,
) -> float:
    """Return an upper bound on the output, in base units, for any input; otherwise as `max_input`."""

    def edge_bound(token: int, before: int, balance: float) -> float:
        """Return how much of `token` the arcs from `before` pay out, for at most `balance` of `before`."""
        arcs = graph.arcs_by_pair[before].get(token, ())
        return _max_output(arcs, balance)

    rows = (graph.best_rate_out, graph.best_rate_in)
    return _propagate(graph, rows, endpoints, max_hops, edge_bound, _Limits(sufficient, check))


def _propagate(
    graph: MarketGraph, rows: _Rows, endpoints: TokenPair, max_hops: int, edge_bound: _EdgeBound, limits: _Limits
) -> float:
    """Return how much can reach the last of `endpoints` from the first, which has any amount.

    `rows` are the edges onward and back. `edge_bound(token, before, balance)` bounds what reaches `token` over its edge
    from `before`, where at most `balance` is available.
    """
    first, last = endpoints
    onward, back = rows
    useful = graph.two_core.union(graph.path_to_core(first), graph.path_to_core(last))
    hops_to_last = hop_distances(lambda token: (t for t in back[token] if t in useful), last, max_hops)
    totals = {first: UNBOUNDED_AMOUNT}
    parts: dict[int, dict[int, float]] = {first: {}}

    def extend(front: Mapping[int, Mapping[int, float]], hop: int) -> dict[int, dict[int, float]]:
        increased: dict[int, dict[int, float]] = {}
        hops_left = max_hops - 1 - hop
        for before in front:
            limits.check()
            for token in onward[before] if before != last else ():
                if token == first or hops_to_last.get(token, max_hops) > hops_left:
                    continue
                balance = _sum_without(parts[before], token, totals[before])
                part = min(edge_bound(token, before, balance), UNBOUNDED_AMOUNT)
                if part > parts.get(token, {}).get(before, 0.0):
                    increased.setdefault(token, {})[before] = part
        return increased

    for increased in relax_layers(parts, max_hops, extend):
        for token, inflows in increased.items():
            parts.setdefault(token, {}).update(inflows)
            totals[token] = sum(parts[token].values())
        if totals.get(last, 0.0) >= limits.sufficient:
            return inf
    return totals.get(last, 0.0) * ROUNDING_MARGIN


def _sum_without(parts: Mapping[int, float], token: int, total: float) -> float:
    """Return the sum `total` of `parts` without that of `token`: what came from there does not flow back."""
    part = parts.get(token, 0.0)
    if part <= total / 2:
        return total - part
    return sum(other for t, other in parts.items() if t != token)


def _max_input(arc: Arc, room: float) -> float:
    """Return an input for which `arc` pays at least `room`, within 0.1% of the least; its capacity if none does."""
    curve = arc.curve
    capacity = min(curve.capacity, UNBOUNDED_AMOUNT)
    room *= ROUNDING_MARGIN
    if curve.amount_out(capacity) <= room:
        return capacity
    low, high = 0.0, min(room / arc.rate, capacity)
    while curve.amount_out(high) < room:
        low, high = high, min(high * BRACKET_FACTOR, capacity)
    return bisect(lambda amount_in: curve.amount_out(amount_in) < room, low, high, BISECTIONS)[1]


def _max_output(arcs: Sequence[Arc], balance: float) -> float:
    """Return the most that the pools between two tokens pay for at most `balance`."""
    capacity = sum(min(arc.curve.capacity, UNBOUNDED_AMOUNT) for arc in arcs)
    if balance >= capacity:
        return sum(arc.curve.amount_out(min(arc.curve.capacity, UNBOUNDED_AMOUNT)) for arc in arcs)
    return Hop(arcs).amount_out(balance) if arcs else 0.0
