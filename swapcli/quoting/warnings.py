"""Warnings to read before signing a quote, and the price impact above which no payload is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.core.errors import PriceImpactTooHigh, SlippageTooHigh, UnreadGainTooHigh
from swapcli.core.model.market import Provenance
from swapcli.core.model.network import OWN, Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.price_impact import ImpactBasis, PriceImpact
from swapcli.core.model.state_source import StateSource, chain_time_s
from swapcli.core.model.swap_terms import PPM_PER_PERCENT, SwapTerms, after_fee
from swapcli.core.model.token import in_tokens
from swapcli.core.model.units import BPS, PPM
from swapcli.core.model.warning import UNREAL_STATE_CODES, QuoteWarning, WarningCode
from swapcli.core.networks.address import display_address
from swapcli.interface.slippage import format_percent
from swapcli.payload.dialects import router_dialect
from swapcli.quoting.quote_results import LocalQuote, QuoteResult, RemoteQuote
from swapcli.quoting.transfer_rules import rounding_of, transfer_warnings

if TYPE_CHECKING:
    from swapcli.core.model.skipped_pool import SkippedPool
    from swapcli.core.model.transaction import UnsignedTransaction

NOT_LIVE = "not live prices"
PLACEHOLDER_MARK = "invented"
"""Marks pools whose addresses are placeholders in tables and warnings."""
SAMPLED_MARK = "sampled"
"""Marks pools that their protocols quote in tables."""

_MAX_GAS_SHARE_PPM = 100_000
"""Share of the output above which gas is what the order mostly pays for: 10%."""

_STATE_CODES = {
    Provenance.MODELLED: WarningCode.STATE_MODELLED,
    Provenance.SYNTHETIC: WarningCode.STATE_SYNTHETIC,
}
_UNREAD_WARNING_BPS = 5.0
"""The lowest fee of a common pool: below it, another route seldom pays more."""
_MAX_CLOCK_DIFFERENCE_S = 60
"""Several block times on every network, and far more than clocks differ that keep the time."""
_MAX_NAMED = 10
"""Pools that a warning names of those with the same fault: a family has thousands."""
_UNSAFE_STATES = frozenset({*UNREAL_STATE_CODES, WarningCode.STATE_OLD})


def answer_warnings(
    answer: QuoteResult, impact: PriceImpact | None, terms: SwapTerms, gas_cost: int | None
) -> tuple[QuoteWarning, ...]:
    """Return the warnings of an answer with its price impact, on the terms of its swap, each code once.

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
) -> tuple[QuoteWarning, ...]:
    """Return the warnings of a quote on the terms of its swap, each code once. `placeholder_note` follows the warning
    about the state."""
    own = (
        *live_warnings(origin),
        *clock_warnings(origin),
        *_impact_warnings(impact, origin, terms.impact_warning_ppm),
        *_slippage_warnings(terms),
        *_recipient_warnings(terms),
        *_state_warnings(origin, terms.ttl_s, placeholder_note),
    )
    codes = {each.code for each in own}
    others = [code for code in origin.reported.codes if code not in codes]
    return (*own, *(QuoteWarning(code, f"{_service(origin)} warns of {code}") for code in others))


def payload_warnings(
    of_quote: Iterable[QuoteWarning],
    payload: UnsignedTransaction,
    network: Network,
    *,
    is_router_own: bool,
    is_simulated: bool,
) -> tuple[QuoteWarning, ...]:
    """Return the warnings of a payload: those of its quote, and one about a router that is not your own.

    A successful simulation on the real state makes warnings about the router and about unsafe state unnecessary.
    """
    warnings = [each if is_simulated or each.code not in _UNSAFE_STATES else _not_to_sign(each) for each in of_quote]
    if not is_router_own and not is_simulated:
        router = display_address(payload.to, network.kind)
        warnings.append(
            QuoteWarning(
                WarningCode.ROUTER_UNVERIFIED,
                f"the payload targets the public router {router}, which enforces no deadline, and whose code is not"
                " published in full: simulate it before signing",
            )
        )
    return tuple(warnings)


def deadline_warnings(network: Network, terms: SwapTerms, state: StateSource, now_s: float) -> Iterator[QuoteWarning]:
    """Yield a warning about a requested deadline that the router does not enforce, and one about clocks that differ.

    This project's router enforces a deadline from the version with `swapBefore` on. Every router enforces the deadline
    of a permit.
    """
    if terms.permit:
        return
    if router_dialect(network).enforces_deadline:
        yield from _deadline_clock_warnings(terms, state, now_s)
        return
    if network.router_dialect == OWN:
        yield QuoteWarning(
            WarningCode.DEADLINE_NOT_ENFORCED,
            "the contract at the router's address is not the present version of this project's router: its swap takes"
            " no deadline, so the transaction does not expire by itself",
        )
        return
    if terms.deadline_s is None:
        return
    deadline = datetime.fromtimestamp(terms.deadline_s, UTC).isoformat()
    yield QuoteWarning(
        WarningCode.DEADLINE_NOT_ENFORCED,
        f"the router's swap takes no deadline, so the transaction does not expire by itself at {deadline}",
    )


def exact_output_warnings(order: Order, payload: UnsignedTransaction) -> Iterator[QuoteWarning]:
    """Yield a warning if the amount to buy is not guaranteed: every router sells a fixed amount."""
    least = payload.call.route.min_received
    if order.reverse and least < order.amount:
        wanted, guaranteed = (in_tokens(amount, order.token_out) for amount in (order.amount, least))
        yield QuoteWarning(
            WarningCode.OUTPUT_NOT_GUARANTEED,
            f"the payload sells a fixed amount: it may deliver less than the {printable(wanted)} to buy, but at least"
            f" {printable(guaranteed)}",
        )


def state_warnings(market: StateSource, origin: StateSource, ttl_s: int) -> tuple[QuoteWarning, ...]:
    """Return the warnings about prices and pools of the state `origin`, and about the newest state of their market."""
    return (*live_warnings(market), *clock_warnings(market), *_state_warnings(origin, ttl_s, ""))


def clock_warnings(state: StateSource) -> Iterator[QuoteWarning]:
    """Yield a warning if the time of the network counts rather than this machine's clock."""
    if state.clock_offset_s:
        yield _clock_differs(
            "the time of the network's nodes", -state.clock_offset_s, "ages and deadlines count from it"
        )


def _deadline_clock_warnings(terms: SwapTerms, state: StateSource, now_s: float) -> Iterator[QuoteWarning]:
    """Yield a warning if a deadline counts from the time of a block that is far from this machine's clock.

    A time on which nodes agree has its warning already.
    """
    block_s = chain_time_s(state)
    if block_s is None or state.clock_offset_s or (terms.deadline_s is not None and terms.deadline_in_s is None):
        return
    difference_s = int(now_s) - block_s
    if abs(difference_s) > _MAX_CLOCK_DIFFERENCE_S:
        yield _clock_differs("the newest block", difference_s, "the deadline counts from the block")


def _clock_differs(what: str, behind_s: int, consequence: str) -> QuoteWarning:
    side = "behind" if behind_s > 0 else "ahead of"
    return QuoteWarning(
        WarningCode.CLOCK_DIFFERS, f"{what} is {abs(behind_s):,} seconds {side} this machine's clock; {consequence}"
    )


def live_warnings(origin: StateSource) -> Iterator[QuoteWarning]:
    """Yield a warning where live state was wanted, and no node gave it."""
    if origin.live_failure:
        yield QuoteWarning(WarningCode.LIVE_UNAVAILABLE, origin.live_failure)


def _gas_warnings(answer: QuoteResult, terms: SwapTerms, cost: int | None) -> Iterator[QuoteWarning]:
    """Yield a warning where gas costs more than a tenth of what the swap pays after an integrator's fee."""
    amount_out = after_fee(answer.result.output_amount, terms.integrator.fee_bps if terms.integrator else 0)
    if cost is None or cost * PPM <= amount_out * _MAX_GAS_SHARE_PPM:
        return
    token, share = answer.order.token_out, f"{cost / amount_out:.0%} of" if amount_out else "all of"
    yield QuoteWarning(
        WarningCode.GAS_EXCEEDS_SHARE,
        f"gas costs {in_tokens(cost, token)}, {share} the {in_tokens(amount_out, token)} that the swap pays",
    )


def _search_warnings(answer: QuoteResult) -> Iterator[QuoteWarning]:
    if not isinstance(answer, LocalQuote):
        return
    if not answer.quote.is_search_complete:
        message = "the search ran out of time: this is the best route found until then (setting solve_time_s)"
        yield QuoteWarning(WarningCode.SEARCH_TIME_UP, message)
    if answer.unread_gain_bps is not None and answer.unread_gain_bps > _UNREAD_WARNING_BPS:
        yield QuoteWarning(WarningCode.SEARCH_UNREAD, _unread_sentence(answer.unread_gain_bps))
    for each in answer.contradictions:
        left_out = f"all pools of {each.protocol} were" if each.quoted else f"pool {each.pool} was"
        quoted = f"quotes {each.quoted}" if each.quoted else "quotes nothing"
        yield QuoteWarning(
            WarningCode.POOL_LEFT_OUT,
            f"{left_out} left out: for {each.amount_in} base units in the pool {each.pool}, "
            f"its contract {quoted}, and not the {each.computed} that were computed",
        )


def is_exact(answer: QuoteResult) -> bool | None:
    """Return whether every amount of a quote is exact, as in `QuoteFigures`; None if a service quoted."""
    if not isinstance(answer, LocalQuote):
        return None
    return _is_sampled_exactly(answer) and rounding_of(answer) is None


def _is_sampled_exactly(answer: LocalQuote) -> bool:
    """Return whether each protocol that quotes a pool of the route has quoted this amount at the block."""
    quote = answer.quote
    return not quote.sampled_pools or (not quote.estimated_pools and answer.state_source.pinned is True)


def _route_warnings(answer: LocalQuote) -> tuple[QuoteWarning, ...]:
    return (*_sampled_warnings(answer), *_hook_warnings(answer), *transfer_warnings(answer))


def _sampled_warnings(answer: LocalQuote) -> Iterator[QuoteWarning]:
    """Yield a warning if an amount is an estimate from samples, or may be of another block."""
    if _is_sampled_exactly(answer):
        return
    estimated, sampled = len(answer.quote.estimated_pools), len(answer.quote.sampled_pools)
    pools = f"{estimated or sampled} pool{'s' if (estimated or sampled) > 1 else ''}"
    if estimated:
        message = f"the amount is sampled: the protocol of {pools} has quoted other amounts at this block, not this one"
    else:
        message = f"the amount is sampled: nothing proves at which block the protocol of {pools} has quoted it"
    yield QuoteWarning(WarningCode.AMOUNT_SAMPLED, f"{message}; simulate before signing")


def _hook_warnings(answer: LocalQuote) -> Iterator[QuoteWarning]:
    """Yield a warning about the pools, except the last one, whose hook may trade elsewhere in the same transaction."""
    *earlier, _ = dict.fromkeys(step.pool for step in answer.quote.steps)
    pools = [key for key in earlier if _has_hook_after_swap(answer.pools[key])]
    if pools:
        called = f"pool {pools[0]} calls its hook" if len(pools) == 1 else f"{len(pools)} pools call their hooks"
        message = f"{called} after the swap, which may move the prices of the next pools: simulate before signing"
        yield QuoteWarning(WarningCode.HOOK_MAY_TRADE, message)


def _has_hook_after_swap(pool: Pool) -> bool:
    return pool.is_single_use and "hooks" in pool.api_extra_data()


def _not_to_sign(warning: QuoteWarning) -> QuoteWarning:
    return warning._replace(message=f"{warning.message}; do not sign the payload")


def _impact_warnings(impact: PriceImpact | None, origin: StateSource, warning_ppm: int) -> Iterator[QuoteWarning]:
    if impact is None:
        reason = (
            f"{_service(origin)} gives no prices of these tokens"
            if origin.service_url
            else "these tokens have no price"
        )
        yield QuoteWarning(WarningCode.PRICE_IMPACT_UNKNOWN, f"the price impact is unknown: {reason}")
    elif impact.fraction * PPM > warning_ppm:
        yield QuoteWarning(WarningCode.PRICE_IMPACT_HIGH, _impact_sentence(impact, origin))


def _slippage_warnings(terms: SwapTerms) -> Iterator[QuoteWarning]:
    if terms.slippage_ppm > terms.slippage_warning_ppm:
        yield QuoteWarning(WarningCode.SLIPPAGE_HIGH, _slippage_sentence(terms.slippage_ppm))


def _slippage_sentence(slippage_ppm: int) -> str:
    return f"a slippage of {format_percent(slippage_ppm)}% lets the swap pay that much less than the quote"


def _recipient_warnings(terms: SwapTerms) -> Iterable[QuoteWarning]:
    if terms.recipient is None:
        return ()
    from swapcli.payload.checks.recipients import recipient_warnings

    return recipient_warnings(terms.recipient)


def _skipped_pool_warnings(skipped: Iterable[SkippedPool]) -> Iterator[QuoteWarning]:
    """Yield a warning for each exception that has skipped pools, with the pools."""
    pools_by_reason: dict[str, list[str]] = {}
    for each in skipped:
        pools_by_reason.setdefault(each.reason, []).append(f"{each.key} ({each.protocol})")
    for reason, pools in pools_by_reason.items():
        if len(pools) == 1:
            message = f"pool {pools[0]} was skipped: {reason}"
        else:
            others = f" and {len(pools) - _MAX_NAMED:,} more" if len(pools) > _MAX_NAMED else ""
            message = f"{len(pools):,} pools were skipped: {reason}: {', '.join(pools[:_MAX_NAMED])}{others}"
        yield QuoteWarning(WarningCode.POOL_LEFT_OUT, message)


def _state_warnings(origin: StateSource, ttl_s: int, placeholder_note: str) -> Iterator[QuoteWarning]:
    """Yield a warning where the state of the pools is not live, unknown, or older than `ttl_s` unasked.

    Pools that are skipped because of a fault are named as well.
    """
    yield from _skipped_pool_warnings(origin.skipped_pools)
    if origin.provenance is None:
        message = f"{_service(origin)} does not say which state its quotes rest on"
        yield QuoteWarning(WarningCode.STATE_UNKNOWN, message)
    elif not origin.is_live:
        message = f"the state of the pools is {origin.provenance.value}: these are {NOT_LIVE}{placeholder_note}"
        yield QuoteWarning(_STATE_CODES[origin.provenance], message)
    elif origin.age_s is not None and origin.age_s > ttl_s and not origin.is_past:
        message = f"the state of the pools is {format_age(origin.age_s)}: prices have moved since{placeholder_note}"
        yield QuoteWarning(WarningCode.STATE_OLD, message)


def check_impact(
    impact: PriceImpact | None, origin: StateSource, max_impact_ppm: int, option: str = "max_impact"
) -> None:
    """Raise `PriceImpactTooHigh` where the price impact is known to be above `max_impact_ppm`."""
    if impact is None or impact.fraction * PPM <= max_impact_ppm:
        return
    allowed = f"{max_impact_ppm / PPM_PER_PERCENT:g}"
    raise PriceImpactTooHigh(
        f"{_impact_sentence(impact, origin)}; {allowed}% is allowed",
        hint=f"sell less, or allow it with {option}",
        details={
            "price_impact_percent": round(impact.fraction * 100, 4),
            "max_impact_percent": max_impact_ppm / PPM_PER_PERCENT,
            "basis": impact.basis.value,
            "sold_usd": impact.sold_usd,
            "bought_usd": impact.bought_usd,
        },
    )


def check_unread(unread_gain_bps: float | None, max_impact_ppm: int, option: str = "max_impact") -> None:
    """Raise `UnreadGainTooHigh` if unread pools might add more than `max_impact_ppm`, since that would be lost."""
    if unread_gain_bps is None or unread_gain_bps * PPM / BPS <= max_impact_ppm:
        return
    allowed = f"{max_impact_ppm / PPM_PER_PERCENT:g}"
    raise UnreadGainTooHigh(
        f"{_unread_sentence(unread_gain_bps)}; {allowed}% is allowed",
        hint=f"set your own node, which reads more pools, sell less, or allow it with {option}",
        details={"unread_gain_bps": unread_gain_bps, "max_impact_percent": max_impact_ppm / PPM_PER_PERCENT},
    )


def _unread_sentence(gain_bps: float) -> str:
    return f"pools that were not read might add up to {gain_bps:,.1f} bps to the output"


def check_slippage(slippage_ppm: int, max_slippage_ppm: int, option: str = "max_slippage") -> None:
    """Raise `SlippageTooHigh` where the slippage is above `max_slippage_ppm`."""
    if slippage_ppm <= max_slippage_ppm:
        return
    percent, allowed = format_percent(slippage_ppm), format_percent(max_slippage_ppm)
    raise SlippageTooHigh(
        f"{_slippage_sentence(slippage_ppm)}; {allowed}% is allowed",
        hint=f"{percent} is {percent} percent: write {percent}bps for basis points, or allow it with {option}",
        details={
            "slippage_percent": slippage_ppm / PPM_PER_PERCENT,
            "max_slippage_percent": max_slippage_ppm / PPM_PER_PERCENT,
        },
    )


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
    return f"{shown}, against the price that the pools of this route pay for a small order"


def _percent(fraction: float) -> str:
    """Return a loss to two decimals, rounded down, so that only a total loss reads 100%."""
    return f"{int(fraction * 10_000) / 100:.2f}%"


def _service(origin: StateSource) -> str:
    return origin.service_url or origin.description


def placeholder_note(answer: QuoteResult) -> str:
    """Return a note on the number of placeholder pool addresses in an answer; empty if there are none.

    A pool that shares its contract with others has a key of its own instead of an address.
    """
    if isinstance(answer, RemoteQuote) or not answer.placeholder_pools:
        return ""
    has_keys = {answer.pools[key].address != key for key in answer.placeholder_pools}
    names = " and ".join({False: "addresses", True: "keys"}[each] for each in sorted(has_keys))
    return f"; {PLACEHOLDER_MARK} pool {names}: {len(answer.placeholder_pools)} of {len(answer.result.pool_keys)}"
