"""The least integer that suffices is exact, and is found with few evaluations; a price that balances is found too."""

from __future__ import annotations

from math import exp, log

from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.routing.solver.constants import MAX_LOG_STEP
from swapcli.core.routing.solver.roots import find_log_root, least_integer

sizes = st.floats(0, 27).map(lambda digits: int(10**digits))
factors = st.floats(0.1, 8)
LIMIT = 1 << 256


class CountedPool:
    """The output of a constant-product pool, with the number of evaluations."""

    def __init__(self, reserve_in: int, reserve_out: int) -> None:
        self.reserve_in, self.reserve_out, self.evaluations = reserve_in, reserve_out, 0

    def amount_out(self, amount_in: int) -> int:
        self.evaluations += 1
        return amount_in * self.reserve_out // (self.reserve_in + amount_in)


@given(sizes, sizes, sizes, factors)
def test_the_result_suffices_and_one_less_does_not(
    reserve_in: int, reserve_out: int, amount: int, error: float
) -> None:
    pool = CountedPool(reserve_in, reserve_out)
    required = pool.amount_out(amount)
    assume(required > 0)
    found = least_integer(pool.amount_out, required, max(1, int(amount * error)), LIMIT)
    assert found is not None
    assert pool.amount_out(found) >= required > pool.amount_out(found - 1)


@given(st.integers(10**15, 10**27), st.floats(0.9, 1.1), st.floats(1e-4, 0.5))
def test_a_smooth_pool_takes_few_evaluations(reserve: int, error: float, part: float) -> None:
    """Bisection alone takes one for each bit of the amount, up to 90."""
    pool = CountedPool(reserve, reserve)
    amount = int(reserve * part)
    required = pool.amount_out(amount)
    pool.evaluations = 0
    least_integer(pool.amount_out, required, int(amount * error), LIMIT)
    assert pool.evaluations <= 60


@given(sizes, sizes, sizes, factors, st.sampled_from([-(10**9), 0, 1, 10**30]))
def test_wrong_estimates_of_jumps_only_cost_time(
    reserve_in: int, reserve_out: int, amount: int, error: float, beside: int
) -> None:
    pool = CountedPool(reserve_in, reserve_out)
    required = pool.amount_out(amount)
    assume(required > 0)
    guess = max(1, int(amount * error))
    found = least_integer(pool.amount_out, required, guess, LIMIT, lambda low, _: low + beside)
    assert found == least_integer(pool.amount_out, required, guess, LIMIT)


@given(st.integers(10**20, 10**24), st.integers(1, 10**6), st.floats(0.99, 1.01))
def test_known_jumps_take_few_evaluations(unit: int, units: int, error: float) -> None:
    """Of a token whose unit costs `unit`; bisection would take 60 to 80."""
    evaluations = 0

    def value(amount: int) -> int:
        nonlocal evaluations
        evaluations += 1
        return amount // unit * 10**15

    def estimate(low: int, high: int) -> int | None:
        jump = high // unit * unit
        return jump - (high - low) % 2 if low < jump else None

    required = units * 10**15
    assert least_integer(value, required, int(units * unit * error) + 1, LIMIT**2, estimate) == units * unit
    assert evaluations <= 45


@given(sizes, st.integers(1, 1000))
def test_more_than_a_pool_holds_is_given_up(reserve: int, guess: int) -> None:
    pool = CountedPool(reserve, reserve)
    assert least_integer(pool.amount_out, reserve, guess, LIMIT) is None


log_prices = st.floats(-20, 20)


@given(log_prices, log_prices, st.floats(0.1, 100), st.floats(0, 10))
def test_a_price_that_balances_is_found_across_jumps(zero: float, start: float, slope: float, jump: float) -> None:
    """The amount rises in a line with a jump beside its zero."""

    def rising(price: float) -> tuple[float, float]:
        distance = log(price) - zero
        return slope * distance + (jump if distance > 0.5 else 0.0), slope

    tolerance = 1e-6
    price = find_log_root(lambda price: (rising(price)[0] / price, rising(price)[1] / price), exp(start), tolerance)
    assert abs(rising(price)[0]) <= tolerance


@given(log_prices, st.sampled_from([-1.0, 1.0]), st.sampled_from([0.0, 1e-300, 1.0]))
def test_without_a_zero_the_search_for_a_price_ends_in_reach(start: float, amount: float, slope: float) -> None:
    price = find_log_root(lambda _: (amount, slope), exp(start), 1e-30)
    assert abs(log(price) - start) <= 2 * MAX_LOG_STEP
