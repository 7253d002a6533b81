"""Timeouts for slow clients: idle connections and slow uploads are closed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from swapcli.faces.service.request_io import BodyTooSlow

if TYPE_CHECKING:
    from starlette.types import Message, Receive


def with_body_timeout(receive: Receive, timeout_s: float) -> Receive:
    """Return a `receive` that raises `BodyTooSlow` if the body does not arrive in time."""
    deadline_s = asyncio.get_running_loop().time() + timeout_s
    is_complete = False

    async def receive_with_timeout() -> Message:
        nonlocal is_complete
        if is_complete:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline_s):
                message = await receive()
        except TimeoutError:
            raise BodyTooSlow from None
        is_complete = not message.get("more_body", False)
        return message

    return receive_with_timeout


class Cycle(Protocol):
    """A request and its response, as uvicorn models them."""

    @property
    def response_complete(self) -> bool:
        """Whether the whole response has been sent."""


class Connection(Protocol):
    """A connection, as uvicorn models it."""

    @property
    def cycle(self) -> Cycle | None:
        """The newest request; None before the first."""

    @property
    def transport(self) -> asyncio.BaseTransport:
        """The transport of the connection."""

    @property
    def timeout_keep_alive_task(self) -> asyncio.TimerHandle | None:
        """The timer that closes the connection; None unless it waits, without a byte so far, for another request."""


class IdleReaper:
    """Closes connections without a complete request head in time, counted from the first byte of a later request.

    Uvicorn does neither: its timer, that of `keep_alive_s`, ends with the first byte, and begins with a response only.
    """

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._waiting: dict[Connection, tuple[Cycle | None, float]] = {}

    def close_idle(self, connections: Iterable[Connection], now_s: float) -> None:
        """Close idle connections. Call this periodically with all open connections."""
        previous, self._waiting = self._waiting, {}
        for connection in connections:
            cycle = connection.cycle
            if cycle and (not cycle.response_complete or connection.timeout_keep_alive_task is not None):
                continue
            last, since_s = previous.get(connection, (cycle, now_s))
            since_s = since_s if last is cycle else now_s
            self._waiting[connection] = cycle, since_s
            if now_s - since_s > self.timeout_s:
                # Uvicorn's own protocols have no answer for this.
                close = getattr(connection, "end_slow_head", connection.transport.close)
                close()
