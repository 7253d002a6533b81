"""Waits between attempts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.quoting.remote.retry import MAX_WAIT_S, RetryPolicy

NOW = datetime(2026, 1, 24, 21, 46, 40, tzinfo=UTC)
POLICY = RetryPolicy(now_s=NOW.timestamp)


@given(st.integers(0, 10**6), st.floats(0, 1))
def test_a_wait_is_positive_and_bounded(attempt: int, chance: float) -> None:
    assert 0 < RetryPolicy(random=lambda: chance).backoff_s(attempt) <= MAX_WAIT_S


@given(st.floats(0, 1))
def test_each_wait_is_twice_the_previous(chance: float) -> None:
    waits = [RetryPolicy(random=lambda: chance).backoff_s(attempt) for attempt in range(4)]
    assert waits == [waits[0] * 2**k for k in range(4)]


def test_waits_are_random() -> None:
    assert len({RetryPolicy().backoff_s(0) for _ in range(10)}) > 1


@given(st.integers(0, 10**9 - 1))
def test_retry_after_in_seconds_is_parsed(seconds: int) -> None:
    assert POLICY.retry_after_s(f" {seconds} ") == seconds


@given(st.integers(-(10**6), 10**6))
def test_retry_after_as_a_date_is_never_negative(seconds: int) -> None:
    header = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert POLICY.retry_after_s(header) == max(0, seconds)


@pytest.mark.parametrize(
    "header",
    [None, "", "soon", "-1", "1.5", "1e3", "9" * 10, "٣", "Sat, 99 Jan 2026 00:00:00 GMT", "24 Jan 2026 21:46:40 -0000",
     "Fri, 01 Jan 99999 00:00:00 GMT", "\x00"],
)  # fmt: skip
def test_an_invalid_retry_after_is_ignored(header: str | None) -> None:
    assert POLICY.retry_after_s(header) is None


@given(st.text(max_size=40))
def test_any_text_is_a_valid_or_ignored_retry_after(header: str) -> None:
    wait_s = POLICY.retry_after_s(header)
    assert wait_s is None or wait_s >= 0
