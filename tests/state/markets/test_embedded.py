"""The embedded markets as the program reads them: their pools and tokens, and the absence of arbitrage."""

from __future__ import annotations

import json
import math
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from swapcli.core.errors import MarketError
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Kind
from swapcli.core.networks.address import display_address
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.core.networks.pool_addresses import deployment_of
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.state.markets.embedded import checksummed_addresses, embedded_market, embedded_names, market_path
from swapcli.state.markets.format import parse_market
from tests.support.outside_ids import keccak256, possible_pools, v4_id

NAMES = network_names()
WELL_KNOWN = [
    "WETH", "USDC", "USDbC", "USDT", "DAI", "cbBTC", "cbETH", "wstETH", "weETH", "AERO", "VIRTUAL", "DEGEN", "BRETT",
    "EURC", "tBTC",
]  # fmt: skip
_RECORDED = json.loads((Path(__file__).parents[2] / "core" / "networks" / "recorded_base_pools.json").read_text())[
    "pools"
]

# Recorded besides the list: Curve's 4pool and USD+/crvUSD, PancakeSwap V2's WETH/USDbC.
_RECORDED_SINGLY = {
    "0xf6c5f01c7f3148891ad0e19df78743d31e390d1f",
    "0xda3de145054ed30ee937865d31b500505c4bdfe7",
    "0x92363f9817f92a7ae0592a4cb29959a88d885cc8",
}


@lru_cache
def embedded(name: str) -> MarketState:
    return parse_market(embedded_market(name), networks=find_network).market


def test_every_network_of_the_catalogue_has_a_market() -> None:
    assert embedded_names() == NAMES


@pytest.mark.parametrize("name", ["nowhere", "", "Base", "../../pyproject", "base.json"])
def test_a_network_without_a_market_error_lists_those_with_one(name: str) -> None:
    with pytest.raises(MarketError) as caught:
        embedded_market(name)
    assert caught.value.details == {"network": name, "embedded": list(NAMES)}
    assert caught.value.hint == f"give a market file with --market, or fill a store with swapcli sync {name}"


def eip_55(address: str) -> str:
    """Return the EIP-55 checksum of an address, computed independently of the program."""
    digits = address[2:].lower()
    marks = keccak256(digits.encode()).hex()
    return "0x" + "".join(d.upper() if int(mark, 16) > 7 else d for d, mark in zip(digits, marks, strict=False))


@pytest.mark.parametrize("name", NAMES)
def test_every_evm_address_is_written_with_its_checksum(name: str) -> None:
    checksummed = checksummed_addresses(embedded_market(name))
    assert {eip_55(address) for address in checksummed} == checksummed
    market = embedded(name)
    shown = (
        {*market.tokens, *(pool.address for pool in market.pools.values())}
        if market.network.kind is Kind.EVM
        else set()
    )
    assert shown <= {address.lower() for address in checksummed}


@pytest.mark.parametrize("name", NAMES)
def test_the_state_is_marked_as_modelled_and_belongs_to_no_block(name: str) -> None:
    market = embedded(name)
    assert market.provenance is Provenance.MODELLED
    assert market.source.startswith("a table of prices and depths, not the chain; ")
    assert market.source.endswith(f"; facts of {find_network(name).facts_date}")
    assert (market.block, market.timestamp) == (None, None)
    assert market.network == find_network(name)
    assert market.gas_price_wei == find_network(name).gas_price_wei


def test_base_has_at_least_150_real_pools_over_30_tokens() -> None:
    market = embedded("base")
    real = {row[4] for row in _RECORDED} | _RECORDED_SINGLY
    ordinary = [pool for pool in market.pools.values() if pool.protocol != "uniswapV4"]
    assert {pool.address for pool in ordinary} <= real
    assert len(ordinary) >= 200
    assert len({token for pool in ordinary for token in pool.tokens}) >= 50


def test_base_pools_named_by_fee_tier_have_the_recorded_fee() -> None:
    fees = {row[4]: row[3] for row in _RECORDED if row[0] in ("uniswapV3", "sushiSwapV3", "pancakeSwapV3")}
    spacings = {row[4]: row[3] for row in _RECORDED if row[0] == "aerodromeV3"}
    pools = embedded("base").pools.values()
    assert all(pool.fee_ppm == fees[pool.address] for pool in pools if pool.address in fees)
    by_spacing = [pool for pool in pools if isinstance(pool, Concentrated) and pool.address in spacings]
    assert by_spacing
    assert all(pool.tick_list.tick_spacing == spacings[pool.address] for pool in by_spacing)


def test_base_resolves_the_well_known_symbols_to_one_token_each() -> None:
    market = embedded("base")
    symbols = Counter(token.symbol.lower() for token in market.tokens.values())
    assert symbols.most_common(1)[0][1] == 1
    assert {symbol.lower() for symbol in WELL_KNOWN} <= set(symbols)


@pytest.mark.parametrize("name", NAMES)
def test_each_market_has_enough_pools_tokens_and_protocols(name: str) -> None:
    pools = embedded(name).pools.values()
    protocols = Counter(pool.protocol for pool in pools)
    assert len(pools) >= {"base": 200, "citrea": 30}.get(name, 40)
    assert len(embedded(name).tokens) >= {"base": 50, "citrea": 8}.get(name, 15)
    assert len(protocols) >= {"citrea": 3}.get(name, 5)
    assert len({pool.family for pool in pools}) >= 2
    assert protocols.most_common(1)[0][1] <= 0.7 * len(pools)


@pytest.mark.parametrize("name", NAMES)
def test_tokens_are_those_of_the_catalogue_and_each_is_in_a_pool(name: str) -> None:
    market = embedded(name)
    catalogued = {token.address: token for token in find_network(name).tokens}
    for token in market.tokens.values():
        known = catalogued[token.address]
        assert (token.symbol, token.name, token.decimals) == (known.symbol, known.name, known.decimals)
        assert token.price_usd
    assert {token for pool in market.pools.values() for token in pool.tokens} == set(market.tokens)


@pytest.mark.parametrize("name", NAMES)
def test_tokens_are_joined_by_parallel_pools_and_multiple_hops(name: str) -> None:
    market = embedded(name)
    neighbours: dict[str, set[str]] = {address: set() for address in market.tokens}
    for pool in market.pools.values():
        for token in pool.tokens:
            neighbours[token] |= set(pool.tokens) - {token}
    start = next(iter(market.tokens))
    reached, frontier, hops = {start}, {start}, 0
    while frontier:
        frontier = {there for here in frontier for there in neighbours[here]} - reached
        reached |= frontier
        hops += bool(frontier)
    assert reached == set(market.tokens)
    assert hops >= 2
    pairs = Counter(frozenset(pool.tokens) for pool in market.pools.values())
    assert sum(count > 1 for count in pairs.values()) >= 5


@pytest.mark.parametrize("name", NAMES)
def test_families_and_tiers_match_the_protocols(name: str) -> None:
    known = find_network(name)
    for pool in embedded(name).pools.values():
        protocol, deployment = known.protocol(pool.protocol), deployment_of(known, pool.protocol)
        assert protocol is not None
        assert protocol.family == pool.family
        if (
            isinstance(pool, Concentrated)
            and protocol.extra_keys[:1] == ("fee",)
            and deployment
            and deployment.fee_tiers
        ):
            assert deployment.fee_tiers[pool.fee_ppm] == pool.tick_list.tick_spacing


@pytest.mark.parametrize("name", NAMES)
def test_addresses_are_derived_recorded_or_marked(name: str) -> None:
    document, known = json.loads(embedded_market(name)), find_network(name)
    unmarked = [entry for entry in document["pools"] if "address_modelled" not in entry]
    recorded = {
        "base": _RECORDED_SINGLY,
        "citrea": {"0x172d2ab563afdaace7247a6592ee1be62e791165"},
        "hyperevm": {"0x609a6465ca0381f9b86993d3173800fd84b87b41"},
        "starknet": {"0x00000005dd3d2f4429af886cd1a3b08289dbcea99a294197e9eb43b0e0325b4b"},
    }.get(name, set())
    for entry in unmarked:
        token0, token1 = (token.lower() for token in entry["tokens"][:2])
        protocol = known.protocol(entry["protocol"])
        assert protocol is not None
        by_spacing = protocol.extra_keys == ("tickSpacing",)
        tier = entry["tick_spacing"] if by_spacing else entry["fee_ppm"]
        derived = possible_pools(deployment_of(known, protocol.amm_name), token0, token1, tier)
        assert entry["address"].lower() in derived | recorded
    assert all(entry["address_modelled"] is True for entry in document["pools"] if entry not in unmarked)
    assert ("invented" in document["source"]) == (len(unmarked) < len(document["pools"]))


def test_only_networks_without_derivations_have_placeholders() -> None:
    placeholders = {name: len(embedded(name).placeholder_pools) for name in NAMES}
    assert placeholders["base"] == placeholders["monad"] == 0
    assert placeholders["citrea"] <= 5
    assert placeholders["hyperevm"] <= 11
    starknet = embedded("starknet")
    recorded = starknet.pools.keys() - starknet.placeholder_pools
    assert len(recorded) == 5
    assert {starknet.pools[key].family for key in recorded} == {"ekubo"}


@pytest.mark.parametrize("name", ["base", "monad"])
def test_uniswap_v4_pools_are_named_by_the_hash_of_their_key(name: str) -> None:
    pools = [
        pool for pool in embedded(name).pools.values() if isinstance(pool, Concentrated) and pool.tick_list.pool_id
    ]
    assert len(pools) >= 10
    assert any(pool.tick_list.is_native for pool in pools)
    for pool in pools:
        currency0 = "0x" + "0" * 40 if pool.tick_list.is_native else pool.tokens[0]
        assert pool.key == v4_id(currency0, pool.tokens[1], pool.fee_ppm, pool.tick_list.tick_spacing)


@pytest.mark.parametrize("name", NAMES)
def test_addresses_are_written_in_display_form(name: str) -> None:
    document, kind = json.loads(embedded_market(name)), find_network(name).kind
    written = [entry["address"] for entry in document["tokens"] + document["pools"]]
    written += [token for entry in document["pools"] for token in entry["tokens"]]
    assert all(address == display_address(address.lower(), kind) for address in written)
    assert kind is Kind.EVM or all(len(address) == 66 for address in written)


@pytest.mark.parametrize("name", NAMES)
def test_concentrated_pools_have_20_to_120_ticks_near_the_price(name: str) -> None:
    pools = [pool for pool in embedded(name).pools.values() if isinstance(pool, Concentrated)]
    assert pools
    for pool in pools:
        ticks, spacing = pool.tick_list.ticks, pool.tick_list.tick_spacing
        assert 20 <= len(ticks) <= 120
        assert ticks[0] <= pool.tick < ticks[-1]
        assert pool.liquidity > 0
        assert ticks[-1] - ticks[0] >= 200 * spacing or ticks[-1] - ticks[0] >= 6_000


@pytest.mark.parametrize("name", NAMES)
def test_no_cycle_of_swaps_is_profitable_at_any_size(name: str) -> None:
    """Bellman-Ford over -ln of the marginal rates with fees: rates fall with size, so that the absence of a negative
    cycle means no arbitrage.
    """
    market = embedded(name)
    edges = [
        (token_in, token_out, -math.log(pool.curve(token_in, token_out).start_rate))
        for pool in market.pools.values()
        for token_in in pool.tokens
        for token_out in pool.tokens
        if token_in != token_out
    ]
    distance = dict.fromkeys(market.tokens, 0.0)
    shortened = True
    for _ in market.tokens:
        shortened = False
        for token_in, token_out, cost in edges:
            if distance[token_in] + cost < distance[token_out] - 1e-12:
                distance[token_out] = distance[token_in] + cost
                shortened = True
    assert not shortened


@pytest.mark.parametrize("name", NAMES)
def test_every_rate_is_below_the_fair_rate_by_part_of_the_fee(name: str) -> None:
    """The table's prices certify the absence of arbitrage: valued at them, no pool pays more than it receives."""
    market = embedded(name)
    value_usd = {token.address: (token.price_usd or 0) / 10**token.decimals for token in market.tokens.values()}
    for pool in market.pools.values():
        fee = pool.fee_ppm / 1e6
        for token_in in pool.tokens:
            for token_out in set(pool.tokens) - {token_in}:
                rate_ratio = pool.curve(token_in, token_out).start_rate * value_usd[token_out] / value_usd[token_in]
                assert 1 - 2 * fee - 0.001 < rate_ratio < 1 - 0.05 * fee


def test_typical_swaps_work_in_both_directions_of_every_pool() -> None:
    for name in NAMES:
        market = embedded(name)
        for pool in market.pools.values():
            for token_in, token_out in (pool.tokens[:2], pool.tokens[1::-1]):
                sold, bought = market.tokens[token_in], market.tokens[token_out]
                assert sold.price_usd
                assert bought.price_usd
                amount_in = int(20 / sold.price_usd * 10**sold.decimals)
                amount_out, _ = pool.swap(token_in, token_out, amount_in)
                value_out = amount_out * bought.price_usd / 10**bought.decimals
                assert 19.2 < value_out < 20


def test_the_files_stay_small_enough_to_be_parsed_for_one_quote() -> None:
    sizes = {name: Path(market_path(name)).stat().st_size for name in NAMES}
    assert sizes["base"] <= 240_000
    assert max(size for name, size in sizes.items() if name != "base") <= 80_000
