"""From a continuous flow to the wire's percents: the best whole-percent flow, its paths, and the pools' shares.

Moving share between paths costs value hop by hop: at the solution's prices a hop that carries x loses
price_in * x - price_out * out(x), a convex function. The best rounding is therefore a convex-cost flow in whole
percents, and such a flow is optimal when no cycle of single-percent moves lowers its cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf

from swapcli.model.route import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.routing.cancellation import CancelCheck, no_cancellation
from swapcli.routing.graph.digraph import TokenPair, topological_order
from swapcli.routing.graph.market_graph import MarketGraph, Prices
from swapcli.routing.search.flow import Flow
from swapcli.routing.solver.hop import Hop

Percents = dict[TokenPair, int]
_MAX_MOVES = 400
_UNREACHED: tuple[float, tuple[TokenPair, ...]] = (inf, ())
_OVERFLOW_PENALTY = 1e3  # for what exceeds a hop's capacity: it would stay in the router


Losses = Mapping[TokenPair, Callable[[int], float]]
"""For each hop: the value lost where it carries so many percent."""


def hop_losses(flow: Flow, prices: Prices, capacity_margin: float) -> Losses:
    """Return what each hop of `flow` loses against its marginal prices. None is filled beyond `headroom`."""
    order_value = _order_value(flow, prices)
    return {(hop.token_in, hop.token_out): _loss(hop, flow, prices, capacity_margin, order_value) for hop in flow.hops}


def whole_percents(flow: Flow, prices: Prices, losses: Losses, check: CancelCheck = no_cancellation) -> Percents:
    """Return the whole percents per hop that lose least against the continuous flow. Calls `check` once a move."""
    percents = _first_rounding(flow)
    links = list(losses)
    scale = _order_value(flow, prices) * 1e-13
    for _ in range(_MAX_MOVES):
        check()
        cycle = _negative_cycle(links, percents, losses, scale)
        if not cycle:
            break
        for link, change in cycle:
            percents[link] = percents.get(link, 0) + change
    return {link: n for link, n in percents.items() if n > 0}


def _order_value(flow: Flow, prices: Prices) -> float:
    """What the order is worth, before it moves the prices or after: a huge order's input is worth little in the end."""
    source, target = flow.endpoints
    return max(flow.amount_per_share[source] * prices[source], flow.amount_per_share.get(target, 0.0))


def _loss(hop: Hop, flow: Flow, prices: Prices, capacity_margin: float, order_value: float) -> Callable[[int], float]:
    """Value lost by the hop when it carries n percent, against its marginal prices."""
    known = {0: 0.0}
    price_in, price_out = prices[hop.token_in], prices[hop.token_out]
    unit = flow.amount_per_share[hop.token_in] / SHARES_PER_ROUTE
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
    links: list[TokenPair], percents: Percents, losses: Losses, scale: float
) -> list[tuple[TokenPair, int]]:
    """A cycle of single-percent moves that lowers the loss, by Bellman and Ford; empty when there is none."""
    moves: list[_Move] = []
    for link in links:
        n, loss = percents.get(link, 0), losses[link]
        now = loss(n)
        if n < SHARES_PER_ROUTE:
            moves.append((link[0], link[1], loss(n + 1) - now + scale, link, 1))
        if n > 0:
            moves.append((link[1], link[0], loss(n - 1) - now + scale, link, -1))
    distance = {t: 0.0 for link in links for t in link}
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
    """A cycle in the graph of predecessors, if there is one by now."""
    done: set[int] = set()
    for start in before:
        trail: list[int] = []
        token = start
        while token in before and token not in done and token not in trail:
            trail.append(token)
            token = before[token][0]
        if token in trail:
            ring = trail[trail.index(token) :]
            return [(before[t][3], before[t][4]) for t in ring]
        done.update(trail)
    return []


def _first_rounding(flow: Flow) -> Percents:
    """Decompose the flow to paths, widest first, and round the paths by largest remainder."""
    shares = {(hop.token_in, hop.token_out): share for hop, share in zip(flow.hops, flow.shares, strict=True)}
    paths = decompose_into_paths(shares, flow.endpoints, len(flow.amount_per_share) + 1, 1e-6)
    total = sum(width for _, width in paths)
    exact = [width * SHARES_PER_ROUTE / total for _, width in paths]
    whole = largest_remainder(exact, SHARES_PER_ROUTE)
    percents: Percents = {}
    for (path, _), n in zip(paths, whole, strict=True):
        for link in path:
            percents[link] = percents.get(link, 0) + n
    return {link: n for link, n in percents.items() if n}


def largest_remainder(exact: list[float], total: int) -> list[int]:
    """Whole numbers near `exact` that sum to `total`: the largest remainders are rounded up."""
    whole = [int(x) for x in exact]
    by_remainder = sorted(range(len(exact)), key=lambda k: whole[k] - exact[k])
    short = total - sum(whole)
    for k in by_remainder[: max(0, short)]:
        whole[k] += 1
    return whole


WeightedPath = tuple[list[TokenPair], float]
"""The hops of a path, and what it carries."""


def decompose_into_paths(
    amounts: Mapping[TokenPair, float], endpoints: tuple[int, int], max_hops: int, min_width: float
) -> list[WeightedPath]:
    """Paths of at most `max_hops` that carry the acyclic flow `amounts`, widest first: at most one per hop.

    Leaves paths narrower than `least`, and what only longer paths could carry.
    """
    left = dict(amounts)
    paths: list[WeightedPath] = []
    while True:
        path = _widest_path(left, endpoints, max_hops)
        width = min((left[link] for link in path), default=0.0)
        if width <= min_width:
            return paths
        paths.append((path, width))
        for link in path:
            left[link] -= width


def _widest_path(left: Mapping[TokenPair, float], endpoints: tuple[int, int], max_hops: int) -> list[TokenPair]:
    """The path from end to end whose narrowest hop is widest, found in one round a hop."""
    source, target = endpoints
    leaving: dict[int, list[tuple[TokenPair, float]]] = {}
    for link, amount in left.items():
        if amount > 0:
            leaving.setdefault(link[0], []).append((link, amount))
    width: dict[int, float] = {source: inf}
    paths: dict[int, tuple[TokenPair, ...]] = {source: ()}
    front: dict[int, tuple[float, tuple[TokenPair, ...]]] = {source: (inf, ())}
    for _ in range(max_hops):
        found: dict[int, tuple[float, tuple[TokenPair, ...]]] = {}
        for token, (reach, path) in front.items():
            for link, amount in leaving.get(token, ()):
                wide = min(reach, amount)
                if wide > width.get(link[1], 0.0):
                    width[link[1]] = wide
                    found[link[1]] = (wide, (*path, link))
        if not found:
            break
        paths.update({token: path for token, (_, path) in found.items()})
        front = found
    return list(paths.get(target, ()))


def build_route(
    percents: Percents,
    losses: Losses,
    flow: Flow,
    graph: MarketGraph,
    amount: float,
    max_hops: int,
    capacity_margin: float,
) -> tuple[Route, int] | None:
    """Return the route that carries `percents`: paths widest first, pools filled again for what now reaches each hop.

    What only paths with too many hops could carry goes over those paths that lose least by it, and is given as a
    percent; None where every path has too many.
    """
    paths = {tuple(path): int(width) for path, width in decompose_into_paths(percents, flow.endpoints, max_hops, 0.5)}
    if not paths:
        return None
    carried_by: Percents = {}
    for path, n in paths.items():
        for link in path:
            carried_by[link] = carried_by.get(link, 0) + n
    rerouted_percent = SHARES_PER_ROUTE - sum(paths.values())
    for _ in range(rerouted_percent):
        path = _cheapest_path(carried_by, losses, flow.endpoints, max_hops)
        paths[path] = paths.get(path, 0) + 1
        for link in path:
            carried_by[link] = carried_by.get(link, 0) + 1
    hops = {(hop.token_in, hop.token_out): hop for hop in flow.hops}
    widest_first = sorted(paths.items(), key=lambda entry: -entry[1])
    return route_along(widest_first, hops, graph, (flow.endpoints[0], amount), capacity_margin), rerouted_percent


def _cheapest_path(
    percents: Percents, losses: Losses, endpoints: tuple[int, int], max_hops: int
) -> tuple[TokenPair, ...]:
    """Return the path of at most `max_hops` hops that loses least by carrying one percent more."""
    source, target = endpoints
    costs = {link: loss(percents.get(link, 0) + 1) - loss(percents.get(link, 0)) for link, loss in losses.items()}
    best: dict[int, tuple[float, tuple[TokenPair, ...]]] = {source: (0.0, ())}
    front = best
    for _ in range(max_hops):
        found: dict[int, tuple[float, tuple[TokenPair, ...]]] = {}
        for (i, j), cost in costs.items():
            if i in front and front[i][0] + cost < min(best.get(j, _UNREACHED)[0], found.get(j, _UNREACHED)[0]):
                found[j] = (front[i][0] + cost, (*front[i][1], (i, j)))
        best = best | found
        front = found
    return best[target][1]


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
        for link in path:
            carried_by[link] = carried_by.get(link, 0) + n
    swaps = _split_hops(carried_by, hops, graph, start, capacity_margin)
    return Route(tuple(Segment(n, tuple(swaps[link] for link in path)) for path, n in paths))


def _split_hops(
    percents: Percents,
    hops: Mapping[TokenPair, Hop],
    graph: MarketGraph,
    start: tuple[int, float],
    capacity_margin: float,
) -> dict[TokenPair, tuple[Swap, ...]]:
    held = dict([start])
    filled: dict[TokenPair, tuple[Swap, ...]] = {}
    for token in topological_order(percents) or []:
        leaving = [link for link in percents if link[0] == token]
        total = sum(percents[link] for link in leaving)
        for link in leaving:
            hop, amount_in = hops[link], held[token] * percents[link] / total
            shares, got = split_in_shares(hop, amount_in, capacity_margin)
            filled[link] = tuple(
                Swap(hop.arcs[k].pool.key, graph.addresses[link[0]], graph.addresses[link[1]], share)
                for k, share in shares
            )
            held[link[1]] = held.get(link[1], 0.0) + got
    return filled


def split_in_shares(hop: Hop, amount_in: float, capacity_margin: float) -> tuple[list[tuple[int, int]], float]:
    """The hop's pools with their shares of `amount_in`, as `Swap` has them, and what they pay together."""
    shares = _pool_shares(hop, amount_in, capacity_margin)
    return shares, sum(hop.arcs[k].curve.amount_out(amount_in * share / SHARES_PER_HOP) for k, share in shares)


def _pool_shares(hop: Hop, amount_in: float, capacity_margin: float) -> list[tuple[int, int]]:
    """(arc, hundredths of a percent) of the pools worth a share; none gets more than `headroom` of its capacity.

    Largest first, but last the one with most room: the router rounds every rate down, and the last pool of a token gets
    what that leaves.
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
