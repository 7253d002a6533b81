"""Modelled states of each family have the requested price and depth and are consistent."""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import combinations, permutations
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families import family
from swapcli.families.tick_math import MAX_TICK, Q96, sqrt_ratio_at_tick
from tests.generate.modelling import shapes
from tests.generate.modelling.exact import PRECISION, SeededRandom
from tests.generate.modelling.positions import concentrated_state

A, B, C = ("0x" + digit * 40 for digit in "abc")

# Dollars per whole token, decimals: from a meme coin to a bitcoin.
dollars = st.decimals("0.0000001", "100000", allow_nan=False, places=9)
decimal_places = st.sampled_from([6, 8, 9, 18])
depths = st.integers(10_000, 60_000_000)
offsets = st.decimals("-0.004", "0.004", places=6)
near_one = st.decimals("0.999", "1.001", places=5)


def unit_values(prices: tuple[Decimal, ...], decimals: tuple[int, ...]) -> tuple[Decimal, ...]:
    return tuple(price.scaleb(-places) for price, places in zip(prices, decimals, strict=True))


def read(name: str, state: dict[str, object], decimals: tuple[int, ...], fee_ppm: int = 3000) -> Pool:
    """Return the pool of a state; the family checks that the state is consistent."""
    return family(name).from_state(PoolIdentity(A, "dex", (A, B, C)[: len(decimals)], decimals, fee_ppm), state)


def value_of(state: dict[str, object], each: tuple[Decimal, ...]) -> Decimal:
    reserves = cast(list[str], state["reserves"])
    return sum((Decimal(reserve) * one for reserve, one in zip(reserves, each, strict=True)), Decimal(0))


@given(dollars, dollars, decimal_places, decimal_places, depths, offsets)
def test_a_constant_product_pool_is_at_its_price_and_depth(
    price0: Decimal, price1: Decimal, places0: int, places1: int, depth_usd: int, off: Decimal
) -> None:
    with localcontext(PRECISION):
        each = unit_values((price0, price1), (places0, places1))
        price = each[0] / each[1] * (1 + off)
        state = shapes.constant_product_state(price, each, depth_usd)
        x, y = (Decimal(reserve) for reserve in cast(list[str], state["reserves"]))
        assert abs(y / x / price - 1) < 2 / min(x, y)
        assert abs(value_of(state, each) / depth_usd - 1) < Decimal("0.0001")


@given(near_one, near_one, decimal_places, decimal_places, depths)
def test_a_solidly_pool_is_at_its_price_and_depth(
    price0: Decimal, price1: Decimal, places0: int, places1: int, depth_usd: int
) -> None:
    with localcontext(PRECISION):
        each = unit_values((price0, price1), (places0, places1))
        state = shapes.solidly_stable_state(each[0] / each[1], each, depth_usd, (places0, places1))
        assert abs(value_of(state, each) / depth_usd - 1) < Decimal("0.0001")
        pool = read("solidly_stable", state, (places0, places1), 500)
    rate = pool.curve(A, B).start_rate * float(each[1] / each[0])
    assert rate == pytest.approx(1 - 500 / 1e6, rel=1e-6)


@given(
    st.lists(near_one, min_size=2, max_size=3), st.integers(50, 2_000), depths, st.text("abc", min_size=3, max_size=9)
)
def test_a_stableswap_pool_is_within_its_fee_of_every_fair_rate(
    prices: list[Decimal], amp: int, depth_usd: int, seed: str
) -> None:
    decimals = (6, 18, 8)[: len(prices)]
    fee_ppm = 4_000  # 40 basis points: more than the prices of the strategy are apart
    with localcontext(PRECISION):
        each = unit_values(tuple(prices), decimals)
        state = shapes.stableswap_state(each, depth_usd, decimals, amp, fee_ppm, SeededRandom(seed))
        assert abs(value_of(state, each) / depth_usd - 1) < Decimal("0.0001")
        pool = read("stableswap", state, decimals, fee_ppm)
    for i, j in combinations(range(len(prices)), 2):
        for into, out in ((i, j), (j, i)):
            rate_ratio = pool.curve(pool.tokens[into], pool.tokens[out]).start_rate * float(each[out] / each[into])
            assert 1 - 2 * fee_ppm / 1e6 < rate_ratio < 1 - 0.09 * fee_ppm / 1e6


def test_a_stableswap_fee_too_low_to_stop_arbitrage_is_refused() -> None:
    with localcontext(PRECISION):
        each = unit_values((Decimal(1), Decimal("1.01")), (6, 6))
        with pytest.raises(ValueError, match="model another fee"):
            shapes.stableswap_state(each, 10**6, (6, 6), 100, 400, SeededRandom("x"))


@settings(deadline=None)
@given(
    dollars,
    dollars,
    decimal_places,
    decimal_places,
    depths,
    st.sampled_from([(100, 1), (500, 10), (3_000, 60), (10_000, 200), (400, 100), (10_000, 2_000), (3_000, 1)]),
    st.booleans(),
    st.text("abc", max_size=8),
)
def test_a_concentrated_pool_has_its_price_depth_and_ticks(
    price0: Decimal,
    price1: Decimal,
    places0: int,
    places1: int,
    depth_usd: int,
    tier: tuple[int, int],
    pegged: bool,
    seed: str,
) -> None:
    fee_ppm, spacing = tier
    with localcontext(PRECISION):
        each = unit_values((price0, price1), (places0, places1))
        price = each[0] / each[1]
        state: dict[str, Any] = concentrated_state(price, each, depth_usd, fee_ppm, spacing, pegged, SeededRandom(seed))
        sqrt_price = int(state["sqrt_price_x96"])
        root = Decimal(sqrt_price) / Q96
        assert abs(root * root / price - 1) < Decimal(2) / sqrt_price + Decimal("1e-20")
        ticks = [at for at, _ in state["ticks"]]
        nets = [int(net) for _, net in state["ticks"]]
        assert 20 <= len(ticks) <= 120
        assert ticks == sorted(set(ticks))
        assert all(at % spacing == 0 and abs(at) <= MAX_TICK for at in ticks)
        assert sum(nets) == 0
        assert int(state["liquidity"]) == sum(net for at, net in zip(ticks, nets, strict=True) if at <= state["tick"])
        assert sqrt_ratio_at_tick(state["tick"]) <= sqrt_price < sqrt_ratio_at_tick(state["tick"] + 1)
        assert abs(_value(state, each) / depth_usd - 1) < Decimal("0.0001")
    assert read("concentrated", state, (places0, places1), fee_ppm).state()["ticks"] == state["ticks"]


def _value(state: dict[str, Any], each: tuple[Decimal, ...]) -> Decimal:
    """Return the value of the liquidity between all ticks at the price, in dollars."""
    root = Decimal(state["sqrt_price_x96"]) / Q96
    total, liquidity = Decimal(0), 0
    for (lower, net), (upper, _) in zip(state["ticks"], state["ticks"][1:], strict=False):
        liquidity += int(net)
        low, high = (Decimal(sqrt_ratio_at_tick(tick)) / Q96 for tick in (lower, upper))
        inside = min(max(root, low), high)
        total += liquidity * ((1 / inside - 1 / high) * each[0] + (inside - low) * each[1])
    return total


def test_deep_pools_have_more_ticks_and_pegged_narrower_ranges() -> None:
    with localcontext(PRECISION):
        each = unit_values((Decimal(1), Decimal(1)), (18, 18))
        small, large = (
            len(
                cast(
                    list[object], concentrated_state(Decimal(1), each, depth, 500, 10, True, SeededRandom("x"))["ticks"]
                )
            )
            for depth in (50_000, 20_000_000)
        )
        assert small < large
        pegged, volatile = (
            cast(
                list[list[int]],
                concentrated_state(Decimal(1), each, 10**6, 500, 10, narrow, SeededRandom("x"))["ticks"],
            )
            for narrow in (True, False)
        )
        assert pegged[-1][0] - pegged[0][0] < volatile[-1][0] - volatile[0][0]


@given(st.tuples(dollars, dollars, dollars), st.tuples(*[decimal_places] * 3), depths, st.sampled_from([2, 3]))
def test_a_cryptoswap_pool_is_at_its_prices_and_depth(
    prices: tuple[Decimal, ...], places: tuple[int, ...], depth_usd: int, count: int
) -> None:
    with localcontext(PRECISION):
        each = unit_values(prices[:count], places[:count])
        if any(prices[k] * 10**4 < prices[0] or prices[k] > prices[0] * 10**8 for k in range(count)):
            return  # beyond the prices of the contract
        if depth_usd > count * 4 * 10**13 * prices[0]:
            return  # beyond its balances: the product of three of more than 4 * 10^13 tokens overflows a word
        state = shapes.cryptoswap_state(each, depth_usd, places[:count], 2_600)
        pool = read("cryptoswap", state, places[:count], 2_600)
        for i, j in permutations(range(count), 2):
            fair = float(each[i] / each[j])
            rate = pool.curve(pool.tokens[i], pool.tokens[j]).start_rate
            assert 0.9973 * fair < rate < 0.9975 * fair


@given(dollars, dollars, decimal_places, decimal_places, depths, offsets)
def test_a_weighted_pool_is_at_its_price_and_depth(
    price0: Decimal, price1: Decimal, places0: int, places1: int, depth_usd: int, off: Decimal
) -> None:
    with localcontext(PRECISION):
        each = unit_values((price0, price1), (places0, places1))
        state = shapes.balancer_v3_weighted_state(each, depth_usd, off, (80, 20))
        pool = read("balancer_v3_weighted", state, (places0, places1))
        rate = pool.curve(A, B).start_rate
        assert rate == pytest.approx(float(each[0] / each[1]) * 0.997, rel=0.0041)
        assert abs(value_of(state, each) / depth_usd - 1) < Decimal("0.004")
