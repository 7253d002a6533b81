"""One order on one graph: what the steps of a search share."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from swapcli.routing.graph.market_graph import Arc, Graph
from swapcli.routing.graph.spot_prices import SpotPrices
from swapcli.routing.graph.subgraph import arcs_among
from swapcli.routing.search.flow import Link
from swapcli.routing.solver.dual import Prices
from swapcli.routing.solver.newton import MAX_ITERATIONS, Check, Solution, solve, unwatched

ROUGH, FINE, FINEST = 3e-3, 1e-4, 1e-10
"""Tolerances: while the neighbourhood grows, for a route, for a certificate."""


class SearchTimeUp(Exception):
    """Ends a search that has run out of time; it never leaves the routing core."""


class Task(NamedTuple):
    """What is asked of a search. `gas_value` is the worth of one unit of gas in base units of the target.

    `check` is called all along. It raises `Cancelled` when the answer is no longer wanted, and `SearchTimeUp` when the
    best answer so far has to do.
    """

    source: int
    target: int
    amount: int
    max_hops: int
    gas_value: float = 0.0
    check: Check = unwatched

    @property
    def ends(self) -> tuple[int, int]:
        """Source and target."""
        return self.source, self.target


class Banned(NamedTuple):
    """Directions that an acyclic route of the order cannot use beside the others: of pairs, and of single pools."""

    links: frozenset[Link] = frozenset()
    arcs: frozenset[int] = frozenset()

    def allows(self, arc: Arc) -> bool:
        """Whether `arc` may be used."""
        return (arc.token_in, arc.token_out) not in self.links and id(arc) not in self.arcs

    def also(self, links: Iterable[Link], arcs: Iterable[int] = ()) -> Banned:
        """These and more."""
        return Banned(self.links.union(links), self.arcs.union(arcs))


class Solved(NamedTuple):
    """A solution with the arcs that it was found over."""

    solution: Solution
    arcs: list[Arc]
    banned: Banned = Banned()


class Problem(NamedTuple):
    """Answers for one task: arcs to solve over, and solutions over them. No path passes through tokens to `avoid`."""

    graph: Graph
    spot: SpotPrices
    task: Task
    avoid: frozenset[int] = frozenset()

    def avoiding(self, tokens: frozenset[int]) -> Problem:
        """The same order without paths through `tokens`."""
        avoid = self.avoid | tokens
        spot = SpotPrices(self.graph, self.task.target, self.task.max_hops, self.spot.slices, avoid)
        return Problem(self.graph, spot, self.task, avoid)

    def vanishing_output(self) -> float:
        """What the order would bring at the rates of a vanishing one: about the most that it can."""
        return self.task.amount * self.spot.value(self.task.source)

    def order_value(self, prices: Prices) -> float:
        """Worth of the order's input at `prices`, in base units of the target."""
        return self.task.amount * prices[self.task.source]

    def arcs_between(self, tokens: Iterable[int], banned: Banned | None = None) -> list[Arc]:
        """The arcs between `tokens` that a route may use."""
        task = self.task
        arcs = arcs_among(self.graph, list(tokens), task.ends, task.max_hops)
        return [arc for arc in arcs if banned.allows(arc)] if banned else arcs

    def usable(self, arc: Arc, banned: Banned) -> bool:
        """Whether a route of this order may use `arc` at all."""
        return arc.token_out != self.task.source and arc.token_in != self.task.target and banned.allows(arc)

    def solve(
        self, arcs: list[Arc], prices: Prices, tolerance: float = FINE, iterations: int = MAX_ITERATIONS
    ) -> Solution:
        """The dual's minimum over `arcs`, from `prices`, or what so many iterations make of it."""
        task = self.task
        return solve(
            arcs,
            task.ends,
            float(task.amount),
            prices,
            self._ceiling,
            tolerance=tolerance,
            iterations=iterations,
            check=task.check,
        )

    def resolved(self, solved: Solved, banned: Banned) -> Solved:
        """`solved` over those of its arcs that `banned` allows, from its own prices."""
        arcs = [arc for arc in solved.arcs if banned.allows(arc)]
        return Solved(self.solve(arcs, solved.solution.prices), arcs, banned)

    def _ceiling(self, token: int) -> float:
        return self.spot.value(token) or inf
