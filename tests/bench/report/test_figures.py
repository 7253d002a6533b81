"""Statistics and thresholds of the benchmark."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.report.figures import Spread, ahead_bps, gap_bps, p95
from bench.report.thresholds import Check, gap_threshold, time_threshold

FIGURES = st.floats(-1e6, 1e6, allow_nan=False)


OUTPUTS = st.integers(1, 10**30)


@given(st.lists(FIGURES, min_size=1))
def test_a_spread_is_in_order_and_made_of_the_values(values: list[float]) -> None:
    spread = Spread.of(values)
    assert spread.count == len(values)
    assert spread.minimum == min(values) <= spread.median <= max(values) == spread.maximum
    assert spread.p95 in values
    assert spread.minimum <= spread.mean + 1e-6
    assert spread.mean <= spread.maximum + 1e-6


def test_p95_is_a_value_without_interpolation() -> None:
    assert p95(range(1, 21)) == 19
    assert p95(range(1, 6)) == 4
    assert p95([7.0]) == 7.0


def test_a_spread_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        Spread.of([])


@given(OUTPUTS, OUTPUTS)
def test_gaps_and_leads_are_consistent(ours: int, theirs: int) -> None:
    ratio = 1 + ahead_bps(ours, theirs) / 1e4
    assert isclose(1 - gap_bps(ours, theirs) / 1e4, ratio, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("pools", "size", "median", "maximum"),
    [
        (100, "small", 0.05, 1.0),
        (1_000, "medium", 0.05, 1.0),
        (1_000, "large", 0.7, 5.0),
        (100, "huge", 6.0, None),
        (10_000, "small", 0.05, 2.0),
        (10_000, "large", 4.0, None),
        (10_000, "huge", 4.0, None),
    ],
)
def test_the_threshold_of_a_class_depends_on_the_market_size(
    pools: int, size: str, median: float, maximum: float | None
) -> None:
    assert gap_threshold(pools, size) == (median, maximum)


def test_only_two_market_sizes_have_a_time_threshold() -> None:
    assert time_threshold(1_000) == (10.0, 60.0)
    assert time_threshold(10_000) == (25.0, None)
    assert time_threshold(100) == (None, None)


def test_a_threshold_is_met_at_its_limit_and_missed_beyond() -> None:
    assert Check("gap", 0.05, 0.05).is_met
    assert not Check("gap", 0.0501, 0.05).is_met
    assert Check("lead", -2.0, -2.0, is_floor=True).is_met
    assert not Check("lead", -2.001, -2.0, is_floor=True).is_met
