"""`swapcli backtest` with a store, on a chain whose past blocks differ, and a proxy before the node."""

from __future__ import annotations

from pathlib import Path

from swapcli.core.model.order import Order
from swapcli.state.store import create_store
from tests.chain.contract_fixture import WETH
from tests.chain.proxy import Proxy
from tests.chain.settings import write_settings
from tests.chain.test_block_tags import FINALIZED_BLOCKS
from tests.chain.trader import Trader
from tests.support.command import CommandResult, run_swapcli

ORDERS = "id,tokenIn,tokenOut,amount\nbuy,ETH,USDC,1.5\nsell,USDC,ETH,2000\ndust,USDC,WBTC,0.000001\n"


class BacktestCommand:
    """Runs it on blocks from `first` to `last`; `proxy` has the method of every request."""

    def __init__(self, trader: Trader, folder: Path, proxy: Proxy, trades: int = 3) -> None:
        self.name, self.proxy, self.folder = trader.world.network.name, proxy, folder
        self.settings = write_settings(folder, trader.world.network, proxy.url)
        file = folder / "stores" / f"{self.name}.sqlite"
        file.parent.mkdir()
        with create_store(str(file), trader.world.network, lambda _: trader.world.network) as store:
            store.write_market(trader.market._replace(block=1, timestamp=1))
        self.orders = folder / "orders.csv"
        self.orders.write_text(ORDERS)
        self.first = proxy.head()
        tokens = trader.world.tokens
        for _ in range(trades):
            trader.execute(trader.quote_trade(Order(tokens[WETH], tokens["USDC"], 20 * 10**18)))
        self.last = proxy.head()
        trader.chain.node.ask("anvil_mine", hex(FINALIZED_BLOCKS))

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs beside the words of the command."""
        return {"SWAPCLI_CONFIG": str(self.settings), "XDG_DATA_HOME": str(self.folder / "data")}

    def run(self, *words: str, blocks: str | None = None) -> CommandResult:
        ranged = () if "--blocks" in words else ("--blocks", blocks or f"{self.first}..{self.last}")
        return run_swapcli("backtest", self.name, str(self.orders), *ranged, *words, env=self.environment)
