"""The price impact of a route on its own pools: exact where a closed form exists, and hard to falsify."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Route, Segment, Swap
from swapcli.core.routing.replay import replay
from swapcli.core.routing.route_price_impact import route_impact
from tests.support.pools import UNIT, build_concentrated, build_constant_product, build_token

A, B, C = build_token(2), build_token(3), build_token(4)


def through(*hops: tuple[tuple[Pool, int], ...]) -> Segment:
    """A segment of the whole order from A to B, over C where there are two hops; hops are pools with their shares."""
    tokens = [A, C, B] if len(hops) == 2 else [A, B]
    return Segment(
        10_000,
        tuple(
            tuple(Swap(pool.key, sold.address, bought.address, share) for pool, share in hop)
            for hop, sold, bought in zip(hops, tokens, tokens[1:], strict=False)
        ),
    )


def split(*segments: tuple[int, Segment]) -> Route:
    return Route(tuple(segment._replace(share=percent * 100) for percent, segment in segments))


def impact(route: Route, amount: int, *pools: Pool) -> float:
    by_key = {pool.key: pool for pool in pools}
    done = replay(by_key, route, amount)
    found = route_impact(by_key, route, amount, done.amount_out)
    assert found is not None
    return found


def pool(number: int, reserve_in: int, reserve_out: int, *, fee_ppm: int = 3000) -> Pool:
    return build_constant_product(number, A, B, reserve_in, reserve_out, fee_ppm)


@given(st.integers(10**18, 10**27), st.floats(1e-4, 1e3), st.sampled_from([0, 3000, 10_000]))
def test_one_constant_product_pool_matches_the_formula(reserve: int, size: float, fee_ppm: int) -> None:
    market, amount = pool(0, reserve, 3 * reserve, fee_ppm=fee_ppm), int(reserve * size)
    after_fee = amount * (1 - fee_ppm / 1e6)
    found = impact(split((100, through(((market, 10_000),)))), amount, market)
    assert found == pytest.approx(after_fee / (reserve + after_fee), rel=1e-6, abs=1e-9)


@given(st.integers(2, 30), st.floats(1e-3, 10.0))
def test_over_many_alike_pools_it_is_that_of_each(count: int, size: float) -> None:
    pools = [pool(number, 10**21, 10**21, fee_ppm=0) for number in range(count)]
    share = 10_000 // count
    shares = [share] * (count - 1) + [10_000 - share * (count - 1)]
    amount = int(10**21 * size) * count
    found = impact(split((100, through(tuple(zip(pools, shares, strict=True))))), amount, *pools)
    assert found == pytest.approx(size / (1 + size), rel=0.01, abs=1e-6)


@given(st.integers(1, 10**30), st.integers(2, 10**27), st.integers(2, 10**27))
def test_it_lies_between_nothing_and_all_whatever_the_amounts(amount: int, reserve_in: int, reserve_out: int) -> None:
    market = pool(0, reserve_in, reserve_out)
    try:
        found = impact(split((100, through(((market, 10_000),)))), amount, market)
    except PoolError:
        assume(False)
    assert 0.0 <= found <= 1.0


@given(st.floats(1e-4, 10.0), st.floats(1.01, 10.0))
def test_a_larger_order_has_a_larger_impact(size: float, factor: float) -> None:
    market = pool(0, 10**24, 10**24)
    route = split((100, through(((market, 10_000),))))
    small, large = (impact(route, int(10**24 * each), market) for each in (size, size * factor))
    assert small <= large + 1e-9


@pytest.mark.parametrize("amount", [5, 7, 10, 99, 1_001])
@pytest.mark.parametrize("reserve_out", [10**24, 3 * 10**23])
def test_what_is_rounded_away_of_a_few_units_is_no_impact(amount: int, reserve_out: int) -> None:
    market = pool(0, 10**24, reserve_out)
    assert impact(split((100, through(((market, 10_000),)))), amount, market) == 0.0


@given(st.floats(1.5, 1e6), st.integers(1, 499))
def test_a_tiny_pool_shifts_the_impact_by_at_most_its_share(better: float, share: int) -> None:
    """However good the price that it begins with."""
    order = 10**21
    deep, dust = pool(0, 10**24, 10**24), pool(1, int(10**18 / better), 10**18)
    without = impact(split((100, through(((deep, 10_000),)))), order, deep)
    route = split((100, through(((deep, 10_000 - share), (dust, share)))))
    assert impact(route, order, deep, dust) <= without + 2 * share / 10_000


def test_impact_is_measured_against_the_best_price() -> None:
    """A deep pool far off the market takes 90 of 100: what the good pool pays for a small order is what counts."""
    good, bad = pool(0, 10 * UNIT, 10 * UNIT, fee_ppm=0), pool(1, 10**6 * UNIT, 10**5 * UNIT, fee_ppm=0)
    route = split((10, through(((good, 10_000),))), (90, through(((bad, 10_000),))))
    amount = 100 * UNIT
    found = impact(route, amount, good, bad)
    assert found > 0.7


def test_hops_multiply() -> None:
    first = build_constant_product(0, A, C, 10**24, 10**24, 0)
    second = build_constant_product(1, C, B, 10**24, 10**24, 0)
    route = split((100, through(((first, 10_000),), ((second, 10_000),))))
    found = impact(route, 10**23, first, second)
    one = 1 / 11
    assert found == pytest.approx(1 - (1 - one) * (1 - 1 / 12), rel=0.02)


def test_a_concentrated_pool_that_runs_dry_loses_nearly_all() -> None:
    market = build_concentrated(0, A, B, 10**20, 1.0, 6_000)
    capacity = market.curve(A.address, B.address).capacity
    route = split((100, through(((market, 10_000),))))
    assert impact(route, int(capacity / 1e6), market) < 1e-3
    assert impact(route, int(capacity * 0.99), market) > 0.2
