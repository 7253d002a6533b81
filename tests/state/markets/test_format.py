"""Valid market files are read completely, in any spelling, and written back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, UnknownNetwork
from swapcli.core.model.market import MarketState, ParsedMarket, Provenance
from swapcli.core.model.network import Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.state.markets.embedded import embedded_market
from swapcli.state.markets.format import parse_market, render_market
from tests.strategies import Document, market_documents, markets, parse_document, raise_unknown_network

WETH = Token("0x" + "ab" * 20, "WETH", "Wrapped Ether", 18)
USDC = Token("0x" + "cd" * 20, "USDC", "USD Coin", 6)
POOL = "0x" + "ef" * 20
CATALOGUED = Network(
    name="home",
    kind=Kind.EVM,
    chain_id=7,
    native=Token(ZERO_ADDRESS, "ETH", "Ether", 18),
    wrapped_native=WETH,
    tokens=(WETH, USDC),
    protocols=(
        ProtocolInfo(0, "wrapper", "Wrapper", "wrapper"),
        ProtocolInfo(4, "uniswapV2", "Uniswap V2", "constant_product", confirmed=True),
        ProtocolInfo(5, "uniswapV3", "Uniswap V3", "concentrated", ("fee",)),
    ),
    router="0x" + "99" * 20,
    stablecoins=(USDC.address,),
    gas_price_wei=5,
)
"""A network with more fields than a market file contains."""

EXCERPT = Path(__file__).parent / "samples" / "ethereum_excerpt.json"


def find_small_network(name: str) -> Network:
    """Find a network in a catalogue of one."""
    if name != CATALOGUED.name:
        raise UnknownNetwork(f'no network "{name}"')
    return CATALOGUED


def document(**changes: object) -> Document:
    """Return a file with one pool on the network of the catalogue."""
    return {
        "format": "swap-market/1",
        "network": {"name": "home"},
        "block": 12,
        "timestamp": 1_700_000_000,
        "provenance": "recorded",
        "source": "by hand",
        "gas_price_wei": "30000000",
        "tokens": [
            {"address": WETH.address, "symbol": "WETH", "name": "Wrapped Ether", "decimals": 18},
            {"address": USDC.address, "symbol": "USDC", "name": "USD Coin", "decimals": 6, "price_usd": 1},
        ],
        "pools": [
            {
                "address": POOL,
                "protocol": "uniswapV2",
                "family": "constant_product",
                "tokens": [WETH.address, USDC.address],
                "fee_ppm": 3000,
                "reserves": ["1000000000000000000", "3000000000"],
            }
        ],
        **changes,
    }


def parse(entry: Document, **options: Any) -> ParsedMarket:
    return parse_market(json.dumps(entry), networks=find_small_network, **options)


def network_of(**members: object) -> Network:
    return parse(document(network={"name": "home", **members})).market.network


def described(**changes: object) -> Document:
    """Return a complete `network` object."""
    return {
        "name": "elsewhere",
        "chain_id": 31337,
        "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
        "wrapped_native": WETH.address,
        "router": None,
        "protocols": [{"id": 4, "amm_name": "uniswapV2", "display_name": "Uniswap V2"}],
        **changes,
    }


@given(markets())
def test_reading_what_was_written_gives_the_same_market(market: MarketState) -> None:
    reread = parse_market(render_market(market), networks=raise_unknown_network)
    assert reread == ParsedMarket(market)


@given(markets())
def test_writing_is_stable_after_one_round(market: MarketState) -> None:
    written = render_market(market)
    assert render_market(parse_market(written, networks=raise_unknown_network).market) == written


@given(market_documents())
def test_text_and_bytes_and_a_byte_order_mark_read_the_same(entry: Document) -> None:
    text = json.dumps(entry, ensure_ascii=False)
    from_text = parse_market(text, networks=raise_unknown_network)
    assert parse_market(text.encode(), networks=raise_unknown_network) == from_text
    assert parse_market(text.encode("utf-8-sig"), networks=raise_unknown_network) == from_text


@given(market_documents())
def test_the_case_of_addresses_does_not_matter(entry: Document) -> None:
    upper_case = json.loads(json.dumps(entry), object_hook=_with_upper_case_addresses)
    assert parse_document(upper_case) == parse_document(entry)


@given(market_documents())
def test_numbers_and_decimal_strings_mean_the_same(entry: Document) -> None:
    as_numbers = {**entry, "gas_price_wei": int(entry["gas_price_wei"]), "pools": _unquoted(entry["pools"])}
    as_texts = {**entry, "network": {**entry["network"], "chain_id": str(entry["network"]["chain_id"])}}
    assert parse_document(as_numbers) == parse_document(as_texts) == parse_document(entry)


@given(market_documents(), st.sampled_from(["x", "note", "price_usd_", "Format"]))
def test_unknown_keys_are_ignored_at_every_level(entry: Document, extra: str) -> None:
    extended = json.loads(json.dumps(entry), object_hook=lambda item: {**item, extra: [{"deep": None}]})
    assert parse_document(extended) == parse_document(entry)


def test_every_member_of_a_file_is_read() -> None:
    market = parse(document()).market
    assert (market.block, market.timestamp, market.gas_price_wei) == (12, 1_700_000_000, 30_000_000)
    assert (market.provenance, market.source) == (Provenance.RECORDED, "by hand")
    assert market.tokens == {WETH.address: WETH, USDC.address: USDC._replace(price_usd=1.0)}
    pool = market.pools[POOL]
    assert (pool.protocol, pool.tokens, pool.decimals) == ("uniswapV2", (WETH.address, USDC.address), (18, 6))
    assert pool.state() == {"reserves": ["1000000000000000000", "3000000000"]}


def test_a_known_network_needs_only_its_name() -> None:
    assert network_of() == CATALOGUED


@pytest.mark.parametrize(
    ("member", "value", "field"),
    [("chain_id", 8, "chain_id"), ("router", "0x" + "77" * 20, "router")],
)
def test_a_member_that_the_file_gives_overrides_the_catalogue(member: str, value: object, field: str) -> None:
    assert network_of(**{member: value}) == CATALOGUED._replace(**{field: value})  # type: ignore[arg-type]


def test_a_file_without_a_router_leaves_the_one_of_the_settings() -> None:
    own = CATALOGUED._replace(router="0x" + "77" * 20)
    written = json.dumps(document(network={"name": "home", "router": None}))
    assert parse_market(written, networks=lambda _: own).market.network == own


def test_a_file_can_rename_the_native_token_and_its_wrapped_form() -> None:
    changed = network_of(native={"symbol": "H", "name": "Home", "decimals": 6}, wrapped_native=USDC.address)
    assert changed.native == Token(ZERO_ADDRESS, "H", "Home", 6)
    assert changed.wrapped_native == USDC._replace(price_usd=1.0)


def test_a_listed_protocol_keeps_what_the_catalogue_knows_of_it() -> None:
    listed = [
        {"id": 9, "amm_name": "uniswapV2", "display_name": "U2"},
        {"id": 1, "amm_name": "new", "display_name": "N"},
    ]
    changed = network_of(protocols=listed)
    assert changed.protocols == (
        ProtocolInfo(9, "uniswapV2", "U2", "constant_product", confirmed=True),
        ProtocolInfo(1, "new", "N"),
    )


def test_a_catalogue_network_survives_a_write_and_read() -> None:
    market = parse(document()).market
    assert parse_market(render_market(market), networks=find_small_network).market == market


@pytest.mark.parametrize("name", network_names())
def test_every_embedded_market_comes_back_equal_after_writing(name: str) -> None:
    result = parse_market(embedded_market(name), networks=find_network)
    assert not result.skipped
    assert result.market.network == find_network(name)
    assert parse_market(render_market(result.market), networks=find_network) == result


def test_an_unknown_network_is_what_the_file_describes() -> None:
    read = parse(document(network=described())).market.network
    assert (read.name, read.kind, read.chain_id, read.router) == ("elsewhere", Kind.EVM, 31337, None)
    assert read.wrapped_native == WETH
    assert read.protocols == (ProtocolInfo(4, "uniswapV2", "Uniswap V2"),)


def test_a_starknet_market_has_long_addresses_and_chain_id() -> None:
    token, other, pool = (f"0x{digit * 3}" for digit in "123")
    entry = document(network=described(kind="starknet", chain_id=str(2**60), wrapped_native=None))
    entry["tokens"] = [{"address": each, "symbol": "T", "name": "", "decimals": 18} for each in (token, other)]
    entry["pools"][0] |= {"address": pool, "tokens": [token, other]}
    market = parse(entry).market
    assert list(market.pools) == ["0x" + "333".zfill(64)]
    assert json.loads(render_market(market))["network"]["chain_id"] == str(2**60)
    assert parse_market(render_market(market), networks=raise_unknown_network).market == market


def test_a_real_excerpt_of_ethereum_is_read_whole() -> None:
    entry = json.loads(EXCERPT.read_bytes())
    market = parse_market(EXCERPT.read_bytes(), networks=raise_unknown_network).market
    assert list(market.pools) == [pool["address"] for pool in entry["pools"]]
    assert {pool.family for pool in market.pools.values()} == {"constant_product", "concentrated"}
    for pool, written in zip(market.pools.values(), entry["pools"], strict=True):
        assert {key: written[key] for key in pool.state()} == pool.state()


def test_bad_pools_are_skipped_and_reported_when_allowed() -> None:
    good = document()["pools"][0]
    bad = [{**good, "address": "0x" + "11" * 20, "reserves": ["-1", "1"]}, 5, good]
    result = parse(document(pools=[good, *bad]), skip_bad_pools=True)
    assert list(result.market.pools) == [POOL]
    assert [(error.pool, error.field) for error in result.skipped] == [
        ("0x" + "11" * 20, "reserves[0]"),
        (None, "pools[2]"),
        (POOL, "address"),
    ]


@given(market_documents(), st.data())
def test_skipping_keeps_exactly_the_good_pools(entry: Document, data: st.DataObject) -> None:
    spoiled = {index for index in range(len(entry["pools"])) if data.draw(st.booleans())}
    pools = [{**pool, "family": "x"} if index in spoiled else pool for index, pool in enumerate(entry["pools"])]
    result = parse_market(json.dumps({**entry, "pools": pools}), networks=raise_unknown_network, skip_bad_pools=True)
    good_pools = [pool for index, pool in enumerate(entry["pools"]) if index not in spoiled]
    assert result.market == parse_document({**entry, "pools": good_pools})
    assert len(result.skipped) == len(spoiled)
    assert all(isinstance(error, InvalidPoolState) and error.field == "family" for error in result.skipped)


def _with_upper_case_addresses(item: Document) -> Document:
    return {
        key: _upper_case(value) if key in ("address", "tokens", "router", "pool_id") else value
        for key, value in item.items()
    }


def _upper_case(value: Any) -> Any:
    if isinstance(value, list):
        return [_upper_case(each) for each in value]
    return "0x" + value[2:].upper() if isinstance(value, str) else value


def _unquoted(value: Any) -> Any:
    """Return the value with decimal strings as JSON numbers."""
    if isinstance(value, dict):
        return {key: _unquoted(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_unquoted(each) for each in value]
    return int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() and value.isascii() else value
