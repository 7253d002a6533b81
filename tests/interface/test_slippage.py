"""Percentages, and the accepted ranges."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidSlippage
from swapcli.core.model.api_version import ApiVersion
from swapcli.interface.slippage import SLIPPAGE_RANGE, format_percent, parse_slippage_ppm

slippages = st.integers(0, 1_000_000)


@given(slippages)
def test_a_slippage_survives_being_written_and_read(slippage_ppm: int) -> None:
    assert parse_slippage_ppm(format_percent(slippage_ppm)) == slippage_ppm


@pytest.mark.parametrize("text", ["", ".", "-1", "+1", "1e2", "1,5", "1_0", "NaN", "٣", "0.5%", " 1", "1" * 10])
def test_what_is_not_a_percentage_is_refused(text: str) -> None:
    with pytest.raises(InvalidSlippage, match="not a percentage"):
        parse_slippage_ppm(text)


@pytest.mark.parametrize(
    ("text", "ppm"), [("0.5", 5_000), (".5", 5_000), ("0.0001", 1), ("0.50000", 5_000), ("49", 490_000)]
)
def test_a_percentage_is_read_exactly(text: str, ppm: int) -> None:
    assert parse_slippage_ppm(text) == ppm


@pytest.mark.parametrize(
    ("text", "ppm"), [("0.30000000000000004", 3_000), ("0.12345", 1_234), ("0.29999999999999998", 2_999)]
)
def test_more_than_four_decimals_are_rounded_down(text: str, ppm: int) -> None:
    assert parse_slippage_ppm(text) == ppm


@given(slippages, st.sampled_from(ApiVersion))
@example(0, ApiVersion.V2)
@example(490_000, ApiVersion.V2)
@example(490_001, ApiVersion.V2)
@example(999, ApiVersion.V1)
@example(1_000, ApiVersion.V1)
def test_each_generation_accepts_its_own_range(slippage_ppm: int, api_version: ApiVersion) -> None:
    low, high = (0, 49) if api_version is ApiVersion.V2 else (0.1, 100)
    if low * 10_000 <= slippage_ppm <= high * 10_000:
        assert SLIPPAGE_RANGE[api_version].check(slippage_ppm) == slippage_ppm
    else:
        with pytest.raises(InvalidSlippage, match="slippage must be between"):
            SLIPPAGE_RANGE[api_version].check(slippage_ppm)
