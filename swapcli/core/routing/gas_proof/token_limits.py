"""The most of each token that an order can bring, by any acyclic routing over a few hops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import inf
from typing import Final

from swapcli.core.model.proof import LimitReason
from swapcli.core.records import NamedTuple
from swapcli.core.routing.dual_terms import ArcTerm, float_above, most_paid, sum_up, terms_at
from swapcli.core.routing.graph.best_paths import best_labels
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import MarketGraph, Prices

_FEW_ARCS: Final = 4  # into a token: the sum counts what reaches them once for each. Empirical
_ROUNDING_UP: Final = 1.0 + 1e-12  # more than floats lose in the products and sums of a limit


class TokenLimit(NamedTuple):
    """The largest amount of a token (base units) that an order can reach, with the reason."""

    token: int
    amount: float
    reason: LimitReason


class TokenLimits(NamedTuple):
    """The limits of all tokens that an order reaches, by token, and their proofs in order.

    `terms` at `prices` prove those by value. The source's limit is the order's amount, which needs no proof.
    """

    amounts: Mapping[int, float]
    proofs: list[TokenLimit]
    prices: Prices
    terms: list[ArcTerm]


def token_limits(graph: MarketGraph, endpoints: TokenPair, amount: int, max_hops: int, prices: Prices) -> TokenLimits:
    """Return the limit of each token that `amount` of the source can reach on the way to the target, in base units.

    `endpoints` are (source, target). A unit that takes a path becomes at most the product of its spot rates. And at any
    `prices` no routing brings more value than that of the order and the surplus of every pool's best trade: weak
    duality. Where few pools sell a token, they bring no more than they pay for all that can reach them. The least of
    these counts.
    """
    source, target = endpoints
    terms = terms_at((arc for arc in graph.arcs() if arc.token_out != source and arc.token_in != target), prices)
    products = _best_products(graph, endpoints, float(amount), max_hops - 1)
    amounts, proofs = {source: float(amount)}, list[TokenLimit]()
    for limit in _limits_by_path_or_value(products, sum_up(amount, prices[source], terms), prices):
        if limit.token != source:
            amounts[limit.token] = limit.amount
            proofs.append(limit)
    for token in products:
        entering = [(i, graph.arcs_by_pair[i][token]) for i in graph.best_rate_in[token] if i in amounts]
        if token != source and sum(len(arcs) for _, arcs in entering) <= _FEW_ARCS:
            paid = sum(most_paid(arc.curve, amounts[i]) for i, arcs in entering for arc in arcs) * _ROUNDING_UP
            if paid < amounts[token]:
                amounts[token] = paid
                proofs.append(TokenLimit(token, paid, LimitReason.POOLS))
    return TokenLimits(amounts, proofs, prices, terms)


def _limits_by_path_or_value(products: Mapping[int, float], value: Decimal, prices: Prices) -> Iterator[TokenLimit]:
    """Yield the lesser of the two limits of each token; `value` is that of the order and all surplus at `prices`."""
    most = float_above(value)
    for token, product in products.items():
        price, by_path = prices.get(token, 0.0), product * _ROUNDING_UP
        by_value = most / price * _ROUNDING_UP if price > 0.0 else inf
        yield (
            TokenLimit(token, by_path, LimitReason.PATH)
            if by_path <= by_value
            else TokenLimit(token, by_value, LimitReason.VALUE)
        )


def _best_products(graph: MarketGraph, endpoints: TokenPair, amount: float, max_hops: int) -> Mapping[int, float]:
    """Return `amount` times the best product of spot rates over at most `max_hops` hops, by token."""

    def extend(front: Mapping[int, float], best: Mapping[int, float], _: int) -> dict[int, float]:
        improved: dict[int, float] = {}
        for i, held in front.items():
            for j, arcs in graph.arcs_by_pair[i].items():
                bought = held * arcs[0].rate
                if j not in endpoints and bought > max(best.get(j, 0.0), improved.get(j, 0.0)):
                    improved[j] = bought
        return improved

    return best_labels({endpoints[0]: amount}, max_hops, extend)
