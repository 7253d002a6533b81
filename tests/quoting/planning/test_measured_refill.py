"""The refill of pools, measured on paths whose refill is known."""

from __future__ import annotations

from math import inf, isfinite, isnan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.quoting.planning.measured_refill import MIN_SWAPS, MeasuredRefill, estimate_refill
from swapcli.quoting.planning.price_path import PricePath, Unmeasured
from tests.examples import examples
from tests.quoting.planning.price_paths import Market, recovering_path

SEEDS = examples(6, full=40)


def measured(path: PricePath) -> MeasuredRefill:
    found = estimate_refill(path)
    assert isinstance(found, MeasuredRefill), found
    return found


@pytest.mark.parametrize(("half_life_s", "residual"), [(10.0, 0.0), (25.0, 0.3), (60.0, 0.1)])
def test_an_exact_refill_is_found(half_life_s: float, residual: float) -> None:
    found = measured(recovering_path(half_life_s, residual, swaps=60))
    estimate = found.estimate
    assert estimate.half_life_s == pytest.approx(half_life_s, rel=0.2)
    assert estimate.half_life_low_s <= half_life_s <= estimate.half_life_high_s
    assert estimate.residual_low - 0.05 <= residual <= estimate.residual_high + 0.05
    assert estimate.displacement == pytest.approx(0.01 * (1 + residual), rel=0.1)
    assert found.fit_error < 0.1


@pytest.mark.parametrize(
    "market",
    [
        pytest.param(Market(20.0), id="fast"),
        pytest.param(Market(120.0, fee=0.0001), id="as slow as swaps follow each other"),
        pytest.param(Market(20.0, buys=1.0), id="swaps of one direction"),
        pytest.param(Market(20.0, volatility=2e-4), id="moving market"),
    ],
)
def test_the_half_life_is_in_its_interval(market: Market) -> None:
    """A 90% interval: of 6 paths, at most 2 do not have it in 98% of the cases."""
    found = [estimate_refill(market.path(seed)) for seed in range(SEEDS)]
    estimates = [each.estimate for each in found if isinstance(each, MeasuredRefill)]
    assert len(estimates) >= SEEDS * 2 / 3
    inside = [each.half_life_low_s <= market.half_life_s <= each.half_life_high_s for each in estimates]  # type: ignore[operator]
    assert inside.count(False) <= max(2, SEEDS / 5), estimates
    assert all(each.residual_share < 0.6 for each in estimates)


def test_without_refill_none_is_measured() -> None:
    found = [estimate_refill(Market(None, hours=12.0, swap_every_s=120.0).path(seed)) for seed in range(SEEDS)]
    estimates = [each.estimate for each in found if isinstance(each, MeasuredRefill)]
    assert len(estimates) >= SEEDS / 4, "the others are unknown: their prices moved too much"
    for each in estimates:
        assert (each.half_life_s, each.half_life_high_s, each.residual_share, each.residual_high) == (inf, inf, 1, 1)
        assert isfinite(each.half_life_low_s)


def test_a_trend_is_no_lack_of_refill_and_no_refill() -> None:
    """All swaps sell, and nothing comes back: each is followed by others that move the price further."""
    rng = Random("trend")
    times_s, log_prices = [0.0], [0.0]
    while times_s[-1] < 3_990.0:
        times_s.append(times_s[-1] + rng.expovariate(0.1))
        log_prices.append(log_prices[-1] - rng.uniform(0.5, 1.5) * 1e-3)
    found = estimate_refill(PricePath(times_s, log_prices, times_s[-1]))
    assert isinstance(found, Unmeasured) or found.estimate.residual_share == 1.0


def test_arbitrage_within_the_block_is_refill() -> None:
    times_s, log_prices, rng = [0.0], [0.0], Random("block")
    for k in range(40):
        direction = rng.choice((-1, 1))
        for price in (direction * 0.01, direction * 0.001):
            times_s.append(60.0 * (k + 1))
            log_prices.append(price)
    found = measured(PricePath(times_s, log_prices, 60.0 * 44))
    assert found.estimate.half_life_s < 30
    assert found.estimate.residual_share < 0.15


def test_swaps_within_the_fee_do_not_count() -> None:
    path = recovering_path(20.0, 0.0)
    assert isinstance(estimate_refill(path, least=0.009), MeasuredRefill)
    assert isinstance(estimate_refill(path, least=0.011), Unmeasured)


def test_few_swaps_are_no_measure() -> None:
    found = estimate_refill(recovering_path(20.0, 0.0, swaps=MIN_SWAPS - 2))
    assert isinstance(found, Unmeasured)
    assert "large swaps were found" in found.reason
    assert isinstance(estimate_refill(PricePath([5.0], [0.0], 5.0)), Unmeasured)


def test_a_broken_price_does_not_count() -> None:
    path = recovering_path(20.0, 0.0)
    log_prices = [*path.log_prices]
    log_prices[1_500] += 40.0
    broken = PricePath(path.times_s, log_prices, path.end_s)
    assert measured(broken).estimate.half_life_s == pytest.approx(20.0, rel=0.3)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.floats(-50, 50)), min_size=1, max_size=120),
    st.integers(0, 1_000),
)
def test_no_path_gives_nonsense(moves: list[tuple[int, float]], rest_s: int) -> None:
    times_s, log_prices, time_s = [], [], 0.0
    for gap_s, log_price in moves:
        time_s += gap_s
        times_s.append(time_s)
        log_prices.append(log_price)
    found = estimate_refill(PricePath(times_s, log_prices, time_s + rest_s))
    if isinstance(found, Unmeasured):
        return
    each = found.estimate
    assert 0.0 <= each.half_life_low_s <= each.half_life_s <= each.half_life_high_s
    assert 0.0 <= each.residual_low <= each.residual_share <= each.residual_high <= 1.0
    assert each.swaps >= MIN_SWAPS
    assert not isnan(found.fit_error)
    assert all(isfinite(value) for point in found.points for value in point)
