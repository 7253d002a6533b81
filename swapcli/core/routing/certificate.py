"""Compute a proven upper bound on the output of any route over a market's pools; `docs/proof.md` has the theorem.

Any prices v >= 0, with 1 for the output token, give the bound D(v) = amount * v_source + every pool's largest gain at
v. Tokens that a solution does not price get their best value in terms of priced tokens, at which no pool gains by
selling them. Tokens that can be sold only to dust pools get the lowest cost of buying them, at which no pool gains by
buying them, so only the offers of the dust pools add to the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import inf

from swapcli.core.model.quote import Certificate
from swapcli.core.records import NamedTuple
from swapcli.core.routing.dual_terms import ArcTerm, float_above, sum_up, terms_at
from swapcli.core.routing.graph.best_paths import extend_prices, price_tokens
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph, Prices
from swapcli.core.routing.search.problem import FINEST, Exclusions, RoutingProblem

_BOUND_ITERATIONS = 12  # over the whole market; with much arbitrage, more would take minutes


class PricedBound(NamedTuple):
    """A bound with the prices and terms that prove it. `excluded` arcs would gain at these prices but do not count."""

    bound: Decimal
    prices: Prices
    terms: list[ArcTerm]
    excluded: list[Arc]


class OutputProof(NamedTuple):
    """The least bounds over all arcs and over the allowed arcs, and the certificate based on these bounds."""

    certificate: Certificate
    output: PricedBound
    acyclic: PricedBound


def prove_output(
    graph: MarketGraph,
    filtered_graph: MarketGraph,
    prices: list[Prices],
    order: tuple[int, int, int],
    amount_out: int,
    is_allowed: Callable[[Arc], bool],
) -> OutputProof:
    """Return the least bounds that any of `prices` give, one over all arcs of `graph` and one over the allowed arcs.

    `order` is (source, target, amount in base units). Prices are extended over `filtered_graph`, which has no dust.
    Each direction of a pool counts as a separate pool, which can only raise the bound. Rounding may put a bound one
    unit below the delivered output, so returned bounds are at least `amount_out`.
    """
    all_prices = [price_tokens(graph, filtered_graph, known, order[1]) for known in prices]
    bounds = [_dual_bounds(graph, known, order, is_allowed) for known in all_prices]
    best, best_acyclic = (min(zip(column, all_prices), key=_value)[1] for column in zip(*bounds, strict=True))  # noqa: B905
    output = _bound_at(graph, best, order, amount_out, lambda _: True)
    acyclic = _bound_at(graph, best_acyclic, order, amount_out, is_allowed)
    if acyclic.bound > output.bound:  # by one unit in the last digit
        acyclic = output
    bound, acyclic_bound = float_above(output.bound), float_above(acyclic.bound)
    pools = {arc.pool.key for arc in graph.arcs()}
    certificate = Certificate(
        bound, _gap_bps(bound, amount_out), acyclic_bound, _gap_bps(acyclic_bound, amount_out), len(pools)
    )
    return OutputProof(certificate, output, acyclic)


def _bound_at(
    graph: MarketGraph,
    prices: Prices,
    order: tuple[int, int, int],
    amount_out: int,
    is_allowed: Callable[[Arc], bool],
) -> PricedBound:
    source, _, amount = order
    terms, excluded = list[ArcTerm](), list[Arc]()
    for term in terms_at(graph.arcs(), prices):
        if is_allowed(term.arc):
            terms.append(term)
        else:
            excluded.append(term.arc)
    return PricedBound(max(sum_up(amount, prices[source], terms), Decimal(amount_out)), prices, terms, excluded)


def _dual_bounds(
    graph: MarketGraph, prices: Prices, order: tuple[int, int, int], is_allowed: Callable[[Arc], bool]
) -> tuple[float, float]:
    """Return the approximate value of the dual over all arcs and over the allowed ones."""
    source, _, amount = order
    bound = acyclic = amount * prices[source]
    for arc in graph.arcs():
        value = arc.surplus(prices)
        if value > 0.0:
            bound += value
            if is_allowed(arc):
                acyclic += value
    return bound, acyclic


def _value(priced: tuple[float, Prices]) -> float:
    return priced[0]


def _gap_bps(bound: float, amount_out: int) -> float:
    return (bound / amount_out - 1.0) * 1e4 if amount_out else inf


def bounding_prices(problem: RoutingProblem, prices: Prices, exclusions: Exclusions) -> list[Prices]:
    """Return prices for a certificate: refined prices over the arcs that a solution at `prices` allows, and prices
    solved over the whole market.

    The prices over the whole market come in two versions, without and with arcs into the source and out of the target.
    """
    graph, (source, target) = problem.graph, problem.spec.endpoints
    fine = problem.solve(problem.arcs_between(prices, exclusions), prices, FINEST, _BOUND_ITERATIONS)
    known = extend_prices(graph, problem.used_prices(fine), target)
    every = [arc for arc in graph.arcs() if arc.token_out in known and arc.token_in in known]
    forward = [arc for arc in every if arc.token_in != target and arc.token_out != source]
    solved = [problem.solve(arcs, known, FINEST, _BOUND_ITERATIONS).prices for arcs in (forward, every)]
    return [fine.prices, known, *solved]
