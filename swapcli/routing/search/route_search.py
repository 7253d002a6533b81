"""Finds the route for one order on one graph: the continuous optimum, its rounding, and what gas makes of it.

Every candidate is judged by its exact replay, net of gas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import inf
from typing import NamedTuple

from swapcli.errors import PoolError
from swapcli.model.pool import Pool
from swapcli.model.route import Route
from swapcli.routing.certificate import extended
from swapcli.routing.gas import BASE_GAS, route_gas
from swapcli.routing.graph.market_graph import Arc
from swapcli.routing.graph.spot_prices import SpotPrices
from swapcli.routing.replay import Replay, replay
from swapcli.routing.search.active_set import grow, start_prices
from swapcli.routing.search.acyclic import LEAST_HOP, made_acyclic, notable_flow, shortened
from swapcli.routing.search.flow import Link, by_link, continuous_flow, flow_values, second_uses
from swapcli.routing.search.gas_pruning import promise, thinned
from swapcli.routing.search.problem import FINEST, Banned, Problem, SearchTimeUp, Solved, Task
from swapcli.routing.search.rounding import build_route, hop_losses, whole_percents
from swapcli.routing.search.single_path import best_single_path, better_single_path, single_route
from swapcli.routing.solver.dual import Prices
from swapcli.routing.solver.newton import Solution

_NEARBY = 0.99  # of a hop's marginal rate: pools that a little more input would wake up
_NEARBY_POOLS = 3
_HEADROOMS = (1 - 2e-4, 0.997, *[0.98] * 4)  # of a hop's capacity: rounding the hops before it changes what arrives
_PROMISING = 3  # solutions over fewer pools that are rounded: their gas is only estimated before
_WAYS_AROUND = 3
_REFUSALS = 8  # pools that refuse their part of the best path, one after the other
_COARSE_UNITS = 30_000  # an intermediate balance of fewer units loses more by rounding down than a route may
_COARSE_LOSS = 3e-5
_MARKET_HOPS = 40  # for a bound on any routing, whose paths have no limit
_BOUND_ITERATIONS = 12  # over the whole market: where it holds much arbitrage a better bound is worth no minutes
_SHORT_OF_SOLUTION = 5e-4  # a route that delivers less by this part drains its pools, or rounds badly
_UNSETTLED = 1e-2  # a residual above which earlier, smaller neighbourhoods are tried as well


class Found(NamedTuple):
    """A route with its exact replay, and its worth after gas in base units of the target.

    `rerouted` is the percent that only paths with too many hops would have carried.
    """

    route: Route
    amount_in: int
    replay: Replay
    gas_units: int
    net: float
    rerouted: int = 0


class Outcome(NamedTuple):
    """What a search ended with: the best route, the best with one pool per hop, and prices to certify it.

    `is_complete` is False where the search ran out of time.
    """

    problem: Problem
    found: Found
    single: Found | None
    solution: Solution
    banned: Banned
    is_complete: bool = True

    @property
    def prices(self) -> Prices:
        """The solution's prices, in units of the target."""
        return self.solution.prices

    def bounding_prices(self) -> list[Prices]:
        """Return prices for a certificate: refined over the arcs that the route may use, and solved for over the whole
        market, without and with what leads back into the source or on from the target."""
        problem, graph = self.problem, self.problem.graph
        source, target = problem.task.ends
        fine = problem.solve(problem.arcs_between(self.prices, self.banned), self.prices, FINEST, _BOUND_ITERATIONS)
        used = {source, target}.union(*flow_values(fine))
        known = extended(graph, {t: price for t, price in fine.prices.items() if t in used}, target)
        every = [arc for arc in graph.arcs() if arc.token_out in known and arc.token_in in known]
        forward = [arc for arc in every if arc.token_in != target and arc.token_out != source]
        wide = problem._replace(spot=SpotPrices(graph, target, _MARKET_HOPS))
        solved = [wide.solve(arcs, known, FINEST, _BOUND_ITERATIONS).prices for arcs in (forward, every)]
        return [fine.prices, known, *solved]


class Search:
    """One order; `pools` by key execute the replays."""

    def __init__(self, problem: Problem, pools: Mapping[str, Pool]) -> None:
        self.problem, self.pools = problem, pools
        self._best_so_far: Outcome | None = None

    @property
    def task(self) -> Task:
        """What is asked."""
        return self.problem.task

    def best(self) -> Outcome | None:
        """Return the route with the best output net of gas, or the best one so far once the task's time is up; None
        when no route carries the order."""
        try:
            return self._search()
        except SearchTimeUp:
            return self._best_so_far._replace(is_complete=False) if self._best_so_far else None

    def _search(self) -> Outcome | None:
        """Where a route loses by passing through a token of which it moves only a few units, try ways around it."""
        best = outcome = self._around(self.problem)
        problem = self.problem
        for _ in range(_WAYS_AROUND):
            coarse = _coarse_tokens(outcome) if outcome else frozenset[int]()
            if not coarse:
                break
            problem = problem.avoiding(coarse)
            if best and problem.vanishing_output() <= best.found.net:
                break
            outcome = self._around(problem)
            best = max((one for one in (best, outcome) if one), key=lambda one: one.found.net)
        return self._exchanged(best) if best else None

    def _exchanged(self, outcome: Outcome) -> Outcome:
        """`outcome` with its percents moved to where they bring more, if its route falls short of its solution."""
        found, solution = outcome.found, outcome.solution
        if found.replay.amount_out >= solution.value * (1.0 - _SHORT_OF_SOLUTION):
            return outcome
        from swapcli.routing.search.share_reallocation import exchanged

        better = self.replayed(exchanged(outcome.problem, found.route, solution), found.amount_in)
        return outcome._replace(found=better) if better and better.net > found.net else outcome

    def _around(self, problem: Problem) -> Outcome | None:
        """Search on `problem`, which may avoid tokens."""
        search = self
        if problem is not self.problem:
            search = Search(problem, self.pools)
            search._best_so_far = self._best_so_far
        try:
            return search._best()
        finally:
            self._best_so_far = search._best_so_far

    def _best(self) -> Outcome | None:
        path = self._first_path()
        if len(path) < 2:
            return None
        outcome = self._grown([path])
        better = self._better_single(outcome.found if outcome else None)
        if better is None:
            return outcome
        again = self._grown([path, self._tokens(better.route)], better)
        return max((one for one in (outcome, again) if one), key=lambda one: one.found.net)

    def _first_path(self) -> list[int]:
        """Return the best path at spot prices; where that needs pools that are dust to the order, the best without."""
        graph, spot, task = self.problem.graph, self.problem.spot, self.task
        path = spot.path(task.source)
        if all(j in graph.pairs[i] for i, j in pairwise(path)):
            return path
        return SpotPrices(graph, task.target, task.max_hops, spot.slices, self.problem.avoid).path(task.source)

    def _grown(self, paths: list[list[int]], floor: Found | None = None) -> Outcome | None:
        """The best of what the neighbourhood that grows from `paths` has to offer, and of `floor`."""
        if self._best_so_far is None:
            self._offer_single(paths[0])
        stages = grow(self.problem, paths)
        single = found = floor or self._single(stages[-1].arcs)
        choices = made_acyclic(self.problem, stages[-1])
        if max(choices[0].solution.residual, stages[-1].solution.residual) > _UNSETTLED:
            choices += [one for stage in stages[-2:-1] for one in made_acyclic(self.problem, stage)]
        chosen = choices[0]
        for choice in choices:
            if found and choice.solution.value <= found.net:
                continue
            for route in self._routes(choice):
                if route and (found is None or route.net > found.net):
                    found, chosen = route, choice
                    self._offer(Outcome(self.problem, found, single, chosen.solution, chosen.banned))
        return Outcome(self.problem, found, single, chosen.solution, chosen.banned) if found else None

    def _offer(self, outcome: Outcome) -> None:
        """Keep `outcome` for when time is up, if it is the best so far."""
        if self._best_so_far is None or outcome.found.net > self._best_so_far.found.net:
            self._best_so_far = outcome

    def _offer_single(self, path: list[int]) -> None:
        """Have a first answer before anything is solved: the best pools of one path."""
        graph = self.problem.graph
        arcs = [arc for i, j in pairwise(path) for arc in graph.pairs[i][j]]
        found = self._single(arcs)
        if found:
            prices = start_prices(self.problem, [path])
            self._offer(Outcome(self.problem, found, found, Solution(prices, [], found.net, 0.0, 0), Banned()))

    def replayed(self, route: Route, amount_in: int) -> Found | None:
        """`route` with its exact amounts for `amount_in`; None where a pool refuses."""
        try:
            return self._found(route, amount_in, replay(self.pools, route, amount_in))
        except PoolError:
            return None

    def _single(self, arcs: list[Arc]) -> Found | None:
        path = best_single_path(self.problem, arcs)
        return self.replayed(single_route(self.problem.graph, path), self.task.amount) if path else None

    def _routes(self, solved: Solved) -> Iterator[Found | None]:
        """Routes that follow a solution, and cheaper ones over fewer of its pools."""
        rounded = self._rounded(solved)
        yield rounded
        shorter = shortened(self.problem, solved) if rounded is None or rounded.rerouted else None
        if shorter:
            rounded = self._rounded(shorter)
            yield rounded
        if self.task.gas_value > 0.0:
            yield from self._cheaper(shorter or solved, rounded)

    def _cheaper(self, solved: Solved, best: Found | None) -> Iterator[Found]:
        """Routes over fewer pools as long as they may beat `best`."""
        for stage in thinned(self.problem, solved, _PROMISING):
            if best and promise(self.problem, stage) <= best.net:
                break
            found = self._rounded(stage)
            if found:
                yield found
                best = max(best or found, found, key=lambda one: one.net)

    def _better_single(self, found: Found | None) -> Found | None:
        """A path with one pool per hop anywhere in the market that beats `found`; None where there is none."""
        task, refused = self.task, set[str]()
        least = found.net + BASE_GAS * task.gas_value if found else -inf
        for _ in range(_REFUSALS):
            task.check()
            path = better_single_path(self.problem, least, refused)
            if not path:
                break
            try:
                route = single_route(self.problem.graph, path)
                better = self._found(route, task.amount, replay(self.pools, route, task.amount))
                return better if found is None or better.net > found.net else None
            except PoolError as error:
                refused.add(str(error.details.get("pool")))
        return None

    def _tokens(self, route: Route) -> list[int]:
        """The tokens that the first path of `route` passes through."""
        index, hops = self.problem.graph.token_index, route.segments[0].hops
        return [index[hops[0][0].token_in], *(index[hop[0].token_out] for hop in hops)]

    # --- rounding

    def _rounded(self, solved: Solved) -> Found | None:
        """The solution on the wire's precision. Where a pool refuses its share, hops are filled less, or without it."""
        refused: set[str] = set()
        for headroom in _HEADROOMS:
            rounded = self._round(solved, refused, headroom)
            if rounded is None:
                return None
            route, rerouted = rounded
            try:
                found = self._found(route, self.task.amount, replay(self.pools, route, self.task.amount))
                return found._replace(rerouted=rerouted)
            except PoolError as error:
                if headroom == _HEADROOMS[-1]:
                    refused.add(str(error.details.get("pool")))
        return None

    def _round(self, solved: Solved, refused: set[str], headroom: float) -> tuple[Route, int] | None:
        solution, amount = solved.solution, float(self.task.amount)
        nearby = {link: arcs for link, arcs in self._nearby(solved, refused) if arcs}
        values = {link: value for link, value in notable_flow(self.problem, solution).items() if link in nearby}
        flow = continuous_flow(values, nearby, self.task.ends, amount, solution.prices, LEAST_HOP)
        if not flow.hops:
            return None
        losses = hop_losses(flow, solution.prices, headroom)
        percents = whole_percents(flow, solution.prices, losses, self.task.check)
        return build_route(percents, losses, flow, self.problem.graph, amount, self.task.max_hops, headroom)

    def _nearby(self, solved: Solved, refused: set[str]) -> Iterator[tuple[Link, list[Arc]]]:
        """Per hop in use: the pools that trade, and with free gas those that a little more input would wake up."""
        solution = solved.solution
        allowed: dict[Link, list[Arc]] = {}
        for arc in solved.arcs:
            allowed.setdefault((arc.token_in, arc.token_out), []).append(arc)
        taken = {trade.arc.pool.key for trade in solution.trades} | refused
        weaker = second_uses(solution.trades, solution.prices)  # too small for the solution to have been without them
        for link, trades in by_link(solution.trades).items():
            arcs = [t.arc for t in trades if t.arc.pool.key not in refused and id(t.arc) not in weaker]
            if self.task.gas_value == 0.0:
                rate = solution.prices[link[0]] / solution.prices[link[1]] * _NEARBY
                idle = [arc for arc in allowed[link] if arc.rate > rate and arc.pool.key not in taken]
                arcs += idle[:_NEARBY_POOLS]
                taken.update(arc.pool.key for arc in idle[:_NEARBY_POOLS])
            yield link, arcs

    def _found(self, route: Route, amount_in: int, result: Replay) -> Found:
        gas = route_gas(self.pools, result)
        return Found(route, amount_in, result, gas, result.amount_out - gas * self.task.gas_value)


def _coarse_tokens(outcome: Outcome) -> frozenset[int]:
    """Tokens between the ends of which the route moves too few units, if the route falls short of the solution."""
    if outcome.found.replay.amount_out > outcome.solution.value * (1 - _COARSE_LOSS):
        return frozenset()
    moved: dict[str, int] = {}
    for step in outcome.found.replay.steps:
        moved[step.token_out] = moved.get(step.token_out, 0) + step.amount_out
    index = outcome.problem.graph.token_index
    coarse = {index[address] for address, amount in moved.items() if amount < _COARSE_UNITS}
    return frozenset(coarse - {outcome.problem.task.target})
