"""Numbers for people: rounded where it helps, never wrong."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.number_format import (
    apportion,
    format_bps_rounded_up,
    format_duration,
    format_gas_price,
    format_gwei,
    format_iso_time,
    format_milliseconds,
    format_percentage,
    format_ratio,
    format_rough_usd,
    format_share,
    format_shares,
    format_short_amount,
    format_significant,
    format_time,
    format_usd,
)
from swapcli.core.model.token import whole_tokens
from swapcli.quoting.warnings import format_age

amounts = st.integers(0, 2**256 - 1)
decimals = st.integers(0, 77)


def value(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


@given(amounts, decimals)
def test_whole_tokens_are_exact(amount: int, places: int) -> None:
    assert value(whole_tokens(amount, places)) * 10**places == amount


@given(amounts, decimals)
def test_short_amounts_have_six_digits_and_never_look_better(amount: int, places: int) -> None:
    exact = Fraction(amount, 10**places)
    down, up = (value(format_short_amount(amount, places, rounds_up=each)) for each in (False, True))
    assert exact * (1 - Fraction(1, 10**5)) <= down <= exact <= up <= exact * (1 + Fraction(1, 10**5))


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (2_996_420_001, "2,996.42"),
        (10**6, "1"),
        (1_500_000, "1.5"),
        (999_871_234, "999.871"),
        (123_456_789_012_345, "123,456,789.01"),
        (12, "0.000012"),
    ],
)
def test_short_amounts_of_six_decimals(amount: int, shown: str) -> None:
    assert format_short_amount(amount, 6) == shown


@given(st.integers(1, 10**40), st.integers(0, 30), st.integers(1, 10**40), st.integers(0, 30))
def test_a_ratio_is_right_to_six_digits(a: int, places_a: int, b: int, places_b: int) -> None:
    exact = Fraction(a, 10**places_a) / Fraction(b, 10**places_b)
    assert abs(value(format_ratio(a, places_a, b, places_b)) - exact) <= exact * Fraction(1, 10**5)


def test_a_ratio_to_nothing_is_unknown() -> None:
    assert format_ratio(1, 0, 0, 0) == "unknown"


@given(st.integers(0, 10**30), st.lists(st.integers(0, 10**6), min_size=1, max_size=9).filter(any))
def test_parts_sum_to_the_whole_and_are_proportional_to_one_unit(total: int, weights: list[int]) -> None:
    parts = apportion(total, weights)
    assert sum(parts) == total
    assert all(abs(part - Fraction(total * w, sum(weights))) < 1 for part, w in zip(parts, weights, strict=True))


@pytest.mark.parametrize(
    ("number", "shown"),
    [(1234.5, "$1,234.50"), (0.1, "$0.10"), (0.0142, "$0.014"), (1.5e-9, "$0.0000000015"), (0.0, "$0.00")],
)
def test_dollars(number: float, shown: str) -> None:
    assert format_usd(number) == shown


@pytest.mark.parametrize(
    ("fraction", "shown"),
    [(0.0021, "0.21%"), (0.0, "0.00%"), (1e-7, "<0.01%"), (-1e-7, "<0.01%"), (-0.02, "-2.00%")],
)
def test_percentages(fraction: float, shown: str) -> None:
    assert format_percentage(fraction) == shown


@given(st.floats(-1e9, 1e9))
def test_a_proven_gap_is_never_rounded_down(gap: float) -> None:
    reported, exact = value(format_bps_rounded_up(gap)), max(Fraction(repr(gap)), Fraction(0))
    assert exact <= reported < exact + Fraction(1, 100)


def test_gaps_have_two_decimals() -> None:
    assert [format_bps_rounded_up(gap) for gap in (0.3, 1.0, 0.0014, 0.0, -2.0, 12345.671)] == [
        "0.30", "1.00", "0.01", "0.00", "0.00", "12,345.68",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shares", "shown"),
    [
        ([6120, 3880], ["61.2%", "38.8%"]),
        ([3333, 3333, 3334], ["33.3%", "33.3%", "33.4%"]),
        ([7000, 3000], ["70%", "30%"]),
        ([9999, 1], ["100.0%", "<0.1%"]),
        ([], []),
    ],
)
def test_brief_shares_have_one_decimal_and_add_up(shares: list[int], shown: list[str]) -> None:
    assert format_shares(shares) == shown


def test_shares_have_two_decimals() -> None:
    assert [format_share(share) for share in (6120, 10_000, 5)] == ["61.20%", "100.00%", "0.05%"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds old"),
        (1, "1 second old"),
        (119, "1 minute old"),
        (7_200, "2 hours old"),
        (10**9, "11,574 days old"),
    ],
)
def test_ages(seconds: int, words: str) -> None:
    assert format_age(seconds) == words


def test_significant_digits_carry_no_exponent() -> None:
    assert format_significant(Decimal("0.000000123456"), 3) == "0.000000123"
    assert format_significant(Decimal("123456789.987"), 3) == "123,456,789.99"


def test_prices_of_gas_are_in_gwei() -> None:
    assert [format_gwei(wei) for wei in (0, 1, 5_000_000, 10**9, 2 * 10**12)] == [
        "0 gwei",
        "0.000000001 gwei",
        "0.005 gwei",
        "1 gwei",
        "2,000 gwei",
    ]


def test_durations_have_one_unit() -> None:
    assert [format_duration(seconds) for seconds in (0, 1, 119, 7_300, 86_400, 204_097_073)] == [
        "0 seconds",
        "1 second",
        "1 minute",
        "2 hours",
        "1 day",
        "2,362 days",
    ]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.0, "$0.00"),
        (0.5, "$0.50"),
        (1.0, "$1.00"),
        (1.5, "$1.50"),
        (9.999, "$10.00"),
        (12.3, "$12.30"),
        (999.0, "$999.00"),
        (1_000.0, "$1,000"),
        (9_662.4, "$9,662"),
        (51_829_320.0, "$51,830,000"),
        (999_960.0, "$1,000,000"),
        (inf, "$inf"),
    ],
)
def test_estimates_in_dollars_have_cents_or_four_digits(number: float, shown: str) -> None:
    assert format_rough_usd(number) == shown


def test_gas_prices_for_people_have_four_digits() -> None:
    assert format_gas_price(1_094_047_349) == "1.094 gwei"
    assert format_gas_price(5_000_000) == "0.005 gwei"
    assert format_gas_price(0) == "0 gwei"


def test_times_are_words_for_people_and_iso_for_programs() -> None:
    assert format_time(1_796_124_872) == "2026-12-01 11:34:32 UTC"
    assert format_time(1_796_124_872, has_seconds=False) == "2026-12-01 11:34 UTC"
    assert format_iso_time(1_796_124_872) == "2026-12-01T11:34:32Z"
    assert format_time(10**15) == format_iso_time(10**15) == f"{10**15} s"


def test_milliseconds_have_no_decimals() -> None:
    assert [format_milliseconds(each) for each in (0.0, 0.0538, 12.0)] == ["0 ms", "54 ms", "12,000 ms"]
