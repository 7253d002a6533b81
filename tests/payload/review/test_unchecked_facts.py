"""Facts that were not given are named, and nothing else is."""

from __future__ import annotations

import pytest

from swapcli.core.model.decoded_call import SENDER, DecodedApproval, DecodedCall
from swapcli.payload.review.reviewed_payload import PayloadReview, Signing
from swapcli.payload.review.unchecked_facts import unchecked_facts
from tests.payload.review.reviews import BASE, ME, OTHER, REVIEW, USDC, with_order

APPROVAL = DecodedCall("approve", approval=DecodedApproval(None, BASE.router, 5_000_000))


def codes(review: PayloadReview) -> list[str]:
    return [each.code for each in unchecked_facts(review)]


@pytest.mark.parametrize(
    ("signing", "recipient", "is_native", "expected"),
    [
        (Signing(BASE.router, 0, sender=ME), ME, False, []),
        (Signing(BASE.router, 0, recipient=OTHER), ME, False, []),  # which differs, and has a warning of its own
        (Signing(BASE.router, None, sender=ME), ME, False, []),
        (Signing(BASE.router, 0), ME, False, ["RECIPIENT_UNCHECKED"]),
        (Signing(BASE.router, 0), SENDER, False, []),
        (Signing(BASE.router, 0, recipient=ME), SENDER, False, ["RECIPIENT_UNCHECKED"]),
        (Signing(BASE.router, 0, sender=ME, recipient=OTHER), SENDER, False, []),
        (Signing(None, 0, sender=ME), ME, False, ["CONTRACT_UNCHECKED"]),
        (Signing(BASE.router, None, sender=ME), ME, True, ["VALUE_UNCHECKED"]),
        (Signing(), ME, True, ["RECIPIENT_UNCHECKED", "CONTRACT_UNCHECKED", "VALUE_UNCHECKED"]),
    ],
)
def test_missing_facts_are_named(signing: Signing, recipient: str, is_native: bool, expected: list[str]) -> None:
    review = with_order(recipient=recipient, is_native_in=is_native)._replace(signing=signing)
    assert codes(review) == expected


def test_the_recipient_is_named() -> None:
    (found,) = unchecked_facts(with_order(recipient=OTHER)._replace(signing=Signing(BASE.router, 0)))
    assert found.message.startswith(f"the output goes to {OTHER}, ")


def test_an_approval_needs_its_token_alone() -> None:
    given = REVIEW._replace(call=APPROVAL, signing=Signing(USDC.address))
    assert codes(given) == []
    assert codes(given._replace(signing=Signing())) == ["CONTRACT_UNCHECKED"]
