"""The facts of a quote: amounts, rate, price impact, gas, optimality and state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from swapcli import QuoteFigures, SwapTerms, Token
from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_bps_rounded_up, format_percentage, format_ratio, format_usd
from swapcli.core.model.price_impact import ImpactBasis
from swapcli.core.model.quote import NO_PROOF_BPS, GasValueSource
from swapcli.core.model.token import whole_tokens
from swapcli.faces.cli.render.state_wording import describe_block, shown_digits
from swapcli.interface.slippage import format_percent
from swapcli.quoting.quote_results import QuoteResult
from swapcli.quoting.warnings import format_age

IMPACT_NOTES = {
    ImpactBasis.USD: "from USD prices",
    ImpactBasis.POOLS: "compared with a small order in the same pools",
    ImpactBasis.SERVICE: "as reported by the service",
}

_SHOWN_GAIN_BPS = 0.5


@dataclass(frozen=True, slots=True)
class Fact:
    """A named value with an optional note."""

    name: str
    value: str
    note: str = ""


def build_facts(answer: QuoteResult, terms: SwapTerms, figures: QuoteFigures) -> Iterator[Fact]:
    """Yield all facts of a quote in the order of the output."""
    yield _amount_fact("You sell", figures.amount_in, answer.order.token_in, answer.result.input_token.price_usd)
    yield _amount_fact("You receive", figures.amount_out, answer.order.token_out, answer.result.output_token.price_usd)
    yield from _integrator(answer, terms, figures)
    yield from _exactness(figures)
    yield _min_received(answer, figures)
    yield _rate(answer, figures)
    yield _impact(figures)
    yield from _single_path(answer, figures)
    yield from _pool_limit(answer, figures)
    yield _gas(answer, figures)
    yield from _after_gas(answer, figures)
    yield from router_facts(figures)
    yield from _book_prices(figures)
    yield from certificate_facts(figures)
    yield from _unread(figures)
    if figures.state.provenance is None or figures.state.is_live:
        yield _state(figures)
    elif figures.changing_pools:  # the first line has the state
        yield Fact("Pools", "change with time", _changing_note(figures))


def router_facts(figures: QuoteFigures) -> Iterator[Fact]:
    """Yield the chosen router and the reason, if a router was chosen."""
    choice = figures.router_choice
    if choice is None:
        return
    parts = [choice.reason, *(f"not {each.dialect}: {each.reason}" for each in choice.passed)]
    if choice.gain_bps is not None:
        parts.insert(0, f"{choice.gain_bps:+,.2f} bps by {choice.dialect}, compared with {choice.over}")
    yield Fact("Router", choice.dialect, "; ".join(parts))


def _book_prices(figures: QuoteFigures) -> Iterator[Fact]:
    """Yield the best prices of an order book that no route can use, if there is one."""
    book = figures.book_prices
    if book is None:
        return
    bid, ask = (whole_tokens(price, book.decimals) if price else "none" for price in (book.bid, book.ask))
    pair = f"{symbol(book.quote)} for 1 {symbol(book.base)}"
    yield Fact(
        book.venue, f"bid {bid}, ask {ask} {pair}", "the best orders, of unknown size; not part of the transaction"
    )


def symbol(token: Token) -> str:
    """Return the symbol of a token without control characters."""
    return printable(token.symbol)


def exact_amount(amount: int, token: Token) -> str:
    """Format an amount in base units in whole tokens, exactly, with the symbol."""
    return f"{whole_tokens(amount, token.decimals)} {symbol(token)}"


def _amount_fact(name: str, amount: int, token: Token, price_usd: float | None) -> Fact:
    value = "" if price_usd is None else f", {format_usd(price_usd * amount / 10**token.decimals)}"
    return Fact(name, exact_amount(amount, token), f"{amount} raw{value}")


def _integrator(answer: QuoteResult, terms: SwapTerms, figures: QuoteFigures) -> Iterator[Fact]:
    integrator, out = terms.integrator, answer.order.token_out
    if integrator and integrator.fee_bps:
        shown = exact_amount(figures.amount_out_after_fee, out)
        yield Fact("After fee", shown, f"the integrator receives {integrator.fee_bps} bps")
    if integrator and integrator.surplus_bps:
        yield Fact("Surplus fee", f"{integrator.surplus_bps} bps", "of any surplus, to the integrator")


def _exactness(figures: QuoteFigures) -> Iterator[Fact]:
    """Yield a fact if a protocol quotes a pool of the route, or if a token keeps shares."""
    count = len(figures.sampled_pools)
    if not count and figures.is_exact is False:
        yield Fact("Amounts", "up to rounding", "a token keeps shares; see the warning")
    if count:
        pools = f"{count} pool{'s' if count > 1 else ''}"
        if figures.is_exact:
            yield Fact("Amounts", "exact", f"{pools} quoted by the protocol, for these amounts at this block")
        else:
            yield Fact("Amounts", "sampled", f"{pools} quoted by the protocol, not exactly so; see the warning")


def _min_received(answer: QuoteResult, figures: QuoteFigures) -> Fact:
    shown = exact_amount(figures.min_received, answer.order.token_out)
    return Fact("At least", shown, f"with {format_percent(figures.slippage_ppm)}% slippage")


def _rate(answer: QuoteResult, figures: QuoteFigures) -> Fact:
    order = answer.order
    amount_in = (figures.amount_in, order.token_in.decimals)
    amount_out = (figures.amount_out, order.token_out.decimals)
    symbol_in, symbol_out = symbol(order.token_in), symbol(order.token_out)
    digits = shown_digits(figures.state)
    return Fact(
        "Rate",
        f"1 {symbol_in} = {format_ratio(*amount_out, *amount_in, digits=digits)} {symbol_out}",
        f"1 {symbol_out} = {format_ratio(*amount_in, *amount_out, digits=digits)} {symbol_in}",
    )


def _impact(figures: QuoteFigures) -> Fact:
    impact = figures.price_impact
    if impact is None:
        return Fact("Price impact", "unknown")
    return Fact("Price impact", format_percentage(impact.fraction), IMPACT_NOTES[impact.basis])


def _single_path(answer: QuoteResult, figures: QuoteFigures) -> Iterator[Fact]:
    path, out = figures.single_path, answer.order.token_out
    if path is None:
        return
    if path.amount_out is None:
        yield Fact("Single path", "none", "no single path can fill the order")
    else:
        yield Fact("Single path", exact_amount(path.amount_out, out), _split_gain(path.gain_bps or 0.0))


def _pool_limit(answer: QuoteResult, figures: QuoteFigures) -> Iterator[Fact]:
    limit, order = figures.pool_limit, answer.order
    if limit is None:
        return
    cost = f"costs {limit.cost_bps:,.2f} bps" if limit.cost_bps >= 0 else f"saves gas for {-limit.cost_bps:,.2f} bps"
    without = exact_amount(limit.amount, order.token_in if order.reverse else order.token_out)
    yield Fact("Pool limit", cost if limit.cost_bps else "costs nothing", f"{without} without it")


def _split_gain(gain_bps: float) -> str:
    """Describe the gain over the best single path. It is negative only if the route saves more than that in gas."""
    if gain_bps < 0:
        return f"splitting saves gas for {-gain_bps:,.2f} bps"
    return f"splitting gains {gain_bps:,.2f} bps" if gain_bps else "splitting gains nothing"


def _gas(answer: QuoteResult, figures: QuoteFigures) -> Fact:
    native = answer.network.native
    value_usd = "" if figures.gas_usd is None else format_usd(figures.gas_usd)
    if figures.gas_price_wei is not None:
        costs = [*_gas_costs(figures, native), value_usd]
        return Fact("Gas", f"{figures.gas_units or 0:,} units", ", ".join(filter(None, costs)))
    if figures.gas_wei is not None:
        return Fact("Gas", exact_amount(figures.gas_wei, native), value_usd)
    return Fact("Gas", "unknown" if figures.gas_units is None else f"{figures.gas_units:,} units", value_usd)


def _after_gas(answer: QuoteResult, figures: QuoteFigures) -> Iterator[Fact]:
    net, amount_out = figures.output_net_of_gas, figures.amount_out_after_fee
    if net is not None and amount_out:
        share = (amount_out - net) / amount_out
        note = f"gas takes {format_percentage(share) if share < 1 else 'more than all'} of the output"
        if figures.gas_value_source is GasValueSource.BEST_PATH:
            note += ", valued by the best path"
        yield Fact("After gas", exact_amount(net, answer.order.token_out), note)


def _gas_costs(figures: QuoteFigures, native: Token) -> Iterator[str]:
    gas_wei, price_wei, l1_fee_wei = figures.gas_wei or 0, figures.gas_price_wei or 0, figures.l1_fee_wei or 0
    yield f"{exact_amount(gas_wei - l1_fee_wei, native)} at {whole_tokens(price_wei, 9)} gwei"
    if l1_fee_wei:
        yield f"{exact_amount(l1_fee_wei, native)} for L1 data"


def certificate_facts(figures: QuoteFigures) -> Iterator[Fact]:
    """Yield how much better any route could be, and the proof's file, if they were requested."""
    yield from _certificate(figures)
    if figures.proof_file is not None:
        yield Fact("Proof", printable(figures.proof_file), "scripts/check_proof.py checks it without swapcli")


def _certificate(figures: QuoteFigures) -> Iterator[Fact]:
    certificate = figures.certificate
    if certificate is None:
        return
    checked = f"{certificate.pools_checked:,} pool{'s' if certificate.pools_checked != 1 else ''} checked"
    if not figures.is_search_complete:
        checked += "; the search ran out of time"
    if figures.changing_pools:
        checked += f"; {_changing_note(figures)}"
    if not certificate.is_proof:
        yield Fact("Optimality", "unknown", f"no bound was found on the output of any router; {checked}")
        return
    bounds = f"{_within(certificate.gap_bps, ' bps')} with arbitrage"
    if certificate.net_of_gas is not None:
        bounds += f", {_within(certificate.net_of_gas.gap_bps)} net of gas"
    yield Fact(
        "Optimality",
        f"within {format_bps_rounded_up(certificate.acyclic_gap_bps)} bps",
        f"of the best over these pools; {bounds}; {checked}",
    )


def _unread(figures: QuoteFigures) -> Iterator[Fact]:
    gain_bps = figures.unread_gain_bps
    if gain_bps is not None and gain_bps > _SHOWN_GAIN_BPS:
        yield Fact("Unread pools", f"up to {gain_bps:,.1f} bps", "what they might add, by their last known state")


def _within(gap_bps: float, unit: str = "") -> str:
    return format_bps_rounded_up(gap_bps) + unit if gap_bps < NO_PROOF_BPS else "no bound"


def _changing_note(figures: QuoteFigures) -> str:
    """Say that pools of the route change without a trade, and for which time they are quoted."""
    count = len(figures.changing_pools)
    pools = "1 pool changes" if count == 1 else f"{count} pools change"
    block = f"block {figures.state.block}" if figures.state.block is not None else "the state"
    return f"{pools} with time, a rate or a hook, and count as of {block}"


def _state(figures: QuoteFigures) -> Fact:
    state, age_s = figures.state, figures.state.age_s
    if state.kind is None:
        name = printable(state.service_url or state.description)
        return Fact("State", "unknown", f"{name} does not report it")
    age = format_age(age_s) if age_s is not None else ""
    left_s = figures.expires_at_s - figures.quoted_at_s if age_s is not None else 0
    validity = f"valid for {left_s} s more" if left_s > 0 else ""
    quoted_by = f"quoted by {printable(state.service_url)}" if state.service_url else printable(state.description)
    count = state.without_samples
    unused = f"{count} pool{'s' if count > 1 else ''} not used that only a node can quote" if count else ""
    note = ", ".join(filter(None, [describe_block(state), age, validity, quoted_by, unused]))
    if figures.changing_pools:
        note += f"; {_changing_note(figures)}"
    return Fact("State", state.kind, note)
