"""Where a falling fee makes the marginal rate rise, the curve is its concave hull."""

from __future__ import annotations

from itertools import pairwise
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.curve.stableswap import StableSwap
from swapcli.families.curve.stableswap_curve import StableSwapCurve
from swapcli.testing.strategies import ADDRESS, TOKENS

A, B = TOKENS[:2]
WAD = 10**18

imbalances = st.floats(0.05, 0.9)
multipliers = st.sampled_from([2 * 10**10, 5 * 10**10, 20 * 10**10])
fees = st.sampled_from([100, 1000, 10_000])
places_in_trade = st.floats(0.0, 1.0)


def flat_pool(imbalance: float, fee_ppm: int, multiplier: int) -> StableSwap:
    """So flat that the fee falls faster than the price when the scarce coin is sold."""
    reserves = int(10**24 * imbalance), 10**24
    return StableSwap(ADDRESS, "test", (A, B), (18, 18), fee_ppm, reserves, 1_000_000, (WAD, WAD), multiplier)


@given(imbalances, fees, multipliers, st.lists(places_in_trade, min_size=1, max_size=5))
def test_the_hull_lies_above_what_the_pool_pays_and_close_to_it(
    imbalance: float, fee_ppm: int, multiplier: int, places: list[float]
) -> None:
    pool = flat_pool(imbalance, fee_ppm, multiplier)
    curve = pool.curve(A, B)
    for place in places:
        amount_in = int(10**18 + place * 10**24)
        exact, _ = pool.swap(A, B, amount_in)
        hull = curve.amount_out(float(amount_in))
        assert exact <= hull * (1 + 1e-7)  # the tilt
        assert exact >= hull * (1 - 0.5 * multiplier / 10**10 * fee_ppm / 10**6)


@given(imbalances, fees, multipliers, st.lists(places_in_trade, min_size=3, max_size=9))
def test_the_hull_is_concave_to_the_float(imbalance: float, fee_ppm: int, multiplier: int, places: list[float]) -> None:
    pool = flat_pool(imbalance, fee_ppm, multiplier)
    curve = pool.curve(A, B)
    amounts = sorted({0.0, *(1e15 + place * 1.5e24 for place in places)})
    rates = [curve.rate(amount) for amount in amounts if curve.rate(amount) > 0]
    for (less, rate), (more, lower) in pairwise(zip(amounts, rates, strict=False)):
        assert lower <= rate * (1 + 1e-12)
        gain = curve.amount_out(more) - curve.amount_out(less)
        noise = 1e-12 * curve.amount_out(more)
        assert lower * (more - less) * (1 - 2e-7) - noise <= gain <= rate * (more - less) * (1 + 2e-7) + noise


def test_a_chord_starts_at_nothing_where_the_rate_rises_at_once() -> None:
    pool = flat_pool(0.5, 1000, 5 * 10**10)
    curve = pool.curve(A, B)
    first_unit = pool.swap(A, B, 10**18)[0] / 10**18
    assert curve.start_rate > first_unit * (1 + 1e-6)
    average = max(pool.swap(A, B, k * 10**22)[0] / (k * 10**22) for k in range(1, 200))
    assert curve.start_rate == pytest.approx(average, rel=1e-7)


def test_a_chord_spans_a_rise_in_the_middle() -> None:
    reserves = 10**22, 10**24  # a steep fall first, then a flat stretch that the fee lifts
    pool = StableSwap(ADDRESS, "test", (A, B), (18, 18), 10_000, reserves, 20_000, (WAD, WAD), 2 * 10**10)
    curve = pool.curve(A, B)
    assert isinstance(curve, StableSwapCurve)
    assert curve._chord is not None
    (low, _), (high, _) = curve._chord.low, curve._chord.high
    assert 0 < low < high
    for edge in (low, high):
        amount = edge * curve._unit_in
        assert curve.amount_out(amount * (1 - 1e-9)) == pytest.approx(curve.amount_out(amount * (1 + 1e-9)), rel=1e-8)
        assert curve.rate(amount * (1 - 1e-9)) == pytest.approx(curve.rate(amount * (1 + 1e-9)), rel=1e-6)


@given(imbalances, st.floats(0.0, 1.0))
def test_rates_within_a_chord_are_told_apart(imbalance: float, place: float) -> None:
    pool = flat_pool(imbalance, 1000, 5 * 10**10)
    curve = pool.curve(A, B)
    rate = curve.start_rate * exp(-1e-7 * place)
    amount_in, amount_out, slope = curve.trade_to_marginal_rate(rate)
    assert curve.amount_out(amount_in) == pytest.approx(amount_out, rel=1e-9)
    assert curve.rate(amount_in) == pytest.approx(rate, rel=1e-12)
    assert slope >= 0


def test_no_chord_where_the_fee_is_constant_or_only_rises() -> None:
    for pool, direction in ((flat_pool(0.5, 1000, 0), (0, 1)), (flat_pool(0.5, 1000, 5 * 10**10), (1, 0))):
        curve = pool.curve(*(pool.tokens[k] for k in direction))
        assert isinstance(curve, StableSwapCurve)
        assert curve._chord is None


def test_a_fee_that_outgrows_the_price_stops_the_curve() -> None:
    pool = StableSwap(ADDRESS, "test", (A, B), (18, 18), 10_000, (10**24, 10**24), 100, (WAD, WAD), 50 * 10**10)
    curve = pool.curve(A, B)
    assert curve.rate(1e28) == 0.0
    amount_in, _, _ = curve.trade_to_marginal_rate(1e-12)
    assert curve.amount_out(amount_in) >= curve.amount_out(amount_in * 10)
    assert pool.swap(A, B, int(amount_in))[0] > pool.swap(A, B, int(amount_in * 10))[0]


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**30),
    st.integers(1, 10**30),
    st.sampled_from([0, 10**10 + 1, 2 * 10**10]),
    st.sampled_from([WAD, WAD // 2, WAD**2]),
)
def test_any_reserves_of_a_pool_have_a_curve(
    amp: int, reserve: int, other_reserve: int, multiplier: int, rate: int
) -> None:
    pool = StableSwap(ADDRESS, "test", (A, B), (18, 18), 400, (reserve, other_reserve), amp, (WAD, rate), multiplier)
    for sold, bought in ((A, B), (B, A)):
        curve = pool.curve(sold, bought)
        assert curve.start_rate >= 0.0
        assert curve.amount_out(1e6) >= 0.0


@pytest.mark.parametrize(("reserve", "other_reserve"), [(1, 10**18), (1, 10**24), (10**3, 10**21)])
def test_a_pool_that_is_all_but_one_sided_has_a_curve(reserve: int, other_reserve: int) -> None:
    curve = StableSwap(
        ADDRESS, "test", (A, B), (18, 18), 400, (reserve, other_reserve), 1, (WAD, WAD), 10**10 + 1
    ).curve(A, B)
    assert isinstance(curve, StableSwapCurve)
    assert curve.start_rate > 1e3
    sold, bought, _ = curve.trade_to_marginal_rate(curve.start_rate / 2)
    assert curve.amount_out(sold) == pytest.approx(bought, rel=1e-6)


@pytest.mark.parametrize("amount_in", [1.0, 1e18, 1e100])
def test_a_trade_that_leaves_nothing_has_almost_no_rate(amount_in: float) -> None:
    """One unit of the input is worth 10^68 of the output, so that the pool's balance after it has no float."""
    balance = 10**24
    curve = StableSwapCurve((balance, balance), 2 * balance, (0, 1), 1_000.0, 0.0, 0.0, (1e-75, 1.0))
    assert curve.amount_out(amount_in) == pytest.approx(balance)
    assert 0.0 <= curve.rate(amount_in) < 1e-60
