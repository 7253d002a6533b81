"""Streams of several workers and replicas: one id for each quote, and nothing for blocks that change only the base fee.

Real services follow one chain by a feed on a real Redis. The test judges by what the events contain, not by their ids.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count, pairwise, permutations
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.faces.service.server import allow_open_files
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.feed.feed_stream import FeedWriter
from swapcli.state.feed.publisher import FeedPublisher
from swapcli.state.store import Store, create_store
from tests.support.markets import embedded_market
from tests.support.redis_server import RedisServer, run_redis
from tests.support.service_process import ServiceProcess, run_service

NETWORK = "base"
BASE_FEE_WEI = 10**7
TIMEOUT_S = 60.0
MARKET = embedded_market(NETWORK)


class Chain:
    """Writes blocks to a store and publishes them."""

    def __init__(self, store: Store, server: RedisServer) -> None:
        self._store, self._pools, self._rng = store, dict(MARKET.pools), random.Random(5)
        self._publisher = FeedPublisher(store, FeedWriter(server.server, NETWORK, TIMEOUT_S), SYSTEM_CLOCK)
        self.block = 0

    def mine(self, pools: Sequence[Pool] = ()) -> None:
        """Publish a block with these pools, and with a base fee that has moved a little."""
        self.block += 1
        base_fee_wei = BASE_FEE_WEI + self._rng.randrange(BASE_FEE_WEI // 100)
        with self._store.write_block(self.block, hex(self.block), int(time.time())) as writer:
            if self.block == 1:
                writer.put_tokens(MARKET.tokens.values())
            writer.put_pools(pools)
            writer.update_description(source="a node", gas_price_wei=base_fee_wei, pinned=True)
        self._publisher.publish()

    def trade(self) -> list[Pool]:
        """Return all pools after a swap in each that takes it, of about a thousandth of the price."""
        for key, pool in self._pools.items():
            sold, bought = self._rng.sample(pool.tokens[:2], 2)
            curve = pool.curve(sold, bought)
            amount = int(curve.trade_to_marginal_rate(curve.start_rate * 0.999)[0])
            try:
                self._pools[key] = pool.swap(sold, bought, max(amount, 1))[1]
            except PoolError:
                continue
        return list(self._pools.values())


class Quote(NamedTuple):
    """A quote event: what it says of the swap, apart from its id."""

    id: str
    amounts: tuple[str, str]
    route: str


class Subscriber:
    """Listens to one order, at one service after the other, and keeps each quote that it gets."""

    def __init__(self, query: str) -> None:
        self.query, self.quotes = query, list[Quote]()
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def block(self) -> int:
        """The block of the last quote."""
        return int(self.quotes[-1].id.partition("-")[0]) if self.quotes else 0

    async def connect(self, service: ServiceProcess) -> None:
        """Leave the last connection, and open another with the id of the last event. Return once it is accepted."""
        await self.leave()
        last = f"Last-Event-ID: {self.quotes[-1].id}\r\n" if self.quotes else ""
        request = f"GET /{NETWORK}/v2/route/events?{self.query} HTTP/1.1\r\nHost: service\r\n{last}\r\n"
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                reader, self._writer = await asyncio.open_connection(*service.address, limit=2**20)
                self._writer.write(request.encode())
                head = await reader.readuntil(b"\r\n\r\n")
                if head.startswith(b"HTTP/1.1 200 "):
                    break
                self._writer.close()  # a worker that has just started has no pools yet
                await asyncio.sleep(0.05)
        self._reading = asyncio.create_task(self._read(reader))

    async def leave(self) -> None:
        """Close the connection."""
        if self._writer is not None and self._reading is not None:
            self._writer.close()
            with suppress(ConnectionError):
                await self._reading

    async def _read(self, reader: asyncio.StreamReader) -> None:
        event_id = ""
        while line := await reader.readline():
            if line.startswith(b"id: "):
                event_id = line[4:].decode().strip()
            elif line.startswith(b'data: {"quote"'):
                quote: dict[str, Any] = json.loads(line[6:])["quote"]
                amounts = quote["inputAmount"], quote["outputAmount"]
                self.quotes.append(Quote(event_id, amounts, json.dumps(quote["route"], sort_keys=True)))


def order_queries(number: int) -> list[str]:
    """Return different orders of 200 to 20,000 dollars between four tokens, as queries."""
    tokens = [each for each in MARKET.tokens.values() if each.symbol in ("WETH", "USDC", "cbBTC", "AERO")]
    pairs, rng = list(permutations(tokens, 2)), random.Random(7)
    queries = []
    for index in range(number):
        sold, bought = pairs[index % len(pairs)]
        assert sold.price_usd is not None
        amount = int(200 * 100 ** rng.random() / float(sold.price_usd) * 10**sold.decimals)
        queries.append(urlencode({"amount": amount, "tokenInAddress": sold.address, "tokenOutAddress": bought.address}))
    return queries


@contextmanager
def serving(folder: Path, workers: Sequence[int]) -> Iterator[tuple[Chain, list[ServiceProcess]]]:
    """Run a chain, and a service with each number of workers that follows it."""
    with (
        run_redis() as server,
        create_store(str(folder / "store"), MARKET.network, find_network) as store,
        ExitStack() as stack,
    ):
        chain = Chain(store, server)
        chain.mine(list(MARKET.pools.values()))
        env = {"SWAPCLI_SERVICE_FEED_URL": server.url, "SWAPCLI_SERVICE_MAX_CONNECTIONS": "4096"}
        # The searches have no limit of time, so that their results do not depend on the load of the machine.
        env |= {"SWAPCLI_SERVICE_SOLVE_TIME_S": "0", "SWAPCLI_SERVICE_MAX_QUEUE": "4096"}
        options = ("--networks", NETWORK, "--max-age", "86400", "--workers")
        yield chain, [stack.enter_context(run_service(*options, str(each), env=env)) for each in workers]


async def until_all(subscribers: Sequence[Subscriber], block: int) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while any(each.block < block for each in subscribers):
            await asyncio.sleep(0.01)


async def subscribe(
    chain: Chain, services: list[ServiceProcess], subscribers: list[Subscriber], blocks: int
) -> list[Subscriber]:
    """Have the subscribers change the service at each block of a chain, whose pools change in the last one only.

    Return others, which came at one of the blocks and had no id.
    """
    turn, others = count(), list[Subscriber]()

    async def connect(each: Subscriber) -> None:
        await each.connect(services[next(turn) % len(services)])

    await asyncio.gather(*map(connect, subscribers))
    await until_all(subscribers, 1)
    for _ in range(blocks):
        await asyncio.to_thread(chain.mine)
        new = [Subscriber(each.query) for each in subscribers[::3]]
        await asyncio.gather(*map(connect, [*subscribers, *new]))
        await until_all(new, 1)
        for each in new:
            await each.leave()
        others += new
    await asyncio.to_thread(chain.mine, chain.trade())
    await until_all(subscribers, chain.block)
    for each in subscribers:
        await each.leave()
    return others


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "number", "blocks"),
    [
        ((2, 1), 20, 4),
        pytest.param((1,), 500, 5, marks=pytest.mark.slow),
        pytest.param((2,), 500, 5, marks=pytest.mark.slow),
        pytest.param((1, 1), 500, 5, marks=pytest.mark.slow),
    ],
)
def test_a_changed_base_fee_repeats_no_quote(workers: Sequence[int], number: int, blocks: int, tmp_path: Path) -> None:
    allow_open_files(4_096)
    queries = order_queries(max(4, number // 10))
    with serving(tmp_path, workers) as (chain, services):
        subscribers = [Subscriber(queries[index % len(queries)]) for index in range(number)]
        others = asyncio.run(subscribe(chain, services, subscribers, blocks))
    ids = dict[tuple[str, int], str]()
    for each in subscribers:
        contents = [quote[1:] for quote in each.quotes]
        assert all(before != after for before, after in pairwise(contents)), "repeated"
        assert each.block == chain.block
        assert len(each.quotes) == 2
    for each in [*subscribers, *others]:
        for quote in each.quotes:
            block = int(quote.id.partition("-")[0])
            assert ids.setdefault((each.query, block), quote.id) == quote.id, "one id at a block"
