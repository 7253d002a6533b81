"""Measure the load that one service process can carry, by the number of pools of its market: a table for operators.

    python -m bench.scale capacity [--pools 100,1000,10000] [--seconds 8] [--seed 1]

Each market is generated, and served by `swapcli serve` on loopback. *Quotes per second and core*: two clients ask again
as soon as they are answered; the quotes are divided by the processor time of the service. *Knee*: orders arrive at
random times, at rising shares of that rate; the knee is the last rate before a rejection of more than 1%, or a p99 of
more than five times that at the lowest rate. Every order has an amount of its own, within 20% of one of the market's
small and medium orders. Run it on a machine without other work; with 100,000 pools it takes ten minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.optimum.cases import Case, generated_case
from bench.running import BenchmarkFailed
from tests.faces.service.soak import Client, Request, Service, served

SHARES = (0.2, 0.5, 0.7, 0.8, 0.9, 1.0, 1.2)
"""Arrival rates, as shares of the quotes that one core can compute."""
MAX_REJECTED, MAX_P99_RATIO = 0.01, 5.0
_SIZES = ("small", "medium")
_WARM_QUOTES = 60
_CLIENTS = 2
_MAX_OPEN = 256


class Step(NamedTuple):
    """The results for orders at a rate: `offered_per_s` is the rate, `rejected` the share that got status 503."""

    offered_per_s: float
    p99_ms: float
    rejected: float


class Capacity(NamedTuple):
    """The figures of one market. `knee` is None if even the lowest rate is too high."""

    pools: int
    start_s: float
    per_core_s: float
    memory_bytes: int
    steps: tuple[Step, ...]

    @property
    def knee(self) -> Step | None:
        """Return the last step before the p99 or the rejections rise."""
        found = None
        for step in self.steps:
            if step.rejected > MAX_REJECTED or step.p99_ms > MAX_P99_RATIO * self.steps[0].p99_ms:
                break
            found = step
        return found


def measure_capacity(case: Case, pools: int, seconds: float, seed: int) -> Capacity:
    """Serve a generated market, and measure each step for `seconds`. Raises `BenchmarkFailed`."""
    began_s, requests = time.perf_counter(), random_requests(case, Random(seed))
    with served("--market", str(case.market)) as service:
        start_s = time.perf_counter() - began_s
        asyncio.run(_repeat(service, requests, count=_WARM_QUOTES))
        cpu_s = service.cpu_s
        quotes = asyncio.run(_repeat(service, requests, seconds=seconds))
        per_core_s = quotes / max(service.cpu_s - cpu_s, 1e-9)
        steps = tuple(
            asyncio.run(_arrive(service, requests, share * per_core_s, seconds, Random(seed))) for share in SHARES
        )
        return Capacity(pools, start_s, per_core_s, service.memory_bytes, steps)


def random_requests(case: Case, rng: Random) -> Iterator[Request]:
    """Yield an endless series of route requests for the market's orders, each with a different amount."""
    orders = [each for each in case.read_orders() if each.size in _SIZES]
    while True:
        order = rng.choice(orders)
        amount = max(1, int(order.amount_in * rng.uniform(0.8, 1.2)))
        query = f"amount={amount}&tokenInAddress={order.token_in}&tokenOutAddress={order.token_out}"
        yield Request("GET", f"/{case.network}/v2/route?{query}")


async def _repeat(
    service: Service, requests: Iterator[Request], *, seconds: float = 600.0, count: int = sys.maxsize
) -> int:
    """Let clients send a new request after each response; return the number of quotes."""
    answered, end_s = 0, time.perf_counter() + seconds

    async def ask() -> None:
        nonlocal answered
        client = Client(service.port)
        while time.perf_counter() < end_s and answered < count:
            await _status(client, next(requests))
            answered += 1
        client.close()

    await asyncio.gather(*(ask() for _ in range(_CLIENTS)))
    return answered


async def _arrive(
    service: Service, requests: Iterator[Request], rate_per_s: float, seconds: float, rng: Random
) -> Step:
    """Send requests at random times with this mean rate, whether or not earlier ones have been answered."""
    idle, taken_ms, statuses, tasks = list[Client](), list[float](), list[int](), set[asyncio.Task[None]]()

    async def ask(request: Request) -> None:
        client = idle.pop() if idle else Client(service.port)
        began_s = time.perf_counter()
        statuses.append(await _status(client, request))
        taken_ms.append((time.perf_counter() - began_s) * 1e3)
        idle.append(client)

    end_s = next_s = time.perf_counter()
    end_s += seconds
    while next_s < end_s:
        await asyncio.sleep(max(0.0, next_s - time.perf_counter()))
        if len(tasks) < _MAX_OPEN:  # beyond this, the service is far above its knee
            task = asyncio.create_task(ask(next(requests)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        next_s += rng.expovariate(rate_per_s)
    await asyncio.gather(*tasks)
    for client in idle:
        client.close()
    if not taken_ms:
        raise BenchmarkFailed("no order arrived: measure for longer")
    return Step(rate_per_s, sorted(taken_ms)[int(0.99 * (len(taken_ms) - 1))], statuses.count(503) / len(statuses))


async def _status(client: Client, request: Request) -> int:
    answer = await client.ask(request, "capacity")
    if answer is None or answer[0] not in (200, 503):
        raise BenchmarkFailed(f"{request.target} was answered with {answer}")
    return answer[0]


def table(found: Sequence[Capacity]) -> str:
    """Return the figures as a table in Markdown."""
    lines = [
        "| pools | quotes per second and core | knee, quotes per second | p99 there, ms | p99 at 20% load, ms"
        " | memory per process, MB | start, s |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for each in found:
        knee = each.knee
        reached = ("–", "–") if knee is None else (f"{knee.offered_per_s:,.0f}", f"{knee.p99_ms:,.0f}")
        figures = [f"{each.pools:,}", f"{each.per_core_s:,.0f}", *reached, f"{each.steps[0].p99_ms:,.0f}"]
        lines.append(f"| {' | '.join([*figures, f'{each.memory_bytes / 1e6:,.0f}', f'{each.start_s:.1f}'])} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print the table; progress goes to stderr."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale capacity",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pools", default="100,1000,10000")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    found = []
    with TemporaryDirectory(prefix="capacity-") as folder:
        for pools in map(int, options.pools.split(",")):
            case = generated_case(pools, options.seed, Path(folder))
            found.append(measure_capacity(case, pools, options.seconds, options.seed))
            for step in found[-1].steps:
                print(
                    f"{pools:,} pools, {step.offered_per_s:,.0f} a second: p99 {step.p99_ms:,.0f} ms,"
                    f" {step.rejected:.1%} rejected",
                    file=sys.stderr,
                )
    print(table(found))
    return 0
