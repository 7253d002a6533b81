"""Check on a node whether the sender can pay, before a response is sent.

Checks run concurrently with orders and in bounded time. A response is sent without the check if the node does not
respond in time or if too many checks are waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from swapcli.core.errors import Overloaded, UpstreamError
from swapcli.faces.service.endpoint_messages import NodeCheck
from swapcli.faces.service.worker_thread import Worker
from swapcli.state.rpc.node import StateOverrideNode

TIMEOUT_S = 2.0
MAX_WAITING = 8
"""Maximum number of waiting checks per network. Further responses are sent unchecked."""


class BalanceChecker:
    """A runner of balance checks, with one thread per network. Only these threads use `nodes`, which are keyed by
    network."""

    def __init__(self, nodes: Mapping[str, StateOverrideNode]) -> None:
        self._nodes = nodes
        self._workers = {name: Worker(MAX_WAITING) for name in nodes}

    async def run(self, network_name: str, check: NodeCheck) -> object:
        """Run a check, and return its result or raise its error. Return None on a network without a node, or if the
        node does not respond in time."""
        if network_name not in self._nodes:
            return None
        with suppress(UpstreamError, Overloaded, TimeoutError):
            async with asyncio.timeout(TIMEOUT_S):
                return await self._workers[network_name].run(lambda _: check(self._nodes[network_name]))
        return None

    def close(self) -> None:
        """End each thread after its current check."""
        for worker in self._workers.values():
            worker.close()
