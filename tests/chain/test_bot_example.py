"""The example of a bot on a chain: it quotes once at each block, and prints a transaction when the price is right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from swapcli import Market, SwapcliError
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settings import url_of, websocket_url
from tests.chain.test_checks_commands import BOB, Client
from tests.chain.trader import Trader
from tests.support.chain import restored

BOT = Path(__file__).parents[2] / "examples" / "bot_each_block.py"
TIMEOUT_S = 30
TOO_LONG_S = 40.0


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        yield Client(trader, tmp_path_factory.mktemp("bot"))


def start(client: Client, *options: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "SWAPCLI_CONFIG": str(client.settings),
        "SWAPCLI_STORE_DIR": str(client.folder / "stores"),
        "XDG_DATA_HOME": str(client.folder),
    }
    command = [sys.executable, str(BOT), client.name, url_of(client.trader.chain), "ETH", "USDC", "1.5", *options]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_the_bot_quotes_once_at_each_block(client: Client) -> None:
    with client.trader.chain.revert_after():
        first = client.block()
        bot = start(client, "--blocks", "2")
        assert bot.stdout is not None
        assert int(bot.stdout.readline().split()[0]) == first
        client.trader.chain.node.ask("evm_mine")
        rest, _ = bot.communicate(timeout=TIMEOUT_S)
    assert [int(line.split()[0]) for line in rest.splitlines()] == [first + 1]
    assert bot.returncode == 0


def test_a_node_that_announces_blocks_ends_the_pause(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = json.loads(client.settings.read_text())
    settings["networks"][client.name]["rpc_urls"] = [websocket_url(client.trader.chain.node.port)]
    file = client.folder / "announced.yaml"
    file.write_text(json.dumps(settings))
    monkeypatch.setenv("SWAPCLI_CONFIG", str(file))
    monkeypatch.setenv("XDG_DATA_HOME", str(client.folder))
    with client.trader.chain.revert_after(), Market.live(client.name) as market:
        quote = market.quote("ETH", "USDC", "1.5")
        failures: list[SwapcliError] = []
        options = market._quotes().resolve(False, {})
        watched = market.watch_order(quote.answer.order, options, None, failures.append)
        watched.interval_s = TOO_LONG_S
        quotes = iter(watched)
        first = next(quotes).state.block
        assert first is not None
        client.trader.chain.node.ask("evm_mine")
        started_s = time.monotonic()
        Timer(1.5, client.trader.chain.node.ask, ["evm_mine"]).start()
        assert (next(quotes).state.block or 0) > first
        assert time.monotonic() - started_s < TOO_LONG_S / 2
    assert failures == []


def test_the_bot_prints_a_transaction_that_pays(client: Client) -> None:
    printed, _ = start(client, "--at-least", "1", "--destination", BOB).communicate(timeout=TIMEOUT_S)
    quoted, transaction = printed.splitlines()
    assert quoted.endswith(" USDC")
    with client.trader.chain.revert_after():
        assert client.mine(json.loads(transaction))
