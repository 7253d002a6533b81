"""Are the amounts of the payload enforced and possible, and how far are they from a fresh quote?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swapcli.core.errors import PoolError, SwapcliError
from swapcli.core.model.decoded_call import WHOLE_E18, DecodedOrder
from swapcli.core.model.number_format import format_percentage
from swapcli.core.model.swap_terms import min_received
from swapcli.core.model.units import BPS, PPM
from swapcli.core.model.warning import QuoteWarning, WarningCode
from swapcli.payload.checks.payments import describe_payment
from swapcli.payload.dialects import execution_of
from swapcli.payload.review.decoded_replay import replay_decoded
from swapcli.payload.review.reviewed_payload import PayloadReview, SlippageLimits

_MAX_ROUTE_GAP_PPM: Final = 10_000
"""A percent: fresh quotes of the same pools differ by less, in other orders of the search and other roundings."""

_ABSURD_FACTOR: Final = 100
"""No market moves so far between a quote and its review: such a promise only looks good."""
_MAX_AMOUNT: Final = 1 << 112
"""More base units than any token has: Uniswap V2 keeps reserves in 112 bits. The largest supplies are near 2^110."""


def enforcement_warnings(review: PayloadReview, order: DecodedOrder) -> Iterator[QuoteWarning]:
    """Yield where a call states other amounts than those that its contract enforces."""
    if order.promised_received is not None:
        promised, enforced = (
            review.amount(amount, order.token_out) for amount in (order.promised_received, order.min_received)
        )
        yield QuoteWarning(
            WarningCode.MINIMUM_NOT_ENFORCED,
            f"the swaps promise at least {promised}, but the call as a whole guarantees only {enforced}",
        )
    if order.max_amount_in is not None:
        largest, stated = (review.amount(amount, order.token_in) for amount in (order.max_amount_in, order.amount_in))
        yield QuoteWarning(
            WarningCode.CALL_UNUSUAL, f"the call may take up to {largest} from the sender, but its swaps sell {stated}"
        )


def rate_warnings(review: PayloadReview, order: DecodedOrder) -> Iterator[QuoteWarning]:
    """Yield amounts and shares that cannot be."""
    fresh = review.fresh_amount_out
    for name, amount, token in (
        ("the amount sold", order.amount_in, order.token_in),
        ("the minimum", order.promised_received or order.min_received, order.token_out),
        ("the quoted output", order.amount_out or 0, order.token_out),
    ):
        if amount >= _MAX_AMOUNT:
            yield QuoteWarning(WarningCode.RATE_ABSURD, f"{name} is more than any token has: {amount} base units")
        elif fresh and token == order.token_out and amount >= _ABSURD_FACTOR * fresh:
            times = f"{amount // fresh:,} times a fresh quote, {review.amount(fresh, token)}"
            yield QuoteWarning(WarningCode.RATE_ABSURD, f"{name} is {times}")
    token_in = review.wrapped(order.token_in)
    sold = sum(each.swap.amount_in or 0 for each in review.swaps if each.token_in == token_in)
    if 0 < order.amount_in < sold:
        share = format_percentage(sold / order.amount_in)
        yield QuoteWarning(WarningCode.RATE_ABSURD, f"the swaps sell {share} of the {review.symbol(order.token_in)}")
    for payment in review.call.payments:
        if (payment.share_e18 or 0) > WHOLE_E18 or payment.surplus_bps > BPS:
            shown = describe_payment(payment, review.tokens.get(payment.token), review.symbol(payment.token))
            yield QuoteWarning(WarningCode.RATE_ABSURD, f"{shown} is paid: more than there can be")


def minimum_warnings(
    review: PayloadReview, order: DecodedOrder, problem: SwapcliError | None, limits: SlippageLimits
) -> Iterator[QuoteWarning]:
    """Compare the minimum of a swap with a fresh quote; `problem` is why there is none."""
    fresh = review.fresh_amount_out
    if order.min_received == 0:
        yield QuoteWarning(WarningCode.MINIMUM_ZERO, "the minimum is zero: the swap may pay nothing at all")
    if fresh is None:
        if problem is not None:
            yield QuoteWarning(
                WarningCode.QUOTE_UNKNOWN, f"the minimum is not compared with a fresh quote: {problem.message}"
            )
        return
    gap = 1 - order.min_received / fresh if fresh else 0.0
    if 0 < order.min_received < min_received(fresh, limits.slippage_ppm):
        is_danger = order.min_received < min_received(fresh, max(limits))
        yield QuoteWarning(
            WarningCode.MINIMUM_TOO_LOW if is_danger else WarningCode.MINIMUM_LOW,
            f"the minimum is {format_percentage(gap)} below a fresh quote, {review.amount(fresh, order.token_out)}",
        )
    elif order.min_received > fresh:
        yield QuoteWarning(
            WarningCode.MINIMUM_TOO_HIGH,
            f"the minimum is above a fresh quote of {review.amount(fresh, order.token_out)}: the swap will fail",
        )


def output_warnings(review: PayloadReview, order: DecodedOrder, gross: int) -> Iterator[QuoteWarning]:
    """Compare what the swaps of the call pay now with a fresh quote. The input of an exact output is a maximum."""
    network = review.network
    if network is None or order.is_exact_out or review.call.wraps:
        return
    token_in, token_out = (review.wrapped(token) for token in review.ends)
    dialect = network.for_dialect(review.call.dialect or network.router_dialect)
    try:
        paid = replay_decoded(review.swaps, token_in, token_out, order.amount_in, execution_of(dialect))
    except PoolError as error:
        yield QuoteWarning(WarningCode.ROUTE_WORSE, f"the swaps would fail now: {error.message}")
        return
    if paid is not None and (gross - paid) * PPM > _MAX_ROUTE_GAP_PPM * gross:
        yield QuoteWarning(
            WarningCode.ROUTE_WORSE,
            f"the swaps pay {format_percentage(1 - paid / gross)} less than a fresh quote,"
            f" {review.amount(gross, order.token_out)}",
        )
