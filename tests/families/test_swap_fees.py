"""A fee of 10^18 fractions is read with `fee_ppm`, which rounds it down, and written where it says more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.state_fields import StateFields
from swapcli.families.swap_fees import FEE_PER_PPM, read_fee_remainder, read_swap_fee, write_swap_fee
from swapcli.testing.strategies import ADDRESS, TOKENS


def identity(fee_ppm: int) -> PoolIdentity:
    return PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 18), fee_ppm)


@given(st.integers(0, 10**18 - 1))
def test_a_fee_survives_a_round_trip(fee: int) -> None:
    fee_ppm = fee // FEE_PER_PPM
    fields = StateFields(write_swap_fee(fee, fee_ppm))
    assert read_swap_fee(identity(fee_ppm), fields) == fee
    assert read_fee_remainder(identity(fee_ppm), fields) == fee - fee_ppm * FEE_PER_PPM


def test_a_fee_of_whole_ppm_needs_no_field() -> None:
    assert write_swap_fee(3_000 * FEE_PER_PPM, 3_000) == {}
    assert read_swap_fee(identity(3_000), StateFields({})) == 3_000 * FEE_PER_PPM


def test_a_fee_that_contradicts_its_ppm_is_refused() -> None:
    with pytest.raises(InvalidPoolState):
        read_swap_fee(identity(2_999), StateFields({"swap_fee": str(3_000 * FEE_PER_PPM)}))
    with pytest.raises(InvalidPoolState):
        read_fee_remainder(identity(3_000), StateFields({"swap_fee": str(3_000 * FEE_PER_PPM + 1)}), 2)
