"""The capacity of a market: upper bounds on its input and output within the hop limit.

The bounds resemble a maximum flow. Hop by hop, a token can pass on at most the sum of its pools' inputs, and a pool
takes no more than its output token can pass on in turn. Each pool counts in full for each of its directions and on
every path, so a real route moves less. An order beyond a bound has no route; an order within it may have one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf

from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import CancelCheck, no_cancellation
from swapcli.core.routing.graph.best_paths import relax_layers
from swapcli.core.routing.graph.digraph import TokenPair, hop_distances
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph
from swapcli.core.routing.solver.constants import (
    ADJACENT_FLOATS,
    BISECTIONS,
    BRACKET_FACTOR,
    HOP_ITERATIONS,
    ROUNDING_MARGIN,
    UNBOUNDED_AMOUNT,
)
from swapcli.core.routing.solver.roots import bisect, next_rate

_NEAR_HOPS = 2  # the first, cheap bound: most orders within the liquidity fit into paths this short
_ALMOST_ALL = 0.9  # of the output of all pools of a token: once this much reaches it, the bound is that whole output
_SPLIT_TOLERANCE = 1e-4  # of an output: how far the bound on a split may be above the best split
_MIN_GROWTH = 1e-5  # of the output of a pair: smaller growth is not passed on; each hop adds it as a margin instead

_EdgeBound = Callable[[int, int, float], float]
_Rows = tuple[list[dict[int, float]], list[dict[int, float]]]


class _Limits(NamedTuple):
    """The bound at which the work stops early, and the check that it calls.

    The work also stops once the bound is close to `all_liquidity`, which bounds it from above. The amount that reaches
    a token over an edge is updated only if it has grown by more than the part `min_growth`.
    """

    sufficient: float
    check: CancelCheck
    all_liquidity: float = inf
    min_growth: float = 0.0


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
        """Return how much of `before` the arcs to `token` can take if at most `room` of `token` may come out."""
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
    """Return an upper bound on the output, in base units, for any input. In other respects, this is the same as
    `max_input`.

    Outputs are concave: if inputs grow by some fraction, outputs grow by at most the same fraction, so no hop amplifies
    the growth.
    """
    source, target = endpoints

    def pools_between(before: int, token: int) -> Sequence[Arc]:
        return graph.arcs_by_pair[before].get(token, ())

    def edge_bound(token: int, before: int, balance: float) -> float:
        """Return how much of `token` the arcs from `before` pay out, for at most `balance` of `before`."""
        return _max_output(pools_between(before, token), balance)

    def rough_edge_bound(token: int, before: int, balance: float) -> float:
        """Bound like `edge_bound`, but each pool may take the whole balance."""
        return _output_of_each(pools_between(before, token), balance)

    rows = (graph.best_rate_out, graph.best_rate_in)
    all_liquidity = sum([edge_bound(target, before, UNBOUNDED_AMOUNT) for before in graph.best_rate_in[target]])
    is_beyond = all_liquidity < sufficient < inf  # in this case a better bound would only serve the message
    limits = _Limits(sufficient, check, all_liquidity if is_beyond else inf, _MIN_GROWTH)
    bound = rough_edge_bound if is_beyond else edge_bound
    return _propagate(graph, rows, (source, target), max_hops, bound, limits) * (1.0 + _MIN_GROWTH) ** max_hops


def _propagate(
    graph: MarketGraph, rows: _Rows, endpoints: TokenPair, max_hops: int, edge_bound: _EdgeBound, limits: _Limits
) -> float:
    """Return how much can reach the last of `endpoints` from the first; infinity once that is sufficient.

    Short paths come first, unless all the liquidity at the last token does not suffice. Otherwise like
    `_propagate_over`.
    """
    if max_hops > _NEAR_HOPS and limits.sufficient < inf and limits.all_liquidity == inf:
        near = _propagate_over(graph, rows, endpoints, _NEAR_HOPS, edge_bound, limits)
        if near >= limits.sufficient:
            return inf
    return _propagate_over(graph, rows, endpoints, max_hops, edge_bound, limits)


def _propagate_over(
    graph: MarketGraph, rows: _Rows, endpoints: TokenPair, max_hops: int, edge_bound: _EdgeBound, limits: _Limits
) -> float:
    """Return how much can reach the last of `endpoints` from the first, which has an unlimited amount.

    `rows` are the edges onward and back. `edge_bound(token, before, balance)` bounds the amount that reaches `token`
    over its edge from `before`, where at most `balance` is available.
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
                if part > parts.get(token, {}).get(before, 0.0) * (1.0 + limits.min_growth):
                    increased.setdefault(token, {})[before] = part
        return increased

    for increased in relax_layers(parts, max_hops, extend):
        for token, inflows in increased.items():
            parts.setdefault(token, {}).update(inflows)
            totals[token] = sum(parts[token].values())
        if totals.get(last, 0.0) >= limits.sufficient:
            return inf
        if totals.get(last, 0.0) >= limits.all_liquidity * _ALMOST_ALL:
            return limits.all_liquidity * ROUNDING_MARGIN
    return totals.get(last, 0.0) * ROUNDING_MARGIN


def _sum_without(parts: Mapping[int, float], token: int, total: float) -> float:
    """Return the sum `total` of `parts` without the part of `token`: an amount from there does not flow back."""
    part = parts.get(token, 0.0)
    if part <= total / 2:
        return total - part
    return sum(other for t, other in parts.items() if t != token)


def _max_input(arc: Arc, room: float) -> float:
    """Return an input for which `arc` pays at least `room`, within 0.1% of the least; its capacity if there is none."""
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
    """Return a bound on the output of the pools between two tokens for at most `balance`."""
    if not arcs or balance <= 0.0:
        return 0.0
    if len(arcs) == 1 or balance >= sum([min(arc.curve.capacity, UNBOUNDED_AMOUNT) for arc in arcs]):
        return _output_of_each(arcs, balance)
    return _max_split_output(arcs, balance)


def _output_of_each(arcs: Sequence[Arc], balance: float) -> float:
    """Return the output of the pools between two tokens if each takes `balance`, or as much of it as it can."""
    return sum([arc.curve.amount_out(min(balance, arc.curve.capacity, UNBOUNDED_AMOUNT)) for arc in arcs])


def _max_split_output(arcs: Sequence[Arc], balance: float) -> float:
    """Return an upper bound on the output of any split of `balance`, close to the best one.

    At any rate, the surplus of the pools' best trades plus the balance at that rate bounds every split: this is the
    dual of one hop. The search for the best rate ends once a split that is no better pays almost as much.
    """
    # The marginal rate is at least that of any pool after the whole balance.
    low, high = max([arc.curve.rate(balance) for arc in arcs]), max([arc.rate for arc in arcs])
    bound, rate = inf, low if 0.0 < low < high else high * 0.5
    for _ in range(HOP_ITERATIONS):
        trades = [arc.trade_to_marginal_rate(rate) if rate < arc.rate else (0.0, 0.0, 0.0) for arc in arcs]
        sold, paid, slope = (sum(amounts) for amounts in zip(*trades, strict=True))
        missing = balance - sold
        if sold < inf:
            bound = min(bound, paid + rate * missing)
            # The pools may sell less than the balance, or each the same part of these amounts.
            pays = paid if missing >= 0.0 else paid * (balance / sold)
            if bound - pays <= _SPLIT_TOLERANCE * bound:
                break
        low, high = (low, rate) if missing > 0.0 else (rate, high)
        rate = next_rate(rate, missing, slope if sold < inf else 0.0, low, high)
        if not rate or high - low <= ADJACENT_FLOATS * high:
            break
    return bound
