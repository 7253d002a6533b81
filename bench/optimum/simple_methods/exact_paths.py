"""Find the best single paths with exact swaps: dynamic programming over tokens and hops, with several labels each."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool

MAX_HOPS = 6
"""Maximum hops of a simple method's path: if pools are out of line, paths of four hops miss much of the gain."""

Path = tuple["Hop", ...]


class Hop(NamedTuple):
    """One pool of a path, by key, with its input and output tokens."""

    pool: str
    token_in: str
    token_out: str


class PaidPath(NamedTuple):
    """A path with its output for the requested amount."""

    amount_out: int
    path: Path


def tokens_of(path: Path) -> tuple[str, ...]:
    """Return the tokens of a path, including both ends."""
    return (path[0].token_in, *(hop.token_out for hop in path))


def paid(pool: Pool, token_in: str, token_out: str, amount_in: int) -> tuple[int, Pool] | None:
    """Return the exact output and the pool after the swap; None if the pool rejects the amount."""
    if amount_in <= 0:
        return None
    try:
        return pool.swap(token_in, token_out, amount_in)
    except (PoolError, ArithmeticError, ValueError):
        return None


def pay_along(path: Path, amount_in: int, pools: Mapping[str, Pool]) -> tuple[int, dict[str, Pool]] | None:
    """Return a path's output and its pools afterwards by key; None if a pool rejects its amount."""
    after: dict[str, Pool] = {}
    for hop in path:
        result = paid(after.get(hop.pool) or pools[hop.pool], hop.token_in, hop.token_out, amount_in)
        if result is None:
            return None
        amount_in, after[hop.pool] = result
    return amount_in, after


class PathFinder:
    """Finds paths between two tokens of a market, at most `max_hops` long and through no token twice.

    Example: `PathFinder(market.pools, weth, usdc).best_paths(10**18, market.pools, 10)`.
    """

    def __init__(self, pools: Mapping[str, Pool], source: str, target: str, max_hops: int = MAX_HOPS) -> None:
        self.source, self.target, self.max_hops = source, target, max_hops
        self.hops_by_pair: dict[tuple[str, str], list[Hop]] = {}
        self._hops_from: dict[str, list[Hop]] = {}
        tokens = _tokens_between(pools, source, target)
        for pool in pools.values():
            ends = [token for token in pool.tokens if token in tokens]
            for hop in (Hop(pool.key, a, b) for a in ends for b in ends if a != b):
                self._hops_from.setdefault(hop.token_in, []).append(hop)
                self.hops_by_pair.setdefault((hop.token_in, hop.token_out), []).append(hop)
        self._hops_left = self._distances()

    def _distances(self) -> dict[str, int]:
        """Return the fewest hops from each token to the target."""
        distances, frontier = {self.target: 0}, [self.target]
        neighbours: dict[str, set[str]] = {}
        for token_in, token_out in self.hops_by_pair:
            neighbours.setdefault(token_out, set()).add(token_in)
        while frontier:
            frontier = [t for token in frontier for t in neighbours.get(token, ()) if self._is_new(t, token, distances)]
        return distances

    @staticmethod
    def _is_new(token: str, following: str, distances: dict[str, int]) -> bool:
        if token in distances:
            return False
        distances[token] = distances[following] + 1
        return True

    def best_paths(
        self,
        amount: int,
        pools: Mapping[str, Pool],
        count: int,
        labels: int = 6,
        avoided: Set[tuple[str, str]] = frozenset(),
    ) -> list[PaidPath]:
        """Return up to `count` paths with the largest outputs for `amount` on `pools`, which may differ from the
        market's.

        Each token keeps its `labels` best amounts for each number of hops. Pairs of tokens in `avoided` are skipped.
        """
        found: list[PaidPath] = []
        frontier: dict[str, list[PaidPath]] = {self.source: [PaidPath(amount, ())]}
        for left in range(self.max_hops - 1, -1, -1):
            reached: dict[str, list[PaidPath]] = {}
            for token, known in frontier.items():
                for hop in self._hops_from.get(token, ()):
                    following = hop.token_out
                    if self._hops_left.get(following, self.max_hops) > left or (token, following) in avoided:
                        continue
                    for amount_in, path in known:
                        if following == self.source or any(each.token_in == following for each in path):
                            continue
                        amount_out = self._paid_last((*path, hop), amount, amount_in, pools)
                        if amount_out:
                            reached.setdefault(following, []).append(PaidPath(amount_out, (*path, hop)))
            found += reached.pop(self.target, [])
            frontier = {t: sorted(paths, reverse=True)[:labels] for t, paths in reached.items()}
        return sorted(found, reverse=True)[:count]

    @staticmethod
    def _paid_last(path: Path, amount: int, amount_in: int, pools: Mapping[str, Pool]) -> int | None:
        """Return the last hop's output for `amount_in` on a path for `amount`; None if it pays nothing.

        A pool with several tokens may have swapped earlier on the path.
        """
        *earlier, hop = path
        if any(each.pool == hop.pool for each in earlier):
            whole = pay_along(path, amount, pools)
            return whole[0] if whole else None
        result = paid(pools[hop.pool], hop.token_in, hop.token_out, amount_in)
        return result[0] if result else None


def _tokens_between(pools: Mapping[str, Pool], source: str, target: str) -> set[str]:
    """Return the tokens that a path from `source` to `target` can pass through, without dead ends."""
    neighbours: dict[str, set[str]] = {}
    for pool in pools.values():
        for token in pool.tokens:
            neighbours.setdefault(token, set()).update(each for each in pool.tokens if each != token)
    ends = [token for token, others in neighbours.items() if len(others) < 2]
    while ends:
        token = ends.pop()
        if token in (source, target) or token not in neighbours:
            continue
        for other in neighbours.pop(token):
            neighbours[other].discard(token)
            if len(neighbours[other]) < 2:
                ends.append(other)
    return set(neighbours)
