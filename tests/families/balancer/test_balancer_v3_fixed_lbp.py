"""Fixed-price bootstrapping pools of Balancer V3 against the contract's `onSwap`, and the laws of all pools."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.units import WAD
from swapcli.families import family
from swapcli.families.balancer.balancer_v3_fixed_lbp import BalancerV3FixedLbp
from swapcli.testing.pool_laws import check_concave, check_curve_follows, check_state_round_trip, check_two_parts
from swapcli.testing.recorded_swaps import check_recorded_swaps, replay_recorded_swaps
from tests.families.recorded import vectors_file

POOLS = [
    each.pool
    for each in replay_recorded_swaps(vectors_file("balancer_v3_fixed_lbp"))
    if each.amount_out and isinstance(each.pool, BalancerV3FixedLbp)
]


def valid_pool() -> BalancerV3FixedLbp:
    """Return a pool with a fee that has sold much of its token, and can sell more."""
    return next(pool for pool in POOLS if pool.swap_fee and min(pool.reserves) > 10**9)


def way(pool: BalancerV3FixedLbp) -> tuple[str, str]:
    """Return the tokens of a sale: the reserve token for the project's."""
    return pool.tokens[1 - pool.project], pool.tokens[pool.project]


@st.composite
def sales(draw: st.DrawFn) -> tuple[BalancerV3FixedLbp, int]:
    """Return a recorded pool, and a part of what it can sell."""
    pool = draw(st.sampled_from(POOLS))
    return pool, max(1, int(pool.curve(*way(pool)).capacity * 10 ** draw(st.floats(-5.0, -1e-3))))


def test_recorded_swaps_are_repeated_to_the_unit() -> None:
    assert check_recorded_swaps(vectors_file("balancer_v3_fixed_lbp")) == 362


@given(sales())
def test_the_curve_follows_the_exact_swap(sale: tuple[BalancerV3FixedLbp, int]) -> None:
    pool, amount = sale
    check_curve_follows(pool, way(pool), amount, relative=2e-7)
    check_concave(pool.curve(*way(pool)), 0.1, 0.9)


@given(sales(), st.floats(0.01, 0.99))
def test_two_parts_pay_no_more_than_the_whole(sale: tuple[BalancerV3FixedLbp, int], part: float) -> None:
    pool, amount = sale
    check_two_parts(pool, way(pool), amount, part, 2)


@given(sales())
def test_state_survives_a_round_trip(sale: tuple[BalancerV3FixedLbp, int]) -> None:
    pool, amount = sale
    check_state_round_trip(pool)
    try:
        after = pool.swap(*way(pool), amount)[1]
    except PoolError:
        return
    check_state_round_trip(after)
    assert after.changes_without_events


def test_the_project_s_token_is_never_bought_back() -> None:
    pool = valid_pool()
    project, reserve = way(pool)[::-1]
    with pytest.raises(SwapReverts, match="does not buy"):
        pool.swap(project, reserve, 10**18)
    assert pool.curve(project, reserve).capacity == 0.0


def test_no_more_is_sold_than_the_pool_holds() -> None:
    pool = valid_pool()
    capacity = pool.curve(*way(pool)).capacity
    with pytest.raises(InsufficientLiquidity, match="holds less than"):
        pool.swap(*way(pool), int(capacity * 1.01) + 10)
    empty = replace(pool, reserves=(0, 0))
    assert empty.curve(*way(pool)).capacity == 0.0
    with pytest.raises(InsufficientLiquidity):
        empty.swap(*way(pool), WAD)


@pytest.mark.parametrize(
    ("field", "value"), [("rates", [str(WAD), str(2 * WAD)]), ("project", 2), ("project_price", "0")]
)
def test_a_contradiction_is_refused_by_its_field(field: str, value: object) -> None:
    pool = valid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        family("balancer_v3_fixed_lbp").from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field.startswith(field)
