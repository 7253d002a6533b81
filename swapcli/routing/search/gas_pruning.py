"""Removes pools that are not worth their gas, by dynamic slope scaling.

A swap costs the same gas however little it trades: a fixed charge. The heuristic charges each pool's gas as a fraction
of its output, solves, and updates the fractions for the new flows, until they are stable. Small flows vanish; those
that remain grow and pay a smaller fraction, which finally equals their gas.

Source: Kim, Pardalos, A solution approach to the fixed charge network flow problem using a dynamic slope scaling
procedure, Operations Research Letters 24 (1999).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from math import inf

from swapcli.routing.graph.digraph import TokenPair, edge_distances
from swapcli.routing.graph.market_graph import Arc, Prices
from swapcli.routing.search.problem import ROUGH, CandidateSolution, RoutingProblem
from swapcli.routing.solver.newton import Trade

_MAX_ROUNDS = 8  # of scaling. Empirical: most orders need three to five
_FEW_REMOVED = 0.01  # of the pools: a round that removes fewer is the last. Empirical: the rest gains nothing
_CHARGE_TOLERANCE = 0.02  # of a charge: smaller changes move no flow
_MAX_CHARGE = 0.9  # of a flow: a flow with a larger charge is removed


class _GasChargedArc(Arc):
    """An arc whose output is reduced by a fraction that stands for its gas."""

    __slots__ = ("arc", "fraction_left")

    def __init__(self, arc: Arc, charge: float) -> None:
        self.token_in, self.token_out, self.pool, self.curve = arc.token_in, arc.token_out, arc.pool, arc.curve
        self.arc, self.fraction_left = arc, 1.0 - min(charge, _MAX_CHARGE)
        self.rate, self.trade_to_marginal_rate = arc.rate * self.fraction_left, self._trade_to

    def _trade_to(self, rate: float) -> tuple[float, float, float]:
        amount_in, amount_out, slope = self.arc.trade_to_marginal_rate(rate / self.fraction_left)
        return amount_in, amount_out * self.fraction_left, slope


def prune_for_gas(
    problem: RoutingProblem, candidate: CandidateSolution, max_candidates: int
) -> list[CandidateSolution]:
    """Return at most `max_candidates` solutions over fewer of the candidate's pools, best estimated net output first.

    Empty when every pool is worth its gas.
    """
    trades = candidate.solution.trades
    if len({trade.arc.token_in for trade in trades}) == len(trades):
        return []  # a single path: nothing connects without one of its pools
    # Removing a pool loses at least its surplus.
    if all(gas_cost(problem, trade) <= trade.surplus for trade in trades):
        return []
    pruned = _slope_scaling_candidates(problem, candidate)
    return nlargest(max_candidates, pruned, key=lambda each: estimated_net_output(problem, each))


def estimated_net_output(problem: RoutingProblem, candidate: CandidateSolution) -> float:
    """Return the output of a solution minus the gas of a transaction with its trades, in units of the target."""
    trades, router = candidate.solution.trades, problem.spec.router_gas
    between = {trade.arc.token_in for trade in trades} - {problem.spec.source}
    units = router.base + router.token_between * len(between)
    gas = sum(gas_cost(problem, trade) for trade in trades) + units * problem.spec.gas_value
    return candidate.solution.value - gas


def _slope_scaling_candidates(problem: RoutingProblem, candidate: CandidateSolution) -> Iterator[CandidateSolution]:
    """Yield a solution for each new set of pools that the charges lead to."""
    prices, trades = candidate.solution.prices, candidate.solution.trades
    arcs = [trade.arc for trade in trades]
    charges: dict[int, float] = {}
    seen, count = {frozenset(map(id, arcs))}, len(arcs)
    for _ in range(_MAX_ROUNDS):
        new_charges = {id(trade.arc): _charge_fraction(problem, trade, prices) for trade in trades}
        if all(abs(new - charges.get(arc, inf)) <= _CHARGE_TOLERANCE * new for arc, new in new_charges.items()):
            break
        charges.update(new_charges)
        charged = problem.solve([_GasChargedArc(arc, charges[id(arc)]) for arc in arcs], prices, ROUGH)
        prices, trades = charged.prices, [_without_charge(trade) for trade in charged.trades]
        remaining = [trade.arc for trade in trades if charges[id(trade.arc)] < _MAX_CHARGE]
        arc_ids = frozenset(map(id, remaining))
        if arc_ids not in seen and _connects(remaining, problem.spec.endpoints):
            yield CandidateSolution(problem.solve(remaining, prices), remaining, candidate.exclusions)
            if count - len(remaining) <= _FEW_REMOVED * count:
                break
            count = len(remaining)
        seen.add(arc_ids)


def _charge_fraction(problem: RoutingProblem, trade: Trade, prices: Prices) -> float:
    """Return the gas of a trade as a fraction of its output."""
    value = trade.amount_out * prices[trade.arc.token_out]
    return min(gas_cost(problem, trade) / value, 1.0) if value else 1.0


def _without_charge(trade: Trade) -> Trade:
    assert isinstance(trade.arc, _GasChargedArc)
    return trade._replace(arc=trade.arc.arc, amount_out=trade.amount_out / trade.arc.fraction_left)


def gas_cost(problem: RoutingProblem, trade: Trade) -> float:
    """Return the gas of a trade in units of the target."""
    arc, addresses = trade.arc, problem.graph.addresses
    rate = arc.curve.rate(trade.amount_in)
    units = arc.pool.gas_units_to(addresses[arc.token_in], addresses[arc.token_out], rate)
    return (units + problem.spec.router_gas.each_swap) * problem.spec.gas_value


def _connects(arcs: Sequence[Arc], endpoints: TokenPair) -> bool:
    """Return whether `arcs` lead from the source to the target."""
    source, target = endpoints
    return target in edge_distances([(arc.token_in, arc.token_out) for arc in arcs], source)
