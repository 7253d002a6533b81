"""Measure what abusive clients cost the service's other clients. Ratios compare a client alone and next to them, in one
run.

`python -m bench.service.abuse [SECONDS]` measures only this and prints JSON.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from statistics import median
from typing import NamedTuple

from bench.running import BenchmarkFailed
from bench.service.requests import NETWORK, parse_request, route_request
from swapcli.core.errors import SwapcliError
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.open_market import open_market
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.faces.service.soak import Client, Request, Service, orders, served

ABUSERS = 8
ABUSIVE_CONNECTIONS = 4
"""Connections of each abuser; it sends the next request on each as soon as the response arrives."""
FEW, MANY = 8, 256
"""Numbers of connections whose good responses per second are compared."""
HEAD_CONNECTIONS, HEAD_BYTES = 8, 25_000_000
NORMAL_PAUSE_S = 0.02
_WARM = 10
_SETTLING_S = 1.0
_ROUNDS = 4


class Load(NamedTuple):
    """The results of requests over many connections: good responses and refusals per second, and per second of the
    service's processor time."""

    good_per_s: float
    refused_per_s: float
    good_per_cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class AbuseFigures:
    """Response times and memory of a service under abuse.

    `alone_ms` and `beside_ms` are of a client with ordinary orders, without and with `ABUSERS` others that repeat an
    order of `slow_ms`. `hangups` counts SIGHUPs during requests; `lost` requests got no response. Memory is the peak of
    the process, before and after `HEAD_CONNECTIONS` sent `HEAD_BYTES` of header lines each."""

    slow_ms: float
    alone_ms: tuple[float, ...]
    beside_ms: tuple[float, ...]
    abusive_answers: int
    few: Load
    many: Load
    hangups: int
    lost: int
    memory_before_bytes: int
    memory_bytes: int

    @property
    def delay(self) -> float:
        """Return the ratio of the 99th percentiles of response times next to abusive clients and alone."""
        return p99(self.beside_ms) / p99(self.alone_ms)

    @property
    def overload_percent(self) -> float:
        """Return the good responses per second over many connections, in percent of those over a few."""
        return 100.0 * self.many.good_per_s / self.few.good_per_s


def p99(values: tuple[float, ...]) -> float:
    """Return the 99th percentile."""
    return sorted(values)[int(0.99 * (len(values) - 1))]


def measure_abuse(seconds: float) -> AbuseFigures:
    """Measure each for `seconds`. Raises `BenchmarkFailed`."""
    slow, slow_s = slowest_order()
    with served("--networks", NETWORK) as service:
        memory_before = _peak_bytes(service)
        alone = asyncio.run(_normal_client(service, seconds))
        beside, answers = asyncio.run(_beside_abusers(service, slow, seconds))
        # Alternate, so that a slower machine affects both.
        loads = [
            asyncio.run(measure_load(service, orders(), count, seconds / _ROUNDS)) for count in (FEW, MANY) * _ROUNDS
        ]
        hangups, lost = _hang_up(service, seconds / 2)
        _send_header_lines(service)
        asyncio.run(_normal_client(service, 0.2))
        memory = _peak_bytes(service)
    return AbuseFigures(
        slow_ms=slow_s * 1e3,
        alone_ms=alone,
        beside_ms=beside,
        abusive_answers=answers,
        few=_mean(loads[0::2]),
        many=_mean(loads[1::2]),
        hangups=hangups,
        lost=lost,
        memory_before_bytes=memory_before,
        memory_bytes=memory,
    )


def slowest_order() -> tuple[str, float]:
    """Return the query of the slowest order among some that take a lot from thin pools, and its time in seconds."""
    source = InMemorySource(open_market(NETWORK, find_network).market, SYSTEM_CLOCK)
    source.searchable.router.index.warm()
    tokens = list(source.market.tokens.values())[:9]
    timed = []
    for token_in in tokens:
        for token_out in tokens:
            if token_in is not token_out:
                query = _large_order(token_in, token_out)
                began_s = time.perf_counter()
                try:
                    source.quote(parse_request(query, source))
                except SwapcliError:
                    continue
                timed.append((time.perf_counter() - began_s, query))
    slow_s, query = max(timed)
    return query, slow_s


def _large_order(token_in: Token, token_out: Token) -> str:
    amount = 10 ** (token_in.decimals + 7)
    return f"amount={amount}&tokenInAddress={token_in.address}&tokenOutAddress={token_out.address}"


async def _normal_client(service: Service, seconds: float) -> tuple[float, ...]:
    """Return the response times in milliseconds of a client that pauses between requests."""
    client, taken_ms = Client(service.port), list[float]()
    todo, end_s = cycle(orders()), time.perf_counter() + seconds
    while time.perf_counter() < end_s or len(taken_ms) < _WARM + 1:
        began_s = time.perf_counter()
        answer = await client.ask(route_request(next(todo)), "normal")
        if answer is None or answer[0] != 200:
            raise BenchmarkFailed(f"a normal client was answered with {answer}")
        taken_ms.append((time.perf_counter() - began_s) * 1e3)
        await asyncio.sleep(NORMAL_PAUSE_S)
    client.close()
    return tuple(taken_ms[_WARM:])


async def _beside_abusers(service: Service, slow: str, seconds: float) -> tuple[tuple[float, ...], int]:
    """Return the response times next to abusers at other addresses, and the number of the abusers' good responses."""
    answered, connections, is_done = [0], [], asyncio.Event()
    for number in range(ABUSERS):
        for _ in range(ABUSIVE_CONNECTIONS):
            client = Client(service.port, source=f"127.0.0.{number + 2}")
            connections.append(asyncio.create_task(repeat(client, route_request(slow), answered, is_done)))
    await asyncio.sleep(1.0)
    taken_ms = await _normal_client(service, seconds)
    is_done.set()
    await end_tasks(connections)
    return taken_ms, answered[0]


async def end_tasks(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel tasks that also check an event, because a task that receives a response may miss its cancellation."""
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def repeat(client: Client, request: Request, answered: list[int], is_done: asyncio.Event) -> None:
    """Send a request repeatedly; count the good responses in `answered`."""
    try:
        while not is_done.is_set():
            answer = await client.ask(request, "abusive")
            answered[0] += answer is not None and answer[0] == 200
    finally:
        client.close()


async def measure_load(service: Service, queries: Sequence[str], connections: int, seconds: float) -> Load:
    """Send orders over `connections` connections, each as soon as the previous one has been answered or refused."""
    todo, statuses, is_done = cycle(queries), list[int](), asyncio.Event()

    async def ask() -> None:
        client = Client(service.port)
        try:
            while not is_done.is_set():
                answer = await client.ask(route_request(next(todo)), "load")
                statuses.append(answer[0] if answer else 0)
        finally:
            client.close()

    tasks = [asyncio.create_task(ask()) for _ in range(connections)]
    await asyncio.sleep(_SETTLING_S)
    before, began_s, cpu_s = len(statuses), time.perf_counter(), service.cpu_s
    await asyncio.sleep(seconds)
    counted, spent_s, cpu_s = statuses[before:], time.perf_counter() - began_s, service.cpu_s - cpu_s
    is_done.set()
    await end_tasks(tasks)
    if not set(statuses) <= {200, 503}:
        raise BenchmarkFailed(f"under load the service responded with {sorted(set(statuses))}")
    good = counted.count(200)
    return Load(good / spent_s, counted.count(503) / spent_s, good / cpu_s)


def _mean(loads: list[Load]) -> Load:
    return Load(*(sum(column) / len(loads) for column in zip(*loads, strict=True)))


def _hang_up(service: Service, seconds: float) -> tuple[int, int]:
    """Return the number of SIGHUPs sent, and of requests without a good response during that time."""

    async def ask(done: Callable[[], bool]) -> int:
        client, lost, todo = Client(service.port), 0, cycle(orders())
        while not done():
            try:
                answer = await client.ask(route_request(next(todo)), "hangup")
            except OSError:
                answer = None
            lost += answer is None or answer[0] != 200
        client.close()
        return lost

    async def whole() -> tuple[int, int]:
        end_s, sent = time.perf_counter() + seconds, 0
        tasks = [asyncio.create_task(ask(lambda: time.perf_counter() > end_s)) for _ in range(FEW)]
        while time.perf_counter() < end_s:
            service.process.send_signal(signal.SIGHUP)
            sent += 1
            await asyncio.sleep(0.05)
        return sent, sum(await asyncio.gather(*tasks))

    return asyncio.run(whole())


def _send_header_lines(service: Service) -> None:
    lines = b"X-Header-Line: " + b"x" * 45 + b"\r\n"
    lines *= 2**20 // len(lines)

    def send() -> None:
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            try:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
                for _ in range(HEAD_BYTES // len(lines) + 1):
                    connection.sendall(lines)
            except OSError:
                return

    threads = [threading.Thread(target=send) for _ in range(HEAD_CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _peak_bytes(service: Service) -> int:
    """Return the peak resident memory of the process."""
    with open(f"/proc/{service.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) * 1024


if __name__ == "__main__":
    found = measure_abuse(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
    document = asdict(found) | {
        "alone_ms": [median(found.alone_ms), p99(found.alone_ms), len(found.alone_ms)],
        "beside_ms": [median(found.beside_ms), p99(found.beside_ms), len(found.beside_ms)],
        "delay": found.delay,
        "overload_percent": found.overload_percent,
    }
    print(json.dumps(document, indent=1))
