"""Fewer pools where gas is dear.

A swap costs the same gas however little it trades. Here each pool's gas is charged as a part of what flows through it,
and charged anew on what then flows: small flows give way, those that stay grow and pay a smaller part, and where
nothing shifts any more the charges are the gas.

Source: Kim, Pardalos, A solution approach to the fixed charge network flow problem using a dynamic slope scaling
procedure, Operations Research Letters 24 (1999).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from math import inf

from swapcli.routing.gas import BASE_GAS, TOKEN_BETWEEN_GAS
from swapcli.routing.graph.market_graph import Arc, Prices
from swapcli.routing.search.problem import ROUGH, CandidateSolution, RoutingProblem
from swapcli.routing.solver.newton import Trade

_ROUNDS = 8
_CHARGE_TOLERANCE = 0.02  # of a charge: changes that are smaller shift nothing
_MAX_CHARGE = 0.9  # of a flow: one that has more to pay is left out


class _GasChargedArc(Arc):
    """An arc of which a part of what it pays is kept back."""

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
    """Solutions over fewer of the pools that `solved` trades with: at most so many, those first that promise to leave
    most once gas is paid; none where every pool is worth its gas."""
    trades = candidate.solution.trades
    # A pool's surplus is the least that is lost without it.
    if all(_gas_cost(problem, trade) <= trade.surplus for trade in trades):
        return []
    return nlargest(
        max_candidates,
        _slope_scaling_candidates(problem, candidate),
        key=lambda stage: estimated_net_output(problem, stage),
    )


def estimated_net_output(problem: RoutingProblem, candidate: CandidateSolution) -> float:
    """What a solution would leave once the gas of a transaction with its trades is paid, in units of the target."""
    trades = candidate.solution.trades
    between = {trade.arc.token_in for trade in trades} - {problem.spec.source}
    units = BASE_GAS + TOKEN_BETWEEN_GAS * len(between)
    gas = sum(_gas_cost(problem, trade) for trade in trades) + units * problem.spec.gas_value
    return candidate.solution.value - gas


def _slope_scaling_candidates(problem: RoutingProblem, candidate: CandidateSolution) -> Iterator[CandidateSolution]:
    """A solution for each set of pools that the charges lead to."""
    prices, trades = candidate.solution.prices, candidate.solution.trades
    arcs = [trade.arc for trade in trades]
    charges: dict[int, float] = {}
    seen = {frozenset(map(id, arcs))}
    for _ in range(_ROUNDS):
        new_charges = {id(trade.arc): _charge_fraction(problem, trade, prices) for trade in trades}
        if all(
            abs(new_charges[arc] - charges.get(arc, inf)) <= _CHARGE_TOLERANCE * new_charges[arc] for arc in new_charges
        ):
            break
        charges.update(new_charges)
        charged = problem.solve([_GasChargedArc(arc, charges[id(arc)]) for arc in arcs], prices, ROUGH)
        prices, trades = charged.prices, [_without_charge(trade) for trade in charged.trades]
        left = [trade.arc for trade in trades if charges[id(trade.arc)] < _MAX_CHARGE]
        these = frozenset(map(id, left))
        if these not in seen and _connects(left, problem.spec.endpoints):
            yield CandidateSolution(problem.solve(left, prices), left, candidate.exclusions)
        seen.add(these)


def _charge_fraction(problem: RoutingProblem, trade: Trade, prices: Prices) -> float:
    """A pool's gas as a part of what it pays."""
    value = trade.amount_out * prices[trade.arc.token_out]
    return min(_gas_cost(problem, trade) / value, 1.0) if value else 1.0


def _without_charge(trade: Trade) -> Trade:
    assert isinstance(trade.arc, _GasChargedArc)
    return trade._replace(arc=trade.arc.arc, amount_out=trade.amount_out / trade.arc.fraction_left)


def _gas_cost(problem: RoutingProblem, trade: Trade) -> float:
    """A trade's gas in units of the target."""
    arc, addresses = trade.arc, problem.graph.addresses
    rate = arc.curve.rate(trade.amount_in)
    units = arc.pool.gas_units_to(addresses[arc.token_in], addresses[arc.token_out], rate)
    return units * problem.spec.gas_value


def _connects(arcs: Sequence[Arc], endpoints: tuple[int, int]) -> bool:
    """Whether `arcs` lead from the source to the target."""
    source, target = endpoints
    reached = {source}
    while more := {arc.token_out for arc in arcs if arc.token_in in reached} - reached:
        reached |= more
    return target in reached
