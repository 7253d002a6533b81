"""The fixed-point power stays within the error that Balancer's pools allow for, over its whole range."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.core.errors import SwapReverts
from swapcli.core.model.units import WAD
from swapcli.families.balancer.log_exp import power

ALLOWED_ERROR = Decimal("1e-14")

bases = st.one_of(st.integers(1, 2 * WAD), st.integers(1, 10**40), st.integers(WAD - 10**17, WAD + 10**17))
exponents = st.one_of(st.integers(0, 4 * WAD), st.integers(WAD // 100, 99 * WAD))


@given(bases, exponents)
@example(WAD - 10**17, WAD)
@example(WAD - 10**17 + 1, WAD)
@example(WAD + 10**17, WAD)
@example(WAD + 10**17 - 1, WAD)
@example(WAD, 99 * WAD)
@example(1, WAD)
@example(10**40, WAD)
def test_the_power_is_as_exact_as_its_callers_assume(base: int, exponent: int) -> None:
    logarithm = true_exponent(base, exponent)
    try:
        result = power(base, exponent)
    except SwapReverts:
        assert not -40 < logarithm < 129
        return
    with localcontext() as context:
        context.prec = 80
        truth = logarithm.exp() * WAD
        assert abs(result - truth) <= truth * ALLOWED_ERROR + 1


@given(st.integers(1, WAD), st.integers(1, 99 * WAD))
def test_a_base_below_one_never_grows(base: int, exponent: int) -> None:
    try:
        assert power(base, exponent) <= WAD
    except SwapReverts:
        assert true_exponent(base, exponent) < -40


@given(st.integers(0, 2**255 - 1))
def test_any_base_to_the_power_of_zero_is_one(base: int) -> None:
    assert power(base, 0) == WAD


@given(st.integers(1, 2**254))
def test_zero_to_any_power_is_zero(exponent: int) -> None:
    assert power(0, exponent) == 0


@pytest.mark.parametrize(
    ("base", "exponent"),
    [(2**255, WAD), (WAD, 2**254 // 10**20), (2 * WAD, 200 * WAD), (WAD // 2, 60 * WAD)],
    ids=["base too large", "exponent too large", "result too large", "result too small"],
)
def test_beyond_its_range_the_contract_reverts(base: int, exponent: int) -> None:
    with pytest.raises(SwapReverts):
        power(base, exponent)


def true_exponent(base: int, exponent: int) -> Decimal:
    """exponent * ln base."""
    with localcontext() as context:
        context.prec = 80
        return (Decimal(base) / WAD).ln() * Decimal(exponent) / WAD
