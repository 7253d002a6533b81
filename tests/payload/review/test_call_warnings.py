"""The function that is called, and the contract that it is of."""

from __future__ import annotations

from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.network import UNIVERSAL_ROUTER
from swapcli.payload.review.call_warnings import call_warnings
from swapcli.payload.review.reviewed_payload import PayloadReview
from tests.payload.review.reviews import CALL, OTHER, REVIEW


def codes(review: PayloadReview) -> list[str]:
    return [each.code for each in call_warnings(review)]


def test_a_call_of_the_known_router_is_fine() -> None:
    assert codes(REVIEW) == []


def test_an_unknown_network_function_or_router_is_named() -> None:
    assert codes(REVIEW._replace(network=None)) == ["NETWORK_UNKNOWN"]
    assert codes(REVIEW._replace(call=DecodedCall(""))) == ["FUNCTION_UNKNOWN"]
    assert codes(REVIEW._replace(signing=REVIEW.signing._replace(to=OTHER))) == ["ROUTER_UNKNOWN"]
    assert codes(REVIEW._replace(call=CALL._replace(dialect=UNIVERSAL_ROUTER))) == ["ROUTER_UNKNOWN"]


def test_what_no_call_of_ours_has_is_named() -> None:
    odd = REVIEW._replace(call=CALL._replace(oddities=("it is odd",), trailing_bytes=3))
    assert [each.message for each in call_warnings(odd)] == [
        "it is odd",
        "3 bytes follow the end of the call, which quotes never have",
    ]
