"""Figures are formatted without loss, and marked where they miss their bars."""

from __future__ import annotations

from math import isclose

from hypothesis import given
from hypothesis import strategies as st

from bench.report.tables import MISSED, Section, bps, format_figure, format_limit, number, ratio
from bench.report.thresholds import Check


@given(st.floats(-1e6, 1e6))
def test_a_figure_reads_back_and_zero_has_no_sign(value: float) -> None:
    shown = number(value, 3)
    assert abs(float(shown.replace(",", "")) - value) <= 0.0005 + 1e-9
    assert not (shown.startswith("-") and float(shown.replace(",", "")) == 0.0)


@given(st.floats(1e-5, 1e4))
def test_gaps_show_two_digits_however_small(value: float) -> None:
    assert isclose(float(bps(value).replace(",", "")), value, rel_tol=0.06)
    assert bps(-value) == f"-{bps(value)}"


def test_gaps_below_the_noise_are_zero_and_give_no_ratio() -> None:
    assert bps(1e-6) == bps(-1e-12) == "0.000"
    assert ratio(0.5, 1e-9) == "–"
    assert ratio(0.5, 2.0) == "0.25"


def test_a_missing_figure_is_a_dash() -> None:
    assert number(None, 1) == format_limit(None) == bps(None) == "–"
    assert format_limit(0.05) == "≤ 0.05"


def test_a_figure_is_marked_if_any_of_its_checks_fails() -> None:
    section, good, bad = Section("Title"), Check("good", 1, 2), Check("bad", 2, 1)
    assert section.check("1", good) == "1"
    assert section.check("2", good, bad) == "2" + MISSED
    assert section.checks == [good, good, bad]


@given(st.floats(1e-4, 1e9))
def test_a_figure_of_the_summary_has_three_digits(value: float) -> None:
    assert isclose(float(format_figure(value).replace(",", "")), value, rel_tol=0.051 if value < 0.001 else 0.006)
    assert format_figure(-value) == f"-{format_figure(value)}"
