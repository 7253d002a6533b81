"""The minimum of a swap beside a fresh quote."""

from __future__ import annotations

import pytest

from swapcli.core.errors import NoRoute
from swapcli.payload.review.amount_warnings import minimum_warnings
from swapcli.payload.review.reviewed_payload import SlippageLimits
from tests.payload.review.reviews import ORDER, REVIEW

LIMITS = SlippageLimits(slippage_ppm=10_000, max_slippage_ppm=200_000)


@pytest.mark.parametrize(
    ("minimum", "expected"),
    [
        (2_000_000_000, []),
        (1_987_910_100, []),
        (1_987_910_099, ["MINIMUM_LOW"]),
        (1_607_999_999, ["MINIMUM_TOO_LOW"]),
        (0, ["MINIMUM_ZERO"]),
        (2_010_000_001, ["MINIMUM_TOO_HIGH"]),
    ],
)
def test_the_minimum_is_compared_with_the_quote(minimum: int, expected: list[str]) -> None:
    found = minimum_warnings(REVIEW, ORDER._replace(min_received=minimum), None, LIMITS)
    assert [each.code for each in found] == expected


def test_the_reason_for_no_quote_is_named() -> None:
    unknown = REVIEW._replace(fresh_amount_out=None)
    (found,) = minimum_warnings(unknown, ORDER, NoRoute("no route"), LIMITS)
    assert found.code == "QUOTE_UNKNOWN"
    assert found.message.endswith("no route")
    assert list(minimum_warnings(unknown, ORDER, None, LIMITS)) == []
