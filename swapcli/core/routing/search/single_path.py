"""Find the best route with one pool per hop: the result of a router without splitting, and a lower bound for every
quote.

The best path leaves the largest amount after the gas of its swaps. At each step, gas is charged in the token held,
converted at spot prices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from heapq import nlargest
from itertools import pairwise
from math import inf

from swapcli.core.errors import PoolError
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.best_paths import best_labels
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph
from swapcli.core.routing.replay import swap_exactly
from swapcli.core.routing.search.problem import LOW_PRECISION_UNITS, RoutingProblem
from swapcli.core.routing.solver.newton import Solution

_MAX_FRONT = 64  # tokens extended per hop in a search over the market. Empirical: more never improved a path


class _PathState(NamedTuple):
    """The best known way to hold a token: its amount, the gas cost so far in units of the target, the net amount after
    gas, and the path."""

    amount: float
    gas_cost: float = 0.0
    net: float = -inf
    path: tuple[Arc, ...] = ()

    def has_sold(self, token: int) -> bool:
        """Return whether the path already passes through the token."""
        return any(arc.token_in == token for arc in self.path)


_UNREACHED = _PathState(0.0)


class _PathExtender:
    """Extends the paths of one problem by one hop.

    Amounts are whole units. Inputs below `LOW_PRECISION_UNITS` use the pool's exact swap, because rounding matters
    there; larger ones use the curve.
    """

    def __init__(self, problem: RoutingProblem) -> None:
        self._spot, self._target, self._gas_value = problem.spot, problem.spec.target, problem.spec.gas_value
        self._router_gas, self._addresses = problem.spec.router_gas, problem.graph.addresses
        self.min_gas = problem.min_swap_gas_cost if self._gas_value else 0.0
        self.start = _PathState(float(problem.spec.amount))
        self._token_values: dict[int, float] = {}

    def extend(
        self,
        state: _PathState,
        arcs: Iterable[Arc],
        threshold: float,
        rejected_pools: Set[str] = frozenset(),
        min_amount: float = 0.0,
    ) -> _PathState | None:
        """Return the state after the best of `arcs` between two tokens; the arcs come best spot rate first.

        None if no amount exceeds `min_amount`, or no net amount exceeds `threshold`.
        """
        best = None
        min_amount = max(min_amount, threshold, 0.0)
        for arc in arcs:
            if state.amount * arc.rate <= min_amount:
                break
            if state.amount > arc.curve.capacity or arc.pool.key in rejected_pools:
                continue
            amount_out = self._amount_out(arc, state.amount)
            if amount_out <= min_amount:
                continue
            gas_cost, gas_in_token = self._gas_after(state.gas_cost, arc, state.amount)
            if amount_out - gas_in_token > threshold:
                threshold = amount_out - gas_in_token
                min_amount = max(min_amount, threshold)
                best = _PathState(amount_out, gas_cost, threshold, (*state.path, arc))
        return best

    def _amount_out(self, arc: Arc, amount: float) -> float:
        if amount >= LOW_PRECISION_UNITS:
            return float(int(arc.curve.amount_out(amount)))
        token_in, token_out = self._addresses[arc.token_in], self._addresses[arc.token_out]
        try:
            return float(swap_exactly(arc.pool, token_in, token_out, int(amount))[0])
        except PoolError:
            return 0.0

    def _gas_after(self, gas_cost: float, arc: Arc, amount: float) -> tuple[float, float]:
        """Return the gas cost including a swap of `amount` in `arc`, in units of the target and of the bought token."""
        if not self._gas_value:
            return 0.0, 0.0
        token = arc.token_out
        router, rate = self._router_gas, arc.curve.rate(amount)
        units = arc.pool.gas_units_to(self._addresses[arc.token_in], self._addresses[token], rate) + router.each_swap
        units += router.token_between if token != self._target else 0
        gas_cost += units * self._gas_value
        value = self._token_values.get(token)
        if value is None:
            value = self._token_values[token] = self._spot.value(token)
        return gas_cost, gas_cost / value if value else 0.0


def best_single_path(problem: RoutingProblem, arcs: Iterable[Arc]) -> list[Arc]:
    """Return the path over `arcs` with the best net output; empty if there is none.

    The arcs of a pair come best spot rate first. For each token, the state with the best net amount counts. Amounts are
    whole units, so that rounding losses count for tokens with few decimals.
    """
    source, target = problem.spec.endpoints
    leaving: dict[int, dict[int, list[Arc]]] = {}
    for arc in arcs:
        leaving.setdefault(arc.token_in, {}).setdefault(arc.token_out, []).append(arc)
    leaving.pop(target, None)
    extender = _PathExtender(problem)

    def extend(front: Mapping[int, _PathState], best: Mapping[int, _PathState], _: int) -> dict[int, _PathState]:
        improved: dict[int, _PathState] = {}
        for token, state in front.items():
            for j, pair_arcs in leaving.get(token, {}).items():
                threshold = (improved.get(j) or best.get(j, _UNREACHED)).net
                if state.amount * pair_arcs[0].rate > threshold and not state.has_sold(j):
                    extended = extender.extend(state, pair_arcs, threshold)
                    if extended:
                        improved[j] = extended
        return improved

    best = best_labels({source: extender.start}, problem.spec.max_hops, extend)
    return list(best[target].path) if target in best else []


def max_single_path_output(problem: RoutingProblem, solution: Solution, outside_gain: float) -> float:
    """Return an upper bound on the output of any path with one pool per hop, before gas.

    At any prices, no trade of a pool gains more than the surplus of the pool's best trade, so a path pays at most the
    value of the order plus the surplus of its pools (weak duality). `outside_gain` is the largest gain of a path over
    tokens without a price, as a fraction of the path's price.
    """
    surplus: dict[TokenPair, float] = {}
    for trade in solution.trades:
        pair = (trade.arc.token_in, trade.arc.token_out)
        surplus[pair] = max(surplus.get(pair, 0.0), trade.surplus)

    def extend(front: Mapping[int, float], best: Mapping[int, float], _: int) -> dict[int, float]:
        improved: dict[int, float] = {}
        for (i, j), gain in surplus.items():
            if i in front and front[i] + gain > max(best.get(j, 0.0), improved.get(j, 0.0)):
                improved[j] = front[i] + gain
        return improved

    gains = best_labels({problem.spec.source: 0.0}, problem.spec.max_hops, extend)
    return problem.order_value(solution.prices) * (1.0 + outside_gain) + max(gains.values())


def better_single_path(problem: RoutingProblem, min_net: float, rejected_pools: Set[str] = frozenset()) -> list[Arc]:
    """Return the path over the whole market with the best net output above `min_net`; empty if there is none.

    Pools in `rejected_pools` are not used.
    """
    path: list[Arc] = []
    for better in better_paths(problem, min_net, 1, rejected_pools):
        path = better
    return path


def better_paths(
    problem: RoutingProblem, min_net: float, ways: int, rejected_pools: Set[str] = frozenset()
) -> Iterator[list[Arc]]:
    """Yield paths over the whole market with a net output above `min_net`; each is better and has more hops than the
    previous one.

    This is branch and bound: an upper bound on the output of a unit over the remaining hops, less the smallest gas of
    these hops, prunes states that cannot end above `min_net`. For each token, `ways` states are kept: with arbitrage,
    the best path to a token has often passed tokens that the rest of the path needs.
    """
    graph, spot, target = problem.graph, problem.spot, problem.spec.target
    extender = _PathExtender(problem)
    start, state = _enter_core(problem, extender, rejected_pools)
    hops_left, hops_to_target, min_gas = problem.spec.max_hops - len(state.path), spot.hops_to_target, extender.min_gas
    if start == target and state.net > min_net:
        yield list(state.path)
    front: dict[int, list[_PathState]] = {start: [state]} if start != target else {}
    best_net = {start: state.net}  # over any number of hops so far; only if there is one way
    for hop in range(hops_left):
        problem.spec.check()
        values = spot.values_within(hops_left - hop - 1)
        reached: dict[int, list[_PathState]] = {}
        for token, states in front.items():
            for j, rate in graph.best_rate_out[token].items():
                value = values.get(j, 0.0)
                for state in states:
                    ceiling = state.amount * rate * value - state.gas_cost
                    if value <= 0.0 or ceiling <= min_net:
                        continue
                    gas_left = min_gas * hops_to_target[j]
                    if ceiling - min_gas - gas_left <= min_net or state.has_sold(j):
                        continue
                    kept = reached.get(j, [])
                    threshold = kept[-1].net if len(kept) == ways else best_net.get(j, -inf)
                    min_amount = (min_net + gas_left + state.gas_cost) / value
                    arcs = graph.arcs_by_pair[token][j]
                    extended = extender.extend(state, arcs, threshold, rejected_pools, min_amount)
                    if extended and extended.amount * value - extended.gas_cost - gas_left > min_net:
                        reached[j] = sorted([*kept, extended], key=lambda each: -each.net)[:ways]
        if ways == 1:
            best_net.update((token, states[0].net) for token, states in reached.items())
        if target in reached and reached[target][0].net > min_net:
            min_net = reached[target][0].net
            yield list(reached[target][0].path)
        front = _most_valuable(reached, values, target)


def _most_valuable(
    reached: Mapping[int, list[_PathState]], values: Mapping[int, float], target: int
) -> dict[int, list[_PathState]]:
    """Return the tokens of `reached`, without the target, whose best states are worth most."""
    onward = {token: states for token, states in reached.items() if token != target}
    if len(onward) <= _MAX_FRONT:
        return onward
    worth = {token: states[0].amount * values.get(token, 0.0) - states[0].gas_cost for token, states in onward.items()}
    return {token: onward[token] for token in nlargest(_MAX_FRONT, worth, key=worth.__getitem__)}


def _enter_core(problem: RoutingProblem, extender: _PathExtender, rejected_pools: Set[str]) -> tuple[int, _PathState]:
    """Return the first token that paths may pass through, and its state, on the only path out of a dead end."""
    token, state = problem.spec.source, extender.start
    for i, j in pairwise(problem.spot.path_to_priced(token)):
        extended = extender.extend(state, problem.graph.arcs_by_pair[i].get(j, ()), -inf, rejected_pools)
        if extended is None:
            return token, _UNREACHED
        token, state = j, extended
    return token, state


def single_route(graph: MarketGraph, path: list[Arc]) -> Route:
    """Return the route with one segment over `path`."""
    hops = tuple(
        (Swap(arc.pool.key, graph.addresses[arc.token_in], graph.addresses[arc.token_out], SHARES_PER_HOP),)
        for arc in path
    )
    return Route((Segment(SHARES_PER_ROUTE, hops),))
