"""Fill paths with equal chunks of an order: each chunk takes the path that now pays most for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

from bench.optimum.simple_methods.exact_paths import Path, PathFinder, pay_along, tokens_of
from bench.optimum.simple_methods.routes import Judge, JudgedRoute, build_route
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Route

_PATHS = 60  # candidates for each of the sizes below: more change nothing measurable on real states
_PARTS = (1, 4, 16, 64)  # shares of the order for which candidate paths are sought
_FEWER_PATHS = (1, 2, 3, 4, 6, 8)  # routes with this many of the fullest paths cost less gas


def water_fill(judge: Judge, finder: PathFinder, chunks: int) -> JudgedRoute | None:
    """Return the best route from filling, also over fewer paths; None if no path can carry a chunk."""
    paths = candidate_paths(finder, judge.amount, judge.pools)
    filled = fill(paths, judge.amount, judge.pools, chunks)
    return judge.best(_routes(judge, filled, chunks))


def candidate_paths(finder: PathFinder, amount: int, pools: Mapping[str, Pool]) -> list[Path]:
    """Return paths that are among the best for the order or for a part of it."""
    found = [finder.best_paths(max(1, amount // part), pools, _PATHS) for part in _PARTS]
    return list(dict.fromkeys(each.path for paths in found for each in paths))


def _routes(judge: Judge, filled: Mapping[Path, int], chunks: int) -> Iterator[Route | None]:
    yield build_route(filled, judge.share_step)
    fullest = sorted(filled, key=lambda path: -filled[path])
    for count in _FEWER_PATHS:
        if count < len(fullest):
            yield build_route(fill(fullest[:count], judge.amount, judge.pools, chunks), judge.share_step)


def fill(paths: Sequence[Path], amount: int, pools: Mapping[str, Pool], chunks: int) -> dict[Path, int]:
    """Return how many of the `chunks` parts of `amount` each path gets.

    A path's output for a chunk mostly falls as pools fill, so only the best path so far is evaluated again. Paths used
    together never form a cycle of tokens: a router must spend each token after all its inflows.
    """
    now, filled, order = dict(pools), dict[Path, int](), TokenOrder()
    queue = [
        (-result[0], number) for number, path in enumerate(paths) if (result := pay_along(path, amount // chunks, now))
    ]
    heapify(queue)
    bounds = [amount * k // chunks for k in range(chunks + 1)]
    for chunk in (after - before for before, after in pairwise(bounds)):
        while queue:
            _, number = heappop(queue)
            path = paths[number]
            if path not in filled and not order.allows(path):
                continue
            result = pay_along(path, chunk, now)
            if result is None:
                continue
            if queue and -result[0] > queue[0][0]:
                heappush(queue, (-result[0], number))
                continue
            now.update(result[1])
            filled[path] = filled.get(path, 0) + 1
            order.add(path)
            heappush(queue, (-result[0], number))
            break
    return filled


class TokenOrder:
    """The ordered token pairs of paths that are used together."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._following: dict[str, set[str]] = {}
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> None:
        """Use a path."""
        for token, following in pairwise(tokens_of(path)):
            self._following.setdefault(token, set()).add(following)

    def allows(self, path: Path) -> bool:
        """Return whether `path` closes no cycle with the paths in use."""
        tokens = tokens_of(path)
        earlier: set[str] = set()
        for token in tokens:
            if self._reaches(token, earlier):
                return False
            earlier.add(token)
        return True

    def _reaches(self, token: str, others: set[str]) -> bool:
        seen, frontier = {token}, [token]
        while frontier:
            for following in self._following.get(frontier.pop(), ()):
                if following in others:
                    return True
                if following not in seen:
                    seen.add(following)
                    frontier.append(following)
        return False
