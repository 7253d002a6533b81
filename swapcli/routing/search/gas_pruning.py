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
from swapcli.routing.graph.market_graph import Arc
from swapcli.routing.search.problem import ROUGH, Problem, Solved
from swapcli.routing.solver.dual import Prices
from swapcli.routing.solver.newton import Trade

_ROUNDS = 8
_AT_REST = 0.02  # of a charge: changes that are smaller shift nothing
_MOST_CHARGED = 0.9  # of a flow: one that has more to pay is left out


class _Charged(Arc):
    """An arc of which a part of what it pays is kept back."""

    __slots__ = ("arc", "left")

    def __init__(self, arc: Arc, charge: float) -> None:
        self.token_in, self.token_out, self.pool, self.curve = arc.token_in, arc.token_out, arc.pool, arc.curve
        self.arc, self.left = arc, 1.0 - min(charge, _MOST_CHARGED)
        self.rate, self.trade_to = arc.rate * self.left, self._trade_to

    def _trade_to(self, rate: float) -> tuple[float, float, float]:
        amount_in, amount_out, slope = self.arc.trade_to(rate / self.left)
        return amount_in, amount_out * self.left, slope


def thinned(problem: Problem, solved: Solved, most: int) -> list[Solved]:
    """Solutions over fewer of the pools that `solved` trades with: at most so many, those first that promise to leave
    most once gas is paid; none where every pool is worth its gas."""
    trades = solved.solution.trades
    # A pool's surplus is the least that is lost without it.
    if all(_gas_worth(problem, trade) <= trade.surplus for trade in trades):
        return []
    return nlargest(most, _stages(problem, solved), key=lambda stage: promise(problem, stage))


def promise(problem: Problem, solved: Solved) -> float:
    """What a solution would leave once the gas of a transaction with its trades is paid, in units of the target."""
    trades = solved.solution.trades
    between = {trade.arc.token_in for trade in trades} - {problem.task.source}
    units = BASE_GAS + TOKEN_BETWEEN_GAS * len(between)
    gas = sum(_gas_worth(problem, trade) for trade in trades) + units * problem.task.gas_value
    return solved.solution.value - gas


def _stages(problem: Problem, solved: Solved) -> Iterator[Solved]:
    """A solution for each set of pools that the charges lead to."""
    prices, trades = solved.solution.prices, solved.solution.trades
    arcs = [trade.arc for trade in trades]
    charges: dict[int, float] = {}
    seen = {frozenset(map(id, arcs))}
    for _ in range(_ROUNDS):
        anew = {id(trade.arc): _charge(problem, trade, prices) for trade in trades}
        if all(abs(anew[arc] - charges.get(arc, inf)) <= _AT_REST * anew[arc] for arc in anew):
            break
        charges.update(anew)
        charged = problem.solve([_Charged(arc, charges[id(arc)]) for arc in arcs], prices, ROUGH)
        prices, trades = charged.prices, [_uncharged(trade) for trade in charged.trades]
        left = [trade.arc for trade in trades if charges[id(trade.arc)] < _MOST_CHARGED]
        these = frozenset(map(id, left))
        if these not in seen and _are_joined(left, problem.task.ends):
            yield Solved(problem.solve(left, prices), left, solved.banned)
        seen.add(these)


def _charge(problem: Problem, trade: Trade, prices: Prices) -> float:
    """A pool's gas as a part of what it pays."""
    worth = trade.amount_out * prices[trade.arc.token_out]
    return min(_gas_worth(problem, trade) / worth, 1.0) if worth else 1.0


def _uncharged(trade: Trade) -> Trade:
    assert isinstance(trade.arc, _Charged)
    return trade._replace(arc=trade.arc.arc, amount_out=trade.amount_out / trade.arc.left)


def _gas_worth(problem: Problem, trade: Trade) -> float:
    """A trade's gas in units of the target."""
    arc, addresses = trade.arc, problem.graph.addresses
    rate = arc.curve.rate(trade.amount_in)
    units = arc.pool.gas_units_to(addresses[arc.token_in], addresses[arc.token_out], rate)
    return units * problem.task.gas_value


def _are_joined(arcs: Sequence[Arc], ends: tuple[int, int]) -> bool:
    """Whether `arcs` lead from the source to the target."""
    source, target = ends
    reached = {source}
    while more := {arc.token_out for arc in arcs if arc.token_in in reached} - reached:
        reached |= more
    return target in reached
