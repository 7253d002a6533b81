"""Quantiles of values."""

from __future__ import annotations

from statistics import median, quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.distribution import distribution_of

_VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60)


@given(_VALUES)
def test_quantiles_are_those_of_the_standard_library(values: list[float]) -> None:
    found = distribution_of(values)
    assert found is not None
    expected = quantiles(values, n=20, method="inclusive")
    assert found.size == len(values)
    assert found.median == pytest.approx(median(values), abs=1e-6)
    assert found[1:] == pytest.approx([expected[at] for at in (0, 4, 9, 14, 18)], abs=1e-6)


def test_one_value_is_all_of_them_and_none_have_no_distribution() -> None:
    assert distribution_of([3.0]) == (1, 3.0, 3.0, 3.0, 3.0, 3.0)
    assert distribution_of([]) is None
