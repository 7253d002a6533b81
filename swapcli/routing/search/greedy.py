"""An acyclic flow built path by path: where a market holds arbitrage it says which way each pair should be used.

The unrestricted optimum of such a market runs in cycles, and which hop of a cycle to give up depends on the order. Here
the order is sent in equal slices, each along the path that pays most for it after the slices before, never closing a
cycle of tokens. The flow itself is only an orientation for the solver.
"""

from __future__ import annotations

from collections.abc import Iterable

from swapcli.routing.cancellation import CancelCheck, no_cancellation
from swapcli.routing.graph.market_graph import Arc

_Entry = tuple[float, tuple[Arc, ...]]


def acyclic_order(
    arcs: Iterable[Arc],
    endpoints: tuple[int, int],
    amount: float,
    max_hops: int,
    slices: int,
    check: CancelCheck = no_cancellation,
) -> list[int]:
    """Tokens that the slices pass through, so that every hop used leads forward; empty when no path exists.

    Asks `check` once a slice.
    """
    leaving: dict[int, list[Arc]] = {}
    for arc in arcs:
        leaving.setdefault(arc.token_in, []).append(arc)
    state = _SlicedFlow(leaving, *endpoints, max_hops)
    for _ in range(slices):
        check()
        path = state.best_path(amount / slices)
        if not path:
            break
        state.send(path, amount / slices)
    return state.token_order()


class _SlicedFlow:
    """What the slices so far have sold to each arc, and which tokens come before which."""

    def __init__(self, leaving: dict[int, list[Arc]], source: int, target: int, max_hops: int) -> None:
        self._leaving, self._source, self._target, self._max_hops = leaving, source, target, max_hops
        self._sold: dict[int, float] = {}
        self._pools: dict[str, int] = {}
        self._after: dict[int, set[int]] = {}

    def best_path(self, amount: float) -> list[Arc]:
        """The path that delivers most for one more slice, over at most the allowed hops."""
        best: dict[int, _Entry] = {self._source: (amount, ())}
        front = dict(best)
        for _ in range(self._max_hops):
            found: dict[int, _Entry] = {}
            for token, (held, path) in front.items():
                for arc in self._leaving.get(token, ()):
                    self._extend(arc, held, path, best, found)
            best.update(found)
            front = {t: entry for t, entry in found.items() if t != self._target}
        return list(best[self._target][1]) if self._target in best else []

    def _extend(
        self, arc: Arc, held: float, path: tuple[Arc, ...], best: dict[int, _Entry], found: dict[int, _Entry]
    ) -> None:
        j = arc.token_out
        beaten = max(found.get(j, (0.0,))[0], best.get(j, (0.0,))[0])
        if held * arc.rate <= beaten or any(arc.token_in == j or before.token_in == j for before in path):
            return
        if self._pools.get(arc.pool.key, id(arc)) != id(arc) or self._closes_cycle(arc, path):
            return
        got = self._added_output(arc, held)
        if got > beaten:
            found[j] = (got, (*path, arc))

    def _closes_cycle(self, arc: Arc, path: tuple[Arc, ...]) -> bool:
        """Whether a token of the path up to here already comes after the arc's output."""
        later = self._after.get(arc.token_out, set())
        return arc.token_in in later or any(before.token_in in later for before in path)

    def _added_output(self, arc: Arc, amount_in: float) -> float:
        sold = self._sold.get(id(arc), 0.0)
        if sold + amount_in > arc.curve.capacity:
            return 0.0
        return arc.curve.amount_out(sold + amount_in) - (arc.curve.amount_out(sold) if sold else 0.0)

    def send(self, path: list[Arc], amount: float) -> None:
        """Sell one slice along `path`."""
        held = amount
        for arc in path:
            got = self._added_output(arc, held)
            self._sold[id(arc)] = self._sold.get(id(arc), 0.0) + held
            self._pools[arc.pool.key] = id(arc)
            held = got
        tokens = [self._source, *(arc.token_out for arc in path)]
        for k, token in enumerate(tokens):
            self._record_order(token, tokens[k + 1 :])

    def _record_order(self, token: int, later: list[int]) -> None:
        reached = set(later).union(*(self._after.get(t, set()) for t in later))
        for t, after in list(self._after.items()):
            if token in after:
                self._after[t] = after | reached
        self._after[token] = self._after.get(token, set()) | reached

    def token_order(self) -> list[int]:
        """Tokens passed through, those with the most behind them first."""
        tokens = set(self._after) | {t for after in self._after.values() for t in after}
        return sorted(tokens, key=lambda t: -len(self._after.get(t, ())))
