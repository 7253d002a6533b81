"""A hop's pools are filled so that no split of the amount delivers more."""

from __future__ import annotations

import random
from functools import partial
from itertools import permutations
from math import exp, inf, log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph
from swapcli.core.routing.solver.parallel_pools import Hop
from swapcli.families import family
from tests.core.routing.build import graph_of
from tests.support.pools import (
    UNIT,
    build_concentrated,
    build_constant_product,
    build_market,
    build_random_market,
    build_stableswap,
    build_token,
    seeds,
)

A, B = build_token(0), build_token(1)


@st.composite
def hops(draw: st.DrawFn, most: int = 8) -> Hop:
    """From one to `most` pools of any family, starting at rates that differ by up to 30%."""
    noise = draw(st.sampled_from([0.0, 0.8, 30]))
    market = build_random_market(
        draw(seeds), tokens=draw(st.integers(2, 3)), pools=draw(st.integers(2, most)), noise=noise, every_family=True
    )
    arcs = graph_of(market).arcs_by_pair[0].get(1, [])
    assume(arcs)
    return Hop(arcs)


def hop_of(*pools: Pool, hint: float = 0.0) -> Hop:
    return Hop(graph_of(build_market(pools, [A, B])).arcs_by_pair[0][1], hint)


parts = st.floats(-6, 0.5).map(lambda exponent: 10.0**exponent)
"""Of the depth of a hop, so that rates end between unchanged and far down."""


def amount_for(hop: Hop, part: float) -> float:
    depth: float = sum(arc.depth for arc in hop.arcs)
    return min(part * depth, 0.999 * hop.capacity)


def full_pools(hop: Hop, amount: float) -> bool:
    return any(x > 0.999999 * arc.curve.capacity for arc, x in zip(hop.arcs, hop.split(amount), strict=True))


def output(hop: Hop, split: list[float]) -> float:
    return sum(arc.curve.amount_out(x) for arc, x in zip(hop.arcs, split, strict=True))


@given(hops(), parts)
def test_the_parts_sum_to_the_amount_and_none_exceeds_its_pool(hop: Hop, part: float) -> None:
    amount = amount_for(hop, part)
    split = hop.split(amount)
    assert sum(split) == pytest.approx(amount, rel=1e-12)
    for arc, x in zip(hop.arcs, split, strict=True):
        assert 0.0 <= x <= arc.curve.capacity * (1 + 1e-9)


def test_many_equal_pools_are_split_in_few_evaluations() -> None:
    """At a rate for all of the amount, a StableSwap pool would be empty, far from where each of a hundred ends."""
    evaluations = 0

    def counted(arc: Arc, rate: float) -> tuple[float, float, float]:
        nonlocal evaluations
        evaluations += 1
        return arc.curve.trade_to_marginal_rate(rate)

    hop = hop_of(*(build_stableswap(k, (A, B), (1.0, 1.0), 1e6, 100, 400) for k in range(100)))
    for arc in hop.arcs:
        arc.trade_to_marginal_rate = partial(counted, arc)
    assert hop.split(20 * 10**24) == pytest.approx([2 * 10**23] * 100)
    assert evaluations <= 3 * 100


@given(hops(), parts, st.floats(1e-6, 1e-2))
def test_a_tolerance_leaves_as_much_less(hop: Hop, part: float, tolerance: float) -> None:
    amount = amount_for(hop, part)
    rough = Hop(hop.arcs, tolerance=tolerance)
    assert sum(rough.split(amount)) == pytest.approx(amount, rel=1e-12)
    assert rough.amount_out(amount) == pytest.approx(hop.amount_out(amount), rel=2 * tolerance)


@given(hops(), parts)
def test_no_pool_offers_a_better_rate_for_part_of_another(hop: Hop, part: float) -> None:
    amount = amount_for(hop, part)
    split = hop.split(amount)
    given_up = [arc.curve.rate(x * (1 - 1e-8)) for arc, x in zip(hop.arcs, split, strict=True) if x > 1e-8 * amount]
    offered = [arc.curve.rate(x * (1 + 1e-8) + 1e-8 * amount) for arc, x in zip(hop.arcs, split, strict=True)]
    assert max(offered) <= min(given_up) * (1 + 1e-4) + 1e-9 * hop.arcs[0].rate


@given(hops(), parts, seeds)
def test_no_other_split_delivers_more(hop: Hop, part: float, seed: int) -> None:
    amount, rng = amount_for(hop, part), random.Random(seed)
    best = hop.amount_out(amount)
    assert best == pytest.approx(output(hop, hop.split(amount)), rel=1e-12)
    for _ in range(20):
        weights = [rng.random() ** rng.choice([1, 8]) for _ in hop.arcs]
        split = [amount * weight / sum(weights) for weight in weights]
        if all(x <= arc.curve.capacity for arc, x in zip(hop.arcs, split, strict=True)):
            assert output(hop, split) <= best * (1 + 1e-9)


@given(hops(), parts)
def test_moving_a_thousandth_between_two_pools_gains_nothing(hop: Hop, part: float) -> None:
    amount = amount_for(hop, part)
    split = hop.split(amount)
    best = output(hop, split)
    for k, j in permutations(range(len(split)), 2):
        moved = split.copy()
        step = min(split[k], 1e-3 * amount)
        moved[k] -= step
        moved[j] += step
        if moved[j] <= hop.arcs[j].curve.capacity:
            assert output(hop, moved) <= best * (1 + 1e-9)


@given(hops(most=3), parts)
def test_two_pools_match_the_best_of_a_thousand_splits(hop: Hop, part: float) -> None:
    assume(len(hop.arcs) == 2)
    amount = amount_for(hop, part)
    one, other = (arc.curve for arc in hop.arcs)
    tried = [(amount * k / 1000, amount * (1000 - k) / 1000) for k in range(1001)]
    grid = [one.amount_out(x) + other.amount_out(y) for x, y in tried if x <= one.capacity and y <= other.capacity]
    assert hop.amount_out(amount) >= max(grid, default=0.0) * (1 - 1e-9)


@given(hops(), parts, parts)
def test_output_is_increasing_concave_and_has_the_rate_as_slope(hop: Hop, part: float, growth: float) -> None:
    low = amount_for(hop, part)
    high = min(low * (1 + growth), 0.9999 * hop.capacity)
    assume(high > low * (1 + 1e-5))
    gained, slack = hop.amount_out(high) - hop.amount_out(low), 1e-8 * hop.amount_out(high)
    assert hop.rate(high) * (high - low) * (1 - 1e-5) - slack <= gained
    assert gained <= hop.rate(low) * (high - low) * (1 + 1e-5) + slack
    assert gained >= -slack


@given(hops(), parts, st.floats(1e-12, 1e12))
def test_the_hint_and_earlier_questions_do_not_matter(hop: Hop, part: float, hint: float) -> None:
    amount = amount_for(hop, part)
    fresh = output(hop, Hop(hop.arcs).split(amount))
    assert output(hop, Hop(hop.arcs, hint).split(amount)) == pytest.approx(fresh, rel=1e-9)
    for other in (amount * 1e-3, amount, min(amount * 30, hop.capacity), amount):
        hop.split(other)
    assert output(hop, hop.split(amount)) == pytest.approx(fresh, rel=1e-9)


@given(parts, st.integers(1, 6))
def test_equal_pools_share_equally(part: float, count: int) -> None:
    hop = hop_of(*(build_constant_product(k, A, B, 10**24, 10**23) for k in range(count)))
    amount = amount_for(hop, part)
    assert hop.split(amount) == pytest.approx([amount / count] * count, rel=1e-6)


def test_a_single_pool_gets_everything_and_answers_for_the_hop() -> None:
    pool = build_constant_product(0, A, B, 10**24, 10**24)
    hop = hop_of(pool)
    assert hop.split(1e20) == [1e20]
    curve = pool.curve(A.address, B.address)
    assert (hop.amount_out(1e20), hop.rate(1e20)) == (curve.amount_out(1e20), curve.rate(1e20))


@pytest.mark.parametrize(("seed", "part"), [(309, 1), (816, 1), (1707, 1), (4, 3.16)])
def test_a_hop_with_a_pool_near_parity_is_filled_level(seed: int, part: float) -> None:
    """There a pool's supply is almost a jump, where tangents lead nowhere; plain halving finds the common rate."""
    rng = random.Random(seed)
    market = build_random_market(
        seed, tokens=rng.choice([2, 3]), pools=rng.randint(2, 8), noise=rng.choice([0.0, 0.8, 30]), every_family=True
    )
    hop = Hop(graph_of(market).arcs_by_pair[0][1])
    amount = amount_for(hop, part)
    low, high = log(1e-30), log(max(arc.rate for arc in hop.arcs))
    for _ in range(200):
        middle = (low + high) / 2
        takes_more = sum(arc.trade_to_marginal_rate(exp(middle))[0] for arc in hop.arcs) > amount
        low, high = (middle, high) if takes_more else (low, middle)
    best = output(hop, [arc.trade_to_marginal_rate(exp(high))[0] for arc in hop.arcs])
    assert hop.amount_out(amount) >= best * (1 - 1e-9)


# --- at capacity


NARROW = (build_concentrated(0, A, B, 10**21, 1.0, 600), build_concentrated(1, A, B, 10**22, 1.001, 1200))


def test_every_pool_is_full_at_capacity_and_more_adds_no_output() -> None:
    hop = hop_of(*NARROW)
    assert hop.capacity == sum(arc.curve.capacity for arc in hop.arcs)
    assert hop.split(hop.capacity) == pytest.approx([arc.curve.capacity for arc in hop.arcs])
    assert hop.amount_out(hop.capacity) == pytest.approx(sum(arc.curve.amount_out(inf) for arc in hop.arcs))
    assert hop.amount_out(hop.capacity * (1 + 1e-9)) == -inf


def test_beyond_capacity_the_parts_still_sum_to_the_amount() -> None:
    hop = hop_of(*NARROW)
    assert sum(hop.split(3 * hop.capacity)) == pytest.approx(3 * hop.capacity)


@given(st.floats(0.0, 1.0))
def test_a_pool_that_is_full_leaves_the_rest_to_the_others(part: float) -> None:
    narrow, deep = build_concentrated(0, A, B, 10**21, 1.0, 600), build_constant_product(1, A, B, 10**26, 10**26)
    hop = hop_of(narrow, deep)
    full = [arc.curve.capacity for arc in hop.arcs if arc.pool is narrow]
    amount = full[0] * 200 * (1 + part)
    taken = {arc.pool.key: x for arc, x in zip(hop.arcs, hop.split(amount), strict=True)}
    least = hop.rate(amount)
    if least < narrow.curve(A.address, B.address).rate(full[0] * 0.999999):
        assert taken[narrow.key] == pytest.approx(full[0], rel=1e-6)
    assert taken[deep.key] == pytest.approx(amount - taken[narrow.key])


@pytest.mark.parametrize("part", [0.5, 0.999, 1.5, 100])
def test_a_hop_with_a_full_pool_has_the_rate_of_the_others(part: float) -> None:
    narrow, deep = build_concentrated(0, A, B, 10**21, 1.0, 600), build_constant_product(1, A, B, 10**26, 10**24)
    hop = hop_of(narrow, deep)
    amount = part * narrow.curve(A.address, B.address).capacity
    slope = (hop.amount_out(amount * 1.0001) - hop.amount_out(amount)) / (amount * 0.0001)
    assert hop.rate(amount) == pytest.approx(slope, rel=1e-3)


def test_a_hop_whose_pools_are_all_full_has_no_rate() -> None:
    hop = hop_of(*NARROW)
    assert hop.rate(hop.capacity) == 0.0 < hop.rate(hop.capacity * 0.999)


# --- at a jump of the supply


def wrapping(other: Pool) -> Hop:
    """The native token for its wrapped form at rate 1 without limit, beside another pool of the two."""
    wrapper = family("wrapper").from_state(
        PoolIdentity(A.address, "wrapper", (ZERO_ADDRESS, A.address), (18, 18), 0), {}
    )
    return Hop(MarketGraph([wrapper, other], [ZERO_ADDRESS, A.address]).arcs_by_pair[0][1])


def beside(native_reserve: int, wrapped_reserve: int) -> Pool:
    identity = PoolIdentity("0x" + "f0" * 20, "v2", (ZERO_ADDRESS, A.address), (18, 18), 3000)
    state = {"reserves": [str(native_reserve), str(wrapped_reserve)]}
    return family("constant_product").from_state(identity, state)


@given(st.floats(0.01, 1e3))
def test_an_unlimited_pool_takes_what_others_price_worse(part: float) -> None:
    better = beside(10**24, 2 * 10**24)
    hop = wrapping(better)
    down_to_parity = better.curve(ZERO_ADDRESS, A.address).trade_to_marginal_rate(1.0)[0]
    amount = part * down_to_parity
    taken = {arc.pool.key: x for arc, x in zip(hop.arcs, hop.split(amount), strict=True)}
    assert taken[better.key] == pytest.approx(min(amount, down_to_parity), rel=1e-6)
    assert sum(taken.values()) == pytest.approx(amount)
    assert hop.capacity == inf


def test_a_pool_that_starts_below_an_endless_one_gets_nothing() -> None:
    worse = beside(10**24, 10**24)
    hop = wrapping(worse)
    taken = {arc.pool.key: x for arc, x in zip(hop.arcs, hop.split(float(UNIT)), strict=True)}
    assert taken == {A.address: pytest.approx(UNIT), worse.key: 0.0}
