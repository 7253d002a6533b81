"""Improves an acyclic flow by detours over hops that it leaves out.

Which hops break the cycles of a market with arbitrage is a choice, and excluding one may leave out a path that pays.
Local search over these choices: a path of excluded or unused hops that pays more than the flow's prices between two of
its tokens enters the flow, other hops leave it where that closes a cycle, and the dual over the new hops says whether
the exchange pays. The dual bounds what an exchange can bring at any prices, so that most of them end early.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import combinations
from math import log

from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import TokenPair, topological_order
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.search.acyclic import break_other_cycles, notable_flow
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem

_MAX_HOPS = 4  # of a detour. Empirical: with three, some orders lose a basis point
_MAX_FRONT = 16  # tokens that a hop starts from. Empirical: more rarely find another detour
_SLICES = (1 / 32, 1 / 512)  # of the order, sent over a detour to see what it pays: first large ones. Empirical
_WIDE = 1 / 8  # of the order: a token that carries as much ends a detour. Empirical
_MIN_GAIN = 2e-6  # of the order's value: a fiftieth of a basis point
_MAX_SOLVED, _MAX_FAILED = 40, 6  # detours solved for, in all and in a row. Empirical; bounds the work
_SAME_VALUE = 1e-7  # relative: a smaller gain is within the solver's tolerance
_SAME_SOLUTION = 1e-8  # relative: of the values of solutions


class _Path(NamedTuple):
    """How much of a token a slice of the order buys, the hops over which it does, and the cost of a unit of each token
    on the way, in units of the target."""

    amount: float
    hops: tuple[TokenPair, ...] = ()
    costs: tuple[tuple[int, float], ...] = ()


class _Detour(NamedTuple):
    """A path between two tokens of a flow, and about what it gains, as a part of the order's value.

    It leads backward if flow that it would carry has passed a later token of the path.
    """

    is_backward: bool
    gain: float
    path: _Path


class AcyclicDetours:
    """Adds detours to the acyclic solutions of one problem, which share what they know of its market."""

    def __init__(self, problem: RoutingProblem) -> None:
        self._problem = problem
        self._onward: dict[int, list[tuple[float, int]]] = {}

    def improve(self, candidates: Sequence[CandidateSolution]) -> list[CandidateSolution]:
        """Return the better solutions that detours make of acyclic `candidates`, the best first.

        Of candidates of about the same value, which mostly have the same flow, one is improved.
        """
        distinct = {round(log(each.solution.value) / _SAME_SOLUTION): each for each in candidates}.values()
        improved = [better for each in distinct if (better := self.add_detours(each)) is not each]
        return sorted(improved, key=lambda each: -each.solution.value)

    def add_detours(self, candidate: CandidateSolution) -> CandidateSolution:
        """Return `candidate`, an acyclic solution, with detours while these pay: first those that carry much."""
        solved = 0
        for fraction in _SLICES:
            failed = 0
            while failed < _MAX_FAILED and solved < _MAX_SOLVED:
                better = None
                for detour in self._detours(candidate, fraction):
                    solved += 1
                    better = _with_path(self._problem, candidate, detour.path)
                    failed = 0 if better else failed + 1
                    if better or failed >= _MAX_FAILED or solved >= _MAX_SOLVED:
                        break
                if better is None:
                    break
                candidate = better
        return candidate

    def _detours(self, candidate: CandidateSolution, fraction: float) -> list[_Detour]:
        """Return the detours that pay for a slice of that fraction of the order.

        Those that lead forward come first, and among these and the others the largest estimated gain.
        """
        problem, prices = self._problem, candidate.solution.prices
        values, order_value = notable_flow(problem, candidate.solution), problem.order_value(prices)
        slice_value, min_gain = order_value * fraction, max(_MIN_GAIN, problem.min_swap_gas_cost / order_value)
        source, target = problem.spec.endpoints
        parts = {target: 1.0}
        for (token, _), value in values.items():
            parts[token] = parts.get(token, 0.0) + value / order_value
        passed = _parts_passed(values)
        found: list[_Detour] = []
        for start, part in parts.items():
            if start == target:
                continue
            for path in self._paths(start, slice_value / prices[start], slice_value, parts):
                end = path.hops[-1][1]
                gain = min(1.0, part) * (path.amount * prices[end] / slice_value - 1.0)
                if gain <= min_gain or end == source or values.keys() >= set(path.hops):
                    continue
                # What reaches a token through a later one of the path cannot go back there.
                part_passed = _part_passed(path.hops, passed)
                gain *= 1.0 - part_passed
                if gain > min_gain:
                    found.append(_Detour(part_passed > 0.0, gain, path))
        return sorted(found, key=lambda detour: (detour.is_backward, -detour.gain))

    def _paths(self, start: int, amount: float, slice_value: float, parts: Mapping[int, float]) -> Iterator[_Path]:
        """Yield the best paths of a slice from `start` to each token that carries a part of the flow.

        A path ends at a token that carries much: what pays from there on is a detour of its own. No token is worth more
        than its spot price.
        """
        front = {start: _Path(amount)}
        for _ in range(_MAX_HOPS):
            reached: dict[int, _Path] = {}
            for token, (held, hops, costs) in front.items():
                arcs_by_token, min_worth = self._problem.graph.arcs_by_pair[token], slice_value / held
                for worth, onward in self._hops_onward(token):
                    if worth <= min_worth:
                        break
                    part = parts.get(onward, -1.0)
                    least = reached[onward].amount if onward in reached and part < 0.0 else 0.0
                    if onward == start or any(pair[0] == onward for pair in hops):
                        continue
                    paid = _best_output(arcs_by_token[onward], held, least)
                    if paid <= least:
                        continue
                    path = _Path(paid, (*hops, (token, onward)), (*costs, (onward, slice_value / paid)))
                    if part >= 0.0:
                        yield path
                    if part < _WIDE and (onward not in reached or paid > reached[onward].amount):
                        reached[onward] = path
            front = self._most_valuable(reached)

    def _most_valuable(self, reached: dict[int, _Path]) -> dict[int, _Path]:
        """Return the states worth most, as many as one hop starts from."""
        if len(reached) <= _MAX_FRONT:
            return reached
        values = self._problem.spot.values
        return dict(nlargest(_MAX_FRONT, reached.items(), key=lambda entry: entry[1].amount * values[entry[0]]))

    def _hops_onward(self, token: int) -> list[tuple[float, int]]:
        """Return (the most that a unit of `token` may bring, next token) for each hop, the best first."""
        known = self._onward.get(token)
        if known is None:
            problem = self._problem
            rates, values = problem.graph.best_rate_out[token], problem.spot.values
            onward = [(rate * values.get(j, 0.0), j) for j, rate in rates.items() if j not in problem.avoided_tokens]
            known = self._onward[token] = sorted(onward, reverse=True)
        return known


def _best_output(arcs: Sequence[Arc], amount_in: float, least: float) -> float:
    """Return what the best of parallel arcs pays, or `least` if that is more; the best spot rate comes first."""
    for arc in arcs:
        if amount_in * arc.rate <= least:
            break
        if amount_in <= arc.curve.capacity:
            least = max(least, arc.curve.amount_out(amount_in))
    return least


def _with_path(problem: RoutingProblem, candidate: CandidateSolution, path: _Path) -> CandidateSolution | None:
    """Return the solution over the hops of `candidate` and a path; None if it is no better.

    Only tokens of the flow and the path take part: fewer arcs are solved faster.
    """
    hops, floor = frozenset(path.hops), candidate.solution.value * (1.0 + _SAME_VALUE)
    tokens = {token for pair in notable_flow(problem, candidate.solution) for token in pair}
    added = [arc for i, j in path.hops for arc in problem.graph.arcs_by_pair[i][j]]
    arcs = [
        arc
        for arc in candidate.arcs
        if arc.token_in in tokens and arc.token_out in tokens and (arc.token_in, arc.token_out) not in hops
    ] + added
    exclusions = candidate.exclusions.without(hops, {id(arc) for arc in added})
    prices = dict(path.costs) | candidate.solution.prices
    solution = problem.solve(arcs, prices, floor=floor)
    return break_other_cycles(problem, CandidateSolution(solution, arcs, exclusions), hops, floor)


def _part_passed(hops: Sequence[TokenPair], passed: Mapping[int, Mapping[int, float]]) -> float:
    """Return the largest part of the flow at a token of a path that has passed a later one."""
    tokens = [hops[0][0], *(onward for _, onward in hops)]
    return max(
        (passed[later].get(token, 0.0) for token, later in combinations(tokens, 2) if later in passed), default=0.0
    )


def _parts_passed(values: Mapping[TokenPair, float]) -> dict[int, dict[int, float]]:
    """Return for each token which part of the flow at others has passed it; `values` are those of an acyclic flow."""
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
