"""A deadline is Unix seconds or a duration from now, never one that has passed or in another unit."""

from __future__ import annotations

import pytest

from swapcli.core.errors import InvalidDeadline
from swapcli.payload.signing.deadlines import LATEST_S, parse_deadline_s, parse_duration_s

NOW_S = 1_800_000_000.7


@pytest.mark.parametrize(
    ("text", "duration_s"), [("20m", 1_200), ("+1200", 1_200), ("+2H", 7_200), ("5s", 5), ("1200", None), ("-5s", None)]
)
def test_a_duration_has_a_unit_or_a_plus_sign(text: str, duration_s: int | None) -> None:
    assert parse_duration_s(text) == duration_s
    if duration_s is not None:
        assert parse_deadline_s(text, NOW_S) == int(NOW_S) + duration_s


def test_a_deadline_is_a_time_from_now_to_the_year_9999() -> None:
    assert parse_deadline_s("1800000001", NOW_S) == 1_800_000_001
    for text in ("1800000000", "0", "", "tomorrow", "1800000001000", str(LATEST_S + 1), "9" * 20, "0s"):
        with pytest.raises(InvalidDeadline, match=r"^--deadline: "):
            parse_deadline_s(text, NOW_S)
