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
from swapcli.routing.graph.market_graph import Arc, MarketGraph
from swapcli.routing.search.problem import RoutingProblem

_MAX_FRONT = 200  # tokens that a search over the market goes on from: more of them are of use in no market


class _PathState(NamedTuple):
    """What is held of a token, the worth of the gas spent so far in units of the target, what is left of the one after
    the other, and the path."""

    amount: float
    gas_cost: float = 0.0
    net: float = -inf
    path: tuple[Arc, ...] = ()

    def has_sold(self, token: int) -> bool:
        """Whether the path leads through the token already."""
        return any(arc.token_in == token for arc in self.path)


_UNREACHED = _PathState(0.0)


class _PathExtender:
    """Takes one hop after the other for a problem."""

    def __init__(self, problem: RoutingProblem) -> None:
        self._spot, self._target, self._gas_value = problem.spot, problem.spec.target, problem.spec.gas_value
        self.start = _PathState(float(problem.spec.amount))
        self._token_values: dict[int, float] = {}

    def extend(
        self, state: _PathState, arcs: Iterable[Arc], threshold: float, rejected_pools: Set[str] = frozenset()
    ) -> _PathState | None:
        """What the best of `arcs` between two tokens, best first rate first, leaves in whole units; None where that is
        not more than `beaten`."""
        best = None
        for arc in arcs:
            if state.amount * arc.rate <= threshold:
                break
            if state.amount > arc.curve.capacity or arc.pool.key in rejected_pools:
                continue
            got = float(int(arc.curve.amount_out(state.amount)))
            spent, own_spent = self._gas_after(state.gas_cost, arc)
            if got - own_spent > threshold and got > 0.0:
                threshold = got - own_spent
                best = _PathState(got, spent, threshold, (*state.path, arc))
        return best

    def _gas_after(self, spent: float, arc: Arc) -> tuple[float, float]:
        """The gas spent once `arc` has been used, in units of the target and of the token that is bought."""
        if not self._gas_value:
            return 0.0, 0.0
        token = arc.token_out
        units = arc.pool.gas_units(arc.pool) + (TOKEN_BETWEEN_GAS if token != self._target else 0)
        spent += units * self._gas_value
        worth = self._token_values.get(token)
        if worth is None:
            worth = self._token_values[token] = self._spot.value(token)
        return spent, spent / worth if worth else 0.0


def best_single_path(problem: RoutingProblem, arcs: Iterable[Arc]) -> list[Arc]:
    """The path over `arcs` that leaves most of the order; empty when there is none.

    One round of relaxation a hop: a pool's output grows with its input, so only the best amount per token matters.
    Amounts are whole units, so that a token with few decimals is charged for what it rounds away.
    """
    source, target = problem.spec.endpoints
    leaving: dict[int, list[Arc]] = {}
    for arc in arcs:
        leaving.setdefault(arc.token_in, []).append(arc)
    walk = _PathExtender(problem)
    best = {source: walk.start}
    front = dict(best)
    for _ in range(problem.spec.max_hops):
        found: dict[int, _PathState] = {}
        for token, held in front.items():
            for arc in leaving.get(token, ()):
                j = arc.token_out
                beaten = max(found.get(j, _UNREACHED).net, best.get(j, _UNREACHED).net)
                if held.amount * arc.rate <= beaten or held.has_sold(j):
                    continue
                got = walk.extend(held, (arc,), beaten)
                if got:
                    found[j] = got
        if not found:
            break
        best.update(found)
        front = {t: held for t, held in found.items() if t != target}
    return list(best[target].path) if target in best else []


def better_single_path(problem: RoutingProblem, min_net: float, rejected_pools: Set[str] = frozenset()) -> list[Arc]:
    """The path over the whole market that leaves most, if that is more than `least`; empty when none does.

    What a unit can bring at most over the hops that are left keeps the search away from whatever cannot end above
    `least`. Pools in `refused` are not used.
    """
    graph, spot, target = problem.graph, problem.spot, problem.spec.target
    walk = _PathExtender(problem)
    floor, (start, held) = min_net, _into_core(problem, walk, rejected_pools)
    best: dict[int, _PathState] = {start: held}
    front = dict(best) if start != target else {}
    for left in range(problem.spec.max_hops - len(held.path) - 1, -1, -1):
        found: dict[int, _PathState] = {}
        values = spot.values_within(left)
        for token, held in front.items():
            for j, rate in graph.best_rate_out[token].items():
                value = values.get(j, 0.0)
                if value <= 0.0 or held.amount * rate * value - held.gas_cost <= min_net or held.has_sold(j):
                    continue
                beaten = (found.get(j) or best.get(j, _UNREACHED)).net
                got = walk.extend(held, graph.arcs_by_pair[token][j], beaten, rejected_pools)
                if got and got.amount * value - got.gas_cost > min_net:
                    found[j] = got
        if target in found:
            min_net = max(min_net, found[target].net)
        best.update(found)
        found.pop(target, None)
        front = _most_valuable(found, values)
    reached = best.get(target, _UNREACHED)
    return list(reached.path) if reached.net > floor and len(reached.path) <= problem.spec.max_hops else []


def _most_valuable(found: dict[int, _PathState], values: Mapping[int, float]) -> dict[int, _PathState]:
    if len(found) <= _MAX_FRONT:
        return found
    return {
        t: found[t] for t in nlargest(_MAX_FRONT, found, key=lambda t: found[t].amount * values[t] - found[t].gas_cost)
    }


def _into_core(problem: RoutingProblem, walk: _PathExtender, refused: Set[str]) -> tuple[int, _PathState]:
    """The first token that paths may pass through, on the only way there from a dead end, with what gets that far."""
    token, held = problem.spec.source, walk.start
    for i, j in pairwise(problem.spot.path_to_priced(token)):
        got = walk.extend(held, problem.graph.arcs_by_pair[i].get(j, ()), -inf, refused)
        if got is None:
            return token, _UNREACHED
        token, held = j, got
    return token, held


def single_route(graph: MarketGraph, path: list[Arc]) -> Route:
    """The route of one segment over `path`."""
    hops = tuple(
        (Swap(arc.pool.key, graph.addresses[arc.token_in], graph.addresses[arc.token_out], SHARES_PER_HOP),)
        for arc in path
    )
    return Route((Segment(SHARES_PER_ROUTE, hops),))
