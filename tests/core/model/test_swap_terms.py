"""Slippage, fees and their rounding."""

from __future__ import annotations

from decimal import ROUND_DOWN, Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import IntegratorError, InvalidOption
from swapcli.core.model.swap_terms import BOTH_FEE_AND_SURPLUS, Integrator, after_fee, min_received
from swapcli.interface.slippage import format_percent

EXACT = Context(prec=200)
amounts = st.integers(1, 2**256 - 1)
slippages = st.integers(0, 1_000_000)


@given(amounts, slippages)
def test_min_received_subtracts_the_floor_of_the_slippage(out: int, slippage_ppm: int) -> None:
    lost = EXACT.divide(EXACT.multiply(Decimal(out), Decimal(format_percent(slippage_ppm))), Decimal(100))
    assert min_received(out, slippage_ppm) == out - int(lost.to_integral_value(ROUND_DOWN))


@given(amounts, st.integers(0, 500))
def test_a_fee_never_takes_more_than_its_share(out: int, fee_bps: int) -> None:
    left = after_fee(out, fee_bps)
    assert 0 <= out * fee_bps - (out - left) * 10_000 < 10_000


def test_the_published_integer_formula_agrees_where_both_apply() -> None:
    out, slippage_tenths = 2951108576, 5
    assert min_received(out, 5_000) == out - out * (slippage_tenths * 100) // 100_000


def test_an_integrator_takes_a_fee_or_a_surplus() -> None:
    with pytest.raises(IntegratorError, match=BOTH_FEE_AND_SURPLUS):
        Integrator("0x" + "1" * 40, fee_bps=1, surplus_bps=1)


@pytest.mark.parametrize(("fee_bps", "surplus_bps"), [(501, 0), (-1, 0), (0, 5001), (0, -1)])
def test_an_integrator_out_of_range_is_refused(fee_bps: int, surplus_bps: int) -> None:
    with pytest.raises(InvalidOption, match="must be between 0 and"):
        Integrator("0x" + "1" * 40, fee_bps, surplus_bps)
