"""The best route with one pool per hop: what a router without splitting would find, and the floor of every quote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from heapq import nlargest
from itertools import pairwise

from swapcli.model.route import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.routing.graph import Arc, Graph
from swapcli.routing.problem import Problem

_Held = tuple[float, tuple[Arc, ...]]
"""What is held of a token, and the path that led to it."""

_NOTHING: _Held = (0.0, ())
_FRONT = 200  # tokens that a search over the market goes on from: more of them are of use in no market


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


def better_single_path(problem: Problem, least: float, refused: Set[str] = frozenset()) -> list[Arc]:
    """The path over the whole market that delivers most, if that is more than `least`; empty when none does.

    What a unit can bring at most over the hops that are left keeps the search away from whatever cannot end above
    `least`. Pools in `refused` are not used.
    """
    graph, zero, target = problem.graph, problem.zero, problem.task.target
    floor, (start, held, path) = least, _into_core(problem, refused)
    best: dict[int, _Held] = {start: (held, path)}
    front = dict(best) if start != target else {}
    for left in range(problem.task.max_hops - len(path) - 1, -1, -1):
        found: dict[int, _Held] = {}
        worth = zero.within(left)
        for token, (held, path) in front.items():
            visited = {arc.token_in for arc in path}
            for j, rate in graph.best[token].items():
                value = worth.get(j, 0.0)
                if value <= 0.0 or held * rate * value <= least or j in visited:
                    continue
                beaten = (found.get(j) or best.get(j, _NOTHING))[0]
                got, arc = _most(graph.pairs[token][j], held, beaten, refused)
                if arc and got * value > least:
                    found[j] = (got, (*path, arc))
        if target in found:
            least = max(least, found[target][0])
        best.update(found)
        found.pop(target, None)
        front = _most_valuable(found, worth)
    reached, way = best.get(target, _NOTHING)
    return list(way) if reached > floor and len(way) <= problem.task.max_hops else []


def _most_valuable(found: dict[int, _Held], worth: Mapping[int, float]) -> dict[int, _Held]:
    if len(found) <= _FRONT:
        return found
    return {t: found[t] for t in nlargest(_FRONT, found, key=lambda t: found[t][0] * worth[t])}


def _into_core(problem: Problem, refused: Set[str]) -> tuple[int, float, tuple[Arc, ...]]:
    """The first token that paths may pass through, on the only way there from a dead end, with what gets that far."""
    held, path = float(problem.task.amount), tuple[Arc, ...]()
    token = problem.task.source
    for i, j in pairwise(problem.zero.way_to_values(token)):
        held, arc = _most(problem.graph.pairs[i].get(j, []), held, 0.0, refused)
        if arc is None:
            break
        token, path = j, (*path, arc)
    return token, held, path


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
