"""Allowances that a payload grants."""

from __future__ import annotations

import pytest

from swapcli.core.model.decoded_call import DecodedApproval, DecodedCall
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.review.approval_warnings import approval_warnings
from tests.payload.review.reviews import BASE, CALL, OTHER, REVIEW, USDC, WETH

NOW_S = 1_800_000_000
NEVER = (1 << 48) - 1


@pytest.mark.parametrize(
    ("approval", "expected"),
    [
        (DecodedApproval(None, BASE.router, 10**6), []),
        (DecodedApproval(None, PERMIT2, 10**6), []),
        (DecodedApproval(None, OTHER, 10**6), ["SPENDER_UNKNOWN"]),
        (DecodedApproval(None, BASE.router, (1 << 256) - 1), ["ALLOWANCE_UNLIMITED"]),
        (DecodedApproval(USDC.address, BASE.router, 10**6, NOW_S - 1), ["ROUTER_UNKNOWN", "DEADLINE_PASSED"]),
        (DecodedApproval(USDC.address, BASE.router, 10**6, NEVER), ["ROUTER_UNKNOWN", "DEADLINE_NONE"]),
    ],
)
def test_an_approval(approval: DecodedApproval, expected: list[str]) -> None:
    review = REVIEW._replace(
        call=DecodedCall("approve", approval=approval), signing=REVIEW.signing._replace(to=USDC.address)
    )
    assert [each.code for each in approval_warnings(review, NOW_S)] == expected


def test_a_permit_is_for_what_the_swap_sells() -> None:
    for permit, sentence in (
        (DecodedApproval(WETH.address, BASE.router, 10**18 + 1), "allows more than the swap sells"),
        (DecodedApproval(USDC.address, BASE.router, 10**18), "for a different token than the swap sells"),
    ):
        (found,) = approval_warnings(REVIEW._replace(call=CALL._replace(permit=permit)), NOW_S)
        assert sentence in found.message
