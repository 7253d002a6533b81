"""Health that does not wait behind orders: a sample of each network, taken anew before it grows old.

A sample is told while it is at most `GOOD_S` old; one that is older is replaced first, ahead of all orders. Where even
that takes too long, the network is told to be unwell, which it is.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import NamedTuple

from swapcli.api.health import render_health_v1, render_health_v2
from swapcli.api.slippage import Generation
from swapcli.engine.health import UNHEALTHY
from swapcli.engine.quote import Origin
from swapcli.errors import MarketUnavailable
from swapcli.model.market import Provenance
from swapcli.model.network import Network
from swapcli.service.error_responses import Reply
from swapcli.service.market_registry import Desk
from swapcli.service.worker import Solver

FRESH_S = 2.0
"""Up to this age a sample is told and left alone; older ones are told while a new one is taken."""
GOOD_S = 10.0
PATIENCE_S = 2.0


class Sampled(NamedTuple):
    """What a check of a network found, and when (in seconds of the desk's timer)."""

    status: int
    message: str
    at_s: float


class HealthDesk:
    """The last sample of each network."""

    def __init__(self, desk: Desk, solver: Solver) -> None:
        self._desk = desk
        self._solver = solver
        self._samples: dict[str, Sampled] = {}
        self._sampling: dict[str, asyncio.Task[Sampled]] = {}

    async def check(self, network: Network, generation: Generation) -> Reply:
        """The answer of a health check; its status is also what the body says."""
        status, message = await self._state(network.name)
        if generation is Generation.V2:
            return Reply(status, render_health_v2(status, message, self._desk.now_ms()))
        return Reply(status, render_health_v1(status, message))

    async def _state(self, name: str) -> tuple[int, str]:
        """What is known without a sample is told at once, and as it is now."""
        held = self._desk.loaded.get(name)
        try:
            if held:
                self._desk.check_age(held)
            elif self._desk.is_kept(name):
                self._desk.open(name)
        except MarketUnavailable as error:
            return UNHEALTHY, error.message
        sample = await self._sample(name)
        return sample.status, sample.message + (_moment(held.origin) if held else "")

    async def _sample(self, name: str) -> Sampled:
        held = self._samples.get(name)
        age_s = self._desk.clock.timer_s() - held.at_s if held else GOOD_S + 1
        if held and age_s <= FRESH_S:
            return held
        task = self._take(name)
        if held and age_s <= GOOD_S:
            return held
        await asyncio.wait((task,), timeout=PATIENCE_S)
        if not task.done():
            since = f"for {int(age_s)} seconds" if held else "since the start"
            return Sampled(UNHEALTHY, f"{name} router is busy: no sample order was answered {since}", 0.0)
        return task.result()

    def _take(self, name: str) -> asyncio.Task[Sampled]:
        """The sample that is being taken; one at a time."""
        task = self._sampling.get(name)
        if task is None:
            task = self._sampling[name] = asyncio.get_running_loop().create_task(self._look(name))
            task.add_done_callback(partial(self._taken, name))
        return task

    def _taken(self, name: str, task: asyncio.Task[Sampled]) -> None:
        """A defect shows to whoever waits for the sample; where nobody does, the next one to ask will."""
        del self._sampling[name]
        if not task.cancelled():
            task.exception()

    async def _look(self, name: str) -> Sampled:
        status, message = await self._solver.run(lambda _: _status(self._desk, name), is_urgent=True)
        sample = self._samples[name] = Sampled(status, message, self._desk.clock.timer_s())
        return sample

    def close(self) -> None:
        """Gives up the samples that are being taken."""
        for task in self._sampling.values():
            task.cancel()


def _moment(origin: Origin) -> str:
    """Of what state the answers are, where it was read from a node."""
    if origin.provenance is not Provenance.SYNCED or origin.age_s is None:
        return ""
    return f", block {origin.block}, {origin.age_s} s old"


def _status(desk: Desk, name: str) -> tuple[int, str]:
    try:
        health = desk.source(name).health()
    except MarketUnavailable as error:
        return UNHEALTHY, error.message
    return health.status, health.message
