"""Gyroscope's fixed-point arithmetic of signed numbers is right to a few units."""

from __future__ import annotations

from math import isqrt

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.units import WAD
from swapcli.families.balancer.signed_fixed_point import mul_mixed_down, mul_mixed_up, sqrt


@given(st.integers(0, 10**56))
def test_the_square_root_is_right_to_a_few_units(argument: int) -> None:
    assert abs(sqrt(argument) - isqrt(argument * WAD)) <= 5


@given(st.integers(-(10**40), 10**40), st.integers(-(10**40), 10**40))
def test_mixed_products_enclose_the_exact_one(a: int, b: int) -> None:
    low, high = mul_mixed_down(a, b), mul_mixed_up(a, b)
    assert low * 10**38 <= a * b <= high * 10**38 or abs(a * b) % 10**38 < 10**19
    assert high - low <= 1
