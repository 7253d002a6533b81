"""Climb from a route to better ones by moves of shares, where pools are full and their rates say nothing of a move.

A move goes from one segment to another, as the pools of that are split or all to one of its pools, or from one pool of
a hop to another. Each is replayed, and the first that pays more is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, permutations, product
from typing import Final

from swapcli.core.model.quote import SHARES_PER_HOP, Route, Segment, Swap
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.rounding import largest_remainder, move_sizes
from swapcli.core.routing.search.scored_route import RouteScorer, ScoredRoute

_SEGMENT_MOVES: Final = (2_000, 500, 100, 25, 5, 1)  # hundredths of a percent moved at once. Empirical
_POOL_MOVES: Final = (3_000, 1_000, 300, 100, 30, 10, 3, 1)
_MAX_REPLAYS: Final = 800  # bounds the work: on small markets, most climbs take fewer

_Pair = tuple[str, ...]
_Hop = tuple[Swap, ...]
_Pools = Mapping[_Pair, Sequence[str]]
_Score = Callable[[Route], ScoredRoute | None]


def climb(problem: RoutingProblem, scorer: RouteScorer, best: ScoredRoute) -> ScoredRoute:
    """Return the best route that moves reach from `best`. Calls the problem's check before each replay."""
    replays, sizes = 0, move_sizes(_SEGMENT_MOVES, problem.spec.share_step)

    def score(route: Route) -> ScoredRoute | None:
        nonlocal replays
        problem.spec.check()
        replays += 1
        return scorer.score_if_accepted(route, best.amount_in) if replays <= _MAX_REPLAYS else None

    better: ScoredRoute | None = best
    while better:
        best, pools = better, _pools_by_pair(problem, better.route)
        moves = chain(_segment_moves(best.route, pools, sizes), _pool_moves(best.route, pools))
        last_unit = (_fitted(route, pools, score) for route in _segment_moves(best.route, {}, sizes[-1:]))
        found = chain(map(score, moves), chain.from_iterable(last_unit))
        better = next((each for each in found if each and each.net > best.net), None)
    return best


def _pools_by_pair(problem: RoutingProblem, route: Route) -> _Pools:
    """Return the pools that may trade each pair of tokens: none that trades another pair in the route."""
    arcs, index = problem.graph.arcs_by_pair, problem.graph.token_index
    pairs = {swap.pool: (swap.token_in, swap.token_out) for hop in _hops(route) for swap in hop}
    return {
        (i, j): [arc.pool.key for arc in arcs[index[i]].get(index[j], ()) if pairs.get(arc.pool.key, (i, j)) == (i, j)]
        for i, j in dict.fromkeys(pairs.values())
    }


def _hops(route: Route) -> Iterable[_Hop]:
    """Return each hop of the route once."""
    return dict.fromkeys(hop for segment in route.segments for hop in segment.hops)


def _segment_moves(route: Route, pools: _Pools, sizes: Sequence[int]) -> Iterator[Route]:
    """Yield routes with a share of one segment moved to another; also to single pools of a hop, of those in `pools`."""
    segments = route.segments
    for size in sizes:
        for giver, taker in permutations(range(len(segments)), 2):
            moved = min(size, segments[giver].share)
            for grown in _grown(segments[taker], pools, moved):
                changed = list(segments)
                changed[giver] = segments[giver]._replace(share=segments[giver].share - moved)
                changed[taker] = grown
                yield Route(tuple(each for each in changed if each.share))


def _grown(segment: Segment, pools: _Pools, added: int) -> Iterator[Segment]:
    total = segment.share + added
    yield segment._replace(share=total)
    for position, hop in enumerate(segment.hops):
        for taker in pools.get(hop[0][1:3], ()):
            weights = {swap.pool: swap.share * segment.share for swap in hop}
            weights[taker] = weights.get(taker, 0) + SHARES_PER_HOP * added
            shares = largest_remainder([weight / total for weight in weights.values()], SHARES_PER_HOP)
            swaps = _with_shares(hop, dict(zip(weights, shares, strict=True)))
            yield Segment(total, (*segment.hops[:position], swaps, *segment.hops[position + 1 :]))


def _pool_moves(route: Route, pools: _Pools) -> Iterator[Route]:
    """Yield routes with a share of a pool moved to another pool of the hop, in all segments with the hop."""
    for size, hop in product(_POOL_MOVES, _hops(route)):
        for giver, taker in product(hop, pools.get(hop[0][1:3], ())):
            if giver.pool != taker:
                yield _with_pool_move(route, hop, giver, taker, min(size, giver.share))


def _fitted(route: Route, pools: _Pools, score: _Score) -> Iterator[ScoredRoute | None]:
    """Yield the route if it is accepted. Otherwise, the least part of a hop in another pool may make it so.

    The smallest share may be more than a full pool has left, unless a pool before it pays a little less.
    """
    accepted = score(route)
    if accepted:
        yield accepted
        return
    for hop in _hops(route):
        for giver, taker in product(hop, pools.get(hop[0][1:3], ())):
            if giver.pool == taker:
                continue
            low, high = 0, giver.share
            found = score(_with_pool_move(route, hop, giver, taker, high))
            while found and high - low > 1:
                middle = (low + high) // 2
                less = score(_with_pool_move(route, hop, giver, taker, middle))
                low, high, found = (low, middle, less) if less else (middle, high, found)
            yield found


def _with_pool_move(route: Route, hop: _Hop, giver: Swap, taker: str, moved: int) -> Route:
    shares = {swap.pool: swap.share for swap in hop}
    swaps = _with_shares(hop, shares | {giver.pool: giver.share - moved, taker: shares.get(taker, 0) + moved})
    segments = (
        each._replace(hops=tuple(swaps if other == hop else other for other in each.hops)) for each in route.segments
    )
    return Route(tuple(segments))


def _with_shares(hop: _Hop, shares: Mapping[str, int]) -> _Hop:
    return tuple(Swap(key, hop[0].token_in, hop[0].token_out, n) for key, n in shares.items() if n)
