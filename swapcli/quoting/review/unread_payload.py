"""The review of a payload that a defect of swapcli keeps from being read whole: nobody knows what it does."""

from __future__ import annotations

from types import MappingProxyType

from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.warning import QuoteWarning, WarningCode
from swapcli.payload.review.reviewed_payload import PayloadReview, Signing


def unread_review(error: Exception) -> PayloadReview:
    """Return a review that knows nothing but an unexpected error.

    Example: `unread_review(KeyError("0xabc")).dangers` is `("PAYLOAD_UNREAD",)`.
    """
    message = f"the payload could not be read whole (internal error {type(error).__name__})"
    return PayloadReview(
        call=DecodedCall(""),
        network=None,
        signing=Signing(),
        tokens=MappingProxyType({}),
        swaps=(),
        fresh_amount_out=None,
        state=None,
        warnings=(QuoteWarning(WarningCode.PAYLOAD_UNREAD, message),),
    )
