"""Lists of networks, tokens and protocols: read as they were written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.core.model.network import Network
from swapcli.core.model.token import Token
from swapcli.interface import json_types
from swapcli.interface.listings import (
    InterfaceToken,
    SupportedChain,
    parse_chains,
    parse_token,
    parse_tokens,
    render_chains,
    render_protocols,
    render_token,
    render_tokens,
)
from tests.interface.build import CITREA, EVM, NETWORKS, PROTOCOLS, ROUTER, STARKNET, USDC, addresses, prices
from tests.interface.conform import conforms


def as_json(document: object) -> Any:
    return json.loads(json.dumps(document, allow_nan=False))


def listed(network: Network) -> st.SearchStrategy[InterfaceToken]:
    token = st.builds(
        Token, addresses(network.kind), st.text(max_size=9), st.text(max_size=20), st.integers(0, 255), prices
    )
    return st.builds(InterfaceToken, token, st.booleans())


@given(st.data(), st.sampled_from(NETWORKS))
def test_tokens_are_read_as_they_were_written(data: st.DataObject, network: Network) -> None:
    tokens = tuple(data.draw(st.lists(listed(network), max_size=4)))
    document = as_json(render_tokens(tokens, network))
    assert all(conforms(entry, json_types.ListedTokenJson) for entry in document)
    assert parse_tokens(document, network) == tokens
    assert tuple(parse_token(entry, network) for entry in document) == tokens


def test_a_token_is_written_with_strings_for_numbers() -> None:
    token = InterfaceToken(USDC._replace(price_usd=1e-7), True)
    assert list(render_token(token, EVM).items()) == [
        ("address", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"), ("name", "USD Coin"), ("symbol", "USDC"),
        ("decimals", "6"), ("price", "0.0000001"), ("verified", True),
    ]  # fmt: skip
    assert render_token(InterfaceToken(USDC, False), EVM)["price"] is None


def test_what_is_not_said_of_a_token_is_not_held_against_it() -> None:
    document = {"address": USDC.address, "name": "USD Coin", "symbol": "USDC", "decimals": 6, "imageUrl": "x"}
    assert parse_token(document, EVM) == InterfaceToken(USDC, False)


def test_chains_are_read_as_they_were_written() -> None:
    document = as_json(render_chains([CITREA, STARKNET]))
    assert document == [
        {"chain_id": 8453, "chain_name": "citrea", "router_address": "0x274602a953847d807231d2370072F5f4E4594B44"},
        {"chain_id": 1, "chain_name": "starknet", "router_address": None},
    ]
    assert all(conforms(entry, json_types.SupportedChainJson) for entry in document)
    first, second = parse_chains(document)
    assert first == SupportedChain("citrea", 8453, "0x274602a953847d807231d2370072F5f4E4594B44")
    assert (first.router or "").lower() == ROUTER
    assert second == SupportedChain("starknet", 1)


def test_a_chain_id_beyond_53_bits_survives() -> None:
    sn_main = int.from_bytes(b"SN_MAIN")
    document = as_json(render_chains([STARKNET._replace(chain_id=sn_main)]))
    assert parse_chains(document)[0].chain_id == sn_main
    document[0]["chain_id"] = str(sn_main)
    assert parse_chains(document)[0].chain_id == sn_main


def test_protocols_are_read_as_they_were_written() -> None:
    document = as_json(render_protocols(PROTOCOLS))
    assert document[0] == {"amm_name": "wrapper", "protocol": 0}
    assert all(conforms(entry, json_types.ListedProtocolJson) for entry in document)
    assert document == [{"amm_name": p.amm_name, "protocol": p.id} for p in PROTOCOLS]


def test_nothing_to_offer_is_an_empty_array() -> None:
    assert (parse_chains([]), parse_tokens([], EVM)) == ((), ())


@pytest.mark.parametrize(
    "document",
    [None, {}, "x", [None], [{}], [{"chain_id": -1, "chain_name": "x"}], [{"chain_id": 1, "chain_name": 5}],
     [{"amm_name": "x", "protocol": 2**23}], [{"amm_name": "\ud800", "protocol": 1}],
     [{"address": USDC.address, "name": "", "symbol": "", "decimals": "256"}],
     [{"address": "USDC", "name": "", "symbol": "", "decimals": "6"}],
     [{"address": USDC.address, "name": "", "symbol": "", "decimals": "6", "price": "free"}],
     [{"address": USDC.address, "name": "", "symbol": "", "decimals": "6", "verified": "yes"}]],
)  # fmt: skip
def test_another_answer_is_refused(document: object) -> None:
    for parse in (parse_chains, lambda tokens: parse_tokens(tokens, EVM)):
        with pytest.raises(InvalidInput):
            parse(document)
