"""Live quotes over a node that is 100 ms away: `python -m bench.chain.distant_node`.

A user with a store quotes from a node that has moved on: once, and with several orders at once. *Waits* are the times
at which the market waits for the node; simultaneous requests count once.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from swapcli import Market
from swapcli.state.store import create_store
from tests.chain.contract_fixture import DECIMALS
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.proxy import Proxy, late, open_proxy
from tests.chain.settings import describe_network
from tests.chain.trader import Trader, open_trader
from tests.state.store.build import only
from tests.support.command import clean_environment

DELAY_S = 0.1
MAX_WAITS, MAX_TOGETHER_S = 4, 1.2
TOGETHER = 8
RUNS = 3


class DistantQuotes(NamedTuple):
    """Orders that were quoted at once: how often the market waited for the node, and for how long they took.

    `cpu_s` is the time of the processor in the threads that quoted, which other work on the machine changes little.
    """

    orders: int
    waits: int
    seconds: float
    cpu_s: float


@contextmanager
def distant_market(trader: Trader, folder: Path) -> Iterator[tuple[str, Proxy]]:
    """Write a store of the trader's market, move its prices, and yield the network's name, with its node far away."""
    network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    trader.world.network = network
    file = folder / "stores" / f"{network.name}.sqlite"
    file.parent.mkdir()
    with create_store(str(file), network, only(network)) as store:
        store.write_market(read_market(trader.world))
    trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
    trader.chain.node.ask("evm_mine")
    with open_proxy(trader.chain.node.port) as proxy:
        described = describe_network(network, f"http://127.0.0.1:{proxy.server_port}") | {"block_time_s": 60}
        settings = {"store_dir": str(file.parent), "networks": {network.name: described}}
        (folder / "config.yaml").write_text(json.dumps(settings))
        yield network.name, proxy


def orders(count: int) -> list[tuple[str, str]]:
    """Return orders between different tokens."""
    names = sorted(DECIMALS)
    pairs = [(sold, bought) for sold in names for bought in names if sold != bought]
    return pairs[:: len(pairs) // count][:count]


def quote_at_once(name: str, proxy: Proxy, pairs: Sequence[tuple[str, str]]) -> DistantQuotes:
    """Quote orders in as many threads, in a new market."""

    def quote(sold: str, bought: str) -> float:
        started_s = time.thread_time()
        market.quote(sold, bought, "10")
        return time.thread_time() - started_s

    with Market.open(name) as market, ThreadPoolExecutor(len(pairs)) as threads:
        market.token(pairs[0][0])
        before, started_s = len(proxy.exchanges), time.monotonic()
        found = [threads.submit(quote, *pair) for pair in pairs]
        cpu_s = sum(each.result() for each in found)
        return DistantQuotes(len(pairs), len(proxy.exchanges) - before, time.monotonic() - started_s, cpu_s)


def measure(runs: int = RUNS) -> list[DistantQuotes]:
    """Return the fastest of several runs, for one order and for several."""
    with (
        TemporaryDirectory() as folder,
        open_trader() as trader,
        distant_market(trader, Path(folder)) as (name, proxy),
    ):
        os.environ.update(clean_environment({"SWAPCLI_CONFIG": f"{folder}/config.yaml", "XDG_DATA_HOME": folder}))
        quote_at_once(name, proxy, orders(1))  # imports
        proxy.always = late(DELAY_S)
        return [
            min((quote_at_once(name, proxy, orders(count)) for _ in range(runs)), key=lambda each: each.seconds)
            for count in (1, TOGETHER)
        ]


def main() -> None:
    """Print the figures next to their thresholds."""
    one, several = measure()
    print(f"node {DELAY_S * 1e3:.0f} ms away, the fastest of {RUNS} runs")
    print(f"one quote: {one.waits} waits (at most {MAX_WAITS}), {one.seconds:.2f} s, CPU {one.cpu_s * 1e3:.0f} ms")
    print(
        f"{several.orders} quotes: {several.waits} waits, {several.seconds:.2f} s (at most {MAX_TOGETHER_S} s), "
        f"CPU {several.cpu_s * 1e3:.0f} ms"
    )


if __name__ == "__main__":
    main()
