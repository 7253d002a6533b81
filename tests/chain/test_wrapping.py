"""Wrapping and unwrapping by the wrapped native token itself, where the sender is the recipient."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.chain.node.evm_node import deploy_multicall
from tests.chain.test_checks_commands import BOB, Client, address_of
from tests.chain.trader import USER, Trader
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli

UNIVERSAL = ("--router-dialect", "universal-router", "--json")

ROUTER = "0x" + "ab" * 20
"""There is nothing at this address: a call of the router would fail."""


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        client = Client(trader, tmp_path_factory.mktemp("wrapping"))
        settings = json.loads(client.settings.read_text())
        router = {"address": ROUTER, "version": "2.0", "protocols": {"uniswapV2": "v2"}}
        settings["networks"][client.name]["routers"] = {"universal-router": router}
        client.settings.write_text(json.dumps(settings))
        yield client


def decode(client: Client, built: CommandResult, **changes: str) -> CommandResult:
    document = {**built.json, **changes}
    words = ("decode", "-", "--network", client.name, "--from", USER, "--json")
    return run_swapcli(*words, stdin=json.dumps(document).encode(), env={"SWAPCLI_CONFIG": str(client.settings)})


@pytest.mark.parametrize(
    ("sold", "bought", "selector", "gas"),
    [("ETH", "WETH", "0xd0e30db0", 45_100), ("WETH", "ETH", "0x2e1a7d4d", 36_100)],
)
def test_the_token_itself_wraps_for_its_caller(client: Client, sold: str, bought: str, selector: str, gas: int) -> None:
    amount = 5 * 10**17
    for checks in (("--from", USER), ("--from", USER, "--simulate")):
        ran = client.calldata(sold, bought, "0.5", *UNIVERSAL, *checks, to=USER)
        assert ran.exit_code == 0, ran.stderr
        assert ran.json["to"].lower() == client.trader.world.address("WETH")
        assert ran.json["calldata"].startswith(selector)
        assert ran.json["swap"]["min_received"] == ran.json["minReceived"] == str(amount)
        (transaction,) = ran.json["transactions"]
        assert transaction["gas"] <= gas * 1.2
    assert ran.json["simulation"]["matches"] is True
    world = client.trader.world
    with client.trader.chain.revert_after():
        before = world.balance(world.address("WETH"), USER)
        assert client.mine(transaction)
        assert world.balance(world.address("WETH"), USER) - before == (amount if sold == "ETH" else -amount)


@pytest.mark.parametrize(("sold", "bought"), [("ETH", "WETH"), ("WETH", "ETH")])
def test_decode_reads_what_wraps_directly(client: Client, sold: str, bought: str) -> None:
    ran = client.calldata(sold, bought, "0.5", *UNIVERSAL, "--from", USER, to=USER)
    found = decode(client, ran)
    assert found.exit_code == 0, found.stderr
    assert found.json.get("dangers", []) == []
    order: dict[str, Any] = found.json["order"]
    assert (order["inputAmount"], order["minReceived"]) == (str(5 * 10**17),) * 2
    assert decode(client, ran, to=BOB).exit_code == 7
    assert decode(client, ran, value=str(10**18)).exit_code == 7


def test_another_recipient_needs_the_router(client: Client) -> None:
    for options, to in ((("--from", USER), BOB), ((), USER)):
        ran = client.calldata("ETH", "WETH", "0.5", *UNIVERSAL, "--simulate", *options, to=to)
        assert ran.exit_code == 7
        assert f"there is no contract at the router's address {ROUTER}" in ran.error["message"]
    built = client.calldata("ETH", "WETH", "0.5", "--from", USER, "--json", to=USER)
    assert built.json["to"].lower() != address_of(client, "WETH")  # the interface describes calls of the router
