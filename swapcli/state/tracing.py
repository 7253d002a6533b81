"""Distributed tracing as in W3C Trace Context. A trace connects a client's request with the requests to nodes and
servers that it causes.

The current trace is carried through asyncio tasks and worker threads, which copy the context.
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
"""Spans of one request: a stream has several at each block, for an hour."""

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_ZERO = re.compile("0*")


class TimedSpan(NamedTuple):
    """A finished part of a request's work. Times are in Unix nanoseconds."""

    name: str
    start_ns: int
    end_ns: int
    is_failed: bool = False


class Trace:
    """One request, which is a span in a trace. `parent_id` is the caller's span, empty if there is none. `spans`, if
    requested, are the parts of the work, at most `MAX_SPANS`."""

    __slots__ = ("flags", "parent_id", "span_id", "spans", "trace_id")

    def __init__(self, trace_id: str, parent_id: str = "", flags: str = "00") -> None:
        self.trace_id, self.parent_id, self.flags = trace_id, parent_id, flags
        self.span_id = secrets.token_hex(8)
        self.spans: list[TimedSpan] | None = None

    @property
    def traceparent(self) -> str:
        """The `traceparent` header for requests that are sent on behalf of this request."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"

    def add(self, name: str, start_ns: int, end_ns: int, *, is_failed: bool = False) -> None:
        """Add a finished part of the work, if parts are requested."""
        if self.spans is not None and len(self.spans) < MAX_SPANS:
            self.spans.append(TimedSpan(name, start_ns, end_ns, is_failed))


current_trace: ContextVar[Trace | None] = ContextVar("current_trace", default=None)
"""The trace of the request for which the current task or job works; None for the service's own work."""


@contextmanager
def span(name: str) -> Iterator[None]:
    """Time the context, and add it to the current trace, if any. The part counts as failed if the context raises an
    error."""
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
    """Return a new span in the trace named by a request's `traceparent` headers.

    Return None unless there is exactly one header, and it is valid. In later versions of the format, only the part
    defined by version 00 is read.
    """
    match = _TRACEPARENT.fullmatch(values[0].strip(" \t")) if len(values) == 1 else None
    if match is None:
        return None
    version, trace_id, parent_id, flags, rest = match.groups()
    if version == "ff" or (version == "00" and rest) or _ZERO.fullmatch(trace_id) or _ZERO.fullmatch(parent_id):
        return None
    # Of the flags, only "sampled" has a known meaning.
    return Trace(trace_id, parent_id, f"{int(flags, 16) & 1:02x}")
