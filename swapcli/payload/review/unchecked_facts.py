"""Which facts are missing to check where the tokens go?"""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.core.model.decoded_call import SENDER, DecodedOrder
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.token import in_tokens
from swapcli.payload.review.order_warnings import output_recipient
from swapcli.payload.review.reviewed_payload import PayloadReview


def unchecked_facts(review: PayloadReview) -> Iterator[Finding]:
    """Yield a finding for the account, the contract and the value, each if the call needs it and it was not given."""
    call, order, names = review.call, review.call.order, review.signing.names
    if order is not None:
        yield from _recipient(review, order)
    if review.signing.to is None and call.function:
        yield FindingCode.CONTRACT_UNCHECKED.finding(f"the called contract is not given ({names.to})")
    if order is not None and order.is_native_in and review.signing.value is None:
        native = review.network.native if review.network else None
        due = in_tokens(order.amount_in, native) if native else f"{order.amount_in} wei"
        yield FindingCode.VALUE_UNCHECKED.finding(f"the value is not given, but the swap needs {due} ({names.value})")


def _recipient(review: PayloadReview, order: DecodedOrder) -> Iterator[Finding]:
    signing, recipient = review.signing, output_recipient(review, order)
    names = signing.names
    if recipient == SENDER:
        if signing.recipient is not None:
            yield FindingCode.RECIPIENT_UNCHECKED.finding(
                f"the output goes to the sender, which may not be {review.shown(signing.recipient)} ({names.sender})",
            )
    elif signing.recipient is None and signing.sender is None:
        yield FindingCode.RECIPIENT_UNCHECKED.finding(
            f"the output goes to {review.shown(recipient)}, which may not be you ({names.sender} or {names.recipient})",
        )
