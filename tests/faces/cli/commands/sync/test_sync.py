"""`swapcli sync` fills a store from a node of a real chain."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.cli.options import OutputOptions
from swapcli.faces.cli.session import open_session
from swapcli.quoting.openers.long_running_nodes import any_lasting_node
from swapcli.state.rpc.head_source import FollowMode
from tests.chain.failure_modes import check_secrets_hidden
from tests.chain.node.server import hangs_up
from tests.chain.settings import url_of
from tests.faces.cli.commands.sync.scene import Scene
from tests.support.command import run_swapcli

FACTS = ("tokens", "pools", "protocols", "gasPriceWei", "network")


def test_a_sync_creates_the_store_that_it_reports(scene: Scene) -> None:
    ran = scene.sync("--json")
    reported = ran.json
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert reported["store"] == str(scene.file)
    assert (reported["pools"], reported["newPools"]) == (len(scene.stored_market()["pools"]),) * 2
    assert reported["state"]["kind"] == "synced"
    assert {each["protocol"] for each in reported["protocols"]} == {"uniswapV2", "uniswapV3", "uniswapV4"}
    assert sum(each["pools"] for each in reported["protocols"]) == reported["pools"] >= 5
    assert reported["timeS"] > 0
    assert reported["poolsPerSecond"] == pytest.approx(reported["pools"] / reported["timeS"], rel=0.2)
    info = run_swapcli("market", "info", "anvil", "--json", env=scene.env).json
    assert {name: reported[name] for name in FACTS} == {name: info[name] for name in FACTS}
    scene.check_fresh()


def test_skipped_pools_are_reported_with_the_reason(scene: Scene) -> None:
    (unknown,) = scene.sync("--json").json["skipped"]
    assert unknown["reason"] == "the catalogue has no contract that lists its pools"
    assert (unknown["count"] > 3, len(unknown["examples"])) == (True, 3)
    thin = scene.sync("--min-liquidity", "1000000000", "--json").json
    assert thin["pools"] == 0
    assert sum(each["count"] for each in thin["skipped"]) > unknown["count"]


def test_a_first_sync_without_pools_changes_no_quote(scene: Scene) -> None:
    ran = scene.sync("--tokens", "ETH,USDC", "--json")
    assert (ran.exit_code, ran.error["code"]) == (5, "UPSTREAM_ERROR")
    assert ran.error["message"].startswith("the sync found no pools on anvil: ")
    quote = run_swapcli("route", "anvil", "ETH", "USDC", "1", "--offline", "--json", env=scene.env)
    assert quote.error["code"] != "NO_ROUTE"  # as without a store: this network has no embedded market
    assert scene.sync("--json").exit_code == 0


def test_all_output_formats_show_the_same_facts(scene: Scene) -> None:
    reported = scene.sync("--json").json
    for form in ("--format=plain", "--format=table"):
        ran = scene.sync(form)
        assert (ran.exit_code, ran.stderr) == (0, "")
        for fact in (
            reported["state"]["block"],
            reported["store"],
            reported["skipped"][0]["reason"],
            "Uniswap V3",
            "synced",
        ):
            assert str(fact) in ran.stdout
        check_secrets_hidden(ran.stdout)


def test_tokens_and_protocols_filter_the_pools(scene: Scene) -> None:
    tokens = {token.symbol: token.address for token in scene.network.tokens}
    ran = scene.sync("--tokens", f"usdc,{tokens['TKN']}", "--protocols", "1,UniswapV3", "--json")
    assert ran.json["pools"] == 2
    for pool in scene.stored_market()["pools"]:
        assert set(pool["tokens"]) == {tokens["USDC"], tokens["TKN"]}
        assert pool["protocol"] in ("uniswapV2", "uniswapV3")
    assert scene.sync("--json").json["newPools"] == len(scene.synced_afresh()["pools"]) - 2


def test_the_native_token_syncs_pools_of_its_wrapped_form(scene: Scene) -> None:
    for native in ("ETH", "weth", "0x" + "00" * 20, "0x" + "Ee" * 20):
        assert scene.sync("--tokens", f"{native},USDC,TKN", "--json").exit_code == 0
    twice = scene.sync("--tokens", "ETH,WETH", "--json")
    assert (twice.exit_code, twice.error["code"]) == (2, "INVALID_OPTION")


def test_a_second_sync_continues_from_the_first(scene: Scene) -> None:
    first = scene.sync("--json").json
    again = scene.sync("--json").json
    assert (again["newPools"], again["pools"], again["state"]["block"]) == (
        0, first["pools"], first["state"]["block"]
    )  # fmt: skip
    scene.small_chain.run_random_activity(Random(1), max_actions=6)
    later = scene.sync("--json").json
    assert later["state"]["block"] > first["state"]["block"]
    scene.check_fresh()


def test_quotes_use_the_synced_store(scene: Scene) -> None:
    scene.sync()
    quoted = run_swapcli("route", "anvil", "USDC", "TKN", "10", "--offline", "--json", env=scene.env).json
    assert quoted["state"]["kind"] == "synced"
    assert quoted["state"]["block"] == scene.stored_market()["block"]
    assert int(quoted["outputAmount"]) > 0


def test_a_node_on_the_command_line_overrides_the_settings(scene: Scene) -> None:
    scene.proxy.always = hangs_up
    url = url_of(scene.small_chain.chain)
    reported = scene.sync("--rpc-url", url, "--json").json
    assert reported["state"]["source"] == url


@pytest.mark.parametrize("name", [name for name in network_names() if find_network(name).rpc_urls])
def test_without_a_node_a_public_one_is_used_and_reported(name: str) -> None:
    session = open_session(OutputOptions(json=True, config="/dev/null"))
    node, heads, _ = any_lasting_node(session.nodes, find_network(name))
    assert heads.mode is FollowMode.POLLING
    assert find_network(name).rpc_urls[0].startswith(node.redacted_url.removesuffix("…"))
    assert session.output.deferred == [
        f"note: {name} has no node in the settings; using a public node, which may limit requests: {node.redacted_url}"
    ]
