"""Mento's pairs: the laws of every pool, and swaps recorded from the published contracts, run in an EVM.

The same run compared 30,000 swaps of FPMM and OneToOneFPMM (mento-protocol/mento-core @e7884d28), with changing rates
and at the ends of the windows of the limits; amounts and states were equal.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.families import family
from swapcli.families.oracle_priced.mento_fpmm import FlowLimit, FlowLimits, MentoFpmm
from swapcli.families.oracle_priced.rows import FAMILIES
from swapcli.families.row import PoolUse
from swapcli.testing.pool_laws import (
    check_concave,
    check_curve_follows,
    check_state_round_trip,
    check_swap_laws,
    swap_or_skip,
    trade_to_rate,
)
from swapcli.testing.recorded_swaps import check_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import vectors_file

directions = st.sampled_from([(0, 1), (1, 0)])
parts = st.floats(0.0, 1.0)
NOW = 1_700_000_000
NONE = FlowLimits(FlowLimit(0, 0, 0), FlowLimit(0, 0, 0))


def pool_of(rate: tuple[int, int], decimals: tuple[int, int], tokens: int, fees_bps: tuple[int, int]) -> MentoFpmm:
    """Return a pair that holds as many whole tokens of either; fees are the whole one and the part that stays."""
    reserves = tokens * 10 ** decimals[0], tokens * 10 ** decimals[1]
    identity = ADDRESS, "test", TOKENS[:2], decimals, fees_bps[0] * 100
    return MentoFpmm(*identity, reserves, rate, fees_bps[1], (NONE, NONE), NOW)


def valid_pool() -> MentoFpmm:
    """Return a liquid pool, from which the tests of all families make contradictory and extreme states."""
    limits = FlowLimits(FlowLimit(10**24, -(10**18), NOW - 60), FlowLimit(10**25, 10**19, NOW - 3_600))
    pool = pool_of((108 * 10**16, 10**18), (18, 6), 10**7, (15, 10))
    return replace(pool, limits=(limits, NONE))


def sell(pool: MentoFpmm, i: int, amount_in: int) -> tuple[int, MentoFpmm]:
    """Sell the i-th token for the other one."""
    return pool.swap(pool.tokens[i], pool.tokens[1 - i], amount_in)


@st.composite
def pools(draw: st.DrawFn) -> MentoFpmm:
    places = draw(st.sampled_from([(18, 18), (18, 6), (6, 18), (6, 6), (2, 8)]))
    rate = int(10 ** draw(st.floats(15.0, 21.0))), 10**18
    fee = draw(st.integers(0, 200))
    return pool_of(rate, places, int(10 ** draw(st.floats(3.0, 8.0))), (fee, draw(st.integers(0, fee))))


@given(pools(), directions, parts)
def test_swaps_keep_the_laws(pool: MentoFpmm, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    worth = 2 + int(pool.curve(pool.tokens[j], pool.tokens[i]).start_rate)
    check_swap_laws(pool, (pool.tokens[i], pool.tokens[j]), max(2, int(pool.reserves[i] * part)), 4 * worth)


@given(pools(), directions, parts)
def test_the_curve_follows_the_swaps(pool: MentoFpmm, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    check_curve_follows(pool, (pool.tokens[i], pool.tokens[j]), max(2, int(pool.reserves[i] * part)), 2e-7)


@given(pools(), directions, parts, parts)
def test_the_curve_is_increasing_and_concave(pool: MentoFpmm, direction: tuple[int, int], a: float, b: float) -> None:
    check_concave(pool.curve(pool.tokens[direction[0]], pool.tokens[direction[1]]), a, b)


@given(pools(), directions, st.floats(0.5, 0.99999))
def test_a_trade_to_a_rate_ends_there(pool: MentoFpmm, direction: tuple[int, int], part: float) -> None:
    trade_to_rate(pool.curve(pool.tokens[direction[0]], pool.tokens[direction[1]]), part, 1e-9)


@given(pools(), directions, parts)
def test_only_the_protocols_part_of_the_fee_leaves(pool: MentoFpmm, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    amount_in = max(2, int(pool.reserves[i] * part))
    amount_out, after = swap_or_skip(pool, (pool.tokens[i], pool.tokens[j]), amount_in)
    protocol_fee_bps = pool.fee_ppm // 100 - pool.lp_fee_bps
    assert after.reserves[j] == pool.reserves[j] - amount_out
    assert after.reserves[i] == pool.reserves[i] + amount_in - amount_in * protocol_fee_bps // 10_000


@given(pools())
def test_state_survives_a_round_trip(pool: MentoFpmm) -> None:
    check_state_round_trip(pool)
    check_state_round_trip(replace(pool, limits=valid_pool().limits))


def test_recorded_swaps_are_the_contracts() -> None:
    assert check_recorded_swaps(vectors_file("mento_fpmm")) >= 10


def test_the_last_unit_is_not_sold() -> None:
    pool = pool_of((10**18, 10**18), (6, 6), 1, (0, 0))
    with pytest.raises(InsufficientLiquidity):
        sell(pool, 0, 10**6)
    assert sell(pool, 0, 10**6 - 1)[0] == 10**6 - 1


def test_a_limit_counts_flows_in_both_directions_until_its_window_ends() -> None:
    limits = FlowLimits(FlowLimit(100 * 10**15, 0, NOW), FlowLimit(0, 0, 0))
    pool = replace(pool_of((10**18, 10**18), (6, 6), 1_000, (0, 0)), limits=(limits, NONE))
    _, after = sell(pool, 0, 60 * 10**6)
    with pytest.raises(SwapReverts):
        sell(after, 0, 41 * 10**6)
    _, back = sell(after, 1, 41 * 10**6)
    assert sell(back, 0, 41 * 10**6)[1].limits[0].short.netflow == 60 * 10**15
    with pytest.raises(SwapReverts):
        sell(replace(after, timestamp=NOW + 300), 0, 41 * 10**6)
    later = sell(replace(after, timestamp=NOW + 301), 0, 41 * 10**6)[1].limits[0].short
    assert later == FlowLimit(100 * 10**15, 41 * 10**15, NOW + 301)


def test_the_curve_ends_at_a_limit() -> None:
    limits = FlowLimits(FlowLimit(100 * 10**15, 30 * 10**15, NOW), FlowLimit(0, 0, 0))
    pool = replace(pool_of((2 * 10**18, 10**18), (6, 6), 1_000, (0, 0)), limits=(limits, NONE))
    later = replace(pool, timestamp=NOW + 301)
    for each, i, room in ((pool, 0, 70), (pool, 1, 260), (later, 0, 100)):
        capacity = each.curve(pool.tokens[i], pool.tokens[1 - i]).capacity
        assert capacity == pytest.approx(room * 10**6, rel=1e-6)


def test_a_router_asks_the_pair_for_its_output() -> None:
    pool = valid_pool()
    use = PoolUse(pool, pool.tokens[0], pool.tokens[1], None)
    assert FAMILIES["mento_fpmm"].router.extra_data(use) == b""


@pytest.mark.parametrize("amount_in", [0, -1, -(10**30), 2**256])
def test_nothing_is_paid_for_nothing(amount_in: int) -> None:
    pool = valid_pool()
    for i in range(2):
        with pytest.raises(PoolError):
            sell(pool, i, amount_in)


@pytest.mark.parametrize(
    ("field", "value"), [("rate", [0, 1]), ("lp_fee_bps", 16), ("limits", [{}]), ("timestamp", 2**32)]
)
def test_a_contradiction_is_refused_by_its_field(field: str, value: object) -> None:
    pool = valid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        family("mento_fpmm").from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field == field


def test_fees_are_whole_basis_points_up_to_the_contracts_limit() -> None:
    pool = valid_pool()
    for fee_ppm in (1_550, 20_100):
        with pytest.raises(InvalidPoolState) as caught:
            family("mento_fpmm").from_state(pool.identity._replace(fee_ppm=fee_ppm), pool.state())
        assert caught.value.field == "fee_ppm"
