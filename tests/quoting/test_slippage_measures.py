"""The advised slippage: no sandwich has a profit below its bound, and fees only raise it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import inf

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Route, Segment, Step, Swap
from swapcli.core.model.units import PPM
from swapcli.core.routing.replay import Replay, replay, swap_exactly
from swapcli.families import FAMILIES
from swapcli.interface.slippage import V1_SLIPPAGE
from swapcli.quoting.slippage_measures import (
    MAX_BOUND_PPM,
    SandwichBound,
    advise_slippage,
    bound_sandwich,
    measure_movement,
)
from tests.examples import few
from tests.support.extreme_families import build_extreme_pool
from tests.support.pools import UNIT, build_concentrated, build_constant_product, build_solidly_stable, build_token

A, B, C = (build_token(number) for number in range(3))
FEES = st.sampled_from([0, 100, 500, 3_000, 10_000])
SIZES = st.floats(0.0001, 3.0)
GAS = st.floats(0.0, 30_000.0)
"""Of the two transactions, in ppm of the order."""


def path(pools: Sequence[Sequence[Pool]]) -> Route:
    """One path from A over hops of equal shares."""
    ends = [A, B, C]
    share = 10_000
    hops = [
        tuple(Swap(pool.key, ends[k].address, ends[k + 1].address, share // len(hop)) for pool in hop)
        for k, hop in enumerate(pools)
    ]
    return Route((Segment(10_000, tuple(hops)),))


def bound(done: Replay, pools: dict[str, Pool], amount_in: int, gas_ppm: float) -> SandwichBound:
    """The bound at a gas price by which the two transactions cost `gas_ppm` of the order."""
    units = 2 * (21_000 + min(pool.swap_gas for pool in pools.values()))
    return bound_sandwich(done.steps, pools, amount_in, done.amount_out, gas_ppm / units)


@st.composite
def single_pools(draw: st.DrawFn) -> Pool:
    fee_ppm = draw(FEES)
    match draw(st.sampled_from(["constant_product", "concentrated", "solidly_stable"])):
        case "constant_product":
            reserve_a, reserve_b = (int(draw(st.floats(1e3, 1e9)) * UNIT) for _ in range(2))
            return build_constant_product(1, A, B, reserve_a, reserve_b, fee_ppm)
        case "concentrated":
            liquidity, price = int(draw(st.floats(1e3, 1e9)) * UNIT), draw(st.floats(0.01, 100.0))
            return build_concentrated(1, A, B, liquidity, price, draw(st.integers(100, 20_000)), fee_ppm)
        case _:
            return build_solidly_stable(1, A, B, draw(st.floats(1e3, 1e9)), draw(st.floats(0.8, 0.999)), fee_ppm)


def depth(pool: Pool) -> int:
    """About as much of A as halves the price of the pool."""
    amount = UNIT
    start = pool.curve(A.address, B.address)
    while start.rate(amount) > start.start_rate / 2:
        amount *= 2
    return amount


@given(single_pools(), SIZES, GAS, st.floats(1e-4, 30.0))
def test_no_sandwich_below_the_bound_has_a_profit(pool: Pool, size: float, gas_ppm: float, front_size: float) -> None:
    amount_in, pools = int(depth(pool) * size), {pool.key: pool}
    front = int(amount_in * front_size)
    try:
        done = replay(pools, path([[pool]]), amount_in)
        bought, before = pool.swap(A.address, B.address, front)
        received, after = before.swap(A.address, B.address, amount_in)
        gained = after.swap(B.address, A.address, bought)[0] - front
    except PoolError:
        assume(False)
    found = bound(done, pools, amount_in, gas_ppm)
    limit_ppm = MAX_BOUND_PPM if found.limit_ppm is None else found.limit_ppm
    if received * PPM >= done.amount_out * (PPM - limit_ppm):
        assert gained * PPM <= amount_in * gas_ppm + PPM


@given(
    st.lists(st.tuples(st.floats(1e3, 1e6), FEES), min_size=3, max_size=3),
    SIZES,
    GAS,
    st.lists(st.floats(0.0, 2.0), min_size=3, max_size=3),
)
def test_nor_has_one_in_several_pools_of_a_route(
    reserves: list[tuple[float, int]], size: float, gas_ppm: float, fronts: list[float]
) -> None:
    """Two pools beside each other, and one after them: the sandwich is valued at the rates of the route."""
    ends = [(A, B), (A, B), (B, C)]
    built = [
        build_constant_product(k, *ends[k], int(reserve * UNIT), int(reserve * UNIT), fee_ppm)
        for k, (reserve, fee_ppm) in enumerate(reserves)
    ]
    pools, amount_in = {pool.key: pool for pool in built}, int(reserves[0][0] * size * UNIT)
    route = path([built[:2], built[2:]])
    done = replay(pools, route, amount_in)
    found = bound(done, pools, amount_in, gas_ppm)
    worth = {A.address: 1.0, B.address: amount_in / sum(step.amount_out for step in done.steps[:2])}
    moved, bought, gained = dict(pools), {}, 0.0
    for step, front in zip(done.steps, fronts, strict=True):
        if sold := int(step.amount_in * front):
            bought[step.pool], moved[step.pool] = pools[step.pool].swap(step.token_in, step.token_out, sold)
            gained -= sold * worth[step.token_in]
    disturbed = replay(moved, route, amount_in)
    for step in done.steps:
        if amount := bought.get(step.pool):
            back, _ = disturbed.pools_after[step.pool].swap(step.token_out, step.token_in, amount)
            gained += back * worth[step.token_in]
    limit_ppm = MAX_BOUND_PPM if found.limit_ppm is None else found.limit_ppm
    if disturbed.amount_out * PPM >= done.amount_out * (PPM - limit_ppm):
        assert gained * PPM <= amount_in * gas_ppm + 3 * PPM


@given(st.floats(1e3, 1e6), st.floats(1e3, 1e6), SIZES, GAS, FEES, FEES)
def test_higher_fees_never_lower_the_bound_or_the_advice(
    reserve_in: float, reserve_out: float, size: float, gas_ppm: float, one: int, other: int
) -> None:
    advised = []
    for fee_ppm in sorted((one, other)):
        pool = build_constant_product(1, A, B, int(reserve_in * UNIT), int(reserve_out * UNIT), fee_ppm)
        amount_in = int(reserve_in * size * UNIT)
        done = replay({pool.key: pool}, path([[pool]]), amount_in)
        found = bound(done, {pool.key: pool}, amount_in, gas_ppm)
        limit_ppm = MAX_BOUND_PPM if found.limit_ppm is None else found.limit_ppm
        advised.append((limit_ppm, advise_slippage(None, found).slippage_ppm))
    (low, advised_low), (high, advised_high) = advised
    assert low <= high
    assert advised_low <= advised_high


@given(single_pools(), st.floats(0.001, 1.0), GAS)
def test_advice_above_the_bound_says_so(pool: Pool, size: float, gas_ppm: float) -> None:
    amount_in, pools = int(depth(pool) * size), {pool.key: pool}
    try:
        done = replay(pools, path([[pool]]), amount_in)
    except PoolError:
        assume(False)
    advice = advise_slippage(None, bound(done, pools, amount_in, gas_ppm))
    limit_ppm = advice.sandwich.limit_ppm
    is_above = limit_ppm is not None and advice.slippage_ppm > limit_ppm
    assert any("safer" in reason for reason in advice.reasons) == is_above
    assert advice.slippage_ppm >= V1_SLIPPAGE.min_ppm


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(10**6, 10**24)), min_size=1, max_size=30),
    st.integers(0, 120),
)
def test_advice_is_enough_for_every_fall_in_the_window(outputs: list[tuple[int, int]], window_s: int) -> None:
    movement = measure_movement(outputs, window_s)
    ordered = sorted(outputs)
    falls = [
        (before, after)
        for position, (earlier_s, before) in enumerate(ordered)
        for time_s, after in ordered[position + 1 :]
        if time_s - earlier_s <= window_s
    ]
    assert (movement is None) == (not falls)
    advised_ppm = advise_slippage(movement, SandwichBound(None, 0, 0)).slippage_ppm
    for before, after in falls:
        assert advised_ppm == MAX_BOUND_PPM or after * PPM >= before * (PPM - advised_ppm)


@given(st.lists(st.integers(10**9, 2 * 10**9), min_size=2, max_size=20), st.integers(0, 500_000))
def test_a_lower_newest_output_never_lowers_the_advice(outputs: list[int], lower_ppm: int) -> None:
    lower = [*outputs[:-1], outputs[-1] * (PPM - lower_ppm) // PPM]
    one, other = (
        advise_slippage(measure_movement(list(enumerate(each)), 60), SandwichBound(None, 0, 0)).slippage_ppm
        for each in (outputs, lower)
    )
    assert one <= other


@pytest.mark.parametrize("name", few(FAMILIES, 12))
def test_no_state_that_a_family_accepts_breaks_advice(name: str) -> None:
    rng, tokens = random.Random(name), [build_token(number, decimals) for number, decimals in enumerate((18, 6, 8, 0))]
    advised = 0
    for number in range(20):
        pool = build_extreme_pool(rng, number, name, [*tokens, *map(build_token, range(4, 8))])
        for amount_in in (1, 10**6, 10**18, 2**200) if pool else ():
            assert pool is not None
            token_in, token_out = rng.sample(pool.tokens, 2)
            try:
                amount_out, _ = swap_exactly(pool, token_in, token_out, amount_in)
            except PoolError:
                continue
            step = Step(pool.key, token_in, token_out, 10**6, amount_in, amount_out)
            for gas_unit_ppm in (None, 0.0, 1e-300, 1.0, inf):
                found = bound_sandwich([step], {pool.key: pool}, amount_in, amount_out, gas_unit_ppm)
                assert found.limit_ppm is None or 0 <= found.limit_ppm < MAX_BOUND_PPM
                assert 0 <= found.gain_ppm <= PPM
                advised += 1
    assert advised
