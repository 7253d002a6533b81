"""Payloads for this project's router expire, counted from the time of the latest block."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from swapcli.payload.evm.fibrous_calldata import SWAP, SWAP_BEFORE, decode_call
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.test_checks_commands import Client
from tests.chain.trader import INTEGRATOR, USER, Trader
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli

ORDER = ("ETH", "USDC", "1")
TWENTY_MINUTES_S = 20 * 60


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        client = Client(trader, tmp_path_factory.mktemp("deadlines"))
        text = client.settings.read_text().replace('"router":', '"router_dialect": "own", "router":')
        client.settings.write_text(text)
        yield client


def block_time_s(client: Client) -> int:
    return int(client.trader.chain.node.ask("eth_getBlockByNumber", "latest", False)["timestamp"], 16)


def codes(ran: CommandResult) -> list[str]:
    assert ran.exit_code == 0, ran.stderr
    return [each["code"] for each in ran.json.get("warnings", [])]


def deadline_of(document: dict[str, Any]) -> int | None:
    return decode_call(document["calldata"]).deadline_s


def test_a_payload_expires_after_twenty_minutes_of_the_chain(client: Client) -> None:
    ran = client.calldata(*ORDER, "--from", USER, "--simulate", "--json")
    assert "CLOCK_DIFFERS" in codes(ran)
    assert "DEADLINE_NOT_ENFORCED" not in codes(ran)
    assert ran.json["calldata"].startswith(f"0x{SWAP_BEFORE}")
    assert ran.json["deadline"] == deadline_of(ran.json) == block_time_s(client) + TWENTY_MINUTES_S
    (swap,) = ran.json["transactions"]
    node = client.trader.chain.node
    for waited_s, is_mined in ((TWENTY_MINUTES_S - 60, True), (TWENTY_MINUTES_S + 60, False)):
        with client.trader.chain.revert_after():
            node.ask("evm_setNextBlockTimestamp", hex(block_time_s(client) + waited_s))
            assert client.mine(swap) == is_mined


@pytest.mark.parametrize("options", [(), ("--integrator-address", INTEGRATOR, "--integrator-fee-bps", "100")])
def test_a_duration_counts_from_the_newest_block(client: Client, options: tuple[str, ...]) -> None:
    ran = client.calldata(*ORDER, *options, "--deadline", "5m", "--json", SWAPCLI_API_KEY="a-key")
    assert codes(ran).count("CLOCK_DIFFERS") == 1
    assert deadline_of(ran.json) == block_time_s(client) + 300


def test_a_time_is_what_it_says(client: Client) -> None:
    deadline_s = int(time.time()) + 1_000
    ran = client.calldata(*ORDER, "--deadline", str(deadline_s), "--json")
    assert "CLOCK_DIFFERS" not in codes(ran)
    assert deadline_of(ran.json) == deadline_s


def test_a_route_that_was_found_before_gets_a_deadline_too(client: Client) -> None:
    ran = client.execute(client.route(*ORDER), "--json")
    assert "CLOCK_DIFFERS" in codes(ran)
    assert ran.json["deadline"] == deadline_of(ran.json) == block_time_s(client) + TWENTY_MINUTES_S


def test_decode_compares_the_deadline_of_a_document(client: Client) -> None:
    env = {"SWAPCLI_CONFIG": str(client.settings)}
    ran = client.calldata(*ORDER, "--json")
    honest = run_swapcli("decode", "-", "--network", client.name, "--json", stdin=ran.stdout.encode(), env=env)
    assert "DOCUMENT_DIFFERS" not in honest.stdout
    assert honest.json["order"]["deadline"] == ran.json["deadline"]
    changed = ran.stdout.replace(str(ran.json["deadline"]), str(ran.json["deadline"] + 1))
    found = run_swapcli("decode", "-", "--network", client.name, "--json", stdin=changed.encode(), env=env)
    assert (found.exit_code, "DOCUMENT_DIFFERS" in found.stdout) == (7, True)


def test_an_earlier_version_of_the_router_has_no_deadline(client: Client) -> None:
    """Any other code at the address of the router is treated alike."""
    node, router = client.trader.chain.node, client.trader.world.network.router
    with client.trader.chain.revert_after():
        node.ask("anvil_setCode", router, node.ask("eth_getCode", router, "latest") + "00")
        ran = client.calldata(*ORDER, "--from", USER, "--simulate", "--json")
        assert "DEADLINE_NOT_ENFORCED" in codes(ran)
        assert ran.json["calldata"].startswith(f"0x{SWAP}")
        assert "deadline" not in ran.json
        (swap,) = ran.json["transactions"]
        assert client.mine(swap)


def test_without_a_node_the_settings_say_whose_router_it_is(client: Client) -> None:
    ran = client.calldata(*ORDER, "--offline", "--json")
    assert ran.exit_code == 0, ran.stderr
    assert abs((deadline_of(ran.json) or 0) - time.time() - TWENTY_MINUTES_S) < 60
