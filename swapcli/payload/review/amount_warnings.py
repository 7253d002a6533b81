"""How far are the minimum of the payload, and what its swaps pay now, from a fresh quote?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from swapcli.core.errors import PoolError, SwapcliError
from swapcli.core.model.decoded_call import DecodedOrder
from swapcli.core.model.number_format import format_percentage
from swapcli.core.model.pool import Pool
from swapcli.core.model.swap_terms import min_received
from swapcli.core.model.units import PPM
from swapcli.core.model.warning import QuoteWarning, WarningCode
from swapcli.payload.dialects import execution_of
from swapcli.payload.review.decoded_replay import ReviewedSwap, replay_decoded
from swapcli.payload.review.reviewed_payload import PayloadReview, SlippageLimits

_MAX_ROUTE_GAP_PPM: Final = 2_500
"""A quarter of a percent: fresh quotes on the same state differ by less, in other orders of the search and other
roundings."""
_PRICE_MOVE_PPM: Final = 1_000
"""How far the price may rise between a payload's quote and its review before its minimum counts as low."""


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
    yield from _low_minimum(review, order, fresh, "a fresh quote", limits)
    if order.min_received > fresh:
        yield QuoteWarning(
            WarningCode.MINIMUM_TOO_HIGH,
            f"the minimum is above a fresh quote of {review.amount(fresh, order.token_out)}: the swap will fail",
        )


def promise_warnings(
    review: PayloadReview, order: DecodedOrder, promised: int, limits: SlippageLimits
) -> Iterator[QuoteWarning]:
    """Compare the minimum of a swap with the output that the payload itself promises, after fees.

    Prices move, so a fresh quote decides instead unless the minimum is far too low.
    """
    for warning in _low_minimum(review, order, promised, "the output that the payload itself promises", limits):
        if review.fresh_amount_out is None or warning.code == WarningCode.MINIMUM_TOO_LOW:
            yield warning


def _low_minimum(
    review: PayloadReview, order: DecodedOrder, reference: int, name: str, limits: SlippageLimits
) -> Iterator[QuoteWarning]:
    allowed = min_received(min_received(reference, limits.slippage_ppm), _PRICE_MOVE_PPM)
    if not 0 < order.min_received < allowed:
        return
    is_danger = order.min_received < min_received(reference, max(limits))
    yield QuoteWarning(
        WarningCode.MINIMUM_TOO_LOW if is_danger else WarningCode.MINIMUM_LOW,
        f"the minimum is {format_percentage(1 - order.min_received / reference)} below {name},"
        f" {review.amount(reference, order.token_out)}",
    )


def output_warnings(
    review: PayloadReview, order: DecodedOrder, gross: int, pools: Mapping[str, Pool]
) -> Iterator[QuoteWarning]:
    """Compare what the swaps of the call pay with a fresh quote on the same state, of which `pools` are the pools.

    The input of an exact output is a maximum, so its minimum says all, and wrapping pays one for one.
    """
    network = review.network
    if network is None or order.is_exact_out or review.call.wraps:
        return
    swaps = [_in_state(each, pools) for each in review.swaps]
    unread = next(
        (each.pool for each, read in zip(review.swaps, swaps, strict=True) if each.pool and not read.pool), None
    )
    if unread is not None:
        yield _unchecked(f"the pool {review.shown(unread.key)} was not read in the state of the fresh quote")
        return
    token_in, token_out = (review.wrapped(token) for token in review.ends)
    dialect = network.for_dialect(review.call.dialect or network.router_dialect)
    try:
        replayed = replay_decoded(swaps, token_in, token_out, order.amount_in, execution_of(dialect))
    except PoolError as error:
        yield QuoteWarning(WarningCode.ROUTE_WORSE, f"the swaps would fail now: {error.message}")
        return
    if replayed is None:
        yield _unchecked("their amounts or pools are unknown")
        return
    if replayed.estimated_pools:
        pool = review.shown(replayed.estimated_pools[0])
        yield _unchecked(f"the protocol of the pool {pool} has quoted different amounts")
        return
    if (gross - replayed.amount_out) * PPM > _MAX_ROUTE_GAP_PPM * gross:
        yield QuoteWarning(
            WarningCode.ROUTE_WORSE,
            f"the swaps pay {format_percentage(1 - replayed.amount_out / gross)} less than a fresh quote,"
            f" {review.amount(gross, order.token_out)}",
        )


def _in_state(reviewed: ReviewedSwap, pools: Mapping[str, Pool]) -> ReviewedSwap:
    """Return a swap with its pool in the state of the fresh quote, None if that was not read."""
    pool = reviewed.pool
    return reviewed if pool is None or pool.is_wrapper else reviewed._replace(pool=pools.get(pool.key))


def _unchecked(reason: str) -> QuoteWarning:
    return QuoteWarning(WarningCode.ROUTE_UNCHECKED, f"the swaps are not compared with a fresh quote: {reason}")
