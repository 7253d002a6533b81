"""Calldata equals that of eth_abi byte for byte, and decodes back."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given

from swapcli.core.errors import InvalidInput
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.payload.evm import (
    Permit,
    build_transactions,
    decode_call,
    decode_permit_call,
    encode_call,
    encode_permit_call,
    fibrous_calldata,
)
from swapcli.payload.evm.transactions import APPROVE
from tests.examples import seeds
from tests.payload.evm.build import SIGNATURES, abi_decoded, abi_encoded, calls, permits, random_call, timed_calls
from tests.support.outside_ids import keccak256

A, B, C = "0x" + "a1" * 20, "0x" + "b2" * 20, "0x" + "c3" * 20
ROUTE = RouterRouteParam(A, B, 5, 4, 3, C, SwapType.TOKEN_TO_TOKEN)
SWAP = RouterSwapParam(A, B, 1_000_000, 3, C, SwapType.TOKEN_TO_TOKEN, b"\x00\x64")
CALL = RouterCall(ROUTE, (SWAP,))
PERMIT = Permit(1, 27, b"r" * 32, b"s" * 32)


@pytest.mark.parametrize(
    ("name", "selector"),
    [
        ("swap", fibrous_calldata.SWAP),
        ("swapIntegrator", fibrous_calldata.SWAP_INTEGRATOR),
        ("swapWithPermit", fibrous_calldata.SWAP_WITH_PERMIT),
        ("swapBefore", fibrous_calldata.SWAP_BEFORE),
        ("approve", APPROVE),
    ],
)
def test_selectors_are_the_hashes_of_the_signatures(name: str, selector: str) -> None:
    assert keccak256(SIGNATURES[name].encode())[:4].hex() == selector


def expected(call: RouterCall) -> str:
    selector = "21ed51f7" if call.integrator_data else "8619b04e"
    if call.deadline_s is not None:
        selector = "54f53f8b"
    return f"0x{selector}{abi_encoded(call).hex()}"


@given(calls | timed_calls)
def test_any_call_matches_eth_abi_and_decodes_back(call: RouterCall) -> None:
    encoded = encode_call(call)
    assert encoded == expected(call)
    assert decode_call(encoded) == call


@pytest.mark.parametrize("seed", seeds(1, full=8))
def test_random_calls_match_eth_abi_and_decode_back(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(500):
        call = random_call(rng)
        encoded = encode_call(call)
        assert encoded == expected(call)
        assert decode_call(encoded) == call


@given(calls, permits)
def test_a_call_with_a_permit_matches_eth_abi_and_decodes_back(call: RouterCall, permit: Permit) -> None:
    call = call._replace(integrator_data=b"")
    encoded = encode_permit_call(call, permit)
    assert encoded == f"0xdf9f8e3a{abi_encoded(call, *permit).hex()}"
    assert decode_permit_call(encoded) == (call, permit)


@given(calls)
def test_eth_abi_decodes_the_encoded_values(call: RouterCall) -> None:
    arguments = bytes.fromhex(encode_call(call)[10:])
    route, entries, *integrator_data = abi_decoded(arguments, bool(call.integrator_data))
    assert route == tuple(call.route)
    assert entries == tuple(tuple(swap)[:7] for swap in call.swaps)
    assert integrator_data == ([call.integrator_data] if call.integrator_data else [])


@given(calls)
def test_hex_digits_are_read_in_either_letter_case(call: RouterCall) -> None:
    encoded = encode_call(call)
    assert decode_call("0x" + encoded[2:].upper()) == call


LIMITS: list[tuple[str, Any, Any]] = [
    ("amount_in", 2**256 - 1, 2**256),
    ("amount_out", 2**256 - 1, 2**256),
    ("min_received", 2**256 - 1, 2**256),
    ("amount_in", 0, -1),
    ("min_received", 0, -1),
    ("recipient", "0x" + "f" * 40, "0x" + "f" * 39),
    ("token_in", "0x" + "0" * 40, "0x" + "0" * 64),
    ("token_out", "0x" + "a" * 40, "0x" + "A" * 40),
    ("recipient", "0x" + "a" * 40, "0x" + "g" * 40),
    ("swap_type", SwapType.TOKEN_TO_TOKEN, 3),
]


@pytest.mark.parametrize(("field", "last", "beyond"), LIMITS)
def test_a_route_value_past_its_maximum_is_refused_by_name(field: str, last: Any, beyond: Any) -> None:
    fits = CALL._replace(route=ROUTE._replace(**{field: last}))
    assert decode_call(encode_call(fits)) == fits
    name = "destination" if field == "recipient" else field  # as the contract calls it
    with pytest.raises(InvalidInput, match=rf"^{name}: ") as caught:
        encode_call(CALL._replace(route=ROUTE._replace(**{field: beyond})))
    assert caught.value.details == {"field": name}


SWAP_LIMITS: list[tuple[str, Any, Any]] = [
    ("rate", 1_000_000, 1_000_001),
    ("rate", 1, 0),
    ("rate", 1, -1),
    ("rate", 1, 2**32),
    ("protocol_id", 2**23 - 1, 2**23),
    ("protocol_id", -(2**23), -(2**23) - 1),
    ("pool_address", "0x" + "f" * 40, "0x" + "f" * 64),
    ("token_in", "0x" + "f" * 40, "0x" + "f" * 38 + "\n"),
    ("token_out", "0x" + "f" * 40, ""),
    ("swap_type", SwapType.NATIVE_TO_TOKEN, -1),
]


@pytest.mark.parametrize(("field", "last", "beyond"), SWAP_LIMITS)
def test_a_swap_value_past_its_maximum_is_refused_by_position(field: str, last: Any, beyond: Any) -> None:
    fits = CALL._replace(swaps=(SWAP, SWAP._replace(**{field: last})))
    assert decode_call(encode_call(fits)) == fits
    with pytest.raises(InvalidInput, match=rf"^swaps\[1\]\.{field}: ") as caught:
        encode_call(CALL._replace(swaps=(SWAP, SWAP._replace(**{field: beyond}), SWAP)))
    assert caught.value.details == {"field": f"swaps[1].{field}"}


@pytest.mark.parametrize(
    ("field", "beyond"), [("deadline", 2**256), ("v", 256), ("v", -1), ("r", b"r" * 31), ("s", b"s" * 33)]
)
def test_a_permit_out_of_range_is_refused_by_name(field: str, beyond: Any) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}: "):
        encode_permit_call(CALL, PERMIT._replace(**{field: beyond}))


def test_a_permit_excludes_an_integrator() -> None:
    with pytest.raises(InvalidInput, match=r"^integrator_data: "):
        encode_permit_call(CALL._replace(integrator_data=b"x" * 96), PERMIT)


def test_the_error_for_a_huge_number_is_short() -> None:
    with pytest.raises(InvalidInput) as caught:
        encode_call(CALL._replace(route=ROUTE._replace(amount_in=10**10_000)))
    assert caught.value.message == "amount_in: a 33220-bit number does not fit uint256"


def test_the_error_for_a_long_text_is_short() -> None:
    with pytest.raises(InvalidInput) as caught:
        encode_call(CALL._replace(route=ROUTE._replace(recipient="x" * 10**6)))
    assert len(caught.value.message) < 200


def test_the_package_exports_the_modules_that_others_use() -> None:
    import swapcli.payload.evm

    assert all(callable(getattr(swapcli.payload.evm, name)) for name in swapcli.payload.evm.__all__)
    assert build_transactions in vars(swapcli.payload.evm).values()
