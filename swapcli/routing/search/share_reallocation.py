"""Moves percents between a route's paths while the route delivers more.

`rounding` decides on whole percents as if a percent were worth the same along any path up to a token, which holds while
an order is small beside its pools. Where it drains them a percent over a thin pool brings almost nothing, and pools
that could carry much get nothing at all. Here every change is judged by what then flows through each hop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import groupby
from math import inf, prod

from swapcli.model.route import SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.routing.graph.digraph import TokenPair, feedback_arcs, topological_order, unreachable_within
from swapcli.routing.search.flow import flow_values
from swapcli.routing.search.problem import RoutingProblem
from swapcli.routing.search.rounding import route_along, split_in_shares
from swapcli.routing.solver.hop import Hop
from swapcli.routing.solver.newton import Solution

_STEPS = (16, 4, 1)  # percents moved at once
_MAX_PATHS = 200
_MAX_WORK = 60_000  # links looked at and pools filled, the latter counted twice: some 3 microseconds each
_TAKERS = 40  # paths, those with the best marginal rates, that are tried with more
_FEW_TAKERS = 8  # while nothing shows that any exchange pays
_DRAINED = 0.8  # of what the order would bring at the rates of a vanishing one: below, exchanges pay as a rule
_PROMISING = 32  # pairs of paths that are tried before all are looked at again
_GAIN = 1e-9
_HEADROOM = 1.0 - 2e-4  # of a hop's capacity, for what rounding the hops before changes
_COARSE = 1e-4  # of what is delivered: shares of pools that lose more by rounding are rounded in every look

Path = tuple[int, ...]
"""Numbers of links in a row."""


def reallocate_shares(problem: RoutingProblem, route: Route, solution: Solution) -> Route:
    """`route`, which follows `solution`, with its percents on the paths where they bring most.

    With free gas these are all paths over the links that the solution trades on, and all its pools there; else those
    over the route's own pools. A route that uses a pool twice stays as it is. Asks the problem's check on the way.
    """
    uses = {(swap.pool, swap.token_in, swap.token_out) for swap in _swaps(route)}
    if len({pool for pool, _, _ in uses}) < len(uses):
        return route
    return _Reallocation(problem, route, solution).best_route()


class _Reallocation:
    """Links and tokens are numbered in flow order, so that all that flows into a token is known before what leaves it:
    the source is token 0, the target the last one."""

    def __init__(self, problem: RoutingProblem, route: Route, solution: Solution) -> None:
        self._problem, self._amount = problem, float(problem.spec.amount)
        hops = {(hop.token_in, hop.token_out): hop for hop in _hops(problem, route, solution)}
        place = {token: k for k, token in enumerate(topological_order(hops) or [])}
        self._links = sorted(hops, key=lambda link: place[link[0]])
        self._hops = [hops[link] for link in self._links]
        self._limits = [hop.capacity * _HEADROOM for hop in self._hops]
        number = {link: k for k, link in enumerate(self._links)}
        self._leaving = [
            (token, [(number[link], place[link[1]]) for link in links])
            for token, links in groupby(self._links, key=lambda link: place[link[0]])
        ]
        self._percents: dict[Path, int] = {}
        for segment in route.segments:
            path = tuple(number[link] for link in _links(problem, segment))
            self._percents[path] = self._percents.get(path, 0) + segment.percent
        for path in self._paths():
            self._percents.setdefault(path, 0)
        self._carried = [0] * len(self._hops)
        for path, percent in self._percents.items():
            _add(self._carried, path, percent)
        self._work, self._is_rounded = 0, False
        self._output_cache: list[dict[float, float]] = [{} for _ in self._hops]
        self._best = self._output(self._carried)

    def best_route(self) -> Route:
        """The route after all exchanges that pay."""
        start, carried = self._percents.copy(), self._carried.copy()
        if self._best < _DRAINED * self._problem.spot_output() or self._move_percents(
            1, self._best_takers(_FEW_TAKERS)
        ):
            self._improve(_STEPS)
        promised = self._best
        self._is_rounded, self._output_cache = True, [{} for _ in self._hops]
        self._best = self._output(self._carried)
        if abs(self._best - promised) > _COARSE * abs(promised):
            begun = self._output(carried)
            if begun > self._best:
                self._best, self._carried, self._percents = begun, carried, start
            self._work = _MAX_WORK // 2
            self._improve(_STEPS[1:])
        paths = [([self._links[k] for k in path], percent) for path, percent in self._percents.items() if percent]
        hops = dict(zip(self._links, self._hops, strict=True))
        return route_along(paths, hops, self._problem.graph, (self._problem.spec.source, self._amount), _HEADROOM)

    def _improve(self, steps: Sequence[int]) -> None:
        for step in steps:
            while self._work < _MAX_WORK and (
                self._move_percents(step, self._best_takers()) or self._move_percents(step, list(self._percents))
            ):
                self._problem.spec.check()

    def _move_percents(self, step: int, takers: Sequence[Path]) -> bool:
        """Move `step` percents between those paths for which that promises most; False if nothing paid."""
        givers = [
            (self._delivered_after(path, -step), path) for path, percent in self._percents.items() if percent >= step
        ]
        gains = [(self._delivered_after(path, step), path) for path in takers]
        pairs = ((lost + won, giver, taker) for lost, giver in givers for won, taker in gains if giver != taker)
        has_paid = False
        for _, giver, taker in nlargest(_PROMISING, pairs):
            if self._percents[giver] < step:
                continue
            carried = self._carried.copy()
            _add(carried, giver, -step)
            _add(carried, taker, step)
            delivered = self._output(carried)
            if delivered > self._best + _GAIN * abs(self._best):
                self._best, self._carried, has_paid = delivered, carried, True
                self._percents[giver] -= step
                self._percents[taker] += step
        return has_paid

    def _best_takers(self, count: int = _TAKERS) -> list[Path]:
        """`count` paths on which one more unit brings most."""
        if len(self._percents) <= count:
            return list(self._percents)
        amounts, _ = self._amounts(self._carried)
        rates = [hop.rate(amount) for hop, amount in zip(self._hops, amounts, strict=True)]
        return nlargest(count, self._percents, key=lambda path: prod([rates[k] for k in path]))

    def _delivered_after(self, path: Path, change: int) -> float:
        """What the route would deliver with so many percents more on one path."""
        carried = self._carried.copy()
        _add(carried, path, change)
        return self._output(carried)

    def _output(self, carried: Sequence[int]) -> float:
        """What reaches the target when each link carries its percents; less than 0 by what hops would overflow by."""
        self._work += len(carried)
        amounts, delivered = self._amounts(carried)
        overflow = sum([x / most - 1.0 for x, most in zip(amounts, self._limits, strict=True) if x > most])
        return -overflow if overflow else delivered

    def _amounts(self, carried: Sequence[int]) -> tuple[list[float], float]:
        """What flows into each link, and into the target."""
        held = [0.0] * (len(self._leaving) + 1)
        held[0] = self._amount * sum([carried[k] for k, _ in self._leaving[0][1]]) / SHARES_PER_ROUTE
        amounts = [0.0] * len(carried)
        for token, leaving in self._leaving:
            total = sum([carried[k] for k, _ in leaving])
            for k, onward in leaving if total else ():
                if carried[k]:
                    amounts[k] = amount = held[token] * carried[k] / total
                    held[onward] += self._hop_output(k, min(amount, self._limits[k]))
        return amounts, held[-1]

    def _hop_output(self, k: int, amount: float) -> float:
        """What link `k` pays for `amount`."""
        known = self._output_cache[k]
        paid = known.get(amount)
        if paid is None:
            hop = self._hops[k]
            self._work += 2 * len(hop.arcs)
            paid = split_in_shares(hop, amount, _HEADROOM)[1] if self._is_rounded else hop.amount_out(amount)
            known[amount] = paid
        return paid

    def _paths(self) -> Iterator[Path]:
        """Paths over the links within the hop limit, the shortest first, about as many as are looked at."""
        leaving, target = dict(self._leaving), len(self._leaving)
        found = 0
        front: list[tuple[Path, int]] = [((), 0)]
        for _ in range(self._problem.spec.max_hops):
            onward = [((*path, k), token) for path, held in front for k, token in leaving.get(held, ())]
            yield from (path for path, token in onward if token == target)
            front = [(path, token) for path, token in onward if token != target][:_MAX_PATHS]
            found += len(onward) - len(front)
            if found >= _MAX_PATHS:
                return


def _hops(problem: RoutingProblem, route: Route, solution: Solution) -> list[Hop]:
    """The hops that flow may go through, without a cycle and each pool in one of them."""
    index, pairs = problem.graph.token_index, problem.graph.arcs_by_pair
    uses: dict[str, TokenPair] = {}
    for swap in _swaps(route):
        uses[swap.pool] = (index[swap.token_in], index[swap.token_out])
    flow = dict.fromkeys(uses.values(), inf)
    if problem.spec.gas_value == 0.0:
        for trade in solution.trades:
            uses.setdefault(trade.arc.pool.key, (trade.arc.token_in, trade.arc.token_out))
        flow = flow_values(solution) | flow
    links = set(uses.values()) - feedback_arcs(flow)
    links -= unreachable_within(links, problem.spec.endpoints, problem.spec.max_hops)
    arcs = {(i, j): [arc for arc in pairs[i][j] if uses.get(arc.pool.key) == (i, j)] for i, j in links}
    return [Hop(arcs[link]) for link in sorted(links)]


def _swaps(route: Route) -> Iterator[Swap]:
    return (swap for segment in route.segments for hop in segment.hops for swap in hop)


def _links(problem: RoutingProblem, segment: Segment) -> list[TokenPair]:
    index = problem.graph.token_index
    return [(index[hop[0].token_in], index[hop[0].token_out]) for hop in segment.hops]


def _add(carried: list[int], path: Path, percent: int) -> None:
    for k in path:
        carried[k] += percent
