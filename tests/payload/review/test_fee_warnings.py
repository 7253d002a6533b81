"""Gas and fees of the transactions of a document."""

from __future__ import annotations

from swapcli.payload.decode.documents import PayloadInput
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.review.fee_warnings import fee_warnings
from tests.payload.review.reviews import REVIEW

SWAP = GivenTransaction("0x12", gas=300_000, max_fee_wei=10**9, max_priority_fee_wei=10**6)


def messages(given: PayloadInput, usd: float | None = 2_000.0) -> list[str]:
    return [each.message for each in fee_warnings(REVIEW, given, lambda: usd)]


def test_usual_fees_give_no_warning() -> None:
    assert messages(PayloadInput(SWAP)) == []


def test_a_gas_limit_far_above_the_estimate_is_named() -> None:
    given = PayloadInput(SWAP, document={"gasUnits": 50_000})
    assert messages(given) == ["the gas limit is 300,000, and 200,000 is more than enough"]


def test_an_approval_needs_little_gas() -> None:
    approval = SWAP._replace(calldata="0x34", gas=500_001)
    assert messages(PayloadInput(SWAP, listed=(approval, SWAP), position=1)) == [
        "the gas limit is 500,001, and 500,000 is more than enough"
    ]


def test_fees_are_judged_by_what_they_cost() -> None:
    (dear,) = messages(PayloadInput(SWAP._replace(max_fee_wei=10**12)))
    assert dear == "the transaction may cost 0.3 ETH of gas, worth $600.00"
    assert messages(PayloadInput(SWAP._replace(max_fee_wei=10**12)), usd=None) == []
    (swapped,) = messages(PayloadInput(SWAP._replace(max_priority_fee_wei=10**10)))
    assert swapped.startswith("the priority fee is above the maximum fee")
