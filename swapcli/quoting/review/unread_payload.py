"""The decoded form of a payload that swapcli cannot read because of a defect, so that its effect is unknown."""

from __future__ import annotations

from types import MappingProxyType

from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.finding import FindingCode
from swapcli.payload.review.reviewed_payload import PayloadReview, Signing
from swapcli.quoting.review.decoded_payload import DecodedPayload


def unread_payload(error: Exception) -> DecodedPayload:
    """Return a decoded payload whose only danger is an unexpected error.

    Example: `unread_payload(KeyError("0xabc")).dangers` is `("PAYLOAD_UNREAD",)`.
    """
    message = f"swapcli failed to read the whole payload (internal error {type(error).__name__})"
    review = PayloadReview(
        call=DecodedCall(""),
        network=None,
        signing=Signing(),
        tokens=MappingProxyType({}),
        swaps=(),
        fresh_amount_out=None,
        state=None,
        warnings=(FindingCode.PAYLOAD_UNREAD.finding(message),),
    )
    return DecodedPayload(review)
