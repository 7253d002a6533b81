"""The trace that a piece of work belongs to, in the terms of W3C Trace Context: a client's request, and the
requests to nodes and servers that it causes.

A trace follows its request through asyncio tasks and the jobs of worker threads, which copy the context.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from swapcli.core.records import NamedTuple

MAX_SPANS = 64
"""Spans of one request: a stream has some at each block, for an hour."""

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_ZERO = re.compile("0*")


class TimedSpan(NamedTuple):
    """A part of the work that has ended. Times are Unix nanoseconds."""

    name: str
    start_ns: int
    end_ns: int
    is_failed: bool = False


class Trace:
    """A request as one span of a trace. `parent_id` is the caller's span, "" without one; `spans`, if any are wanted,
    are the parts of the work, the first `MAX_SPANS` of them."""

    __slots__ = ("flags", "parent_id", "span_id", "spans", "trace_id")

    def __init__(self, trace_id: str, parent_id: str = "", flags: str = "00") -> None:
        self.trace_id, self.parent_id, self.flags = trace_id, parent_id, flags
        self.span_id = secrets.token_hex(8)
        self.spans: list[TimedSpan] | None = None

    @property
    def traceparent(self) -> str:
        """The header for requests that are sent on behalf of this one."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"

    def add(self, name: str, start_ns: int, end_ns: int, *, is_failed: bool = False) -> None:
        """Add a part that has ended, if parts are wanted."""
        if self.spans is not None and len(self.spans) < MAX_SPANS:
            self.spans.append(TimedSpan(name, start_ns, end_ns, is_failed))


current_trace: ContextVar[Trace | None] = ContextVar("current_trace", default=None)
"""The trace of the request that the current task or job works for; None for the service's own work."""


@contextmanager
def span(name: str) -> Iterator[None]:
    """Add the time of a block to the current trace, if there is one; the block has failed if it raises."""
    trace = current_trace.get()
    if trace is None or trace.spans is None:
        yield
        return
    start_ns, is_failed = time.time_ns(), True
    try:
        yield
        is_failed = False
    finally:
        trace.add(name, start_ns, time.time_ns(), is_failed=is_failed)


def parse_traceparent(values: Sequence[str]) -> Trace | None:
    """Return a new span of the trace that the `traceparent` headers of a request name.

    None unless there is exactly one, and it is valid. Of later versions of the format, the part of version 00 is read.
    """
    match = _TRACEPARENT.fullmatch(values[0].strip(" \t")) if len(values) == 1 else None
    if match is None:
        return None
    version, trace_id, parent_id, flags, rest = match.groups()
    if version == "ff" or (version == "00" and rest) or _ZERO.fullmatch(trace_id) or _ZERO.fullmatch(parent_id):
        return None
    # Of the flags, only "sampled" has a meaning that we know.
    return Trace(trace_id, parent_id, f"{int(flags, 16) & 1:02x}")
