"""The bound of a branch in exact numbers, with the terms that prove it: what the document of a proof holds."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import inf

from swapcli.core.records import NamedTuple
from swapcli.core.routing.dual_terms import DOWN, UP, ArcTerm, effective_price, exact, lowered, term_of
from swapcli.core.routing.gas_proof.gas_dual import PricedArc
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.search.problem import SwapSpec


class Leaf(NamedTuple):
    """A branch that is not split: the arcs its routes use and do not use, and its bound at `prices`, by `terms`."""

    used: Sequence[Arc]
    unused: Sequence[Arc]
    prices: Prices
    terms: Sequence[ArcTerm]
    bound: Decimal


def prove_leaf(
    spec: SwapSpec,
    amount: int,
    arcs: Sequence[PricedArc],
    prices: Prices,
    fixed: tuple[Sequence[Arc], Sequence[Arc]],
) -> Leaf:
    """Return the leaf of the routes that use the first of the `fixed` arcs and not the second, over all `arcs`.

    Its bound is the dual of `gas_dual`, where every token between is charged its gas.
    """
    used, unused = ({id(arc) for arc in each} for each in fixed)
    gains, terms = dict[int, Decimal](), list[ArcTerm]()
    unit_value = exact(spec.gas_value)
    for each in arcs:
        term = _term(each, prices, id(each.arc) in used) if id(each.arc) not in unused else None
        if term is not None:
            terms.append(term)
            gain = UP.subtract(exact(term.value), DOWN.multiply(unit_value, Decimal(each.gas_units)))
            if id(each.arc) not in used:
                gain = max(gain, Decimal(0))
            token = each.arc.token_in
            gains[token] = UP.add(gains.get(token, Decimal(0)), gain)
    entered = {arc.token_in for arc in fixed[0]}
    bound = UP.multiply(Decimal(amount), exact(prices[spec.source]))
    bound = UP.subtract(bound, DOWN.multiply(unit_value, Decimal(spec.router_gas.base)))
    token_gas = DOWN.multiply(unit_value, Decimal(spec.router_gas.token_between))
    for token, gain in gains.items():
        net = gain if token == spec.source else UP.subtract(gain, token_gas)
        if net > 0 or token in entered:
            bound = UP.add(bound, net)
    return Leaf(*fixed, prices, terms, bound if not bound.is_nan() else Decimal(inf))


def _term(each: PricedArc, prices: Prices, is_used: bool) -> ArcTerm | None:
    """Return the term of an arc; None if it does not pay for its gas and need not be used."""
    arc = each.arc
    price_in, price_out = lowered(prices.get(arc.token_in, 0.0)), prices.get(arc.token_out, 0.0)
    if price_out * arc.unit_rate <= price_in and not is_used:
        return None
    price_out = effective_price(arc, price_out)
    _, amount_in, amount_out, _ = each.best_trade(price_in, price_out)
    term = term_of(arc, amount_in, amount_out, price_in, price_out)
    return term if term.value > each.gas or is_used else None
