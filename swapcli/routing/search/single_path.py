"""The best route with one pool per hop: what a router without splitting would find, and the floor of every quote.

The best is what leaves most once the gas of its swaps is paid. Gas is counted in the token that is held by what a
vanishing amount of that is worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from heapq import nlargest
from itertools import pairwise
from math import inf
from typing import NamedTuple

from swapcli.model.route import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.routing.gas import TOKEN_BETWEEN_GAS
from swapcli.routing.graph.market_graph import Arc, Graph
from swapcli.routing.search.problem import Problem

_FRONT = 200  # tokens that a search over the market goes on from: more of them are of use in no market


class _Held(NamedTuple):
    """What is held of a token, the worth of the gas spent so far in units of the target, what is left of the one after
    the other, and the path."""

    amount: float
    spent: float = 0.0
    net: float = -inf
    path: tuple[Arc, ...] = ()

    def has_left(self, token: int) -> bool:
        """Whether the path leads through the token already."""
        return any(arc.token_in == token for arc in self.path)


_NOTHING = _Held(0.0)


class _Walk:
    """Takes one hop after the other for a problem."""

    def __init__(self, problem: Problem) -> None:
        self._zero, self._target, self._gas_value = problem.spot, problem.task.target, problem.task.gas_value
        self.start = _Held(float(problem.task.amount))
        self._worth: dict[int, float] = {}

    def over(self, held: _Held, arcs: Iterable[Arc], beaten: float, refused: Set[str] = frozenset()) -> _Held | None:
        """What the best of `arcs` between two tokens, best first rate first, leaves in whole units; None where that is
        not more than `beaten`."""
        best = None
        for arc in arcs:
            if held.amount * arc.rate <= beaten:
                break
            if held.amount > arc.curve.capacity or arc.pool.key in refused:
                continue
            got = float(int(arc.curve.amount_out(held.amount)))
            spent, own_spent = self._gas_after(held.spent, arc)
            if got - own_spent > beaten and got > 0.0:
                beaten = got - own_spent
                best = _Held(got, spent, beaten, (*held.path, arc))
        return best

    def _gas_after(self, spent: float, arc: Arc) -> tuple[float, float]:
        """The gas spent once `arc` has been used, in units of the target and of the token that is bought."""
        if not self._gas_value:
            return 0.0, 0.0
        token = arc.token_out
        units = arc.pool.gas_units(arc.pool) + (TOKEN_BETWEEN_GAS if token != self._target else 0)
        spent += units * self._gas_value
        worth = self._worth.get(token)
        if worth is None:
            worth = self._worth[token] = self._zero.value(token)
        return spent, spent / worth if worth else 0.0


def best_single_path(problem: Problem, arcs: Iterable[Arc]) -> list[Arc]:
    """The path over `arcs` that leaves most of the order; empty when there is none.

    One round of relaxation a hop: a pool's output grows with its input, so only the best amount per token matters.
    Amounts are whole units, so that a token with few decimals is charged for what it rounds away.
    """
    source, target = problem.task.ends
    leaving: dict[int, list[Arc]] = {}
    for arc in arcs:
        leaving.setdefault(arc.token_in, []).append(arc)
    walk = _Walk(problem)
    best = {source: walk.start}
    front = dict(best)
    for _ in range(problem.task.max_hops):
        found: dict[int, _Held] = {}
        for token, held in front.items():
            for arc in leaving.get(token, ()):
                j = arc.token_out
                beaten = max(found.get(j, _NOTHING).net, best.get(j, _NOTHING).net)
                if held.amount * arc.rate <= beaten or held.has_left(j):
                    continue
                got = walk.over(held, (arc,), beaten)
                if got:
                    found[j] = got
        if not found:
            break
        best.update(found)
        front = {t: held for t, held in found.items() if t != target}
    return list(best[target].path) if target in best else []


def better_single_path(problem: Problem, least: float, refused: Set[str] = frozenset()) -> list[Arc]:
    """The path over the whole market that leaves most, if that is more than `least`; empty when none does.

    What a unit can bring at most over the hops that are left keeps the search away from whatever cannot end above
    `least`. Pools in `refused` are not used.
    """
    graph, spot, target = problem.graph, problem.spot, problem.task.target
    walk = _Walk(problem)
    floor, (start, held) = least, _into_core(problem, walk, refused)
    best: dict[int, _Held] = {start: held}
    front = dict(best) if start != target else {}
    for left in range(problem.task.max_hops - len(held.path) - 1, -1, -1):
        found: dict[int, _Held] = {}
        worth = spot.within(left)
        for token, held in front.items():
            for j, rate in graph.best[token].items():
                value = worth.get(j, 0.0)
                if value <= 0.0 or held.amount * rate * value - held.spent <= least or held.has_left(j):
                    continue
                beaten = (found.get(j) or best.get(j, _NOTHING)).net
                got = walk.over(held, graph.pairs[token][j], beaten, refused)
                if got and got.amount * value - got.spent > least:
                    found[j] = got
        if target in found:
            least = max(least, found[target].net)
        best.update(found)
        found.pop(target, None)
        front = _most_valuable(found, worth)
    reached = best.get(target, _NOTHING)
    return list(reached.path) if reached.net > floor and len(reached.path) <= problem.task.max_hops else []


def _most_valuable(found: dict[int, _Held], worth: Mapping[int, float]) -> dict[int, _Held]:
    if len(found) <= _FRONT:
        return found
    return {t: found[t] for t in nlargest(_FRONT, found, key=lambda t: found[t].amount * worth[t] - found[t].spent)}


def _into_core(problem: Problem, walk: _Walk, refused: Set[str]) -> tuple[int, _Held]:
    """The first token that paths may pass through, on the only way there from a dead end, with what gets that far."""
    token, held = problem.task.source, walk.start
    for i, j in pairwise(problem.spot.way_to_values(token)):
        got = walk.over(held, problem.graph.pairs[i].get(j, ()), -inf, refused)
        if got is None:
            return token, _NOTHING
        token, held = j, got
    return token, held


def single_route(graph: Graph, path: list[Arc]) -> Route:
    """The route of one segment over `path`."""
    hops = tuple(
        (Swap(arc.pool.key, graph.addresses[arc.token_in], graph.addresses[arc.token_out], SHARES_PER_HOP),)
        for arc in path
    )
    return Route((Segment(SHARES_PER_ROUTE, hops),))
