"""One order on one graph: what the steps of a search share."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from swapcli.routing.cancellation import CancelCheck, no_cancellation
from swapcli.routing.graph.digraph import TokenPair
from swapcli.routing.graph.market_graph import Arc, MarketGraph, Prices
from swapcli.routing.graph.spot_prices import SpotPrices
from swapcli.routing.graph.subgraph import arcs_between
from swapcli.routing.solver.constants import MAX_ITERATIONS
from swapcli.routing.solver.newton import Solution, minimize_dual

ROUGH, FINE, FINEST = 3e-3, 1e-4, 1e-10
"""Tolerances: while the neighbourhood grows, for a route, for a certificate."""


class SwapSpec(NamedTuple):
    """What is asked of a search. `gas_value` is the worth of one unit of gas in base units of the target.

    `check` is called all along. It raises `Cancelled` when the answer is no longer wanted, and `SearchTimeUp` when the
    best answer so far has to do.
    """

    source: int
    target: int
    amount: int
    max_hops: int
    gas_value: float = 0.0
    check: CancelCheck = no_cancellation

    @property
    def endpoints(self) -> tuple[int, int]:
        """Source and target."""
        return self.source, self.target


class Exclusions(NamedTuple):
    """Directions that an acyclic route of the order cannot use beside the others: of pairs, and of single pools."""

    pairs: frozenset[TokenPair] = frozenset()
    arcs: frozenset[int] = frozenset()

    def allows(self, arc: Arc) -> bool:
        """Whether `arc` may be used."""
        return (arc.token_in, arc.token_out) not in self.pairs and id(arc) not in self.arcs

    def union(self, pairs: Iterable[TokenPair], arcs: Iterable[int] = ()) -> Exclusions:
        """These and more."""
        return Exclusions(self.pairs.union(pairs), self.arcs.union(arcs))


class CandidateSolution(NamedTuple):
    """A solution with the arcs that it was found over."""

    solution: Solution
    arcs: list[Arc]
    exclusions: Exclusions = Exclusions()


class RoutingProblem(NamedTuple):
    """Answers for one task: arcs to solve over, and solutions over them. No path passes through tokens to `avoid`."""

    graph: MarketGraph
    spot: SpotPrices
    spec: SwapSpec
    avoided_tokens: frozenset[int] = frozenset()

    def without_tokens(self, tokens: frozenset[int]) -> RoutingProblem:
        """The same order without paths through `tokens`."""
        avoided = self.avoided_tokens | tokens
        spot = SpotPrices(self.graph, self.spec.target, self.spec.max_hops, self.spot.slices, avoided)
        return RoutingProblem(self.graph, spot, self.spec, avoided)

    def spot_output(self) -> float:
        """What the order would bring at the rates of a vanishing one: about the most that it can."""
        return self.spec.amount * self.spot.value(self.spec.source)

    def order_value(self, prices: Prices) -> float:
        """Worth of the order's input at `prices`, in base units of the target."""
        return self.spec.amount * prices[self.spec.source]

    def arcs_between(self, tokens: Iterable[int], exclusions: Exclusions | None = None) -> list[Arc]:
        """The arcs between `tokens` that a route may use."""
        task = self.spec
        arcs = arcs_between(self.graph, list(tokens), task.endpoints, task.max_hops)
        return [arc for arc in arcs if exclusions.allows(arc)] if exclusions else arcs

    def is_usable(self, arc: Arc, exclusions: Exclusions) -> bool:
        """Whether a route of this order may use `arc` at all."""
        return arc.token_out != self.spec.source and arc.token_in != self.spec.target and exclusions.allows(arc)

    def solve(
        self, arcs: list[Arc], prices: Prices, tolerance: float = FINE, max_iterations: int = MAX_ITERATIONS
    ) -> Solution:
        """The dual's minimum over `arcs`, from `prices`, or what so many iterations make of it."""
        task = self.spec
        return minimize_dual(
            arcs,
            task.endpoints,
            float(task.amount),
            prices,
            self._ceiling,
            tolerance=tolerance,
            max_iterations=max_iterations,
            check=task.check,
        )

    def solve_excluding(self, candidate: CandidateSolution, exclusions: Exclusions) -> CandidateSolution:
        """`solved` over those of its arcs that `exclusions` allows, from its own prices."""
        arcs = [arc for arc in candidate.arcs if exclusions.allows(arc)]
        return CandidateSolution(self.solve(arcs, candidate.solution.prices), arcs, exclusions)

    def _ceiling(self, token: int) -> float:
        return self.spot.value(token) or inf
