"""Recipient, deadline, value and payments of a swap."""

from __future__ import annotations

import pytest

from swapcli.core.model.decoded_call import SENDER, DecodedPayment
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_terms import Integrator
from swapcli.payload.review.order_warnings import order_warnings, output_recipient, payment_warnings
from swapcli.payload.review.reviewed_payload import PayloadReview
from tests.payload.review.reviews import BASE, CALL, ME, ORDER, OTHER, REVIEW, USDC, with_order

NOW_S = 1_800_000_000


def codes(review: PayloadReview, contract: str | None = None) -> list[str]:
    order = review.call.order
    assert order is not None
    return [each.code for each in order_warnings(review, order, contract, NOW_S)]


def test_nothing_is_wrong_with_a_swap_for_its_sender() -> None:
    assert codes(REVIEW) == []
    assert codes(with_order(recipient=SENDER)) == []


@pytest.mark.parametrize("recipient", [OTHER, ZERO_ADDRESS, BASE.router])
def test_another_recipient_is_named(recipient: str) -> None:
    assert codes(with_order(recipient=recipient)) == ["RECIPIENT_DIFFERS"]


def test_a_contract_as_the_recipient_is_named() -> None:
    assert codes(REVIEW, "a pool of the market") == ["RECIPIENT_DIFFERS"]


@pytest.mark.parametrize(
    ("deadline_s", "expected"),
    [
        (NOW_S + 600, []),
        (NOW_S - 1, ["DEADLINE_PASSED"]),
        ((NOW_S + 600) * 1_000, ["DEADLINE_NONE"]),
        (None, ["DEADLINE_NONE"]),
    ],
)
def test_deadlines(deadline_s: int | None, expected: list[str]) -> None:
    assert codes(with_order(deadline_s=deadline_s, has_deadline=True)) == expected


def test_a_value_beside_what_the_swap_needs_is_named() -> None:
    sent = REVIEW._replace(signing=REVIEW.signing._replace(value=1))
    assert codes(sent) == ["VALUE_DIFFERS"]
    native = with_order(is_native_in=True)
    assert codes(native) == ["VALUE_DIFFERS"]
    assert codes(native._replace(signing=native.signing._replace(value=10**18))) == []


def test_the_sender_is_the_recipient_where_the_call_says_so() -> None:
    assert output_recipient(REVIEW, ORDER._replace(recipient=SENDER)) == ME
    unsigned = REVIEW._replace(signing=REVIEW.signing._replace(sender=None))
    assert output_recipient(unsigned, ORDER._replace(recipient=SENDER)) == SENDER


def test_only_the_integrator_that_is_meant_is_paid() -> None:
    payment = DecodedPayment(USDC.address, OTHER, share_e18=10**16)
    paying = REVIEW._replace(call=CALL._replace(payments=(payment,)))
    assert [each.code for each in payment_warnings(paying, ORDER)] == ["PAYMENT_UNKNOWN"]
    meant = paying._replace(signing=paying.signing._replace(integrator=Integrator(OTHER, fee_bps=100)))
    assert list(payment_warnings(meant, ORDER)) == []
