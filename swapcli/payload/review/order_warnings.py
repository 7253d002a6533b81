"""Who receives the swap's output, until when can it be executed, and is the value that it needs sent?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swapcli.core.model.decoded_call import SENDER, DecodedOrder
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.number_format import format_time
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import in_tokens
from swapcli.payload.checks.payments import describe_payment, find_strangers
from swapcli.payload.checks.recipients import describe_loss, recipient_warnings
from swapcli.payload.review.deadline_warnings import deadline_warnings
from swapcli.payload.review.reviewed_payload import PayloadReview

_USUAL_DEADLINE_S: Final = 7 * 86_400
"""One week. Websites give a swap minutes, and the owners of a Safe need days; later, the price has changed."""


def output_recipient(review: PayloadReview, order: DecodedOrder) -> str:
    """Return the recipient of the output, or `SENDER` if it is the sender and the sender is unknown."""
    return review.signing.sender or SENDER if order.recipient == SENDER else order.recipient


def order_warnings(review: PayloadReview, order: DecodedOrder, contract: str | None, now_s: float) -> Iterator[Finding]:
    """Yield warnings about problems with the recipient, the deadline and the value of a swap.

    `contract` describes the recipient's contract if tokens sent to it are known to be lost, otherwise None.
    """
    signing = review.signing
    expected = signing.recipient or signing.sender
    recipient = output_recipient(review, order)
    if order.recipient == ZERO_ADDRESS:
        yield FindingCode.RECIPIENT_DIFFERS.finding("the output goes to the zero address, where it is lost")
    elif recipient == signing.to:
        yield FindingCode.RECIPIENT_DIFFERS.finding("the output stays in the router, where anyone can take it")
    elif expected is not None and recipient != expected and recipient != SENDER:
        whose = signing.names.recipient if signing.recipient else "you"
        yield FindingCode.RECIPIENT_DIFFERS.finding(
            f"the output goes to {review.shown(recipient)}, not to {whose} ({review.shown(expected)})",
        )
    elif contract is not None:
        yield FindingCode.RECIPIENT_DIFFERS.finding(describe_loss(review.shown(recipient), contract))
    yield from recipient_warnings(recipient)
    if order.deadline_s is not None and order.deadline_s < now_s:
        yield FindingCode.DEADLINE_PASSED.finding(
            f"the deadline {format_time(order.deadline_s)} has passed, so the swap will fail",
        )
    elif order.deadline_s is not None:
        yield from deadline_warnings(order.deadline_s, now_s, "the swap", _USUAL_DEADLINE_S)
    elif order.has_deadline:
        yield FindingCode.DEADLINE_NONE.finding("the swap has no deadline: it can be executed at any time")
    due = order.amount_in if order.is_native_in else 0
    if signing.value is not None and signing.value != due:
        native = review.network.native if review.network else None
        shown = [in_tokens(each, native) if native else f"{each} wei" for each in (signing.value, due)]
        yield FindingCode.VALUE_DIFFERS.finding(f"the transaction's value is {shown[0]}, but the swap needs {shown[1]}")


def payment_warnings(review: PayloadReview, order: DecodedOrder) -> Iterator[Finding]:
    """Yield warnings about a swap's payments to strangers."""
    signing = review.signing
    integrator = signing.integrator
    own = {SENDER, signing.sender, signing.recipient, order.recipient}
    for payment in find_strangers(review.call, integrator, own):
        if integrator and payment.recipient == integrator.address:
            whose = "which is more than the integrator in the settings may take"
        else:
            whose = "which is neither the recipient nor the integrator in the settings"
        amount = describe_payment(payment, review.tokens.get(payment.token), review.symbol(payment.token))
        yield FindingCode.PAYMENT_UNKNOWN.finding(f"{amount} goes to {review.shown(payment.recipient)}, {whose}")
