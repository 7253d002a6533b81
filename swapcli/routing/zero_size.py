"""Prices for a vanishing order: what one unit of each token brings in the output token over the best path.

At these prices no pool is worth a trade, so they are where the solver starts. They are found by rounds of relaxation
from the output token, one round a hop, so the hop limit holds and a market's arbitrage cycles do no harm.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

from swapcli.routing.graph import Graph

Values = dict[int, float]


class ZeroSizePrices:
    """`values[t]` is the value of a unit of t in units of `target`, over at most `max_hops` hops."""

    def __init__(self, graph: Graph, target: int, max_hops: int, avoid: frozenset[int] = frozenset()) -> None:
        """`avoid` are tokens that no path may pass through."""
        self._graph, self._target, self._max_hops, self._avoid = graph, target, max_hops, avoid
        self._allowed = (graph.core | set(graph.way_to_core(target))) - avoid - {target}
        self.values: Values = {target: 1.0}
        self._rounds: list[dict[int, tuple[float, int]]] = [{target: (1.0, target)}]
        for _ in range(max_hops):
            found = self._relax(self._rounds[-1])
            if not found:
                break
            self._rounds.append(found)
            self.values.update({t: value for t, (value, _) in found.items()})

    def _relax(self, front: dict[int, tuple[float, int]]) -> dict[int, tuple[float, int]]:
        allowed, values, into = self._allowed, self.values, self._graph.best_into
        found: dict[int, tuple[float, int]] = {}
        for j, (value_j, _) in front.items():
            for i, rate in into[j].items():
                value = value_j * rate
                if i in allowed and value > values.get(i, 0.0) and value > found.get(i, (0.0,))[0]:
                    found[i] = (value, j)
        return found

    def path(self, source: int) -> list[int]:
        """Tokens of the best path from `source` to the target, both included; empty when there is none."""
        path = self.way_to_values(source)
        if not path or self._avoid.intersection(path[1:]):
            return []
        token = path.pop()
        limit = min(len(self._rounds) - 1, self._max_hops - len(path))
        while token != self._target:
            rounds = [k for k in range(limit, 0, -1) if token in self._rounds[k]]
            if not rounds:
                return []
            path.append(token)
            limit = rounds[0] - 1
            token = self._rounds[rounds[0]][token][1]
        path = _without_loops([*path, token])
        return path if len(path) <= self._max_hops + 1 else []

    def way_to_values(self, source: int) -> list[int]:
        """`source` and the tokens between it and the nearest one with a value, which ends it; empty without one."""
        way = self._graph.way_to_core(source)
        entries = [k for k, t in enumerate(way) if t in self.values]
        return way[: entries[0] + 1] if entries else []

    @cached_property
    def hops(self) -> dict[int, int]:
        """The fewest hops to the target from each token that paths may pass through."""
        return {t: hops for hops in range(len(self._rounds) - 1, -1, -1) for t in self._rounds[hops]}

    def within(self, hops: int) -> Values:
        """What a unit of each token in the core can bring over at most `hops` hops: no path from any brings more."""
        return self._within[min(hops, len(self._within) - 1)]

    @cached_property
    def _within(self) -> list[Values]:
        known: list[Values] = [{}]
        for found in self._rounds:
            known.append(known[-1] | {t: value for t, (value, _) in found.items()})
        return known[1:]

    def value(self, token: int) -> float:
        """Value of a unit of `token`; 0.0 when no path leads to the target."""
        known = self.values.get(token)
        if known is not None:
            return known
        path = self.path(token)
        value = 1.0 if path else 0.0
        for i, j in pairwise(path):
            value *= self._graph.best[i].get(j, 0.0)
        return value


def _without_loops(walk: list[int]) -> list[int]:
    """The walk with every round trip cut out: arbitrage can make one look profitable."""
    path: list[int] = []
    for token in walk:
        if token in path:
            del path[path.index(token) + 1 :]
        else:
            path.append(token)
    return path
