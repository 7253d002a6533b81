"""Algorithms on small directed graphs, given as edges: orders, cycles, distances and hop limits."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Hashable, Iterable, Mapping, Set
from itertools import pairwise
from math import inf

from swapcli.core.annotations import TypeVar

TokenPair = tuple[int, int]
"""(token in, token out): an edge between two tokens, or the source and target of an order."""

_Node = TypeVar("_Node", bound=Hashable)


def topological_order(
    edges: Iterable[tuple[_Node, _Node]], rank: Mapping[_Node, int] | None = None
) -> list[_Node] | None:
    """Return the nodes of `edges` in an order in which every edge leads forward; None if the edges form a cycle.

    Among the nodes that could come next, the one with the lowest `rank` is chosen or, without ranks, the one that
    became ready last. Source: Kahn, Topological sorting of large networks, Communications of the ACM 5 (1962).
    """
    successors: dict[_Node, list[_Node]] = {}
    open_inflows: dict[_Node, int] = {}
    for i, j in edges:
        successors.setdefault(i, []).append(j)
        open_inflows[j] = open_inflows.get(j, 0) + 1
        open_inflows.setdefault(i, 0)
    ready = [node for node, count in open_inflows.items() if count == 0]
    if rank is not None:
        ready.sort(key=lambda node: -rank[node])
    order: list[_Node] = []
    while ready:
        node = ready.pop()
        order.append(node)
        for successor in successors.get(node, ()):
            open_inflows[successor] -= 1
            if open_inflows[successor] > 0:
                continue
            if rank is None:
                ready.append(successor)
            else:
                insort(ready, successor, key=lambda node: -rank[node])
    return order if len(order) == len(open_inflows) else None


def feedback_arcs(values: Mapping[TokenPair, float], kept: Set[TokenPair] = frozenset()) -> set[TokenPair]:
    """Return edges whose removal makes the flow `values` acyclic: the weakest edge of each cycle that `cycles` returns.

    An edge in `kept` is returned only if a cycle has no other edges.
    """
    weights = {pair: inf if pair in kept else value for pair, value in values.items()} if kept else values
    return {min(cycle, key=weights.__getitem__) for cycle in cycles(weights)}


def cycles(values: Mapping[TokenPair, float]) -> list[list[TokenPair]]:
    """Return cycles of the flow `values`, chosen such that every cycle of the flow has the weakest edge of a chosen
    cycle.

    First the pairs of opposite edges, then longer cycles, each without the weakest edges of the earlier ones.
    """
    found = [[(i, j), (j, i)] for i, j in values if i < j and (j, i) in values]
    removed = {min(cycle, key=values.__getitem__) for cycle in found}
    remaining = _drop_acyclic_ends({pair: value for pair, value in values.items() if pair not in removed})
    while remaining:
        onward = {i: (i, j) for i, j in remaining}
        walk = [next(iter(onward))]
        while walk[-1] not in walk[:-1]:
            walk.append(onward[walk[-1]][1])
        cycle = list(pairwise(walk[walk.index(walk[-1]) :]))
        found.append(cycle)
        weakest = min(cycle, key=remaining.__getitem__)
        remaining = _drop_acyclic_ends({pair: value for pair, value in remaining.items() if pair != weakest})
    return found


def _drop_acyclic_ends(values: Mapping[TokenPair, float]) -> dict[TokenPair, float]:
    """Remove edges that start where no edge arrives, or end where no edge leaves, until there are none."""
    remaining = dict(values)
    while True:
        starts, ends = {i for i, _ in remaining}, {j for _, j in remaining}
        smaller = {pair: value for pair, value in remaining.items() if pair[0] in ends and pair[1] in starts}
        if len(smaller) == len(remaining):
            return smaller
        remaining = smaller


def longest_path(edges: Iterable[TokenPair]) -> list[TokenPair]:
    """Return a path of the acyclic `edges` with the most hops."""
    known = list(edges)
    longest: dict[int, list[TokenPair]] = {}
    for token in topological_order(known) or []:
        path = longest.get(token, [])
        for pair in known:
            if pair[0] == token and len(path) >= len(longest.get(pair[1], [])):
                longest[pair[1]] = [*path, pair]
    return max(longest.values(), key=len, default=[])


def unreachable_within(edges: Iterable[TokenPair], endpoints: TokenPair, max_hops: int) -> set[TokenPair]:
    """Return the edges that are on no path of at most `max_hops` edges between `endpoints` (source, target)."""
    known = list(edges)
    from_source = edge_distances(known, endpoints[0])
    to_target = edge_distances([(j, i) for i, j in known], endpoints[1])
    far = max_hops + 1
    return {(i, j) for i, j in known if from_source.get(i, far) + 1 + to_target.get(j, far) > max_hops}


def edge_distances(edges: Iterable[TokenPair], start: int) -> dict[int, int]:
    """Return the number of hops from `start` to each token that `edges` lead to."""
    successors: dict[int, list[int]] = {}
    for i, j in edges:
        successors.setdefault(i, []).append(j)
    return hop_distances(lambda token: successors.get(token, ()), start)


def hop_distances(
    successors: Callable[[int], Iterable[int]], start: int, max_hops: int | None = None
) -> dict[int, int]:
    """Return the number of hops from `start` to each token within `max_hops`, by breadth-first search."""
    distances, front = {start: 0}, [start]
    while front and distances[front[0]] != max_hops:
        reached = {j: None for i in front for j in successors(i) if j not in distances}
        distances.update(dict.fromkeys(reached, distances[front[0]] + 1))
        front = list(reached)
    return distances
