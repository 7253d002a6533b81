"""The transactions of a document beside those that its swap needs."""

from __future__ import annotations

from swapcli.core.model.decoded_call import DecodedApproval, DecodedCall
from swapcli.payload.decode.documents import PayloadInput
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.evm import build_approval
from swapcli.payload.review.reviewed_payload import ReviewedTransaction
from swapcli.payload.review.transaction_warnings import chain_warnings, list_warnings
from tests.payload.review.reviews import BASE, CALL, OTHER, REVIEW, USDC, WETH

ROUTER = BASE.router or ""
SWAP = GivenTransaction("0x1234", to=ROUTER, value=0)


def given_approval(spender: str, amount: int) -> GivenTransaction:
    built = build_approval(WETH.address, spender, amount)
    return GivenTransaction(built.calldata, to=built.to, value=0)


def messages(*listed: tuple[GivenTransaction, DecodedCall]) -> list[str]:
    position = next(number for number, (each, _) in enumerate(listed) if each.calldata == SWAP.calldata)
    given = PayloadInput(SWAP, listed=tuple(each for each, _ in listed), position=position)
    reviewed = [ReviewedTransaction(*each) for each in listed]
    return [each.message for each in list_warnings(REVIEW, given, reviewed, lambda _: None)]


def test_the_approval_that_the_swap_needs_may_precede_it() -> None:
    approve = (given_approval(ROUTER, 10**18), DecodedCall("approve", approval=DecodedApproval(None, ROUTER, 10**18)))
    assert messages(approve, (SWAP, CALL)) == []
    assert messages((SWAP, CALL)) == []


def test_other_transactions_are_described() -> None:
    wrong = DecodedApproval(None, OTHER, 5 * 10**18)
    listed = (given_approval(OTHER, 5 * 10**18), DecodedCall("approve", approval=wrong))
    (found,) = messages(listed, (SWAP, CALL))
    assert found.startswith("transaction 1 lets 0x2222")
    assert "take 5 WETH, which the swap does not need" in found
    (found,) = messages((SWAP, CALL), (GivenTransaction("0x", to=OTHER, value=7), DecodedCall("")))
    assert "after the swap" in found


def test_the_swap_among_the_transactions_is_the_shown_one() -> None:
    assert messages((SWAP._replace(to=USDC.address), CALL))[0].startswith("the swap among the transactions goes to")


def test_another_chain_is_named() -> None:
    given = PayloadInput(SWAP, network="scroll", chain_ids=(1, BASE.chain_id))
    assert [each.code for each in chain_warnings(REVIEW, given)] == ["CHAIN_DIFFERS"] * 2
    assert list(chain_warnings(REVIEW._replace(network=None), given)) == []
