"""Timestamps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.interface.timestamps import find_unit, format_iso_utc, parse_rfc3339


@given(st.integers(-(10**12), 10**14))
def test_a_moment_survives_being_written_and_read(unix_ms: int) -> None:
    assert parse_rfc3339(format_iso_utc(unix_ms)) == unix_ms


def test_a_moment_has_milliseconds_and_ends_in_z() -> None:
    assert format_iso_utc(1_769_291_200_000) == "2026-01-24T21:46:40.000Z"
    assert format_iso_utc(1_769_291_200_007) == "2026-01-24T21:46:40.007Z"


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-24T21:46:40Z",
        "2026-01-24T21:46:40.0Z",
        "2026-01-24t21:46:40z",
        "2026-01-24T21:46:40+00:00",
        "2026-01-24T21:46:40-00:00",
        "2026-01-24 21:46:40+00:00",
        "2026-01-24T22:46:40.000+01:00",
        "2026-01-25T03:31:40.000000000+05:45",
        "2026-01-24T16:16:40.0-05:30",
    ],
)
def test_every_form_of_rfc_3339_is_read(text: str) -> None:
    assert parse_rfc3339(text) == 1_769_291_200_000


@pytest.mark.parametrize(
    ("decimals", "ms"), [("1", 100), ("12", 120), ("123456", 123), ("123456789", 123), ("9" * 90, 999)]
)
def test_decimals_beyond_milliseconds_are_cut_off(decimals: str, ms: int) -> None:
    assert parse_rfc3339(f"2026-01-24T21:46:40.{decimals}Z") == 1_769_291_200_000 + ms


def test_a_leap_second_is_the_second_after_it() -> None:
    assert parse_rfc3339("2016-12-31T23:59:60Z") == parse_rfc3339("2017-01-01T00:00:00Z")
    assert parse_rfc3339("9999-12-31T23:59:60.5-23:59") == parse_rfc3339("9999-12-31T23:59:59.5-23:59") + 1_000


@given(
    st.datetimes(timezones=st.timezones(no_cache=True) | st.just(UTC), min_value=datetime(1950, 1, 1)),
    st.sampled_from(["T", " ", "t"]),
)
def test_whatever_python_writes_is_read(time: datetime, separator: str) -> None:
    written = time.isoformat(separator, "microseconds")
    if len(written) == len("2026-01-24T21:46:40.123456+01:00"):  # offsets with seconds are no RFC 3339
        assert parse_rfc3339(written) == (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-24",
        "2026-01-24T21:46:40",
        "2026-01-24T21:46Z",
        "2026-01-24T21:46:40.Z",
        "2026-01-24T21:46:40,5Z",
        "2026-01-24T21:46:40+0100",
        "2026-01-24T21:46:40+24:00",
        "2026-01-24T21:46:61Z",
        "2026-01-24T24:00:00Z",
        "2026-02-30T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "20260124T214640Z",
        "2026-01-24T21:46:40Z\n",
    ],
)
def test_what_is_no_time_of_rfc_3339_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not an RFC 3339 time|out of range|must be in"):
        parse_rfc3339(text)


@given(st.integers(10**9, 4 * 10**9), st.integers(-(10**8), 3 * 10**8))
def test_a_time_of_another_unit_is_recognised(now_s: int, ahead_s: int) -> None:
    for unit, per_s in (("milliseconds", 10**3), ("microseconds", 10**6), ("nanoseconds", 10**9)):
        assert find_unit((now_s + ahead_s) * per_s + per_s // 2, now_s) == (unit, now_s + ahead_s)
    for seconds in (now_s + ahead_s, 0, 2**53 - 1, 2**63 - 1, 253_402_300_799):
        assert find_unit(seconds, now_s) is None
