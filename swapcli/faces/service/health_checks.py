"""Health checks that do not wait behind orders. The result of a sample order on each network is cached.

A cached result is returned until it is `CACHE_MAX_AGE_S` old. Then a new check runs first, ahead of all orders. If it
takes too long, the network is reported as unhealthy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

from swapcli.core.errors import MarketUnavailable
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.state_source import StateSource
from swapcli.core.records import NamedTuple
from swapcli.faces.service.error_responses import JsonResponse
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.quote_headers import health_headers
from swapcli.faces.service.worker_group import GroupMember, describe_workers
from swapcli.faces.service.worker_thread import Worker
from swapcli.interface.health import UNHEALTHY, render_health_v1, render_health_v2
from swapcli.quoting.price_policy import PriceUse
from swapcli.state.rpc.head_source import FollowMode

CACHE_FRESH_S = 2.0
"""Up to this age, a cached result is returned unchanged. An older one is returned while a new check runs."""
CACHE_MAX_AGE_S = 10.0
TIMEOUT_S = 2.0


class HealthCheckResult(NamedTuple):
    """The result of a network's check, and its time in seconds on the registry's monotonic clock."""

    status: int
    message: str
    checked_at_s: float


class HealthMonitor:
    """The last result for each network. `modes` returns how new blocks of followed networks are found. `member` is this
    process's place in a group of workers."""

    def __init__(
        self,
        registry: MarketRegistry,
        worker: Worker,
        modes: Callable[[], Mapping[str, FollowMode]] = dict,
        member: GroupMember | None = None,
    ) -> None:
        self._registry, self._modes, self._member = registry, modes, member
        self._worker = worker
        self._results: dict[str, HealthCheckResult] = {}
        self._probes: dict[str, asyncio.Task[HealthCheckResult]] = {}

    async def check(self, network: Network, api_version: ApiVersion) -> JsonResponse:
        """Return the response to a health check. Its HTTP status equals the status in the body.

        The body is the one in the published API, so the state is described in a header.
        """
        status, message = await self._status(network.name)
        source = self._registry.sources.get(network.name)
        headers = health_headers(source.state_source) if source else ()
        if api_version is ApiVersion.V2:
            return JsonResponse(
                status, render_health_v2(status, message, self._registry.network_time_ms(network.name)), headers
            )
        return JsonResponse(status, render_health_v1(status, message), headers)

    async def _status(self, name: str) -> tuple[int, str]:
        """Return the current status. Missing, old or unreal markets are reported without a sample order."""
        source = self._registry.sources.get(name)
        try:
            if source:
                self._registry.check_quotable(source, PriceUse.NUMBER)
            elif self._registry.is_followed(name) and not self._registry.has_opener(name):
                self._registry.open_source(name)
        except MarketUnavailable as error:
            return UNHEALTHY, error.message
        result = await self._recent_result(name)
        block = _describe_block(source.state_source, self._modes().get(name)) if source else ""
        return result.status, result.message + block + describe_workers(self._member)

    async def _recent_result(self, name: str) -> HealthCheckResult:
        """Return a result at most `CACHE_MAX_AGE_S` old. One older than `CACHE_FRESH_S` is renewed in the
        background."""
        cached = self._results.get(name)
        age_s = self._registry.clock.monotonic_s() - cached.checked_at_s if cached else CACHE_MAX_AGE_S + 1
        if cached and age_s <= CACHE_FRESH_S:
            return cached
        task = self._start_probe(name)
        if cached and age_s <= CACHE_MAX_AGE_S:
            return cached
        await asyncio.wait((task,), timeout=TIMEOUT_S)
        if not task.done():
            since = f"for {int(age_s)} seconds" if cached else "since the start"
            return HealthCheckResult(UNHEALTHY, f"{name} router is busy: no sample order was quoted {since}", 0.0)
        return task.result()

    def _start_probe(self, name: str) -> asyncio.Task[HealthCheckResult]:
        """Return a network's running check, which is started if there is none."""
        task = self._probes.get(name)
        if task is None:
            task = self._probes[name] = asyncio.get_running_loop().create_task(self._probe(name))
            task.add_done_callback(partial(self._finish_probe, name))
        return task

    def _finish_probe(self, name: str, task: asyncio.Task[HealthCheckResult]) -> None:
        """Retrieve the error of a check for which no request waits; the next request runs the check again."""
        del self._probes[name]
        if not task.cancelled():
            task.exception()

    async def _probe(self, name: str) -> HealthCheckResult:
        status, message = await self._worker.run(lambda _: _check_health(self._registry, name), is_urgent=True)
        result = self._results[name] = HealthCheckResult(status, message, self._registry.clock.monotonic_s())
        return result

    def close(self) -> None:
        """Cancel running checks."""
        for task in self._probes.values():
            task.cancel()


def _describe_block(state_source: StateSource, mode: FollowMode | None) -> str:
    """Describe the block of state read from a node, and how it is followed; empty for other state."""
    if state_source.provenance is not Provenance.SYNCED or state_source.age_s is None:
        return ""
    followed = f", followed by {mode}" if mode else ""
    return f", block {state_source.block}, {state_source.age_s} s old{followed}"


def _check_health(registry: MarketRegistry, name: str) -> tuple[int, str]:
    try:
        health = registry.fresh_source(name, PriceUse.NUMBER).health()
    except MarketUnavailable as error:
        return UNHEALTHY, error.message
    return health.status, health.message
