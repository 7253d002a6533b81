"""Who may take how much of the sender's tokens, and until when?"""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.core.model.decoded_call import DecodedApproval
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.dialects import known_contracts
from swapcli.payload.review.deadline_warnings import deadline_warnings
from swapcli.payload.review.reviewed_payload import PayloadReview


def approval_warnings(review: PayloadReview, now_s: float) -> Iterator[Finding]:
    """Yield warnings about unusual properties of the allowances that a payload grants."""
    call = review.call
    for approval in call.approvals:
        yield from _warnings_of(approval, review, now_s)


def _warnings_of(approval: DecodedApproval, review: PayloadReview, now_s: float) -> Iterator[Finding]:
    address = approval.token or review.signing.to or ""
    name = review.symbol(address)
    if approval.is_unlimited:
        yield FindingCode.ALLOWANCE_UNLIMITED.finding(
            f"the approval has no limit: the spender may take all {name or 'tokens'} at any time",
        )
    network = review.network
    if (
        network is not None
        and approval.spender is not None
        and approval.spender not in known_contracts(network) | {PERMIT2}
    ):
        amount = f"all {name or 'tokens'}" if approval.is_unlimited else review.amount(approval.amount, address)
        yield FindingCode.SPENDER_UNKNOWN.finding(
            f"the spender {review.shown(approval.spender)} may take {amount} and is not a known router on "
            f"{network.name}",
        )
    is_permit2 = approval.expiration_s is not None and approval == review.call.approval and review.call.message is None
    if is_permit2 and review.signing.to not in (None, PERMIT2):
        yield FindingCode.ROUTER_UNKNOWN.finding(f"the call goes to {review.shown(review.signing.to)}, not Permit2")
    order = review.call.order
    if order is None and review.signing.value:
        yield FindingCode.VALUE_DIFFERS.finding("an approval needs no value: the amount sent may be lost")
    if order is not None and approval.amount > order.amount_in and not approval.is_unlimited:
        yield FindingCode.CALL_UNUSUAL.finding("the permit allows more than the swap sells")
    if order is not None and approval.token is not None and approval.token != order.token_in:
        yield FindingCode.CALL_UNUSUAL.finding("the permit is for a different token than the swap sells")
    for end_s in dict.fromkeys(filter(None, (approval.expiration_s, approval.deadline_s))):
        if order is None or order.deadline_s != end_s:
            yield from deadline_warnings(end_s, now_s, "the approval")
