"""Local search over the shares of a route by exact replays: for orders so small that rounding decides.

Curves do not know that contracts round to base units. Where a token on the way has few of them, a route may pay much
less than its solution says, and another division of the order over the same paths more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from swapcli.core.model.quote import SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.routing.graph.digraph import topological_order
from swapcli.core.routing.graph.market_graph import Prices
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.rounding import move_sizes
from swapcli.core.routing.search.scored_route import ScoredRoute

_MOVE_SIZES = (1_600, 400, 100, 25, 5, 1)  # hundredths of a percent moved at once, after whole paths. Empirical
_MAX_REPLAYS = 120  # bounds the work
_MAX_PATHS = 8  # of the search: the paths of the route, and those of other candidates. Bounds the work
_MAX_SHORTFALL = 5e-3  # of the best output: paths of routes that pay less are no candidates. Empirical

_Path = tuple[tuple[Swap, ...], ...]
"""The hops of a segment."""


def rounding_loss(found: ScoredRoute, prices: Prices, token_index: Mapping[str, int]) -> float:
    """Return about which part of its output a replayed route may lose because each step rounds down to a unit."""
    output = found.replay.amount_out or 1
    return sum(prices.get(token_index[step.token_out], 0.0) for step in found.replay.steps) / output


def move_shares_exactly(
    problem: RoutingProblem,
    found: ScoredRoute,
    others: Iterable[ScoredRoute],
    score: Callable[[Route], ScoredRoute | None],
) -> ScoredRoute:
    """Return the route after all moves of shares between its paths, and those of `others`, that pay more net of gas.

    `score` replays a route; None stands for one that reverts. Calls the problem's check before each replay.
    """
    paths = _paths(found, others)
    shares = [0] * len(paths)
    for segment in found.route.segments:
        shares[paths.index(segment.hops)] += segment.share
    replays = 0
    for size in (SHARES_PER_ROUTE, *move_sizes(_MOVE_SIZES, problem.spec.share_step)):
        has_paid = True
        while has_paid:
            has_paid = False
            for giver, taker, moved in _moves(shares, size):
                if replays == _MAX_REPLAYS:
                    return found
                problem.spec.check()
                moved_shares = shares.copy()
                moved_shares[giver] -= moved
                moved_shares[taker] += moved
                replays += 1
                better = score(_route(paths, moved_shares))
                if better and better.net > found.net:
                    found, shares, has_paid = better, moved_shares, True
                    break
    return found


def _moves(shares: list[int], size: int) -> Iterator[tuple[int, int, int]]:
    """Yield (giver, taker, share): moves by `size`, or of all that a path has."""
    for giver, share in enumerate(shares):
        for taker in range(len(shares)) if share else ():
            if taker != giver:
                yield giver, taker, min(size, share)


def _route(paths: list[_Path], shares: list[int]) -> Route:
    segments = [Segment(share, path) for path, share in zip(paths, shares, strict=True) if share]
    return Route(tuple(sorted(segments, key=lambda segment: -segment.share)))


def _paths(found: ScoredRoute, others: Iterable[ScoredRoute]) -> list[_Path]:
    """Return the paths of the route, and further ones that can join it: no cycle of tokens, no second use of a pool."""
    paths = list(dict.fromkeys(segment.hops for segment in found.route.segments))
    uses = {(swap.pool, swap.token_in, swap.token_out) for path in paths for hop in path for swap in hop}
    close = [other for other in others if other.net >= found.net * (1.0 - _MAX_SHORTFALL)]
    for other in sorted(close, key=lambda each: -each.net):
        for segment in other.route.segments:
            if len(paths) >= _MAX_PATHS:
                return paths
            joined = uses | {(swap.pool, swap.token_in, swap.token_out) for hop in segment.hops for swap in hop}
            pools = {pool for pool, _, _ in joined}
            if segment.hops not in paths and len(pools) == len(joined) and _is_acyclic(joined):
                paths.append(segment.hops)
                uses = joined
    return paths


def _is_acyclic(uses: Iterable[tuple[str, str, str]]) -> bool:
    return topological_order({(token_in, token_out) for _, token_in, token_out in uses}) is not None
