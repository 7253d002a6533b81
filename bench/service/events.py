"""Measure streams of quotes: how soon after a block each subscriber gets its event, how much is searched, and the
memory.

    python -m bench.service.events [--subscribers 500] [--orders 50] [--stalled 20] [--blocks 60] [--block-s 2]
        [--workers 1]

A real `swapcli serve` follows a feed of the embedded market of Base, with a block every `--block-s` seconds, each of
which changes many pools. This process publishes the blocks and has the subscribers; others, `--stalled`, never read.
The time of an event counts from the publication of its block. Prints JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import sys
import time
from collections import Counter
from itertools import permutations
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from bench.service.published_chain import PublishedChain
from bench.service.requests import NETWORK
from swapcli.core.networks.catalogue import find_network
from swapcli.faces.service.server import allow_open_files
from swapcli.state.store import create_store
from tests.support.markets import embedded_market
from tests.support.redis_server import run_redis
from tests.support.service_process import ServiceProcess, child_ids, run_service

CHANGED_POOLS = 200
"""Most pools of the market, so that nearly every quote changes."""
MAX_CONNECTIONS = 4_096
TOKENS = 6
"""Tokens of the orders: 30 pairs."""
STALL_BYTES = 4_096
SETTLE_S = 5.0


def main() -> int:
    """Print the figures; return 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.service.events", description=__doc__)
    for name, default in (("subscribers", 500), ("orders", 50), ("stalled", 20), ("blocks", 60), ("workers", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--block-s", type=float, default=2.0)
    arguments = parser.parse_args()
    market = embedded_market(NETWORK)
    with (
        TemporaryDirectory(prefix="bench-") as folder,
        run_redis() as server,
        create_store(f"{folder}/store.sqlite", market.network, find_network) as store,
    ):
        chain = PublishedChain(store, market, server, CHANGED_POOLS)
        chain.mine(list(market.pools.values()))
        options = ("--networks", NETWORK, "--workers", str(arguments.workers), "--max-age", "86400")
        env = {"SWAPCLI_SERVICE_FEED_URL": server.url, "SWAPCLI_SERVICE_MAX_CONNECTIONS": str(MAX_CONNECTIONS)}
        with run_service(*options, env=env) as service:
            print(json.dumps(asyncio.run(measure(service, chain, arguments)), indent=2))
    return 0


class Received:
    """What the subscribers received: the delay of each event from its block, and each subscriber's blocks."""

    def __init__(self) -> None:
        self.at_s: list[tuple[int, float]] = []
        self.events: Counter[str] = Counter()
        self.opened = 0


async def measure(service: ServiceProcess, chain: PublishedChain, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the figures."""
    times_s = dict[int, float]()
    allow_open_files(MAX_CONNECTIONS)
    queries = order_queries(arguments.orders)
    received = Received()
    distinct = len(queries) + bool(arguments.stalled)
    async with httpx.AsyncClient(base_url=service.url, timeout=60) as client:
        while (await read_metrics(client))["swapcli_market_block"] < chain.block:
            await asyncio.sleep(0.1)
        memory_before = memory_bytes(service)
        tasks = [
            asyncio.create_task(subscribe(service.url, queries[number % len(queries)], received))
            for number in range(arguments.subscribers)
        ]
        stalled = [stall(service.url, f"{queries[0]}&details=true") for _ in range(arguments.stalled)]
        while received.opened < arguments.subscribers:
            await asyncio.sleep(0.1)
        searches = await count_searches(client)
        received.at_s.clear()
        peak = 0
        for _ in range(arguments.blocks):
            await asyncio.sleep(arguments.block_s)
            at_s = await asyncio.to_thread(chain.mine)
            times_s[chain.block] = at_s
            peak = max(peak, memory_bytes(service))
        await asyncio.sleep(SETTLE_S)
        searches = await count_searches(client) - searches
        metrics = await read_metrics(client)
    for task in tasks:
        task.cancel()
    for connection in stalled:
        connection.close()
    delays_ms = sorted(1_000 * (at_s - times_s[block]) for block, at_s in received.at_s if block in times_s)
    return {
        "subscribers": arguments.subscribers,
        "orders": arguments.orders,
        "workers": arguments.workers,
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
        "memory_mb": {"before": memory_before >> 20, "peak": max(peak, memory_bytes(service)) >> 20},
    }


def order_queries(count: int) -> list[str]:
    """Return different orders of 100 to 50,000 dollars between the tokens with the most pools, as queries."""
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
    """Record each event of a stream."""
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
    """Return the request for an order's events."""
    return f"GET /{NETWORK}/v2/route/events?{query} HTTP/1.1\r\nHost: service\r\n\r\n".encode()


async def read_metrics(client: httpx.AsyncClient) -> Counter[str]:
    """Return the service's metrics, with labels added up."""
    found: Counter[str] = Counter()
    for line in (await client.get("/metrics")).text.splitlines():
        if not line.startswith("#"):
            found[line.partition(" ")[0].partition("{")[0]] += float(line.split()[-1])  # type: ignore[assignment]
    return found


async def count_searches(client: httpx.AsyncClient) -> float:
    """Return the number of searches of the streams so far, each on a block."""
    return (await read_metrics(client))["swapcli_event_delay_seconds_count"]


def memory_bytes(service: ServiceProcess) -> int:
    """Return the memory of all processes of a service, with shared memory counted once."""
    pids = [service.process.pid, *child_ids(service.process.pid)]
    rollups = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids)
    return sum(int(re.findall(r"^Pss: +([0-9]+) kB", each, re.MULTILINE)[0]) for each in rollups) << 10


if __name__ == "__main__":
    sys.exit(main())
