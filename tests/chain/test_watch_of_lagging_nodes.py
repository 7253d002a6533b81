"""A watch over nodes of which some lag, behind one address: each block is quoted once, and none after a later one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from swapcli import Market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.proxy import Proxy, open_proxy, stale
from tests.chain.test_live_by_default import User
from tests.chain.trader import Trader


@pytest.fixture
def proxy(trader: Trader) -> Iterator[Proxy]:
    with open_proxy(trader.chain.node.port) as proxy:
        yield proxy


def test_a_watch_does_not_step_back_to_an_earlier_block(
    trader: Trader, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = trader.world.network._replace(multicall=deploy_multicall(trader.chain), block_time_s=0.2)
    trader.world.network = network
    user, ask = User(trader, tmp_path), trader.chain.node.ask
    for key, value in user.environment([f"http://127.0.0.1:{proxy.server_port}"]).items():
        monkeypatch.setenv(key, value)
    ask("anvil_mine", "0x5")
    ask("evm_setNextBlockTimestamp", hex(int(time.time())))
    ask("evm_mine")
    first = proxy.head()
    found: list[int | None] = []

    def catch_up() -> None:
        proxy.always = None
        ask("evm_mine")

    with Market.open(user.name) as market:
        order, options = market._quotes().read_order("WETH", "USDC", "1", None, {})
        watched = market.watch_order(order, options, None, lambda _: None)
        watched.interval_s = 0.05
        for quote in watched:
            found.append(quote.state.block)
            if len(found) == 1:
                ask("evm_mine")
            elif len(found) == 2:
                # The next responses come from a node that is one block behind.
                proxy.always = stale(1)
                Timer(1.0, catch_up).start()
            else:
                break
    assert found == [first, first + 1, first + 2]
