"""Networks in the settings: additions to known ones, custom networks, and their errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swapcli.core.errors import UnknownNetwork
from swapcli.core.model.network import FIBROUS, Kind
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network as catalogue_network
from swapcli.core.networks.catalogue import network_names
from swapcli.quoting.config import Settings, network_names_from, networks_from
from tests.quoting.config.in_memory import DEFAULT_FILE, OTHER_FILE, load, refused

EXPECTED = "expected an http, https, ws or wss address, or the path of an IPC socket"
ROUTER = "0x" + "34" * 20
MINE = {"address": "0x" + "56" * 20, "symbol": "MINE", "name": "My Token", "decimals": 9}
WRAPPED = {"address": "0x" + "78" * 20, "symbol": "WETH", "name": "Wrapped Ether", "decimals": 18}
OWN: dict[str, Any] = {
    "chain_id": 31337,
    "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
    "wrapped_native": WRAPPED["address"],
    "tokens": [WRAPPED, MINE],
    "protocols": [{"id": 1, "amm_name": "uniswapV2", "display_name": "Uniswap V2", "family": "constant_product"}],
}


def networks(**described: object) -> str:
    """Return a settings file with a `networks` section."""
    return json.dumps({"networks": {name.replace("_", "-"): each for name, each in described.items()}})


def test_the_catalogue_is_used_without_settings() -> None:
    look_up = networks_from(Settings())
    assert all(look_up(name).for_dialect(FIBROUS) == catalogue_network(name) for name in network_names())
    assert network_names_from(Settings()) == network_names()


def test_a_known_network_takes_a_node_a_router_and_tokens() -> None:
    settings = load(networks(base={"rpc_url": "https://n.example/key", "router": ROUTER, "tokens": [MINE]}))
    before, after = catalogue_network("base"), networks_from(settings)("base")
    assert after.rpc_urls == ("https://n.example/key", *before.rpc_urls)
    assert after.router == ROUTER
    assert after.tokens == (*before.tokens, Token(**MINE))  # type: ignore[arg-type]
    assert after.protocols == before.protocols
    assert networks_from(settings)("citrea").for_dialect(FIBROUS) == catalogue_network("citrea")


@pytest.mark.parametrize(
    ("settings", "dialect", "chooses"),
    [
        ({}, "fibrous", True),
        ({"router_dialect": "auto"}, "fibrous", True),
        ({"router_dialect": "settler"}, "settler", False),
        ({"networks": {"base": {"rpc_url": "https://n.example"}}}, "fibrous", True),
        ({"networks": {"base": {"router": ROUTER}}}, "fibrous", False),
        ({"networks": {"base": {"router": ROUTER, "router_dialect": "own"}}}, "own", False),
        ({"networks": {"base": {"router_dialect": "settler"}}}, "settler", False),
        ({"router_dialect": "auto", "networks": {"base": {"router": ROUTER, "router_dialect": "own"}}}, "own", False),
        ({"networks": {"base": {"router": ROUTER, "router_dialect": "auto"}}}, "fibrous", True),
        ({"networks": {"base": {"routers": {"own": {"address": ROUTER}}}}}, "fibrous", True),
        ({"router_dialect": "fibrous", "networks": {"base": {"router_dialect": "own"}}}, "fibrous", False),
    ],
)
def test_quotes_choose_the_router_unless_the_settings_name_it(
    settings: dict[str, Any], dialect: str, chooses: bool
) -> None:
    network = networks_from(load(json.dumps(settings)))("base")
    assert (network.router_dialect, network.chooses_router) == (dialect, chooses)
    own = settings.get("networks", {}).get("base", {})
    if "routers" in own:
        assert network.routers["own"].address == ROUTER  # it takes part in the choice
    if chooses:
        assert network.router == own.get("router", catalogue_network("base").router)


def test_a_network_without_such_nodes_leaves_no_choice() -> None:
    assert not networks_from(Settings())("starknet").chooses_router


def test_the_case_of_a_name_does_not_matter() -> None:
    settings = load(networks(BASE={"router": ROUTER}))
    assert list(settings.networks) == ["base"]
    assert networks_from(settings)("Base").router == ROUTER


def test_a_custom_network_is_found_by_name_and_chain_id() -> None:
    settings = load(networks(my_net={**OWN, "rpc_url": "http://localhost:8545"}))
    network = networks_from(settings)("my-net")
    assert (network.name, network.kind, network.chain_id) == ("my-net", Kind.EVM, 31337)
    assert network.wrapped_native == Token(**WRAPPED)  # type: ignore[arg-type]
    assert network.rpc_urls == ("http://localhost:8545",)
    assert networks_from(settings)("31337") == network
    assert "my-net" in network_names_from(settings)


def test_an_unknown_network_stays_unknown() -> None:
    with pytest.raises(UnknownNetwork):
        networks_from(load(networks(my_net=OWN)))("elsewhere")


def test_variables_override_the_node_and_router_of_the_file() -> None:
    environ = {"SWAPCLI_NETWORKS_BASE_RPC_URL": "wss://b.example", "SWAPCLI_NETWORKS_MY_NET_ROUTER": ROUTER}
    text = networks(base={"rpc_url": "https://a.example", "router": "0x" + "99" * 20}, my_net=OWN)
    settings = load(text, environ=environ)
    look_up = networks_from(settings)
    assert look_up("base").rpc_urls[:2] == ("wss://b.example", catalogue_network("base").rpc_urls[0])
    assert (look_up("base").router, look_up("my-net").router) == ("0x" + "99" * 20, ROUTER)
    assert settings.origin("networks.base.rpc_url") == "environment SWAPCLI_NETWORKS_BASE_RPC_URL"
    assert settings.origin("networks.base.router") == f"file {DEFAULT_FILE}"
    assert settings.origin("networks.my-net.router") == "environment SWAPCLI_NETWORKS_MY_NET_ROUTER"


def test_a_flag_overrides_the_environment_and_the_file() -> None:
    flags = {"networks.base.rpc_url": "http://c.example"}
    settings = load(networks(base={"rpc_url": "https://a.example"}), flags=flags)
    assert networks_from(settings)("base").rpc_urls[0] == "http://c.example"


def test_variables_name_further_nodes_and_public_ones() -> None:
    names = ("SWAPCLI_NETWORKS_BASE_RPC_URLS", "SWAPCLI_NETWORKS_BASE_PUBLIC_RPC_URLS")
    base = load(environ=dict.fromkeys(names, "https://a.example,https://b.example")).networks["base"]
    assert base.rpc_urls == base.public_rpc_urls
    assert [url.reveal() for url in base.rpc_urls or ()] == ["https://a.example", "https://b.example"]


def test_further_nodes_of_the_file_come_after_the_first() -> None:
    entry = {"rpc_url": "https://a.example", "rpc_urls": ["https://b.example"]}
    assert networks_from(load(networks(base=entry)))("base").rpc_urls[:2] == ("https://a.example", "https://b.example")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("base", "networks.base: expected a mapping"),
        ({"router": "0x12"}, "networks.base.router: "),
        ({"router": 12}, "networks.base.router: expected an address"),
        ({"routr": ROUTER}, 'networks.base: unknown key "routr"'),
        ({"chain_id": 1}, 'networks.base: unknown key "chain_id"'),
        ({"rpc_url": "node"}, f"networks.base.rpc_url: {EXPECTED}"),
        ({"rpc_url": "//node.example/key"}, f"networks.base.rpc_url: {EXPECTED}"),
        ({"rpc_url": ["https://a.example"]}, f"networks.base.rpc_url: {EXPECTED}"),
        ({"rpc_urls": "a,b"}, "networks.base.rpc_urls: expected a list"),
        ({"rpc_urls": ["a"]}, "networks.base.rpc_urls: expected a list"),
        ({"tokens": MINE}, "networks.base.tokens: expected a list, not an object"),
        ({"tokens": [{**MINE, "address": "0x1"}]}, "networks.base.tokens[0].address: "),
        ({"tokens": [{**MINE, "decimals": "many"}]}, "networks.base.tokens[0].decimals: expected an integer"),
        ({"tokens": [{"symbol": "MINE"}]}, "networks.base.tokens[0].address: missing"),
    ],
)
def test_an_error_in_an_addition_names_the_file_and_key(entry: object, message: str) -> None:
    assert refused(networks(base=entry)).message.startswith(f"{DEFAULT_FILE}:1: {message}")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"native": {}}, "networks.own.native.symbol: missing"),
        ({"native": {"symbol": "E"}}, "networks.own.native.name: missing"),
        ({"chain_id": 0}, "networks.own.chain_id: expected an integer"),
        ({"protocols": [{"id": 1}]}, "networks.own.protocols[0].amm_name: missing"),
        ({"protocol": []}, 'networks.own: unknown key "protocol"'),
    ],
)
def test_an_error_in_a_custom_network_names_the_file_and_key(changes: dict[str, object], message: str) -> None:
    assert refused(networks(own={**OWN, **changes})).message.startswith(f"{DEFAULT_FILE}:1: {message}")


def test_a_misspelt_network_is_not_taken_for_a_new_one() -> None:
    error = refused(networks(bse={"router": ROUTER}))
    assert error.message == f'{DEFAULT_FILE}:1: networks.bse: unknown network "bse"'
    assert error.hint is not None
    assert error.hint.startswith("did you mean base?")


def test_a_network_that_was_added_for_a_different_settings_file_is_looked_for_beside_this_one() -> None:
    error = refused(networks(local={"rpc_urls": ["http://127.0.0.1:1"]}), at=OTHER_FILE, config_path=OTHER_FILE)
    assert error.hint is not None
    assert error.hint.endswith("networks added to this settings file are in /etc/networks")


def test_a_misspelt_network_in_a_variable_is_refused_by_its_name() -> None:
    error = refused(environ={"SWAPCLI_NETWORKS_BSE_ROUTER": ROUTER})
    assert error.message == 'SWAPCLI_NETWORKS_BSE_ROUTER: unknown network "bse"'


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("SWAPCLI_NETWORKS_BASE_ROUTER", "0x12", "SWAPCLI_NETWORKS_BASE_ROUTER: "),
        ("SWAPCLI_NETWORKS_BASE_ROUTER", "router", "SWAPCLI_NETWORKS_BASE_ROUTER: expected an address"),
        ("SWAPCLI_NETWORKS_BASE_RPC_URL", "x", "SWAPCLI_NETWORKS_BASE_RPC_URL: expected an http"),
        ("SWAPCLI_NETWORKS_BASE_TOKENS", "x", 'environment variable "SWAPCLI_NETWORKS_BASE_TOKENS": no such setting'),
        ("SWAPCLI_NETWORKS_ROUTER", ROUTER, 'environment variable "SWAPCLI_NETWORKS_ROUTER": no such setting'),
    ],
)
def test_an_error_in_a_network_variable_names_the_variable(name: str, value: str, message: str) -> None:
    assert refused(environ={name: value}).message.startswith(message)


@pytest.mark.parametrize("name", ["my net", "a.b", "-a", "", "a/b"])
def test_a_name_that_could_not_be_typed_is_refused(name: str) -> None:
    error = refused(json.dumps({"networks": {name: OWN}}))
    assert "is not a name: use letters, digits, - and _" in error.message


def test_one_network_in_two_spellings_is_refused() -> None:
    assert refused(networks(base={}, Base={})).message.endswith("the same name in upper and in lower case")


@pytest.mark.parametrize("indicator", ["|", "|+", ">", ">-"])
def test_a_block_of_yaml_loses_its_line_ends(indicator: str) -> None:
    text = f"networks:\n  base:\n    rpc_url: {indicator}\n      https://n.example/key\n\n"
    text += f"    router: {indicator}\n      {ROUTER}\n"
    text += f"    rpc_headers:\n      Authorization: {indicator}\n        Bearer abc\nlive: {indicator}\n  never\n"
    text += f"store_dir: {indicator}\n  /data\n"
    settings = load(text)
    base = settings.networks["base"]
    assert base.rpc_url is not None
    assert base.rpc_url.reveal() == "https://n.example/key"
    assert base.router == ROUTER
    assert base.rpc_headers is not None
    assert base.rpc_headers["Authorization"].reveal() == "Bearer abc"
    assert (settings.live.value, str(settings.store_dir)) == ("never", "/data")


def test_a_local_node_and_service_need_no_scheme() -> None:
    settings = load('{"api_url": "localhost:3000", "networks": {"base": {"rpc_url": "localhost:8545"}}}')
    url = settings.networks["base"].rpc_url
    assert url is not None
    assert (settings.api_url, url.reveal()) == ("http://localhost:3000", "http://localhost:8545")
