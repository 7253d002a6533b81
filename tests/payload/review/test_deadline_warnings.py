"""Deadlines that never come, and those that have passed."""

from __future__ import annotations

import pytest

from swapcli.payload.review.deadline_warnings import deadline_warnings

NOW_S = 1_800_000_000
YEAR_S = 365 * 86_400


@pytest.mark.parametrize(
    ("end_s", "code"),
    [
        (NOW_S + 1_200, None),
        (NOW_S + 30 * 86_400, None),
        (4_000_000_000, None),  # the year 2096
        (NOW_S + 101 * YEAR_S, "DEADLINE_NONE"),
        ((NOW_S + 1_200) * 1_000, "DEADLINE_NONE"),
        ((NOW_S + 1_200) * 10**6, "DEADLINE_NONE"),
        ((NOW_S + 1_200) * 10**9, "DEADLINE_NONE"),
        ((1 << 32) + 2 * NOW_S, "DEADLINE_NONE"),
        ((1 << 48) - 1, "DEADLINE_NONE"),
        ((1 << 255), "DEADLINE_NONE"),
        ((1 << 256) - 1, "DEADLINE_NONE"),
        (NOW_S - 1, "DEADLINE_PASSED"),
        (0, "DEADLINE_PASSED"),
    ],
)
def test_a_deadline(end_s: int, code: str | None) -> None:
    assert [each.code for each in deadline_warnings(end_s, NOW_S, "the swap")] == ([code] if code else [])


def test_the_unit_of_a_deadline_is_named() -> None:
    (found,) = deadline_warnings(NOW_S * 1_000, NOW_S, "the approval")
    assert found.message == (
        "the deadline looks like milliseconds but is read as seconds, so the approval practically never expires"
    )
