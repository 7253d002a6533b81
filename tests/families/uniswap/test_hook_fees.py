"""The fees of hooks, as a state has them: a hook takes only what its permissions allow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.state_fields import StateFields
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees, read_hook_fees
from swapcli.families.uniswap.uniswap_v4_hooked import UniswapV4Hooked
from tests.families.uniswap.hooked_pools import hooked_pool
from tests.families.uniswap.test_v4_hooks import full_range_pool

PERCENT = WAD // 100


@pytest.mark.parametrize(
    ("permissions", "fees", "field"),
    [
        (0x20C4, DirectionFees(3_000, PERCENT), "hook_fees.input_fees"),
        (0x20C8, DirectionFees(3_000, 0, PERCENT), "hook_fees.output_fees"),
        (0x2044, DirectionFees(5_000), "hook_fees.lp_fees_ppm"),
        (0x2004, DirectionFees(3_000, 0, PERCENT), "hooks"),
    ],
)
def test_a_hook_cannot_take_what_it_has_no_permission_for(permissions: int, fees: DirectionFees, field: str) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        hooked_pool(HookFees(fees, DirectionFees(3_000)), permissions=permissions)
    assert caught.value.field == field


def test_only_a_pool_with_a_hook_is_of_the_family() -> None:
    plain = full_range_pool()
    fees = HookFees(DirectionFees(3_000), DirectionFees(3_000))
    state = {**plain.state(), "hook_fees": fees.state(), "hook_gas": 0}
    with pytest.raises(InvalidPoolState, match="only Uniswap V4 pools with a hook"):
        UniswapV4Hooked.from_state(PoolIdentity(*plain.identity), state)


@pytest.mark.parametrize(
    ("name", "value"),
    [("lp_fees_ppm", [1_000_000, 0]), ("input_fees", [WAD, 0]), ("output_fees", [0, -1]), ("output_fees", [0])],
)
def test_a_fee_is_less_than_the_whole(name: str, value: list[int]) -> None:
    pool = hooked_pool(HookFees(DirectionFees(3_000), DirectionFees(3_000)))
    state = {"hook_fees": {**pool.fees.state(), name: value}}
    with pytest.raises(InvalidPoolState, match=name):
        read_hook_fees(StateFields(state), pool.plain.tick_list, 3_000)


def test_the_lp_fee_and_the_protocols_leave_something() -> None:
    tick_list = hooked_pool(HookFees(DirectionFees(3_000), DirectionFees(3_000))).plain.tick_list
    fees = HookFees(DirectionFees(3_000), DirectionFees(999_999))
    fields = StateFields({"hook_fees": fees.state()})
    assert read_hook_fees(fields, tick_list, 3_000) == fees
    with pytest.raises(
        InvalidPoolState, match=r"lp_fees_ppm\[1\]: together with the protocol's fee, it takes the whole input"
    ):
        read_hook_fees(fields, tick_list._replace(protocol_fees_ppm=(0, 1_000)), 3_000)


@given(fee=st.integers(0, WAD - 1), amount=st.integers(0, 2**127))
def test_what_is_taken_is_the_floor_of_the_part(fee: int, amount: int) -> None:
    fees = DirectionFees(0, fee, fee)
    assert fees.taken_of_input(amount) == fees.taken_of_output(amount)
    assert 0 <= amount * fee - fees.taken_of_input(amount) * WAD < WAD
