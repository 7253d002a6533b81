"""Checks of answers that ask a node: beside orders, in bounded time, and never in the way of whoever could be served.

A node that does not answer in time has no objection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from swapcli.chain.node import StateOverrideNode
from swapcli.errors import Overloaded, UpstreamError
from swapcli.service.error_responses import Headers
from swapcli.service.worker import Worker

TIMEOUT_S = 2.0
MAX_WAITING = 8
"""Checks of one network that may wait; what comes beyond is not checked."""

Check = Callable[[StateOverrideNode], object]
"""Asks a node, and raises what is wrong."""


class EndpointResponse(NamedTuple):
    """What an endpoint answers: its document, headers of its own, and what is still to be checked before it is sent."""

    document: object
    headers: Headers = ()
    check: Check | None = None


class BalanceChecker:
    """Runs checks, each network's in a thread of its own. `nodes` by network are used by nobody else."""

    def __init__(self, nodes: Mapping[str, StateOverrideNode]) -> None:
        self._nodes = nodes
        self._threads = {name: Worker(MAX_WAITING) for name in nodes}

    async def run(self, name: str, check: Check) -> None:
        """Raises what the check finds wrong; where the network has no node, that is nothing."""
        if name not in self._nodes:
            return
        with suppress(UpstreamError, Overloaded, TimeoutError):
            async with asyncio.timeout(TIMEOUT_S):
                await self._threads[name].run(lambda _: check(self._nodes[name]))

    def close(self) -> None:
        """Ends the threads after the checks at hand."""
        for thread in self._threads.values():
            thread.close()
