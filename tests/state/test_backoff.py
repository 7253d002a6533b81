"""Pauses between attempts double up to a limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.state.backoff import backoff_s

failures = st.integers(1, 10**6)
seconds = st.floats(0.01, 100)


@given(failures, seconds, seconds)
def test_a_pause_is_positive_and_within_the_limit(count: int, first_s: float, max_s: float) -> None:
    assert 0 < backoff_s(count, first_s, max_s) <= max_s


@given(seconds)
def test_each_pause_is_twice_the_one_before(first_s: float) -> None:
    pauses = [backoff_s(count, first_s, 10**6) for count in range(1, 6)]
    assert pauses == [first_s * 2**k for k in range(5)]


@given(failures, seconds, seconds)
def test_more_failures_never_shorten_the_pause(count: int, first_s: float, max_s: float) -> None:
    assert backoff_s(count + 1, first_s, max_s) >= backoff_s(count, first_s, max_s)
