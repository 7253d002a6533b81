"""Writes lines to a file descriptor in a thread of its own, so that a reader who stops reading stops nobody else.

The queue is bounded; a line that finds it full is dropped. Lines go past the buffers of `sys.stderr`: a thread that
stands in the middle of a write must not hold a lock that the interpreter wants when it ends.
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

MAX_BYTES = 4 * 2**20
"""How much may wait: some 20,000 lines, several seconds of a busy service."""
DRAIN_TIMEOUT_S = 1.0
"""How long the reader may take nothing before the rest is given up at the end."""

_CHUNK_BYTES = 65_536


class LogStream(Protocol):
    """What lines are written to. It raises `OSError` or `ValueError` for what it cannot take."""

    def write(self, text: str, /) -> object:
        """Take a line."""

    def flush(self) -> object:
        """Let the lines be read."""


@contextmanager
def log_stream(stream: TextIO | None) -> Iterator[LogStream]:
    """Provide a stream that writes to where `stream` does, and never blocks: nowhere if there is no `stream`.

    A stream without a file is used as it is. What the libraries log goes there as well, reduced to what went wrong.
    """
    try:
        descriptor = None if stream is None else stream.fileno()
    except (OSError, ValueError):
        descriptor = None
    if descriptor is None:
        yield stream or io.StringIO()
        return
    writer, logger = LogWriter(descriptor), logging.getLogger()
    handler = _LibraryHandler(writer)
    logger.addHandler(handler)
    try:
        yield writer
    finally:
        logger.removeHandler(handler)
        writer.close()


class _LibraryHandler(logging.Handler):
    """Without it Python would write warnings of libraries to stderr itself, and block. Messages may hold what a client
    sent, so only their origin is written."""

    def __init__(self, writer: LogWriter) -> None:
        super().__init__(logging.WARNING)
        self._writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0] if record.exc_info else None
        fields = {"logger": record.name, "level": record.levelname, "error": kind.__qualname__ if kind else None}
        with suppress(OSError):
            self._writer.write(json.dumps(fields) + "\n")


class LogWriter:
    """A text stream, as far as a log needs one. `write` never blocks; it raises `BlockingIOError` where the queue is
    full and `OSError` where nobody can read any more."""

    def __init__(self, descriptor: int, *, max_bytes: int = MAX_BYTES) -> None:
        # One of our own: the thread may still write after the caller closed theirs.
        self._descriptor = os.dup(descriptor)
        self._max_bytes = max_bytes
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
            self._waiting.append(line)
            self._bytes += len(line)
            self._changed.notify_all()

    def flush(self) -> None:
        """Do nothing: lines are written as soon as they can be."""

    def close(self) -> None:
        """Write what waits, as long as somebody reads it, and end the thread if it can be ended."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        written, until_s = -1, 0.0
        while self._thread.is_alive():
            if self._written != written:
                written, until_s = self._written, time.monotonic() + DRAIN_TIMEOUT_S
            left_s = until_s - time.monotonic()
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
        """Return how many bytes were written. Waits, also where another process made the descriptor non-blocking."""
        try:
            count = os.write(self._descriptor, chunk)
        except BlockingIOError:
            select.select([], [self._descriptor], [])
            count = 0
        self._written += count
        return count

    def _next_chunk(self) -> bytes:
        """Wait for lines and return some, whole ones; nothing once all are written and no more will come."""
        with self._changed:
            while not self._waiting and not self._is_closing:
                self._changed.wait()
            lines: list[bytes] = []
            size = 0
            while self._waiting and size < _CHUNK_BYTES:
                lines.append(self._waiting.popleft())
                size += len(lines[-1])
            self._bytes -= size
            return b"".join(lines)
