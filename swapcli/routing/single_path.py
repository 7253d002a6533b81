"""The best route with one pool per hop: what a router without splitting would find, and the floor of every quote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from swapcli.model.route import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.routing.graph import Arc, Graph
from swapcli.routing.problem import Task

_Held = tuple[float, tuple[Arc, ...]]
"""What is held of a token, and the path that led to it."""

_NOTHING: _Held = (0.0, ())


def best_single_path(arcs: Iterable[Arc], source: int, target: int, amount: float, max_hops: int) -> list[Arc]:
    """The path over `arcs` that delivers most for `amount`, at most `max_hops` long; empty when there is none.

    One round of relaxation a hop: a pool's output grows with its input, so only the best amount per token matters.
    Amounts are whole units, so that a token with few decimals is charged for what it rounds away.
    """
    leaving: dict[int, list[Arc]] = {}
    for arc in arcs:
        leaving.setdefault(arc.token_in, []).append(arc)
    best: dict[int, _Held] = {source: (amount, ())}
    front = dict(best)
    for _ in range(max_hops):
        found: dict[int, _Held] = {}
        for token, (held, path) in front.items():
            visited = {arc.token_in for arc in path}
            for arc in leaving.get(token, ()):
                j = arc.token_out
                beaten = max(found.get(j, _NOTHING)[0], best.get(j, _NOTHING)[0])
                if held * arc.rate <= beaten or j in visited or held > arc.curve.capacity:
                    continue
                got = float(int(arc.curve.amount_out(held)))
                if got > beaten:
                    found[j] = (got, (*path, arc))
        if not found:
            break
        best.update(found)
        front = {t: entry for t, entry in found.items() if t != target}
    return list(best[target][1]) if target in best else []


def better_single_path(
    graph: Graph, worth: Mapping[int, float], task: Task, least: float, refused: Set[str] = frozenset()
) -> list[Arc]:
    """The path over all of `graph` that delivers most, if that is more than `least`; empty when none does.

    `worth` says what a unit of a token can bring at most; nothing passes through tokens without. It keeps the search
    away from whatever cannot end above `least`. Pools in `refused` are not used.
    """
    target = task.target
    best: dict[int, _Held] = {task.source: (float(task.amount), ())}
    front = dict(best)
    for _ in range(task.max_hops):
        found: dict[int, _Held] = {}
        for token, (held, path) in front.items():
            visited = {arc.token_in for arc in path}
            for j, rate in graph.best[token].items():
                reach = held * rate
                beaten = max(found.get(j, _NOTHING)[0], best.get(j, _NOTHING)[0])
                if j in visited or j not in worth or reach <= beaten or reach * worth[j] <= least:
                    continue
                got, arc = _most(graph.pairs[token][j], held, beaten, refused)
                if arc and got * worth[j] > least:
                    found[j] = (got, (*path, arc))
        if target in found:
            least = max(least, found[target][0])
        best.update(found)
        front = {t: entry for t, entry in found.items() if t != target}
    return list(best[target][1]) if target in best else []


def _most(arcs: list[Arc], held: float, beaten: float, refused: Set[str]) -> tuple[float, Arc | None]:
    """What the best of `arcs`, best first rate first, pays for `held` in whole units, if that is more than `beaten`."""
    chosen = None
    for arc in arcs:
        if held * arc.rate <= beaten:
            break
        if held <= arc.curve.capacity and arc.pool.key not in refused:
            got = float(int(arc.curve.amount_out(held)))
            if got > beaten:
                beaten, chosen = got, arc
    return beaten, chosen


def single_route(graph: Graph, path: list[Arc]) -> Route:
    """The route of one segment over `path`."""
    hops = tuple(
        (Swap(arc.pool.key, graph.addresses[arc.token_in], graph.addresses[arc.token_out], SHARES_PER_HOP),)
        for arc in path
    )
    return Route((Segment(SHARES_PER_ROUTE, hops),))
