"""The orders of one client over real connections: short ones do not wait for long ones, and none is refused."""

from __future__ import annotations

import asyncio
import time
from itertools import cycle
from statistics import median

from tests.faces.service.soak import Client, Request, orders, served

SLOW = Request(
    "GET",
    "/base/v2/route?amount=10000000000000&tokenInAddress=0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca"
    "&tokenOutAddress=0x04c0599ae5a44757c0af6f9ec3b93da8976c150a",
)
"""Far more than the pools of its tokens have: the search uses all the time that it may."""
QUICK = Request("GET", f"/base/v2/route?{orders()[0]}")


async def ask_timed(client: Client, request: Request) -> float:
    began_s = time.perf_counter()
    answer = await client.ask(request, "timed")
    assert answer is not None
    assert answer[0] == 200
    return time.perf_counter() - began_s


def test_a_short_order_does_not_wait_for_long_ones_of_its_client() -> None:
    async def work(port: int) -> None:
        client = Client(port)
        slow_s = [await ask_timed(client, SLOW) for _ in range(2)][-1]
        alone_s = [await ask_timed(client, QUICK) for _ in range(10)]
        assert slow_s > 10 * median(alone_s)
        others = [Client(port) for _ in range(8)]
        slow = [asyncio.create_task(ask_timed(each, SLOW)) for each in others]
        await asyncio.sleep(slow_s / 2)
        beside_s = [await ask_timed(client, QUICK) for _ in range(20)]
        assert not all(each.done() for each in slow)
        assert median(beside_s) < slow_s / 2
        await asyncio.gather(*slow)
        for each in (client, *others):
            each.close()

    with served("--networks", "base") as service:
        asyncio.run(work(service.port))


def test_many_connections_of_one_client_are_all_answered() -> None:
    async def ask_all(port: int, queries: cycle[str]) -> None:
        client = Client(port)
        for _ in range(6):
            await ask_timed(client, Request("GET", f"/base/v2/route?{next(queries)}"))
        client.close()

    async def work(port: int) -> None:
        queries = cycle(query for query in orders() if query.startswith("amount=1"))
        await asyncio.gather(*(ask_all(port, queries) for _ in range(64)))

    with served("--networks", "base") as service:
        asyncio.run(work(service.port))
