"""Write lines to a file descriptor in a separate thread, so that a slow reader of the log does not block the service.

The queue is bounded; lines are dropped when it is full. The buffers of `sys.stderr` are bypassed: a thread blocked in a
write must not hold a lock that the interpreter needs at exit.
"""

from __future__ import annotations

import io
import json
import logging
import os
import select
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Condition, Thread
from typing import Protocol, TextIO

from swapcli.faces.service.readiness import wait_until_writable

MAX_BYTES = 4 * 2**20
"""Maximum size of the queue: about 20,000 lines, several seconds of a busy service."""
DRAIN_TIMEOUT_S = 1.0
"""At the end, the rest of the queue is dropped when the reader accepts nothing for this time."""

_GATHER_S = 0.02
"""Lines of this time are written together: to wake the thread for each one takes a part of every request, and stops the
search that runs. Nobody who reads a log notices the delay."""
_CHUNK_BYTES = 65_536
_SHARED_CHUNK_BYTES = select.PIPE_BUF
"""Writes to a pipe up to this size are not mixed with those of other processes."""


class LogStream(Protocol):
    """A destination of lines. It raises `OSError` or `ValueError` for lines that it cannot accept."""

    def write(self, text: str, /) -> object:
        """Write a line."""

    def flush(self) -> object:
        """Make the lines visible to readers."""


@contextmanager
def log_stream(stream: TextIO | None, *, is_shared: bool = False) -> Iterator[LogStream]:
    """Provide a stream that writes to the file of `stream` and never blocks. Without a stream, lines are discarded.

    `is_shared` says that other processes write to the same file.

    A stream without a file is used as it is. Warnings of libraries are logged too, without their messages.
    """
    try:
        descriptor = None if stream is None else stream.fileno()
    except (OSError, ValueError):
        descriptor = None
    if descriptor is None:
        yield stream or io.StringIO()
        return
    writer, logger = LogWriter(descriptor, is_shared=is_shared), logging.getLogger()
    handler = _LibraryHandler(writer)
    logger.addHandler(handler)
    try:
        yield writer
    finally:
        logger.removeHandler(handler)
        writer.close()


class UnqueuedLog:
    """A stream without a thread, for a process that forks others. `write` never blocks: it raises `BlockingIOError`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        """Write a line at once. It is short enough for a pipe that can be written to."""
        descriptor = self._stream.fileno()
        if not select.select([], [descriptor], [], 0)[1]:
            raise BlockingIOError("the reader of the log is slow")
        os.write(descriptor, text.encode(errors="replace")[: select.PIPE_BUF])

    def flush(self) -> None:
        """Do nothing: lines have been written."""


class _LibraryHandler(logging.Handler):
    """Logs the origin of library warnings; their messages may contain client data.

    Without this handler Python writes them to stderr itself, and blocks.
    """

    def __init__(self, writer: LogWriter) -> None:
        super().__init__(logging.WARNING)
        self._writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0] if record.exc_info else None
        fields = {"logger": record.name, "level": record.levelname, "error": kind.__qualname__ if kind else None}
        with suppress(OSError):
            self._writer.write(json.dumps(fields) + "\n")


class LogWriter:
    """A text stream for a log. `write` never blocks.

    It raises `BlockingIOError` if the queue is full, and `OSError` once the file cannot be written any more.
    """

    def __init__(self, descriptor: int, *, max_bytes: int = MAX_BYTES, is_shared: bool = False) -> None:
        # A duplicate, since the thread may still write after the caller has closed the original.
        self._descriptor = os.dup(descriptor)
        self._max_bytes = max_bytes
        self._chunk_bytes = _SHARED_CHUNK_BYTES if is_shared else _CHUNK_BYTES
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._written = 0
        self._failure: OSError | None = None
        self._is_closing = False
        self._changed = Condition()
        self._thread = Thread(target=self._work, name="log writer", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Queue a line."""
        line = text.encode(errors="replace")
        with self._changed:
            if self._failure is not None:
                raise self._failure
            if self._bytes + len(line) > self._max_bytes:
                raise BlockingIOError("the log's queue is full")
            is_first = not self._waiting
            self._waiting.append(line)
            self._bytes += len(line)
            if is_first or self._bytes >= self._chunk_bytes:
                self._changed.notify_all()

    def flush(self) -> None:
        """Do nothing: lines are written soon."""

    def close(self) -> None:
        """Write the rest of the queue while the reader accepts it, then end the thread."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        written, deadline_s = -1, 0.0
        while self._thread.is_alive():
            if self._written != written:
                written, deadline_s = self._written, time.monotonic() + DRAIN_TIMEOUT_S
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                break
            self._thread.join(left_s)

    def _work(self) -> None:
        try:
            while chunk := self._next_chunk():
                while chunk:
                    chunk = chunk[self._write_some(chunk) :]
        except OSError as error:
            with self._changed:
                self._failure = error
                self._waiting.clear()
        finally:
            os.close(self._descriptor)

    def _write_some(self, chunk: bytes) -> int:
        """Return the number of bytes written. Waits even if another process made the descriptor non-blocking."""
        try:
            count = os.write(self._descriptor, chunk)
        except BlockingIOError:
            wait_until_writable(self._descriptor)
            count = 0
        self._written += count
        return count

    def _next_chunk(self) -> bytes:
        """Wait for lines and return some, complete ones; return b"" at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closing)
            self._changed.wait_for(lambda: self._bytes >= self._chunk_bytes or self._is_closing, _GATHER_S)
            lines: list[bytes] = []
            size = 0
            while self._waiting and (not size or size + len(self._waiting[0]) <= self._chunk_bytes):
                lines.append(self._waiting.popleft())
                size += len(lines[-1])
            self._bytes -= size
            return b"".join(lines)
