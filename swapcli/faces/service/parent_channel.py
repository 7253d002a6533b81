"""The connection between a worker process and its parent.

The parent forwards signals as messages, because a service manager may also signal the workers directly. If one side
ends, the other reads the end of the connection.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from enum import Enum


class ParentMessage(Enum):
    """A message from a parent to a worker."""

    RELOAD = b"R"
    STOP = b"S"
    STOP_NOW = b"N"
    PARENT_ENDED = b""


_READY = b"!"


class ParentChannel:
    """The worker's end of the connection. It is readable when there is a message."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self.fileno, self.close = connection, connection.fileno, connection.close

    def report_ready(self) -> None:
        """Report to the parent that the worker accepts connections."""
        with suppress(OSError):  # the parent has ended, which the next message says
            self._connection.send(_READY)

    def receive(self) -> list[ParentMessage]:
        """Wait for messages from the parent, and return them."""
        try:
            received = self._connection.recv(256)
        except OSError:
            received = b""
        return [ParentMessage(bytes([each])) for each in received] or [ParentMessage.PARENT_ENDED]


class WorkerChannel:
    """The parent's end of the connection. It never blocks, and is readable when the worker is ready or has ended."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self.fileno, self.close = connection, connection.fileno, connection.close
        connection.setblocking(False)

    def send(self, message: ParentMessage) -> None:
        """Send a message. The message is lost if the worker has exited or is not reading."""
        with suppress(OSError):
            self._connection.send(message.value)

    def receive_ready(self) -> bool:
        """Read the worker's messages. Return whether it is ready, or False at the end of the connection."""
        try:
            return self._connection.recv(16) == _READY
        except OSError:
            return False


def open_channel() -> tuple[WorkerChannel, ParentChannel]:
    """Return the two ends of a new connection."""
    parent, worker = socket.socketpair()
    return WorkerChannel(parent), ParentChannel(worker)
