"""Properties of constant product pools: the invariant, both variants, the float curve, and errors of bad states."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf, isclose

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import Pool
from swapcli.families import family
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.testing.pool_laws import swap_or_skip
from swapcli.testing.strategies import log_uniform
from tests.families.random_pairs import TOKEN0, TOKEN1, Direction, constant_products, directions, fees_ppm, identity

amounts = log_uniform(0, 100)


@given(constant_products(), directions, amounts)
def test_a_swap_never_lowers_the_product(pool: ConstantProduct, way: Direction, amount_in: int) -> None:
    _, after = swap_or_skip(pool, way, amount_in)
    assert after.reserves[0] * after.reserves[1] >= pool.reserves[0] * pool.reserves[1]


@given(constant_products(solidly=False), directions, amounts)
def test_uniswap_pays_the_maximum_of_its_product_rule(pool: ConstantProduct, way: Direction, amount_in: int) -> None:
    """Check the rule of Uniswap V2 and its forks at any fee: one more unit of output would break it."""
    amount_out, _ = swap_or_skip(pool, way, amount_in)
    x, y = reserves_of(pool, way)
    paid_in = x * 10**6 + amount_in * (10**6 - pool.fee_ppm)
    assert paid_in * (y - amount_out) >= x * y * 10**6 > paid_in * (y - amount_out - 1)


@given(constant_products(solidly=True), directions, amounts)
def test_solidly_moves_the_fee_out_of_the_pool(pool: ConstantProduct, way: Direction, amount_in: int) -> None:
    amount_out, after = swap_or_skip(pool, way, amount_in)
    x, y = reserves_of(pool, way)
    assert reserves_of(after, way) == (x + amount_in - amount_in * pool.swap_fee // 10**18, y - amount_out)


@given(constant_products(solidly=True), directions, amounts)
def test_solidly_accepts_the_output_of_uniswaps_formula(pool: ConstantProduct, way: Direction, amount_in: int) -> None:
    """Check a trader that computes the output by itself: it takes no more than the pool would pay."""
    trader_pool = ConstantProduct.from_state(identity(pool.fee_ppm), {**pool.state(), "variant": "solidly_v2_output"})
    assert trader_pool.from_state(identity(pool.fee_ppm), trader_pool.state()) == trader_pool
    amount_out, after = swap_or_skip(trader_pool, way, amount_in)
    most, whole_after = swap_or_skip(pool, way, amount_in)
    x, y = reserves_of(pool, way)
    paid_in = amount_in * (10**18 - pool.swap_fee)
    assert amount_out == paid_in * y // (x * 10**18 + paid_in) <= most
    assert reserves_of(after, way) == (reserves_of(whole_after, way)[0], y - amount_out)


@given(constant_products(solidly=False), directions, amounts, amounts)
def test_splitting_a_swap_never_gives_more(pool: ConstantProduct, way: Direction, first: int, second: int) -> None:
    whole, parts = whole_and_parts(pool, way, first, second)
    assert parts <= whole


@given(constant_products(solidly=True), directions, amounts, amounts)
def test_splitting_a_solidly_swap_gains_at_most_a_unit_of_fee(
    pool: ConstantProduct, way: Direction, first: int, second: int
) -> None:
    whole, parts = whole_and_parts(pool, way, first, second)
    x, y = reserves_of(pool, way)
    assert parts <= whole + 1 + y // x


@given(constant_products(), directions, amounts)
def test_a_round_trip_never_gains(pool: ConstantProduct, way: Direction, amount_in: int) -> None:
    amount_out, after = swap_or_skip(pool, way, amount_in)
    back, _ = swap_or_skip(after, way[::-1], amount_out)
    assert back <= amount_in


@given(constant_products(), directions, amounts)
def test_a_larger_input_never_gives_less(pool: ConstantProduct, way: Direction, amount_in: int) -> None:
    # Solidly rounds the fee down, so that one unit more may pay a whole unit more of fee and leave the rest the same.
    assert swap_or_skip(pool, way, amount_in)[0] <= swap_or_skip(pool, way, amount_in + 1)[0]


@given(constant_products(), directions, amounts)
def test_nothing_but_the_reserves_changes(pool: ConstantProduct, way: Direction, amount_in: int) -> None:
    _, after = swap_or_skip(pool, way, amount_in)
    assert after == replace(pool, reserves=after.reserves)


@given(constant_products())
def test_state_reads_back_equal(pool: ConstantProduct) -> None:
    state = json.loads(json.dumps(pool.state()))
    assert ConstantProduct.from_state(identity(pool.fee_ppm), state) == pool


@given(constant_products(), directions, amounts)
def test_the_curve_follows_the_integers(pool: ConstantProduct, way: Direction, amount_in: int) -> None:
    amount_out, _ = swap_or_skip(pool, way, amount_in)
    x, y = reserves_of(pool, way)
    slack = 1 + pool.is_solidly * y / x  # Solidly also rounds its fee by up to a unit of input
    assert isclose(pool.curve(*way).amount_out(float(amount_in)), amount_out, rel_tol=1e-12, abs_tol=slack)


@given(constant_products(), directions, st.floats(1e-12, 0.999_999))
def test_the_trade_to_a_rate_ends_at_that_rate(pool: ConstantProduct, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    assume(curve.start_rate > 0)
    rate = curve.start_rate * part
    amount_in, amount_out, slope = curve.trade_to_marginal_rate(rate)
    assert amount_out == pytest.approx(curve.amount_out(amount_in), rel=1e-12)
    if amount_in < curve.capacity:
        assert curve.rate(amount_in) == pytest.approx(rate, rel=1e-12)
        nudged = curve.trade_to_marginal_rate(rate * (1 - 1e-6))[0]
        assert slope == pytest.approx((nudged - amount_in) / 1e-6, rel=1e-4) or nudged == curve.capacity
    else:
        assert (amount_in, slope, curve.rate(amount_in)) == (curve.capacity, 0.0, 0.0)


@given(constant_products(), directions, st.floats(0.0, 1e-6))
def test_a_tiny_trade_keeps_its_precision(pool: ConstantProduct, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    amount_in = min(curve.capacity, reserves_of(pool, way)[0] * part)
    assume(0 < amount_in < curve.capacity)
    rate = curve.rate(amount_in)
    assume(0 < rate < curve.start_rate)
    # The loss is at most one unit in the last place of the rate.
    lost = reserves_of(pool, way)[0] / (1 - pool.fee_ppm / 1e6) * 3e-16
    assert curve.trade_to_marginal_rate(rate)[0] == pytest.approx(amount_in, rel=1e-9, abs=lost)


@given(constant_products(), directions, st.floats(0, 1), st.floats(0, 1))
def test_the_rate_falls_and_the_output_grows(pool: ConstantProduct, way: Direction, a: float, b: float) -> None:
    curve = pool.curve(*way)
    low, high = sorted((a * min(curve.capacity, 1e40), b * min(curve.capacity, 1e40)))
    assert curve.amount_out(low) <= curve.amount_out(high)
    assert curve.start_rate >= curve.rate(low) >= curve.rate(high)


@given(constant_products(solidly=False), directions)
def test_the_contract_takes_the_whole_capacity(pool: ConstantProduct, way: Direction) -> None:
    capacity = int(pool.curve(*way).capacity)
    assume(capacity > 0)
    _, after = swap_or_skip(pool, way, capacity)
    assert reserves_of(after, way)[0] < 2**112


def test_extreme_rates_give_numbers() -> None:
    curve = pool_of(1, 2**112 - 1).curve(TOKEN0, TOKEN1)
    for rate in (5e-324, 1e-300, 1e300):
        assert all(0 <= value < inf for value in curve.trade_to_marginal_rate(rate))


def test_a_worked_example() -> None:
    """1 into 10 : 20 at 0.3%: floor(997 * 20e18 / (10,000 + 997)) units, as any Uniswap V2 library says."""
    amount_out, after = pool_of(10 * 10**18, 20 * 10**18).swap(TOKEN0, TOKEN1, 10**18)
    assert amount_out == 997 * 20 * 10**18 // 10_997
    assert after.reserves == (11 * 10**18, 20 * 10**18 - amount_out)


@pytest.mark.parametrize("reserves", [(0, 0), (0, 5), (5, 0)])
def test_a_drained_pool_reads_but_sells_nothing(reserves: tuple[int, int]) -> None:
    pool = pool_of(*reserves)
    curve = pool.curve(TOKEN0, TOKEN1)
    assert (curve.start_rate, curve.capacity, curve.amount_out(1e9), curve.rate(0.0)) == (0, 0, 0, 0)
    assert curve.trade_to_marginal_rate(1e-30) == (0.0, 0.0, 0.0)
    with pytest.raises(InsufficientLiquidity, match=pool.address):
        pool.swap(TOKEN0, TOKEN1, 1)


@pytest.mark.parametrize("amount_in", [0, -1, 1, 2**112, 2**256])
def test_inputs_that_the_contract_refuses_are_refused(amount_in: int) -> None:
    with pytest.raises(SwapReverts, match="pool 0x"):
        pool_of(10**18, 10).swap(TOKEN0, TOKEN1, amount_in)


def test_solidly_refuses_inputs_that_overflow_its_arithmetic() -> None:
    pool = ConstantProduct.from_state(identity(), {"reserves": [10**9, 2**200], "variant": "solidly"})
    assert pool.swap(TOKEN0, TOKEN1, 2**55)[0] > 0
    with pytest.raises(SwapReverts, match="overflows"):
        pool.swap(TOKEN0, TOKEN1, 2**57)


@pytest.mark.parametrize("way", [(TOKEN0, TOKEN0), (TOKEN1, "0x" + "0d" * 20), ("", TOKEN0)])
def test_other_tokens_are_refused(way: Direction) -> None:
    with pytest.raises(PoolError, match="does not trade"):
        pool_of(10, 10).swap(*way, 1)


def test_gas_depends_on_the_variant() -> None:
    uniswap = pool_of(10**9, 10**9)
    solidly = ConstantProduct.from_state(identity(), {"reserves": [10**9, 10**9], "variant": "solidly"})
    assert uniswap.gas_units(uniswap) == uniswap.swap_gas < solidly.gas_units(solidly)
    assert (uniswap.key, uniswap.api_extra_data()) == (uniswap.address, {})


@pytest.mark.parametrize(
    ("field", "state"),
    [
        ("reserves", {}),
        ("reserves", {"reserves": None}),
        ("reserves", {"reserves": "12"}),
        ("reserves", {"reserves": ["1"]}),
        ("reserves", {"reserves": ["1", "2", "3"]}),
        ("reserves[0]", {"reserves": [-1, 2]}),
        ("reserves[0]", {"reserves": [True, 2]}),
        ("reserves[1]", {"reserves": [1, 2.0]}),
        ("reserves[1]", {"reserves": ["1", "2e3"]}),
        ("reserves[1]", {"reserves": ["1", 2**112]}),
        ("reserves", {"reserves": [2**200, 2**200], "variant": "solidly"}),
        ("variant", {"reserves": [1, 2], "variant": "curve"}),
        ("variant", {"reserves": [1, 2], "variant": 1}),
    ],
)
def test_a_malformed_state_names_its_field(field: str, state: dict[str, object]) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        ConstantProduct.from_state(identity(), state)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("field", "tokens", "fee_ppm"),
    [
        ("tokens", [TOKEN0], 0),
        ("tokens", [TOKEN0, TOKEN1, "0x" + "0d" * 20], 0),
        ("tokens", [TOKEN0, TOKEN0], 0),
        ("fee_ppm", [TOKEN0, TOKEN1], 10**6),
        ("fee_ppm", [TOKEN0, TOKEN1], -1),
    ],
)
def test_a_malformed_identity_names_its_field(field: str, tokens: list[str], fee_ppm: int) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        ConstantProduct.from_state(identity(fee_ppm, tokens), {"reserves": [1, 1]})
    assert caught.value.field == field


@given(fees_ppm)
def test_the_family_is_registered(fee_ppm: int) -> None:
    pool: Pool = family("constant_product").from_state(identity(fee_ppm), {"reserves": [7, 9]})
    assert isinstance(pool, ConstantProduct)
    assert pool.fee_ppm == fee_ppm


def pool_of(x: int, y: int) -> ConstantProduct:
    return ConstantProduct.from_state(identity(), {"reserves": [x, y]})


def reserves_of(pool: ConstantProduct, way: Direction) -> tuple[int, int]:
    return pool.reserves if way[0] == TOKEN0 else (pool.reserves[1], pool.reserves[0])


def whole_and_parts(pool: ConstantProduct, way: Direction, first: int, second: int) -> tuple[int, int]:
    """Return the output of both amounts in one swap, and in two."""
    whole, _ = swap_or_skip(pool, way, first + second)
    part, between = swap_or_skip(pool, way, first)
    return whole, part + swap_or_skip(between, way, second)[0]
