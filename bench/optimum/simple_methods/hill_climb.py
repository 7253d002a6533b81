"""Climb from a route to better ones by small changes: shifted shares, other pools, more and fewer paths.

Every changed route is replayed exactly, and only a better one is kept. The number of replays bounds the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from bench.optimum.simple_methods.exact_paths import Hop, Path, PathFinder, tokens_of
from bench.optimum.simple_methods.routes import Judge, JudgedRoute, segment_tokens
from bench.optimum.simple_methods.water_fill import TokenOrder
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap

_SEGMENT_MOVES = (10_000, 5_000, 2_500, 1_000, 500, 200, 100, 30, 10, 3, 1)  # hundredths of a percent, if there
_HOP_MOVES = (10_000, 3_000, 1_000, 300, 100, 30, 10, 3, 1)
_NEW_PATHS = 12  # candidates for each part of the order
_PARTS = (1, 4, 20, 100)
_LEAST_GAIN = 1e-9  # relative: smaller gains are noise of the last units, and would use up the evaluations


def hill_climb(judge: Judge, finder: PathFinder, start: Route, evaluations: int) -> JudgedRoute | None:
    """Return the best route that `evaluations` replays find from `start`; None if that cannot be executed."""
    best = judge.judge(start)
    limit = judge.evaluations + evaluations
    while best:
        better = _improve(judge, finder, best, limit)
        if better is None:
            return best
        best = better
    return None


def _improve(judge: Judge, finder: PathFinder, best: JudgedRoute, limit: int) -> JudgedRoute | None:
    """Return a better route after one pass over all changes; None if there is none or the evaluations are used up."""
    start = best
    paths = _new_paths(judge, finder, best)
    for change in (_add_paths, _move_shares, _change_pools):
        is_better = True
        while is_better:
            is_better = False
            for route in change(best.route, judge.share_step, finder, paths):
                if judge.evaluations >= limit:
                    return best if best is not start else None
                found = judge.judge(route)
                if found and found.net > best.net + _LEAST_GAIN * abs(best.net):
                    best, is_better = found, True
                    break
    return best if best is not start else None


def _new_paths(judge: Judge, finder: PathFinder, best: JudgedRoute) -> list[Path]:
    """Return paths with large outputs for a part of the order, next to the route and alone."""
    now = {**judge.pools, **best.replay.pools_after}
    found = [
        each
        for part in _PARTS
        for pools in (now, judge.pools)
        for each in finder.best_paths(max(1, judge.amount // part), pools, _NEW_PATHS)
    ]
    return list(dict.fromkeys(each.path for each in found))


def _add_paths(route: Route, step: int, finder: PathFinder, paths: Sequence[Path]) -> Iterator[Route]:
    """Yield routes that move a part of one segment, or of those that contradict a path, to that path."""
    del finder
    segments = list(route.segments)
    for path in paths:
        order = TokenOrder([_first_path(segment) for segment in segments])
        if not order.allows(path):
            yield from _replace_contradicting(segments, path)
            continue
        for number, segment in enumerate(segments):
            for share in _moves(segment.share, step):
                yield _with_path(_less(segments, number, share), path, share)


def _replace_contradicting(segments: Sequence[Segment], path: Path) -> Iterator[Route]:
    """Yield the route whose segments that cannot be used together with `path` are replaced by it."""
    kept = [each for each in segments if TokenOrder([_first_path(each)]).allows(path)]
    while kept and not TokenOrder([_first_path(each) for each in kept]).allows(path):
        kept.pop()
    yield _with_path(kept, path, SHARES_PER_ROUTE - sum(each.share for each in kept))


def _move_shares(route: Route, step: int, finder: PathFinder, paths: Sequence[Path]) -> Iterator[Route]:
    """Yield routes that move a part of one segment to another."""
    del finder, paths
    segments = list(route.segments)
    for giver, taker in permutations(range(len(segments)), 2):
        for share in _moves(segments[giver].share, step):
            changed = list(segments)
            changed[taker] = changed[taker]._replace(share=changed[taker].share + share)
            yield Route(tuple(_less(changed, giver, share)))


def _change_pools(route: Route, step: int, finder: PathFinder, paths: Sequence[Path]) -> Iterator[Route]:
    """Yield routes that move a part of a pool's share of a hop to another pool, which may be new to the hop."""
    del step, paths
    for number, segment in enumerate(route.segments):
        for position, hop in enumerate(segment.hops):
            for changed in _changed_hops(hop, finder):
                hops = (*segment.hops[:position], changed, *segment.hops[position + 1 :])
                yield _with_segment(route, number, segment._replace(hops=hops))


def _changed_hops(hop: tuple[Swap, ...], finder: PathFinder) -> Iterator[tuple[Swap, ...]]:
    token_in, token_out = hop[0].token_in, hop[0].token_out
    others = [each.pool for each in finder.hops_by_pair.get((token_in, token_out), ())]
    shares = {swap.pool: swap.share for swap in hop}
    for giver in shares:
        for taker in (*shares, *(pool for pool in others if pool not in shares)):
            if taker == giver:
                continue
            for share in (each for each in _HOP_MOVES if each < shares[giver]):
                yield _moved(shares, giver, taker, share, (token_in, token_out))
            yield _moved(shares, giver, taker, shares[giver], (token_in, token_out))


def _moved(shares: dict[str, int], giver: str, taker: str, share: int, tokens: tuple[str, str]) -> tuple[Swap, ...]:
    changed = {**shares, giver: shares[giver] - share, taker: shares.get(taker, 0) + share}
    return tuple(Swap(pool, *tokens, part) for pool, part in changed.items() if part)


def _moves(share: int, step: int) -> Iterator[int]:
    """Yield the parts of a segment's share to move, the whole share first."""
    yield share
    yield from (each for each in _SEGMENT_MOVES if each < share and each % step == 0)


def _less(segments: Sequence[Segment], number: int, share: int) -> list[Segment]:
    """Return the segments with one reduced by `share`; it disappears if nothing is left."""
    left = segments[number].share - share
    reduced = [segments[number]._replace(share=left)] if left else []
    return [*segments[:number], *reduced, *segments[number + 1 :]]


def _with_path(segments: Sequence[Segment], path: Path, share: int) -> Route:
    """Return the route with a path of `share`, merged into the segment through the same tokens if there is one."""
    tokens = tokens_of(path)
    for number, segment in enumerate(segments):
        if segment_tokens(segment) == tokens:
            merged = _merged(segment, path, share)
            return Route((*segments[:number], merged, *segments[number + 1 :]))
    hops = tuple((Swap(*hop, SHARES_PER_HOP),) for hop in path)
    return Route((*segments, Segment(share, hops)))


def _merged(segment: Segment, path: Path, share: int) -> Segment:
    total = segment.share + share
    hops = []
    for hop, added in zip(segment.hops, path, strict=True):
        shares = {swap.pool: swap.share * segment.share // total for swap in hop}
        shares[added.pool] = shares.get(added.pool, 0) + SHARES_PER_HOP - sum(shares.values())
        hops.append(tuple(Swap(pool, added.token_in, added.token_out, part) for pool, part in shares.items() if part))
    return Segment(total, tuple(hops))


def _with_segment(route: Route, number: int, segment: Segment) -> Route:
    return Route((*route.segments[:number], segment, *route.segments[number + 1 :]))


def _first_path(segment: Segment) -> Path:
    """Return a path through the tokens of a segment."""
    return tuple(Hop(hop[0].pool, hop[0].token_in, hop[0].token_out) for hop in segment.hops)
