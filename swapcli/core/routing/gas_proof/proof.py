"""Prove how much more any acyclic route could pay net of gas than a given one.

The bound of the dual (`gas_dual`) is minimised over the prices of a neighbourhood: the tokens of the route, and those
that could add to it at the prices so far. Every other token has its best value in terms of these, at which no pool
gains by selling it; what its pools still gain is added, so that the bound is one of the whole market.

Where a gap is left, a pool that is worth about its gas is fixed as used and as unused (branch and bound). The largest
bound of all branches that are open is the bound of all; a branch at or below the known route is closed.

Sources of the method: fixed costs in the dual of routing, and activation bounds, arXiv 2603.02844; branch and bound,
Land and Doig (1960).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from decimal import Decimal
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from math import log
from typing import Final

from swapcli.core.model.quote import NetBound
from swapcli.core.records import NamedTuple
from swapcli.core.routing.dual_terms import exact, float_above
from swapcli.core.routing.gas_proof.gas_dual import (
    PRICE_TRIALS,
    Fixed,
    GasDual,
    PricedArc,
    least_gain_price,
    outside_gains,
    price_arcs,
    rounding_value,
)
from swapcli.core.routing.gas_proof.leaf import Leaf, prove_leaf
from swapcli.core.routing.gas_proof.token_limits import TokenLimits, token_limits
from swapcli.core.routing.graph.best_paths import price_tokens
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.solver.quasi_newton import Evaluation, minimize

_ENOUGH: Final = 2e-6  # of the net output, a fiftieth of a basis point: a smaller gap is not worth a branch
_MIN_OUTSIDE: Final = 1e-6  # of the net output: what pools outside may add before their tokens are taken in
_MAX_ROUNDS: Final = 12  # in which the neighbourhood grows. Empirical
_TOKENS_A_ROUND: Final = 8  # that join the neighbourhood
_MAX_TOKENS: Final = 32  # of the neighbourhood: the work of a step grows with their square. Empirical
_BALANCED_TOKENS: Final = 200  # outside the neighbourhood, whose prices are chosen one by one. Empirical
_ROOT_EVALUATIONS: Final = 200  # of the dual, in the first solution
_BRANCH_EVALUATIONS: Final = 80  # of the dual, in each branch
_OUTSIDE_SPEED: Final = 10  # times as fast is an arc that has no surplus. Measured
_SAME_BOUND: Final = 1e-9  # of a bound: more than floats and exact numbers differ
_WORK: Final = 250_000
"""Evaluations of arcs after which no branch is solved, about half a second: a count, so that equal orders have equal
proofs."""


class _Branch(NamedTuple):
    """A part of the routes, its bound, and the prices at which it holds; `outside` of it is what pools beyond the
    neighbourhood add."""

    bound: float
    prices: Prices
    fixed: Fixed
    outside: float


class PoolChoice(NamedTuple):
    """Arcs that pay for their gas at some prices: a route over them may be better than the known one."""

    arcs: Sequence[Arc]
    prices: Prices


class NetProof(NamedTuple):
    """The bound of an order, whether the branching ended, and the pools that are worth their gas at its prices.

    `limits` and `leaves` prove the bound; without `keeps_leaves` there are only those that may have the largest bound.
    """

    bound: Decimal
    is_complete: bool
    choices: Sequence[PoolChoice]
    limits: TokenLimits
    leaves: Sequence[Leaf]

    def against(self, problem: RoutingProblem, net: float) -> NetBound:
        """Return the bound beside a route that pays `net`, which must be above 0.

        No bound is below it, which floats might miss by a unit.
        """
        pools = {arc.pool.key for arc in problem.graph.arcs()}
        bound = max(float_above(self.bound), net)
        return NetBound(bound, (bound / net - 1.0) * 1e4, len(pools), problem.spec.max_hops, self.is_complete)


def prove_net_output(
    problem: RoutingProblem,
    prices: Prices,
    amount_in: int,
    net: float,
    tokens: Set[int],
    *,
    keeps_leaves: bool = False,
) -> NetProof:
    """Return the proof for `amount_in`, of which a known route over `tokens` pays `net`.

    `prices` are those of the search's solution. There are no choices where the gap is too small to matter.
    """
    prover = _Prover(problem, prices, amount_in, net)
    root = prover.grow(tokens)
    branches, is_complete = prover.branch(root)
    largest = branches[0]
    has_gap = largest.bound > net + abs(net) * _ENOUGH
    choices = [prover.choice(each) for each in (root, largest)] if has_gap else []
    leaves = prover.leaves(branches, keeps_all=keeps_leaves)
    return NetProof(max(leaf.bound for leaf in leaves), is_complete, choices, prover.limits, leaves)


def _of_heap(opened: Sequence[tuple[float, int, _Branch]]) -> Sequence[_Branch]:
    return [branch for _, _, branch in sorted(opened, key=_heap_order)]


def _heap_order(entry: tuple[float, int, _Branch]) -> tuple[float, int]:
    return entry[:2]


def _gain(gain: tuple[float, Arc]) -> float:
    return gain[0]


class _Prover:
    """The market of one order, and the work that its proof may still take."""

    def __init__(self, problem: RoutingProblem, prices: Prices, amount: int, net: float) -> None:
        self._problem, self._amount = problem, amount
        graph, spec = problem.graph, problem.spec
        self._prices = self._extend(prices)
        self.limits = token_limits(graph, spec.endpoints, amount, spec.max_hops, self._prices)
        self._arcs = price_arcs(list(graph.arcs()), spec, self.limits.amounts)
        self._enough = net + abs(net) * _ENOUGH
        self._min_outside = abs(net) * _MIN_OUTSIDE
        self._work = _WORK

    def grow(self, tokens: Set[int]) -> _Branch:
        """Return the least bound over neighbourhoods that begin with `tokens`, and keep the one that gave it."""
        spec = self._problem.spec
        near, prices = {*spec.endpoints, *tokens}, self._prices
        best: _Branch | None = None
        for _ in range(_MAX_ROUNDS):
            dual = GasDual(spec, float(self._amount), self._inside(near))
            branch, gains = self._solve(dual, near, _Branch(0.0, prices, Fixed(), 0.0), _ROOT_EVALUATIONS)
            if best is None or branch.bound < best.bound:
                best, self._dual, self._near = branch, dual, frozenset(near)
            added = [token for _, arc in gains for token in (arc.token_in, arc.token_out) if token not in near]
            if not gains or len(near) >= _MAX_TOKENS or best.bound <= self._enough:
                break
            near.update(list(dict.fromkeys(added))[:_TOKENS_A_ROUND])
            prices = branch.prices
        assert best is not None
        return best

    def branch(self, root: _Branch) -> tuple[Sequence[_Branch], bool]:
        """Return the branches into which `root` is split, the one with the largest bound first, and whether no further
        split lowers that."""
        number = count()
        opened = [(-root.bound, next(number), root)]
        while True:
            largest = opened[0][2]
            if largest.bound <= self._enough:
                return _of_heap(opened), True
            kink = self._dual.nearest_kink(largest.prices, largest.fixed)
            if kink is None:
                return _of_heap(opened), largest.outside <= self._min_outside
            if self._work <= 0:
                return _of_heap(opened), False
            heappop(opened)
            used, unused = largest.fixed
            for fixed in (Fixed(used | {kink}, unused), Fixed(used, unused | {kink})):
                found, _ = self._solve(self._dual, self._near, largest._replace(fixed=fixed), _BRANCH_EVALUATIONS)
                if found.bound > largest.bound:  # its prices are no better than those it began with
                    found = largest._replace(fixed=fixed)
                heappush(opened, (-found.bound, next(number), found))

    def choice(self, branch: _Branch) -> PoolChoice:
        """Return the arcs that a branch uses at its prices."""
        return PoolChoice(self._dual.used_arcs(branch.prices, branch.fixed), branch.prices)

    def leaves(self, branches: Sequence[_Branch], *, keeps_all: bool) -> Sequence[Leaf]:
        """Return the leaves of the branches in exact numbers: all, or only those that may have the largest bound."""
        if keeps_all:
            return [self._leaf(each) for each in branches]
        leaves = [self._leaf(branches[0])]
        for branch in branches[1:]:
            # In exact numbers, and with what rounding adds to it, this one may have the larger bound.
            most = branch.bound + abs(branch.bound) * _SAME_BOUND + rounding_value(self._arcs, branch.prices)
            if not exact(most) < max(leaf.bound for leaf in leaves):
                leaves.append(self._leaf(branch))
        return leaves

    def _leaf(self, branch: _Branch) -> Leaf:
        used, unused = ([self._dual.arcs[number].arc for number in sorted(each)] for each in branch.fixed)
        return prove_leaf(self._problem.spec, self._amount, self._arcs, branch.prices, (used, unused))

    def _inside(self, tokens: Set[int]) -> list[PricedArc]:
        return [each for each in self._arcs if each.arc.token_in in tokens and each.arc.token_out in tokens]

    def _solve(
        self, dual: GasDual, near: Set[int], start: _Branch, max_evaluations: int
    ) -> tuple[_Branch, list[tuple[float, Arc]]]:
        """Return a branch with the least bound found from its prices, and what each arc outside adds to it."""

        def evaluate(logarithms: Sequence[float]) -> Evaluation:
            self._work -= len(dual.arcs)
            return dual.evaluate(logarithms, start.fixed)

        found = minimize(
            evaluate,
            [log(start.prices[token]) for token in dual.tokens],
            dual.curvatures(start.prices),
            max_evaluations=max_evaluations,
            enough=self._enough,
        )
        inside = dual.prices(found.point)
        prices = self._prices | inside
        gains = outside_gains(self._arcs, prices, near)
        outside = sum(gain for gain, _ in gains)
        self._work -= len(self._arcs) // _OUTSIDE_SPEED
        if outside > self._min_outside:
            prices = self._extend(inside)
            gains = sorted(outside_gains(self._arcs, prices, near), key=_gain, reverse=True)
            self._balance(prices, near, gains)
            outside = sum(gain for gain, _ in outside_gains(self._arcs, prices, near))
            self._prices = prices
            self._work -= len(self._arcs)
        return start._replace(bound=found.value + outside, prices=prices, outside=outside), gains

    def _balance(self, prices: Prices, near: Set[int], gains: Sequence[tuple[float, Arc]]) -> None:
        """Lower what arcs outside gain by the price of each of their tokens in turn, in `prices`."""
        incident = self._incident
        tokens = dict.fromkeys(t for _, arc in gains for t in (arc.token_in, arc.token_out) if t not in near)
        for token in list(tokens)[:_BALANCED_TOKENS]:
            arcs = incident[token]
            highest = max(
                (prices.get(each.arc.token_in, 0.0) / each.arc.rate for each in arcs if each.arc.token_out == token),
                default=0.0,
            )
            if highest > prices[token]:
                prices[token] = least_gain_price(arcs, prices, token, highest)
                self._work -= len(arcs) * PRICE_TRIALS

    @cached_property
    def _incident(self) -> Mapping[int, Sequence[PricedArc]]:
        """The arcs into and out of each token."""
        incident: dict[int, list[PricedArc]] = {}
        for each in self._arcs:
            incident.setdefault(each.arc.token_in, []).append(each)
            incident.setdefault(each.arc.token_out, []).append(each)
        return incident

    def _extend(self, prices: Prices) -> Prices:
        """Return prices of all tokens that trade."""
        graph, target = self._problem.graph, self._problem.spec.target
        return price_tokens(graph, graph, prices, target)
