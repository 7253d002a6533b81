"""Pairs of SmarDex keep the laws of all pools, and their curve follows the swaps recorded from the contract."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.families import family
from swapcli.families.smardex.smardex import PriceAverage, SmarDex
from swapcli.testing.pool_laws import (
    check_concave,
    check_state_round_trip,
    swap_or_skip,
    trade_to_rate,
)
from swapcli.testing.recorded_swaps import replay_recorded_swaps
from tests.families.recorded import vectors_file

POOLS = [
    each.pool
    for each in replay_recorded_swaps(vectors_file("smardex"))
    if each.amount_out and isinstance(each.pool, SmarDex)
]


def valid_pool() -> SmarDex:
    return POOLS[len(POOLS) // 2]


@st.composite
def swaps(draw: st.DrawFn) -> tuple[SmarDex, tuple[str, str], int]:
    """Return a recorded pair, a direction, and an amount by the size of the pair."""
    pool = draw(st.sampled_from(POOLS))
    i = draw(st.sampled_from([0, 1]))
    amount = max(1, int(pool.reserves[i] * 10 ** draw(st.floats(-6.0, 0.5))))
    return pool, (pool.tokens[i], pool.tokens[1 - i]), amount


def rounding(pool: SmarDex, tokens: tuple[str, str]) -> float:
    """Return a few units of either token, at the price of either."""
    return 6 * (2 + pool.curve(*tokens).start_rate)


@given(swaps())
def test_the_curve_gives_what_the_exact_swap_gives(swap: tuple[SmarDex, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    amount_out, after = swap_or_skip(pool, tokens, amount)
    # A price within a millionth of its average is taken for it.
    expected = pool.curve(*tokens).amount_out(float(amount))
    assert expected == pytest.approx(amount_out, rel=3e-6, abs=rounding(pool, tokens))
    check_state_round_trip(after)


@given(swaps(), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_curve_is_increasing_and_concave(swap: tuple[SmarDex, tuple[str, str], int], a: float, b: float) -> None:
    pool, tokens, amount = swap
    curve = pool.curve(*tokens)
    assume(curve.capacity > 0)
    part = min(1.0, amount / curve.capacity)
    check_concave(curve, a * part, b * part)


@given(swaps(), st.floats(0.5, 0.9999))
def test_a_trade_to_a_rate_ends_there(swap: tuple[SmarDex, tuple[str, str], int], part: float) -> None:
    pool, tokens, _ = swap
    amount_in, _, slope = trade_to_rate(pool.curve(*tokens), part, 1e-9)
    assert min(amount_in, slope) >= 0


@given(swaps())
def test_more_input_never_pays_less(swap: tuple[SmarDex, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    less, _ = swap_or_skip(pool, tokens, amount)
    more, _ = swap_or_skip(pool, tokens, amount + max(amount // 1_000, 1))
    assert more + rounding(pool, tokens) >= less


@given(swaps())
def test_away_from_the_average_and_back_gains_nothing(swap: tuple[SmarDex, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    forward = tokens == pool.tokens
    (fictive_in, fictive_out), average = pool.fictive_reserves[:: 1 if forward else -1], pool._current_average(forward)
    assume(fictive_out * average[0] <= fictive_in * average[1])
    amount_out, between = swap_or_skip(pool, tokens, amount)
    back, _ = swap_or_skip(between, tokens[::-1], amount_out)
    assert back - amount <= rounding(between, tokens[::-1])


def test_to_the_average_and_back_can_gain() -> None:
    """At the average the fictive reserves change, so the way back has another depth. The bytecode pays both amounts."""
    pool = replace(
        valid_pool(),
        fee_ppm=201,
        lp_fee_ppm=1,
        reserves=(1_688_743_330_854_244_454_197_005, 425_190_691_268_138_043_031_308_396),
        fictive_reserves=(1_303_035_084_171_560_568_631_665, 93_757_421_031_549_513_027_141_349),
        average=PriceAverage(377_731_239_486_279_380_042_118, 330_263_021_078_646_546_715_354_333, 1_700_001_281),
        timestamp=1_700_001_281,
    )
    amount_out, between = pool.swap(pool.tokens[1], pool.tokens[0], 425_190_691_268_138_071_010_312_192)
    assert amount_out == 1_068_163_084_212_175_157_854_935
    assert between.swap(pool.tokens[0], pool.tokens[1], amount_out)[0] == 425_529_107_378_903_302_829_284_492


@given(swaps())
def test_reserves_change_by_what_is_paid(swap: tuple[SmarDex, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    i = pool.tokens.index(tokens[0])
    amount_out, after = swap_or_skip(pool, tokens, amount)
    taken = 0 if pool.keeps_protocol_fee else amount * (pool.fee_ppm - pool.lp_fee_ppm) // 10**6
    assert after.reserves[i] == pool.reserves[i] + amount - taken
    assert after.reserves[1 - i] == pool.reserves[1 - i] - amount_out
    assert after.average.updated_at == after.timestamp


def test_the_average_follows_the_price_for_five_minutes() -> None:
    pool = next(pool for pool in POOLS if pool.average.updated_at)
    started = pool.average.updated_at
    times = [replace(pool, timestamp=started + seconds) for seconds in (0, 1, 299, 300, 10_000)]
    assert [each.changes_without_events for each in times] == [True, True, True, False, False]
    averages = [each._current_average(forward=True) for each in times]
    assert averages[0] == (pool.average.first, pool.average.second)
    assert averages[3] == averages[4] == pool.fictive_reserves


def test_a_fee_that_the_contract_cannot_store_reverts() -> None:
    pool = replace(valid_pool(), fee_ppm=90_000, lp_fee_ppm=1, keeps_protocol_fee=False)
    with pytest.raises(SwapReverts):
        pool.swap(pool.tokens[0], pool.tokens[1], 10**37)


@pytest.mark.parametrize(
    ("field", "value"), [("lp_fee_ppm", 0), ("average", ["1", "1", 2**39]), ("average", ["0", "1", 7])]
)
def test_a_contradiction_is_refused_by_its_field(field: str, value: object) -> None:
    pool = valid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        family("smardex").from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field == field
