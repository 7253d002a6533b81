"""Find better token orders for an acyclic flow, in markets with arbitrage.

In an acyclic flow, every hop leads forward in some order of the tokens. The unrestricted optimum of a market with
arbitrage has cycles, and breaking them means choosing hops to exclude. A different choice can raise the flow's value
only if a path between its tokens pays more than its prices. Without such a path, the cycles are arbitrage unrelated to
the swap. With such a path, branch and bound chooses the hops, over the tokens of the flow and of these paths: a node
excludes hops, its dual value bounds every acyclic flow without them, and it branches on the hops of one cycle. With few
cycles, as on real states, the search ends with a proof after a few solutions. With many, a greedy flow's token order
and exchanges of single paths gain more in the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush, nlargest
from itertools import combinations, count, pairwise
from math import inf, log

from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import TokenPair, cycles, topological_order
from swapcli.core.routing.graph.market_graph import Prices
from swapcli.core.routing.search.acyclic import notable_flow, obstacles
from swapcli.core.routing.search.problem import MUCH_ARBITRAGE, CandidateSolution, Exclusions, RoutingProblem
from swapcli.core.routing.solver.newton import Solution

_MAX_HOPS = 4  # of a path. Empirical: with three, some orders lose a basis point
_WIDE = 1 / 8  # of the order: a path ends at a token that carries at least this much. Empirical
_ALL_PASSED = 0.999  # of the flow at a token: if this much has passed another token, no path returns there
_MAX_PATHS = 24  # paths whose tokens join the branching. Empirical: more gain 0.001 basis points in twice the time
_MAX_FAILED, _MAX_FAILED_EXCHANGE = 12, 4  # nodes solved without a better flow before branching stops. Empirical
_MAX_SOLVED = 30  # nodes of one branching; a descent to an acyclic flow takes up to ten
_MAX_TRIED = 6  # paths tried for one exchange. Empirical
_MAX_EXCHANGES = 12  # Empirical: most flows take up to three

_Label = tuple[tuple[int, ...], tuple[float, ...]]
"""(tokens, costs) of a path."""


class PayingPath(NamedTuple):
    """A path that pays more than a flow's prices for a slice of the order.

    `costs` are the costs of its tokens along the path, in units of the target; `value` is the value of the flow at its
    first token, and `log_ratio` the logarithm of the last token's price over its cost. `part_passed` is the largest
    part of the flow at one of its tokens that has already passed a later one, and so cannot take the path.
    """

    hops: tuple[TokenPair, ...]
    costs: Prices
    value: float
    log_ratio: float
    part_passed: float

    def estimated_gain(self, problem: RoutingProblem) -> float:
        """Estimate the path's gain in units of the target.

        Each rate falls with the flow, according to the depth of its pair.
        """
        resistance = 0.0
        for i, j in self.hops:
            depth = problem.graph.pair_depth(i, j)
            resistance += 1.0 / (self.costs[i] * depth) if depth else inf
        flow = min(self.value, self.log_ratio / resistance) if resistance else self.value
        gain = flow * (self.log_ratio - flow * resistance / 2.0) if flow else 0.0
        return (1.0 - self.part_passed) * gain


def better_orders(
    problem: RoutingProblem, active: CandidateSolution, best: CandidateSolution
) -> Iterator[CandidateSolution]:
    """Yield acyclic solutions, each worth more than `best` and the previous ones; `active` is the unrestricted
    solution."""
    min_gain = problem.min_reordering_gain(active.solution)
    paths = paying_paths(problem, best, min_gain)
    if not paths:
        return
    best_paths = nlargest(_MAX_PATHS, paths, key=lambda path: path.estimated_gain(problem))
    relaxed = _solve_between(problem, best, best_paths)
    if relaxed.solution.value <= (1.0 + MUCH_ARBITRAGE) * best.solution.value:
        branching = Branching(problem, best, min_gain, _MAX_FAILED)
        found = branching.search(relaxed)
        if found is not best:
            yield found
        if branching.is_proven:
            return
        best = found
    from swapcli.core.routing.search.acyclic_order import orient_greedily

    greedy = orient_greedily(problem, active)
    starts = [best, greedy] if greedy and greedy.solution.value > best.solution.value else [best]
    found = max((exchange_paths(problem, start, min_gain) for start in starts), key=lambda each: each.solution.value)
    if found is not best:
        yield found


def exchange_paths(problem: RoutingProblem, candidate: CandidateSolution, min_gain: float) -> CandidateSolution:
    """Add paths to an acyclic solution, at the expense of other paths, as long as each adds more than `min_gain`."""
    for _ in range(_MAX_EXCHANGES):
        gains = [(path.estimated_gain(problem), path) for path in paying_paths(problem, candidate, min_gain)]
        paying = [each for each in gains if each[0] > min_gain]
        better = candidate
        for _, path in sorted(paying, key=lambda each: (each[1].part_passed > 0.0, -each[0]))[:_MAX_TRIED]:
            branching = Branching(problem, candidate, min_gain, _MAX_FAILED_EXCHANGE)
            better = branching.search(_solve_with_path(problem, candidate, path, min_gain))
            if better is not candidate:
                break
        if better is candidate:
            break
        candidate = better
    return candidate


def paying_paths(problem: RoutingProblem, candidate: CandidateSolution, min_gain: float) -> list[PayingPath]:
    """Return paths between tokens of an acyclic flow that pay more than its prices for a slice of the order.

    They are the cheapest paths from each token for each number of hops, except those that cannot gain `min_gain`.
    """
    order_value = problem.order_value(candidate.solution.prices)
    values = notable_flow(problem, candidate.solution)
    carried = {problem.spec.target: order_value}
    for (token, _), value in values.items():
        carried[token] = carried.get(token, 0.0) + value
    passed = _parts_passed(values)
    found: list[PayingPath] = []
    for start, sold in carried.items():
        value = min(sold, order_value)
        if start == problem.spec.target or value <= min_gain:
            continue
        for path, costs in _cheap_paths(problem, start, candidate.solution.prices, carried, order_value):
            end, hops = path[-1], tuple(pairwise(path))
            ratio = candidate.solution.prices[end] / costs[-1]
            if value * (ratio - 1.0) <= min_gain or passed.get(end, {}).get(start, 0.0) > _ALL_PASSED:
                continue
            if not values.keys() >= set(hops):
                part = _part_passed(path, passed)
                found.append(PayingPath(hops, dict(zip(path, costs, strict=True)), value, log(ratio), part))
    return found


def _cheap_paths(
    problem: RoutingProblem, start: int, prices: Prices, carried: Mapping[int, float], order_value: float
) -> Iterator[_Label]:
    """Yield paths from `start` to tokens of the flow that cost less along the path than at the flow's prices.

    Each extends the cheapest path to the previous token. No token is worth more than its spot price. A path ends at a
    token that carries much of the order: a hop that pays from there starts its own path.
    """
    rates, wide = problem.graph.best_rate_out, _WIDE * order_value
    limits = problem.spot.values | {token: max(prices[token], problem.spot.value(token)) for token in carried}
    limits[problem.spec.source] = 0.0
    best: dict[int, float] = {}
    front: dict[int, _Label] = {start: ((start,), (prices[start],))}
    for _ in range(_MAX_HOPS):
        reached: dict[int, _Label] = {}
        for token, (path, costs) in front.items():
            held = costs[-1]
            for onward, rate in rates[token].items():
                cost = held / rate
                if cost >= limits.get(onward, 0.0) or onward in path:
                    continue
                label = (*path, onward), (*costs, cost)
                if onward not in carried:
                    limits[onward] = cost
                else:
                    if cost < prices[onward]:
                        yield label
                    if carried[onward] >= wide or cost >= best.get(onward, inf):
                        continue
                    best[onward] = cost
                reached[onward] = label
        front = reached


def _solve_between(
    problem: RoutingProblem, candidate: CandidateSolution, paths: Iterable[PayingPath]
) -> CandidateSolution:
    """Solve over all arcs between the tokens of a flow and of `paths`, cycles included."""
    tokens = _tokens_of_flow(problem, candidate)
    prices = {token: price for token, price in candidate.solution.prices.items() if token in tokens}
    for path in paths:
        prices = path.costs | prices
    arcs = problem.arcs_between(prices)
    return CandidateSolution(problem.solve(arcs, prices), arcs)


def _tokens_of_flow(problem: RoutingProblem, candidate: CandidateSolution) -> set[int]:
    """Return the tokens that carry a notable part of the flow, and the order's own two, which may carry less."""
    flow = notable_flow(problem, candidate.solution)
    return {token for pair in flow for token in pair} | set(problem.spec.endpoints)


def _solve_with_path(
    problem: RoutingProblem, candidate: CandidateSolution, path: PayingPath, min_gain: float
) -> CandidateSolution:
    """Solve over the hops of an acyclic flow and a path; only the tokens of these take part."""
    tokens = _tokens_of_flow(problem, candidate) | path.costs.keys()
    added = [arc for i, j in path.hops for arc in problem.graph.arcs_by_pair[i][j]]
    arcs = [
        arc
        for arc in candidate.arcs
        if arc.token_in in tokens and arc.token_out in tokens and (arc.token_in, arc.token_out) not in path.hops
    ] + added
    exclusions = candidate.exclusions.without(frozenset(path.hops), {id(arc) for arc in added})
    prices, floor = path.costs | candidate.solution.prices, candidate.solution.value + min_gain
    return CandidateSolution(problem.solve(arcs, prices, floor=floor), arcs, exclusions)


class _Node(NamedTuple):
    """An unsolved node, sorted by its bound: the value of its parent's arcs without one more hop of a cycle."""

    negative_bound: float
    serial: int
    parent: CandidateSolution
    exclusions: Exclusions
    kept: frozenset[TokenPair]


class Branching:
    """Branch and bound over the hops that break the cycles of a solution, starting from an acyclic incumbent.

    It first dives to an acyclic flow, then continues from the node with the highest bound. `is_proven` means that no
    acyclic flow over the same arcs is worth over `min_gain` more than the best one.
    """

    def __init__(self, problem: RoutingProblem, incumbent: CandidateSolution, min_gain: float, max_failed: int) -> None:
        self._problem, self._best, self._min_gain, self._max_failed = problem, incumbent, min_gain, max_failed
        self._nodes: list[_Node] = []
        self._serials = count()
        self._solved = self._failed = 0
        self.is_proven = False

    def search(self, relaxed: CandidateSolution) -> CandidateSolution:
        """Return the best acyclic solution over the arcs of `relaxed`, or the incumbent if no solution is worth
        more."""
        children = self._branch(relaxed, frozenset())
        while True:
            for child in children[1:]:
                heappush(self._nodes, child)
            node = children[0] if children and self._solved < _MAX_SOLVED else self._next_node()
            if node is None:
                return self._best
            solved = self._problem.solve_excluding(node.parent, node.exclusions, self._floor)
            self._solved += 1
            self._failed += 1
            children = self._branch(solved, node.kept)

    @property
    def _floor(self) -> float:
        return self._best.solution.value + self._min_gain

    def _next_node(self) -> _Node | None:
        """Return the node with the highest bound; None if it cannot become the best, or if too many nodes have
        failed."""
        self.is_proven = not self._nodes or -self._nodes[0].negative_bound <= self._floor
        if self.is_proven or self._failed >= self._max_failed or self._solved >= _MAX_SOLVED:
            return None
        return heappop(self._nodes)

    def _branch(self, candidate: CandidateSolution, kept: frozenset[TokenPair]) -> list[_Node]:
        """Return the children of a solved node, one per hop of a cycle; none if it is acyclic or cannot become the
        best.

        A child excludes one hop and keeps the hops that its siblings exclude. Excluding a hop costs at least its
        surplus. A node that leaves a kept hop without flow is covered by the child that excludes it.
        """
        value = candidate.solution.value
        values = notable_flow(self._problem, candidate.solution)
        if value <= self._floor or not values.keys() >= kept:
            return []
        surplus = _surplus_by_hop(candidate.solution)
        found = cycles(values)
        if not found:
            pairs, arcs = obstacles(self._problem, candidate.solution)
            if pairs or arcs:
                return [self._node(value, candidate, candidate.exclusions.union(pairs, arcs), kept)]
            self._best, self._failed = candidate, 0
            return []
        free = [[pair for pair in cycle if pair not in kept] for cycle in found]
        cycle = max(free, key=lambda pairs: min((surplus.get(pair, 0.0) for pair in pairs), default=inf))
        nodes: list[_Node] = []
        for pair in sorted(cycle, key=lambda pair: surplus.get(pair, 0.0)):
            bound = value - surplus.get(pair, 0.0)
            if bound > self._floor:
                nodes.append(self._node(bound, candidate, candidate.exclusions.union([pair]), kept))
            kept |= {pair}
        return nodes

    def _node(
        self, bound: float, parent: CandidateSolution, exclusions: Exclusions, kept: frozenset[TokenPair]
    ) -> _Node:
        return _Node(-bound, next(self._serials), parent, exclusions, kept)


def _surplus_by_hop(solution: Solution) -> dict[TokenPair, float]:
    """Return the profit of each hop's trades at the solution's prices."""
    surplus: dict[TokenPair, float] = {}
    for trade in solution.trades:
        pair = (trade.arc.token_in, trade.arc.token_out)
        surplus[pair] = surplus.get(pair, 0.0) + trade.surplus
    return surplus


def _part_passed(path: Sequence[int], passed: Mapping[int, Mapping[int, float]]) -> float:
    """Return the largest part of the flow at a token of a path that has passed a later one."""
    return max(
        (passed[later].get(token, 0.0) for token, later in combinations(path, 2) if later in passed), default=0.0
    )


def _parts_passed(values: Mapping[TokenPair, float]) -> dict[int, dict[int, float]]:
    """Return, for each token, the part of the flow at other tokens that has passed it. `values` is an acyclic flow."""
    order = topological_order(values) or []
    arriving: dict[int, list[tuple[int, float]]] = {}
    for (i, j), value in values.items():
        arriving.setdefault(j, []).append((i, value))
    passed: dict[int, dict[int, float]] = {}
    for k, token in enumerate(order):
        parts = passed[token] = {token: 1.0}
        for later in order[k + 1 :]:
            total = sum(value for _, value in arriving.get(later, ()))
            if total:
                parts[later] = sum(value * parts.get(i, 0.0) for i, value in arriving[later]) / total
    return passed
