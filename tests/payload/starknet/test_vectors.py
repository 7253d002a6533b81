"""Calls are serialised to the felt as starknet-py and starknet.js serialise them (vectors/README.md)."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.model.network import Kind
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.core.networks.address import parse_address
from swapcli.payload.starknet import build_approval, deserialise_call, serialise_call
from swapcli.payload.starknet.felts import APPROVE_SELECTOR, SWAP_SELECTOR
from tests.examples import few

VECTORS: dict[str, Any] = json.loads((Path(__file__).parent / "vectors.json").read_text())
SWAPS: list[dict[str, Any]] = VECTORS["swap"]
TOKEN = "0x" + "0" * 63 + "9"


def numbers(texts: list[str]) -> tuple[int, ...]:
    return tuple(int(text, 16) for text in texts)


def address(text: str) -> str:
    return parse_address(text, Kind.STARKNET)


def call_of(case: dict[str, Any]) -> RouterCall:
    """The call that a vector describes."""
    route = case["route"]
    return RouterCall(
        RouterRouteParam(
            token_in=address(route["token_in"]),
            token_out=address(route["token_out"]),
            amount_in=int(route["amount_in"], 16),
            amount_out=7,
            min_received=int(route["min_received"], 16),
            recipient=address(route["destination"]),
            swap_type=SwapType.TOKEN_TO_TOKEN,
        ),
        tuple(map(swap_of, case["swap_parameters"])),
    )


def swap_of(case: dict[str, Any]) -> RouterSwapParam:
    return RouterSwapParam(
        token_in=address(case["token_in"]),
        token_out=address(case["token_out"]),
        rate=int(case["rate"], 16),
        protocol_id=int(case["protocol_id"], 16),
        pool_address=address(case["pool_address"]),
        swap_type=SwapType.TOKEN_TO_TOKEN,
        extra_felts=numbers(case["extra_data"]),
    )


def test_both_libraries_have_confirmed_the_vectors() -> None:
    assert set(VECTORS["made_with"]) == {"starknet-py", "starknet.js"}
    assert len(SWAPS) >= 200


def test_the_vectors_hold_every_edge() -> None:
    amounts = {int(case["route"]["amount_in"], 16) for case in SWAPS}
    swaps = list(chain.from_iterable(case["swap_parameters"] for case in SWAPS))
    assert amounts >= {1, 2**128 - 1, 2**128, 2**256 - 1}
    assert {len(case["swap_parameters"]) for case in SWAPS} == set(range(1, 9))
    assert {len(swap["extra_data"]) for swap in swaps} >= {0, 1, 3}
    assert {int(swap["pool_address"], 16) for swap in swaps} >= {1, 2**251 - 1}
    assert {int(swap["rate"], 16) for swap in swaps} >= {1, 1_000_000}


@pytest.mark.parametrize("case", few(SWAPS, 80), ids=range(len(SWAPS)))
def test_a_call_is_serialised_as_both_libraries_do_and_read_back(case: dict[str, Any]) -> None:
    call = call_of(case)
    assert serialise_call(call) == numbers(case["felts"])
    assert deserialise_call(numbers(case["felts"]), amount_out=7) == call


@pytest.mark.parametrize("case", few(VECTORS["approve"], 12))
def test_an_approval_is_serialised_as_both_libraries_do(case: dict[str, Any]) -> None:
    approval = build_approval(TOKEN, case["spender"], int(case["amount"], 16))
    assert (approval.to, approval.entrypoint, approval.felts) == (TOKEN, "approve", numbers(case["felts"]))


def test_selectors_are_what_both_libraries_make_of_the_names() -> None:
    selectors = {name: int(text, 16) for name, text in VECTORS["selectors"].items()}
    assert selectors == {"swap": SWAP_SELECTOR, "approve": APPROVE_SELECTOR}
