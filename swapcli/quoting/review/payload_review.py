"""Review a payload against a market's data, and against a fresh quote of the same order.

Every difference from a fresh quote's payload gives a warning. Each module of `payload.review` checks one aspect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidInput
from swapcli.core.model.decoded_call import SENDER, DecodedCall, DecodedOrder, DecodedSwap
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.market import Provenance
from swapcli.core.model.pool import Pool
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import DEFAULT_ROUTE_TTL_S
from swapcli.core.model.token import Token
from swapcli.core.model.units import PPM
from swapcli.families.wrap import wrapper_pool
from swapcli.payload.checks.payments import find_integrator_payment
from swapcli.payload.checks.recipients import describe_contract
from swapcli.payload.review.amount_warnings import (
    enforcement_warnings,
    minimum_warnings,
    output_warnings,
    promise_warnings,
    rate_warnings,
)
from swapcli.payload.review.approval_warnings import approval_warnings
from swapcli.payload.review.call_warnings import call_warnings
from swapcli.payload.review.decoded_replay import ReviewedSwap
from swapcli.payload.review.message_warnings import message_warnings
from swapcli.payload.review.order_warnings import order_warnings, output_recipient, payment_warnings
from swapcli.payload.review.reviewed_payload import PayloadReview, Signing, SlippageLimits
from swapcli.payload.review.route_warnings import is_pool, named_tokens, route_warnings, token_warnings
from swapcli.payload.review.unchecked_facts import unchecked_facts
from swapcli.quoting.price_policy import PriceRequest
from swapcli.quoting.review.fresh_quote import FreshQuote, quote_order
from swapcli.quoting.sources.quote_source import known_contract, known_market
from swapcli.quoting.warnings import clock_warnings, format_age, live_warnings

if TYPE_CHECKING:
    from swapcli.quoting.sources.quote_source import QuoteSource


def review_payload(
    call: DecodedCall,
    source: QuoteSource | None,
    signing: Signing,
    now_s: float,
    limits: SlippageLimits,
    *,
    price_request: PriceRequest = PriceRequest.OFFLINE,
) -> PayloadReview:
    """Compare a call with the data and quotes of `source`. Without a source, check only the call itself.

    Prices that are not real are compared only if `price_request` allows building a payload on them. Raises
    `UpstreamError`.
    """
    order, known = call.order, _find_known(call, source, signing)
    fresh = None
    if source is not None and order is not None:
        fresh = quote_order(order, _pool_keys(known), source, price_request)
        # The source's network now has the router that a registry names at the block.
        known = known._replace(network=source.network, quote_problem=fresh.problem)
        if fresh.amount_out is not None:
            amount_out = _after_fee(call, signing, fresh.amount_out)
            swaps = tuple(_complete(known, each, fresh.pools) for each in known.swaps)
            known = known._replace(fresh_amount_out=amount_out, state=fresh.state, swaps=swaps)
    warnings: list[Finding] = []
    if source is not None:
        now_s = source.state_source.network_time_s(now_s)
        warnings += [*live_warnings(source.state_source), *clock_warnings(source.state_source)]
    knows_pools = source is not None and known_market(source) is not None
    warnings += [*call_warnings(known), *token_warnings(known, knows_pools=knows_pools), *route_warnings(known)]
    if order:
        contract = _find_contract(output_recipient(known, order), source)
        warnings += [*order_warnings(known, order, contract, now_s), *payment_warnings(known, order)]
        warnings += [*enforcement_warnings(known, order), *rate_warnings(known, order)]
        warnings += minimum_warnings(known, order, fresh.problem if fresh else None, limits)
        if order.amount_out is not None:
            warnings += promise_warnings(known, order, order.amount_out, limits)
    warnings += unchecked_facts(known)
    if order and fresh is not None and fresh.amount_out is not None:
        warnings += _comparison_warnings(known, order, fresh, source)
    return known._replace(warnings=(*warnings, *message_warnings(known, now_s), *approval_warnings(known, now_s)))


def _pool_keys(review: PayloadReview) -> list[str]:
    """Return the keys of the pools of a call that change."""
    return list(dict.fromkeys(each.pool.key for each in review.swaps if each.pool and not each.pool.is_wrapper))


def _comparison_warnings(
    review: PayloadReview, order: DecodedOrder, fresh: FreshQuote, source: QuoteSource | None
) -> Iterator[Finding]:
    """Compare the swaps' output with a fresh quote, and yield why the comparison may be meaningless."""
    assert fresh.amount_out is not None
    if review.wrapped(order.token_in) == review.wrapped(order.token_out):  # which has no price
        return
    if fresh.state is not None and (reason := _unreal_reason(fresh.state)):
        yield FindingCode.ROUTE_UNCHECKED.finding(f"the minimum could not be compared with current prices: {reason}")
    if source is not None and known_market(source) is None:
        reason = "the service does not list its pools"
        yield FindingCode.ROUTE_UNCHECKED.finding(f"the swaps could not be compared with a fresh quote: {reason}")
        return
    yield from output_warnings(review, order, fresh.amount_out, fresh.pools)


def _unreal_reason(state: StateSource) -> str | None:
    """Return why the prices of a state are not current; None if they are."""
    if state.provenance is None:
        return "the service does not report its state"
    if not state.is_live:
        return f"only {state.provenance.value} prices are available"
    if state.is_past:
        return "only prices of a past block are available"
    if state.provenance is Provenance.LIVE or (state.age_s is not None and state.age_s <= DEFAULT_ROUTE_TTL_S):
        return None
    if state.age_s is None:
        return "the age of the available prices is unknown"
    return f"the available prices are {format_age(state.age_s)}"


def _find_known(call: DecodedCall, source: QuoteSource | None, signing: Signing) -> PayloadReview:
    """Return a call with those of its tokens and pools that a source knows, without warnings so far."""
    tokens: dict[str, Token] = {}
    review = PayloadReview(call, source.network if source else None, signing, tokens, (), None, None, ())

    def find_token(address: str) -> None:
        if source is not None:
            with suppress(InvalidInput):
                tokens[address] = source.token(address)

    for address in named_tokens(review):
        find_token(address)
    return review._replace(swaps=tuple(_find_swaps(review, source, tokens, find_token)))


def _find_swaps(
    review: PayloadReview, source: QuoteSource | None, tokens: Mapping[str, Token], find_token: Callable[[str], None]
) -> Iterator[ReviewedSwap]:
    """Yield the swaps of a call with their pools and shares. If the call lacks the output token, the pool shows it."""
    left: dict[str, int] = {}
    for swap in review.call.swaps:
        pool = None if source is None else _find_pool(review, swap, source)
        token_in = review.wrapped(swap.token_in)
        token_out = None if swap.token_out is None else review.wrapped(swap.token_out)
        if token_out is None and pool is not None and swap.pool.coin_out is not None:
            token_out = dict(enumerate(pool.tokens)).get(swap.pool.coin_out)
        if token_out is not None and token_out not in tokens:
            find_token(token_out)
        share = None
        if swap.share_ppm is not None:
            before = left.get(token_in, PPM)
            share = before * swap.share_ppm // PPM
            left[token_in] = before - share
        yield ReviewedSwap(swap, token_in, token_out, pool, share)


def _find_pool(review: PayloadReview, swap: DecodedSwap, source: QuoteSource) -> Pool | None:
    network = source.network
    wrapped = network.wrapped_native
    if wrapped is not None and swap.pool.key == wrapped.address:
        return wrapper_pool(wrapped)
    tokens = [review.wrapped(each) for each in swap[:2] if each is not None]
    known = known_market(source)
    pools = known.trading(tokens) if known else {}
    return next((pool for pool in pools.values() if is_pool(swap.pool, pool, network, review.call.dialect)), None)


def _complete(review: PayloadReview, reviewed: ReviewedSwap, searched: Mapping[str, Pool]) -> ReviewedSwap:
    """Return a swap, with its pool if only the fresh quote has it: a source may add pools to each search."""
    if reviewed.pool is not None or reviewed.token_out is None or review.network is None:
        return reviewed
    hint, network, dialect = reviewed.swap.pool, review.network, review.call.dialect
    tokens = {reviewed.token_in, reviewed.token_out}
    trading = (pool for pool in searched.values() if tokens.issubset(pool.tokens))
    return reviewed._replace(pool=next((pool for pool in trading if is_pool(hint, pool, network, dialect)), None))


def _after_fee(call: DecodedCall, signing: Signing, amount_out: int) -> int:
    """Return an output after the fee of the intended integrator: fees to strangers are not part of a quote."""
    fee = call.fee if find_integrator_payment(call, signing.integrator) else None
    return fee.left_of(amount_out) if fee else amount_out


def _find_contract(address: str, source: QuoteSource | None) -> str | None:
    """Return the contract at an address that loses what it receives, in words; None if none is known."""
    if source is None or address == SENDER:
        return None
    return known_contract(source, address) or describe_contract(address, source.network)
