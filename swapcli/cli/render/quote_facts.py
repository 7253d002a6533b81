"""The facts of a quote: amounts, rate, price impact, gas, optimality and state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from swapcli.api.slippage import format_percent
from swapcli.cli.render.state_wording import describe_block
from swapcli.encoding.text import printable
from swapcli.engine.impact_measures import ImpactBasis, impact_of
from swapcli.engine.quote_results import LocalQuote, QuoteResult, RemoteQuote
from swapcli.engine.warnings import NOT_LIVE, format_age
from swapcli.model.number_format import format_bps_rounded_up, format_percentage, format_ratio, format_usd
from swapcli.model.quote import NO_PROOF_BPS, Quote
from swapcli.model.swap_terms import SwapTerms, after_fee, min_received
from swapcli.model.token import Token, whole_tokens

BPS = 10_000
_IMPACT_NOTES = {
    ImpactBasis.USD: "from USD prices",
    ImpactBasis.POOLS: "compared with a small order in the same pools",
    ImpactBasis.SERVICE: "as reported by the service",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A named value with an optional note."""

    name: str
    value: str
    note: str = ""


def build_facts(answer: QuoteResult, terms: SwapTerms) -> Iterator[Fact]:
    """Yield all facts of a quote in the order of the output."""
    for fact in (_sell, _receive, _integrator, _min_received, _rate, _impact, _single_path, _gas, _certificate, _state):
        yield from fact(answer, terms)


def symbol(token: Token) -> str:
    """Return the symbol of a token without control characters."""
    return printable(token.symbol)


def _sell(answer: QuoteResult, _: SwapTerms) -> Iterator[Fact]:
    result = answer.result
    yield _amount_fact("You sell", result.input_amount, answer.order.token_in, result.input_token.price_usd)


def _receive(answer: QuoteResult, _: SwapTerms) -> Iterator[Fact]:
    result = answer.result
    yield _amount_fact("You receive", result.output_amount, answer.order.token_out, result.output_token.price_usd)


def _amount_fact(name: str, amount: int, token: Token, price_usd: float | None) -> Fact:
    value = "" if price_usd is None else f", {format_usd(price_usd * amount / 10**token.decimals)}"
    return Fact(name, f"{whole_tokens(amount, token.decimals)} {symbol(token)}", f"{amount} raw{value}")


def _integrator(answer: QuoteResult, terms: SwapTerms) -> Iterator[Fact]:
    integrator, out = terms.integrator, answer.order.token_out
    if integrator and integrator.fee_bps:
        amount_out = after_fee(answer.result.output_amount, integrator.fee_bps)
        shown = f"{whole_tokens(amount_out, out.decimals)} {symbol(out)}"
        yield Fact("After fee", shown, f"the integrator receives {integrator.fee_bps} bps")
    if integrator and integrator.surplus_bps:
        yield Fact("Surplus fee", f"{integrator.surplus_bps} bps", "of any surplus, to the integrator")


def _min_received(answer: QuoteResult, terms: SwapTerms) -> Iterator[Fact]:
    out, fee_bps = answer.order.token_out, terms.integrator.fee_bps if terms.integrator else 0
    minimum = min_received(after_fee(answer.result.output_amount, fee_bps), terms.slippage_ppm)
    shown = f"{whole_tokens(minimum, out.decimals)} {symbol(out)}"
    yield Fact("At least", shown, f"with {format_percent(terms.slippage_ppm)}% slippage")


def _rate(answer: QuoteResult, _: SwapTerms) -> Iterator[Fact]:
    order, result = answer.order, answer.result
    amount_in = (result.input_amount, order.token_in.decimals)
    amount_out = (result.output_amount, order.token_out.decimals)
    symbol_in, symbol_out = symbol(order.token_in), symbol(order.token_out)
    yield Fact(
        "Rate",
        f"1 {symbol_in} = {format_ratio(*amount_out, *amount_in)} {symbol_out}",
        f"1 {symbol_out} = {format_ratio(*amount_in, *amount_out)} {symbol_in}",
    )


def _impact(answer: QuoteResult, _: SwapTerms) -> Iterator[Fact]:
    if isinstance(answer, LocalQuote) and answer.quote.price_impact is not None:
        yield Fact("Price impact", format_percentage(answer.quote.price_impact))
        return
    impact = impact_of(answer)
    if impact is None:
        yield Fact("Price impact", "unknown")
    else:
        yield Fact("Price impact", format_percentage(impact.fraction), _IMPACT_NOTES[impact.basis])


def _single_path(answer: QuoteResult, _: SwapTerms) -> Iterator[Fact]:
    if isinstance(answer, RemoteQuote):
        return
    quote, out = answer.quote, answer.order.token_out
    best = quote.best_single_path_out
    if best is None:
        yield Fact("Single path", "none", "no single path can fill the order")
    elif best and not answer.order.reverse:
        shown = f"{whole_tokens(best, out.decimals)} {symbol(out)}"
        yield Fact("Single path", shown, _split_gain(quote.amount_out - best, best))


def _split_gain(more: int, best: int) -> str:
    """Describe the gain over the best single path. It is negative only if the route saves more than that in gas."""
    if more < 0:
        return f"splitting saves gas for {Decimal(-more) * BPS / best:,.2f} bps"
    return f"splitting gains {Decimal(more) * BPS / best:,.2f} bps" if more else "splitting gains nothing"


def _gas(answer: QuoteResult, _: SwapTerms) -> Iterator[Fact]:
    result, native = answer.result, answer.network.native
    value_usd = "" if result.gas_usd is None else format_usd(result.gas_usd)
    if isinstance(answer, LocalQuote):
        quote = answer.quote
        yield Fact(
            "Gas", f"{quote.gas_units:,} units", ", ".join(filter(None, [*_gas_costs(quote, native), value_usd]))
        )
    elif result.gas_cost_wei is not None:
        yield Fact("Gas", f"{whole_tokens(result.gas_cost_wei, native.decimals)} {symbol(native)}", value_usd)
    else:
        yield Fact("Gas", f"{result.gas_units or 0:,} units", value_usd)


def _gas_costs(quote: Quote, native: Token) -> Iterator[str]:
    cost = whole_tokens(quote.gas_units * quote.gas_price_wei, native.decimals)
    yield f"{cost} {symbol(native)} at {whole_tokens(quote.gas_price_wei, 9)} gwei"
    if quote.l1_fee_wei:
        yield f"{whole_tokens(quote.l1_fee_wei, native.decimals)} {symbol(native)} for L1 data"


def _certificate(answer: QuoteResult, _: SwapTerms) -> Iterator[Fact]:
    if isinstance(answer, RemoteQuote) or answer.quote.certificate is None:
        return
    certificate = answer.quote.certificate
    checked = f"{certificate.pools_checked:,} pool{'s' if certificate.pools_checked != 1 else ''} checked"
    if not answer.quote.is_search_complete:
        checked += "; the search ran out of time"
    if not certificate.is_proof:
        yield Fact("Optimality", "unknown", f"no bound was found on the output of any router; {checked}")
        return
    with_arbitrage = (
        f"{format_bps_rounded_up(certificate.gap_bps)} bps" if certificate.gap_bps < NO_PROOF_BPS else "no bound"
    )
    yield Fact(
        "Optimality",
        f"within {format_bps_rounded_up(certificate.acyclic_gap_bps)} bps",
        f"of the best any router could do; {with_arbitrage} with arbitrage; {checked}",
    )


def _state(answer: QuoteResult, terms: SwapTerms) -> Iterator[Fact]:
    state_source, age_s = answer.state_source, answer.state_source.age_s
    if state_source.provenance is None:
        name = printable(state_source.service_url or state_source.description)
        yield Fact("State", "unknown", f"{name} does not report it")
        return
    live = "" if state_source.is_live else NOT_LIVE
    age = format_age(age_s) if age_s is not None else ""
    left_s = terms.ttl_s - age_s if state_source.is_live and age_s is not None else 0
    validity = f"valid for {left_s} s more" if left_s > 0 else ""
    quoted_by = (
        f"quoted by {printable(state_source.service_url)}"
        if state_source.service_url
        else printable(state_source.description)
    )
    note = ", ".join(filter(None, [live, describe_block(state_source), age, validity, quoted_by]))
    yield Fact("State", state_source.provenance.value, note)
