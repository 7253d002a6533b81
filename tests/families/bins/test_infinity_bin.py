"""Pools of bins: what must hold of every swap, the curve for the solver, and malformed state."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import isfinite

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.bins.bin_math import BASE_ID, price_of_bin, rate_of_bin
from swapcli.families.bins.infinity_bin import BIN_GAS, InfinityBin
from swapcli.testing.pool_laws import check_state_round_trip
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.bins.random_bins import infinity_bin_pools

A, B, C = TOKENS[:3]
IDENTITY = PoolIdentity(ADDRESS, "test", (A, B), (18, 18), 3000)
HOOK = "0x" + "42" * 20
STATE: dict[str, object] = {
    "active_id": BASE_ID,
    "bin_step": 10,
    "bins": [[BASE_ID - 3, "0", "1000000"], [BASE_ID, "500", "700"], [BASE_ID + 1, "1000000", "0"]],
    "pool_id": "0x" + "11" * 32,
    "hooks": ZERO_ADDRESS,
    "parameters": f"0x{10 << 16:064x}",
}
POOL = InfinityBin.from_state(IDENTITY, STATE)

directions = st.sampled_from([(0, 1), (1, 0)])
parts = st.floats(-9.0, 0.0).map(lambda exponent: 10.0**exponent)


@given(infinity_bin_pools(), directions, parts, parts)
def test_selling_more_never_brings_less(pool: InfinityBin, way: tuple[int, int], part: float, more: float) -> None:
    less, more = sorted((amount_of(pool, way, part), amount_of(pool, way, more)))
    assert swap(pool, way, less)[0] <= swap(pool, way, more)[0]


@given(infinity_bin_pools(), directions, parts)
def test_there_and_back_never_pays(pool: InfinityBin, way: tuple[int, int], part: float) -> None:
    amount_in = amount_of(pool, way, part)
    amount_out, between = swap(pool, way, amount_in)
    try:
        returned, _ = swap(between, way[::-1], amount_out)
    except PoolError:
        assume(False)
    assert returned <= amount_in


@given(infinity_bin_pools(), directions, parts, parts)
def test_a_split_swap_brings_at_most_rounding_more(
    pool: InfinityBin, way: tuple[int, int], first: float, second: float
) -> None:
    amounts = amount_of(pool, way, first / 2), amount_of(pool, way, second / 2)
    whole, _ = swap(pool, way, sum(amounts))
    out_1, between = swap(pool, way, amounts[0])
    out_2, _ = swap(between, way, amounts[1])
    # The part that ends inside a bin pays its fee on the input alone, which is rounded once more or once less.
    price = pool.curve(*tokens(pool, way)).start_rate
    assert out_1 + out_2 - whole <= 2 * len(pool.bins.ids) * (1 + price)


@given(infinity_bin_pools(), directions, parts)
def test_a_swap_moves_amounts_and_nothing_else(pool: InfinityBin, way: tuple[int, int], part: float) -> None:
    pool = replace(pool, protocol_fees_ppm=(0, 0))
    amount_in = amount_of(pool, way, part)
    amount_out, after = swap(pool, way, amount_in)
    before_sums, after_sums = ([sum(each.bins[k]) for k in (1, 2)] for each in (pool, after))
    if not after.is_active_bin_listed or after.active_id == pool.active_id:
        assert after_sums[way[0]] - before_sums[way[0]] == amount_in
        assert before_sums[way[1]] - after_sums[way[1]] == amount_out
    assert InfinityBin.from_state(after.identity, after.state()) == after


@given(infinity_bin_pools())
def test_state_survives_a_round_trip(pool: InfinityBin) -> None:
    check_state_round_trip(pool)


@given(infinity_bin_pools(), directions)
def test_a_swap_takes_up_to_the_capacity(pool: InfinityBin, way: tuple[int, int]) -> None:
    capacity = pool.curve(*tokens(pool, way)).capacity
    assume(capacity > 1e6)
    swap(pool, way, int(capacity))
    rounding = 2 * len(pool.bins.ids) + 2
    with pytest.raises(InsufficientLiquidity):
        swap(pool, way, int(capacity * (1 + 2**-40)) + rounding)


@given(infinity_bin_pools(), directions, parts)
def test_the_curve_is_just_above_the_exact_swap(pool: InfinityBin, way: tuple[int, int], part: float) -> None:
    amount_in = amount_of(pool, way, part)
    amount_out, _ = swap(pool, way, amount_in)
    curve = pool.curve(*tokens(pool, way))
    rounding = (1 + len(pool.bins.ids)) * 2 * (1 + curve.start_rate)
    assert -1e-12 * amount_out <= curve.amount_out(float(amount_in)) - amount_out <= 1e-7 * amount_out + rounding


@given(infinity_bin_pools(), directions, st.lists(parts, min_size=2, max_size=6))
def test_the_curve_is_increasing_and_concave(pool: InfinityBin, way: tuple[int, int], some: list[float]) -> None:
    curve = pool.curve(*tokens(pool, way))
    assume(curve.capacity > 0)
    points = [(x, curve.amount_out(x)) for x in (0.0, *(curve.capacity * part for part in sorted(some)))]
    for (x, y), (next_x, next_y) in pairwise(points):
        assert next_y >= y
        assert next_y - y <= curve.rate(x) * (next_x - x) * (1 + 1e-12) + 1e-12 * next_y
        if next_x < curve.capacity:
            assert next_y - y >= curve.rate(next_x) * (next_x - x) * (1 - 1e-12) - 1e-12 * next_y


@given(infinity_bin_pools(), directions, parts, st.floats(0.0, 1.0))
def test_trading_to_a_rate_reaches_it(pool: InfinityBin, way: tuple[int, int], part: float, fraction: float) -> None:
    curve = pool.curve(*tokens(pool, way))
    assume(curve.capacity > 0)
    rate = curve.rate(curve.capacity * part * 0.999) * (1 - fraction * 1e-8)
    amount_in, amount_out, slope = curve.trade_to_marginal_rate(rate)
    assert 0 <= amount_in <= curve.capacity
    assert isfinite(slope)
    assert slope >= 0
    assert curve.amount_out(amount_in) == pytest.approx(amount_out, rel=1e-12)
    # Between two bins the rate jumps; around the trade it brackets the given rate.
    assert curve.rate(amount_in * (1 - 1e-12)) >= rate * (1 - 1e-9)
    assert curve.rate(amount_in * (1 + 1e-12)) <= rate * (1 + 1e-9)


@given(infinity_bin_pools(), directions, parts)
def test_gas_counts_the_bins_between(pool: InfinityBin, way: tuple[int, int], part: float) -> None:
    _, after = swap(pool, way, amount_of(pool, way, part))
    low, high = sorted((pool.active_id, after.active_id))
    passed = [bin_id for bin_id in pool.bins.ids if low <= bin_id <= high]
    assert pool.gas_units(after) - pool.swap_gas in (BIN_GAS * len(passed), BIN_GAS * (len(passed) - 1))


def test_a_joined_segment_replaces_rising_rates() -> None:
    curve = BinCurve([(1.0, 100), (0.5, 100), (0.8, 100), (0.2, 100)], 1 << 127)
    assert curve.amount_out(100.0) == pytest.approx(100.0)
    assert curve.amount_out(100.0 + 200 + 125) == pytest.approx(300.0)
    assert curve.amount_out(100.0 + 325 / 2) == pytest.approx(200.0, rel=1e-7)
    assert curve.capacity == pytest.approx(100.0 + 325 + 500)


@pytest.mark.parametrize("step", [1, 25, 100])
def test_a_bin_up_raises_the_price_by_one_step(step: int) -> None:
    for bin_id in range(BASE_ID - 1000, BASE_ID + 1000, 37):
        ratio = price_of_bin(step, bin_id + 1) / price_of_bin(step, bin_id)
        assert ratio == pytest.approx(1 + step / 10_000, rel=1e-14)
    assert price_of_bin(step, BASE_ID) == 1 << 128


@given(st.sampled_from([1, 5, 25, 100]), st.floats(-80.0, 80.0), st.booleans())
def test_the_rate_of_a_bin_is_its_price_in_floats(step: int, log_price: float, swap_for_y: bool) -> None:
    bin_id = BASE_ID + int(log_price * 10_000 / step)
    exact = price_of_bin(step, bin_id) / 2**128
    assert rate_of_bin(step, bin_id, swap_for_y) == pytest.approx(exact if swap_for_y else 1 / exact, rel=2e-14)


def test_an_unlisted_bin_is_not_found_again() -> None:
    pool = replace(POOL, is_active_bin_listed=False)
    assert pool.swap(A, B, 10)[1].bins.ids == POOL.bins.ids
    _, after = pool.swap(A, B, 5000)
    assert after.active_id == BASE_ID - 3
    assert after.bins.ids == (BASE_ID - 3, BASE_ID + 1)
    assert after.is_active_bin_listed
    back, again = after.swap(B, A, 100_000)
    assert again.active_id == BASE_ID + 1
    listed_back, _ = POOL.swap(A, B, 5000)[1].swap(B, A, 100_000)
    assert listed_back > back


@pytest.mark.parametrize(
    ("amount_in", "error"), [(1, SwapReverts), (2**127, SwapReverts), (10**9, InsufficientLiquidity)]
)
def test_amounts_that_the_contract_reverts(amount_in: int, error: type[PoolError]) -> None:
    with pytest.raises(error):
        POOL.swap(A, B, amount_in)


def test_a_bin_that_would_overflow_reverts() -> None:
    full = (2**107, 2**107)
    bins = [[BASE_ID, *map(str, full)]]
    pool = InfinityBin.from_state(IDENTITY, STATE | {"bins": bins})
    with pytest.raises(SwapReverts, match="more than the contract allows"):
        pool.swap(A, B, 2**106)


def test_an_empty_pool_trades_nothing() -> None:
    pool = InfinityBin.from_state(IDENTITY, STATE | {"bins": []})
    assert (pool.curve(A, B).start_rate, pool.curve(A, B).capacity) == (0.0, 0.0)
    assert pool.curve(A, B).trade_to_marginal_rate(1e-9) == (0.0, 0.0, 0.0)
    with pytest.raises(InsufficientLiquidity):
        pool.swap(A, B, 1)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("active_id", {"active_id": 0}),
        ("bin_step", {"bin_step": 11}),
        ("bins[1]", {"bins": [[BASE_ID, "1", "1"], [BASE_ID, "1", "1"]]}),
        ("bins[0]", {"bins": [[BASE_ID - 1, "1", "1"]]}),
        ("bins[0]", {"bins": [[BASE_ID + 1, "1", "1"]]}),
        ("bins[0]", {"bins": [[BASE_ID, "1"]]}),
        ("bins[1]", {"bins": [[BASE_ID, "1", "1"], 7]}),
        ("bins[0]", {"bins": ["123"]}),
        ("bins[0]", {"bins": [[BASE_ID, "1", "1", "1"]]}),
        ("bins[1]", {"bins": [[BASE_ID, "1", "1"], [BASE_ID + 1, "x", "0"]]}),
        ("bins[0]", {"bins": [[BASE_ID, "1", "-1"]]}),
        ("bins[0]", {"bins": [[BASE_ID, str(2**128), "1"]]}),
        ("bins", {"bins": [[5, "0", "1"]]}),
        ("protocol_fees_ppm[1]", {"protocol_fees_ppm": [0, 4001]}),
        ("active_bin_listed", {"active_bin_listed": False, "active_id": BASE_ID - 1, "bins": []}),
        ("hooks", {"parameters": f"0x{(10 << 16) + 2:064x}"}),
        ("hooks", {"dynamic_fee": True}),
        ("hooks", {"hooks": HOOK, "parameters": f"0x{(10 << 16) + (1 << 6):064x}"}),
        ("hooks", {"hooks": HOOK, "parameters": f"0x{(10 << 16) + (3 << 10):064x}"}),
        ("pool_id", {"pool_id": "0x11"}),
    ],
)
def test_contradictory_state_is_refused(field: str, change: dict[str, object]) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        InfinityBin.from_state(IDENTITY, STATE | change)
    assert caught.value.details["field"] == field


def test_hooks_that_only_watch_are_accepted() -> None:
    watching = 0b11_0011_1011_1111  # all 14 callbacks but beforeSwap and the deltas of swaps
    state = STATE | {"hooks": HOOK, "dynamic_fee": True, "parameters": f"0x{(10 << 16) + watching:064x}"}
    pool = InfinityBin.from_state(IDENTITY, state)
    assert pool.swap(A, B, 1000)[0] == POOL.swap(A, B, 1000)[0]
    assert pool.api_extra_data()["fee"] == 0x800000


def test_other_tokens_are_not_traded() -> None:
    for way in ((A, A), (A, C), (C, B)):
        with pytest.raises(PoolError):
            POOL.swap(*way, 1)
        with pytest.raises(PoolError):
            POOL.curve(*way)


def tokens(pool: InfinityBin, way: tuple[int, int]) -> tuple[str, str]:
    return pool.tokens[way[0]], pool.tokens[way[1]]


def amount_of(pool: InfinityBin, way: tuple[int, int], part: float) -> int:
    capacity = pool.curve(*tokens(pool, way)).capacity
    assume(capacity >= 1)
    return max(1, int(capacity * part))


def swap(pool: InfinityBin, way: tuple[int, int], amount_in: int) -> tuple[int, InfinityBin]:
    """Sell an amount; skip the example where the output rounds to zero."""
    try:
        return pool.swap(*tokens(pool, way), amount_in)
    except SwapReverts as error:
        assume("rounds to zero" not in error.message)
        raise


def test_no_trade_exceeds_the_capacity() -> None:
    """The margin of a last bin with little in it can reach into the one before."""
    curve = BinCurve([(1.0, 10**14), (0.9, 1)], 10**30)
    assert curve.capacity < 10**14
    assert curve.trade_to_marginal_rate(0.95) == (curve.capacity, curve.amount_out(curve.capacity), 0.0)
