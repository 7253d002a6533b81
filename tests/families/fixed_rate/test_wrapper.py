"""Wrapping and unwrapping are one to one, and other states are no wrapper."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, PoolError
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import PoolIdentity
from swapcli.families import family
from swapcli.families.fixed_rate.wrapper import WrappedNative

WRAPPED = "0x4200000000000000000000000000000000000006"
IDENTITY = PoolIdentity(WRAPPED, "wrapper", (ZERO_ADDRESS, WRAPPED), (18, 18), 0)

directions = st.sampled_from([(ZERO_ADDRESS, WRAPPED), (WRAPPED, ZERO_ADDRESS)])


@given(directions, st.integers(1, 2**256 - 1))
def test_every_amount_comes_out_as_it_went_in(direction: tuple[str, str], amount: int) -> None:
    pool = WrappedNative.from_state(IDENTITY, {})
    assert pool.swap(*direction, amount) == (amount, pool)


@given(directions, st.floats(1e-9, 1e40), st.floats(1e-9, 10.0))
def test_the_curve_is_a_straight_line(direction: tuple[str, str], amount: float, rate: float) -> None:
    curve = WrappedNative.from_state(IDENTITY, {}).curve(*direction)
    assert (curve.start_rate, curve.capacity) == (1.0, inf)
    assert curve.amount_out(amount) == amount
    assert curve.rate(amount) == 1.0
    assert curve.trade_to_marginal_rate(rate) == ((0.0, 0.0, 0.0) if rate >= 1 else (1e30, 1e30, 0.0))


def test_state_survives_a_round_trip() -> None:
    pool = WrappedNative.from_state(IDENTITY, {})
    assert family("wrapper").from_state(IDENTITY, pool.state()) == pool


@pytest.mark.parametrize(
    ("field", "identity"),
    [
        ("tokens", IDENTITY._replace(tokens=(WRAPPED, ZERO_ADDRESS))),
        ("tokens", IDENTITY._replace(address="0x" + "11" * 20)),
        ("decimals", IDENTITY._replace(decimals=(18, 8))),
        ("fee_ppm", IDENTITY._replace(fee_ppm=1)),
    ],
)
def test_an_invalid_wrapper_names_its_field(field: str, identity: PoolIdentity) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        WrappedNative.from_state(identity, {})
    assert caught.value.field == field


def test_other_tokens_are_not_traded() -> None:
    with pytest.raises(PoolError):
        WrappedNative.from_state(IDENTITY, {}).swap(ZERO_ADDRESS, "0x" + "11" * 20, 1)
