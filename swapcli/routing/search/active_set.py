"""Grows the neighbourhood of an order: solve over few tokens, and over more as long as the prices call for them."""

from __future__ import annotations

from collections import Counter
from heapq import nlargest
from itertools import pairwise

from swapcli.routing.graph.subgraph import Reach, detours
from swapcli.routing.search.flow import distances, flow_values
from swapcli.routing.search.problem import FINE, ROUGH, Problem, Solved
from swapcli.routing.solver.dual import Prices
from swapcli.routing.solver.hop import Hop

_ROUNDS = 10
_FIRST_TOKENS, _MOST_TOKENS = 6, 48  # each round may add twice as many as the last, up to a point
_OUTSIDE_HOPS = 3
_CHANCES = 2  # times that a token may be added: alone it may carry nothing, and later with others
_MIDDLES = 4
_NEARLY_FULL = 0.99
_LEAST_RATE = 1e-6


def grow(problem: Problem, paths: list[list[int]]) -> list[Solved]:
    """Solutions over growing neighbourhoods; the last one is fine. `paths` are ways that the order could go."""
    prices = start_prices(problem, paths)
    stages = [_solved(problem, prices, ROUGH)]
    tried: Counter[int] = Counter()
    for growth in range(_ROUNDS):
        known = stages[-1].solution.prices
        more = _more_tokens(problem, stages[-1], min(_FIRST_TOKENS << growth, _MOST_TOKENS), tried)
        if not more:
            break
        tried.update(more.keys())
        used = set(problem.task.ends).union(*flow_values(stages[-1].solution))
        prices = {t: price for t, price in known.items() if t in used} | more
        stages.append(_solved(problem, prices, ROUGH))
    last = stages[-1]
    stages[-1] = Solved(problem.solve(last.arcs, last.solution.prices, FINE), last.arcs)
    return stages


def _solved(problem: Problem, prices: Prices, tolerance: float) -> Solved:
    arcs = problem.arcs_between(prices)
    return Solved(problem.solve(arcs, prices, tolerance), arcs)


def _more_tokens(problem: Problem, stage: Solved, most: int, tried: Counter[int]) -> Prices:
    """Tokens worth adding, with prices to start from: over one outside token, else over several in a row."""
    prices, task = stage.solution.prices, problem.task
    reach = _reach(problem, stage)
    for outside in (1, _OUTSIDE_HOPS):
        offers = detours(problem.graph, prices, task.ends, problem.order_value(prices), outside, reach)
        new = [t for t in offers if tried[t] < _CHANCES and t not in problem.avoid]
        if new:
            best = nlargest(most, new, key=lambda t: (offers[t].gain, offers[t].depth))
            chosen = dict.fromkeys(t for x in best for t in (x, *offers[x].way) if t not in problem.avoid)
            return {t: offers[t].price for t in chosen}
    return {}


def _reach(problem: Problem, stage: Solved) -> Reach:
    """How far the tokens of a stage are from the ends, over its own hops."""
    links = {(arc.token_in, arc.token_out) for arc in stage.arcs}
    source, target = problem.task.ends
    back = distances([(j, i) for i, j in links], target)
    return Reach(distances(links, source), back, problem.task.max_hops, problem.spot.hops)


def start_prices(problem: Problem, paths: list[list[int]]) -> Prices:
    """Prices at which one path's pools alone would carry the order: the path that carries it best among `paths`, the
    direct one and those over the deepest tokens between the two."""
    source, target = problem.task.ends
    paths = list(paths)
    if target in problem.graph.pairs[source]:
        paths.append([source, target])
    if problem.task.max_hops > 1:
        paths.extend([source, t, target] for t in _deepest_middles(problem))
    return max((_path_prices(problem, path) for path in paths), key=lambda found: found[0])[1]


def _deepest_middles(problem: Problem) -> list[int]:
    """Tokens between the two whose pools move most value at vanishing size."""
    graph, (source, target) = problem.graph, problem.task.ends

    def depth(token: int) -> float:
        arriving = graph.pair_depth(source, token) * graph.best[source][token]
        return min(arriving, graph.pair_depth(token, target)) * graph.best[token][target]

    middles = [t for t in graph.best[source] if t in graph.best_into[target] and t not in problem.avoid]
    return nlargest(_MIDDLES, middles, key=depth)


def _path_prices(problem: Problem, path: list[int]) -> tuple[float, Prices]:
    """What the pools of `path` pay for the order, and the prices at which they do."""
    held = float(problem.task.amount)
    rates = []
    for i, j in pairwise(path):
        hop = Hop(problem.graph.pairs[i][j])
        held = min(held, hop.capacity * _NEARLY_FULL)
        rates.append(max(hop.rate(held), problem.graph.best[i][j] * _LEAST_RATE))
        held = hop.amount_out(held)
    prices = {path[-1]: 1.0}
    for token, after, rate in zip(path[-2::-1], path[:0:-1], rates[::-1], strict=True):
        prices[token] = prices[after] * rate
    return held, prices
