"""Measure how one client's orders wait for each other, and how the service responds over many connections.

python -m bench.service.fairness [--seconds 4] [--rounds 4] [--overload 60] [--before TREE]

*Quick beside slow*: response times of quick orders, alone and beside slow orders of the same client. *Connections*:
good answers a second, and refusals, over 8, 64 and 256 connections of one client. *Overload*: 32 connections of one
client with slow orders, which ask again when they are told to: how often an order is refused, how wrong the time of
`Retry-After` is (from the first refusal until the order is taken), and the longest wait. `--before` names a checkout
of another revision, whose service is measured in turn with this one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.running import BenchmarkFailed
from bench.service.abuse import Load, end_tasks, measure_load, p99, repeat, slowest_order
from bench.service.requests import NETWORK, parse_request, route_request
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.open_market import open_market
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.faces.service.soak import Client, Request, Service, orders, served

SLOW_COUNTS = (0, 2, 8)
CONNECTIONS = (8, 64, 256)
OVERLOADING = 32
QUICK_S = 0.005
"""Orders that take at most this long are quick."""
_PAUSE_S = 0.02
_MIN_SAMPLES = 2
_SETTLING_S = 1.0


@dataclass
class FairnessFigures:
    """Milliseconds of quick orders by the number of slow orders next to them, and loads by the number of connections,
    for all orders and for quick orders alone."""

    quick_ms: dict[int, list[float]] = field(default_factory=dict)
    loads: dict[int, list[Load]] = field(default_factory=dict)
    quick_loads: dict[int, list[Load]] = field(default_factory=dict)
    overload: dict[str, float] = field(default_factory=dict)

    @property
    def summary(self) -> dict[str, object]:
        """The medians and 99th percentiles, and mean loads."""
        alone_ms = p99(tuple(self.quick_ms[0]))
        return {
            "quick_ms": {
                count: {
                    "median": round(median(taken), 2),
                    "p99": round(p99(tuple(taken)), 2),
                    "p99_to_alone": round(p99(tuple(taken)) / alone_ms, 2),
                }
                for count, taken in self.quick_ms.items()
            },
            "loads": {count: _mean(loads) for count, loads in self.loads.items()},
            "quick_loads": {count: _mean(loads) for count, loads in self.quick_loads.items()},
            "overload": self.overload,
        }


def quick_orders() -> list[str]:
    """Return the queries of the orders that take at most `QUICK_S` in the core."""
    source = InMemorySource(open_market(NETWORK, find_network).market, SYSTEM_CLOCK)
    source.searchable.router.index.warm()
    requests = {query: parse_request(query, source) for query in orders()}
    quick = []
    for query, request in requests.items():
        source.quote(request)
        began_s = time.perf_counter()
        source.quote(request)
        if time.perf_counter() - began_s <= QUICK_S:
            quick.append(query)
    return quick


async def quick_beside_slow(
    service: Service, slow: str, quick: Sequence[str], count: int, seconds: float
) -> list[float]:
    """Return the response times of quick orders in milliseconds next to `count` slow orders of the same client."""
    is_done, answered = asyncio.Event(), [0]
    tasks = [
        asyncio.create_task(repeat(Client(service.port), route_request(slow), answered, is_done)) for _ in range(count)
    ]
    client, todo, taken_ms = Client(service.port), cycle(quick), list[float]()
    await asyncio.sleep(_SETTLING_S if count else 0.0)
    end_s = time.perf_counter() + seconds
    while time.perf_counter() < end_s or len(taken_ms) < _MIN_SAMPLES:
        began_s = time.perf_counter()
        answer = await client.ask(route_request(next(todo)), "quick")
        if answer is None or answer[0] != 200:
            raise BenchmarkFailed(f"a quick order got the response {answer}")
        taken_ms.append((time.perf_counter() - began_s) * 1e3)
        await asyncio.sleep(_PAUSE_S)
    client.close()
    is_done.set()
    await end_tasks(tasks)
    return taken_ms


class TakenOrder(NamedTuple):
    """An accepted order: how often it was refused before, the seconds given by the first refusal, and the seconds from
    that refusal until it was accepted. `longest_s` is the longest time until a refusal."""

    refusals: int
    told_s: float
    taken_s: float
    longest_s: float

    @property
    def is_told_well(self) -> bool:
        """Whether the first time given was wrong by at most a second or 30%."""
        return abs(self.told_s - self.taken_s) <= max(1.0, 0.3 * self.taken_s)


async def measure_overload(service: Service, slow: str, seconds: float) -> dict[str, float]:
    """Return the figures of connections that all repeat a slow order, and retry at the times they are given."""
    taken, end_s, request = list[TakenOrder](), time.perf_counter() + seconds, route_request(slow)

    async def ask(client: Client) -> None:
        while time.perf_counter() < end_s:
            refusals, told_s, refused_s, longest_s = 0, 0.0, 0.0, 0.0
            while True:
                asked_s = time.perf_counter()
                answer = await client.ask(request, "overload")
                if answer is None or answer[0] not in (200, 503):
                    raise BenchmarkFailed(f"in overload the service responded with {answer}")
                if answer[0] == 200:
                    break
                now_s = time.perf_counter()
                longest_s = max(longest_s, now_s - asked_s)
                if not refusals:
                    told_s, refused_s = float(client.retry_after_s or 0), now_s
                refusals += 1
                await asyncio.sleep(float(client.retry_after_s or 0))
            taken.append(TakenOrder(refusals, told_s, asked_s - refused_s if refusals else 0.0, longest_s))
        client.close()

    await asyncio.gather(*(ask(Client(service.port)) for _ in range(OVERLOADING)))
    refused = [each for each in taken if each.refusals]
    waits = await _wait_buckets(service)
    return {
        "taken": len(taken),
        "refused_first": len(refused),
        "refusals_of_these": round(sum(each.refusals for each in refused) / max(1, len(refused)), 2),
        "told_well_percent": round(100 * sum(each.is_told_well for each in refused) / max(1, len(refused)), 1),
        "median_told_s": median([each.told_s for each in refused] or [0.0]),
        "median_taken_s": round(median([each.taken_s for each in refused] or [0.0]), 2),
        "longest_until_refused_s": round(max((each.longest_s for each in taken), default=0.0), 2),
        "waits_above_2_5_s": waits.get("+Inf", 0.0) - waits.get("2.5", 0.0),
    }


async def _wait_buckets(service: Service) -> dict[str, float]:
    """Return the numbers of waits by their bound; empty for a service that does not report them."""
    client = Client(service.port)
    answer = await client.ask(Request("GET", "/metrics"), "metrics")
    client.close()
    lines = answer[1].decode().splitlines() if answer else []
    prefix = 'swapcli_solve_wait_seconds_bucket{le="'
    counts = (line.removeprefix(prefix).split('"} ') for line in lines if line.startswith(prefix))
    return {bound: float(count) for bound, count in counts}


def measure(
    services: Mapping[str, Service], seconds: float, rounds: int, overload_s: float
) -> dict[str, FairnessFigures]:
    """Return the figures of services by name: each is measured in turn, in rounds."""
    figures = {name: FairnessFigures() for name in services}
    (slow, _), quick = slowest_order(), quick_orders()
    for service in services.values():
        asyncio.run(measure_load(service, orders(), CONNECTIONS[0], seconds))
    for number in range(rounds):
        in_turn = list(services)[:: 1 if number % 2 else -1]
        for count in SLOW_COUNTS:
            for name in in_turn:
                taken_ms = asyncio.run(quick_beside_slow(services[name], slow, quick, count, seconds))
                figures[name].quick_ms.setdefault(count, []).extend(taken_ms)
        for count in CONNECTIONS:
            for name in in_turn:
                load = asyncio.run(measure_load(services[name], orders(), count, seconds))
                figures[name].loads.setdefault(count, []).append(load)
            for name in in_turn:
                load = asyncio.run(measure_load(services[name], quick, count, seconds))
                figures[name].quick_loads.setdefault(count, []).append(load)
    for name, service in services.items():
        figures[name].overload = asyncio.run(measure_overload(service, slow, overload_s))
    return figures


def _mean(loads: Sequence[Load]) -> dict[str, float]:
    good, refused, of_cpu = (sum(column) / len(loads) for column in zip(*loads, strict=True))
    return {
        "good_per_s": round(good, 1),
        "good_per_cpu_s": round(of_cpu, 1),
        "refused_percent": round(100 * refused / (good + refused), 2),
    }


def main() -> None:
    """Print the figures as JSON, for this revision and the one given by `--before`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--overload", type=float, default=60.0)
    parser.add_argument("--before", type=Path, default=None, metavar="TREE")
    options = parser.parse_args()
    trees = {"now": None} if options.before is None else {"before": options.before, "now": None}
    with ExitStack() as stack:
        services = {name: stack.enter_context(served("--networks", NETWORK, tree=tree)) for name, tree in trees.items()}
        figures = measure(services, options.seconds, options.rounds, options.overload)
    print(json.dumps({name: found.summary for name, found in figures.items()}, indent=1))


if __name__ == "__main__":
    main()
