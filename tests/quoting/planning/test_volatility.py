"""Volatility, measured on paths whose volatility is known."""

from __future__ import annotations

from math import inf, isfinite, sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.quoting.planning.price_path import PricePath, Unmeasured
from swapcli.quoting.planning.volatility import VolatilityEstimate, estimate_volatility
from tests.quoting.planning.price_paths import Market

VOLATILITY = 1e-4


def walk(seed: int, bounce: float = 0.0, move_every_s: float = 12.0) -> PricePath:
    rng, price = Random(seed), 0.0
    times_s, log_prices = [0.0], [0.0]
    for k in range(1, int(14_400 / move_every_s)):
        price += rng.gauss(0.0, VOLATILITY * sqrt(move_every_s))
        times_s.append(k * move_every_s)
        log_prices.append(price + rng.choice((-bounce, bounce)))
    return PricePath(times_s, log_prices, 14_400.0)


@pytest.mark.parametrize("bounce", [pytest.param(0.0, id="walk"), pytest.param(0.002, id="bounces of 20 bps")])
def test_the_volatility_is_in_its_interval(bounce: float) -> None:
    """A 90% interval of 20 paths: 15 or more in 99% of the cases."""
    found = [estimate_volatility(walk(seed, bounce)) for seed in range(20)]
    estimates = [each for each in found if isinstance(each, VolatilityEstimate)]
    assert len(estimates) == 20
    assert sum(each.low <= VOLATILITY <= each.high for each in estimates) >= 15
    assert all(0.4 < each.per_sqrt_s / VOLATILITY < 2.5 for each in estimates)


def test_swaps_and_arbitrage_hardly_add_to_it() -> None:
    market = Market(20.0, VOLATILITY)
    found = [estimate_volatility(market.path(seed), 20.0) for seed in range(10)]
    ratios = sorted(each.per_sqrt_s / VOLATILITY for each in found if isinstance(each, VolatilityEstimate))
    assert 0.7 < ratios[len(ratios) // 2] < 1.5, ratios


def test_what_hardly_moves_is_unknown() -> None:
    path = PricePath([0.0, 10.0, 20.0, 9_000.0], [0.0, 0.1, 0.0, 0.1], 14_400.0)
    assert isinstance(estimate_volatility(path), Unmeasured)
    assert isinstance(estimate_volatility(PricePath([7.0], [0.0], 7.0)), Unmeasured)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.floats(-50, 50)), min_size=1, max_size=120),
    st.integers(0, 1_000),
    st.floats(0.001, 1e9) | st.none(),
)
def test_no_path_gives_nonsense(moves: list[tuple[int, float]], rest_s: int, half_life_s: float | None) -> None:
    times_s, log_prices, time_s = [], [], 0.0
    for gap_s, log_price in moves:
        time_s += gap_s
        times_s.append(time_s)
        log_prices.append(log_price)
    found = estimate_volatility(PricePath(times_s, log_prices, time_s + rest_s), half_life_s)
    if isinstance(found, VolatilityEstimate):
        assert 0.0 < found.low <= found.per_sqrt_s <= found.high < inf
        assert isfinite(found.interval_s)
