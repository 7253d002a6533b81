"""Remove pools that are not worth their gas, by dynamic slope scaling.

A swap costs the same gas however little it trades, which is a fixed charge. The heuristic charges each pool's gas as a
fraction of its output, solves, and updates the fractions for the new flows, until they are stable. Small flows vanish;
the remaining flows grow and pay a smaller fraction, which finally equals their gas.

Source: Kim, Pardalos, A solution approach to the fixed charge network flow problem using a dynamic slope scaling
procedure, Operations Research Letters 24 (1999).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from math import inf

from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import TokenPair, edge_distances
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.search.problem import ROUGH, CandidateSolution, RoutingProblem
from swapcli.core.routing.solver.newton import Trade

_MAX_SOLVED = 3  # sets of pools whose flows are solved again without charges: those with the best estimates. Empirical
_MAX_ROUNDS = 8  # of scaling. Empirical: most orders need three to five
_FEW_REMOVED = 0.03  # of the pools: a round that removes fewer is the last. Empirical: further rounds gain nothing
_CHARGE_TOLERANCE = 0.02  # of a charge: smaller changes do not affect the flow
_MAX_CHARGE = 0.9  # of a flow: a flow with a larger charge is removed


def _charge_arc(arc: Arc, charge: float) -> Arc:
    """Return `arc` with its output reduced by a fraction that represents its gas."""
    fraction_left, trade_to_marginal_rate = _fraction_left(charge), arc.trade_to_marginal_rate

    def trade_to(rate: float) -> tuple[float, float, float]:
        amount_in, amount_out, slope = trade_to_marginal_rate(rate / fraction_left)
        return amount_in, amount_out * fraction_left, slope

    # Not a subclass: the solver's innermost loop is slower over arcs of several classes.
    charged = Arc(arc.token_in, arc.token_out, arc.pool, arc.curve)
    charged.rate, charged.trade_to_marginal_rate = arc.rate * fraction_left, trade_to
    return charged


def _fraction_left(charge: float) -> float:
    """Return the part of an arc's output that a charge leaves."""
    return 1.0 - min(charge, _MAX_CHARGE)


class _PoolSet(NamedTuple):
    """The remaining arcs, the prices of their charged solution, and their approximate output after gas."""

    net_output: float
    arcs: list[Arc]
    prices: Prices


def prune_for_gas(
    problem: RoutingProblem, candidate: CandidateSolution, max_candidates: int
) -> list[CandidateSolution]:
    """Return at most `max_candidates` solutions over fewer of the candidate's pools, best estimated net output first.

    The result is empty if every pool is worth its gas.
    """
    trades = candidate.solution.trades
    if len({trade.arc.token_in for trade in trades}) == len(trades):
        return []  # a single path: without one of its pools, nothing connects the tokens
    costs = [gas_cost(problem, trade.arc, trade.amount_in) for trade in trades]
    # Removing a pool loses at least its surplus.
    if all(cost <= trade.surplus for trade, cost in zip(trades, costs, strict=True)):
        return []
    best = nlargest(_MAX_SOLVED, _slope_scaling_sets(problem, candidate, costs), key=lambda each: each.net_output)
    solved = [CandidateSolution(problem.solve(arcs, prices), arcs, candidate.exclusions) for _, arcs, prices in best]
    return nlargest(max_candidates, solved, key=lambda each: estimated_net_output(problem, each))


def estimated_net_output(problem: RoutingProblem, candidate: CandidateSolution) -> float:
    """Return the output of a solution minus the gas of a transaction with its trades, in units of the target."""
    trades = candidate.solution.trades
    costs = [gas_cost(problem, trade.arc, trade.amount_in) for trade in trades]
    return candidate.solution.value - _total_gas(problem, trades, costs)


def _total_gas(problem: RoutingProblem, trades: Sequence[Trade], costs: Sequence[float]) -> float:
    """Return the gas of a transaction whose trades cost these amounts of gas, in units of the target."""
    router, between = problem.spec.router_gas, {trade.arc.token_in for trade in trades} - {problem.spec.source}
    return sum(costs) + (router.base + router.token_between * len(between)) * problem.spec.gas_value


def _slope_scaling_sets(
    problem: RoutingProblem, candidate: CandidateSolution, costs: Sequence[float]
) -> Iterator[_PoolSet]:
    """Yield each new set of pools that the charges lead to. `costs` are the gas costs of the candidate's trades."""
    prices, trades = candidate.solution.prices, candidate.solution.trades
    arcs = [trade.arc for trade in trades]
    charges: dict[int, float] = {}
    seen, count = {frozenset(map(id, arcs))}, len(arcs)
    for _ in range(_MAX_ROUNDS):
        new_charges = {
            id(trade.arc): _charge_fraction(trade, cost, prices) for trade, cost in zip(trades, costs, strict=True)
        }
        if all(abs(new - charges.get(arc, inf)) <= _CHARGE_TOLERANCE * new for arc, new in new_charges.items()):
            break
        charges.update(new_charges)
        uncharged = {_charge_arc(arc, charges[id(arc)]): arc for arc in arcs}
        charged = problem.solve(list(uncharged), prices, ROUGH)
        prices, trades = charged.prices, []
        for trade in charged.trades:
            arc = uncharged[trade.arc]
            amount_out = trade.amount_out / _fraction_left(charges[id(arc)])
            trades.append(trade._replace(arc=arc, amount_out=amount_out))
        costs = [gas_cost(problem, trade.arc, trade.amount_in) for trade in trades]
        remaining = [trade.arc for trade in trades if charges[id(trade.arc)] < _MAX_CHARGE]
        arc_ids = frozenset(map(id, remaining))
        if arc_ids not in seen and _connects(remaining, problem.spec.endpoints):
            charged_value = sum(
                trade.amount_out * prices[trade.arc.token_out] * min(charges[id(trade.arc)], _MAX_CHARGE)
                for trade in trades
            )
            net_output = charged.value + charged_value - _total_gas(problem, trades, costs)
            yield _PoolSet(net_output, remaining, prices)
            if count - len(remaining) <= _FEW_REMOVED * count:
                break
            count = len(remaining)
        seen.add(arc_ids)


def _charge_fraction(trade: Trade, cost: float, prices: Prices) -> float:
    """Return `cost`, the gas of a trade, as a fraction of its output."""
    value = trade.amount_out * prices[trade.arc.token_out]
    return min(cost / value, 1.0) if value else 1.0


def gas_cost(problem: RoutingProblem, arc: Arc, amount_in: float) -> float:
    """Return the gas of a swap of `amount_in` in units of the target."""
    addresses, rate = problem.graph.addresses, arc.curve.rate(amount_in)
    units = arc.pool.gas_units_to(addresses[arc.token_in], addresses[arc.token_out], rate)
    return (units + problem.spec.router_gas.each_swap) * problem.spec.gas_value


def _connects(arcs: Sequence[Arc], endpoints: TokenPair) -> bool:
    """Return whether `arcs` lead from the source to the target."""
    source, target = endpoints
    return target in edge_distances([(arc.token_in, arc.token_out) for arc in arcs], source)
