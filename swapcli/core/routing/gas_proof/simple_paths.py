"""Find the largest product of rates on an order's paths that pass each token at most once.

Real markets contain arbitrage: around a cycle, products of rates grow without limit. A route without cycles gains
nothing from this, so its bound needs the best simple path. The search is depth-first. It skips a hop if the best walk
that continues it, within the remaining hops, does not beat the best path so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import TokenPair

_MAX_VISITS: Final = 6_000  # of tokens in one search, a few milliseconds; after that, walks bound the rest. Empirical

_EDGES_OF_AN_ARC: Final = 6  # edges of walks that take as long as one evaluation of an arc. Measured

_Label = tuple[float, int, float]
"""The best product of a walk from a token, the token after its first hop, and the best product with another first
hop."""


class BestPath(NamedTuple):
    """A product that no simple path exceeds, and the tokens of the path that reaches it; empty if no such path is
    known."""

    product: float
    tokens: Sequence[int]


class SimplePaths:
    """The paths to `target` over hops with `rates`.

    `earlier` maps a token to the tokens that no path passes after it.
    """

    def __init__(
        self,
        rates: Mapping[TokenPair, float],
        target: int,
        max_hops: int,
        earlier: Mapping[int, Iterable[int]] | None = None,
    ) -> None:
        self._edges = [(i, j, rate) for (i, j), rate in rates.items() if i != target]
        self._target, self._max_hops = target, max_hops
        self._earlier = {token: _mask(tokens) for token, tokens in (earlier or {}).items()}
        self._walks = _best_walks(self._edges, target, max_hops)
        self.work = 0
        """The cost of the searches so far, as an approximate number of arc evaluations."""

    def value(self, token: int) -> float:
        """Return the best product of a walk from `token` that never immediately turns back; 0 if there is none."""
        label = self._walks[-1].get(token)
        return label[0] if label else 0.0

    def best(self, start: int, passed: Iterable[int] = (), floor: float = 0.0) -> BestPath:
        """Return the best path from `start`; the product is `floor`, without a path, if no path exceeds it.

        The path avoids the tokens in `passed`, each of which counts as a hop already used.
        """
        tokens = tuple(passed)
        blocked = 1 << start | self._earlier.get(start, 0)
        for token in tokens:
            blocked |= 1 << token | self._earlier.get(token, 0)
        edges = [
            edge
            for edge in self._edges
            if not blocked >> edge[1] & 1 and (not blocked >> edge[0] & 1 or edge[0] == start)
        ]
        hops = self._max_hops - len(tokens)
        walks = _best_walks(edges, self._target, hops)
        self.work += len(edges) * hops // _EDGES_OF_AN_ARC
        most, leaving = walks[-1], dict[int, list[tuple[float, int, float]]]()
        for i, j, rate in edges:
            if j in most:
                leaving.setdefault(i, []).append((rate * _onward(most[j], 1 << i), j, rate))
        search = _Search(
            walks, {i: sorted(row, reverse=True) for i, row in leaving.items()}, self._earlier, self._target
        )
        search.found = floor
        search.extend([start], blocked, 1.0, hops)
        self.work += _MAX_VISITS - search.left
        return BestPath(search.found, search.tokens)


class _Search:
    """A search for the best path, depth first."""

    def __init__(
        self,
        walks: Sequence[Mapping[int, _Label]],
        leaving: Mapping[int, Sequence[tuple[float, int, float]]],
        earlier: Mapping[int, int],
        target: int,
    ) -> None:
        self._walks, self._leaving, self._earlier, self._target = walks, leaving, earlier, target
        self.found, self.tokens, self.left = 0.0, list[int](), _MAX_VISITS

    def extend(self, path: list[int], blocked: int, product: float, hops: int) -> None:
        """Try all continuations of a path; `blocked` has a bit for each token that they must not pass."""
        if path[-1] == self._target:
            self.found, self.tokens = product, list(path)
            return
        if hops <= 0:
            return
        self.left -= 1
        after = self._walks[hops - 1]
        for most, token, rate in self._leaving.get(path[-1], ()):
            if product * most <= self.found:
                break
            if blocked >> token & 1 or token not in after:
                continue
            passed = blocked | 1 << token | self._earlier.get(token, 0)
            if product * rate * _onward(after[token], passed) <= self.found:
                continue
            if self.left <= 0:
                self.found, self.tokens = product * most, []
                return
            path.append(token)
            self.extend(path, passed, product * rate, hops - 1)
            path.pop()


def _best_walks(edges: Sequence[tuple[int, int, float]], target: int, max_hops: int) -> list[dict[int, _Label]]:
    """Return the best walks to `target` from each token, by number of hops from 0. No walk immediately turns back."""
    walks: list[dict[int, _Label]] = [{target: (1.0, -1, 0.0)}]
    for _ in range(max_hops):
        before, best = walks[-1], dict[int, _Label]()
        for i, j, rate in edges:
            label = before.get(j)
            if label is None:
                continue
            product = rate * (label[2] if label[1] == i else label[0])
            found = best.get(i)
            if found is None:
                best[i] = product, j, 0.0
            elif product > found[0]:
                best[i] = product, j, found[0]
            elif product > found[2]:
                best[i] = found[0], found[1], product
        best[target] = walks[0][target]
        if best == before:
            walks.extend([best] * (max_hops + 1 - len(walks)))
            break
        walks.append(best)
    return walks


def _onward(label: _Label, blocked: int) -> float:
    """Return the best product of a label, or the second best if the first hop of the best leads to a `blocked`
    token."""
    return label[2] if label[1] >= 0 and blocked >> label[1] & 1 else label[0]


def _mask(tokens: Iterable[int]) -> int:
    mask = 0
    for token in tokens:
        mask |= 1 << token
    return mask
