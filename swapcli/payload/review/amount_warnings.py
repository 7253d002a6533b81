"""Are the amounts in the payload enforced and possible, and how far are they from a fresh quote?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from swapcli.core.errors import NoRoute, PoolError, SwapcliError
from swapcli.core.model.decoded_call import WHOLE_E18, DecodedOrder
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.number_format import format_percentage
from swapcli.core.model.pool import Pool
from swapcli.core.model.swap_terms import min_received
from swapcli.core.model.units import BPS, PPM
from swapcli.payload.checks.payments import describe_payment
from swapcli.payload.dialects import execution_of
from swapcli.payload.review.decoded_replay import ReviewedSwap, replay_decoded
from swapcli.payload.review.reviewed_payload import PayloadReview, SlippageLimits

_MAX_ROUTE_GAP_PPM: Final = 2_500
"""A quarter of a percent: fresh quotes on the same state differ by less, because of search order and rounding."""
_PRICE_MOVE_PPM: Final = 1_000
"""The allowed price rise between a payload's quote and its review."""

_ABSURD_FACTOR: Final = 100
"""No market moves this far between a quote and its review: such a promise only looks good."""
_MAX_AMOUNT: Final = 1 << 112
"""The maximum number of base units: more than any token has.

Uniswap V2 keeps reserves in 112 bits, and the largest supplies are near 2^110.
"""


def enforcement_warnings(review: PayloadReview, order: DecodedOrder) -> Iterator[Finding]:
    """Yield a warning for each stated amount that the called contract does not enforce."""
    if order.promised_received is not None:
        promised, enforced = (
            review.amount(amount, order.token_out) for amount in (order.promised_received, order.min_received)
        )
        yield FindingCode.MINIMUM_NOT_ENFORCED.finding(
            f"the swaps promise at least {promised}, but the whole call guarantees only {enforced}",
        )
    if order.max_amount_in is not None:
        largest, stated = (review.amount(amount, order.token_in) for amount in (order.max_amount_in, order.amount_in))
        yield FindingCode.CALL_UNUSUAL.finding(
            f"the call may take up to {largest} from the sender, but its swaps sell {stated}"
        )


def rate_warnings(review: PayloadReview, order: DecodedOrder) -> Iterator[Finding]:
    """Yield a warning for each impossible amount or share."""
    fresh = review.fresh_amount_out
    for name, amount, token in (
        ("the amount sold", order.amount_in, order.token_in),
        ("the minimum", order.promised_received or order.min_received, order.token_out),
        ("the quoted output", order.amount_out or 0, order.token_out),
    ):
        if amount >= _MAX_AMOUNT:
            yield FindingCode.RATE_ABSURD.finding(f"{name} is more than the supply of any token: {amount} base units")
        elif fresh and token == order.token_out and amount >= _ABSURD_FACTOR * fresh:
            times = f"{amount // fresh:,} times a fresh quote of {review.amount(fresh, token)}"
            yield FindingCode.RATE_ABSURD.finding(f"{name} is {times}")
    token_in = review.wrapped(order.token_in)
    sold = sum(each.swap.amount_in or 0 for each in review.swaps if each.token_in == token_in)
    if 0 < order.amount_in < sold:
        share = format_percentage(sold / order.amount_in)
        yield FindingCode.RATE_ABSURD.finding(f"the swaps sell {share} of the {review.symbol(order.token_in)}")
    for payment in review.call.payments:
        if (payment.share_e18 or 0) > WHOLE_E18 or payment.surplus_bps > BPS:
            shown = describe_payment(payment, review.tokens.get(payment.token), review.symbol(payment.token))
            yield FindingCode.RATE_ABSURD.finding(f"{shown} is paid, which is more than 100%")


def minimum_warnings(
    review: PayloadReview, order: DecodedOrder, problem: SwapcliError | None, limits: SlippageLimits
) -> Iterator[Finding]:
    """Compare the minimum of a swap with a fresh quote; `problem` is the reason why there is no quote."""
    fresh = review.fresh_amount_out
    if order.min_received == 0:
        yield FindingCode.MINIMUM_ZERO.finding("the minimum is zero: the swap may pay nothing at all")
    if fresh is None:
        if problem is not None:
            yield from _beyond_liquidity(review, order, problem)
            yield FindingCode.QUOTE_UNKNOWN.finding(
                f"the minimum could not be compared with a fresh quote: {problem.message}"
            )
        return
    yield from _low_minimum(review, order, fresh, "a fresh quote", limits)
    if order.min_received > fresh:
        yield FindingCode.MINIMUM_TOO_HIGH.finding(
            f"the minimum is above a fresh quote, {review.amount(fresh, order.token_out)}: the swap will fail",
        )


def _beyond_liquidity(review: PayloadReview, order: DecodedOrder, problem: SwapcliError) -> Iterator[Finding]:
    """Yield a warning if a swap sells more than the pools can take, with a minimum that no quote supports."""
    most, network = problem.details.get("max_amount_in"), review.network
    if not isinstance(problem, NoRoute) or most is None or network is None or order.is_exact_out:
        return
    if any(each.pool and each.pool.protocol in network.extended_protocols for each in review.swaps):
        return  # the quote was made without them
    taken = review.amount(int(str(most)), order.token_in)
    yield FindingCode.RATE_ABSURD.finding(f"the amount sold is more than the pools can take: at most {taken}")


def promise_warnings(
    review: PayloadReview, order: DecodedOrder, promised: int, limits: SlippageLimits
) -> Iterator[Finding]:
    """Compare the minimum of a swap with the output that the payload itself promises, before its fee is deducted.

    Prices move, so a fresh quote takes precedence, unless the minimum is far too low.
    """
    left = review.call.fee.left_of(promised) if review.call.fee else promised
    for warning in _low_minimum(review, order, left, "the payload's own promised output", limits):
        if review.fresh_amount_out is None or warning.code == FindingCode.MINIMUM_TOO_LOW:
            yield warning


def _low_minimum(
    review: PayloadReview, order: DecodedOrder, reference: int, name: str, limits: SlippageLimits
) -> Iterator[Finding]:
    allowed = min_received(min_received(reference, limits.slippage_ppm), _PRICE_MOVE_PPM)
    if not 0 < order.min_received < allowed:
        return
    is_danger = order.min_received < min_received(reference, max(limits))
    code = FindingCode.MINIMUM_TOO_LOW if is_danger else FindingCode.MINIMUM_LOW
    yield code.finding(
        f"the minimum, {review.amount(order.min_received, order.token_out)},"
        f" is {format_percentage(1 - order.min_received / reference)} below {name},"
        f" {review.amount(reference, order.token_out)}",
    )


def output_warnings(
    review: PayloadReview, order: DecodedOrder, gross: int, pools: Mapping[str, Pool]
) -> Iterator[Finding]:
    """Compare the output of the call's swaps with a fresh quote on the same state, whose pools are `pools`.

    Exact outputs are not compared, since their input is a maximum. Neither is wrapping, which pays one for one.
    """
    network = review.network
    if network is None or order.is_exact_out or review.call.wraps:
        return
    swaps = [_in_state(each, pools) for each in review.swaps]
    unread = next(
        (each.pool for each, read in zip(review.swaps, swaps, strict=True) if each.pool and not read.pool), None
    )
    if unread is not None:
        yield _unchecked(f"the pool {review.shown(unread.key)} could not be read at the block of the quote")
        return
    token_in, token_out = (review.wrapped(token) for token in review.ends)
    dialect = network.for_dialect(review.call.dialect or network.router_dialect)
    try:
        replayed = replay_decoded(swaps, token_in, token_out, order.amount_in, execution_of(dialect))
    except PoolError as error:
        yield FindingCode.ROUTE_WORSE.finding(f"the swaps would fail now: {error.message}")
        return
    if replayed is None:
        yield _unchecked("some of their amounts or pools are unknown")
        return
    if replayed.estimated_pools:
        pool = review.shown(replayed.estimated_pools[0])
        yield _unchecked(f"the protocol of the pool {pool} has quoted different amounts")
        return
    if (gross - replayed.amount_out) * PPM > _MAX_ROUTE_GAP_PPM * gross:
        yield FindingCode.ROUTE_WORSE.finding(
            f"the swaps pay {format_percentage(1 - replayed.amount_out / gross)} less than a fresh quote,"
            f" {review.amount(gross, order.token_out)}",
        )


def _in_state(reviewed: ReviewedSwap, pools: Mapping[str, Pool]) -> ReviewedSwap:
    """Return a swap with its pool in the state of the fresh quote, or without a pool if it was not read."""
    pool = reviewed.pool
    return reviewed if pool is None or pool.is_wrapper else reviewed._replace(pool=pools.get(pool.key))


def _unchecked(reason: str) -> Finding:
    return FindingCode.ROUTE_UNCHECKED.finding(f"the swaps could not be compared with a fresh quote: {reason}")
