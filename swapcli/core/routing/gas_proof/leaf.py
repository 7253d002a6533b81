"""Compute the exact bound of a branch, with the rates and terms that prove it, as in a proof document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import inf

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple
from swapcli.core.routing.dual_terms import DOWN, UP, ArcTerm, effective_price, exact, lowered, term_of
from swapcli.core.routing.gas_proof.gas_dual import PricedArc
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.search.problem import SwapSpec

_JUST_BELOW: Final = 1.0 - 1e-12  # of a rate: beyond its float error


class Conditions(NamedTuple):
    """The conditions of a branch.

    They are the arcs, by number, that the branch's routes use, the arcs that they do not use, and pairs of tokens of
    which the first comes before the second. `order` has these pairs and all pairs that they imply.
    """

    used: frozenset[int] = frozenset()
    unused: frozenset[int] = frozenset()
    before: frozenset[TokenPair] = frozenset()
    order: frozenset[TokenPair] = frozenset()

    def using(self, arc: int) -> Conditions:
        """Return these conditions with the arc added to the used arcs."""
        return self._replace(used=self.used | {arc})

    def without(self, arc: int) -> Conditions:
        """Return these conditions with the arc added to the unused arcs."""
        return self._replace(unused=self.unused | {arc})

    def ordering(self, first: int, second: int) -> Conditions:
        """Return these conditions with the added condition that `first` comes before `second`."""
        firsts = {first, *(i for i, j in self.order if j == first)}
        seconds = {second, *(j for i, j in self.order if i == second)}
        order = self.order.union((i, j) for i in firsts for j in seconds)
        return self._replace(before=self.before | {(first, second)}, order=order)

    def allows(self, hop: TokenPair) -> bool:
        """Return whether the order of the tokens allows a hop."""
        return hop[::-1] not in self.order

    def earlier(self) -> Mapping[int, Sequence[int]]:
        """Return, for each token, the tokens that come before it."""
        found: dict[int, list[int]] = {}
        for first, second in sorted(self.order):
            found.setdefault(second, []).append(first)
        return found


class LeafRates(NamedTuple):
    """The rates that prove a bound, and bounds on their products.

    `product` is at least the product of the rates on any simple path. `rates` are the rates of hops; all other hops
    have their `spot` rate. A unit that a pool pays out is worth at most the hop's entry in `values` or, without one,
    the token's entry in `token_values`.
    """

    product: float
    rates: Mapping[TokenPair, float]
    values: Mapping[TokenPair, float]
    spot: Mapping[TokenPair, float]
    token_values: Mapping[int, float]


class Leaf(NamedTuple):
    """An unsplit branch: the arcs that its routes use and do not use, and its bound at `rates` of hops, proven by
    `terms`.

    `product` is at least the product of the rates on any simple path. In each pair of tokens in `before`, the first
    comes before the second.
    """

    used: Sequence[Arc]
    unused: Sequence[Arc]
    before: Sequence[TokenPair]
    rates: Mapping[TokenPair, float]
    product: float
    terms: Sequence[ArcTerm]
    bound: Decimal


def prove_leaf(
    spec: SwapSpec, amount: int, arcs: Sequence[PricedArc], conditions: Conditions, rates: LeafRates
) -> Leaf:
    """Return the leaf of the routes that satisfy `conditions`, over all `arcs`, with the bound of the leaf at
    `rates`."""
    gains, terms = dict[int, Decimal](), list[ArcTerm]()
    unit_value = exact(spec.gas_value)
    for number, each in enumerate(arcs):
        hop, is_used = (each.arc.token_in, each.arc.token_out), number in conditions.used
        if number in conditions.unused or not conditions.allows(hop):
            continue
        term = _term(each, rates, hop, spec.target, is_used=is_used)
        if term is not None:
            terms.append(term)
            gain = UP.subtract(exact(term.value), DOWN.multiply(unit_value, Decimal(each.gas_units)))
            token = each.arc.token_in
            gains[token] = UP.add(gains.get(token, Decimal(0)), gain if is_used else max(gain, Decimal(0)))
    used, unused = ([arcs[number].arc for number in sorted(each)] for each in (conditions.used, conditions.unused))
    entered = {arc.token_in for arc in used}
    bound = UP.multiply(Decimal(amount), exact(rates.product))
    bound = UP.subtract(bound, DOWN.multiply(unit_value, Decimal(spec.router_gas.base)))
    token_gas = DOWN.multiply(unit_value, Decimal(spec.router_gas.token_between))
    for token, gain in gains.items():
        net = gain if token == spec.source else UP.subtract(gain, token_gas)
        if net > 0 or token in entered:
            bound = UP.add(bound, net)
    listed = {hop: rate for hop, rate in sorted(rates.rates.items()) if rate != rates.spot[hop]}
    return Leaf(
        used,
        unused,
        sorted(conditions.before),
        listed,
        rates.product,
        terms,
        bound if not bound.is_nan() else Decimal(inf),
    )


def _term(each: PricedArc, rates: LeafRates, hop: TokenPair, target: int, *, is_used: bool) -> ArcTerm | None:
    """Return the term of an arc; None if the arc does not pay for its gas and its use is not required."""
    arc = each.arc
    rate = rates.rates.get(hop, rates.spot[hop])
    if arc.unit_rate <= rate * _JUST_BELOW and not is_used:
        return None
    value = 1.0 if hop[1] == target else rates.values.get(hop, rates.token_values.get(hop[1], 0.0))
    if not value:
        return None
    price_in, price_out = lowered(rate * value), effective_price(arc, value)
    _, amount_in, amount_out, _ = each.best_trade(price_in, price_out)
    term = term_of(arc, amount_in, amount_out, price_in, price_out)
    return term if term.value > each.gas or is_used else None
