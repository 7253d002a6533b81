"""The division helpers say what they do."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.rounding import div_up, mul_div_up

numbers = st.integers(0, 2**256 - 1)
divisors = st.integers(1, 2**256 - 1)


@given(st.integers(-(2**300), 2**300), divisors)
def test_div_up_is_the_ceiling(a: int, b: int) -> None:
    assert div_up(a, b) == ceil(Fraction(a, b))


@given(numbers, numbers, divisors)
def test_mul_div_up_is_the_ceiling_of_the_whole_product(a: int, b: int, c: int) -> None:
    assert mul_div_up(a, b, c) == ceil(Fraction(a * b, c))
