"""Turn a defect of ours while a payload is reviewed into a danger: what cannot be read whole is not to be signed."""

from __future__ import annotations

from collections.abc import Callable

from swapcli.core.errors import SwapcliError
from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.warning import QuoteWarning, WarningCode
from swapcli.payload.decode.decode_payload import describe_defect
from swapcli.payload.review.reviewed_payload import PayloadReview


def or_danger(review: PayloadReview, judge: Callable[[PayloadReview], PayloadReview]) -> PayloadReview:
    """Return what `judge` makes of a review; if it fails unexpectedly, the review with the danger PAYLOAD_UNREAD.

    Raises `SwapcliError` as `judge` does, and `OSError` of a closed output.
    """
    try:
        return judge(review)
    except (SwapcliError, OSError):
        raise
    except Exception as error:
        warning = QuoteWarning(WarningCode.PAYLOAD_UNREAD, describe_defect(error))
        return review._replace(warnings=(*review.warnings, warning))


def without_details(review: PayloadReview) -> PayloadReview:
    """Return the warnings of a review without the details of the call, which cannot be shown."""
    call = DecodedCall("", review.call.selector)
    return PayloadReview(call, review.network, review.signing, {}, (), None, None, review.warnings)
