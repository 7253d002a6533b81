"""Finds the route for one order on one graph: neighbourhood, prices, acyclic flow, gas, rounding, exact replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import pairwise
from math import inf

from swapcli.errors import PoolError
from swapcli.model.pool import Pool
from swapcli.model.route import Route
from swapcli.routing.flow import (
    Link,
    by_link,
    continuous_flow,
    cycle_breakers,
    flow_values,
    longest_path,
    second_uses,
)
from swapcli.routing.gas import route_gas
from swapcli.routing.graph import Arc, Graph
from swapcli.routing.greedy import acyclic_order
from swapcli.routing.hop import Hop
from swapcli.routing.neighbourhood import arcs_among, detours
from swapcli.routing.replay import Replay, replay
from swapcli.routing.rounding import build_route, whole_percents
from swapcli.routing.single_path import best_single_path, single_route
from swapcli.routing.solver import Prices, Solution, Trade, solve
from swapcli.routing.zero_size import ZeroSizePrices

_GROWTH_ROUNDS = 10
_FIRST_GROWTH = 6  # tokens; each round may add twice as many as the last
_ACYCLIC_ROUNDS = 40
_LEAST_HOP = 1e-4
_ROUGH, _FINE = 3e-3, 1e-4  # tolerances while the neighbourhood grows, and at the end
_NEARBY = 0.99  # of a hop's marginal rate: pools that a little more input would wake up
_NEARBY_POOLS = 3
_REPAIRS = 8
_SLICES = 12
_MIDDLES = 4
_OUTSIDE_HOPS = 3
_FEW_POOLS = 40  # more than these are never the cheapest with gas


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of a search. `gas_value` is the worth of one unit of gas in base units of the target."""

    source: int
    target: int
    amount: int
    max_hops: int
    gas_value: float = 0.0


@dataclass(slots=True)
class Found:
    """A route with its exact replay, and its worth after gas in base units of the target."""

    route: Route
    amount_in: int
    replay: Replay
    gas_units: int
    net: float


@dataclass(slots=True)
class Outcome:
    """What a search ended with: the best route, the best with one pool per hop, and the search for its prices."""

    search: Search
    found: Found
    single: Found | None
    prices: Prices


@dataclass(slots=True)
class Search:
    """One order over `graph`; `pools` by key execute the replay. Solutions of earlier amounts are warm starts."""

    graph: Graph
    pools: Mapping[str, Pool]
    zero: ZeroSizePrices
    task: Task
    forbidden_links: set[Link] = field(default_factory=set)
    forbidden_arcs: set[int] = field(default_factory=set)
    arcs: list[Arc] = field(default_factory=list)

    def best(self) -> Outcome | None:
        """The route with the best output net of gas; None when no route carries the order."""
        path = self.zero.path(self.task.source)
        if len(path) < 2 or len(path) - 1 > self.task.max_hops:
            return None
        solution = self._solve_neighbourhood(path)
        single = self._single()
        candidates = [single, self._rounded(solution)]
        if self.task.gas_value > 0.0:
            candidates.extend(self._cheaper(solution))
        found = max((one for one in candidates if one is not None), key=lambda one: one.net, default=None)
        return Outcome(self, found, single, solution.prices) if found else None

    def replayed(self, route: Route, amount_in: int) -> Found | None:
        """`route` with its exact amounts for `amount_in`; None where a pool refuses."""
        try:
            return self._found(route, amount_in, replay(self.pools, route, amount_in))
        except PoolError:
            return None

    # --- the continuous optimum

    def _solve_neighbourhood(self, path: list[int]) -> Solution:
        """Solve over the tokens of the best path, and over more as long as the solution's prices call for them."""
        prices = self._start_prices(path)
        self.arcs = self._allowed_arcs(prices)
        solution = self._solve(prices, _ROUGH)
        tried: set[int] = set()
        for growth in range(_GROWTH_ROUNDS):
            more = self._detours(solution.prices, _FIRST_GROWTH << growth, tried)
            if not more:
                break
            tried.update(more)
            used = {self.task.source, self.task.target}.union(*flow_values(solution))
            prices = {t: price for t, price in solution.prices.items() if t in used} | more
            self.arcs = self._allowed_arcs(prices)
            solution = self._solve(prices, _ROUGH)
        return self._make_acyclic(self._solve(solution.prices))

    def _detours(self, prices: Prices, most: int, tried: set[int]) -> Prices:
        task = self.task
        ends, value = (task.source, task.target), task.amount * prices[task.source]
        near = detours(self.graph, prices, ends, value, 1)
        found = {t: offer for t, offer in near.items() if t not in tried}
        if not found:
            far = detours(self.graph, prices, ends, value, _OUTSIDE_HOPS)
            found = {t: offer for t, offer in far.items() if t not in tried}
        best = nlargest(most, found, key=lambda t: found[t].gain)
        return {t: found[t].price for t in best}

    def _allowed_arcs(self, prices: Prices) -> list[Arc]:
        task = self.task
        arcs = arcs_among(self.graph, list(prices), task.source, task.target, task.max_hops)
        return [arc for arc in arcs if self.allows(arc)]

    def allows(self, arc: Arc) -> bool:
        """Whether an acyclic route of this order may use `arc` beside the others."""
        return (
            (arc.token_in, arc.token_out) not in self.forbidden_links
            and id(arc) not in self.forbidden_arcs
            and arc.token_out != self.task.source
            and arc.token_in != self.task.target
        )

    def _solve(self, prices: Prices, tolerance: float = _FINE) -> Solution:
        task = self.task
        ends = (task.source, task.target)
        return solve(self.arcs, ends, float(task.amount), prices, self._ceiling, tolerance=tolerance)

    def _ceiling(self, token: int) -> float:
        return self.zero.value(token) or inf

    def _make_acyclic(self, solution: Solution) -> Solution:
        """The best solution found whose flow an acyclic route can carry."""
        if not cycle_breakers(self._notable(solution)):
            return self._broken_up(solution)
        arcs, forbidden = self.arcs, (set(self.forbidden_links), set(self.forbidden_arcs))
        oriented = self._oriented(solution)
        first = (oriented, self.arcs, self.forbidden_links, self.forbidden_arcs)
        self.arcs, (self.forbidden_links, self.forbidden_arcs) = arcs, forbidden
        broken = self._broken_up(solution)
        if oriented is None or broken.value > oriented.value:
            return broken
        _, self.arcs, self.forbidden_links, self.forbidden_arcs = first
        return oriented

    def _oriented(self, solution: Solution) -> Solution | None:
        """The solution over the hops that lead forward in the order of a flow built path by path."""
        task = self.task
        order = acyclic_order(self.arcs, task.source, task.target, float(task.amount), task.max_hops, _SLICES)
        place = {token: k for k, token in enumerate(order)}
        links = {(arc.token_in, arc.token_out) for arc in self.arcs}
        self.forbidden_links |= {(i, j) for i, j in links if not place.get(i, 1 << 30) < place.get(j, -1)}
        self.arcs = [arc for arc in self.arcs if self.allows(arc)]
        return self._broken_up(self._solve(solution.prices)) if self.arcs else None

    def _broken_up(self, solution: Solution) -> Solution:
        """Forbid what an acyclic route cannot use beside the rest, and solve again, until nothing of note is left."""
        for _ in range(_ACYCLIC_ROUNDS):
            values = self._notable(solution)
            links, arcs = cycle_breakers(values), second_uses(self._notable_trades(solution), solution.prices)
            links |= self._too_long({link: v for link, v in values.items() if link not in links})
            if not links and not arcs:
                break
            self.forbidden_links |= links
            self.forbidden_arcs |= arcs
            self.arcs = [arc for arc in self.arcs if self.allows(arc)]
            solution = self._solve(solution.prices)
        return solution

    def _notable(self, solution: Solution) -> dict[Link, float]:
        least = _LEAST_HOP * self.task.amount * solution.prices[self.task.source]
        return {link: value for link, value in flow_values(solution).items() if value > least}

    def _notable_trades(self, solution: Solution) -> list[Trade]:
        prices = solution.prices
        least = _LEAST_HOP * self.task.amount * prices[self.task.source]
        return [t for t in solution.trades if t.amount_in * prices[t.arc.token_in] > least]

    def _too_long(self, values: dict[Link, float]) -> set[Link]:
        """The weakest hop of each path with too many."""
        broken: set[Link] = set()
        while len(path := longest_path(values)) > self.task.max_hops:
            weakest = min(path, key=lambda link: values[link])
            broken.add(weakest)
            del values[weakest]
        return broken

    def polished(self, prices: Prices) -> Prices:
        """`prices` refined as far as floats go, for the tightest bound."""
        task = self.task
        arcs = self._allowed_arcs(prices)
        ends = (task.source, task.target)
        return solve(arcs, ends, float(task.amount), prices, self._ceiling, tolerance=1e-10).prices

    def _start_prices(self, zero_path: list[int]) -> Prices:
        """Prices at which the pools of one path alone would carry the order: the path that carries it best among that
        of a vanishing order, the direct one and those over the deepest tokens between the two."""
        source, target = self.task.source, self.task.target
        pairs = self.graph.pairs
        paths = [zero_path]
        if target in pairs[source]:
            paths.append([source, target])
        if self.task.max_hops > 1:
            paths.extend([source, t, target] for t in nlargest(_MIDDLES, self._middles(), key=self._middle_depth))
        return max((self._path_prices(path) for path in paths), key=lambda found: found[0])[1]

    def _middles(self) -> list[int]:
        source, target = self.task.source, self.task.target
        into = self.graph.best_into[target]
        return [t for t in self.graph.best[source] if t in into and t != target]

    def _middle_depth(self, token: int) -> float:
        """How much value the pools from the source to `token` and on to the target move, at vanishing size."""
        graph, source, target = self.graph, self.task.source, self.task.target
        arriving = graph.pair_depth(source, token) * graph.best[source][token]
        return min(arriving, graph.pair_depth(token, target)) * graph.best[token][target]

    def _path_prices(self, path: list[int]) -> tuple[float, Prices]:
        """What the pools of `path` pay for the order, and the prices at which they do."""
        held = float(self.task.amount)
        rates = []
        for i, j in pairwise(path):
            hop = Hop(self.graph.pairs[i][j])
            held = min(held, hop.capacity * 0.99)
            rates.append(max(hop.rate(held), hop.arcs[0].rate * 1e-6))
            held = hop.amount_out(held)
        prices = {path[-1]: 1.0}
        for token, after, rate in zip(path[-2::-1], path[:0:-1], rates[::-1], strict=True):
            prices[token] = prices[after] * rate
        return held, prices

    # --- routes

    def _single(self) -> Found | None:
        task = self.task
        path = best_single_path(self.arcs, task.source, task.target, float(task.amount), task.max_hops)
        return self.replayed(single_route(self.graph, path), task.amount) if path else None

    def _rounded(self, solution: Solution) -> Found | None:
        """The solution on the wire's precision. A pool that refuses its share is left out."""
        refused: set[str] = set()
        for _ in range(_REPAIRS):
            route = self._round(solution, refused)
            if route is None:
                return None
            try:
                return self._found(route, self.task.amount, replay(self.pools, route, self.task.amount))
            except PoolError as error:
                refused.add(str(error.details.get("pool")))
        return None

    def _round(self, solution: Solution, refused: set[str]) -> Route | None:
        task = self.task
        nearby = {link: arcs for link, arcs in self._nearby(solution, refused) if arcs}
        values = {link: value for link, value in self._notable(solution).items() if link in nearby}
        flow = continuous_flow(
            values, nearby, task.source, task.target, float(task.amount), solution.prices, _LEAST_HOP
        )
        if not flow.hops:
            return None
        percents = whole_percents(flow, solution.prices)
        return build_route(percents, flow, self.graph, float(task.amount))

    def _nearby(self, solution: Solution, refused: set[str]) -> Iterator[tuple[Link, list[Arc]]]:
        """Per hop in use: the pools that trade, and with free gas those that a little more input would wake up."""
        allowed: dict[Link, list[Arc]] = {}
        for arc in self.arcs:
            allowed.setdefault((arc.token_in, arc.token_out), []).append(arc)
        taken = {trade.arc.pool.key for trade in solution.trades} | refused
        for link, trades in by_link(solution.trades).items():
            arcs = [trade.arc for trade in trades if trade.arc.pool.key not in refused]
            if self.task.gas_value == 0.0:
                rate = solution.prices[link[0]] / solution.prices[link[1]] * _NEARBY
                idle = [arc for arc in allowed[link] if arc.rate > rate and arc.pool.key not in taken]
                arcs += idle[:_NEARBY_POOLS]
            yield link, arcs

    def _found(self, route: Route, amount_in: int, result: Replay) -> Found:
        gas = route_gas(self.pools, result.pools_after)
        return Found(route, amount_in, result, gas, result.amount_out - gas * self.task.gas_value)

    # --- gas

    def _cheaper(self, solution: Solution) -> Iterator[Found | None]:
        """Routes with fewer pools: those whose trade is worth less than their gas are dropped, the poorest first."""
        while True:
            trades = solution.trades
            poor = [t for t in trades if t.surplus < t.arc.pool.swap_gas * self.task.gas_value]
            poor.sort(key=lambda trade: trade.surplus)
            dropped = {id(t.arc) for t in poor[: (len(poor) + 1) // 2]}
            self.arcs = [t.arc for t in trades if id(t.arc) not in dropped]
            if not dropped or not self._still_joined():
                return
            solution = self._solve(solution.prices)
            if len(solution.trades) <= _FEW_POOLS:
                yield self._rounded(solution)

    def _still_joined(self) -> bool:
        reached = {self.task.source}
        while True:
            more = {arc.token_out for arc in self.arcs if arc.token_in in reached} - reached
            if not more:
                return self.task.target in reached
            reached |= more
