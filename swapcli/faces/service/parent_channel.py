"""The connection between a worker process and its parent.

The parent forwards signals as messages, because a manager of services may also signal the workers themselves. When one
side ends, the other reads the end of the connection.
"""

from __future__ import annotations

import socket
from enum import Enum


class ParentMessage(Enum):
    """A message of a parent to a worker."""

    RELOAD = b"R"
    STOP = b"S"
    STOP_NOW = b"N"
    PARENT_ENDED = b""


_READY = b"!"


class ParentChannel:
    """The worker's end."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def fileno(self) -> int:
        """Return the file descriptor that is readable when there is a message."""
        return self._connection.fileno()

    def close(self) -> None:
        """Close this end."""
        self._connection.close()

    def report_ready(self) -> None:
        """Report to the parent that connections are accepted."""
        try:
            self._connection.send(_READY)
        except OSError:
            return  # the parent has ended, which the next message says

    def receive(self) -> list[ParentMessage]:
        """Wait for messages, and return them."""
        try:
            received = self._connection.recv(256)
        except OSError:
            received = b""
        if not received:
            return [ParentMessage.PARENT_ENDED]
        return [ParentMessage(received[index : index + 1]) for index in range(len(received))]


class WorkerChannel:
    """The parent's end. It never blocks."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        connection.setblocking(False)

    def fileno(self) -> int:
        """Return the file descriptor that is readable when the worker is ready, or has ended."""
        return self._connection.fileno()

    def send(self, message: ParentMessage) -> None:
        """Send a message. It is lost if the worker has ended, or reads none."""
        try:
            self._connection.send(message.value)
        except OSError:
            return

    def receive_ready(self) -> bool:
        """Read what the worker has sent; return whether it is ready, False at the end of the connection."""
        try:
            return self._connection.recv(16) == _READY
        except OSError:
            return False

    def close(self) -> None:
        """Close this end."""
        self._connection.close()


def open_channel() -> tuple[WorkerChannel, ParentChannel]:
    """Return both ends of a new connection."""
    parent, worker = socket.socketpair()
    return WorkerChannel(parent), ParentChannel(worker)
