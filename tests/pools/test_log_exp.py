"""The fixed-point power stays within the error that Balancer's pools allow for, over its whole range."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.errors import SwapReverts
from swapcli.pools.log_exp import ONE, power

ALLOWED_ERROR = Decimal("1e-14")

bases = st.one_of(st.integers(1, 2 * ONE), st.integers(1, 10**40), st.integers(ONE - 10**17, ONE + 10**17))
exponents = st.one_of(st.integers(0, 4 * ONE), st.integers(ONE // 100, 99 * ONE))


@given(bases, exponents)
@example(ONE - 10**17, ONE)
@example(ONE - 10**17 + 1, ONE)
@example(ONE + 10**17, ONE)
@example(ONE + 10**17 - 1, ONE)
@example(ONE, 99 * ONE)
@example(1, ONE)
@example(10**40, ONE)
def test_the_power_is_as_exact_as_its_callers_assume(base: int, exponent: int) -> None:
    logarithm = true_exponent(base, exponent)
    try:
        result = power(base, exponent)
    except SwapReverts:
        assert not -40 < logarithm < 129
        return
    with localcontext() as context:
        context.prec = 80
        truth = logarithm.exp() * ONE
        assert abs(result - truth) <= truth * ALLOWED_ERROR + 1


@given(st.integers(1, ONE), st.integers(1, 99 * ONE))
def test_a_base_below_one_never_grows(base: int, exponent: int) -> None:
    try:
        assert power(base, exponent) <= ONE
    except SwapReverts:
        assert true_exponent(base, exponent) < -40


@given(st.integers(0, 2**255 - 1))
def test_any_base_to_the_power_of_zero_is_one(base: int) -> None:
    assert power(base, 0) == ONE


@given(st.integers(1, 2**254))
def test_zero_to_any_power_is_zero(exponent: int) -> None:
    assert power(0, exponent) == 0


@pytest.mark.parametrize(
    ("base", "exponent"),
    [(2**255, ONE), (ONE, 2**254 // 10**20), (2 * ONE, 200 * ONE), (ONE // 2, 60 * ONE)],
    ids=["base too large", "exponent too large", "result too large", "result too small"],
)
def test_beyond_its_range_the_contract_reverts(base: int, exponent: int) -> None:
    with pytest.raises(SwapReverts):
        power(base, exponent)


def true_exponent(base: int, exponent: int) -> Decimal:
    """exponent * ln base."""
    with localcontext() as context:
        context.prec = 80
        return (Decimal(base) / ONE).ln() * Decimal(exponent) / ONE
