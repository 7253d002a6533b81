"""The time from a new block to a quote on it, with a subscription to new blocks over WebSocket."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from queue import Empty, SimpleQueue
from random import Random
from threading import Thread
from time import perf_counter
from urllib.parse import urlencode

from bench.chain.crowd import Crowd
from bench.chain.following import open_fixture
from bench.running import BenchmarkFailed
from swapcli.core.model.market import MarketState
from swapcli.interface.state_headers import STATE_HEADER, parse_state
from swapcli.state.sync import import_pools
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import WETH, ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.settings import websocket_url, write_settings
from tests.state.store.build import create
from tests.support.chain import connected
from tests.support.command import clean_environment
from tests.support.service_process import SWAPCLI_COMMAND, run_service

BLOCK_TIMES_S = (2.0, 0.3)
SERVE, WATCH = "serve", "sync --watch"

_POLL_S = 0.002
"""Pause between two quotes. The figures are too high by half of it on average."""
_START_S = 30.0
_AMOUNT = 10**18


@dataclass
class Announced:
    """Blocks every `block_time_s`, and the delays of those that `command` showed before the next block."""

    command: str
    block_time_s: float
    blocks: int
    delays_s: list[float] = field(default_factory=list)

    @property
    def missed(self) -> int:
        """Return how many blocks were not shown before the next one."""
        return self.blocks - len(self.delays_s)


Shown = Callable[[], int]
"""Returns the latest block that a command has shown so far."""


def measure_block_to_quote(
    blocks: int, swaps: int, folder: Path, block_times_s: Sequence[float] = BLOCK_TIMES_S
) -> list[Announced]:
    """Follow `blocks` blocks with `swaps` swaps each, for each block time. Raises `BenchmarkFailed`."""
    with running_anvil() as chain:
        fixture = open_fixture(chain)
        chain.node.ask("anvil_removeBlockTimestampInterval")
        chain.node.ask("evm_setNextBlockTimestamp", int(time.time()) + 1)
        market = read_market(fixture)
        crowd = Crowd(chain, fixture, market, Random("announced"))
        settings = write_settings(folder, fixture.network, websocket_url(chain.node.port))
        _fill_store(chain, market, folder / "stores")
        found = []
        for command, open_command in ((SERVE, _served), (WATCH, _watched)):
            with open_command(settings, fixture) as show:
                for block_time_s in block_times_s:
                    announced = Announced(command, block_time_s, blocks)
                    _measure(chain, crowd, announced, swaps, show)
                    found.append(announced)
        return found


def _fill_store(chain: AnvilChain, market: MarketState, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with connected(chain) as node, create(folder / f"{market.network.name}.sqlite", market.network) as store:
        for _ in import_pools(store, node, market):
            pass


def _measure(chain: AnvilChain, crowd: Crowd, found: Announced, swaps: int, show: Shown) -> None:
    crowd.trade(swaps)
    _wait_for_block(chain, show, _START_S)
    for _ in range(found.blocks):
        next_trade_s = perf_counter() + found.block_time_s
        crowd.trade(swaps)
        # The next block comes one block time after this one, because both take equally long to fill.
        delay_s = _wait_for_block(chain, show, found.block_time_s)
        if delay_s is not None:
            found.delays_s.append(delay_s)
        time.sleep(max(next_trade_s - perf_counter(), 0.0))


def _wait_for_block(chain: AnvilChain, show: Shown, limit_s: float) -> float | None:
    """Return the seconds until the latest block is shown; None if that takes longer than `limit_s`."""
    started_s = perf_counter()
    head = int(chain.node.ask("eth_blockNumber"), 16)
    while show() < head:
        if perf_counter() - started_s > limit_s:
            return None
        time.sleep(_POLL_S)
    return perf_counter() - started_s


@contextmanager
def _served(settings: Path, fixture: ContractFixture) -> Iterator[Shown]:
    """Run a service, which shows the block of a quote."""
    name = fixture.network.name
    tokens = {"tokenInAddress": fixture.address(WETH), "tokenOutAddress": fixture.address("USDC")}
    path = f"/{name}/v2/route?{urlencode({'amount': _AMOUNT, **tokens})}"
    with run_service("--networks", name, env={"SWAPCLI_CONFIG": str(settings)}) as service:
        connection = HTTPConnection(*service.address, timeout=_START_S)

        def show() -> int:
            connection.request("GET", path)
            response = connection.getresponse()
            response.read()
            state = parse_state(response.getheader(STATE_HEADER))
            return -1 if state is None or state.block is None else state.block

        try:
            yield show
        finally:
            connection.close()
        if service.stop():
            raise BenchmarkFailed(f"the service failed: {service.stderr[-500:]}")


@contextmanager
def _watched(settings: Path, fixture: ContractFixture) -> Iterator[Shown]:
    """Run `sync --watch`, which shows the block it has stored."""
    lines: SimpleQueue[str] = SimpleQueue()
    newest = -1
    command = [*SWAPCLI_COMMAND, "sync", fixture.network.name, "--watch", "--json"]
    env = clean_environment({"SWAPCLI_CONFIG": str(settings)})
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        output = process.stdout
        assert output

        def read_lines() -> None:
            for line in output:
                lines.put(line)

        def show() -> int:
            nonlocal newest
            try:
                while True:
                    document = json.loads(lines.get_nowait())
                    # The first line is the result of the sync, followed by a line for each block.
                    newest = document.get("state", document)["block"]
            except Empty:
                return newest

        reader = Thread(target=read_lines, daemon=True)
        reader.start()
        try:
            yield show
        finally:
            process.terminate()
            process.wait(_START_S)
            reader.join()
