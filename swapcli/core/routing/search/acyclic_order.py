"""Find a token order without cycles, for markets with arbitrage, from a greedy flow built path by path.

The unrestricted optimum of such a market has cycles, and the best hop to remove from a cycle depends on the swap. This
heuristic sends the order in equal slices. Each takes the path that pays most for it after the earlier slices, and none
closes a cycle of tokens. The solver uses only the resulting order of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from swapcli.core.routing.cancellation import CancelCheck, no_cancellation
from swapcli.core.routing.graph.best_paths import best_labels
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.search.acyclic import break_cycles
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem

_SLICES = 48  # of a greedy flow. Empirical: more slices rarely change the order of the tokens
_UNPLACED = 1 << 30  # greater than the position of every token in an order

_Label = tuple[float, tuple[Arc, ...]]
"""(amount, path) of the best way to a token."""


def acyclic_order(
    arcs: Iterable[Arc],
    endpoints: TokenPair,
    amount: float,
    max_hops: int,
    slices: int,
    check: CancelCheck = no_cancellation,
) -> list[int]:
    """Return the tokens that the slices pass through, in an order in which every hop used leads forward. The result is
    empty if there is no path.

    Calls `check` once per slice.
    """
    leaving: dict[int, list[Arc]] = {}
    for arc in arcs:
        leaving.setdefault(arc.token_in, []).append(arc)
    flow = _SlicedFlow(leaving, *endpoints, max_hops)
    for _ in range(slices):
        check()
        path = flow.best_path(amount / slices)
        if not path:
            break
        flow.send(path, amount / slices)
    return flow.token_order()


class _SlicedFlow:
    """The amounts sold to each arc by the slices so far, and the partial order of the tokens."""

    def __init__(self, leaving: dict[int, list[Arc]], source: int, target: int, max_hops: int) -> None:
        self._leaving, self._source, self._target, self._max_hops = leaving, source, target, max_hops
        self._sold: dict[int, float] = {}
        self._arc_of_pool: dict[str, int] = {}
        self._successors: dict[int, set[int]] = {}

    def best_path(self, amount: float) -> list[Arc]:
        """Return the path within the hop limit that pays most for one more slice."""
        start: dict[int, _Label] = {self._source: (amount, ())}
        best = best_labels(start, self._max_hops, self._extend)
        return list(best[self._target][1]) if self._target in best else []

    def _extend(self, front: Mapping[int, _Label], best: Mapping[int, _Label], _: int) -> dict[int, _Label]:
        improved: dict[int, _Label] = {}
        for token, (amount, path) in front.items():
            for arc in self._leaving.get(token, ()) if token != self._target else ():
                j = arc.token_out
                threshold = max(improved.get(j, (0.0,))[0], best.get(j, (0.0,))[0])
                if amount * arc.rate <= threshold or not self._may_follow(arc, path):
                    continue
                amount_out = self._added_output(arc, amount)
                if amount_out > threshold:
                    improved[j] = (amount_out, (*path, arc))
        return improved

    def _may_follow(self, arc: Arc, path: tuple[Arc, ...]) -> bool:
        """Return whether `arc` extends `path` without a repeated token, another arc of a used pool, or a cycle."""
        j = arc.token_out
        if any(arc.token_in == j or before.token_in == j for before in path):
            return False
        return self._arc_of_pool.get(arc.pool.key, id(arc)) == id(arc) and not self._closes_cycle(arc, path)

    def _closes_cycle(self, arc: Arc, path: tuple[Arc, ...]) -> bool:
        """Return whether a token of the path already comes after the arc's output."""
        later = self._successors.get(arc.token_out, set())
        return arc.token_in in later or any(before.token_in in later for before in path)

    def _added_output(self, arc: Arc, amount_in: float) -> float:
        """Return the additional output for `amount_in` after the previous sales to `arc`; 0.0 beyond its capacity."""
        sold = self._sold.get(id(arc), 0.0)
        if sold + amount_in > arc.curve.capacity:
            return 0.0
        return arc.curve.amount_out(sold + amount_in) - (arc.curve.amount_out(sold) if sold else 0.0)

    def send(self, path: list[Arc], amount: float) -> None:
        """Sell one slice along `path`."""
        for arc in path:
            amount_out = self._added_output(arc, amount)
            self._sold[id(arc)] = self._sold.get(id(arc), 0.0) + amount
            self._arc_of_pool[arc.pool.key] = id(arc)
            amount = amount_out
        tokens = [self._source, *(arc.token_out for arc in path)]
        for k, token in enumerate(tokens):
            self._record_order(token, tokens[k + 1 :])

    def _record_order(self, token: int, later: list[int]) -> None:
        """Add `later` to the successors of `token`, and keep the relation transitive."""
        reached = set(later).union(*(self._successors.get(t, set()) for t in later))
        for t, after in list(self._successors.items()):
            if token in after:
                self._successors[t] = after | reached
        self._successors[token] = self._successors.get(token, set()) | reached

    def token_order(self) -> list[int]:
        """Return the tokens on the paths in topological order.

        The relation is transitive, so that sorting by the number of successors is enough; `topological_order` would
        need a graph that it does not have.
        """
        tokens = set(self._successors) | {t for after in self._successors.values() for t in after}
        return sorted(tokens, key=lambda t: -len(self._successors.get(t, ())))


def orient_greedily(problem: RoutingProblem, candidate: CandidateSolution) -> CandidateSolution | None:
    """Return the solution over the hops that lead forward in the token order of a greedy flow; None if there are
    none."""
    spec, pairs = problem.spec, {(arc.token_in, arc.token_out) for arc in candidate.arcs}
    order = acyclic_order(candidate.arcs, spec.endpoints, float(spec.amount), spec.max_hops, _SLICES, spec.check)
    place = {token: k for k, token in enumerate(order)}
    backward = {(i, j) for i, j in pairs if place.get(i, _UNPLACED) >= place.get(j, -1)}
    if pairs == backward:
        return None
    return break_cycles(problem, problem.solve_excluding(candidate, candidate.exclusions.union(backward)))
