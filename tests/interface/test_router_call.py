"""CalldataRoute and SwapParameter: round trips."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.core.model.network import Network
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.interface import json_types
from swapcli.interface.fields import Fields
from swapcli.interface.router_call import parse_call, render_call, render_call_route, render_short_swap_parameters
from tests.interface.build import CALL, EVM, NETWORKS, STARKNET, calls
from tests.interface.conform import conforms

PUBLISHED: dict[str, Any] = {
    "route": {
        "token_in": "0x4200000000000000000000000000000000000006",
        "token_out": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "amount_in": "1000000000000000000",
        "amount_out": "2951108576",
        "min_received": "2936407033",
        "destination": "0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB",
        "swap_type": 0,
    },
    "swap_parameters": [
        {
            "token_in": "0x4200000000000000000000000000000000000006",
            "token_out": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "rate": "1000000",
            "protocol_id": "3",
            "pool_address": "0xb2cc224c1c9feE385f8ad6a55b4d94E92359DC59",
            "swap_type": 0,
            "extra_data": "0x0064",
        }
    ],
}
"""The published sample, with an amount and addresses in place of its dots."""


def read(document: object, network: Network = EVM) -> RouterCall:
    return parse_call(Fields(document), network)


def test_the_published_sample_is_written_to_the_letter() -> None:
    assert json.dumps(render_call(CALL, EVM)) == json.dumps(PUBLISHED)


def test_the_published_sample_is_read() -> None:
    assert read(PUBLISHED) == CALL


@given(st.data(), st.sampled_from(NETWORKS))
def test_parsing_undoes_rendering(data: st.DataObject, network: Network) -> None:
    call = data.draw(calls(network.kind))
    document = json.loads(json.dumps(render_call(call, network)))
    assert conforms(document, json_types.CalldataJson)
    assert read(document, network) == call


@given(calls(EVM.kind))
def test_tokens_of_a_call_follow_from_its_swaps(call: RouterCall) -> None:
    document = render_call(call, EVM, names_tokens=False)
    assert list(document["route"]) == ["amount_in", "amount_out", "min_received", "destination", "swap_type"]
    assert read(document) == call


def test_wrapping_tells_its_token_too() -> None:
    route = CALL.route._replace(token_out=CALL.route.token_in)
    call = RouterCall(route, (CALL.swaps[0]._replace(token_out=route.token_in),))
    assert read(render_call(call, EVM, names_tokens=False)) == call


def test_integrator_data_appears_only_where_there_is_some() -> None:
    assert list(render_call(CALL, EVM)) == ["route", "swap_parameters"]
    assert render_call(CALL._replace(integrator_data=b"\x01\x02"), EVM)["integrator_data"] == "0x0102"


def test_v1_calldata_leaves_out_types_and_extra_data() -> None:
    (swap,) = render_short_swap_parameters(CALL.swaps, EVM)
    assert list(swap) == ["token_in", "token_out", "rate", "protocol_id", "pool_address"]


def test_the_tokens_stand_first() -> None:
    assert list(render_call_route(CALL.route, EVM))[:2] == ["token_in", "token_out"]


@pytest.mark.parametrize("absent", ["0x", None, ...])
def test_missing_and_empty_extra_data_are_one(absent: object) -> None:
    document = json.loads(json.dumps(PUBLISHED))
    document["swap_parameters"][0]["extra_data"] = absent
    if absent is ...:
        del document["swap_parameters"][0]["extra_data"]
    assert read(document).swaps[0].extra_data == b""


def test_a_swap_without_a_type_has_that_of_its_route() -> None:
    document = json.loads(json.dumps(PUBLISHED))
    del document["swap_parameters"][0]["swap_type"]
    assert read(document) == CALL


def test_felts_of_a_swap_are_words_of_32_bytes() -> None:
    call = RouterCall(
        RouterRouteParam("0x0" + "1" * 63, "0x0" + "2" * 63, 5, 4, 3, "0x0" + "3" * 63, SwapType.TOKEN_TO_TOKEN),
        (
            RouterSwapParam(
                "0x0" + "1" * 63, "0x0" + "2" * 63, 9, 1, "0x0" + "4" * 63, SwapType(2), extra_felts=(7, 2**128)
            ),
        ),
    )
    document = render_call(call, STARKNET)
    assert document["swap_parameters"][0]["extra_data"] == f"0x{7:064x}{2**128:064x}"
    assert read(document, STARKNET) == call


ROUTE, SWAP = ("route",), ("swap_parameters", 0)


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        ((*ROUTE, "amount_in"), "0", "route.amount_in"),
        ((*ROUTE, "amount_in"), 5, "route.amount_in"),
        ((*ROUTE, "min_received"), "-1", "route.min_received"),
        ((*ROUTE, "amount_out"), str(2**256), "route.amount_out"),
        ((*ROUTE, "destination"), "0x12", "route.destination"),
        ((*ROUTE, "swap_type"), 3, "route.swap_type"),
        ((*ROUTE, "swap_type"), True, "route.swap_type"),
        ((*ROUTE, "swap_type"), [], "route.swap_type"),
        ((*ROUTE, "token_in"), 7, "route.token_in"),
        ((*SWAP, "rate"), "0", "swap_parameters[0].rate"),
        ((*SWAP, "rate"), "1000001", "swap_parameters[0].rate"),
        ((*SWAP, "rate"), 1_000_000, "swap_parameters[0].rate"),
        ((*SWAP, "protocol_id"), str(2**23), "swap_parameters[0].protocol_id"),
        ((*SWAP, "pool_address"), None, "swap_parameters[0].pool_address"),
        ((*SWAP, "extra_data"), "0x0", "swap_parameters[0].extra_data"),
        ((*SWAP, "extra_data"), "0064", "swap_parameters[0].extra_data"),
        ((*SWAP, "extra_data"), 100, "swap_parameters[0].extra_data"),
        ((*SWAP, "swap_type"), "0", "swap_parameters[0].swap_type"),
        (("swap_parameters",), [], "swap_parameters"),
        (("swap_parameters",), [PUBLISHED["swap_parameters"][0]] * 2001, "swap_parameters"),
        (("route",), None, "route"),
        (("integrator_data",), "0xzz", "integrator_data"),
    ],
)  # fmt: skip
def test_a_malformed_field_is_named(path: tuple[str | int, ...], value: object, where: str) -> None:
    document = json.loads(json.dumps(PUBLISHED))
    container = document
    for key in path[:-1]:
        container = container[key]
    container[path[-1]] = value
    with pytest.raises(InvalidInput) as caught:
        read(document)
    assert caught.value.details["field"] == where


def test_a_call_with_ambiguous_swaps_must_have_its_tokens() -> None:
    document = json.loads(json.dumps(PUBLISHED))
    del document["route"]["token_in"]
    swap = document["swap_parameters"][0]
    document["swap_parameters"].append({**swap, "token_in": "0x" + "12" * 20})
    with pytest.raises(InvalidInput, match=r"route\.token_in is missing"):
        read(document)


def test_felts_that_are_cut_short_are_refused() -> None:
    document = json.loads(json.dumps(PUBLISHED))
    for part in (document["route"], document["swap_parameters"][0]):
        part.update({key: "0x1" for key in ("token_in", "token_out", "destination", "pool_address") if key in part})
    with pytest.raises(InvalidInput, match="felts of 32 bytes"):
        read(document, STARKNET)
