"""Properties of concentrated pools: exact swaps, the float view, and what a bad state says."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf, isclose

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.errors import InsufficientLiquidity, PoolError, PoolStateError, SwapReverts
from swapcli.model.pool import Pool
from swapcli.pools import family
from swapcli.pools.concentrated import Concentrated
from swapcli.pools.tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    Q96,
    limited_sqrt_ratio,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)
from tests.pools.random_pairs import (
    TOKEN0,
    TOKEN1,
    concentrated_states,
    concentrateds,
    directions,
    identity,
    log_uniform,
    pool_at,
)

Direction = tuple[str, str]
DOWN, UP = (TOKEN0, TOKEN1), (TOKEN1, TOKEN0)
parts = st.floats(1e-9, 1.0, allow_subnormal=False)


# Swaps


@given(concentrateds(), directions, log_uniform(0, 120), log_uniform(0, 120))
def test_splitting_a_swap_never_gives_more(pool: Concentrated, way: Direction, first: int, second: int) -> None:
    whole, _ = swap_or_skip(pool, way, first + second)
    part, between = swap_or_skip(pool, way, first)
    assert part + swap_or_skip(between, way, second)[0] <= whole


@given(concentrateds(), directions, parts)
def test_a_round_trip_never_gains(pool: Concentrated, way: Direction, part: float) -> None:
    amount_in = int(pool.curve(*way).capacity * part)
    amount_out, after = swap_or_skip(pool, way, amount_in)
    back, _ = swap_or_skip(after, way[::-1], amount_out)
    assert back <= amount_in


@given(concentrateds(), directions, parts, log_uniform(0, 60))
def test_a_larger_input_never_gives_less(pool: Concentrated, way: Direction, part: float, more: int) -> None:
    amount_in = int(pool.curve(*way).capacity * part)
    assert swap_or_skip(pool, way, amount_in)[0] <= swap_or_skip(pool, way, amount_in + more)[0]


@given(concentrateds(), directions, parts)
def test_a_swap_leaves_a_valid_pool_with_the_same_ticks(pool: Concentrated, way: Direction, part: float) -> None:
    """Its state reads back equal, so price, tick and liquidity agree, also exactly on a boundary."""
    _, after = swap_or_skip(pool, way, int(pool.curve(*way).capacity * part))
    assert Concentrated.from_state(identity(pool.fee_ppm), json.loads(json.dumps(after.state()))) == after
    assert after.ladder is pool.ladder
    assert (after.sqrt_price_x96 <= pool.sqrt_price_x96) == (way == DOWN) or after.sqrt_price_x96 == pool.sqrt_price_x96


@given(concentrateds(), directions)
def test_the_pool_takes_its_capacity_and_little_more(pool: Concentrated, way: Direction) -> None:
    capacity = pool.curve(*way).capacity
    if capacity >= 1:
        sells(pool, way, int(capacity))
    steps = 2 * 887_272 // 256
    with pytest.raises(InsufficientLiquidity, match=f"pool {pool.key} runs out"):
        pool.swap(*way, int(capacity * (1 + 1e-9)) + 2 * steps * 10**6)


def sells(pool: Concentrated, way: Direction, amount_in: int) -> bool:
    """Whether the swap pays; an input that runs the pool out of liquidity is an error."""
    try:
        return pool.swap(*way, amount_in)[0] > 0
    except SwapReverts:
        return False


def test_within_one_tick_range_it_is_a_constant_product_of_virtual_reserves() -> None:
    """L = 10^24 at price 1: x = y = 10^24 virtual units; out = y dx' / (x + dx')."""
    pool = pool_at(0, (-60_000, 60_000, 10**24), fee_ppm=0)
    for way in (DOWN, UP):
        amount_out, after = pool.swap(*way, 10**22)
        assert amount_out == 10**22 * 10**24 // (10**24 + 10**22)
        assert isclose(after.sqrt_price_x96 / Q96, 1.01 ** (-1 if way == DOWN else 1), rel_tol=1e-15)


def test_a_boundary_reached_on_the_way_down_is_already_crossed() -> None:
    pool = pool_at(30, (0, 60, 10**18), (-60, 0, 10**15))
    amount_in = least_input_that(pool, DOWN, lambda after: after.sqrt_price_x96 <= Q96)
    _, after = pool.swap(*DOWN, amount_in)
    assert (after.sqrt_price_x96, after.tick, after.liquidity) == (Q96, -1, 10**15)
    _, back = after.swap(*UP, 10**12)
    assert (back.tick >= 0, back.liquidity) == (True, 10**18)


def test_a_boundary_reached_on_the_way_up_is_crossed_too() -> None:
    pool = pool_at(30, (0, 60, 10**18), (60, 120, 10**15))
    edge = sqrt_ratio_at_tick(60)
    amount_in = least_input_that(pool, UP, lambda after: after.sqrt_price_x96 >= edge)
    _, after = pool.swap(*UP, amount_in)
    assert (after.sqrt_price_x96, after.tick, after.liquidity) == (edge, 60, 10**15)


def test_the_edge_of_a_bitmap_word_rounds_on_its_own() -> None:
    """The same pool with its ticks in a list differs in the last unit: the reason for `variant`."""
    words = pool_at(10, (-60_000, 60_000, 10**12 + 7), tick_spacing=1)
    listed = with_fields(words, variant="algebra_integral")
    differing = 0
    for amount_in in range(10**11, 10**11 + 200):
        in_words, in_list = words.swap(*DOWN, amount_in), listed.swap(*DOWN, amount_in)
        assert 0 <= in_list[0] - in_words[0] <= 40
        differing += in_words[0] != in_list[0]
    assert differing > 20


def test_a_gap_between_positions_is_jumped_not_walked() -> None:
    pool = pool_at(0, (-1, 1, 10**18), (-800_000, -799_999, 10**18), tick_spacing=1)
    beyond = int(pool.curve(*DOWN).capacity * 0.999)
    before = limited_sqrt_ratio.cache_info()
    _, after = pool.swap(*DOWN, beyond)
    assert after.tick == -800_000
    assert lookups(before) <= 8


def test_exhaustion_is_seen_without_walking_empty_words() -> None:
    pool = pool_at(0, (-1, 1, 10**18), tick_spacing=1)
    for way in (DOWN, UP):
        before = limited_sqrt_ratio.cache_info()
        with pytest.raises(InsufficientLiquidity):
            pool.swap(*way, 10**30)
        assert lookups(before) <= 3


@pytest.mark.parametrize("way", [DOWN, UP])
def test_the_price_limit_stops_a_full_range_position_before_its_end(way: Direction) -> None:
    pool = pool_at(0, (MIN_TICK, MAX_TICK, 10**6), tick_spacing=1, fee_ppm=0)
    least = least_input_that(pool, way, lambda after: after.tick in (MIN_TICK, MAX_TICK - 1))
    limit = MIN_SQRT_RATIO + 1 if way == DOWN else MAX_SQRT_RATIO - 1
    last = least_input_that(pool, way, lambda after: after.sqrt_price_x96 == limit)
    assert least <= last
    _, after = pool.swap(*way, last)
    assert (after.tick, after.liquidity) == (tick_at_sqrt_ratio(limit), 10**6)
    for amount_in in (1, 10**40):
        with pytest.raises(InsufficientLiquidity):
            after.swap(*way, amount_in)
    with pytest.raises(InsufficientLiquidity):
        pool.swap(*way, last + 1)


@pytest.mark.parametrize("price", [MIN_SQRT_RATIO, MAX_SQRT_RATIO - 1])
def test_a_pool_at_the_end_of_the_range_sells_only_one_way(price: int) -> None:
    tick = tick_at_sqrt_ratio(price)
    pool = with_fields(pool_at(0, (MIN_TICK, MAX_TICK, 10**6), tick_spacing=1), sqrt_price_x96=price, tick=tick)
    away, back = (DOWN, UP) if price == MIN_SQRT_RATIO else (UP, DOWN)
    with pytest.raises(InsufficientLiquidity):
        pool.swap(*away, 10**9)
    assert pool.swap(*back, 10**24)[0] > 0
    assert pool.curve(*away).start_rate == pool.curve(*away).capacity == 0


def test_an_empty_pool_reads_but_sells_nothing() -> None:
    pool = pool_at(0)
    for way in (DOWN, UP):
        curve = pool.curve(*way)
        assert (curve.start_rate, curve.capacity, curve.amount_out(9.0), curve.rate(0.0)) == (0, 0, 0, 0)
        assert curve.trade_to(1e-9) == (0, 0, 0)
        with pytest.raises(InsufficientLiquidity):
            pool.swap(*way, 1)


def test_an_input_that_pays_nothing_is_refused() -> None:
    pool = pool_at(0, (-600, 600, 10**18))
    for amount_in in (1, 0, -5):
        with pytest.raises(SwapReverts, match="rounds to zero"):
            pool.swap(*DOWN, amount_in)


def test_uniswap_v4_keeps_amounts_below_128_bits_with_sign() -> None:
    v3 = pool_at(0, (-60_000, 60_000, 2**126), tick_spacing=60)
    v4 = with_fields(v3, pool_id="0x" + "01" * 32)
    amount_in = 2**127
    assert v3.swap(*DOWN, amount_in)[0] > 0
    assert v4.swap(*DOWN, amount_in - 1) == (v3.swap(*DOWN, amount_in - 1)[0], v4.swap(*DOWN, amount_in - 1)[1])
    with pytest.raises(SwapReverts, match=r"exceeds 2\^127"):
        v4.swap(*DOWN, amount_in)


@pytest.mark.parametrize("way", [(TOKEN0, TOKEN0), (TOKEN1, "0x" + "0d" * 20), ("", TOKEN0)])
def test_other_tokens_are_refused(way: Direction) -> None:
    with pytest.raises(PoolError, match="does not trade"):
        pool_at(0, (-60, 60, 10**18)).swap(*way, 1)


# What else a pool tells


def test_gas_grows_with_the_ticks_crossed() -> None:
    pool = pool_at(30, (-180, 180, 10**18), (-120, 120, 10**18), (0, 60, 10**18))
    near, far = pool.swap(*DOWN, 10**12)[1], pool.swap(*DOWN, 10**16)[1]
    assert near.tick >= 0 > far.tick >= -120
    assert pool.gas_units(near) == pool.swap_gas < pool.gas_units(far)
    crossed_two = pool.swap(*UP, 12 * 10**15)[1]
    assert crossed_two.tick >= 120
    assert pool.gas_units(crossed_two) - pool.swap_gas == 2 * (pool.gas_units(far) - pool.swap_gas)


def test_wire_traits_tell_siblings_apart() -> None:
    pool = pool_at(0, (-60, 60, 1), fee_ppm=500)
    assert (pool.key, pool.wire_traits()) == (pool.address, {"fee": 500, "tickSpacing": 60})
    pool_id, zero = "0x" + "0f" * 32, "0x" + "0" * 40
    v4 = with_fields(pool, pool_id=pool_id.upper().replace("X", "x"), hooks=zero)
    key = {"poolId": pool_id, "token0": TOKEN0, "token1": TOKEN1, "hooks": zero}
    assert (v4.key, v4.wire_traits()) == (pool_id, {"fee": 500, "tickSpacing": 60, **key})
    native = with_fields(v4, native=True)
    assert native.wire_traits() == v4.wire_traits() | {"token0": zero}
    assert native.tokens == v4.tokens  # the pool trades under the wrapped token's name


def test_the_family_is_registered() -> None:
    pool: Pool = pool_at(0, (-60, 60, 1))
    assert family("concentrated") is type(pool)


# The float view


@given(concentrateds(), directions, parts)
def test_the_curve_follows_the_integers(pool: Concentrated, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    amount_in = int(curve.capacity * part)
    amount_out, after = swap_or_skip(pool, way, amount_in)
    assert isclose(
        curve.amount_out(float(amount_in)), amount_out, rel_tol=1e-12, abs_tol=rounding_loss(pool, after, way)
    )


def rounding_loss(pool: Concentrated, after: Concentrated, way: Direction) -> float:
    """The output that roundings can cost: in each step one unit of output, two of input, and one of the price."""
    steps = 3 + abs(pool.tick - after.tick) // (256 * pool.ladder.tick_spacing) + len(pool.ladder.ticks)
    most = float(max_liquidity(pool))
    price = min(pool.sqrt_price_x96, after.sqrt_price_x96)
    of_price = most / Q96 if way == DOWN else most / price * (Q96 / price)
    fee = 1 - pool.fee_ppm / 1e6
    return steps * (1 + of_price + (1 + 1 / fee) * max(pool.curve(*way).start_rate, 0.0))


def max_liquidity(pool: Concentrated) -> int:
    active, most = 0, 0
    for net in pool.ladder.nets:
        active += net
        most = max(most, active)
    return most


@given(concentrateds(), directions, parts)
def test_the_trade_to_a_rate_ends_at_that_rate(pool: Concentrated, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    assume(curve.start_rate > 0)
    rate = curve.start_rate * part
    amount_in, amount_out, slope = curve.trade_to(rate)
    assert amount_out == pytest.approx(curve.amount_out(amount_in), rel=1e-11)
    if slope > 0 and amount_in < curve.capacity * (1 - 1e-12):
        nudged, _, _ = curve.trade_to(rate * (1 - 1e-7))
        assert curve.rate(amount_in) == pytest.approx(rate, rel=1e-6) or nudged == amount_in
    if amount_in >= curve.capacity:
        assert (amount_in, slope, curve.rate(amount_in)) == (curve.capacity, 0.0, 0.0)


@given(concentrateds(), directions, st.floats(0.5, 1 - 1e-6))
def test_the_slope_is_the_derivative_of_the_trade(pool: Concentrated, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    assume(curve.start_rate > 0)
    rate = curve.start_rate * part
    around = [curve.trade_to(rate * factor) for factor in (1 + 1e-7, 1.0, 1 - 1e-7)]
    assume(around[0][2] == pytest.approx(around[2][2], rel=1e-6))  # no kink in between
    assume(around[0][2] > 0)
    lost = 1e-15 * around[2][0] + 3e-16 * around[1][2]
    assert (around[2][0] - around[0][0]) / 2e-7 == pytest.approx(around[1][2], rel=1e-5, abs=lost / 2e-7)


@given(concentrateds(), directions, parts, parts)
def test_the_curve_is_increasing_and_concave(pool: Concentrated, way: Direction, a: float, b: float) -> None:
    curve = pool.curve(*way)
    low, high = sorted((curve.capacity * a, curve.capacity * b))
    middle = low / 2 + high / 2
    ends = [curve.amount_out(amount) for amount in (low, middle, high)]
    assert ends[0] <= ends[1] * (1 + 1e-12)
    assert ends[1] <= ends[2] * (1 + 1e-12)
    assert ends[1] >= (ends[0] / 2 + ends[2] / 2) * (1 - 1e-12)
    rates = [curve.rate(amount) for amount in (low, middle, high)]
    assert curve.start_rate * (1 + 1e-9) >= rates[0]
    assert rates[0] * (1 + 1e-9) >= rates[1]
    assert rates[1] * (1 + 1e-9) >= rates[2]


@given(concentrateds(), directions)
def test_all_questions_agree_at_the_ends(pool: Concentrated, way: Direction) -> None:
    curve = pool.curve(*way)
    total = curve.amount_out(inf)
    assert total < inf
    assert curve.amount_out(curve.capacity) == total
    assert curve.amount_out(-1.0) == curve.amount_out(0.0) == 0.0
    assert curve.trade_to(max(curve.start_rate, 1.0)) == (0.0, 0.0, 0.0)
    if curve.start_rate:
        assert curve.trade_to(5e-324) == (curve.capacity, total, 0.0)
        assert curve.rate(0.0) == pytest.approx(curve.start_rate, rel=1e-9)


@given(concentrateds(), directions, parts)
def test_the_curve_after_a_swap_starts_where_the_other_ended(pool: Concentrated, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    amount_in = int(curve.capacity * part)
    assume(amount_in > 10**6)
    _, after = swap_or_skip(pool, way, amount_in)
    rest = after.curve(*way)
    margin = 1e-6 * curve.capacity + 1e6
    assert rest.capacity + amount_in == pytest.approx(curve.capacity, rel=1e-6, abs=margin)


def test_precision_over_many_adjacent_ticks() -> None:
    """A hundred one-tick positions far from price 1: the sum of the exact integers, to 12 digits."""
    tick = -276_300
    positions = [(tick + k, tick + k + 1, 10**24 + abs(k) ** 5 * 10**15) for k in range(-100, 100)]
    pool = pool_at(tick, *positions, tick_spacing=1, fee_ppm=100)
    for way, most in ((DOWN, 2e-13), (UP, 2e-13)):
        curve = pool.curve(*way)
        amount_in = int(curve.capacity)
        amount_out, _ = pool.swap(*way, amount_in)
        loss = rounding_loss(pool, pool, way)
        assert abs(curve.amount_out(float(amount_in)) - amount_out) <= most * amount_out + loss


def test_a_curve_starts_at_the_next_liquidity() -> None:
    """No liquidity at the price: nothing is lost in the gap, and the first rate is that of the next position."""
    pool = pool_at(0, (-6_000, -600, 10**18), (600, 6_000, 10**18), fee_ppm=3_000)
    assert pool.liquidity == 0
    down, up = pool.curve(*DOWN), pool.curve(*UP)
    assert down.start_rate == pytest.approx(0.997 * 1.0001**-600, rel=1e-12)
    assert up.start_rate == pytest.approx(0.997 * 1.0001**-600, rel=1e-12)
    amount_out, after = pool.swap(*DOWN, 10**15)
    assert after.tick < -600
    assert down.amount_out(1e15) == pytest.approx(amount_out, rel=1e-12)


def test_a_gap_is_a_kink_not_a_cost() -> None:
    pool = pool_at(0, (-60, 60, 10**18), (-6_000, -600, 10**18), fee_ppm=0)
    curve = pool.curve(*DOWN)
    in_gap, out_gap, slope = curve.trade_to(1.0001**-300)
    assert (in_gap, out_gap, slope) == (*curve.trade_to(1.0001**-400)[:2], 0.0)
    assert curve.rate(in_gap) == pytest.approx(1.0001**-600, rel=1e-9)
    assert curve.rate(in_gap * (1 - 1e-9)) == pytest.approx(1.0001**-60, rel=1e-9)


def test_a_price_on_a_tick_that_ends_the_liquidity_starts_beyond_it() -> None:
    pool = pool_at(0, (0, 60, 10**18), (-600, -60, 10**18), fee_ppm=0)
    assert pool.liquidity == 10**18
    assert pool.curve(*DOWN).start_rate == pytest.approx(1.0001**-60, rel=1e-12)
    assert pool.curve(*UP).start_rate == pytest.approx(1.0, rel=1e-15)


# States


@given(concentrated_states())
def test_state_reads_back_equal(state: dict[str, object]) -> None:
    pool = Concentrated.from_state(identity(), state)
    written = json.loads(json.dumps(pool.state()))
    assert Concentrated.from_state(identity(), written) == pool
    assert written == {key: value for key, value in state.items() if key != "variant" or value != "uniswap_v3"}


@given(concentrated_states())
def test_integers_and_texts_read_alike(state: dict[str, object]) -> None:
    pool = Concentrated.from_state(identity(), state)
    ladder = pool.ladder
    numbers = {
        **state,
        "sqrt_price_x96": pool.sqrt_price_x96,
        "tick": str(pool.tick),
        "liquidity": pool.liquidity,
        "tick_spacing": str(ladder.tick_spacing),
        "ticks": tuple((str(t), net) for t, net in zip(ladder.ticks, ladder.nets, strict=True)),
    }
    assert Concentrated.from_state(identity(), numbers) == pool


def test_a_price_on_the_upper_boundary_is_allowed_and_no_further() -> None:
    pool = pool_at(0, (-60, 60, 10**18))
    crossed = with_fields(pool, tick=-1)
    assert (crossed.tick, crossed.sqrt_price_x96) == (-1, Q96)
    with pytest.raises(PoolStateError) as caught:
        with_fields(pool, tick=-1, sqrt_price_x96=Q96 + 1)
    assert caught.value.field == "tick"


GOOD: dict[str, object] = {
    "sqrt_price_x96": str(Q96),
    "tick": 0,
    "liquidity": "100",
    "tick_spacing": 60,
    "ticks": [[-60, "70"], [0, "30"], [60, "-100"]],
}


@pytest.mark.parametrize("field", sorted(GOOD))
@pytest.mark.parametrize("value", [None, True, 1.5, "x", "1.0", "", {}, [None]], ids=repr)
def test_a_field_of_the_wrong_type_is_named(field: str, value: object) -> None:
    error = error_for({**GOOD, field: value})
    assert error.field.split("[")[0] == field


@pytest.mark.parametrize("field", sorted(GOOD))
def test_a_missing_field_is_named(field: str) -> None:
    error = error_for({key: value for key, value in GOOD.items() if key != field})
    assert (error.field, error.problem) == (field, "is missing")


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("sqrt_price_x96", {"sqrt_price_x96": 0}),
        ("sqrt_price_x96", {"sqrt_price_x96": MIN_SQRT_RATIO - 1}),
        ("sqrt_price_x96", {"sqrt_price_x96": MAX_SQRT_RATIO}),
        ("sqrt_price_x96", {"sqrt_price_x96": 2**160}),
        ("sqrt_price_x96", {"sqrt_price_x96": -5}),
        ("tick", {"tick": 1}),
        ("tick", {"tick": -2}),
        ("tick", {"tick": MAX_TICK}),
        ("tick", {"tick": MIN_TICK - 1}),
        ("liquidity", {"liquidity": 99}),
        ("liquidity", {"liquidity": 0}),
        ("liquidity", {"liquidity": 2**128}),
        ("liquidity", {"liquidity": -1}),
        ("tick_spacing", {"tick_spacing": 0}),
        ("tick_spacing", {"tick_spacing": 32_768}),
        ("tick_spacing", {"tick_spacing": -60}),
        ("ticks[1]", {"tick_spacing": 60, "ticks": [[-60, "100"], [59, "-100"]]}),
        ("ticks[0]", {"tick_spacing": 7}),
        ("ticks", {"ticks": "abc"}),
        ("ticks", {"ticks": {"-60": 1}}),
        ("ticks[0]", {"ticks": [7]}),
        ("ticks[0]", {"ticks": ["ab"]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [60]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [60, "-100", 0]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], {"60": 1, "-100": 2}]}),
        ("ticks[0]", {"ticks": [[-60.0, "100"], [60, "-100"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [60, "-1e2"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [60, "60-100"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [60, "9" * 81]]}),
        ("ticks[1]", {"ticks": [[-60, 100], [60, True]]}),
        ("ticks[1]", {"ticks": [[60, "-100"], [-60, "100"]]}),
        ("ticks[1]", {"ticks": [[-60, "50"], [-60, "50"], [60, "-100"]]}),
        ("ticks[0]", {"ticks": [[-887_280, "100"], [60, "-100"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [887_280, "-100"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [10**6_000, "-100"]]}),
        ("ticks", {"ticks": [[-60, "100"], [60, "-99"]]}),
        ("ticks", {"ticks": [[-60, "100"]]}),
        ("ticks[0]", {"ticks": [[-60, "-100"], [60, "100"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [0, "-200"], [60, "100"]]}),
        ("ticks[0]", {"ticks": [[-60, str(2**127)], [60, str(-(2**127))]]}),
        ("ticks[0]", {"ticks": [[-60, 10**6_000], [60, -(10**6_000)]]}),
        (
            "ticks[2]",
            {"ticks": [[t, s * (2**127 - 1)] for t, s in zip(range(0, 360, 60), (1, 1, 1, -1, -1, -1), strict=True)]},
        ),
        ("liquidity", {"ticks": []}),
        ("variant", {"variant": "uniswap_v5"}),
        ("pool_id", {"pool_id": "0x12"}),
        ("pool_id", {"pool_id": 12}),
        ("hooks", {"hooks": "0x" + "0" * 39 + "1"}),
        ("hooks", {"hooks": "0x"}),
        ("native", {"native": 1}),
    ],
)
def test_a_malformed_state_names_its_field(field: str, changes: dict[str, object]) -> None:
    assert error_for({**GOOD, **changes}).field == field


@pytest.mark.parametrize(("field", "tokens"), [("tokens", [TOKEN0]), ("tokens", [TOKEN0, TOKEN0])])
def test_a_malformed_identity_names_its_field(field: str, tokens: list[str]) -> None:
    with pytest.raises(PoolStateError) as caught:
        Concentrated.from_state(identity(3_000, tokens), GOOD)
    assert caught.value.field == field


@pytest.mark.parametrize("fee_ppm", [-1, 10**6])
def test_a_fee_that_takes_everything_is_refused(fee_ppm: int) -> None:
    with pytest.raises(PoolStateError, match="fee_ppm"):
        Concentrated.from_state(identity(fee_ppm), GOOD)


def test_a_list_of_ticks_may_keep_positions_of_an_older_spacing() -> None:
    pool = Concentrated.from_state(identity(), {**GOOD, "tick_spacing": 7, "variant": "algebra_integral"})
    assert pool.ladder.word == 0
    assert pool.state()["variant"] == "algebra_integral"


def with_fields(pool: Concentrated, **fields: object) -> Concentrated:
    return Concentrated.from_state(identity(pool.fee_ppm), {**pool.state(), **fields})


def error_for(state: dict[str, object]) -> PoolStateError:
    with pytest.raises(PoolStateError) as caught:
        Concentrated.from_state(identity(), state)
    return caught.value


def lookups(before: tuple[int, int, int | None, int]) -> int:
    after = limited_sqrt_ratio.cache_info()
    return after.hits + after.misses - before[0] - before[1]


def least_input_that(pool: Concentrated, way: Direction, holds: Callable[[Concentrated], bool]) -> int:
    """The least input after which `holds`, which is false of smaller and true of larger ones up to exhaustion."""

    def reached(amount_in: int) -> bool:
        try:
            return holds(pool.swap(*way, amount_in)[1])
        except InsufficientLiquidity:
            return True
        except SwapReverts:
            return False

    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def swap_or_skip(pool: Concentrated, way: Direction, amount_in: int) -> tuple[int, Concentrated]:
    try:
        return pool.swap(*way, amount_in)
    except PoolError:
        assume(False)
        raise
