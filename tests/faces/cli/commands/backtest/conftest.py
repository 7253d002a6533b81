"""The command on a chain with pools of every family."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chain.node.evm_node import deploy_multicall
from tests.chain.proxy import open_proxy
from tests.chain.trader import Trader
from tests.faces.cli.commands.backtest.backtest_command import BacktestCommand


@pytest.fixture
def command(trader: Trader, tmp_path: Path) -> Iterator[BacktestCommand]:
    network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    trader.world.network, trader.market = network, trader.market._replace(network=network)
    with open_proxy(trader.chain.node.port) as proxy:
        yield BacktestCommand(trader, tmp_path, proxy)
