"""The transaction of a swap: the router may take exactly what it sells, and then is asked to."""

from __future__ import annotations

import pytest
from hypothesis import given

from swapcli.errors import InvalidAddress, InvalidInput
from swapcli.model.transaction import RouterCall, Transaction
from swapcli.networks.catalogue import network
from swapcli.starknet import build_account_calls, build_approval, build_transaction, serialise_call
from tests.starknet.strategies import ADDRESSES, CALLS, U256

STARKNET = network("starknet")


@given(CALLS, ADDRESSES)
def test_a_payload_holds_the_call_and_its_felts_and_sends_nothing_along(call: RouterCall, router: str) -> None:
    payload = build_transaction(call, STARKNET, router)
    assert payload == (call, router, 0, "", serialise_call(call))


@given(CALLS, ADDRESSES)
def test_the_calls_approve_what_is_sold_for_the_router_and_then_swap(call: RouterCall, router: str) -> None:
    approve, swap = build_account_calls(build_transaction(call, STARKNET, router))
    assert approve == build_approval(call.route.token_in, router, call.route.amount_in)
    assert swap == Transaction(router, felts=serialise_call(call), entrypoint="swap")


@given(ADDRESSES, ADDRESSES, U256)
def test_an_approval_names_the_spender_and_the_amount(token: str, spender: str, amount: int) -> None:
    made = build_approval(token, spender, amount)
    assert (made.to, made.entrypoint) == (token, "approve")
    assert made.felts[0] == int(spender, 16)
    assert made.felts[1] + made.felts[2] * 2**128 == amount


@given(CALLS)
def test_the_router_is_answered_in_the_form_of_the_network(call: RouterCall) -> None:
    written = "0x00f6f4CF62E3C010E0aC2451cC7807b5eEc19a40b0FaaCd00CCA3914280FDf5a"
    assert build_transaction(call, STARKNET, written).to == STARKNET.router == written.lower()


@given(CALLS)
def test_a_payload_is_made_for_a_router_on_starknet_only(call: RouterCall) -> None:
    with pytest.raises(InvalidAddress):
        build_transaction(call, STARKNET, "0x0")
    with pytest.raises(InvalidInput, match="base is not a Starknet network"):
        build_transaction(call, network("base"), "0x1")


@pytest.mark.parametrize("amount", [-1, 2**256])
def test_no_approval_is_made_of_an_amount_out_of_range(amount: int) -> None:
    with pytest.raises(InvalidInput, match="amount"):
        build_approval("0x1", "0x2", amount)
