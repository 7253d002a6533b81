"""Messages to sign, after they were read."""

from __future__ import annotations

import pytest

from swapcli.core.model.decoded_call import DecodedApproval, DecodedCall, DecodedMessage
from swapcli.payload.review.message_warnings import message_warnings
from tests.payload.review.reviews import BASE, ME, OTHER, REVIEW, USDC, WETH

NOW_S = 1_800_000_000
PERMIT = DecodedMessage(
    "a permit (EIP-2612)",
    "Permit",
    contract_name="USD Coin",
    owner=ME,
    account=ME,
    approvals=(DecodedApproval(None, BASE.router, 10**6),),
    is_judged=True,
)


def messages(message: DecodedMessage) -> list[str]:
    signing = REVIEW.signing._replace(to=USDC.address, value=None)
    review = REVIEW._replace(call=DecodedCall("permit", message=message), signing=signing)
    return [each.message for each in message_warnings(review, NOW_S)]


def test_a_permit_of_the_sender_is_as_it_should_be() -> None:
    assert messages(PERMIT) == []


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (PERMIT._replace(owner=OTHER), "is about tokens of 0x2222"),
        (PERMIT._replace(owner=OTHER, account=OTHER), "is about tokens of 0x2222"),
        (PERMIT._replace(owner=None, account=OTHER), "signs the message, not 0x1111"),
        (PERMIT._replace(contract_name="Wrapped Ether"), "but the contract is USD Coin (USDC)"),
        (PERMIT._replace(is_permit2=True), "not for Permit2"),
        (PERMIT._replace(problems=("it is odd",)), "it is odd"),
        (DecodedMessage("", "Foo\u202e"), "the message Foo? is unknown"),
        (DecodedMessage("a delegation", "Delegation"), "this is a delegation, which decode cannot check"),
        (
            DecodedMessage(
                "an order of CoW Protocol",
                "Order",
                sells=((USDC.address, 10**6),),
                buys=((WETH.address, 1), (OTHER, 5)),
                recipients=(OTHER,),
            ),
            "it gives 1 USDC for at least 0.000000000000000001 WETH and 5 base units of 0x2222",
        ),
    ],
)
def test_each_difference_is_named(message: DecodedMessage, expected: str) -> None:
    (found,) = messages(message)
    assert expected in found
