"""Ticks of Clober V2 have the prices of the contract."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.order_books.clober_tick_math import MAX_TICK, PRICE_BITS, price_of_tick


def test_the_bounds_are_those_of_the_contract() -> None:
    assert price_of_tick(-MAX_TICK) == 1_350_587
    assert price_of_tick(MAX_TICK) == 4_647_684_107_270_898_330_752_324_302_845_848_816_923_571_339_324_334
    assert price_of_tick(0) == 1 << PRICE_BITS


@given(st.integers(-MAX_TICK, MAX_TICK - 1))
def test_prices_rise_by_a_basis_point_a_tick(tick: int) -> None:
    price = price_of_tick(tick)
    assert price < price_of_tick(tick + 1)
    if abs(tick) < 300_000:
        assert price / (1 << PRICE_BITS) == pytest.approx(1.0001**tick, rel=1e-9)
