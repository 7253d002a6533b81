"""Find the warnings about a quote, to read before signing. Some of them block the payload above a maximum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.core.model.finding import Finding, FindingCode, Level, worst_level
from swapcli.core.model.market import Provenance
from swapcli.core.model.network import OWN, Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.price_impact import ImpactBasis, PriceImpact
from swapcli.core.model.state_source import StateSource, chain_time_s
from swapcli.core.model.swap_terms import PPM_PER_PERCENT, SwapTerms, after_fee
from swapcli.core.model.token import in_tokens
from swapcli.core.model.units import BPS, PPM
from swapcli.interface.slippage import format_percent
from swapcli.payload.dialects import router_dialect
from swapcli.quoting.quote_results import LocalQuote, QuoteResult, RemoteQuote
from swapcli.quoting.transfer_rules import rounding_of, transfer_warnings

if TYPE_CHECKING:
    from swapcli.core.model.skipped_pool import SkippedPool
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.quoting.config import Settings

NOT_LIVE = "not live prices"
PLACEHOLDER_MARK = "invented"
"""Marks pools whose addresses are placeholders in tables and warnings."""
SAMPLED_MARK = "sampled"
"""Marks pools quoted by their protocols in tables."""

_MAX_GAS_SHARE_PPM = 100_000
"""Share of the output above which an order mostly pays for gas: 10%."""

_STATE_CODES = {
    Provenance.MODELLED: FindingCode.STATE_MODELLED,
    Provenance.SYNTHETIC: FindingCode.STATE_SYNTHETIC,
}
_UNREAD_WARNING_BPS = 5.0
"""The lowest fee of a common pool: below it, another route rarely pays more."""
_MAX_CLOCK_DIFFERENCE_S = 60
"""Several block times on every network, and far more than the error of a synchronized clock."""
_MAX_NAMED = 10
"""Pools with the same fault that a warning names: a family has thousands."""


def answer_warnings(
    answer: QuoteResult, impact: PriceImpact | None, terms: SwapTerms, gas_cost: int | None
) -> tuple[Finding, ...]:
    """Return the warnings about a quote, including those about its price impact and terms. Each code appears once.

    `gas_cost` is in base units of the output, None if it is unknown.
    """
    of_quote = quote_warnings(impact, answer.state_source, terms, placeholder_note(answer))
    return (
        *of_quote,
        *_gas_warnings(answer, terms, gas_cost),
        *_search_warnings(answer),
        *(_route_warnings(answer) if isinstance(answer, LocalQuote) else ()),
    )


def quote_warnings(
    impact: PriceImpact | None, origin: StateSource, terms: SwapTerms, placeholder_note: str = ""
) -> tuple[Finding, ...]:
    """Return the warnings about a price impact, a state and terms. Each code appears once. `placeholder_note` comes
    after the warning about the state."""
    own = (
        *live_warnings(origin),
        *clock_warnings(origin),
        *impact_findings(impact, origin, terms.impact_warning_ppm),
        *slippage_findings(terms.slippage_ppm, terms.slippage_warning_ppm),
        *_recipient_warnings(terms),
        *_state_warnings(origin, terms.ttl_s, placeholder_note),
    )
    codes = {each.code for each in own}
    others = [code for code in origin.reported.codes if code not in codes]
    return (*own, *(Finding(code, Level.WARN, f"{_service(origin)} warns of {code}") for code in others))


def deadline_warnings(
    payload: UnsignedTransaction, network: Network, terms: SwapTerms, state: StateSource, now_s: float
) -> Iterator[Finding]:
    """Yield warnings about a requested deadline that no contract enforces, about a deadline too close for its signers,
    and about clock differences.

    This project's own router enforces deadlines since the version with `swapBefore`.
    """
    from swapcli.core.model.transaction import deadline_of

    end_s = deadline_of(payload, network.router_dialect).end_s
    if end_s is not None:
        yield from _lifetime_warnings(end_s, terms.lifetime_s, state.network_time_s(now_s))
    if terms.permit:
        return
    if router_dialect(network).enforces_deadline:
        yield from _deadline_clock_warnings(terms, state, now_s)
        return
    if network.router_dialect == OWN:
        yield FindingCode.DEADLINE_NOT_ENFORCED.finding(
            "the contract at the router's address is not the current swapcli router: its swap "
            "has no deadline, so the transaction never expires",
        )
        return
    if terms.deadline_s is None:
        return
    deadline = datetime.fromtimestamp(terms.deadline_s, UTC).isoformat()
    yield FindingCode.DEADLINE_NOT_ENFORCED.finding(
        f"the router's swap has no deadline, so the transaction does not expire at {deadline}",
    )


def _lifetime_warnings(end_s: int, lifetime_s: int, now_s: float) -> Iterator[Finding]:
    """Yield a warning if a deadline is less than a lifetime away, allowing for the time since a duration was
    counted."""
    left_s = end_s - int(now_s)
    if not lifetime_s or left_s + _MAX_CLOCK_DIFFERENCE_S >= lifetime_s:
        return
    from swapcli.core.model.number_format import format_duration, format_time

    yield FindingCode.DEADLINE_SHORT.finding(
        f"the swap expires in {format_duration(max(left_s, 0))}, at {format_time(end_s)}; its signers may need"
        f" {format_duration(lifetime_s)}",
        "omit --deadline, or set a later one such as 3d",
    )


def exact_output_warnings(order: Order, payload: UnsignedTransaction) -> Iterator[Finding]:
    """Yield a warning if the amount to buy is not guaranteed, because routers sell a fixed amount."""
    least = payload.call.route.min_received
    if order.reverse and least < order.amount:
        wanted, guaranteed = (in_tokens(amount, order.token_out) for amount in (order.amount, least))
        yield FindingCode.OUTPUT_NOT_GUARANTEED.finding(
            f"the payload sells a fixed amount: it may deliver less than the {printable(wanted)} to buy, but at least"
            f" {printable(guaranteed)}",
        )


def state_warnings(market: StateSource, origin: StateSource, ttl_s: int) -> tuple[Finding, ...]:
    """Return the warnings about prices and pools in the state `origin`, and about the market's newest state."""
    return (*live_warnings(market), *clock_warnings(market), *_state_warnings(origin, ttl_s, ""))


def clock_warnings(state: StateSource) -> Iterator[Finding]:
    """Yield a warning if the network's time is used instead of this machine's clock."""
    if state.clock_offset_s:
        yield _clock_differs(
            "the time of the network's nodes", -state.clock_offset_s, "ages and deadlines use that time"
        )


def _deadline_clock_warnings(terms: SwapTerms, state: StateSource, now_s: float) -> Iterator[Finding]:
    """Yield a warning if a deadline counts from the time of a block that is far from this machine's clock.

    A time on which nodes agree already has a warning.
    """
    block_s = chain_time_s(state)
    if block_s is None or state.clock_offset_s or (terms.deadline_s is not None and terms.deadline_in_s is None):
        return
    difference_s = int(now_s) - block_s
    if abs(difference_s) > _MAX_CLOCK_DIFFERENCE_S:
        yield _clock_differs("the latest block", difference_s, "the deadline uses the block's time")


def _clock_differs(what: str, behind_s: int, consequence: str) -> Finding:
    side = "behind" if behind_s > 0 else "ahead of"
    return FindingCode.CLOCK_DIFFERS.finding(
        f"{what} is {abs(behind_s):,} seconds {side} this machine's clock; {consequence}"
    )


def live_warnings(origin: StateSource) -> Iterator[Finding]:
    """Yield a warning if live state was requested but no node returned it. Stored prices are real, and modelled prices
    are not."""
    if origin.live_failure:
        is_unreal = origin.provenance is not None and not origin.is_live
        level = Level.WARN if is_unreal else None
        yield FindingCode.LIVE_UNAVAILABLE.finding(origin.live_failure, level=level)


def _gas_warnings(answer: QuoteResult, terms: SwapTerms, cost: int | None) -> Iterator[Finding]:
    """Yield a warning if gas costs more than a tenth of the swap's output after an integrator's fee."""
    amount_out = after_fee(answer.result.output_amount, terms.integrator.fee_bps if terms.integrator else 0)
    if cost is None or cost * PPM <= amount_out * _MAX_GAS_SHARE_PPM:
        return
    token, share = answer.order.token_out, f"{cost / amount_out:.0%} of" if amount_out else "all of"
    yield FindingCode.GAS_EXCEEDS_SHARE.finding(
        f"gas costs {in_tokens(cost, token)}, {share} the {in_tokens(amount_out, token)} that the swap pays",
    )


def _search_warnings(answer: QuoteResult) -> Iterator[Finding]:
    if not isinstance(answer, LocalQuote):
        return
    if not answer.quote.is_search_complete:
        message = "the search ran out of time: this is the best route found so far (setting solve_time_s)"
        yield FindingCode.SEARCH_TIME_UP.finding(message)
    yield from unread_findings(answer.unread_gain_bps)
    for each in answer.contradictions:
        left_out = f"all {each.protocol} pools were" if each.quoted else f"pool {each.pool} was"
        quoted = f"quotes {each.quoted}" if each.quoted else "quotes nothing"
        yield FindingCode.POOL_LEFT_OUT.finding(
            f"{left_out} skipped: for {each.amount_in} base units in pool {each.pool}, the contract {quoted}, but "
            f"swapcli computes {each.computed}",
        )


def is_exact(answer: QuoteResult) -> bool | None:
    """Return whether every amount in a quote is exact, as in `QuoteFigures`; None if a service made the quote."""
    if not isinstance(answer, LocalQuote):
        return None
    return _is_sampled_exactly(answer) and rounding_of(answer) is None


def _is_sampled_exactly(answer: LocalQuote) -> bool:
    """Return whether every protocol that quotes a pool of the route has quoted this amount at the block."""
    quote = answer.quote
    return not quote.sampled_pools or (not quote.estimated_pools and answer.state_source.pinned is True)


def _route_warnings(answer: LocalQuote) -> tuple[Finding, ...]:
    return (*_sampled_warnings(answer), *_hook_warnings(answer), *transfer_warnings(answer))


def _sampled_warnings(answer: LocalQuote) -> Iterator[Finding]:
    """Yield a warning if an amount is an estimate from samples, or may come from another block."""
    if _is_sampled_exactly(answer):
        return
    estimated, sampled = len(answer.quote.estimated_pools), len(answer.quote.sampled_pools)
    pools = f"{estimated or sampled} pool{'s' if (estimated or sampled) > 1 else ''}"
    if estimated:
        message = f"the amount is an estimate: at this block, the contracts of {pools} quoted only other amounts"
    else:
        message = f"the amount is a contract's quote for {pools}, and nothing proves the block of that quote"
    yield FindingCode.AMOUNT_SAMPLED.finding(f"{message}; simulate before signing")


def _hook_warnings(answer: LocalQuote) -> Iterator[Finding]:
    """Yield a warning about pools, except the last one, whose hook may trade elsewhere in the same transaction."""
    *earlier, _ = dict.fromkeys(step.pool for step in answer.quote.steps)
    pools = [key for key in earlier if _has_hook_after_swap(answer.pools[key])]
    if pools:
        called = f"pool {pools[0]} calls its hook" if len(pools) == 1 else f"{len(pools)} pools call their hooks"
        message = f"{called} after the swap, which may move prices in the next pools: simulate before signing"
        yield FindingCode.HOOK_MAY_TRADE.finding(message)


def _has_hook_after_swap(pool: Pool) -> bool:
    return pool.is_single_use and "hooks" in pool.api_extra_data()


def impact_findings(
    impact: PriceImpact | None, origin: StateSource, warning_ppm: int, max_ppm: int | None = None
) -> Iterator[Finding]:
    """Yield a finding about a price impact that is unknown or above `warning_ppm`. It blocks the swap above
    `max_ppm`."""
    if impact is None:
        reason = (
            f"{_service(origin)} has no prices of these tokens" if origin.service_url else "these tokens have no price"
        )
        yield FindingCode.PRICE_IMPACT_UNKNOWN.finding(f"the price impact is unknown: {reason}")
    elif max_ppm is not None and impact.fraction * PPM > max_ppm:
        facts = {
            "price_impact_percent": round(impact.fraction * 100, 4),
            "max_impact_percent": max_ppm / PPM_PER_PERCENT,
            "basis": impact.basis.value,
            "sold_usd": impact.sold_usd,
            "bought_usd": impact.bought_usd,
        }
        yield _above_maximum(
            FindingCode.PRICE_IMPACT_HIGH, _impact_sentence(impact, origin), "sell less", max_ppm, facts
        )
    elif impact.fraction * PPM > warning_ppm:
        yield FindingCode.PRICE_IMPACT_HIGH.finding(_impact_sentence(impact, origin))


def unread_findings(gain_bps: float | None, max_ppm: int | None = None) -> Iterator[Finding]:
    """Yield a finding if unread pools might add significantly to the output. The finding blocks the swap if they might
    add more than `max_ppm`."""
    if gain_bps is None:
        return
    message = f"unread pools could add up to {gain_bps:,.1f} bps to the output"
    if max_ppm is not None and gain_bps * PPM / BPS > max_ppm:
        facts = {"unread_gain_bps": gain_bps, "max_impact_percent": max_ppm / PPM_PER_PERCENT}
        hint = "set your own node, which reads more pools, or sell less"
        yield _above_maximum(FindingCode.SEARCH_UNREAD, message, hint, max_ppm, facts)
    elif gain_bps > _UNREAD_WARNING_BPS:
        yield FindingCode.SEARCH_UNREAD.finding(message)


def slippage_findings(slippage_ppm: int, warning_ppm: int, max_ppm: int | None = None) -> Iterator[Finding]:
    """Yield a finding about a slippage above `warning_ppm`. It blocks the swap above `max_ppm`."""
    percent = format_percent(slippage_ppm)
    message = f"a slippage of {percent}% lets the swap pay that much less than the quote"
    if max_ppm is not None and slippage_ppm > max_ppm:
        facts = {
            "slippage_percent": slippage_ppm / PPM_PER_PERCENT,
            "max_slippage_percent": max_ppm / PPM_PER_PERCENT,
        }
        hint = f"{percent} is {percent} percent: write {percent}bps for basis points"
        yield _above_maximum(FindingCode.SLIPPAGE_HIGH, message, hint, max_ppm, facts)
    elif slippage_ppm > warning_ppm:
        yield FindingCode.SLIPPAGE_HIGH.finding(message)


def settle_impact(
    impact: PriceImpact | None,
    origin: StateSource,
    settings: Settings,
    name_setting: Callable[[str], str] = str,
    *,
    unread_gain_bps: float | None = None,
) -> None:
    """Raise `PriceImpactTooHigh` or `UnreadGainTooHigh` if the swap may lose more than the settings allow.

    `name_setting` returns a setting's name for the error.
    """
    max_ppm = settings.max_impact_ppm
    impact_found = impact_findings(impact, origin, settings.impact_warning_ppm, max_ppm)
    _settle((*impact_found, *unread_findings(unread_gain_bps, max_ppm)), name_setting)


def settle_slippage(slippage_ppm: int, settings: Settings, name_setting: Callable[[str], str] = str) -> None:
    """Raise `SlippageTooHigh` if the slippage is above the settings' maximum. `name_setting` returns a setting's name
    for the error."""
    found = slippage_findings(slippage_ppm, settings.slippage_warning_ppm, settings.max_slippage_ppm)
    _settle(tuple(found), name_setting)


def _settle(findings: tuple[Finding, ...], name_setting: Callable[[str], str]) -> None:
    if worst_level(findings) is Level.BLOCK:
        from swapcli.payload.checks.settlement import settle

        settle(findings, name_setting=name_setting)


def _above_maximum(code: FindingCode, message: str, hint: str, max_ppm: int, facts: Mapping[str, object]) -> Finding:
    return code.finding(f"{message}; {format_percent(max_ppm)}% is allowed", hint, Level.BLOCK, tuple(facts.items()))


def _recipient_warnings(terms: SwapTerms) -> Iterable[Finding]:
    if terms.recipient is None:
        return ()
    from swapcli.payload.checks.recipients import recipient_warnings

    return recipient_warnings(terms.recipient)


def _skipped_pool_warnings(skipped: Iterable[SkippedPool]) -> Iterator[Finding]:
    """Yield a warning for each exception that caused pools to be skipped, with the pools."""
    pools_by_reason: dict[str, list[str]] = {}
    for each in skipped:
        pools_by_reason.setdefault(each.reason, []).append(f"{each.key} ({each.protocol})")
    for reason, pools in pools_by_reason.items():
        if len(pools) == 1:
            message = f"pool {pools[0]} was skipped: {reason}"
        else:
            others = f" and {len(pools) - _MAX_NAMED:,} more" if len(pools) > _MAX_NAMED else ""
            message = f"{len(pools):,} pools were skipped: {reason}: {', '.join(pools[:_MAX_NAMED])}{others}"
        yield FindingCode.POOL_LEFT_OUT.finding(message)


def _state_warnings(origin: StateSource, ttl_s: int, placeholder_note: str) -> Iterator[Finding]:
    """Yield a warning if the pool state is not live, unknown, or older than `ttl_s` without being requested.

    Pools that are skipped because of a fault are named as well.
    """
    yield from _skipped_pool_warnings(origin.skipped_pools)
    if origin.provenance is None:
        message = f"{_service(origin)} does not report the state of its quotes"
        yield FindingCode.STATE_UNKNOWN.finding(message)
    elif not origin.is_live:
        message = f"the pool state is {origin.provenance.value}: these are {NOT_LIVE}{placeholder_note}"
        yield _STATE_CODES[origin.provenance].finding(message)
    elif origin.age_s is not None and origin.age_s > ttl_s and not origin.is_past:
        message = f"the pool state is {format_age(origin.age_s)}: prices may have moved since{placeholder_note}"
        yield FindingCode.STATE_OLD.finding(message)


def format_age(seconds: int) -> str:
    """Return an age in the largest unit that fits, such as "2 hours old"."""
    from swapcli.core.model.number_format import format_duration

    return f"{format_duration(seconds)} old"


def _impact_sentence(impact: PriceImpact, origin: StateSource) -> str:
    shown = f"price impact of {_percent(impact.fraction)}"
    if impact.sold_usd is not None and impact.bought_usd is not None:
        return f"{shown}: ${impact.bought_usd:,.2f} for ${impact.sold_usd:,.2f}"
    if impact.basis is ImpactBasis.SERVICE:
        return f"{shown}, as {_service(origin)} reports"
    return f"{shown} relative to the price of a small order in these pools"


def _percent(fraction: float) -> str:
    """Return a loss to two decimals, rounded down, so that only a total loss reads 100%."""
    return f"{int(fraction * 10_000) / 100:.2f}%"


def _service(origin: StateSource) -> str:
    return origin.service_url or origin.description


def placeholder_note(answer: QuoteResult) -> str:
    """Return a note about the number of placeholder pool addresses in a result; empty if there are none.

    A pool that shares its contract with others has its own key instead of an address.
    """
    if isinstance(answer, RemoteQuote) or not answer.placeholder_pools:
        return ""
    has_keys = {answer.pools[key].address != key for key in answer.placeholder_pools}
    names = " and ".join({False: "addresses", True: "keys"}[each] for each in sorted(has_keys))
    return f"; {PLACEHOLDER_MARK} pool {names}: {len(answer.placeholder_pools)} of {len(answer.result.pool_keys)}"
