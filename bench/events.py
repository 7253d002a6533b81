"""Measure streams of quotes: how soon after a block each subscriber has its event, what is searched, and the memory.

    python -m bench.events [--subscribers 500] [--orders 50] [--stalled 20] [--blocks 60] [--block-s 2]

A process serves the embedded market of Base with a block every `--block-s` seconds, each of which changes the reserves
or prices of many pools; this one has the subscribers, of which `--stalled` never read. Prints JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from itertools import permutations
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from bench.service_requests import NETWORK
from swapcli.core.model.market import MarketState, Provenance
from swapcli.faces.service.app import create_app
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.server import allow_open_files, serve
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.markets import embedded_market

CHANGED = 0.3
"""Share of the pools that each block leaves out: another third each time, so that nearly every quote changes."""
TOKENS = 6
"""Tokens of the orders: 30 pairs."""
STALL_BYTES = 4_096
SETTLE_S = 5.0


def main() -> int:
    """Run the server, or measure; return 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.events", description=__doc__)
    for name, default in (("subscribers", 500), ("orders", 50), ("stalled", 20), ("blocks", 60)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--block-s", type=float, default=2.0)
    parser.add_argument("--serve", action="store_true")
    arguments = parser.parse_args()
    if arguments.serve:
        return run_server(arguments.blocks, arguments.block_s)
    command = [sys.executable, "-m", "bench.events", "--serve"]
    command += ["--blocks", str(arguments.blocks), "--block-s", str(arguments.block_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            print(json.dumps(asyncio.run(measure(server, arguments)), indent=2))
        finally:
            server.kill()
    return 0


def run_server(blocks: int, block_s: float) -> int:
    """Serve; after a line on stdin write blocks, and print the number and the time of each on a monotonic clock."""
    market = embedded_market(NETWORK)
    registry = MarketRegistry([market.network], {}, followed=[NETWORK])

    def publish(number: int) -> None:
        registry.set_source(InMemorySource(state_at(market, number), SYSTEM_CLOCK))
        print(json.dumps([number, time.monotonic()]), flush=True)

    def write_blocks() -> None:
        sys.stdin.readline()
        for number in range(2, blocks + 2):
            time.sleep(block_s)
            publish(number)

    publish(1)
    threading.Thread(target=write_blocks, daemon=True).start()
    app = create_app(registry, ServiceSettings(max_connections=4_096))
    return serve(
        app, host="127.0.0.1", port=0, max_connections=4_096, on_ready=lambda url: print(json.dumps(url), flush=True)
    )


def state_at(market: MarketState, number: int) -> MarketState:
    """Return the market at a block: without some of its pools, others at each block."""
    rng = Random(number)
    pools = {key: pool for key, pool in market.pools.items() if rng.random() > CHANGED}
    return market._replace(pools=pools, block=number, timestamp=int(time.time()), provenance=Provenance.SYNCED)


class Received:
    """What the subscribers got: the delay of each event from its block, and the blocks that each had."""

    def __init__(self) -> None:
        self.at_s: list[tuple[int, float]] = []
        self.events: Counter[str] = Counter()
        self.opened = 0


async def measure(server: subprocess.Popen[str], arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the figures."""
    assert server.stdout is not None
    assert server.stdin is not None
    times_s = dict([json.loads(server.stdout.readline())])
    url = json.loads(server.stdout.readline())
    allow_open_files(4_096)
    queries = order_queries(arguments.orders)
    received = Received()
    memory_before = resident_bytes(server.pid)
    tasks = [
        asyncio.create_task(subscribe(url, queries[number % len(queries)], received))
        for number in range(arguments.subscribers)
    ]
    distinct = len(queries) + bool(arguments.stalled)
    stalled = [stall(url, f"{queries[0]}&details=true") for _ in range(arguments.stalled)]
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        while received.opened < arguments.subscribers:
            await asyncio.sleep(0.1)
        searches = await count_searches(client)
        received.at_s.clear()
        server.stdin.write("\n")
        server.stdin.flush()
        peak = 0
        for _ in range(arguments.blocks):
            line = await asyncio.to_thread(server.stdout.readline)
            number, at_s = json.loads(line)
            times_s[number] = at_s
            peak = max(peak, resident_bytes(server.pid))
        await asyncio.sleep(SETTLE_S)
        searches = await count_searches(client) - searches
        metrics = await read_metrics(client)
    for task in tasks:
        task.cancel()
    for connection in stalled:
        connection.close()
    delays_ms = sorted(1_000 * (at_s - times_s[block]) for block, at_s in received.at_s)
    return {
        "subscribers": arguments.subscribers,
        "orders": arguments.orders,
        "blocks": arguments.blocks,
        "block_s": arguments.block_s,
        "events": len(delays_ms),
        "events_a_subscriber_and_block": round(len(delays_ms) / arguments.subscribers / arguments.blocks, 3),
        "block_to_push_ms": {
            "p50": round(median(delays_ms), 1),
            "p99": round(quantiles(delays_ms, n=100)[98], 1),
            "max": round(delays_ms[-1], 1),
        },
        "searches_an_order_and_block": round(searches / distinct / arguments.blocks, 3),
        "stalled": arguments.stalled,
        "streams_at_the_end": metrics["swapcli_streams_open"],
        "dropped": metrics["swapcli_streams_dropped_total"],
        "memory_mb": {"before": memory_before >> 20, "peak": max(peak, resident_bytes(server.pid)) >> 20},
    }


def order_queries(count: int) -> list[str]:
    """Return different orders of 100 to 50,000 dollars between the tokens that have most pools, as queries."""
    market = embedded_market(NETWORK)
    pools = Counter(address for pool in market.pools.values() for address in pool.tokens)
    tokens = [market.tokens[address] for address, _ in pools.most_common() if market.tokens[address].price_usd][:TOKENS]
    pairs = list(permutations(tokens, 2))
    rng = Random(7)
    found = []
    for number in range(count):
        sold, bought = pairs[number % len(pairs)]
        assert sold.price_usd is not None
        amount = int(100 * 500 ** rng.random() / float(sold.price_usd) * 10**sold.decimals)
        found.append(urlencode({"amount": amount, "tokenInAddress": sold.address, "tokenOutAddress": bought.address}))
    return found


async def subscribe(url: str, query: str, received: Received) -> None:
    """Note each event of a stream."""
    reader, writer = await open_stream(url, query)
    try:
        is_first = True
        while line := await reader.readline():
            if line.startswith(b"id: "):
                received.opened += is_first
                is_first = False
                block = int(line[4:].partition(b"-")[0])
                received.at_s.append((block, time.monotonic()))
    finally:
        writer.close()


def stall(url: str, query: str) -> socket.socket:
    """Open a stream that is never read."""
    parts = urlsplit(url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, STALL_BYTES)
    connection.connect((parts.hostname, parts.port))
    connection.sendall(request_bytes(query))
    return connection


async def open_stream(url: str, query: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Request the events of an order."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=2**20)
    writer.write(request_bytes(query))
    return reader, writer


def request_bytes(query: str) -> bytes:
    """Return the request of the events of an order."""
    return f"GET /{NETWORK}/v2/route/events?{query} HTTP/1.1\r\nHost: service\r\n\r\n".encode()


async def read_metrics(client: httpx.AsyncClient) -> Counter[str]:
    """Return the metrics of the service, those with labels added up."""
    found: Counter[str] = Counter()
    for line in (await client.get("/metrics")).text.splitlines():
        if not line.startswith("#"):
            found[line.partition(" ")[0].partition("{")[0]] += float(line.split()[-1])  # type: ignore[assignment]
    return found


async def count_searches(client: httpx.AsyncClient) -> float:
    """Return the number of searches of the streams so far, each on a block."""
    return (await read_metrics(client))["swapcli_event_delay_seconds_count"]


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main())
