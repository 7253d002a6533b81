"""Which nodes quotes read, in the order of precedence, and what is said of public ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.config import Secret, load_settings
from swapcli.quoting.live_choice import (
    NamedHosts,
    NodeOrigin,
    NodeRules,
    missing_node_hint,
)
from swapcli.quoting.price_policy import PriceRequest

BASE = find_network("base")
OWN, OPTION, VARIABLE = "http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3"


def rules(
    live: str = "auto", *, own: bool = False, option: bool = False, variable: bool = False, offline: bool = False
) -> NodeRules:
    environ = {"SWAPCLI_LIVE": live} | ({"SWAPCLI_NETWORKS_BASE_RPC_URL": OWN} if own else {})
    settings = load_settings(flags={}, environ=environ, config_path=None, home=Path("/nonexistent"))
    rpc_url = Secret(OPTION, OPTION) if option else None
    return NodeRules(settings, rpc_url, offline, {"ETH_RPC_URL": VARIABLE} if variable else {})


@pytest.mark.parametrize("live", ["auto", "require", "never"])
def test_offline_excludes_every_node(live: str) -> None:
    decided = rules(live, own=True, option=False, variable=True, offline=True)
    assert list(decided.quoted_nodes(BASE)) == []
    assert decided.excludes_nodes
    assert not decided.requires_node


@pytest.mark.parametrize("live", ["auto", "require", "never"])
def test_the_option_goes_before_live_and_all_others(live: str) -> None:
    decided = rules(live, own=True, option=True, variable=True)
    (choice,) = decided.quoted_nodes(BASE)
    assert (choice.origin, choice.urls[0].reveal()) == (NodeOrigin.OPTION, OPTION)
    assert not decided.excludes_nodes


def test_never_excludes_the_nodes_of_the_settings() -> None:
    decided = rules("never", own=True, variable=True)
    assert list(decided.quoted_nodes(BASE)) == []
    assert decided.excludes_nodes
    assert "never" in decided.why_no_node()


def test_excluding_every_node_requests_unreal_prices() -> None:
    assert rules(offline=True).price_request is PriceRequest.OFFLINE
    assert rules("never").price_request is PriceRequest.OFFLINE
    assert rules("never", option=True).price_request is PriceRequest.NONE
    assert rules().price_request is rules("require").price_request is PriceRequest.NONE


@pytest.mark.parametrize("live", ["auto", "require"])
def test_the_settings_go_before_the_variable_and_public_nodes(live: str) -> None:
    (choice,) = rules(live, own=True, variable=True).quoted_nodes(BASE)
    assert (choice.origin, choice.urls[0].reveal()) == (NodeOrigin.SETTINGS, OWN)


@pytest.mark.parametrize("live", ["auto", "require"])
def test_the_variable_goes_before_public_nodes(live: str) -> None:
    variable, public = rules(live, variable=True).quoted_nodes(BASE)
    assert (variable.origin, variable.urls[0].reveal()) == (NodeOrigin.VARIABLE, VARIABLE)
    assert public.origin is NodeOrigin.CATALOGUE
    assert [choice.origin for choice in rules(live).quoted_nodes(BASE)] == [NodeOrigin.CATALOGUE]
    starknet = find_network("starknet")
    assert [each.origin for each in rules(variable=True).quoted_nodes(starknet)] == [NodeOrigin.CATALOGUE]


def test_the_hint_names_option_variable_and_public_address() -> None:
    hint = missing_node_hint(BASE)
    assert "--rpc-url URL" in hint
    assert "SWAPCLI_NETWORKS_BASE_RPC_URL" in hint
    assert "https://" in hint


def test_a_host_is_named_once_a_day(tmp_path: Path) -> None:
    now_s = [1_000_000.0]
    path = tmp_path / "hosts.json"

    def is_new(host: str) -> bool:
        return NamedHosts(path, lambda: now_s[0]).is_new(host)

    assert [is_new("a.example"), is_new("a.example"), is_new("b.example")] == [True, False, True]
    now_s[0] += 86_399
    assert not is_new("a.example")
    now_s[0] += 1
    assert [is_new("a.example"), is_new("a.example")] == [True, False]


def test_a_folder_that_cannot_be_written_changes_nothing() -> None:
    hosts = NamedHosts(Path("/dev/null/hosts.json"), lambda: 0.0)
    assert [hosts.is_new("a.example"), hosts.is_new("a.example")] == [True, False]
    assert NamedHosts(Path("/dev/null/hosts.json"), lambda: 0.0).is_new("a.example")


@pytest.mark.parametrize("value", ["mainnet", "node.example.com:8545", "${RPC}", "https://", "ftp://node.example"])
def test_a_variable_of_other_tools_may_hold_anything(value: str) -> None:
    decided = rules()._replace(environ={"ETH_RPC_URL": value})
    variable, public = decided.quoted_nodes(BASE)
    assert (variable.origin, variable.urls) == (NodeOrigin.VARIABLE, ())
    assert public.origin is NodeOrigin.CATALOGUE


@pytest.mark.parametrize("value", [f"{VARIABLE}\r\n", f" {VARIABLE} ", VARIABLE.removeprefix("http://")])
def test_the_variable_is_trimmed_and_may_lack_a_local_scheme(value: str) -> None:
    variable, _ = rules()._replace(environ={"ETH_RPC_URL": value}).quoted_nodes(BASE)
    assert variable.urls[0].reveal() == VARIABLE


@pytest.mark.parametrize("value", ["", " ", "\r\n"])
def test_an_empty_variable_names_no_node(value: str) -> None:
    (public,) = rules()._replace(environ={"ETH_RPC_URL": value}).quoted_nodes(BASE)
    assert public.origin is NodeOrigin.CATALOGUE
