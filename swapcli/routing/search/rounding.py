"""Rounds a continuous flow to whole percents: the best integer flow, its paths, and the pools' shares.

At the solution's prices a hop that carries x loses price_in * x - price_out * out(x), a convex function. The best
rounding is therefore a minimum of a separable convex-cost integer flow. It starts from the largest-remainder rounding
of the flow's paths, and cycle cancelling improves it: such a flow is optimal when no cycle of single-percent moves has
a negative cost.

Source: Ahuja, Magnanti, Orlin, Network Flows (1993), sections 9.6 (cycle cancelling), 14.5 (convex costs) and 3.5 (path
decomposition).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf

from swapcli.model.quote import SHARES_PER_HOP, SHARES_PER_PERCENT, Route, Segment, Swap
from swapcli.routing.cancellation import CancelCheck, no_cancellation
from swapcli.routing.graph.best_paths import best_labels
from swapcli.routing.graph.digraph import TokenPair, topological_order
from swapcli.routing.graph.market_graph import MarketGraph, Prices
from swapcli.routing.search.order_flow import Flow
from swapcli.routing.solver.parallel_pools import Hop

Percents = dict[TokenPair, int]
_WHOLE = 100  # percents of a route
_MAX_MOVES = 400  # cycles cancelled per rounding; from largest remainders some 20 are typical. Empirical
_OVERFLOW_PENALTY = 1e3  # in values of the order: input beyond a hop's capacity would remain in the router
_REGULARIZATION = 1e-13  # of the order's value, per move: 500 times the rounding error, so that no cycle repeats
_MIN_SHARE = 1e-6  # of the order: narrower paths cannot get a percent
_MIN_PERCENT = 0.5  # of whole percents: none is narrower

_PathLabel = tuple[float, tuple[TokenPair, ...]]
"""(width or cost, path) of the best path to a token."""
_UNREACHED: _PathLabel = (inf, ())
_NO_WIDTH: _PathLabel = (0.0, ())


Losses = Mapping[TokenPair, Callable[[int], float]]
"""For each hop: the value lost as a function of the percents that it carries."""


def hop_losses(flow: Flow, prices: Prices, capacity_margin: float) -> Losses:
    """Return the loss of each hop of `flow` against the prices. No hop is filled beyond `capacity_margin`."""
    order_value = _order_value(flow, prices)
    return {(hop.token_in, hop.token_out): _loss(hop, flow, prices, capacity_margin, order_value) for hop in flow.hops}


def whole_percents(flow: Flow, prices: Prices, losses: Losses, check: CancelCheck = no_cancellation) -> Percents:
    """Return the whole percents per hop that lose least against the continuous flow. Calls `check` once per move."""
    percents = _first_rounding(flow)
    pairs = list(losses)
    scale = _order_value(flow, prices) * _REGULARIZATION
    for _ in range(_MAX_MOVES):
        check()
        cycle = _negative_cycle(pairs, percents, losses, scale)
        if not cycle:
            break
        for pair, change in cycle:
            percents[pair] = percents.get(pair, 0) + change
    return {pair: n for pair, n in percents.items() if n > 0}


def _order_value(flow: Flow, prices: Prices) -> float:
    """Return the value of the order's input or output, the larger: a huge order leaves its input almost worthless."""
    source, target = flow.endpoints
    return max(flow.amount_per_share[source] * prices[source], flow.amount_per_share.get(target, 0.0))


def _loss(hop: Hop, flow: Flow, prices: Prices, capacity_margin: float, order_value: float) -> Callable[[int], float]:
    """Return the value lost by the hop as a function of the percents that it carries."""
    known = {0: 0.0}
    price_in, price_out = prices[hop.token_in], prices[hop.token_out]
    unit = flow.amount_per_share[hop.token_in] / _WHOLE
    overflow_penalty = _OVERFLOW_PENALTY * order_value / flow.amount_per_share[hop.token_in]

    def loss(n: int) -> float:
        value = known.get(n)
        if value is None:
            taken = min(unit * n, hop.capacity * capacity_margin)
            value = price_in * unit * n - price_out * hop.amount_out(taken) + overflow_penalty * (unit * n - taken)
            known[n] = value
        return value

    return loss


_Move = tuple[int, int, float, TokenPair, int]  # from token, to token, cost, hop, change in percent


def _negative_cycle(
    pairs: list[TokenPair], percents: Percents, losses: Losses, scale: float
) -> list[tuple[TokenPair, int]]:
    """Return a cycle of single-percent moves of negative cost, by the Bellman-Ford algorithm, or an empty list."""
    moves: list[_Move] = []
    for pair in pairs:
        n, loss = percents.get(pair, 0), losses[pair]
        now = loss(n)
        if n < _WHOLE:
            moves.append((pair[0], pair[1], loss(n + 1) - now + scale, pair, 1))
        if n > 0:
            moves.append((pair[1], pair[0], loss(n - 1) - now + scale, pair, -1))
    distance = {t: 0.0 for pair in pairs for t in pair}
    before: dict[int, _Move] = {}
    for _ in range(len(distance)):
        last = None
        for move in moves:
            reached = distance[move[0]] + move[2]
            if reached < distance[move[1]] - scale:
                distance[move[1]] = reached
                before[move[1]] = move
                last = move[1]
        if last is None:
            return []
        cycle = _predecessor_cycle(before)
        if cycle:
            return cycle
    return []


def _predecessor_cycle(before: Mapping[int, _Move]) -> list[tuple[TokenPair, int]]:
    """Return a cycle in the graph of predecessors; empty if there is none."""
    done: set[int] = set()
    for start in before:
        trail: list[int] = []
        token = start
        while token in before and token not in done and token not in trail:
            trail.append(token)
            token = before[token][0]
        if token in trail:
            cycle = trail[trail.index(token) :]
            return [(before[t][3], before[t][4]) for t in cycle]
        done.update(trail)
    return []


def _first_rounding(flow: Flow) -> Percents:
    """Decompose the flow into paths, widest first, and round the paths by largest remainder."""
    shares = {(hop.token_in, hop.token_out): share for hop, share in zip(flow.hops, flow.shares, strict=True)}
    paths = decompose_into_paths(shares, flow.endpoints, len(flow.amount_per_share) + 1, _MIN_SHARE)
    total = sum(width for _, width in paths)
    exact = [width * _WHOLE / total for _, width in paths]
    whole = largest_remainder(exact, _WHOLE)
    percents: Percents = {}
    for (path, _), n in zip(paths, whole, strict=True):
        for pair in path:
            percents[pair] = percents.get(pair, 0) + n
    return {pair: n for pair, n in percents.items() if n}


def largest_remainder(exact: list[float], total: int) -> list[int]:
    """Round `exact` to whole numbers that sum to `total`: the largest remainders are rounded up (Hamilton's method)."""
    whole = [int(x) for x in exact]
    by_remainder = sorted(range(len(exact)), key=lambda k: whole[k] - exact[k])
    short = total - sum(whole)
    for k in by_remainder[: max(0, short)]:
        whole[k] += 1
    return whole


WeightedPath = tuple[list[TokenPair], float]
"""The hops of a path, and its flow."""


def decompose_into_paths(
    amounts: Mapping[TokenPair, float], endpoints: tuple[int, int], max_hops: int, min_width: float
) -> list[WeightedPath]:
    """Return paths of at most `max_hops` that carry the acyclic flow `amounts`, widest first: at most one per hop.

    Omits paths narrower than `min_width`, and flow that only longer paths could carry.
    """
    left = dict(amounts)
    paths: list[WeightedPath] = []
    while True:
        path = _widest_path(left, endpoints, max_hops)
        width = min((left[pair] for pair in path), default=0.0)
        if width <= min_width:
            return paths
        paths.append((path, width))
        for pair in path:
            left[pair] -= width


def _widest_path(left: Mapping[TokenPair, float], endpoints: TokenPair, max_hops: int) -> list[TokenPair]:
    """Return the path between `endpoints` whose narrowest hop is widest; empty if there is none."""
    source, target = endpoints
    leaving: dict[int, list[tuple[TokenPair, float]]] = {}
    for pair, amount in left.items():
        if amount > 0:
            leaving.setdefault(pair[0], []).append((pair, amount))

    def extend(front: Mapping[int, _PathLabel], best: Mapping[int, _PathLabel], _: int) -> dict[int, _PathLabel]:
        improved: dict[int, _PathLabel] = {}
        for token, (width, path) in front.items():
            for pair, amount in leaving.get(token, ()):
                wide = min(width, amount)
                if wide > (improved.get(pair[1]) or best.get(pair[1], _NO_WIDTH))[0]:
                    improved[pair[1]] = (wide, (*path, pair))
        return improved

    start: dict[int, _PathLabel] = {source: (inf, ())}
    return list(best_labels(start, max_hops, extend).get(target, _NO_WIDTH)[1])


def build_route(
    percents: Percents,
    losses: Losses,
    flow: Flow,
    graph: MarketGraph,
    amount: float,
    max_hops: int,
    capacity_margin: float,
) -> tuple[Route, int] | None:
    """Return the route that carries `percents`, and the percent rerouted; None where every path has too many hops.

    Paths come widest first, and each hop's pools are split again for the amount that reaches it. Percents that only
    paths with too many hops could carry are rerouted over the paths that lose least by it.
    """
    paths = {
        tuple(path): int(width)
        for path, width in decompose_into_paths(percents, flow.endpoints, max_hops, _MIN_PERCENT)
    }
    if not paths:
        return None
    carried_by: Percents = {}
    for path, n in paths.items():
        for pair in path:
            carried_by[pair] = carried_by.get(pair, 0) + n
    rerouted_percent = _WHOLE - sum(paths.values())
    for _ in range(rerouted_percent):
        path = _cheapest_path(carried_by, losses, flow.endpoints, max_hops)
        paths[path] = paths.get(path, 0) + 1
        for pair in path:
            carried_by[pair] = carried_by.get(pair, 0) + 1
    hops = {(hop.token_in, hop.token_out): hop for hop in flow.hops}
    widest_first = sorted(paths.items(), key=lambda entry: -entry[1])
    return route_along(widest_first, hops, graph, (flow.endpoints[0], amount), capacity_margin), rerouted_percent


def _cheapest_path(percents: Percents, losses: Losses, endpoints: TokenPair, max_hops: int) -> tuple[TokenPair, ...]:
    """Return the path of at most `max_hops` hops that loses least by carrying one percent more."""
    source, target = endpoints
    costs = {pair: loss(percents.get(pair, 0) + 1) - loss(percents.get(pair, 0)) for pair, loss in losses.items()}

    def extend(front: Mapping[int, _PathLabel], best: Mapping[int, _PathLabel], _: int) -> dict[int, _PathLabel]:
        improved: dict[int, _PathLabel] = {}
        for (i, j), cost in costs.items():
            if i not in front:
                continue
            total = front[i][0] + cost
            if total < min(best.get(j, _UNREACHED)[0], improved.get(j, _UNREACHED)[0]):
                improved[j] = (total, (*front[i][1], (i, j)))
        return improved

    start: dict[int, _PathLabel] = {source: (0.0, ())}
    return best_labels(start, max_hops, extend)[target][1]


def route_along(
    paths: Sequence[tuple[Sequence[TokenPair], int]],
    hops: Mapping[TokenPair, Hop],
    graph: MarketGraph,
    start: tuple[int, float],
    capacity_margin: float,
) -> Route:
    """Return the route of `paths` with their percents; each hop's pools are filled for what reaches it from `start`."""
    carried_by: Percents = {}
    for path, n in paths:
        for pair in path:
            carried_by[pair] = carried_by.get(pair, 0) + n
    swaps = _split_hops(carried_by, hops, graph, start, capacity_margin)
    return Route(tuple(Segment(n * SHARES_PER_PERCENT, tuple(swaps[pair] for pair in path)) for path, n in paths))


def _split_hops(
    percents: Percents,
    hops: Mapping[TokenPair, Hop],
    graph: MarketGraph,
    start: tuple[int, float],
    capacity_margin: float,
) -> dict[TokenPair, tuple[Swap, ...]]:
    balances = dict([start])
    filled: dict[TokenPair, tuple[Swap, ...]] = {}
    for token in topological_order(percents) or []:
        leaving = [pair for pair in percents if pair[0] == token]
        total = sum(percents[pair] for pair in leaving)
        for pair in leaving:
            hop, amount_in = hops[pair], balances[token] * percents[pair] / total
            shares, amount_out = split_in_shares(hop, amount_in, capacity_margin)
            filled[pair] = tuple(
                Swap(hop.arcs[k].pool.key, graph.addresses[pair[0]], graph.addresses[pair[1]], share)
                for k, share in shares
            )
            balances[pair[1]] = balances.get(pair[1], 0.0) + amount_out
    return filled


def split_in_shares(hop: Hop, amount_in: float, capacity_margin: float) -> tuple[list[tuple[int, int]], float]:
    """Return the (arc, share) of the hop's pools for `amount_in`, shares as in `Swap`, and their total output."""
    shares = _pool_shares(hop, amount_in, capacity_margin)
    return shares, sum(hop.arcs[k].curve.amount_out(amount_in * share / SHARES_PER_HOP) for k, share in shares)


def _pool_shares(hop: Hop, amount_in: float, capacity_margin: float) -> list[tuple[int, int]]:
    """Return (arc, hundredths of a percent) of the pools with a share; none gets more of its capacity than the margin.

    Largest first, except that the pool with most room comes last: the router rounds every rate down, and the last pool
    of a token gets the remainder.
    """
    unit = amount_in / SHARES_PER_HOP
    whole = largest_remainder([x / unit for x in hop.split(amount_in)], SHARES_PER_HOP)
    limits = [int(min(SHARES_PER_HOP, arc.curve.capacity * capacity_margin / unit)) for arc in hop.arcs]
    spill = 0
    for k, limit in enumerate(limits):
        spill += max(0, whole[k] - limit)
        whole[k] = min(whole[k], limit)
    by_rate = sorted(range(len(whole)), key=lambda k: -hop.arcs[k].curve.rate(unit * whole[k]))
    for k in by_rate:
        step = min(spill, limits[k] - whole[k])
        whole[k] += step
        spill -= step
    whole[by_rate[0]] += spill
    used = sorted((k for k, n in enumerate(whole) if n > 0), key=lambda k: -whole[k])
    roomy = max(used, key=lambda k: hop.arcs[k].curve.capacity - unit * whole[k])
    used.remove(roomy)
    return [(k, whole[k]) for k in [*used, roomy]]
