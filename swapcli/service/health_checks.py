"""Health checks that do not wait behind orders: the result of a sample order on each network is cached.

A cached result is returned while it is at most `CACHE_MAX_AGE_S` old. An older one is replaced first, ahead of all
orders. If the new check takes too long, the network is reported as unhealthy.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import NamedTuple

from swapcli.api.health import render_health_v1, render_health_v2
from swapcli.engine.health import UNHEALTHY
from swapcli.errors import MarketUnavailable
from swapcli.model.api_version import ApiVersion
from swapcli.model.market import Provenance
from swapcli.model.network import Network
from swapcli.model.state_source import StateSource
from swapcli.service.error_responses import JsonResponse
from swapcli.service.market_registry import MarketRegistry
from swapcli.service.worker import Worker

CACHE_FRESH_S = 2.0
"""Up to this age a sample is told and left alone; older ones are told while a new one is taken."""
CACHE_MAX_AGE_S = 10.0
TIMEOUT_S = 2.0


class HealthCheckResult(NamedTuple):
    """What a check of a network found, and when (in seconds of the registry's timer)."""

    status: int
    message: str
    checked_at_s: float


class HealthMonitor:
    """The last sample of each network."""

    def __init__(self, registry: MarketRegistry, solver: Worker) -> None:
        self._registry = registry
        self._solver = solver
        self._results: dict[str, HealthCheckResult] = {}
        self._probes: dict[str, asyncio.Task[HealthCheckResult]] = {}

    async def check(self, network: Network, api_version: ApiVersion) -> JsonResponse:
        """The answer of a health check; its status is also what the body says."""
        status, message = await self._status(network.name)
        if api_version is ApiVersion.V2:
            return JsonResponse(status, render_health_v2(status, message, self._registry.now_ms()))
        return JsonResponse(status, render_health_v1(status, message))

    async def _status(self, name: str) -> tuple[int, str]:
        """What is known without a sample is told at once, and as it is now."""
        held = self._registry.sources.get(name)
        try:
            if held:
                self._registry.check_age(held)
            elif self._registry.is_followed(name):
                self._registry.open_source(name)
        except MarketUnavailable as error:
            return UNHEALTHY, error.message
        sample = await self._recent_result(name)
        return sample.status, sample.message + (_describe_block(held.state_source) if held else "")

    async def _recent_result(self, name: str) -> HealthCheckResult:
        held = self._results.get(name)
        age_s = self._registry.clock.monotonic_s() - held.checked_at_s if held else CACHE_MAX_AGE_S + 1
        if held and age_s <= CACHE_FRESH_S:
            return held
        task = self._start_probe(name)
        if held and age_s <= CACHE_MAX_AGE_S:
            return held
        await asyncio.wait((task,), timeout=TIMEOUT_S)
        if not task.done():
            since = f"for {int(age_s)} seconds" if held else "since the start"
            return HealthCheckResult(UNHEALTHY, f"{name} router is busy: no sample order was answered {since}", 0.0)
        return task.result()

    def _start_probe(self, name: str) -> asyncio.Task[HealthCheckResult]:
        """The sample that is being taken; one at a time."""
        task = self._probes.get(name)
        if task is None:
            task = self._probes[name] = asyncio.get_running_loop().create_task(self._probe(name))
            task.add_done_callback(partial(self._finish_probe, name))
        return task

    def _finish_probe(self, name: str, task: asyncio.Task[HealthCheckResult]) -> None:
        """A defect shows to whoever waits for the sample; where nobody does, the next one to ask will."""
        del self._probes[name]
        if not task.cancelled():
            task.exception()

    async def _probe(self, name: str) -> HealthCheckResult:
        status, message = await self._solver.run(lambda _: _check_health(self._registry, name), is_urgent=True)
        sample = self._results[name] = HealthCheckResult(status, message, self._registry.clock.monotonic_s())
        return sample

    def close(self) -> None:
        """Gives up the samples that are being taken."""
        for task in self._probes.values():
            task.cancel()


def _describe_block(state_source: StateSource) -> str:
    """Of what state the answers are, where it was read from a node."""
    if state_source.provenance is not Provenance.SYNCED or state_source.age_s is None:
        return ""
    return f", block {state_source.block}, {state_source.age_s} s old"


def _check_health(registry: MarketRegistry, name: str) -> tuple[int, str]:
    try:
        health = registry.fresh_source(name).health()
    except MarketUnavailable as error:
        return UNHEALTHY, error.message
    return health.status, health.message
