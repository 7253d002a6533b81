"""A defect while a payload is read or reviewed is a danger, and names itself."""

from __future__ import annotations

import pytest

from swapcli.core.errors import InvalidInput
from swapcli.payload.review.reviewed_payload import PayloadReview
from swapcli.quoting.review.unread_payload import or_danger, without_details
from tests.payload.review.reviews import CALL, REVIEW


def fail(_: PayloadReview) -> PayloadReview:
    raise KeyError("0xabc")


def test_a_defect_is_a_danger() -> None:
    review = or_danger(REVIEW, fail)
    assert review.dangers == ("PAYLOAD_UNREAD",)
    assert "KeyError" in review.warnings[-1].message
    assert review._replace(warnings=()) == REVIEW
    assert without_details(review).warnings == review.warnings
    assert without_details(review).call.order is None


def test_without_a_defect_the_review_is_that_of_the_judge() -> None:
    changed = REVIEW._replace(call=CALL._replace(function="other"))
    assert or_danger(REVIEW, lambda _: changed) is changed


@pytest.mark.parametrize("error", [InvalidInput("not whole"), BrokenPipeError()])
def test_errors_with_a_meaning_stay_errors(error: Exception) -> None:
    def judge(_: PayloadReview) -> PayloadReview:
        raise error

    with pytest.raises(type(error)):
        or_danger(REVIEW, judge)
