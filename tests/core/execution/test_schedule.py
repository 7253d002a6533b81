"""Plans of large orders: what must hold whatever the market and the refill are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise, product
from math import inf, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidAmount, InvalidOption
from swapcli.core.execution.payout_curve import PayoutCurve, sample_payouts
from swapcli.core.execution.refill import RefillEstimate
from swapcli.core.execution.schedule import MAX_PARTS, ExecutionTerms, execution_frontier, plan_execution

RESERVE_IN, RESERVE_OUT = 10**21, 3 * 10**12
FEE = -log(0.997)
NONE = RefillEstimate(inf, inf, inf, 1.0, 0.97, 1.0, 0.05, 60)
AT_ONCE = RefillEstimate(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 60)
NO_FEE = 1e-15
"""Of a pool without a fee: full refill then brings the whole price back."""


def pool_payout(fee_ppm: int = 3000) -> Callable[[int], int]:
    """The output of a pool of Uniswap V2."""

    def payout(amount: int) -> int:
        after_fee = amount * (10**6 - fee_ppm)
        return after_fee * RESERVE_OUT // (RESERVE_IN * 10**6 + after_fee)

    return payout


def curve_of(amount_in: int, fee_ppm: int = 3000) -> PayoutCurve:
    fees = (FEE,) if fee_ppm else (NO_FEE,)
    return sample_payouts(pool_payout(fee_ppm), amount_in, RESERVE_OUT / RESERVE_IN, fees)


def terms_of(curve: PayoutCurve, refill: RefillEstimate | None, **fields: object) -> ExecutionTerms:
    values = {"horizon_s": 14_400.0, "gas_per_part": 1e6, "volatility": 1.4e-4} | fields
    return ExecutionTerms(curve.amount_in, refill=refill, **values)  # type: ignore[arg-type]


half_lives = st.floats(1.0, 10_000.0)
shares = st.floats(0.0, 1.0)
amounts = st.floats(18.5, 20.7).map(lambda digits: int(10**digits))


@st.composite
def refills(draw: st.DrawFn) -> RefillEstimate:
    fast, middle, slow = sorted(draw(half_lives) for _ in range(3))
    low, share, high = sorted(draw(shares) for _ in range(3))
    return RefillEstimate(middle, fast, slow, share, low, high, draw(st.floats(0.004, 0.1)), 40)


@given(amounts, refills() | st.none(), st.none() | st.integers(2, 12), st.sampled_from((0.0, 0.3, 2.0)), st.booleans())
def test_parts_sum_to_the_order_within_the_horizon(
    amount_in: int, refill: RefillEstimate | None, parts: int | None, risk: float, has_volatility: bool
) -> None:
    curve, payout = curve_of(amount_in), pool_payout()
    terms = terms_of(curve, refill, parts=parts, risk=risk, volatility=1.4e-4 if has_volatility else None)
    plan = plan_execution(curve, terms._replace(gas_per_part=0.0), payout)
    assert sum(part.amount_in for part in plan.parts) == amount_in
    assert all(part.amount_in > 0 and part.payout > 0 for part in plan.parts)
    assert parts is None or len(plan.parts) == parts
    starts_s = [part.start_s for part in plan.parts]
    assert starts_s[0] == 0.0
    assert starts_s == sorted(set(starts_s))
    assert starts_s[-1] <= 14_400.0
    for part in plan.parts:
        assert part.payout == payout(part.displaced + part.amount_in) - (part.displaced and payout(part.displaced))
    assert plan.forecast.payout == sum(part.payout for part in plan.parts)
    assert plan.forecast.low <= plan.forecast.cost <= plan.forecast.high
    assert plan.forecast.cost == pytest.approx(plan.forecast.impact + plan.forecast.gas)
    assert (plan.forecast.risk is None) is not has_volatility


@given(amounts, st.integers(2, 12))
def test_without_refill_parts_pay_what_one_swap_pays(amount_in: int, parts: int) -> None:
    """The payouts of the parts telescope, to the unit; each further part only costs gas."""
    curve, payout = curve_of(amount_in), pool_payout()
    plan = plan_execution(curve, terms_of(curve, NONE, parts=parts, gas_per_part=0.0), payout)
    assert plan.forecast.payout == payout(amount_in)
    assert not plan.waiting_gains
    alone = plan_execution(curve, terms_of(curve, NONE), payout)
    assert len(alone.parts) == 1
    assert not alone.waiting_gains
    assert alone.forecast == alone.one_shot


@given(amounts, st.integers(2, 12))
def test_with_full_refill_each_part_pays_like_the_first(amount_in: int, parts: int) -> None:
    curve, payout = curve_of(amount_in, 0), pool_payout(0)
    plan = plan_execution(curve, terms_of(curve, AT_ONCE, parts=parts, gas_per_part=0.0), payout)
    assert all(part.displaced < amount_in * 1e-6 for part in plan.parts)
    assert plan.forecast.payout == pytest.approx(parts * payout(amount_in // parts), rel=1e-6)


@given(amounts, half_lives, half_lives)
def test_faster_refill_never_costs_more(amount_in: int, one: float, other: float) -> None:
    curve = curve_of(amount_in)
    costs = [
        plan_execution(
            curve, terms_of(curve, RefillEstimate(each, each, each, 0, 0, 0, 0.05, 40), parts=6)
        ).forecast.cost
        for each in sorted((one, other))
    ]
    assert costs[0] <= costs[1] * (1 + 1e-3)


def test_more_aversion_costs_more_and_risks_less() -> None:
    curve = curve_of(10**20)
    points = execution_frontier(curve, terms_of(curve, RefillEstimate(300, 200, 500, 0.1, 0.05, 0.15, 0.05, 40)))
    assert len(points) > 3
    for before, after in pairwise(points):
        assert before.risk < after.risk
        assert before.deviation > after.deviation
        assert after.cost > before.cost * (1 - 0.02)
    assert not execution_frontier(curve, terms_of(curve, None))


@pytest.mark.parametrize("risk", [0.0, 0.5])
@pytest.mark.parametrize("half_life_s", [600.0, 7_200.0, 30_000.0])
def test_no_other_sizes_are_much_better(half_life_s: float, risk: float) -> None:
    """Beside all sizes of four parts in steps of a fortieth, through exact payouts and the same refill."""
    curve, payout = curve_of(3 * 10**20), pool_payout()
    refill = RefillEstimate(half_life_s, half_life_s, half_life_s, 0.0, 0.0, 0.0, 1.0, 40)
    terms = terms_of(curve, refill, parts=4, risk=risk, gas_per_part=0.0)
    plan = plan_execution(curve, terms, payout)
    interval_s = plan.parts[1].start_s

    def value(sizes: tuple[int, ...]) -> float:
        displaced = received = variance = 0.0
        left = float(sum(sizes))
        for size in sizes:
            sold = displaced + size
            received += payout(round(sold)) - (payout(round(displaced)) if displaced else 0)
            left -= size
            variance += left * left * interval_s
            displacement = 2.0 * log(1.0 + 0.997 * sold / RESERVE_IN)
            inside = min(displacement, FEE)
            back = 1.0 - 2.0 ** (-interval_s / half_life_s)
            kept_inside = inside * (1.0 - back * (1.0 - band_share(interval_s)))
            remaining = (displacement - inside) * (1.0 - back) + kept_inside
            displaced = RESERVE_IN / 0.997 * (2.718281828459045 ** (remaining / 2.0) - 1.0)
        price = RESERVE_OUT / RESERVE_IN
        return price * sum(sizes) - received + risk * 1.4e-4 * price * sqrt(variance)

    steps = [
        tuple(curve.amount_in * size // 40 for size in (a, b, c, 40 - a - b - c))
        for a, b, c in product(range(1, 38), repeat=3)
        if a + b + c < 40
    ]
    best = min(value(sizes) for sizes in steps)
    assert value(tuple(part.amount_in for part in plan.parts)) < best * 1.025


@cache
def band_share(elapsed_s: float) -> float:
    """The mean of a Brownian motion that starts at one of two reflecting bounds, simulated as a walk over 41 places."""
    places, spread = 41, 2 * FEE / 40
    steps = max(round(elapsed_s * 1.4e-4**2 / spread**2), 1)
    chances = [0.0] * places
    chances[-1] = 1.0
    for _ in range(steps):
        after = [0.0] * places
        for place, chance in enumerate(chances):
            after[max(place - 1, 0)] += chance / 2
            after[min(place + 1, places - 1)] += chance / 2
        chances = after
    return sum(chance * (place - 20) / 20 for place, chance in enumerate(chances))


def test_a_cap_bounds_the_impact_of_each_part() -> None:
    curve, payout = curve_of(10**20), pool_payout()
    for refill in (None, NONE, RefillEstimate(60, 40, 90, 0.1, 0.0, 0.2, 0.05, 40)):
        plan = plan_execution(curve, terms_of(curve, refill, max_impact=0.006), payout)
        assert max(part.price_impact for part in plan.parts) <= 0.006
        assert len(plan.parts) > 10
    with pytest.raises(InvalidOption, match="at most 4 parts"):
        plan_execution(curve, terms_of(curve, None, parts=4, max_impact=0.006), payout)


def test_an_unknown_refill_gives_both_extremes() -> None:
    curve, payout = curve_of(10**20), pool_payout()
    plan = plan_execution(curve, terms_of(curve, None), payout)
    assert plan.extremes is not None
    none, full = plan.extremes
    assert none.payout == payout(10**20)
    assert full.payout == sum(payout(part.amount_in) for part in plan.parts)
    assert (plan.forecast.low, plan.forecast.high) == (full.low, none.high)
    assert not plan.waiting_gains
    assert 6 <= len(plan.parts) <= 16


def test_swaps_within_the_fees_say_nothing_of_larger_ones() -> None:
    curve = curve_of(10**20)
    small = RefillEstimate(60, 40, 90, 0.1, 0.0, 0.2, FEE / 2, 40)
    assert plan_execution(curve, terms_of(curve, small)) == plan_execution(curve, terms_of(curve, None))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"horizon_s": 0.0}, "horizon"),
        ({"horizon_s": inf}, "horizon"),
        ({"parts": 0}, "parts"),
        ({"parts": MAX_PARTS + 1}, "parts"),
        ({"max_impact": 0.0}, "impact"),
        ({"max_impact": 1.5}, "impact"),
        ({"risk": -1.0}, "risk"),
        ({"parts": 40, "gas_per_part": 1e9}, "more gas"),
    ],
)
def test_terms_that_no_plan_meets(fields: dict[str, object], problem: str) -> None:
    curve = curve_of(10**20)
    with pytest.raises(InvalidOption, match=problem):
        plan_execution(curve, terms_of(curve, None, **fields))


@pytest.mark.parametrize("amount_in", [1, 10**8, 10**40])
def test_orders_without_a_price(amount_in: int) -> None:
    with pytest.raises(InvalidAmount, match=r"too small|whole order"):
        curve_of(amount_in)


@given(amounts, st.floats(0.01, 1.0))
def test_the_curve_follows_the_pool(amount_in: int, part: float) -> None:
    curve, amount = curve_of(amount_in), amount_in * part
    assert curve.payout(amount) == pytest.approx(pool_payout()(round(amount)), rel=1e-3)
    assert curve.displacement(amount) == pytest.approx(2 * log(1 + 0.997 * amount / RESERVE_IN), rel=0.1)
    assert curve.amount_at(curve.displacement(amount)) == pytest.approx(amount, rel=1e-6)


@pytest.mark.parametrize("risk", [0.0, 1.5])
@pytest.mark.parametrize("fair_price", [1e-9, 2.9e-9, 9e-9])
def test_a_price_far_from_the_fair_one_gives_a_plan(fair_price: float, risk: float) -> None:
    """Far above it, every cost is negative, and each part that waits gives the advantage to others."""
    curve = sample_payouts(pool_payout(), 10**18, fair_price, (FEE,))
    plan = plan_execution(curve, terms_of(curve, RefillEstimate(60, 40, 90, 0.1, 0.05, 0.15, 0.05, 40), risk=risk))
    assert sum(part.amount_in for part in plan.parts) == 10**18
    assert (len(plan.parts) == 1) or fair_price > 3e-9
