"""Write log lines in the thread of a `QueueListener`, so that a slow reader of the log does not block the service.

The queue is bounded, and lines are dropped when it is full. The buffers of `sys.stderr` are bypassed, because a thread
blocked in a write must not hold a lock that the interpreter needs at exit.
"""

from __future__ import annotations

import io
import json
import logging
import os
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import QueueHandler, QueueListener
from queue import SimpleQueue
from threading import Event
from typing import Protocol, TextIO

MAX_LINES = 20_000
"""Maximum number of queued lines: about 4 MB, or several seconds of a busy service."""
DRAIN_TIMEOUT_S = 1.0
"""Time at the end of the process after which lines that the reader has not accepted are dropped."""

_GATHER_S = 0.02
"""Lines within this time are written together. Waking the thread for each line would slow every request down and
interrupt the running search. No reader of a log notices the delay."""
_BATCH_LINES = 500
RETRY_S = 1.0
"""Pause after a failed write, for example to a full disk, until the next attempt. Lines in between are dropped."""


class LogStream(Protocol):
    """A destination for log lines. It raises `OSError` or `ValueError` if it cannot accept a line."""

    def write(self, text: str, /) -> object:
        """Write a line."""


@contextmanager
def log_stream(stream: TextIO | None) -> Iterator[LogStream]:
    """Provide a stream that never blocks and writes to the file of `stream`. Without a stream, lines are discarded.

    Other processes may write to the same file without mixing their lines with these. A stream without a file is used
    directly. Library warnings are logged too, without their messages.
    """
    try:
        descriptor = None if stream is None else stream.fileno()
    except (OSError, ValueError):
        descriptor = None
    if descriptor is None:
        yield stream or io.StringIO()
        return
    lines, logger = LineQueue(), logging.getLogger()
    listener = _LineListener(lines, descriptor)
    logger.addHandler(lines)
    listener.start()
    try:
        yield lines
    finally:
        logger.removeHandler(lines)
        listener.stop()


class UnqueuedLog:
    """A stream without a thread, for a process that forks others. `write` never blocks: it raises `BlockingIOError`
    instead."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        """Write a line at once. A line is short enough for a pipe that is ready for writing."""
        descriptor = self._stream.fileno()
        if not select.select([], [descriptor], [], 0)[1]:
            raise BlockingIOError("the reader of the log is slow")
        os.write(descriptor, text.encode(errors="replace")[: select.PIPE_BUF])


class LineQueue(QueueHandler):
    """The queue of log lines. As a logging handler, it records only where a library warning comes from, because
    messages may contain client data. Without a handler, Python would write the messages to stderr itself, and could
    block."""

    queue: SimpleQueue[str | None]

    def __init__(self) -> None:
        super().__init__(SimpleQueue())
        self.setLevel(logging.WARNING)
        self.failure: OSError | None = None
        self.retry_s = 0.0

    def write(self, line: str) -> None:
        """Queue a line. Raises `BlockingIOError` if the queue is full, and `OSError` while the file cannot be
        written."""
        if self.failure is not None and time.monotonic() < self.retry_s:
            raise self.failure
        if self.queue.qsize() >= MAX_LINES:
            raise BlockingIOError("the log's queue is full")
        self.queue.put(line)

    enqueue = write  # type: ignore[assignment]  # what `prepare` returns

    def prepare(self, record: logging.LogRecord) -> str:
        kind = record.exc_info[0] if record.exc_info else None
        level, error = record.levelname.lower(), kind.__qualname__ if kind else None
        fields = {"logger": record.name, "level": level, "error": error}
        return json.dumps(fields) + "\n"

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Drop a line that failed."""


class _LineListener(QueueListener):
    """Writes the lines in a queue in as few writes as a pipe accepts without mixing them with other processes'
    lines."""

    queue: SimpleQueue[str | None]

    def __init__(self, lines: LineQueue, descriptor: int) -> None:
        super().__init__(lines.queue)
        # A duplicate, because the thread may still write after the caller has closed the original.
        self._lines, self._descriptor = lines, os.dup(descriptor)
        self._stopping, self._ended = Event(), Event()

    def stop(self) -> None:
        """Stop the thread after the lines that the reader accepts within `DRAIN_TIMEOUT_S`."""
        self._stopping.set()
        self.enqueue_sentinel()
        if self._ended.wait(DRAIN_TIMEOUT_S):
            os.close(self._descriptor)

    def dequeue(self, block: bool) -> str | None:  # type: ignore[override]
        line = self.queue.get(block)
        if line is None:
            self._ended.set()
        return line

    def handle(self, line: str) -> None:  # type: ignore[override]
        """Write a line together with those that soon follow it."""
        if self.queue.qsize() < _BATCH_LINES:
            self._stopping.wait(_GATHER_S)
        chunk = line.encode(errors="replace")
        try:
            for _ in range(min(_BATCH_LINES, self.queue.qsize())):
                following = self.queue.get()
                if following is None:
                    self.enqueue_sentinel()  # for the loop of the thread
                    break
                encoded = following.encode(errors="replace")
                if len(chunk) + len(encoded) > select.PIPE_BUF:
                    self._write(chunk)
                    chunk = b""
                chunk += encoded
            self._write(chunk)
        except OSError as error:
            self._lines.failure, self._lines.retry_s = error, time.monotonic() + RETRY_S

    def _write(self, chunk: bytes) -> None:
        """Write everything. Waits even if another process made the descriptor non-blocking."""
        while chunk:
            try:
                chunk = chunk[os.write(self._descriptor, chunk) :]
            except BlockingIOError:
                time.sleep(_GATHER_S)
