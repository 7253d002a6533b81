"""QuantAMM's pools of Balancer V3 against the contract's `onSwap` while weights move, and the laws of all pools."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.model.units import WAD
from swapcli.families import family
from swapcli.families.balancer.balancer_v3_quantamm import BalancerV3QuantAmm
from swapcli.testing.pool_laws import (
    check_concave,
    check_state_round_trip,
    check_two_parts,
    swap_or_skip,
    swap_there_and_back,
    trade_to_rate,
)
from swapcli.testing.recorded_swaps import check_recorded_swaps, replay_recorded_swaps
from tests.families.recorded import vectors_file

POOLS = [
    each.pool
    for each in replay_recorded_swaps(vectors_file("balancer_v3_quantamm"))
    if each.amount_out and isinstance(each.pool, BalancerV3QuantAmm)
]
Sale = tuple[BalancerV3QuantAmm, tuple[str, str], int]


def valid_pool() -> BalancerV3QuantAmm:
    """Return a recorded pool of two tokens."""
    return next(pool for pool in POOLS if len(pool.tokens) == 2)


@st.composite
def sales(draw: st.DrawFn) -> Sale:
    """Return a recorded pool, a direction, and a part of what it takes."""
    pool = draw(st.sampled_from(POOLS))
    i, j = draw(st.permutations(range(len(pool.tokens))))[:2]
    capacity = pool.curve(pool.tokens[i], pool.tokens[j]).capacity
    return pool, (pool.tokens[i], pool.tokens[j]), max(1, int(capacity * 10 ** draw(st.floats(-5.0, -1e-3))))


def margin(pool: BalancerV3QuantAmm, tokens: tuple[str, str]) -> float:
    """Return what the contract's margin on powers takes at most: a part of the output token's balance."""
    return 3 * (1 + pool.curve(*tokens).start_rate) + 3e-14 * pool.reserves[pool.tokens.index(tokens[1])]


def test_recorded_swaps_are_repeated_to_the_unit() -> None:
    assert check_recorded_swaps(vectors_file("balancer_v3_quantamm")) == 515


@given(sales())
def test_the_curve_gives_what_the_exact_swap_gives(sale: Sale) -> None:
    pool, tokens, amount = sale
    amount_out, after = swap_or_skip(pool, tokens, amount)
    assert pool.curve(*tokens).amount_out(float(amount)) == pytest.approx(
        amount_out, rel=1e-9, abs=margin(pool, tokens)
    )
    check_state_round_trip(after)
    assert after.changes_without_events


@given(sales(), st.floats(0.0, 0.999), st.floats(0.0, 0.999))
def test_the_curve_is_increasing_and_concave(sale: Sale, a: float, b: float) -> None:
    pool, tokens, _ = sale
    check_concave(pool.curve(*tokens), a, b)


@given(sales(), st.floats(0.5, 0.9999))
def test_a_trade_to_a_rate_ends_there(sale: Sale, part: float) -> None:
    pool, tokens, _ = sale
    amount_in, _, slope = trade_to_rate(pool.curve(*tokens), part, 1e-9)
    assert min(amount_in, slope) >= 0


@given(sales())
def test_there_and_back_gains_nothing(sale: Sale) -> None:
    pool, tokens, amount = sale
    assert swap_there_and_back(pool, *tokens, amount) <= amount


@given(sales(), st.floats(0.01, 0.99))
def test_two_parts_pay_no_more_than_the_whole_and_its_fee(sale: Sale, part: float) -> None:
    """The fee of the first part stays in the pool, so that the second part pays with it."""
    pool, tokens, amount = sale
    whole = swap_or_skip(pool, tokens, amount)[0]
    check_two_parts(pool, tokens, amount, part, margin(pool, tokens) + whole * pool.swap_fee / WAD)


def test_a_trade_is_limited_to_a_part_of_both_balances() -> None:
    pool = replace(valid_pool(), max_trade_ratio=WAD // 10, weights=(WAD // 10, 9 * WAD // 10))
    (first, second), (x, y) = pool.tokens, pool.reserves
    with pytest.raises(SwapReverts, match="takes only part"):
        pool.swap(first, second, x // 8)
    with pytest.raises(SwapReverts, match="pays only part"):  # nine to one: a tenth of y for 1.2% of it
        pool.swap(second, first, y // 20)
    for way in ((first, second), (second, first)):
        capacity = pool.curve(*way).capacity
        assert pool.swap(*way, int(capacity * 0.999))[0] > 0
        with pytest.raises(SwapReverts, match="only part"):
            pool.swap(*way, int(capacity * 1.001) + 10**9)


def test_weights_need_not_sum_to_one() -> None:
    pool = valid_pool()
    moved = replace(pool, weights=(pool.weights[0] + 10**13, pool.weights[1]))
    check_state_round_trip(moved)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("weights", [str(WAD), "0"]),
        ("weights", [str(WAD), str(3 * WAD)]),
        ("weights", [str(WAD)]),
        ("max_trade_ratio", "0"),
        ("max_trade_ratio", str(WAD + 1)),
    ],
)
def test_a_contradiction_is_refused_by_its_field(field: str, value: object) -> None:
    pool = valid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        family("balancer_v3_quantamm").from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field.startswith(field)
