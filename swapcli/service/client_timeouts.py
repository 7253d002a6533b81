"""Clients that take their time: what they hold open while they send nothing, or little, has an end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from swapcli.service.request_context import BodyTooSlow

if TYPE_CHECKING:
    from starlette.types import Message, Receive


def with_body_timeout(receive: Receive, timeout_s: float) -> Receive:
    """Receives a body that is sent in time, else raises `BodyTooSlow`."""
    until_s = asyncio.get_running_loop().time() + timeout_s
    is_whole = False

    async def receive_prompt() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        try:
            async with asyncio.timeout_at(until_s):
                message = await receive()
        except TimeoutError:
            raise BodyTooSlow from None
        is_whole = not message.get("more_body", False)
        return message

    return receive_prompt


class Cycle(Protocol):
    """A request with its answer, as uvicorn has it."""

    @property
    def response_complete(self) -> bool:
        """Has all of the answer been given?"""


class Connection(Protocol):
    """A connection, as uvicorn has it."""

    @property
    def cycle(self) -> Cycle | None:
        """Its newest request, None before the first."""

    @property
    def transport(self) -> asyncio.BaseTransport:
        """What it sends and receives by."""


class IdleReaper:
    """Closes connections on which nobody sends a whole head, as uvicorn does only where not a byte of it is sent."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._waiting: dict[Connection, tuple[Cycle | None, float]] = {}

    def close_idle(self, connections: Iterable[Connection], now_s: float) -> None:
        """To be called every now and then with all that are open."""
        before, self._waiting = self._waiting, {}
        for connection in connections:
            cycle = connection.cycle
            if cycle and not cycle.response_complete:
                continue
            last, since_s = before.get(connection, (cycle, now_s))
            since_s = since_s if last is cycle else now_s
            self._waiting[connection] = cycle, since_s
            if now_s - since_s > self.timeout_s:
                connection.transport.close()
