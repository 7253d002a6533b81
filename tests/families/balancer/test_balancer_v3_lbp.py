"""Bootstrapping pools of Balancer V3 keep the laws of all pools; `onSwap` of the contract is in the recorded swaps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.units import WAD
from swapcli.families import family
from swapcli.families.balancer.balancer_v3_lbp import BalancerV3Lbp
from swapcli.testing.pool_laws import (
    check_concave,
    check_state_round_trip,
    check_two_parts,
    swap_or_skip,
    swap_there_and_back,
    trade_to_rate,
)
from swapcli.testing.recorded_swaps import replay_recorded_swaps
from tests.families.recorded import vectors_file

POOLS = [
    each.pool
    for each in replay_recorded_swaps(vectors_file("balancer_v3_lbp"))
    if each.amount_out and isinstance(each.pool, BalancerV3Lbp)
]


def valid_pool() -> BalancerV3Lbp:
    """Return a pool with a virtual reserve that trades both ways."""
    return next(pool for pool in POOLS if pool.virtual_reserve and not pool.is_project_bought_only)


@st.composite
def swaps(draw: st.DrawFn) -> tuple[BalancerV3Lbp, tuple[str, str], int]:
    """Return a recorded pool with a fee, a direction, and a part of what it takes."""
    pool = replace(draw(st.sampled_from(POOLS)), fee_ppm=3_000, swap_fee=3 * 10**15)
    tokens = (pool.tokens[0], pool.tokens[1]) if draw(st.booleans()) else (pool.tokens[1], pool.tokens[0])
    capacity = pool.curve(*tokens).capacity
    assume(capacity > 0)
    return pool, tokens, max(1, int(capacity * 10 ** draw(st.floats(-5.0, -1e-3))))


def margin(pool: BalancerV3Lbp, tokens: tuple[str, str]) -> float:
    """Return what the contract's margin on powers takes at most: a part of the output token's balance."""
    return 3 * (1 + pool.curve(*tokens).start_rate) + 3e-14 * pool.scaled_balances()[pool.tokens.index(tokens[1])]


@given(swaps())
def test_the_curve_gives_what_the_exact_swap_gives(swap: tuple[BalancerV3Lbp, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    amount_out, after = swap_or_skip(pool, tokens, amount)
    expected = pool.curve(*tokens).amount_out(float(amount))
    assert expected == pytest.approx(amount_out, rel=1e-9, abs=margin(pool, tokens))
    check_state_round_trip(after)


@given(swaps(), st.floats(0.0, 0.999), st.floats(0.0, 0.999))
def test_the_curve_is_increasing_and_concave(
    swap: tuple[BalancerV3Lbp, tuple[str, str], int], a: float, b: float
) -> None:
    pool, tokens, _ = swap
    check_concave(pool.curve(*tokens), a, b)


@given(swaps(), st.floats(0.5, 0.9999))
def test_a_trade_to_a_rate_ends_there(swap: tuple[BalancerV3Lbp, tuple[str, str], int], part: float) -> None:
    pool, tokens, _ = swap
    amount_in, _, slope = trade_to_rate(pool.curve(*tokens), part, 1e-9)
    assert min(amount_in, slope) >= 0


@given(swaps())
def test_there_and_back_gains_nothing(swap: tuple[BalancerV3Lbp, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    assert swap_there_and_back(pool, *tokens, amount) <= amount


@given(swaps(), st.floats(0.01, 0.99))
def test_two_parts_pay_no_more_than_the_whole(swap: tuple[BalancerV3Lbp, tuple[str, str], int], part: float) -> None:
    pool, tokens, amount = swap
    check_two_parts(pool, tokens, amount, part, margin(pool, tokens))


def test_a_sale_may_be_closed_to_the_project_s_token() -> None:
    pool = replace(valid_pool(), is_project_bought_only=True, project=0)
    project, reserve = pool.tokens
    with pytest.raises(SwapReverts, match="does not buy"):
        pool.swap(project, reserve, 10**12)
    assert pool.curve(project, reserve).capacity == 0.0
    assert pool.curve(reserve, project).capacity > 0.0


def test_no_more_is_paid_than_the_pool_really_holds() -> None:
    pool = replace(
        valid_pool(), project=0, weights=(WAD // 2, WAD // 2), reserves=(10**21, 10**12), virtual_reserve=10**21
    )
    project, reserve = pool.tokens
    with pytest.raises(InsufficientLiquidity, match="does not hold"):
        pool.swap(project, reserve, 10**15)
    curve = pool.curve(project, reserve)
    assert curve.amount_out(curve.capacity) <= 10**12 * (1 + 1e-9)
    assert pool.swap(project, reserve, int(curve.capacity * 0.99))[0] <= 10**12
    empty = replace(pool, reserves=(10**21, 0))
    assert empty.swap(reserve, project, 10**18)[0] > 0
    assert empty.curve(project, reserve).capacity == 0.0


@pytest.mark.parametrize(("field", "value"), [("rates", [str(WAD), str(2 * WAD)]), ("project", 2)])
def test_a_contradiction_is_refused_by_its_field(field: str, value: object) -> None:
    pool = valid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        family("balancer_v3_lbp").from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field.startswith(field)
