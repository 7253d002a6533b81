"""The facts of a quote: amounts, rate, price impact, gas, optimality and state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from swapcli import Network, QuoteFigures, SwapTerms, Token
from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import (
    format_bps_rounded_up,
    format_gas_price,
    format_percentage,
    format_ratio,
    format_short_amount,
    format_usd,
)
from swapcli.core.model.price_impact import ImpactBasis
from swapcli.core.model.quote import NO_PROOF_BPS, GasValueSource
from swapcli.core.model.state_source import PAST
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.token import whole_tokens
from swapcli.core.model.units import BPS
from swapcli.core.records import NamedTuple
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
_MIN_SHOWN_BPS = 0.01
_MAX_WRITTEN = 12
"""Maximum length, in characters, of an amount that is shown exactly."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A named value with an optional note."""

    name: str
    value: str
    note: str = ""


def aligned_facts(facts: Sequence[Fact], width: Callable[[str], int] = len) -> list[Fact]:
    """Return the facts to align in columns. A fact without a note is left out if its value is longer than all values
    with a note."""
    longest = max((width(fact.value) for fact in facts if fact.note), default=0)
    return [fact for fact in facts if fact.note or width(fact.value) <= longest]


class HeadRow(NamedTuple):
    """A row below the result: a value with its name, and two short facts next to it."""

    name: str
    value: str
    beside: str
    last: str = ""


class Traded(NamedTuple):
    """The tokens of a swap, its network, and its integrator."""

    token_in: Token
    token_out: Token
    network: Network
    integrator: Integrator | None = None


def build_head(traded: Traded, figures: QuoteFigures) -> Iterator[HeadRow]:
    """Yield the rows that every view has: the minimum output, the price, its impact, gas, and the best single path."""
    integrator, token_out = traded.integrator, traded.token_out
    if integrator and integrator.fee_bps:
        shown = format_short_amount(figures.amount_out_after_fee, token_out.decimals)
        yield HeadRow("after fee", shown, f"{integrator.fee_bps} bps to the integrator")
    minimum = format_short_amount(figures.min_received, token_out.decimals)
    slippage = f"{format_percent(figures.slippage_ppm)}% slippage"
    yield HeadRow("at least", minimum, slippage, _rate(traded, figures))
    impact = "unknown" if figures.price_impact is None else format_percentage(figures.price_impact.fraction)
    yield HeadRow("impact", impact, f"gas {_gas_in_short(traded, figures)}", _single_path_in_short(figures))


def title_of(traded: Traded, figures: QuoteFigures, *, is_reverse: bool = False) -> str:
    """Return the result as a title: "1 ETH → 2,996.42 USDC on base".

    The sold amount is exact, or rounded up if that is too long. The bought amount is rounded down.
    """
    sold = exact_amount(figures.amount_in, traded.token_in)
    if is_reverse or len(sold) > _MAX_WRITTEN + len(symbol(traded.token_in)):
        sold = short_amount(figures.amount_in, traded.token_in, rounds_up=True)
    return f"{sold} → {short_amount(figures.amount_out, traded.token_out)} on {traded.network.name}"


def _rate(traded: Traded, figures: QuoteFigures) -> str:
    """Return the price of one token in the other, in the direction in which it is at least one."""
    token_in, token_out = traded.token_in, traded.token_out
    sold, bought = (figures.amount_in, token_in), (figures.amount_out, token_out)
    is_below_one = figures.amount_out * 10**token_in.decimals < figures.amount_in * 10**token_out.decimals
    (amount_a, token_a), (amount_b, token_b) = (bought, sold) if is_below_one else (sold, bought)
    digits = shown_digits(figures.state)
    ratio = format_ratio(amount_b, token_b.decimals, amount_a, token_a.decimals, digits=digits)
    return f"1 {symbol(token_a)} = {ratio} {symbol(token_b)}"


def _gas_in_short(traded: Traded, figures: QuoteFigures) -> str:
    if figures.gas_usd is not None:
        return format_usd(figures.gas_usd)
    if figures.gas_wei is not None:
        return short_amount(figures.gas_wei, traded.network.native, rounds_up=True)
    return "unknown" if figures.gas_units is None else f"{figures.gas_units:,} units"


def _single_path_in_short(figures: QuoteFigures) -> str:
    """Return how much less the best single path pays. It can only pay more if it costs even more gas."""
    path = figures.single_path
    if path is None:
        return ""
    if path.amount_out is None:
        return "no single path can fill the order"
    gain_bps = path.gain_bps or 0.0  # share of the single path's output
    difference_bps = abs(gain_bps) * BPS / (BPS + gain_bps)  # share of the route's output
    if gain_bps < 0:
        return f"single path {difference_bps:,.2f} bps more before gas"
    shown = f"{difference_bps:,.2f}" if gain_bps >= _MIN_SHOWN_BPS else "<0.01"
    return f"single path {shown} bps less" if gain_bps else ""


def build_facts(answer: QuoteResult, terms: SwapTerms, figures: QuoteFigures, *, verbose: bool) -> Iterator[Fact]:
    """Yield the facts to print below a route, in order: those that the user requested, or all facts with `verbose`."""
    if verbose:
        yield _amount_fact("You sell", figures.amount_in, answer.order.token_in, answer.result.input_token.price_usd)
        yield _amount_fact(
            "You receive", figures.amount_out, answer.order.token_out, answer.result.output_token.price_usd
        )
        yield _amount_fact("At least", figures.min_received, answer.order.token_out, None)
        yield from _impact(figures)
        yield from _single_path(answer, figures)
        yield _gas(answer, figures)
        yield from _after_gas(answer, figures)
    yield from _amount_to_buy(answer, figures)
    yield from _surplus(terms)
    yield from _pool_limit(answer, figures)
    yield from certificate_facts(figures)
    if count := figures.state.without_samples:
        pools, them = ("pool", "it") if count == 1 else ("pools", "them")
        yield Fact("Skipped", f"{count:,} {pools}", f"only a node can quote {them}")
    if verbose:
        yield from _exactness(figures)
        yield from router_facts(figures)
        yield from _book_prices(figures)
        yield from _unread(figures)
        if figures.state.provenance is None or figures.state.is_live:
            yield _state(figures)
        elif figures.changing_pools:  # the first line shows the state
            yield Fact("Pools", "change with time", _changing_note(figures))


def router_facts(figures: QuoteFigures, *, verbose: bool = True) -> Iterator[Fact]:
    """Yield the router and why it was chosen, if there was a choice. With `verbose`, also yield why others were not."""
    choice = figures.router_choice
    if choice is None:
        return
    if not verbose:
        yield Fact("Router", choice.dialect, choice.reason)
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


def short_amount(amount: int, token: Token, *, rounds_up: bool = False) -> str:
    """Format an amount in base units in whole tokens, rounded for people, with the symbol."""
    return f"{format_short_amount(amount, token.decimals, rounds_up=rounds_up)} {symbol(token)}"


def _amount_fact(name: str, amount: int, token: Token, price_usd: float | None) -> Fact:
    value = "" if price_usd is None else f", {format_usd(price_usd * amount / 10**token.decimals)}"
    return Fact(name, exact_amount(amount, token), f"{amount} base units{value}")


def _amount_to_buy(answer: QuoteResult, figures: QuoteFigures) -> Iterator[Fact]:
    """Yield that the amount to buy is not guaranteed, and an amount to buy whose minimum is about the requested one."""
    order, least = answer.order, figures.min_received
    if order.reverse and 0 < least < order.amount:
        wanted = whole_tokens(order.amount, order.token_out.decimals)
        larger = format_short_amount(-(-(order.amount**2) // least), order.token_out.decimals, rounds_up=True)
        note = f"not guaranteed: to get at least about {wanted}, buy {larger}"
        yield Fact("To buy", f"{wanted} {symbol(order.token_out)}", note)


def _surplus(terms: SwapTerms) -> Iterator[Fact]:
    integrator = terms.integrator
    if integrator and integrator.surplus_bps:
        yield Fact("Surplus fee", f"{integrator.surplus_bps} bps", "of any surplus, to the integrator")


def _exactness(figures: QuoteFigures) -> Iterator[Fact]:
    """Yield a fact if a protocol quotes a pool of the route, or if a token stores shares."""
    count = len(figures.sampled_pools)
    if not count and figures.is_exact is False:
        yield Fact("Amounts", "up to rounding", "a token's balances are shares; see the warning")
    if count:
        pools = f"{count} pool{'s' if count > 1 else ''}"
        if figures.is_exact:
            yield Fact("Amounts", "exact", f"{pools} quoted by the protocol, for these amounts at this block")
        else:
            yield Fact("Amounts", "sampled", f"{pools} quoted by the protocol, but not exact; see the warning")


def _impact(figures: QuoteFigures) -> Iterator[Fact]:
    if impact := figures.price_impact:
        yield Fact("Impact", format_percentage(impact.fraction), IMPACT_NOTES[impact.basis])


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
    cost = f"costs {limit.cost_bps:,.2f} bps" if limit.cost_bps >= 0 else f"saves gas worth {-limit.cost_bps:,.2f} bps"
    without = short_amount(limit.amount, order.token_in if order.reverse else order.token_out)
    yield Fact("Pool limit", cost if limit.cost_bps else "costs nothing", f"{without} without it")


def _split_gain(gain_bps: float) -> str:
    """Describe the gain over the best single path. It is negative only if the route saves more than that in gas."""
    if gain_bps < 0:
        return f"splitting saves gas worth {-gain_bps:,.2f} bps"
    return f"splitting gains {gain_bps:,.2f} bps" if gain_bps else "splitting gains nothing"


def _gas(answer: QuoteResult, figures: QuoteFigures) -> Fact:
    native = answer.network.native
    value_usd = "" if figures.gas_usd is None else format_usd(figures.gas_usd)
    if figures.gas_price_wei is not None:
        costs = [*_gas_costs(figures, native), value_usd]
        return Fact("Gas", f"{figures.gas_units or 0:,} units", ", ".join(filter(None, costs)))
    if figures.gas_wei is not None:
        return Fact("Gas", short_amount(figures.gas_wei, native, rounds_up=True), value_usd)
    return Fact("Gas", "unknown" if figures.gas_units is None else f"{figures.gas_units:,} units", value_usd)


def _after_gas(answer: QuoteResult, figures: QuoteFigures) -> Iterator[Fact]:
    net, amount_out = figures.output_after_gas, figures.amount_out_after_fee
    if net is not None and amount_out:
        share = (amount_out - net) / amount_out
        note = f"gas takes {format_percentage(share) if share < 1 else 'more than all'} of the output"
        if figures.gas_value_source is GasValueSource.BEST_PATH:
            note += ", valued at the rate of the best path"
        yield Fact("After gas", exact_amount(net, answer.order.token_out), note)


def _gas_costs(figures: QuoteFigures, native: Token) -> Iterator[str]:
    gas_wei, price_wei, l1_fee_wei = figures.gas_wei or 0, figures.gas_price_wei or 0, figures.l1_fee_wei or 0
    yield f"{short_amount(gas_wei - l1_fee_wei, native, rounds_up=True)} at {format_gas_price(price_wei)}"
    if l1_fee_wei:
        yield f"{short_amount(l1_fee_wei, native, rounds_up=True)} for L1 data"


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
    if certificate.after_gas is not None:
        bounds += f", {_within(certificate.after_gas.gap_bps)} after gas"
    yield Fact(
        "Optimality",
        f"within {format_bps_rounded_up(certificate.acyclic_gap_bps)} bps",
        f"of the best over these pools; {bounds}; {checked}",
    )


def _unread(figures: QuoteFigures) -> Iterator[Fact]:
    gain_bps = figures.unread_gain_bps
    if gain_bps is not None and gain_bps > _SHOWN_GAIN_BPS:
        yield Fact("Unread pools", f"up to {gain_bps:,.1f} bps", "what they might add, based on their last known state")


def _within(gap_bps: float, unit: str = "") -> str:
    return format_bps_rounded_up(gap_bps) + unit if gap_bps < NO_PROOF_BPS else "no bound"


def _changing_note(figures: QuoteFigures) -> str:
    """Return that pools of the route change without a trade, and the time for which they are quoted."""
    count = len(figures.changing_pools)
    pools, are = ("1 pool changes", "is") if count == 1 else (f"{count} pools change", "are")
    block = f"block {figures.state.block}" if figures.state.block is not None else "the state"
    return f"{pools} with time, a rate or a hook, and {are} quoted as of {block}"


def _state(figures: QuoteFigures) -> Fact:
    state, age_s = figures.state, figures.state.age_s
    if state.kind is None:
        name = printable(state.service_url or state.description)
        return Fact("State", "unknown", f"{name} does not report it")
    age = format_age(age_s) if age_s is not None else ""
    left_s = figures.expires_at_s - figures.quoted_at_s if age_s is not None else 0
    validity = f"valid for another {left_s} s" if left_s > 0 and state.kind != PAST else ""
    quoted_by = f"quoted by {printable(state.service_url)}" if state.service_url else printable(state.description)
    note = ", ".join(filter(None, [describe_block(state), age, validity, quoted_by]))
    if figures.changing_pools:
        note += f"; {_changing_note(figures)}"
    return Fact("State", state.kind, note)
