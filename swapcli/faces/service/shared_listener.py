"""Accept connections on one listening socket in several processes, and share them about evenly.

The system wakes all processes for each connection, so a fast one could take all connections. A worker with more
connections than another briefly leaves a new connection to the others.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

from swapcli.faces.service.worker_group import GroupMember

YIELD_S = 0.005
"""Time in which a worker with fewer connections may accept a connection first. A busy worker accepts it within a few
milliseconds, between two quotes."""
OUT_OF_FILES_PAUSE_S = 0.5


class SharedListener:
    """A listener that accepts connections in one worker. `count` returns the number of the worker's open
    connections."""

    def __init__(
        self,
        listener: socket.socket,
        member: GroupMember,
        create_protocol: Callable[[], asyncio.Protocol],
        count: Callable[[], int],
    ) -> None:
        self._listener, self._create_protocol, self._count = listener, create_protocol, count
        self._connections, self._slot = member.group.connections, member.slot
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[object]] = set()
        self._is_open = False
        listener.setblocking(False)

    def open(self) -> None:
        """Accept connections from now on."""
        self._is_open = True
        self._connections.set(self._slot, 0)
        self._loop.add_reader(self._listener.fileno(), self._accept_in_turn)

    def close(self) -> None:
        """Accept no further connections."""
        if self._is_open:
            self._is_open = False
            self._connections.clear(self._slot)
            self._loop.remove_reader(self._listener.fileno())
            self._listener.close()

    def report_count(self) -> int:
        """Publish the number of open connections to the other workers, and return it."""
        count = self._count() + len(self._opening)
        if self._is_open:
            self._connections.set(self._slot, count)
        return count

    def _accept_in_turn(self) -> None:
        if self.report_count() > self._connections.minimum_of_others(self._slot):
            self._pause(YIELD_S)
        else:
            self._accept()

    def _pause(self, pause_s: float) -> None:
        self._loop.remove_reader(self._listener.fileno())
        self._loop.call_later(pause_s, self._resume)

    def _resume(self) -> None:
        if self._is_open:
            self._loop.add_reader(self._listener.fileno(), self._accept_in_turn)
            self._accept()

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # another worker was faster, or the client is gone
        except OSError:  # no file descriptors are left
            self._pause(OUT_OF_FILES_PAUSE_S)
            return
        connection.setblocking(False)
        task = self._loop.create_task(self._open_connection(connection))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)
        self.report_count()

    async def _open_connection(self, connection: socket.socket) -> None:
        with suppress(OSError):  # the client is gone
            await self._loop.connect_accepted_socket(self._create_protocol, connection)
