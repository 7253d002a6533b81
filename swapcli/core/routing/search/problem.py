"""One order on one graph: the data and solver calls that all steps of a search share."""

from __future__ import annotations

from collections.abc import Iterable, Set
from math import inf

from swapcli.core.model.quote import WHOLE_PERCENTS, WeiValue
from swapcli.core.model.router_execution import OWN_ROUTER_GAS, RouterGas
from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import CancelCheck, no_cancellation
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph, Prices
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.search.order_flow import flow_values
from swapcli.core.routing.solver.constants import MAX_ITERATIONS
from swapcli.core.routing.solver.newton import Solution, minimize_dual

ROUGH, FINE, FINEST = 3e-3, 3e-4, 1e-10
"""The solver tolerances while the active set grows, for a route, and for a certificate.

Empirical: at `FINE`, solutions are within 0.1 basis points of the optimum, which is less than the loss from rounding to
whole percents.
"""
MAX_RESIDUAL = 1e-2  # of a solution: above it, flows are inaccurate
MUCH_ARBITRAGE = 1e-2
"""The fraction of an order's value by which an unrestricted solution with many cycles exceeds the acyclic ones.

Real states are below it; states pushed by large swaps are above it.
"""
_MIN_GAIN = 1e-6  # of a solution's value: a hundredth of a basis point
_MIN_GAIN_UNITS = 2.0  # base units of the target: rounding alone may cause this much
LOW_PRECISION_UNITS = 30_000
"""A balance with fewer base units may lose more than 0.3 basis points by rounding down."""


class SwapSpec(NamedTuple):
    """One swap on a graph. Tokens are numbers; `gas_value` is the value of one unit of gas in base units of the target.

    `router_gas` is the gas that the router takes besides the swaps of pools. `check` is called regularly. It raises
    `Cancelled` when the caller cancels, and `SearchTimeUp` when the time for the search is up. The shares of segments
    are multiples of `share_step`, in hundredths of a percent; it divides 100. `cent` is a US cent in base units of the
    target, 0.0 if unknown. `gas_value` is derived from `wei_value`, which is None if unknown.
    """

    source: int
    target: int
    amount: int
    max_hops: int
    gas_value: float = 0.0
    check: CancelCheck = no_cancellation
    share_step: int = WHOLE_PERCENTS
    router_gas: RouterGas = OWN_ROUTER_GAS
    cent: float = 0.0
    wei_value: WeiValue | None = None

    @property
    def endpoints(self) -> tuple[int, int]:
        """The numbers of the order's two tokens: (source, target)."""
        return self.source, self.target


class Exclusions(NamedTuple):
    """Token pairs, and IDs of single arcs, that an acyclic route must not use."""

    pairs: frozenset[TokenPair] = frozenset()
    arcs: frozenset[int] = frozenset()

    def without(self, pairs: Set[TokenPair], arcs: Set[int]) -> Exclusions:
        """Return these exclusions without the given pairs and arcs."""
        return Exclusions(self.pairs - pairs, self.arcs - arcs)

    def allows(self, arc: Arc) -> bool:
        """Return whether `arc` may be used."""
        return (arc.token_in, arc.token_out) not in self.pairs and id(arc) not in self.arcs

    def union(self, pairs: Iterable[TokenPair], arcs: Iterable[int] = ()) -> Exclusions:
        """Return these exclusions plus the given pairs and arcs."""
        return Exclusions(self.pairs.union(pairs), self.arcs.union(arcs))


class CandidateSolution(NamedTuple):
    """A solution, the arcs it was solved over, and the exclusions that determined them."""

    solution: Solution
    arcs: list[Arc]
    exclusions: Exclusions = Exclusions()


class RoutingProblem(NamedTuple):
    """An order on a graph with its spot prices."""

    graph: MarketGraph
    spot: SpotPrices
    spec: SwapSpec

    @property
    def min_swap_gas_cost(self) -> float:
        """The least gas of a swap, in units of the target."""
        return self.spec.gas_value * (self.graph.min_swap_gas + self.spec.router_gas.each_swap)

    def min_gain(self, output: float, unit: float = 1.0) -> float:
        """Return the largest gain over an `output` that is too small to be worth any work: a cent, 0.01 basis points or
        two units.

        `unit` is the value of a base unit of the coarsest token, in units of the target.
        """
        return max(self.spec.cent, _MIN_GAIN * output, _MIN_GAIN_UNITS * unit)

    def min_reordering_gain(self, solution: Solution) -> float:
        """Return the smallest gain for which other token orders are worth a search: they usually add a swap."""
        return max(self.min_gain(solution.value), self.min_swap_gas_cost)

    def spot_output(self) -> float:
        """Return the output at spot prices: about the most that any route can pay."""
        return self.spec.amount * self.spot.value(self.spec.source)

    def order_value(self, prices: Prices) -> float:
        """Return the value of the order's input at `prices`, in base units of the target."""
        return self.spec.amount * prices[self.spec.source]

    def used_prices(self, solution: Solution) -> Prices:
        """Return the prices of the tokens that carry flow."""
        used = set(self.spec.endpoints).union(*flow_values(solution))
        return {t: price for t, price in solution.prices.items() if t in used}

    def arcs_between(self, tokens: Iterable[int], exclusions: Exclusions | None = None) -> list[Arc]:
        """Return the arcs between `tokens` that a route may use."""
        spec = self.spec
        arcs = self.graph.arcs_between(list(tokens), spec.endpoints, spec.max_hops)
        return [arc for arc in arcs if exclusions.allows(arc)] if exclusions else arcs

    def is_usable(self, arc: Arc, exclusions: Exclusions) -> bool:
        """Return whether a route of this order may use `arc` at all."""
        return arc.token_out != self.spec.source and arc.token_in != self.spec.target and exclusions.allows(arc)

    def solve(
        self,
        arcs: list[Arc],
        prices: Prices,
        tolerance: float = FINE,
        max_iterations: int = MAX_ITERATIONS,
        floor: float = -inf,
    ) -> Solution:
        """Minimise the dual over `arcs`, starting at `prices`, in at most `max_iterations` iterations or until the dual
        is at most `floor`."""
        spec = self.spec
        return minimize_dual(
            arcs,
            spec.endpoints,
            float(spec.amount),
            prices,
            tolerance=tolerance,
            max_iterations=max_iterations,
            floor=max(floor, 1.0),  # no route pays a fraction of a unit
            check=spec.check,
        )

    def solve_excluding(
        self, candidate: CandidateSolution, exclusions: Exclusions, floor: float = -inf
    ) -> CandidateSolution:
        """Solve again over the candidate's arcs that `exclusions` allow, starting at its prices; see `solve`."""
        arcs = [arc for arc in candidate.arcs if exclusions.allows(arc)]
        return CandidateSolution(self.solve(arcs, candidate.solution.prices, floor=floor), arcs, exclusions)
