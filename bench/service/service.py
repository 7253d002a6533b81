"""Measure the service on the embedded market of Base: throughput, overhead, health checks under load, and a soak."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from statistics import median

from bench.running import BenchmarkFailed
from bench.service.abuse import AbuseFigures
from bench.service.requests import NETWORK, parse_request, route_request
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.open_market import open_market
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.faces.service.soak import Client, Outcome, Request, Service, orders, served, soak

CLIENTS = 8
"""Enough to saturate the service; each client sends its next request as soon as it gets a response."""
HEALTH_PACE_S = 0.02
WARM_PASSES = 2


@dataclass(frozen=True, slots=True)
class ServiceFigures:
    """Times of the service. `core_ms` and `overhead_ms` are medians over sequential orders: the core alone, and the
    rest of a response time, including HTTP and the client. `health_ms` are health checks during `routes_per_s` routes
    per second."""

    orders: int
    routes: int
    routes_per_s: float
    core_ms: float
    overhead_ms: float
    health_ms: tuple[float, ...]
    quiet: Outcome
    stopped: Outcome
    abuse: AbuseFigures | None = None

    @property
    def health_p99_ms(self) -> float:
        """Return the 99th percentile of the health checks."""
        return sorted(self.health_ms)[int(0.99 * (len(self.health_ms) - 1))]


def measure_service(seconds: float, soaked: int) -> ServiceFigures:
    """Measure for `seconds`, then soak twice with `soaked` requests. Raises `BenchmarkFailed`."""
    with served("--networks", NETWORK) as service:
        core_ms, overhead_ms = asyncio.run(_measure_overhead(service))
        routes, spent_s, health_ms = asyncio.run(_saturate(service, seconds))
    return ServiceFigures(
        orders=len(orders()),
        routes=routes,
        routes_per_s=routes / spent_s,
        core_ms=core_ms,
        overhead_ms=overhead_ms,
        health_ms=tuple(health_ms),
        quiet=soak(soaked),
        stopped=soak(soaked, stop_after=soaked // 2),
    )


async def _measure_overhead(service: Service) -> tuple[float, float]:
    """Return the median times of the core in this process and of the overhead, in milliseconds, measured in turn."""
    source, client = InMemorySource(open_market(NETWORK, find_network).market, SYSTEM_CLOCK), Client(service.port)
    requests = [parse_request(query, source) for query in orders()]
    core_s: list[list[float]] = []
    whole_s: list[list[float]] = []
    for _ in range(WARM_PASSES + 5):
        core_s.append([])
        whole_s.append([])
        for query, ask in zip(orders(), requests, strict=True):
            core_s[-1].append(_core_s(source, ask))
            whole_s[-1].append(await _time_request(client, route_request(query)))
    client.close()
    core, whole = ([median(column) for column in zip(*rows[WARM_PASSES:], strict=True)] for rows in (core_s, whole_s))
    return median(core) * 1e3, median(w - c for w, c in zip(whole, core, strict=True)) * 1e3


def _core_s(source: InMemorySource, ask: QuoteRequest) -> float:
    began_s = time.perf_counter()
    source.quote(ask)
    return time.perf_counter() - began_s


async def _time_request(client: Client, request: Request) -> float:
    began_s = time.perf_counter()
    answer = await client.ask(request, "bench")
    if answer is None or answer[0] != 200:
        raise BenchmarkFailed(f"{request.target}: {answer}")
    return time.perf_counter() - began_s


async def _saturate(service: Service, seconds: float) -> tuple[int, float, list[float]]:
    """Return the number of routes, the seconds they took, and the milliseconds of health checks during that time."""
    began_s = time.perf_counter()
    end_s, todo = began_s + seconds, cycle(orders())
    tasks = [_ask_until(service, todo, end_s) for _ in range(CLIENTS)]
    *answered, health_ms = await asyncio.gather(*tasks, _check_until(service, end_s))
    routes = sum(each for each in answered if isinstance(each, int))
    assert isinstance(health_ms, list)
    return routes, time.perf_counter() - began_s, health_ms


async def _ask_until(service: Service, todo: Iterator[str], end_s: float) -> int:
    client, answered = Client(service.port), 0
    while time.perf_counter() < end_s:
        await _time_request(client, route_request(next(todo)))
        answered += 1
    client.close()
    return answered


async def _check_until(service: Service, end_s: float) -> list[float]:
    client, taken_ms = Client(service.port), []
    while time.perf_counter() < end_s:
        taken_ms.append(await _time_request(client, Request("GET", f"/{NETWORK}/v2/healthcheck")) * 1e3)
        await asyncio.sleep(HEALTH_PACE_S)
    client.close()
    return taken_ms
