"""Bound the amount of each token that any acyclic routing of an order can reach within a few hops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import inf

from swapcli.core.annotations import Final
from swapcli.core.model.proof import LimitReason
from swapcli.core.records import NamedTuple
from swapcli.core.routing.dual_terms import ArcTerm, float_above, most_paid, sum_up, terms_at
from swapcli.core.routing.graph.best_paths import best_labels
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import MarketGraph, Prices

_FEW_ARCS: Final = 4  # into a token: the sum counts the same amount once for each. Empirical
_ROUNDING_UP: Final = 1.0 + 1e-12  # more than floats lose in the products and sums of a limit


class TokenLimit(NamedTuple):
    """The largest amount of a token (base units) that an order can reach, with the reason."""

    token: int
    amount: float
    reason: LimitReason


class TokenLimits(NamedTuple):
    """The limits of all tokens that an order can reach, by token, and their proofs in order.

    `terms` at `prices` prove the limits by value. The source's limit is the order's amount, which needs no proof.
    """

    amounts: Mapping[int, float]
    proofs: list[TokenLimit]
    prices: Prices
    terms: list[ArcTerm]


def token_limits(graph: MarketGraph, endpoints: TokenPair, amount: int, max_hops: int, prices: Prices) -> TokenLimits:
    """Return the largest amount (in base units) of each token that `amount` of the source can become on the way to the
    target.

    `endpoints` are (source, target). A unit on a path becomes at most the product of the path's spot rates. At any
    `prices`, no routing yields more value than the order plus the surplus of every pool's best trade (weak duality). If
    few pools sell a token, they pay no more than their output for everything that can reach them. The smallest of these
    limits counts.
    """
    source, _ = endpoints
    terms = terms_at((arc for arc in graph.arcs() if arc.token_out != source and arc.token_in != endpoints[1]), prices)
    products = _best_products(graph, endpoints, {source: float(amount)}, max_hops - 1)
    given, part = _given_by_rounding(graph, endpoints, products)
    if given:
        for token, more in _best_products(graph, endpoints, given, max_hops - 1).items():
            products[token] = products.get(token, 0.0) + more
    if part:
        products = {token: product * (1.0 + part) ** max_hops for token, product in products.items()}
    amounts, proofs = {source: float(amount)}, list[TokenLimit]()
    for limit in _limits_by_path_or_value(products, sum_up(amount, prices[source], terms), prices):
        if limit.token != source:
            amounts[limit.token] = limit.amount
            proofs.append(limit)
    for token in sorted(products.keys() & graph.tokens_between(endpoints)):
        entering = [(i, graph.arcs_by_pair[i][token]) for i in graph.best_rate_in[token] if i in amounts]
        if token != source and sum(len(arcs) for _, arcs in entering) <= _FEW_ARCS:
            paid = sum(most_paid(arc, amounts[i]) for i, arcs in entering for arc in arcs) * _ROUNDING_UP
            if paid < amounts[token]:
                amounts[token] = paid
                proofs.append(TokenLimit(token, paid, LimitReason.POOLS))
    return TokenLimits(amounts, proofs, prices, terms)


def _limits_by_path_or_value(products: Mapping[int, float], value: Decimal, prices: Prices) -> Iterator[TokenLimit]:
    """Yield the lower of two limits of each token, by path and by value; `value` is the value of the order and of all
    surplus at `prices`."""
    most = float_above(value)
    for token, product in products.items():
        price, by_path = prices.get(token, 0.0), product * _ROUNDING_UP
        by_value = most / price * _ROUNDING_UP if price > 0.0 else inf
        yield (
            TokenLimit(token, by_path, LimitReason.PATH)
            if by_path <= by_value
            else TokenLimit(token, by_value, LimitReason.VALUE)
        )


def _given_by_rounding(
    graph: MarketGraph, endpoints: TokenPair, products: Mapping[int, float]
) -> tuple[dict[int, float], float]:
    """Return how much the rounding of contracts may add to each token, times the number of such tokens, and the
    greatest part that it may add to an output.

    So the most that one such token becomes on a path is at least the total of all. `products` has the tokens within
    reach.
    """
    source, target = endpoints
    given, most_part = dict[int, float](), 0.0
    for arc in graph.rounding_arcs:
        if arc.token_in in products and arc.token_in != target and arc.token_out != source and arc.rounding is not None:
            units_in, units_out, part = arc.rounding
            given[arc.token_in] = given.get(arc.token_in, 0.0) + units_in
            if arc.token_out != target:
                given[arc.token_out] = given.get(arc.token_out, 0.0) + units_out
            most_part = max(most_part, part)
    given = {token: amount for token, amount in given.items() if amount > 0.0}
    return {token: amount * len(given) for token, amount in given.items()}, most_part


def _best_products(
    graph: MarketGraph, endpoints: TokenPair, start: Mapping[int, float], max_hops: int
) -> dict[int, float]:
    """Return the most that an amount of `start` becomes at spot rates over at most `max_hops` hops, by token."""

    def extend(front: Mapping[int, float], best: Mapping[int, float], _: int) -> dict[int, float]:
        improved: dict[int, float] = {}
        for i, held in front.items():
            for j, arcs in graph.arcs_by_pair[i].items():
                bought = held * arcs[0].rate
                if j not in endpoints and bought > max(best.get(j, 0.0), improved.get(j, 0.0)):
                    improved[j] = bought
        return improved

    return best_labels(start, max_hops, extend)
