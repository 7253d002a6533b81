"""A payload that a defect keeps from being read is a danger that names the defect."""

from __future__ import annotations

from swapcli.quoting.review.unread_payload import unread_review


def test_a_defect_is_a_danger() -> None:
    review = unread_review(KeyError("0xabc"))
    assert review.dangers == ("PAYLOAD_UNREAD",)
    assert review.warnings[0].message == "swapcli failed to read the whole payload (internal error KeyError)"
    assert (review.call.order, review.call.function) == (None, "")
