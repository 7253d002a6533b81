"""The verdict in one line."""

from __future__ import annotations

import pytest

from swapcli.core.model.decoded_call import SENDER, DecodedApproval, DecodedCall
from swapcli.core.model.finding import FindingCode, Level
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.review.review_verdict import verdict_of
from swapcli.payload.review.reviewed_payload import PayloadReview, ReviewedTransaction, Signing
from tests.payload.review.reviews import BASE, CALL, ME, OTHER, REVIEW, USDC, with_order

NOON_S = 1_800_014_400
"""2027-01-15, 12:00 UTC."""
APPROVED = DecodedApproval(USDC.address, OTHER, 5_000_000)
DOUBT = FindingCode.RECIPIENT_UNCHECKED.finding("the output goes to 0x22, which may not be you")
OTHER_DOUBT = FindingCode.CONTRACT_UNCHECKED.finding("the called contract is not given")
DANGER = FindingCode.RECIPIENT_DIFFERS.finding("the output goes to 0x22, not to you")


def approving(approval: DecodedApproval) -> PayloadReview:
    return REVIEW._replace(call=DecodedCall("approve", approval=approval), signing=Signing(USDC.address))


@pytest.mark.parametrize(
    ("review", "effect"),
    [
        (with_order(), f"at least 2,000 USDC for 1 WETH to {ME}"),
        (with_order(min_received=2_981_437_815), f"at least 2,981.43 USDC for 1 WETH to {ME}"),
        (with_order(min_received=1), f"at least 0.000001 USDC for 1 WETH to {ME}"),
        (with_order(recipient=SENDER), f"at least 2,000 USDC for 1 WETH to {ME}"),
        (
            with_order(recipient=SENDER)._replace(signing=Signing(BASE.router, 0)),
            "at least 2,000 USDC for 1 WETH to the sender",
        ),
        (with_order(is_native_in=True), f"at least 2,000 USDC for 1 ETH to {ME}"),
        (with_order(is_exact_out=True), f"2,000 USDC for at most 1 WETH to {ME}"),
        (
            with_order(deadline_s=NOON_S, has_deadline=True),
            f"at least 2,000 USDC for 1 WETH to {ME}, until 2027-01-15 12:00 UTC",
        ),
        (approving(APPROVED), f"{OTHER} may take 5 USDC"),
        (approving(APPROVED._replace(amount=0)), f"{OTHER} may no longer take any USDC"),
        (approving(APPROVED._replace(deadline_s=NOON_S)), f"{OTHER} may take 5 USDC, until 2027-01-15 12:00 UTC"),
    ],
)
def test_what_is_not_dangerous_says_its_effect(review: PayloadReview, effect: str) -> None:
    assert verdict_of(review) == ("no_danger_found", f"No danger found: {effect}")


def test_other_approvals_are_counted() -> None:
    other = ReviewedTransaction(GivenTransaction(to=USDC.address), DecodedCall("approve", approval=APPROVED))
    message = verdict_of(approving(APPROVED)._replace(transactions=(other, other, other))).message
    assert message == f"No danger found: {OTHER} may take 5 USDC, and 2 more transactions below"


def test_missing_facts_are_listed() -> None:
    found = verdict_of(REVIEW._replace(warnings=(DOUBT, OTHER_DOUBT)))
    assert found == ("unknown", f"Unknown: {DOUBT.message}; {OTHER_DOUBT.message}")


def test_a_danger_comes_before_missing_facts() -> None:
    found = verdict_of(REVIEW._replace(warnings=(DOUBT, DANGER)))
    assert found == ("danger", f"DANGER, do not sign: {DANGER.message}")


@pytest.mark.parametrize("code", sorted(FindingCode))
def test_only_warnings_about_the_review_pass_as_safe(code: FindingCode) -> None:
    expected = "danger" if code.level is Level.BLOCK else "unknown"
    if code in (FindingCode.LIVE_UNAVAILABLE, FindingCode.CLOCK_DIFFERS):
        expected = "no_danger_found"
    assert verdict_of(REVIEW._replace(warnings=(code.finding("why"),))).status == expected


def test_control_characters_of_a_symbol_do_not_end_the_line() -> None:
    token = USDC._replace(symbol="US\nDC")
    review = REVIEW._replace(call=CALL, tokens={**REVIEW.tokens, token.address: token})
    assert "\n" not in verdict_of(review).message
