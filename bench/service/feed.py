"""Measure a service that follows a feed: memory, loading a snapshot, applying blocks, and quotes meanwhile.

    python -m bench.service.feed [--pools 100000] [--out bench/HISTORY.md]

generates a market, writes it to a store, publishes that to a real Redis server on this machine, and starts the real
`swapcli serve --feed`. Each block changes some pools by a small swap. The section "Feed" is printed, or replaced in the
history.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from bench.optimum.cases import Case, generated_case
from bench.report.circumstances import Clock
from bench.report.files import publish
from bench.running import BenchmarkFailed
from bench.service.feed_section import FeedFigures, feed_section
from bench.service.published_chain import TIMEOUT_S, PublishedChain
from swapcli.core.model.market import MarketState
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.open_market import open_market
from swapcli.state.store import create_store
from tests.chain.settings import write_settings
from tests.faces.service.soak import Client, Request
from tests.support.redis_server import RedisServer, run_redis
from tests.support.service_process import ServiceProcess, run_service

_CHANGED_POOLS = 100
"""Pools changed by a block: a busy block on Base."""
_CLIENTS = 8
_FOLLOWED_BLOCKS = 30


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the section, or replace it in a page."""
    parser = argparse.ArgumentParser(prog="python -m bench.service.feed", description="Measures a feed.")
    parser.add_argument("--pools", type=int, default=100_000, help="pools of the market  [100000]")
    parser.add_argument("--blocks", type=int, default=300, help="blocks to catch up with  [300]")
    parser.add_argument("--seconds", type=float, default=20.0, help="of quotes while blocks arrive  [20]")
    parser.add_argument("--out", type=Path, help="the history to write the section into  [stdout]")
    options = parser.parse_args(arguments)
    clock = Clock()
    with TemporaryDirectory(prefix="bench-") as folder:
        case = generated_case(options.pools, 1, Path(folder))
        section = feed_section(measure(case, options.blocks, options.seconds))
    publish(section, options.out, clock.stop("python -m bench.service.feed"))


def measure(case: Case, blocks: int, seconds: float) -> FeedFigures:
    """Measure a service over the feed of a generated market. Raises `BenchmarkFailed`."""
    market = open_market(case.network, find_network, document=case.market.read_bytes()).market
    with (
        run_redis("--maxmemory", "1gb") as server,
        create_store(str(case.folder / "store.sqlite"), market.network, find_network) as store,
    ):
        chain = PublishedChain(store, market, server, _CHANGED_POOLS)
        chain.mine(list(market.pools.values()))
        with _service(case, market, server) as service:
            load_s, loaded = _cpu_s(service), _memory_bytes(service)
            catch_up_s = _catch_up(chain, service, blocks)
            follow_s = _follow(chain, service)
            quotes, quote_s = asyncio.run(_quote(case, chain, service, seconds))
            if _metric(service, "feed_gaps_total") or _metric(service, "feed_mismatches_total"):
                raise BenchmarkFailed("the service has lost the feed")
            return FeedFigures(
                pools=len(market.pools),
                changed_pools=_CHANGED_POOLS,
                snapshot_bytes=chain.publisher.last_snapshot_bytes,
                entry_bytes=chain.publisher.last_entry_bytes,
                load_s=load_s,
                loaded_bytes=loaded,
                peak_bytes=_memory_bytes(service, "VmHWM"),
                caught_up_per_s=blocks / catch_up_s,
                followed_per_s=_FOLLOWED_BLOCKS / follow_s,
                publish_ms=tuple(chain.publish_ms),
                quotes_per_s=quotes / quote_s,
            )


@contextmanager
def _service(case: Case, market: MarketState, server: RedisServer) -> Iterator[ServiceProcess]:
    """Run the service, and yield it once it has the market."""
    settings = write_settings(case.folder, market.network, None, service={"feed_url": server.url}, max_age_s=86_400)
    with run_service("--networks", case.network, env={"SWAPCLI_CONFIG": str(settings)}) as service:
        _wait_for_block(service, 1)
        yield service


def _follow(chain: PublishedChain, service: ServiceProcess) -> float:
    """Publish blocks one by one, and return the CPU seconds of the service."""
    started_s = _cpu_s(service)
    for _ in range(_FOLLOWED_BLOCKS):
        chain.mine()
        _wait_for_block(service, chain.block)
    return _cpu_s(service) - started_s


def _catch_up(chain: PublishedChain, service: ServiceProcess, blocks: int) -> float:
    """Publish blocks while the service is paused, and return its CPU seconds until it reaches the last block."""
    started_s = _cpu_s(service)
    service.send_signal(signal.SIGSTOP)
    for _ in range(blocks):
        chain.mine()
    service.send_signal(signal.SIGCONT)
    _wait_for_block(service, chain.block)
    return _cpu_s(service) - started_s


async def _quote(case: Case, chain: PublishedChain, service: ServiceProcess, seconds: float) -> tuple[int, float]:
    """Return the number of routes, and the CPU seconds of the service, while two blocks per second arrive."""
    queries = [
        f"amount={order.amount_in}&tokenInAddress={order.token_in}&tokenOutAddress={order.token_out}"
        for order in case.read_orders()
        if order.size in ("small", "medium")
    ]
    todo, end_s, answered = cycle(queries), time.perf_counter() + seconds, 0

    async def ask() -> None:
        nonlocal answered
        with closing(Client(service.address[1])) as client:
            while time.perf_counter() < end_s:
                answer = await client.ask(Request("GET", f"/{case.network}/v2/route?{next(todo)}"), "bench")
                if answer is None or answer[0] != 200:
                    raise BenchmarkFailed(f"a quote was answered with {answer}")
                answered += 1

    async def mine() -> None:
        while time.perf_counter() < end_s:
            await asyncio.to_thread(chain.mine)
            await asyncio.sleep(0.5)

    started_s = _cpu_s(service)
    await asyncio.gather(mine(), *(ask() for _ in range(_CLIENTS)))
    return answered, _cpu_s(service) - started_s


def _metric(service: ServiceProcess, name: str) -> float:
    with urlopen(f"{service.url}/metrics", timeout=TIMEOUT_S) as answer:
        lines = answer.read().decode().splitlines()
    return next((float(line.split()[-1]) for line in lines if line.startswith(f"swapcli_{name}{{")), 0.0)


def _memory_bytes(service: ServiceProcess, name: str = "VmRSS") -> int:
    """Return the resident memory of the process; "VmHWM" is its peak."""
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:")) * 1024


def _cpu_s(service: ServiceProcess) -> float:
    """Return the process's CPU time so far."""
    fields = Path(f"/proc/{service.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait_for_block(service: ServiceProcess, block: int) -> None:
    end_s = time.monotonic() + TIMEOUT_S
    while _metric(service, "market_block") < block:
        if time.monotonic() > end_s:
            raise BenchmarkFailed(f"the service does not reach block {block}")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
