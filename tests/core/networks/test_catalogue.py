"""The catalogue has consistent networks, five of them by default, and finds all by name and chain id."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from swapcli.core.errors import ConfigError, UnknownNetwork
from swapcli.core.model.network import Kind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks import catalogue, definition_files
from swapcli.core.networks.address import parse_address
from swapcli.core.networks.catalogue import (
    all_network_names,
    find_network,
    find_network_by_chain_id,
    network_names,
)
from swapcli.families import FAMILIES
from tests.core.networks.test_definition import small

CHAIN_IDS = {"base": 8453, "citrea": 4114, "hyperevm": 999, "monad": 143, "starknet": 23448594291968334}
NAMES = tuple(CHAIN_IDS)
FURTHER_IDS = {
    "arbitrum": 42161,
    "avalanche": 43114,
    "bnb": 56,
    "ethereum": 1,
    "optimism": 10,
    "polygon": 137,
    "unichain": 130,
}
ALL_IDS = {**CHAIN_IDS, **FURTHER_IDS}
ALL_NAMES = tuple(sorted(ALL_IDS))
PUBLISHED_TOKENS = json.loads(Path(__file__).with_name("published_tokens.json").read_text())["tokens"]
"""Network, address, symbol, decimals and list of the tokens that public lists have."""
EVM_ROUTER = "0x274602a953847d807231d2370072f5f4e4594b44"
EXTRA_KEYS = {
    (),
    ("fee",),
    ("tickSpacing",),
    ("poolId", "fee", "tickSpacing", "extension", "skipAhead"),
    ("poolId", "token0", "token1", "fee", "tickSpacing", "hooks"),
    ("poolId", "token0", "token1", "fee", "tickSpacing", "binStep", "hooks", "parameters"),
    ("poolId",),
    ("poolId", "config"),
}
DEFINITIONS = Path(catalogue.__file__).with_name("definitions")


def test_five_networks_are_meant_by_default_and_all_are_there() -> None:
    assert network_names() == NAMES
    assert all_network_names() == ALL_NAMES
    assert {name: find_network(name).chain_id for name in ALL_NAMES} == ALL_IDS


@pytest.mark.parametrize("name", ALL_NAMES)
def test_a_network_is_found_by_name_in_any_case_and_by_chain_id(name: str) -> None:
    chain_id = ALL_IDS[name]
    assert find_network(name).name == name
    for spelling in (name.upper(), f" {name.title()} ", str(chain_id), hex(chain_id), hex(chain_id).upper()):
        assert find_network(spelling) is find_network(name)
    assert find_network_by_chain_id(chain_id) is find_network(name)


@pytest.mark.parametrize("name", ALL_NAMES)
def test_protocol_ids_and_names_are_unique_and_families_exist(name: str) -> None:
    protocols = find_network(name).protocols
    assert len({protocol.id for protocol in protocols}) == len(protocols)
    assert len({protocol.amm_name.lower() for protocol in protocols}) == len(protocols)
    assert {protocol.family for protocol in protocols} <= {*FAMILIES, None}
    assert {protocol.extra_keys for protocol in protocols} <= EXTRA_KEYS
    with_keys = {protocol.family for protocol in protocols if protocol.extra_keys}
    assert with_keys <= {
        "clober_v2",
        "concentrated",
        "ekubo",
        "ekubo_evm",
        "ekubo_twamm",
        "iziswap",
        "sampled",
        "uniswap_v4_hooked",
        None,
    }


@pytest.mark.parametrize("name", ALL_NAMES)
def test_addresses_are_canonical_and_tokens_and_symbols_unique(name: str) -> None:
    known = find_network(name)
    addresses = [token.address for token in known.tokens]
    addresses += [address for d in known.deployments for address in d.addresses.values()]
    single = (known.router, known.multicall, known.l1_fee_oracle, known.l1_gas_oracle)
    addresses += [address for address in single if address]
    addresses += [each for router in known.routers.values() for each in (router.address, router.spender) if each]
    assert all(parse_address(address, known.kind) == address for address in addresses)
    assert len({token.address for token in known.tokens}) == len(known.tokens)
    assert Counter(token.symbol.lower() for token in known.tokens).most_common(1)[0][1] == 1
    assert set(known.stablecoins) <= {token.address for token in known.tokens}
    assert known.stablecoins


@pytest.mark.parametrize("name", [name for name in ALL_NAMES if name != "starknet"])
def test_evm_networks_have_a_wrapped_token_and_protocol_0(name: str) -> None:
    known = find_network(name)
    assert known.kind is Kind.EVM
    assert known.has_v2
    assert known.native.address == ZERO_ADDRESS
    assert known.native not in known.tokens
    assert known.wrapped_native in known.tokens
    assert [protocol.family for protocol in known.protocols if protocol.id == 0] == ["wrapper"]
    assert known.router == (EVM_ROUTER if name in NAMES else None)


@pytest.mark.parametrize("name", FURTHER_IDS)
def test_further_networks_have_the_routers_of_published_dialects_and_dated_facts(name: str) -> None:
    known = find_network(name)
    assert set(known.routers) == {"settler", "universal-router"}
    assert known.routers["settler"].registry
    for router in known.routers.values():
        assert router.protocols.keys() <= {protocol.amm_name for protocol in known.protocols}
    assert known.facts_date == "2026-11-30"
    assert {"checks made", "checks not made"} <= known.sources.keys()
    assert known.max_gas_price_wei > known.gas_price_wei
    assert known.block_time_s
    assert len(known.tokens) >= 15


@pytest.mark.parametrize("name", FURTHER_IDS)
def test_every_node_of_a_further_network_has_a_source_and_a_date(name: str) -> None:
    nodes = find_network(name).public_nodes
    assert nodes
    assert [node.url for node in nodes if not (node.source and node.date and node.url.startswith("https://"))] == []


@pytest.mark.parametrize("name", FURTHER_IDS)
def test_every_protocol_of_a_further_network_has_a_contract_or_a_reason(name: str) -> None:
    known = find_network(name)
    deployed = {amm_name for deployment in known.deployments for amm_name in deployment.protocols}
    for protocol in known.protocols:
        expected = protocol.family is not None and not protocol.is_wrapper
        assert (protocol.amm_name in deployed) == expected, protocol.amm_name
        assert (protocol.unsupported is not None) == (protocol.family is None), protocol.amm_name


@pytest.mark.parametrize("name", FURTHER_IDS)
def test_tokens_of_further_networks_have_the_published_decimals(name: str) -> None:
    published: dict[str, set[int]] = {}
    for network, address, _, decimals, _ in PUBLISHED_TOKENS:
        if network == name:
            published.setdefault(address, set()).add(decimals)
    assert {token.address: {token.decimals} for token in find_network(name).tokens} == published


def test_starknet_gas_is_a_plain_token_and_protocols_start_at_1() -> None:
    starknet = find_network("starknet")
    assert (starknet.kind, starknet.has_v2, starknet.wrapped_native) == (Kind.STARKNET, False, None)
    assert starknet.native.symbol == "STRK"
    assert starknet.native.address in {token.address for token in starknet.tokens}
    assert [protocol.id for protocol in starknet.protocols] == list(range(1, 19))
    assert all(len(token.address) == 66 for token in starknet.tokens)


@pytest.mark.parametrize("name", ALL_NAMES)
def test_deployments_have_known_protocols_and_a_source(name: str) -> None:
    known = find_network(name)
    for deployment in known.deployments:
        assert not deployment.source.startswith("TODO"), deployment
        assert all(known.protocol(amm_name) for amm_name in deployment.protocols)
        assert deployment.source


@pytest.mark.parametrize("name", ALL_NAMES)
def test_everything_marked_as_unconfirmed_exists(name: str) -> None:
    known, symbols = find_network(name), {token.symbol for token in find_network(name).tokens}
    assert known.gas_price_wei > 0
    assert "gas_price_wei" in known.unconfirmed
    for fact in known.unconfirmed:
        first, _, rest = fact.partition(".")
        assert hasattr(known, first)
        assert first != "tokens" or rest.removesuffix(".decimals") in symbols


def test_facts_from_one_weak_source_stay_marked() -> None:
    assert "protocols.id" in find_network("citrea").unconfirmed
    assert "tokens.shMON.decimals" in find_network("monad").unconfirmed
    assert "multicall" in find_network("citrea").unconfirmed
    assert find_network("citrea").multicall is None
    equalizer = next(d for d in find_network("base").deployments if d.protocols == ("equalizerV3",))
    assert equalizer.unconfirmed == ("addresses",)


def test_tokens_with_unknown_decimals_are_kept_in_the_file_only() -> None:
    left_out = json.loads((DEFINITIONS / "monad.json").read_text())["unconfirmed_tokens"]
    assert [token["symbol"] for token in left_out] == ["USD1"]
    assert left_out[0]["reason"]
    assert "USD1" not in {token.symbol for token in find_network("monad").tokens}


@pytest.mark.parametrize(
    ("name", "amm_name", "protocol_id", "family"),
    [
        ("base", "aerodromeV3", 3, "concentrated"),
        ("base", "uniswapV3", 5, "concentrated"),
        ("base", "pancakeSwapV3", 9, "concentrated"),
        ("base", "curveFi", 27, "stableswap"),
        ("base", "balancerV2Weighted", 34, "weighted"),
        ("base", "uniswapV4Zora", 51, "concentrated"),
        ("hyperevm", "kittenSwapV2Stable", 5, "solidly_stable"),
        ("monad", "UniswapV4", 13, "concentrated"),
        ("citrea", "juiceSwap", 2, "concentrated"),
        ("starknet", "Ekubo", 5, "ekubo"),
    ],
)
def test_protocols_have_the_published_ids(name: str, amm_name: str, protocol_id: int, family: str | None) -> None:
    protocol = find_network(name).protocol(amm_name)
    assert protocol is not None
    assert (protocol.id, protocol.family) == (protocol_id, family)


def test_only_rollups_charge_for_data_on_l1() -> None:
    on_op_stack = {name for name in all_network_names() if find_network(name).l1_fee_oracle}
    assert on_op_stack == {"base", "optimism", "unichain"}
    assert {name for name in all_network_names() if find_network(name).l1_gas_oracle} == {"arbitrum"}


def test_the_hooks_of_launchers_have_their_permissions() -> None:
    """The low bits of an address are the permissions; those of Zora's first hooks leave swaps alone."""
    (uniswap,) = (each for each in find_network("base").deployments if "uniswapV4" in each.protocols)
    permissions = {name: {int(hook, 16) % (1 << 14) for hook in hooks} for name, hooks in uniswap.hooks.items()}
    assert permissions == {
        "uniswapV4Zora": {0x1040, 0x10C0},
        "uniswapV4Flaunch": {0x25DC, 0x2FDC},
        "uniswapV4Clanker": {0x28CC},
    }


def test_an_unknown_name_gives_close_ones_and_all() -> None:
    with pytest.raises(UnknownNetwork, match='no network "bsae"') as caught:
        find_network("bsae")
    assert caught.value.hint == "did you mean base?"
    assert caught.value.details == {"network": "bsae", "networks": list(all_network_names()), "closest": ["base"]}


@pytest.mark.parametrize("name", ["", "zzzzzzzz", "../base", "base.json", "8453_", "-1", "８４５３"])
def test_names_that_are_like_none_list_all(name: str) -> None:
    with pytest.raises(UnknownNetwork) as caught:
        find_network(name)
    assert caught.value.details["networks"] == list(all_network_names())


def test_an_unknown_chain_id_is_named() -> None:
    with pytest.raises(UnknownNetwork, match=r"chain ID 77$") as caught:
        find_network("77")
    assert caught.value.hint == f"known networks: {', '.join(all_network_names())}"


def test_a_configuration_adds_networks_without_touching_code() -> None:
    described = small()
    del described["name"]
    added = {"Tiny": described}
    assert network_names(added) == ("base", "citrea", "hyperevm", "monad", "starknet", "tiny")
    tiny = find_network("TINY", added)
    assert (tiny.name, tiny.chain_id) == ("tiny", 31337)
    assert find_network_by_chain_id(31337, added) == find_network("31337", added) == tiny
    assert find_network("base", added) is find_network("base")


def test_a_configuration_adds_to_a_known_network() -> None:
    added = {"base": {"router": "0x" + "1" * 40}, "BASE": {"gas_price_wei": 9}}
    changed = find_network("8453", added)
    assert changed == find_network("base")._replace(router="0x" + "1" * 40, gas_price_wei=9)


def test_a_malformed_network_is_refused_only_when_requested() -> None:
    added = {"tiny": {"chain_id": "x"}}
    assert find_network("base", added) is find_network("base")
    with pytest.raises(ConfigError, match=r"networks\.tiny\.native"):
        find_network("tiny", {"tiny": {"chain_id": 5}})
    with pytest.raises(ConfigError, match=r"networks\.tiny: expected an object"):
        find_network("tiny", {"tiny": None})


def test_a_file_in_the_folder_is_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tiny.json").write_text(json.dumps(small()))
    (tmp_path / "README.md").write_text("not a network")
    further = tmp_path / "further"
    further.mkdir()
    (further / "other.json").write_text(json.dumps({**small(), "name": "other", "chain_id": 31338}))
    monkeypatch.setattr(definition_files, "_FOLDER", os.fspath(tmp_path))
    monkeypatch.setattr(definition_files, "_FURTHER", os.fspath(further))
    caches = (
        definition_files.interface_networks,
        definition_files.packaged_networks,
        catalogue._load_packaged,
        definition_files.read_definition,
    )
    for cache in caches:
        cache.cache_clear()
    try:
        assert network_names() == ("tiny",)
        assert find_network("tiny").native.symbol == "ETH"
        assert find_network_by_chain_id(31337) is find_network("tiny")
        assert all_network_names() == ("other", "tiny")
        assert find_network("31338") is find_network("other")
    finally:
        for cache in caches:
            cache.cache_clear()


def test_reading_one_network_does_not_read_the_others() -> None:
    for cache in (catalogue._load_packaged, definition_files.read_definition):
        cache.cache_clear()
    find_network("base")
    assert definition_files.read_definition.cache_info().currsize == 1
    assert catalogue._load_packaged.cache_info().currsize == 1


def test_only_monad_reports_blocks_before_consensus_as_latest() -> None:
    assert {name for name in all_network_names() if find_network(name).head_is_proposed} == {"monad"}


def test_hyperevm_has_small_blocks_unless_settings_say_otherwise() -> None:
    assert {name: find_network(name).block_gas_limit for name in ("base", "hyperevm")} == {
        "base": None,
        "hyperevm": 3_000_000,
    }
    assert find_network("hyperevm", {"hyperevm": {"block_gas_limit": 30_000_000}}).block_gas_limit == 30_000_000
    assert find_network("hyperevm", {"hyperevm": {}}).block_gas_limit == 3_000_000
    with pytest.raises(ConfigError, match="block_gas_limit"):
        find_network("hyperevm", {"hyperevm": {"block_gas_limit": 99_999}})
