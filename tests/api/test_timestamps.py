"""Timestamps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.api.timestamps import format_iso_utc, parse_iso_utc


@given(st.integers(-(10**12), 10**14))
def test_a_moment_survives_being_written_and_read(unix_ms: int) -> None:
    assert parse_iso_utc(format_iso_utc(unix_ms)) == unix_ms


def test_a_moment_has_milliseconds_and_ends_in_z() -> None:
    assert format_iso_utc(1_769_291_200_000) == "2026-01-24T21:46:40.000Z"
    assert format_iso_utc(1_769_291_200_007) == "2026-01-24T21:46:40.007Z"


def test_other_precisions_are_read_too() -> None:
    assert parse_iso_utc("2026-01-24T21:46:40Z") == 1_769_291_200_000
    assert parse_iso_utc("2026-01-24T21:46:40.123456Z") == 1_769_291_200_123


@pytest.mark.parametrize(
    "text", ["", "2026-01-24", "2026-01-24T21:46:40", "2026-01-24T21:46:40+01:00", "2026-02-30T00:00:00Z"]
)
def test_what_is_no_moment_in_utc_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not an ISO|day is out of range"):
        parse_iso_utc(text)
