"""The calls of a swap: the approval of exactly the input, then the swap."""

from __future__ import annotations

import pytest
from hypothesis import given

from swapcli.core.errors import InvalidAddress, InvalidInput
from swapcli.core.model.transaction import RouterCall, Transaction, UnsignedTransaction
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.starknet import build_account_calls, build_approval, build_transaction, serialise_call
from tests.payload.starknet.strategies import ADDRESSES, CALLS, U256

STARKNET = find_network("starknet")


@given(CALLS, ADDRESSES)
def test_a_payload_has_the_felts_of_its_call_and_no_value(call: RouterCall, router: str) -> None:
    payload = build_transaction(call, STARKNET, router)
    assert payload == UnsignedTransaction(call, router, 0, felts=serialise_call(call))


@given(CALLS, ADDRESSES)
def test_the_calls_approve_the_input_and_then_swap(call: RouterCall, router: str) -> None:
    approve, swap = build_account_calls(build_transaction(call, STARKNET, router))
    assert approve == build_approval(call.route.token_in, router, call.route.amount_in)
    assert swap == Transaction(router, felts=serialise_call(call), entrypoint="swap")


@given(ADDRESSES, ADDRESSES, U256)
def test_an_approval_names_the_spender_and_the_amount(token: str, spender: str, amount: int) -> None:
    approval = build_approval(token, spender, amount)
    assert (approval.to, approval.entrypoint) == (token, "approve")
    assert approval.felts[0] == int(spender, 16)
    assert approval.felts[1] + approval.felts[2] * 2**128 == amount


@given(CALLS)
def test_the_router_address_is_canonical(call: RouterCall) -> None:
    written = "0x00f6f4CF62E3C010E0aC2451cC7807b5eEc19a40b0FaaCd00CCA3914280FDf5a"
    assert build_transaction(call, STARKNET, written).to == STARKNET.router == written.lower()


@given(CALLS)
def test_only_starknet_networks_have_such_payloads(call: RouterCall) -> None:
    with pytest.raises(InvalidAddress):
        build_transaction(call, STARKNET, "0x0")
    with pytest.raises(InvalidInput, match="base is not a Starknet network"):
        build_transaction(call, find_network("base"), "0x1")


@pytest.mark.parametrize("amount", [-1, 2**256])
def test_an_approval_out_of_range_is_refused(amount: int) -> None:
    with pytest.raises(InvalidInput, match="amount"):
        build_approval("0x1", "0x2", amount)
