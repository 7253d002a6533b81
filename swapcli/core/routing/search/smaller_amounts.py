"""Routes of smaller amounts, for an order that drains its market: it never pays less than a part of it would.

Once the pools are full, the surplus of an order has no use, but some path must take it. That path comes first: the rest
of the order gets the best route on the pools as the surplus has left them. Both together are one route.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, combinations, permutations, product
from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Step, Swap
from swapcli.core.routing.graph.digraph import TokenPair, topological_order
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.replay import Replay, execute, flatten
from swapcli.core.routing.search.exact_paths import exact_paths
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.rounding import decompose_into_paths, largest_remainder, move_sizes
from swapcli.core.routing.search.scored_route import RouteScorer, ScoredRoute

_SCANNED: Final = 6
_HALVINGS: Final = 8  # of the part that the market uses up: it is then known to a thousandth
_MAX_SURPLUS_PATHS: Final = 3  # for each part, those that pay most. Bounds the work
_REDUCTIONS: Final = (0.0, 1e-4, 1e-3, 1e-2)  # of the amounts beside the surplus: rounding them may overfill a full pool
_SEGMENT_MOVES: Final = (2_000, 500, 100, 25, 5)  # hundredths of a percent moved at once, before the share step
_POOL_MOVES: Final = (3_000, 1_000, 300, 100, 30, 10, 3, 1)
_MAX_REPLAYS: Final = 600  # of moves. Bounds the work; most routes on small markets take 300

_Pair = tuple[str, str]

SearchPart = Callable[[RoutingProblem, Mapping[str, Pool]], ScoredRoute | None]
"""Returns the best route of a smaller order on changed pools; None if there is none."""


def best_with_surplus(
    problem: RoutingProblem, scorer: RouteScorer, search: SearchPart, found: ScoredRoute | None
) -> ScoredRoute | None:
    """Return the best of `found` and the routes that extend those of parts of the order; None without any.

    The output rises with the part up to the one that fills the pools, and falls after it: a bisection leads there.
    """
    routes = [_bisect(problem, scorer, search, extend) for extend in (_surplus_first,)]
    routes = [climb(problem, scorer, each) for each in (*routes, found) if each]
    return max(routes, key=lambda each: each.net, default=None)


def _bisect(problem: RoutingProblem, scorer: RouteScorer, search: SearchPart, extend) -> ScoredRoute | None:
    def try_part(amount):
        joined = (_join(problem, scorer, surplus, part) for surplus, part in extend(problem, scorer, search, amount))
        return max((each for each in joined if each), key=lambda each: each.net, default=None)
    found = [(each, amount) for k in range(1, _SCANNED) if (each := try_part(amount := problem.spec.amount >> k))]
    if not found:
        return None
    best, low = max(found, key=lambda each: each[0].net)
    high = 2 * low
    for _ in range(_HALVINGS):
        amount = (low + high) // 2
        extended = try_part(amount)
        if extended and extended.net > best.net:
            best, low = extended, amount
        else:
            high = amount
    return best


def climb(problem: RoutingProblem, scorer: RouteScorer, best: ScoredRoute) -> ScoredRoute:
    """Return the best route that moves of shares reach, each by an exact replay.

    At full pools, marginal rates say nothing of a move.
    """
    replays, is_better = 0, True
    while is_better:
        is_better = False
        pools = _idle_pools(problem, best.route)
        for route in chain(_segment_moves(best.route, pools, problem.spec.share_step), _pool_moves(best.route, pools)):
            replays += 1
            found = scorer.score_if_accepted(route, best.amount_in)
            if found and found.net > best.net:
                best, is_better = found, True
                break
            if replays >= _MAX_REPLAYS:
                return best
        if not is_better:
            found = _fill_last_unit(problem, scorer, best, pools)
            if found:
                best, is_better = found, True
    return best


def _fill_last_unit(
    problem: RoutingProblem, scorer: RouteScorer, best: ScoredRoute, pools: Mapping[_Pair, Sequence[str]]
) -> ScoredRoute | None:
    """Return a better route with one more share in a path that it overfills, unless a hop pays a little less.

    The smallest share is too much for what a full pool has left. A part of it in a pool that pays less fits.
    """
    for route in _segment_moves(best.route, {}, problem.spec.share_step, (problem.spec.share_step,)):
        if scorer.score_if_accepted(route, best.amount_in):
            continue
        for hop in dict.fromkeys(hop for segment in route.segments for hop in segment.hops):
            for giver, taker in product({swap.pool: swap.share for swap in hop}, pools.get(hop[0][1:3], ())):
                if giver == taker:
                    continue
                low, high = 0, next(swap.share for swap in hop if swap.pool == giver)
                found = scorer.score_if_accepted(_with_moved_pool(route, hop, giver, taker, high), best.amount_in)
                while found and high - low > 1:
                    middle = (low + high) // 2
                    less = scorer.score_if_accepted(_with_moved_pool(route, hop, giver, taker, middle), best.amount_in)
                    low, high, found = (low, middle, less) if less else (middle, high, found)
                if found and found.net > best.net:
                    return found
    return None


def _idle_pools(problem: RoutingProblem, route: Route) -> dict[_Pair, list[str]]:
    """Return the pools of each hop's pair of tokens that trade no other pair."""
    arcs, index = problem.graph.arcs_by_pair, problem.graph.token_index
    pairs = {swap.pool: swap[1:3] for segment in route.segments for hop in segment.hops for swap in hop}
    return {
        (i, j): [arc.pool.key for arc in arcs[index[i]].get(index[j], ()) if pairs.get(arc.pool.key, (i, j)) == (i, j)]
        for i, j in set(pairs.values())
    }


def _segment_moves(route: Route, pools: Mapping[_Pair, Sequence[str]], share_step: int, sizes: Sequence[int] = _SEGMENT_MOVES) -> Iterator[Route]:
    """Yield routes with a share of one segment moved to another, as its pools are split or to one pool of a hop."""
    segments = route.segments
    for size in move_sizes(sizes, share_step):
        for giver, taker in permutations(range(len(segments)), 2):
            moved = min(size, segments[giver].share)
            for grown in _grown(segments[taker], pools, moved):
                changed = list(segments)
                changed[giver] = segments[giver]._replace(share=segments[giver].share - moved)
                changed[taker] = grown
                yield Route(tuple(each for each in changed if each.share))


def _grown(segment: Segment, pools: Mapping[_Pair, Sequence[str]], added: int) -> Iterator[Segment]:
    total = segment.share + added
    yield segment._replace(share=total)
    for position, hop in enumerate(segment.hops):
        pair = hop[0][1:3]
        for taker in pools.get(pair, ()):
            weights = {swap.pool: swap.share * segment.share for swap in hop}
            weights[taker] = weights.get(taker, 0) + SHARES_PER_HOP * added
            shares = largest_remainder([weight / total for weight in weights.values()], SHARES_PER_HOP)
            swaps = tuple(Swap(key, *pair, n) for key, n in zip(weights, shares, strict=True) if n)
            yield Segment(total, (*segment.hops[:position], swaps, *segment.hops[position + 1 :]))


def _pool_moves(route: Route, pools: Mapping[_Pair, Sequence[str]]) -> Iterator[Route]:
    """Yield routes with a share of a pool moved to another one of the same hop, in all segments."""
    for size in _POOL_MOVES:
        for hop in dict.fromkeys(hop for segment in route.segments for hop in segment.hops):
            pair, shares = hop[0][1:3], {swap.pool: swap.share for swap in hop}
            for giver, taker in product(shares, pools[pair]):
                if giver != taker:
                    yield _with_moved_pool(route, hop, giver, taker, min(size, shares[giver]))


def _with_moved_pool(route: Route, hop: tuple[Swap, ...], giver: str, taker: str, moved: int) -> Route:
    shares = {swap.pool: swap.share for swap in hop}
    changed = shares | {giver: shares[giver] - moved, taker: shares.get(taker, 0) + moved}
    swaps = tuple(Swap(key, *hop[0][1:3], n) for key, n in changed.items() if n)
    segments = (
        each._replace(hops=tuple(swaps if other == hop else other for other in each.hops)) for each in route.segments
    )
    return Route(tuple(segments))


def _surplus_first(problem: RoutingProblem, scorer: RouteScorer, search: SearchPart, amount: int) -> Iterator[tuple[Replay, Replay]]:
    pools, surplus = scorer.pools, problem.spec.amount - amount
    for path in _surplus_paths(problem, pools, surplus):
        part = search(_changed(problem, amount, pools, path.pools_after), {**pools, **path.pools_after})
        if part:
            yield path, part.replay


def _surplus_paths(
    problem: RoutingProblem, pools: Mapping[str, Pool], surplus: int, avoided: Set[TokenPair] = frozenset()
) -> list[Replay]:
    """Return replays of single paths that take `surplus` in `pools`, those first that pay most."""
    spec = problem.spec
    routes = exact_paths(problem.graph, spec.endpoints, surplus, spec.max_hops, spec.check, pools, avoided)
    replays = [execute(pools, flatten(route), surplus) for route in routes]
    return sorted(replays, key=lambda each: -each.amount_out)[:_MAX_SURPLUS_PATHS]


def _changed(
    problem: RoutingProblem, amount: int, pools: Mapping[str, Pool], changed: Mapping[str, Pool]
) -> RoutingProblem:
    """Return the order of `amount` on the market with changed pools."""
    spec, graph = problem.spec._replace(amount=amount), problem.graph
    if not changed:
        return problem._replace(spec=spec)
    graph = graph.with_changes([pools[key] for key in changed], changed.values(), graph.addresses)
    spot = SpotPrices(graph, spec.target, spec.max_hops)
    return problem._replace(graph=graph, spot=spot, spec=spec)


def _join(
    problem: RoutingProblem, scorer: RouteScorer, surplus: Replay, part: Replay
) -> ScoredRoute | None:
    """Return the route of the swaps of both; None if it cannot be executed."""
    for reduction in _REDUCTIONS:
        used = ((step, 1.0 - reduction) for step in part.steps)
        route = _route(problem, [*used, *((step, 1.0) for step in surplus.steps)])
        found = scorer.score_if_accepted(route, problem.spec.amount) if route else None
        if found:
            return found
    return None


def _route(problem: RoutingProblem, weighted: Iterable[tuple[Step, float]]) -> Route | None:
    """Return the route whose pools get the amounts of steps with their weights, as far as shares can say.

    None if its tokens form a cycle, or if no path is within the hop limit.
    """
    spec, index = problem.spec, problem.graph.token_index
    amounts: dict[TokenPair, dict[Swap, float]] = {}
    for step, weight in weighted:
        swaps = amounts.setdefault((index[step.token_in], index[step.token_out]), {})
        swap = Swap(step.pool, step.token_in, step.token_out, 0)
        swaps[swap] = swaps.get(swap, 0.0) + step.amount_in * weight
    order = topological_order(amounts)
    if order is None:
        return None
    carried, shares = {spec.source: 1.0}, dict[TokenPair, float]()
    for token in order:
        leaving = {pair: sum(swaps.values()) for pair, swaps in amounts.items() if pair[0] == token}
        for pair, amount in leaving.items():
            shares[pair] = carried[token] * amount / sum(leaving.values())
            carried[pair[1]] = carried.get(pair[1], 0.0) + shares[pair]
    paths = decompose_into_paths(shares, spec.endpoints, spec.max_hops, 0.5 / SHARES_PER_ROUTE)
    steps, total = SHARES_PER_ROUTE // spec.share_step, sum(width for _, width in paths)
    rounded = largest_remainder([width / total * steps for _, width in paths], steps)
    hops = {pair: _with_shares(swaps) for pair, swaps in amounts.items()}
    segments = [
        Segment(n * spec.share_step, tuple(hops[pair] for pair in pairs))
        for (pairs, _), n in zip(paths, rounded, strict=True)
        if n
    ]
    return Route(tuple(segments)) if segments else None


def _with_shares(amounts: Mapping[Swap, float]) -> tuple[Swap, ...]:
    total = sum(amounts.values())
    shares = largest_remainder([amount / total * SHARES_PER_HOP for amount in amounts.values()], SHARES_PER_HOP)
    return tuple(swap._replace(share=n) for swap, n in zip(amounts, shares, strict=True) if n)
