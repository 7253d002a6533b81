"""Grows the neighbourhood of an order: solve over few tokens, and over more as long as the prices call for them."""

from __future__ import annotations

from collections import Counter
from heapq import nlargest
from itertools import pairwise

from swapcli.routing.graph.digraph import edge_distances
from swapcli.routing.graph.market_graph import Prices
from swapcli.routing.graph.subgraph import HopBudget, profitable_detours
from swapcli.routing.search.flow import flow_values
from swapcli.routing.search.problem import FINE, ROUGH, CandidateSolution, RoutingProblem
from swapcli.routing.solver.hop import Hop

_ROUNDS = 10
_FIRST_TOKENS, _MOST_TOKENS = 6, 48  # each round may add twice as many as the last, up to a point
_OUTSIDE_HOPS = 3
_CHANCES = 2  # times that a token may be added: alone it may carry nothing, and later with others
_MIDDLES = 4
_NEARLY_FULL = 0.99
_LEAST_RATE = 1e-6


def expand_active_set(problem: RoutingProblem, paths: list[list[int]]) -> list[CandidateSolution]:
    """Solutions over growing neighbourhoods; the last one is fine. `paths` are ways that the order could go."""
    prices = start_prices(problem, paths)
    stages = [_solve_over(problem, prices, ROUGH)]
    tried: Counter[int] = Counter()
    for growth in range(_ROUNDS):
        known = stages[-1].solution.prices
        more = _tokens_to_add(problem, stages[-1], min(_FIRST_TOKENS << growth, _MOST_TOKENS), tried)
        if not more:
            break
        tried.update(more.keys())
        used = set(problem.spec.endpoints).union(*flow_values(stages[-1].solution))
        prices = {t: price for t, price in known.items() if t in used} | more
        stages.append(_solve_over(problem, prices, ROUGH))
    last = stages[-1]
    stages[-1] = CandidateSolution(problem.solve(last.arcs, last.solution.prices, FINE), last.arcs)
    return stages


def _solve_over(problem: RoutingProblem, prices: Prices, tolerance: float) -> CandidateSolution:
    arcs = problem.arcs_between(prices)
    return CandidateSolution(problem.solve(arcs, prices, tolerance), arcs)


def _tokens_to_add(
    problem: RoutingProblem, stage: CandidateSolution, max_tokens: int, attempts: Counter[int]
) -> Prices:
    """Tokens worth adding, with prices to start from: over one outside token, else over several in a row."""
    prices, task = stage.solution.prices, problem.spec
    budget = _hop_budget(problem, stage)
    for outside in (1, _OUTSIDE_HOPS):
        offers = profitable_detours(problem.graph, prices, task.endpoints, problem.order_value(prices), outside, budget)
        new = [t for t in offers if attempts[t] < _CHANCES and t not in problem.avoided_tokens]
        if new:
            best = nlargest(max_tokens, new, key=lambda t: (offers[t].gain, offers[t].depth))
            chosen = dict.fromkeys(
                t for x in best for t in (x, *offers[x].outside_path) if t not in problem.avoided_tokens
            )
            return {t: offers[t].price for t in chosen}
    return {}


def _hop_budget(problem: RoutingProblem, stage: CandidateSolution) -> HopBudget:
    """How far the tokens of a stage are from the ends, over its own hops."""
    links = {(arc.token_in, arc.token_out) for arc in stage.arcs}
    source, target = problem.spec.endpoints
    back = edge_distances([(j, i) for i, j in links], target)
    return HopBudget(edge_distances(links, source), back, problem.spec.max_hops, problem.spot.hops_to_target)


def start_prices(problem: RoutingProblem, paths: list[list[int]]) -> Prices:
    """Prices at which one path's pools alone would carry the order: the path that carries it best among `paths`, the
    direct one and those over the deepest tokens between the two."""
    source, target = problem.spec.endpoints
    paths = list(paths)
    if target in problem.graph.arcs_by_pair[source]:
        paths.append([source, target])
    if problem.spec.max_hops > 1:
        paths.extend([source, t, target] for t in _deepest_intermediates(problem))
    return max((_path_prices(problem, path) for path in paths), key=lambda found: found[0])[1]


def _deepest_intermediates(problem: RoutingProblem) -> list[int]:
    """Tokens between the two whose pools move most value at vanishing size."""
    graph, (source, target) = problem.graph, problem.spec.endpoints

    def depth(token: int) -> float:
        arriving = graph.pair_depth(source, token) * graph.best_rate_out[source][token]
        return min(arriving, graph.pair_depth(token, target)) * graph.best_rate_out[token][target]

    middles = [
        t for t in graph.best_rate_out[source] if t in graph.best_rate_in[target] and t not in problem.avoided_tokens
    ]
    return nlargest(_MIDDLES, middles, key=depth)


def _path_prices(problem: RoutingProblem, path: list[int]) -> tuple[float, Prices]:
    """What the pools of `path` pay for the order, and the prices at which they do."""
    amount = float(problem.spec.amount)
    rates = []
    for i, j in pairwise(path):
        hop = Hop(problem.graph.arcs_by_pair[i][j])
        amount = min(amount, hop.capacity * _NEARLY_FULL)
        rates.append(max(hop.rate(amount), problem.graph.best_rate_out[i][j] * _LEAST_RATE))
        amount = hop.amount_out(amount)
    prices = {path[-1]: 1.0}
    for token, after, rate in zip(path[-2::-1], path[:0:-1], rates[::-1], strict=True):
        prices[token] = prices[after] * rate
    return amount, prices
