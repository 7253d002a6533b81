"""Transactions have the right recipient and value, and the approvals that they need."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput, InvalidRoute
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Purpose, RouterCall, Transaction, UnsignedTransaction
from swapcli.payload.evm import build_approval, build_transaction, build_transactions, encode_call
from tests.interface.build import EVM, WRAPPED
from tests.payload.evm.build import ADDRESSES, NUMBERS
from tests.payload.evm.test_fibrous_calldata import CALL

ROUTER = "0x" + "70" * 20
NATIVE_IN = CALL._replace(route=CALL.route._replace(token_in=WRAPPED.address, swap_type=SwapType.NATIVE_TO_TOKEN))
NATIVE_OUT = CALL._replace(route=CALL.route._replace(token_out=WRAPPED.address, swap_type=SwapType.TOKEN_TO_NATIVE))


@given(ADDRESSES, ADDRESSES, NUMBERS)
def test_an_approval_calls_the_token_with_the_exact_amount(token: str, spender: str, amount: int) -> None:
    expected = "0x095ea7b3" + encode(["address", "uint256"], [spender, amount]).hex()
    approval = build_approval(token, spender, amount)
    assert (approval.to, approval.calldata, approval.value) == (token, expected, 0)
    assert approval.purpose is (Purpose.APPROVE if amount else Purpose.REVOKE)


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("token", ("0x12", ROUTER, 1)),
        ("spender", (WRAPPED.address, "", 1)),
        ("amount", (WRAPPED.address, ROUTER, 2**256)),
        ("amount", (WRAPPED.address, ROUTER, -1)),
    ],
)
def test_an_invalid_approval_is_refused_by_name(field: str, arguments: tuple[str, str, int]) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}: "):
        build_approval(*arguments)


@given(st.integers(1, 2**256 - 1))
def test_native_input_is_sent_as_the_value_and_needs_no_approval(amount: int) -> None:
    call = NATIVE_IN._replace(route=NATIVE_IN.route._replace(amount_in=amount))
    payload = build_transaction(call, EVM, ROUTER)
    assert payload == UnsignedTransaction(call, ROUTER, amount, encode_call(call))
    assert build_transactions(payload) == (Transaction(ROUTER, payload.calldata, amount),)


@pytest.mark.parametrize("call", [CALL, NATIVE_OUT])
def test_a_token_input_is_approved_first_and_sends_no_value(call: RouterCall) -> None:
    payload = build_transaction(call, EVM, ROUTER)
    assert (payload.to, payload.value, payload.calldata) == (ROUTER, 0, encode_call(call))
    first, second = build_transactions(payload)
    assert first == build_approval(call.route.token_in, ROUTER, call.route.amount_in)
    assert second == Transaction(ROUTER, payload.calldata, 0)


@given(st.integers(0, 2**256 - 1), st.integers(1, 2**256 - 1))
def test_only_a_small_allowance_is_raised_after_a_reset_to_zero(allowance: int, amount: int) -> None:
    payload = build_transaction(CALL._replace(route=CALL.route._replace(amount_in=amount)), EVM, ROUTER)
    *before, swap = build_transactions(payload, (allowance,))
    allowed = allowance
    for each in before:
        assert (allowed == 0) != (each == build_approval(CALL.route.token_in, ROUTER, 0)), (
            "a nonzero allowance is reset before it is raised"
        )
        allowed = int(each.calldata[-64:], 16)
    assert allowed >= amount
    assert (len(before) == 0) == (allowance >= amount)
    assert allowance >= amount or allowed == amount
    assert swap == Transaction(ROUTER, payload.calldata, 0)


def test_native_input_needs_no_approval_at_any_allowance() -> None:
    payload = build_transaction(NATIVE_IN, EVM, ROUTER)
    assert payload.approvals == ()
    assert build_transactions(payload) == (Transaction(ROUTER, payload.calldata, payload.value),)


@pytest.mark.parametrize("call", [NATIVE_IN, NATIVE_OUT])
def test_native_tokens_never_stand_in_for_other_tokens(call: RouterCall) -> None:
    other = CALL.route._replace(swap_type=call.route.swap_type)
    with pytest.raises(InvalidRoute, match="the native token, but"):
        build_transaction(call._replace(route=other), EVM, ROUTER)
    with pytest.raises(InvalidRoute, match="the native token, but"):
        build_transaction(call, EVM._replace(wrapped_native=None), ROUTER)


@pytest.mark.parametrize("router", ["", "0x12", "0x" + "7" * 64, "0x" + "G" * 40])
def test_an_invalid_router_address_is_refused(router: str) -> None:
    with pytest.raises(InvalidInput, match=r"^router: "):
        build_transaction(CALL, EVM, router)
