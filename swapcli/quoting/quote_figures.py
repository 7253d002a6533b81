"""Compute a quote's figures once, for all outputs."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from swapcli.core.model.price_impact import PriceImpact
from swapcli.core.model.quote import GasValueSource
from swapcli.core.model.quote_figures import PoolLimitCost, QuoteFigures, SinglePath
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import SwapTerms, after_fee, min_received
from swapcli.core.model.units import BPS
from swapcli.families.wrap import terms_of_payload
from swapcli.quoting.impact_measures import impact_of
from swapcli.quoting.quote_results import LocalQuote, QuoteResult
from swapcli.quoting.transfer_rules import share_warning
from swapcli.quoting.warnings import answer_warnings, exact_output_warnings, is_exact, quote_warnings

if TYPE_CHECKING:
    from swapcli.core.model.finding import Finding
    from swapcli.core.model.quote import Quote
    from swapcli.core.model.transaction import UnsignedTransaction


def find_warnings(
    answer: QuoteResult, terms: SwapTerms, payload: UnsignedTransaction | None = None
) -> tuple[PriceImpact | None, tuple[Finding, ...]]:
    """Return a quote's price impact, and the warnings about the quote and its payload. Both are part of the quote's
    figures."""
    terms, impact = _terms_of(answer, terms), impact_of(answer)
    return impact, _warnings(answer, impact, terms, _gas_cost(answer)[0], payload)


def compute_figures(answer: QuoteResult, terms: SwapTerms, payload: UnsignedTransaction | None = None) -> QuoteFigures:
    """Return a quote's figures for a swap on `terms`, with the warnings about the quote and its payload."""
    result, quote = answer.result, answer.quote if isinstance(answer, LocalQuote) else None
    terms = _terms_of(answer, terms)
    fee_bps = terms.integrator.fee_bps if terms.integrator else 0
    amount_out_after_fee = after_fee(result.output_amount, fee_bps)
    gas_cost, gas_value_source = _gas_cost(answer)
    impact = impact_of(answer)
    return QuoteFigures(
        amount_in=result.input_amount,
        amount_out=result.output_amount,
        amount_out_after_fee=amount_out_after_fee,
        min_received=min_received(amount_out_after_fee, terms.slippage_ppm),
        slippage_ppm=terms.slippage_ppm,
        price_impact=impact,
        gas_units=quote.gas_units if quote else result.gas_units or None,
        gas_price_wei=quote.gas_price_wei if quote else None,
        gas_wei=quote.gas_wei if quote else result.gas_cost_wei or None,
        l1_fee_wei=quote.l1_fee_wei + quote.l1_gas_units * quote.gas_price_wei if quote else None,
        gas_usd=result.gas_usd,
        output_after_gas=None if gas_cost is None else amount_out_after_fee - gas_cost,
        gas_value_source=gas_value_source,
        quoted_at_s=answer.timestamp_ms // 1000,
        expires_at_s=_expiry(answer.timestamp_ms // 1000, answer.state_source, terms),
        state=answer.state_source,
        certificate=quote.certificate if quote else None,
        pool_limit=_pool_limit(quote) if quote else None,
        is_search_complete=quote.is_search_complete if quote else True,
        placeholder_pools=_placeholders(answer),
        changing_pools=_changing_pools(answer),
        sampled_pools=_sampled_addresses(answer),
        unread_gain_bps=answer.unread_gain_bps if isinstance(answer, LocalQuote) else None,
        single_path=_single_path(answer, fee_bps),
        warnings=_warnings(answer, impact, terms, gas_cost, payload),
        is_exact=is_exact(answer),
        router_choice=answer.router_choice if isinstance(answer, LocalQuote) else None,
        book_prices=answer.book_prices if isinstance(answer, LocalQuote) else None,
    )


def _terms_of(answer: QuoteResult, terms: SwapTerms) -> SwapTerms:
    """Return the terms of a quote's swap; a swap that wraps is built here, and pays one for one."""
    is_wrap = isinstance(answer, LocalQuote) and answer.network.wraps(answer.order)
    return terms._replace(slippage_ppm=0) if is_wrap else terms


def _warnings(
    answer: QuoteResult,
    impact: PriceImpact | None,
    terms: SwapTerms,
    gas_cost: int | None,
    payload: UnsignedTransaction | None,
) -> tuple[Finding, ...]:
    of_payload = exact_output_warnings(answer.order, payload) if payload else ()
    return (*answer_warnings(answer, impact, terms, gas_cost), *of_payload)


def compute_payload_figures(
    result: RouteResult,
    payload: UnsignedTransaction,
    impact: PriceImpact | None,
    state: StateSource,
    terms: SwapTerms,
    built_at_s: int,
) -> QuoteFigures:
    """Return the figures for an earlier route whose transaction was built at `built_at_s` (Unix) from a replay on
    `state`.

    The replay has no gas price and is not compared with other routes, so the figures about gas and about other routes
    are unknown.
    """
    amount_out, terms = payload.call.route.amount_out, terms_of_payload(payload, terms)
    warnings = () if payload.rounding is None else (share_warning(payload.rounding),)
    return QuoteFigures(
        amount_in=payload.call.route.amount_in,
        amount_out=amount_out,
        amount_out_after_fee=after_fee(amount_out, result.integrator.fee_bps if result.integrator else 0),
        min_received=payload.call.route.min_received,
        slippage_ppm=terms.slippage_ppm,
        price_impact=impact,
        gas_units=payload.gas_units,
        gas_price_wei=None,
        gas_wei=None,
        l1_fee_wei=None,
        gas_usd=None,
        output_after_gas=None,
        single_path=None,
        quoted_at_s=built_at_s,
        expires_at_s=_expiry(built_at_s, state, terms),
        state=state,
        warnings=(*quote_warnings(impact, state, terms), *warnings),
        is_exact=payload.rounding is None,
        router_choice=payload.router_choice,
    )


def _gas_cost(answer: QuoteResult) -> tuple[int | None, GasValueSource | None]:
    """Return a quote's gas cost in its output token, rounded up, and the source of its value; None if unknown.

    A remote service states its cost in USD, with the price of the output.
    """
    if isinstance(answer, LocalQuote):
        quote = answer.quote
        return quote.cost_in_output(quote.gas_wei), quote.wei_value and quote.wei_value.source
    result, token = answer.result, answer.order.token_out
    if result.gas_cost_wei and answer.network.is_gas_token(token):
        return result.gas_cost_wei, GasValueSource.NATIVE
    price_usd = result.output_token.price_usd
    if result.gas_usd is None or not price_usd:
        return None, None
    return ceil(result.gas_usd / price_usd * 10**token.decimals), GasValueSource.SERVICE


def _single_path(answer: QuoteResult, fee_bps: int) -> SinglePath | None:
    if not isinstance(answer, LocalQuote):
        return None
    quote = answer.quote
    best, amount_out, gas_units = quote.best_single_path_out, quote.amount_out, quote.best_single_path_gas_units
    if best is None:
        return SinglePath(None, None)
    # With an exact output, a better route needs less input, and the single path has no figure for that.
    if not best or answer.order.reverse:
        return None
    gain_bps = round(BPS * (amount_out - best) / best, 4)
    if gas_units is None:
        return SinglePath(best, gain_bps)
    gas_wei = gas_units * quote.gas_price_wei + quote.l1_fee_wei
    gas_usd = None if quote.wei_usd is None else gas_wei * quote.wei_usd
    cost = quote.cost_in_output(gas_wei)
    return SinglePath(best, gain_bps, gas_units, gas_usd, None if cost is None else after_fee(best, fee_bps) - cost)


def _pool_limit(quote: Quote) -> PoolLimitCost | None:
    order, amount = quote.order, quote.unlimited_amount
    if amount is None:
        return None
    lost = quote.amount_in - amount if order.reverse else amount - quote.amount_out
    return PoolLimitCost(order.max_pools, order.single_path, amount, round(BPS * lost / amount, 4) if amount else 0.0)


def _expiry(quoted_at_s: int, state: StateSource, terms: SwapTerms) -> int:
    """Return when a quote expires, in Unix seconds; see `QuoteFigures`."""
    age_s = state.age_s if state.is_live and state.age_s is not None else 0
    expires_at_s = quoted_at_s - age_s + terms.ttl_s
    return expires_at_s if terms.deadline_s is None else min(expires_at_s, terms.deadline_s)


def _sampled_addresses(answer: QuoteResult) -> tuple[str, ...]:
    if not isinstance(answer, LocalQuote):
        return ()
    return tuple(sorted({answer.pools[key].address for key in answer.quote.sampled_pools}))


def _placeholders(answer: QuoteResult) -> tuple[str, ...]:
    if not isinstance(answer, LocalQuote):
        return ()
    return tuple(sorted(answer.placeholder_pools))


def _changing_pools(answer: QuoteResult) -> tuple[str, ...]:
    if not isinstance(answer, LocalQuote):
        return ()
    return tuple(sorted(key for key, pool in answer.pools.items() if pool.changes_without_events))
