"""Local search over a rounded route: moves shares between its paths while the output grows.

`rounding` values a share the same along any path to a token, which holds while an order is small for its pools.
When an order drains them, a share over a thin pool brings almost nothing, and pools that could carry more get
nothing. Here the resulting flow through every hop decides on each move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest, nsmallest
from itertools import groupby
from math import inf

from swapcli.core.model.quote import SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.routing.graph.digraph import TokenPair, feedback_arcs, topological_order, unreachable_within
from swapcli.core.routing.search.order_flow import flow_values
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.rounding import move_sizes, rounded_output, route_along
from swapcli.core.routing.solver.newton import Solution
from swapcli.core.routing.solver.parallel_pools import Hop

_MOVE_SIZES = (1_600, 400, 100, 25, 5, 1)  # hundredths of a percent moved at once. Empirical
_MAX_PATHS = 200  # candidates besides the route's own. Bounds the work; the shortest come first
_MAX_WORK = 20_000  # hops evaluated and, counted twice, pools filled: one to two microseconds each
_MAX_ROUNDED_WORK = 5_000  # of that, with rounded pool shares: what the first moves leave to gain is mostly little
_TRIED = 40  # paths with the best, and with the worst, marginal output that are tried with more, and less. Empirical
_FEW_TRIED = 8  # the same while no move has paid yet
_DRAINED = 0.8  # of the output at spot prices: below it, moves usually pay. Empirical
_MAX_MOVES = 32  # moves tried before all are ranked again. Empirical
_MIN_GAIN = 1e-9  # relative: smaller gains are rounding errors, which could make moves cycle
_CAPACITY_MARGIN = 1.0 - 2e-4  # of a hop's capacity: rounding earlier hops changes what arrives
_MAX_ROUNDING_LOSS = 1e-4  # of the output: if rounding pool shares loses more, the search repeats with rounded shares

Path = tuple[int, ...]
"""Numbers of consecutive hops."""


def reallocate_shares(problem: RoutingProblem, route: Route, amount_out: int, solution: Solution) -> Route:
    """Return `route`, which follows `solution` and pays `amount_out`, with its shares moved to where they bring most.

    With free gas, candidates are all paths and pools that the solution trades on; otherwise those of the route. Returns
    a route that uses a pool twice unchanged. Calls the problem's check regularly.
    """
    uses = {(swap.pool, swap.token_in, swap.token_out) for swap in _swaps(route)}
    if len({pool for pool, _, _ in uses}) < len(uses):
        return route
    return _Reallocation(problem, route, solution).best_route(amount_out) or route


class _Reallocation:
    """The state of the search. Hops and tokens are numbered in topological order, from the source to the target: all
    inflows of a token are known before its outflows."""

    def __init__(self, problem: RoutingProblem, route: Route, solution: Solution) -> None:
        self._problem, self._amount = problem, float(problem.spec.amount)
        self._sizes = move_sizes(_MOVE_SIZES, problem.spec.share_step)
        hops = {(hop.token_in, hop.token_out): hop for hop in _hops(problem, route, solution)}
        place = {token: k for k, token in enumerate(topological_order(hops) or [])}
        self._pairs = sorted(hops, key=lambda pair: place[pair[0]])
        self._hops = [hops[pair] for pair in self._pairs]
        self._limits = [hop.capacity * _CAPACITY_MARGIN for hop in self._hops]
        number = {pair: k for k, pair in enumerate(self._pairs)}
        self._leaving = [
            (token, [(number[pair], place[pair[1]]) for pair in pairs])
            for token, pairs in groupby(self._pairs, key=lambda pair: place[pair[0]])
        ]
        self._shares: dict[Path, int] = {}
        for segment in route.segments:
            path = tuple(number[pair] for pair in _pairs(problem, segment))
            self._shares[path] = self._shares.get(path, 0) + segment.share
        for path in self._paths():
            self._shares.setdefault(path, 0)
        self._carried = [0] * len(self._hops)
        for path, share in self._shares.items():
            _add(self._carried, path, share)
        self._work, self._is_rounded = 0, False
        # Known figures of each hop by the amount that it gets.
        self._rates: list[dict[float, float]] = [{} for _ in self._hops]
        self._unrounded_outputs: list[dict[float, float]] = [{} for _ in self._hops]
        self._outputs = self._unrounded_outputs  # those in force
        self._best = self._output(self._carried)

    def best_route(self, amount_out: int) -> Route | None:
        """Return the route after all moves that pay; None if none does for a route that pays `amount_out`."""
        start_shares, start_carried = self._shares.copy(), self._carried.copy()
        is_drained = self._best < _DRAINED * self._problem.spot_output()
        if is_drained or self._move_shares(self._sizes[-1], _FEW_TRIED):
            self._improve(self._sizes)
        elif amount_out >= self._best * (1.0 - _MAX_ROUNDING_LOSS):
            return None
        unrounded_output = self._best
        self._is_rounded, self._outputs = True, [{} for _ in self._hops]
        self._best = self._output(self._carried)
        if abs(self._best - unrounded_output) > _MAX_ROUNDING_LOSS * abs(unrounded_output):
            start_output = self._output(start_carried)
            if start_output > self._best:
                self._best, self._carried, self._shares = start_output, start_carried, start_shares
            self._work = _MAX_WORK - _MAX_ROUNDED_WORK
            self._improve(self._sizes[1:])
        paths = [([self._pairs[k] for k in path], share) for path, share in self._shares.items() if share]
        hops = dict(zip(self._pairs, self._hops, strict=True))
        return route_along(
            paths, hops, self._problem.graph, (self._problem.spec.source, self._amount), _CAPACITY_MARGIN
        )

    def _improve(self, sizes: Sequence[int]) -> None:
        for count in sorted({min(_TRIED, len(self._shares)), len(self._shares)}):
            for size in sizes:
                while self._work < _MAX_WORK and self._move_shares(size, count):
                    self._problem.spec.check()

    def _move_shares(self, size: int, count: int) -> bool:
        """Move a share of `size` between the most promising pairs of paths; return whether any move paid.

        The `count` paths whose output rises least with their share may give, and the `count` where it rises most may
        take. A pair is promising only if it gains at the marginal rates: any larger move gains less than these say.
        """
        slopes = self._slopes()
        last = nsmallest(count, (path for path, share in self._shares.items() if share >= size), key=slopes.__getitem__)
        first = nlargest(count, self._shares, key=slopes.__getitem__)
        givers = [(self._delivered_after(path, -size), path) for path in last]
        takers = [(self._delivered_after(path, size), path) for path in first]
        pairs = (
            (lost + gained, giver, taker)
            for lost, giver in givers
            for gained, taker in takers
            if slopes[giver] < slopes[taker]
        )
        has_paid = False
        for _, giver, taker in nlargest(min(count, _MAX_MOVES), pairs):
            if self._shares[giver] < size:
                continue
            carried = self._carried.copy()
            _add(carried, giver, -size)
            _add(carried, taker, size)
            delivered = self._output(carried)
            if delivered > self._best + _MIN_GAIN * abs(self._best):
                self._best, self._carried, has_paid = delivered, carried, True
                self._shares[giver] -= size
                self._shares[taker] += size
        return has_paid

    def _slopes(self) -> dict[Path, float]:
        """Return for each path how the output changes with its share, per hundredth of a percent, up to a constant.

        A path that gets more takes its token's balance from the other hops there: the token's balance per share,
        valued at the hop's rate, replaces that valued at the average of the hops.
        """
        amounts, _ = self._amounts(self._carried)
        taken = [min(amount, limit) for amount, limit in zip(amounts, self._limits, strict=True)]
        rates = [self._rate(k, amount) for k, amount in enumerate(taken)]
        values = [0.0] * len(self._leaving) + [1.0]
        per_share = [0.0] * len(self._leaving)
        tokens = [(0, 0)] * len(self._hops)
        for token, leaving in reversed(self._leaving):
            for k, onward in leaving:
                tokens[k] = (token, onward)
            total = sum([self._carried[k] for k, _ in leaving])
            if total:
                per_share[token] = sum([amounts[k] for k, _ in leaving]) / total
                values[token] = sum([self._carried[k] * rates[k] * values[onward] for k, onward in leaving]) / total
        slopes: dict[Path, float] = {}
        for path in self._shares:
            slope, value = 0.0, 1.0
            for k in reversed(path):
                token, _ = tokens[k]
                value *= rates[k]
                if per_share[token]:  # otherwise nothing arrives but on this path
                    slope += per_share[token] * (value - values[token])
                    value = values[token]
            slopes[path] = slope
        return slopes

    def _delivered_after(self, path: Path, change: int) -> float:
        """Return the output with `change` more share on one path."""
        carried = self._carried.copy()
        _add(carried, path, change)
        return self._output(carried)

    def _output(self, carried: Sequence[int]) -> float:
        """Return the output when each hop carries its share; minus the relative overflow if hops exceed capacity."""
        self._work += len(carried)
        amounts, delivered = self._amounts(carried)
        overflow = sum([x / limit - 1.0 for x, limit in zip(amounts, self._limits, strict=True) if x > limit])
        return -overflow if overflow else delivered

    def _amounts(self, carried: Sequence[int]) -> tuple[list[float], float]:
        """Return the input of each hop, and the output."""
        balances = [0.0] * (len(self._leaving) + 1)
        balances[0] = self._amount * sum([carried[k] for k, _ in self._leaving[0][1]]) / SHARES_PER_ROUTE
        amounts, limits, outputs = [0.0] * len(carried), self._limits, self._outputs
        for token, leaving in self._leaving:
            total = sum([carried[k] for k, _ in leaving])
            if not total:
                continue
            per_share = balances[token] / total
            for k, onward in leaving:
                share = carried[k]
                if share:
                    amounts[k] = amount = per_share * share
                    if amount > limits[k]:
                        amount = limits[k]
                    paid = outputs[k].get(amount)
                    balances[onward] += self._hop_output(k, amount) if paid is None else paid
        return amounts, balances[-1]

    def _hop_output(self, k: int, amount: float) -> float:
        """Return the output of hop `k` for `amount`, which is not known yet."""
        if not self._is_rounded:
            self._evaluate(k, amount)
            return self._unrounded_outputs[k][amount]
        self._work += 2 * len(self._hops[k].arcs)
        paid = self._outputs[k][amount] = rounded_output(self._hops[k], amount, _CAPACITY_MARGIN)
        return paid

    def _rate(self, k: int, amount: float) -> float:
        """Return the marginal rate of hop `k` for `amount`, split without rounding."""
        if amount not in self._rates[k]:
            self._evaluate(k, amount)
        return self._rates[k][amount]

    def _evaluate(self, k: int, amount: float) -> None:
        hop = self._hops[k]
        self._work += 2 * len(hop.arcs)
        found = hop.rate_and_output(amount) if amount else (max([arc.rate for arc in hop.arcs]), 0.0)
        self._rates[k][amount], self._unrounded_outputs[k][amount] = found

    def _paths(self) -> Iterator[Path]:
        """Yield paths within the hop limit, the shortest first, up to about `_MAX_PATHS`.

        An enumeration, not a relaxation: every path is a candidate, not the best one per token.
        """
        leaving, target = dict(self._leaving), len(self._leaving)
        found = 0
        front: list[tuple[Path, int]] = [((), 0)]
        for _ in range(self._problem.spec.max_hops):
            onward = [((*path, k), token) for path, last in front for k, token in leaving.get(last, ())]
            yield from (path for path, token in onward if token == target)
            front = [(path, token) for path, token in onward if token != target][:_MAX_PATHS]
            found += len(onward) - len(front)
            if found >= _MAX_PATHS:
                return


def _hops(problem: RoutingProblem, route: Route, solution: Solution) -> list[Hop]:
    """Return the hops that may carry flow, acyclic and each pool in one of them."""
    index, arcs_by_pair = problem.graph.token_index, problem.graph.arcs_by_pair
    uses: dict[str, TokenPair] = {}
    for swap in _swaps(route):
        uses[swap.pool] = (index[swap.token_in], index[swap.token_out])
    flow = dict.fromkeys(uses.values(), inf)
    if problem.spec.gas_value == 0.0:
        for trade in solution.trades:
            uses.setdefault(trade.arc.pool.key, (trade.arc.token_in, trade.arc.token_out))
        flow = flow_values(solution) | flow
    pairs = set(uses.values()) - feedback_arcs(flow)
    pairs -= unreachable_within(pairs, problem.spec.endpoints, problem.spec.max_hops)
    arcs = {(i, j): [arc for arc in arcs_by_pair[i][j] if uses.get(arc.pool.key) == (i, j)] for i, j in pairs}
    prices = solution.prices
    return [Hop(arcs[i, j], prices.get(i, 0.0) / (prices.get(j) or inf)) for i, j in sorted(pairs)]


def _swaps(route: Route) -> Iterator[Swap]:
    return (swap for segment in route.segments for hop in segment.hops for swap in hop)


def _pairs(problem: RoutingProblem, segment: Segment) -> list[TokenPair]:
    index = problem.graph.token_index
    return [(index[hop[0].token_in], index[hop[0].token_out]) for hop in segment.hops]


def _add(carried: list[int], path: Path, share: int) -> None:
    for k in path:
        carried[k] += share
