"""The verdict on a payload in one line: the danger, the missing facts, or the payload's effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from swapcli.core.encoding.text import printable
from swapcli.core.model.decoded_call import SENDER, DecodedApproval, DecodedOrder
from swapcli.core.model.finding import Level, at_level, gravest_first, worst_level
from swapcli.core.model.number_format import format_short_amount, format_time
from swapcli.core.model.token import Token, whole_tokens
from swapcli.core.records import NamedTuple
from swapcli.payload.review.reviewed_payload import PayloadReview

ReviewStatus = Literal["no_danger_found", "unknown", "danger"]

_STATUSES: Final[dict[Level, ReviewStatus]] = {
    Level.INFO: "no_danger_found",
    Level.WARN: "unknown",
    Level.BLOCK: "danger",
}


class ReviewVerdict(NamedTuple):
    """The status of a review, and the sentence that people read first, without a full stop."""

    status: ReviewStatus
    message: str


def verdict_of(review: PayloadReview) -> ReviewVerdict:
    """Return the verdict on a payload."""
    level = worst_level(review.warnings)
    if level is Level.BLOCK:
        message = f"DANGER, do not sign: {gravest_first(review.warnings)[0].message}"
    elif level is Level.WARN:
        message = f"Unknown: {'; '.join(each.message for each in at_level(review.warnings, level))}"
    else:
        message = f"No danger found: {', '.join(_effects(review))}"
    return ReviewVerdict(_STATUSES[level], printable(message))


def _effects(review: PayloadReview) -> Iterator[str]:
    """Yield the effect of a payload, and when it ends."""
    order, approval = review.call.order, review.call.approval
    if order is not None:
        yield _describe_swap(review, order)
        yield from _until(order.deadline_s)
    elif approval is not None:
        yield _describe_approval(review, approval)
        yield from _until(approval.expiration_s or approval.deadline_s)
        if len(review.transactions) > 1:
            more = len(review.transactions) - 1
            yield f"and {more} more transaction{'s' if more > 1 else ''} below"


def _describe_swap(review: PayloadReview, order: DecodedOrder) -> str:
    token_in = review.find_token(order.token_in, is_native=order.is_native_in)
    token_out = review.find_token(order.token_out, is_native=order.is_native_out)
    sold = _amount(review, order.amount_in, token_in, order.token_in)
    recipient = review.signing.sender if order.recipient == SENDER else order.recipient
    to = "the sender" if recipient is None else review.shown(recipient)
    if order.is_exact_out:
        bought = _amount(review, order.min_received, token_out, order.token_out)
        return f"{bought} for at most {sold} to {to}"
    minimum = _amount(review, order.min_received, token_out, order.token_out, is_short=True)
    return f"at least {minimum} for {sold} to {to}"


def _describe_approval(review: PayloadReview, approval: DecodedApproval) -> str:
    address = approval.token or review.signing.to or ""
    amount = _amount(review, approval.amount, review.tokens.get(address), address)
    if not approval.amount:
        return f"{review.shown(approval.spender)} may no longer take any {review.symbol(address)}"
    return f"{review.shown(approval.spender)} may take {amount}"


def _amount(review: PayloadReview, amount: int, token: Token | None, address: str, *, is_short: bool = False) -> str:
    if token is None:
        return f"{amount} base units of {review.shown(address)}"
    shown = whole_tokens(amount, token.decimals)
    if is_short and "." in (short := format_short_amount(amount, token.decimals)):
        shown = short.rstrip("0").rstrip(".")
    return f"{shown} {token.symbol}"


def _until(end_s: int | None) -> Iterator[str]:
    if end_s is not None:
        yield f"until {format_time(end_s, has_seconds=False)}"
