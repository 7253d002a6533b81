"""A payload that a defect keeps from being read is a danger that names the defect."""

from __future__ import annotations

from swapcli.quoting.review.unread_payload import unread_payload


def test_a_defect_is_a_danger() -> None:
    decoded = unread_payload(KeyError("0xabc"))
    assert decoded.dangers == ("PAYLOAD_UNREAD",)
    assert decoded.warnings[0].message == "swapcli failed to read the whole payload (internal error KeyError)"
    assert (decoded.review.call.order, decoded.review.call.function) == (None, "")
