"""A real chain for the test network, with a block of trades every second, read by all processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event, Thread

from bench.chain.crowd import Crowd
from bench.chain.following import open_fixture
from swapcli.core.model.market import MarketState
from swapcli.state.sync import import_pools
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import DECIMALS, ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.settings import write_settings
from tests.chain.trader import USER, Trader
from tests.state.store.build import create
from tests.support.chain import connected

BLOCK_S = 1.0
SWAPS_PER_BLOCK = 8
_MAX_BLOCKS = 20_000  # blocks whose quotes can be checked at the end: those of five hours
_MAX_UINT256 = 2**256 - 1


@dataclass
class TradingChain:
    """The chain and its contracts. A user owns a lot of every token, and lets the router spend it."""

    chain: AnvilChain
    fixture: ContractFixture
    market: MarketState
    proxy: Proxy
    """The node through which processes read the chain; it waits while a block is being mined."""

    @property
    def network(self) -> str:
        return self.fixture.network.name

    def write_settings(self, folder: Path, **more: object) -> Path:
        """Write the settings of all processes; `more` are additional top-level settings."""
        return write_settings(folder, self.fixture.network, self.proxy.url, **more)

    def fill_store(self, folder: Path) -> None:
        """Fill the writer's store by importing this chain's pools, because its factories cannot be read."""
        folder.mkdir(exist_ok=True)
        with connected(self.chain) as node, create(folder / f"{self.network}.sqlite", self.fixture.network) as store:
            for _ in import_pools(store, node, self.market):
                pass


@contextmanager
def open_trading_chain() -> Iterator[TradingChain]:
    """Deploy the contracts, and fund the user."""
    with running_anvil(max_states=_MAX_BLOCKS) as chain:
        fixture = open_fixture(chain)
        fixture.network = fixture.network._replace(block_time_s=BLOCK_S)
        chain.node.ask("anvil_removeBlockTimestampInterval")
        market = read_market(fixture)
        Trader(fixture, chain, market).fund_user()
        for symbol in DECIMALS:
            fixture.contracts[symbol].send("approve", fixture.router.address, _MAX_UINT256, sender=USER)
        with open_proxy(chain.node.port) as proxy:
            yield TradingChain(chain, fixture, market, proxy)


@contextmanager
def trading(scene: TradingChain, rng: Random) -> Iterator[None]:
    """Mine a block of trades every `BLOCK_S` seconds until the context ends."""
    crowd = Crowd(scene.chain, scene.fixture, scene.market, rng)
    scene.chain.node.ask("evm_setNextBlockTimestamp", int(time.time()) + 1)
    ended = Event()

    def trade() -> None:
        while not ended.wait(BLOCK_S):
            with scene.proxy.paused():
                crowd.trade(SWAPS_PER_BLOCK)

    thread = Thread(target=trade, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
