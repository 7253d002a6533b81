"""Reading the `Retry-After` header."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.retry_after import parse_retry_after

NOW = datetime(2026, 1, 24, 21, 46, 40, tzinfo=UTC)
NOW_S = NOW.timestamp()


@given(st.integers(0, 10**9 - 1))
def test_seconds_are_read(seconds: int) -> None:
    assert parse_retry_after(f" {seconds} ", NOW_S) == seconds


@given(st.integers(-(10**6), 10**6))
def test_a_date_is_read_and_the_past_gives_zero(seconds: int) -> None:
    header = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert parse_retry_after(header, NOW_S) == max(0, seconds)


@pytest.mark.parametrize(
    "header",
    [None, "", "soon", "-1", "1.5", "1e3", "9" * 10, "٣", "Sat, 99 Jan 2026 00:00:00 GMT", "24 Jan 2026 21:46:40 -0000",
     "Fri, 01 Jan 99999 00:00:00 GMT", "\x00"],
)  # fmt: skip
def test_an_unreadable_header_counts_as_absent(header: str | None) -> None:
    assert parse_retry_after(header, NOW_S) is None


@given(st.text(max_size=40))
def test_any_text_gives_a_wait_or_none(header: str) -> None:
    wait_s = parse_retry_after(header, NOW_S)
    assert wait_s is None or wait_s >= 0
