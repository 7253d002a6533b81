"""The fee of a protocol comes before that of liquidity, which is taken of what is left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.units import PPM
from swapcli.families.protocol_fees import NO_FEES, read_protocol_fees, with_protocol_fee
from swapcli.families.state_fields import StateFields

fees = st.integers(0, PPM)


@given(fees, fees)
def test_the_whole_fee_leaves_the_product_of_what_each_leaves(lp_fee_ppm: int, protocol_fee_ppm: int) -> None:
    left = (PPM - lp_fee_ppm) * (PPM - protocol_fee_ppm)
    assert 0 <= (PPM - with_protocol_fee(lp_fee_ppm, protocol_fee_ppm)) * PPM - left + PPM - 1 < 2 * PPM


def test_fees_are_read_for_each_direction() -> None:
    assert read_protocol_fees(StateFields({}), 3_000, 1_000) == NO_FEES
    assert read_protocol_fees(StateFields({"protocol_fees_ppm": [10, 1_000]}), 3_000, 1_000) == (10, 1_000)


@pytest.mark.parametrize(("protocol_fees", "lp_fee_ppm"), [([10, 1_001], 3_000), ([10], 3_000), ([0, 0], PPM)])
def test_fees_that_cannot_be_are_refused(protocol_fees: list[int], lp_fee_ppm: int) -> None:
    with pytest.raises(InvalidPoolState):
        read_protocol_fees(StateFields({"protocol_fees_ppm": protocol_fees}), lp_fee_ppm, 1_000)
