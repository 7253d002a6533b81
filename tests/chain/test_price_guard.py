"""The verdict compares a quote with prices outside its route."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.chain.contract_fixture import WETH
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.test_checks_commands import Client
from tests.chain.trader import Trader
from tests.contracts.evm import solidity
from tests.support.chain import restored
from tests.support.command import CommandResult

FEEDS = solidity("feeds.sol")
DAY_S = 86_400


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A user of pools whose averages reach back far enough."""
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
        trader.chain.node.ask("evm_mine")
        yield Client(trader, tmp_path_factory.mktemp("guard"))


def calldata(client: Client, feeds: dict[str, tuple[int, int]], *options: str, **settings: object) -> CommandResult:
    """Build the transaction of a small order with price feeds: cents of a token and the age of the answer."""
    addresses = {
        client.trader.world.address(symbol): client.trader.chain.deploy(FEEDS()["Feed"], cents, 2, age_s).address
        for symbol, (cents, age_s) in feeds.items()
    }
    document = json.loads(client.settings.read_text())
    network = document["networks"][client.name] | {"price_feeds": addresses}
    changed = client.settings.with_name("guard.json")
    changed.write_text(json.dumps(document | {"networks": {client.name: network}} | settings))
    return client.calldata(WETH, "USDC", "0.01", *options, SWAPCLI_CONFIG=str(changed))


def references(ran: CommandResult) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ran.json["verdict"]["facts"]["priceReferences"]
    return found


def test_averages_of_other_pools_agree_with_a_plain_quote(client: Client) -> None:
    ran = calldata(client, {}, "--json")
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["verdict"]["status"] == "ok"
    found = references(ran)
    assert found
    used = {each["pool_address"].lower() for each in ran.json["swap_parameters"]}
    for each in found:
        assert each["source"].startswith("average of 30 minutes of ")
        assert each["source"].split()[-1].lower() not in used
        assert abs(each["lossPercent"]) < 1.5
    table = calldata(client, {}, "--format=plain").stdout
    assert "outside the route" in table


@pytest.mark.parametrize(("cents", "status"), [(200_000, "ok"), (260_000, "ok"), (270_000, "warn"), (990_000, "warn")])
def test_a_quote_below_a_feed_of_the_settings_warns(client: Client, cents: int, status: str) -> None:
    """The averages of pools agree with the quote, so that nothing blocks."""
    ran = calldata(client, {WETH: (cents, 60), "USDC": (100, DAY_S)}, "--json")
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["verdict"]["status"] == status
    (feed,) = [each for each in references(ran) if each["kind"] == "feed"]
    assert int(feed["outputAmount"]) == cents * 100
    assert feed["lossPercent"] == pytest.approx(
        100 * (1 - int(ran.json["route"]["outputAmount"]) / (cents * 100)), abs=1e-3
    )
    assert ("price feeds" in ran.stderr) == (status == "warn")


def test_the_settings_say_what_is_far(client: Client) -> None:
    feeds = {WETH: (270_000, 60), "USDC": (100, 60)}
    assert calldata(client, feeds, "--json", price_guard=10).json["verdict"]["status"] == "ok"


def test_a_feed_that_is_too_old_says_nothing(client: Client) -> None:
    ran = calldata(client, {WETH: (990_000, 2 * DAY_S), "USDC": (100, 0)}, "--json")
    assert ran.exit_code == 0, ran.stderr
    assert not [each for each in references(ran) if each["source"].startswith("price feeds")]
