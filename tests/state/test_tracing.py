"""The header `traceparent` as W3C Trace Context defines it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.state.tracing import current_trace, parse_traceparent, span

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def hexadecimal(length: int) -> st.SearchStrategy[str]:
    return st.text("0123456789abcdef", min_size=length, max_size=length).filter(lambda text: set(text) != {"0"})


@given(hexadecimal(32), hexadecimal(16), st.integers(0, 255))
def test_a_valid_header_is_continued(trace_id: str, parent_id: str, flags: int) -> None:
    trace = parse_traceparent([f"00-{trace_id}-{parent_id}-{flags:02x}"])
    assert trace is not None
    assert (trace.trace_id, trace.parent_id) == (trace_id, parent_id)
    version, passed_id, span_id, passed_flags = trace.traceparent.split("-")
    assert (version, passed_id, int(passed_flags, 16)) == ("00", trace_id, flags % 2)
    assert span_id == trace.span_id != parent_id
    assert parse_traceparent([trace.traceparent]) is not None


@pytest.mark.parametrize(
    "value", [f"01-{TRACE}-{PARENT}-01", f"cc-{TRACE}-{PARENT}-01-what-follows", f" 00-{TRACE}-{PARENT}-00 "]
)
def test_later_versions_and_spaces_around_it_are_valid(value: str) -> None:
    assert parse_traceparent([value]) is not None


@pytest.mark.parametrize(
    "value",
    [
        "",
        f"00-{TRACE}-{PARENT}",
        f"00-{TRACE}-{PARENT}-1",
        f"00-{TRACE}-{PARENT}-01-more",
        f"01-{TRACE}-{PARENT}-01more",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-0A",
        f"00-{TRACE[1:]}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01\n",
        f"0٠-{TRACE}-{PARENT}-01",
    ],
)
def test_anything_else_is_ignored(value: str) -> None:
    assert parse_traceparent([value]) is None


def test_a_header_that_was_sent_twice_is_ignored() -> None:
    assert parse_traceparent([]) is None
    assert parse_traceparent([f"00-{TRACE}-{PARENT}-01"] * 2) is None


def test_parts_are_kept_where_they_are_wanted() -> None:
    trace = parse_traceparent([f"00-{TRACE}-{PARENT}-01"])
    assert trace is not None
    with span("without a trace"):
        pass
    token = current_trace.set(trace)
    with span("not wanted"):
        pass
    trace.spans = []
    with span("node"):
        pass
    with pytest.raises(ValueError, match="bad"), span("failed"):
        raise ValueError("bad")
    current_trace.reset(token)
    assert [(each.name, each.is_failed, each.start_ns <= each.end_ns) for each in trace.spans] == [
        ("node", False, True),
        ("failed", True, True),
    ]
