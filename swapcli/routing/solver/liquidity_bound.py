"""Upper bounds on what a market can take of one token, and pay out of another, over any route within the hop limit.

They are max-flow-like: hop by hop, what a token can pass on is at most the sum of what its pools can take, and a pool
takes no more than what the token that it pays out can pass on in turn. Each pool is counted in full for each of its
directions and every path, so a real route moves less. An order beyond a bound has no route; one within it may have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from math import inf
from typing import NamedTuple

from swapcli.routing.graph.market_graph import Arc, MarketGraph
from swapcli.routing.solver.hop import Hop
from swapcli.routing.solver.newton import CancelCheck, no_cancellation

_UNBOUNDED = 2.0**256  # no token has more units; keeps infinite capacities out of the sums
_ROUNDING_MARGIN = 1.0 + 1e-9  # for what floats round away
_STEP = 4.0  # of the input in the search for one that brings a given output
_HALVINGS = 12

_EdgeBound = Callable[[int, int, float], float]
_Rows = tuple[list[dict[int, float]], list[dict[int, float]]]


class _Limits(NamedTuple):
    """How much at the end stops the work early, and what is asked on the way."""

    sufficient: float
    check: CancelCheck


def max_input(
    graph: MarketGraph,
    endpoints: tuple[int, int],
    max_hops: int,
    sufficient: float = inf,
    check: CancelCheck = no_cancellation,
) -> float:
    """The most input, in base units, that the pools can take of an order between `ends` (source, target).

    Stops early with infinity once `take_until` is known to fit. Asks `check` once a token.
    """
    source, target = endpoints

    def edge_bound(before: int, token: int, room: float) -> float:
        arcs = graph.arcs_by_pair[before].get(token, ())
        return sum(_max_input(arc, room) for arc in arcs)

    rows = (graph.best_rate_in, graph.best_rate_out)
    return _propagate(graph, rows, (target, source), max_hops, edge_bound, _Limits(sufficient, check))


def max_output(
    graph: MarketGraph,
    endpoints: tuple[int, int],
    max_hops: int,
    sufficient: float = inf,
    check: CancelCheck = no_cancellation,
) -> float:
    """The most output, in base units, that the pools can pay for any input. Everything else as `max_input`."""

    def edge_bound(token: int, before: int, held: float) -> float:
        arcs = graph.arcs_by_pair[before].get(token, ())
        return _max_output(arcs, held)

    rows = (graph.best_rate_out, graph.best_rate_in)
    return _propagate(graph, rows, endpoints, max_hops, edge_bound, _Limits(sufficient, check))


def best_spot_rate(graph: MarketGraph, endpoints: tuple[int, int], max_hops: int) -> float:
    """The most output per unit of input that a vanishing order can get: no order gets more."""
    source, target = endpoints
    known = front = {target: 1.0}
    for _ in range(max_hops):
        found: dict[int, float] = {}
        for j, value in front.items():
            for i, rate in graph.best_rate_in[j].items():
                if i != target and value * rate > max(known.get(i, 0.0), found.get(i, 0.0)):
                    found[i] = value * rate
        known = known | found
        front = {t: value for t, value in found.items() if t != source}
    return known.get(source, 0.0)


def _propagate(
    graph: MarketGraph, rows: _Rows, endpoints: tuple[int, int], max_hops: int, edge_bound: _EdgeBound, limits: _Limits
) -> float:
    """How much can reach the last of `ends` from the first, which has any amount, over `rounds` links.

    `rows` are the links onward and back. `link_bound(token, before, held)` bounds what reaches `token` over its link
    with `before`, where at most `held` is.
    """
    first, last = endpoints
    onward, back = rows
    useful = graph.two_core.union(graph.path_to_core(first), graph.path_to_core(last))
    left_from = _hops_from(back, last, useful, max_hops)
    totals = {first: _UNBOUNDED}
    parts: dict[int, dict[int, float]] = {first: {}}
    changed: Iterable[int] = (first,)
    for left in range(max_hops - 1, -1, -1):
        risen: dict[int, dict[int, float]] = {}
        for before in changed:
            limits.check()
            for token in onward[before] if before != last else ():
                if token == first or left_from.get(token, max_hops) > left:
                    continue
                held = _sum_without(parts[before], token, totals[before])
                part = min(edge_bound(token, before, held), _UNBOUNDED)
                if part > parts.get(token, {}).get(before, 0.0):
                    risen.setdefault(token, {})[before] = part
        for token, more in risen.items():
            parts.setdefault(token, {}).update(more)
            totals[token] = sum(parts[token].values())
        changed = risen
        if totals.get(last, 0.0) >= limits.sufficient:
            return inf
    return totals.get(last, 0.0) * _ROUNDING_MARGIN


def _sum_without(parts: Mapping[int, float], token: int, total: float) -> float:
    """The sum `total` of `parts` without that of `token`: what came from there does not go back."""
    part = parts.get(token, 0.0)
    if part <= total / 2:
        return total - part
    return sum(other for t, other in parts.items() if t != token)


def _hops_from(rows: Sequence[Mapping[int, float]], start: int, useful: Set[int], most: int) -> dict[int, int]:
    """Hops from `start` to each of the `useful` tokens within `most` of them."""
    hops, front = {start: 0}, [start]
    for distance in range(1, most + 1):
        front = [t for t in {t for before in front for t in rows[before]} if t in useful and t not in hops]
        hops.update(dict.fromkeys(front, distance))
    return hops


def _max_input(arc: Arc, room: float) -> float:
    """The input with which `arc` pays out `room`, or a little more than that; its capacity where it cannot."""
    curve = arc.curve
    capacity = min(curve.capacity, _UNBOUNDED)
    room *= _ROUNDING_MARGIN
    if curve.amount_out(capacity) <= room:
        return capacity
    low, high = 0.0, min(room / arc.rate, capacity)
    while curve.amount_out(high) < room:
        low, high = high, min(high * _STEP, capacity)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if curve.amount_out(middle) < room else (low, middle)
    return high


def _max_output(arcs: Sequence[Arc], held: float) -> float:
    """What the pools between two tokens pay at most for `held`."""
    capacity = sum(min(arc.curve.capacity, _UNBOUNDED) for arc in arcs)
    if held >= capacity:
        return sum(arc.curve.amount_out(min(arc.curve.capacity, _UNBOUNDED)) for arc in arcs)
    return Hop(arcs).amount_out(held) if arcs else 0.0
