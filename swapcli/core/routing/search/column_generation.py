"""Column generation: solve over few tokens, then add tokens on detours that pay at the solution's prices, and
repeat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import nlargest
from itertools import groupby, pairwise
from math import inf, prod
from operator import attrgetter

from swapcli.core.model.quote import WHOLE_PERCENTS
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import edge_distances
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.search.detours import MAX_OUTSIDE, MIN_DETOUR_FRACTION, Detours, DetourSearch, HopBudget
from swapcli.core.routing.search.problem import MAX_RESIDUAL, ROUGH, CandidateSolution, RoutingProblem
from swapcli.core.routing.solver.parallel_pools import Hop

_MAX_ROUNDS = 10  # two to four are typical
_FIRST_TOKENS, _MAX_TOKENS = 6, 48  # added in the first round, doubled in each later one up to the limit. Empirical
_FINE_MIN_DETOUR_FRACTION = 1e-4  # if shares are finer than a percent: their finest step
_MAX_ATTEMPTS = 2  # how often a token is added: it may carry nothing alone, but flow once others are added later
_INTERMEDIATES = 4  # deepest tokens between source and target that may carry the start path. Empirical
_START_TOLERANCE = 0.2  # of a hop's input: start prices are less accurate than that for other reasons
_START_ARCS = 24  # of a hop, evenly spaced by spot rate, weighted: enough for a rough price. Empirical
_NEARLY_FULL = 0.99  # of a hop's capacity: beyond it, marginal rates may be zero
_DEEPEST_ARCS = 6  # of each pair: they have most of its liquidity, and prices close to those of all its arcs. Empirical
_MAX_DEEPEST_PART = 0.5  # of all arcs: if they are more, solving over them first saves too little. Empirical
_COARSE_TOLERANCE = 3e-2  # ten times `ROUGH`: the prices of some arcs are no more accurate than this
_DISTANT_GAIN = 1.5e-2
"""The gain of the best detour, as a part of its price, above which prices are far from the solution. Empirical."""
_MIN_RATE_RATIO = 1e-6  # of a spot rate: keeps start prices positive where pools are almost drained


class ActiveSet(NamedTuple):
    """The solutions over a growing token set, and the gain of the best path outside the last set, as a fraction of the
    path's price. The gain is infinite if the expansion ended before it was bounded."""

    stages: list[CandidateSolution]
    outside_gain: float

    @property
    def last(self) -> CandidateSolution:
        """The last solution, which is over all tokens of the set."""
        return self.stages[-1]


def expand_active_set(problem: RoutingProblem, paths: list[list[int]]) -> ActiveSet:
    """Solve over a growing token set, with the `ROUGH` tolerance.

    `paths` are candidates for the path that determines the start prices.
    """
    prices = start_prices(problem, paths)
    stages = [_solve(problem, problem.arcs_between(prices), prices)]
    attempts: Counter[int] = Counter()
    deepest_first = True  # as long as these give more than all arcs between fewer tokens
    outside_gain = inf
    for round_number in range(_MAX_ROUNDS):
        max_tokens = min(_FIRST_TOKENS << round_number, _MAX_TOKENS)
        # The first detours may use fewer hops, and save gas.
        min_gain = min_detour_gas_cost(problem) if round_number else 0.0
        added, max_gain = tokens_to_add(problem, stages[-1], max_tokens, attempts, min_gain)
        if not added:
            outside_gain = max_gain
            break
        attempts.update(added.keys())
        prices = problem.used_prices(stages[-1].solution) | added
        arcs = problem.arcs_between(prices)
        if deepest_first and max_gain > _DISTANT_GAIN:
            deepest = _deepest_arcs(arcs)
            if len(deepest) <= _MAX_DEEPEST_PART * len(arcs):
                closer = problem.solve(deepest, prices, _COARSE_TOLERANCE)
                deepest_first = closer.value > stages[-1].solution.value
                if deepest_first:
                    prices |= closer.prices
        solved = _solve(problem, arcs, prices)
        if solved.solution.residual > MAX_RESIDUAL >= stages[-1].solution.residual:
            break  # more arbitrage than the solver can handle
        stages.append(solved)
    return ActiveSet(stages, outside_gain)


def _solve(problem: RoutingProblem, arcs: list[Arc], prices: Prices) -> CandidateSolution:
    return CandidateSolution(problem.solve(arcs, prices, ROUGH), arcs)


def _deepest_arcs(arcs: Iterable[Arc]) -> list[Arc]:
    """Return the deepest arcs of each pair: a solution over them is close to that over all.

    Far from the solution, most arcs trade at wrong prices, and iterations over all of them take long.
    """
    deepest: list[Arc] = []
    for _, parallel in groupby(arcs, attrgetter("token_in", "token_out")):
        deepest.extend(nlargest(_DEEPEST_ARCS, parallel, key=attrgetter("depth")))
    return deepest


def tokens_to_add(
    problem: RoutingProblem, stage: CandidateSolution, max_tokens: int, attempts: Counter[int], min_gain: float
) -> tuple[Prices, float]:
    """Return tokens to add, with start prices: tokens on detours over one outside token or, if there are none, over
    several.

    Only detours whose estimated gain is at least `min_gain` count. The second value is the largest gain of any path
    outside; see `Detours`.
    """
    max_gain = 0.0
    for offers, max_gain in _detours(problem, stage, max_tokens + len(attempts)):
        new = [t for t, offer in offers.items() if attempts[t] < _MAX_ATTEMPTS and offer.gain >= min_gain]
        if new:
            best = nlargest(max_tokens, new, key=lambda t: (offers[t].gain, offers[t].depth))
            tokens = dict.fromkeys(t for x in best for t in (x, *offers[x].outside_path))
            return {t: offers[t].price for t in tokens}, max_gain
    return {}, max_gain


def min_detour_gas_cost(problem: RoutingProblem) -> float:
    """Return the smallest gas of a detour, which has two swaps, in units of the target."""
    router = problem.spec.router_gas
    return (2 * (problem.graph.min_swap_gas + router.each_swap) + router.token_between) * problem.spec.gas_value


def _detours(problem: RoutingProblem, stage: CandidateSolution, count: int) -> Iterator[Detours]:
    """Yield the `count` best detours over one outside token, and then those over several in a row."""
    prices, spec = stage.solution.prices, problem.spec
    budget, order_value = _hop_budget(problem, stage), problem.order_value(prices)
    min_fraction = _FINE_MIN_DETOUR_FRACTION if spec.share_step < WHOLE_PERCENTS else MIN_DETOUR_FRACTION
    search = DetourSearch(problem.graph, prices, spec.endpoints, order_value, budget, min_fraction, problem.spot.values)
    yield search.find(1, count)
    yield search.find(MAX_OUTSIDE, count)


def _hop_budget(problem: RoutingProblem, stage: CandidateSolution) -> HopBudget:
    """Return the distances of a stage's tokens from the endpoints, over its own hops."""
    pairs = {(arc.token_in, arc.token_out) for arc in stage.arcs}
    source, target = problem.spec.endpoints
    back = edge_distances([(j, i) for i, j in pairs], target)
    return HopBudget(edge_distances(pairs, source), back, problem.spec.max_hops, problem.spot.hops_to_target)


def start_prices(problem: RoutingProblem, paths: list[list[int]]) -> Prices:
    """Return the prices at which the pools of one path alone fill the order.

    The path is the best of `paths`, the direct path, and the paths over the deepest intermediates.
    """
    source, target = problem.spec.endpoints
    paths = list(paths)
    if target in problem.graph.arcs_by_pair[source]:
        paths.append([source, target])
    if problem.spec.max_hops > 1:
        paths.extend([source, t, target] for t in _deepest_intermediates(problem))
    best_amount, prices = -inf, Prices()
    for path in paths:
        if _max_path_output(problem, path) > best_amount:
            amount, found = path_prices(problem, path)
            if amount > best_amount:
                best_amount, prices = amount, found
    return prices


def _max_path_output(problem: RoutingProblem, path: list[int]) -> float:
    """Return an upper bound on the output of `path` for the order under any split: the output at the spot rates of its
    best pools."""
    arcs_by_pair = problem.graph.arcs_by_pair
    return problem.spec.amount * prod([arcs_by_pair[i][j][0].rate for i, j in pairwise(path)])


def _deepest_intermediates(problem: RoutingProblem) -> list[int]:
    """Return the tokens traded with both endpoints whose pools are deepest at their spot rates."""
    graph, (source, target) = problem.graph, problem.spec.endpoints

    def depth(token: int) -> float:
        arriving = graph.pair_depth(source, token) * graph.best_rate_out[source][token]
        return min(arriving, graph.pair_depth(token, target)) * graph.best_rate_out[token][target]

    intermediates = [t for t in graph.best_rate_out[source] if t in graph.best_rate_in[target]]
    return nlargest(_INTERMEDIATES, intermediates, key=depth)


def path_prices(problem: RoutingProblem, path: list[int]) -> tuple[float, Prices]:
    """Return the approximate output of `path` for the order, and the marginal prices of its tokens afterwards."""
    amount = float(problem.spec.amount)
    rates = []
    for i, j in pairwise(path):
        arcs = problem.graph.arcs_by_pair[i][j]
        stride = 1 + len(arcs) // _START_ARCS
        hop = Hop(arcs[::stride], tolerance=_START_TOLERANCE)
        rate, paid = hop.rate_and_output(min(amount / stride, hop.capacity * _NEARLY_FULL))
        amount = stride * paid
        rates.append(max(rate, problem.graph.best_rate_out[i][j] * _MIN_RATE_RATIO))
    prices = {path[-1]: 1.0}
    for token, after, rate in zip(path[-2::-1], path[:0:-1], rates[::-1], strict=True):
        prices[token] = prices[after] * rate
    return amount, prices
