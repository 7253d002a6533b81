"""Pools of DODO V2 swap as recorded from the contracts, and refuse what those refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import PoolError, SwapReverts
from swapcli.core.model.units import WAD
from swapcli.families.dodo.dodo_v2 import DodoState, DodoV2
from swapcli.testing.pool_laws import (
    check_concave,
    check_state_round_trip,
    swap_or_skip,
    swap_there_and_back,
    trade_to_rate,
)
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import read_vectors

STATES = tuple(DodoState)
parts = st.floats(-6.0, 1.0).map(lambda exponent: 10.0**exponent)


def as_recorded(pool: dict[str, Any], step: list[Any]) -> DodoV2:
    """Return the pool before a step."""
    reserves, targets, state, *_ = step
    lp_fee, maintainer_fee = int(pool["lp_fee"]), int(pool["maintainer_fee"])
    return DodoV2(
        ADDRESS,
        "test",
        TOKENS[:2],
        tuple(pool["decimals"]),
        (lp_fee + maintainer_fee) // 10**12,
        (int(reserves[0]), int(reserves[1])),
        (int(targets[0]), int(targets[1])),
        STATES[state],
        int(pool["price"]),
        int(pool["slippage"]),
        lp_fee,
        maintainer_fee,
        derives_targets=pool["kind"] == "dvm",
        min_amounts=(0, 0),
    )


def recorded_steps() -> Iterator[tuple[DodoV2, list[Any]]]:
    """Yield the pool before each recorded swap, and the step."""
    for pool in read_vectors("dodo_v2")["pools"]:
        yield from ((as_recorded(pool, step), step) for step in pool["steps"])


def direction(step: list[Any]) -> tuple[str, str]:
    return (TOKENS[0], TOKENS[1]) if step[3] else (TOKENS[1], TOKENS[0])


POOLS = [pool for pool, step in recorded_steps() if step[5]]


def valid_pool() -> DodoV2:
    return replace(POOLS[-1], min_amounts=(1, 1))


def test_every_recorded_swap_is_exact() -> None:
    done = Counter[str]()
    for pool, step in recorded_steps():
        if step[5]:
            assert pool.swap(*direction(step), int(step[4]))[0] == int(step[5])
            done[pool.r_state] += 1
        else:
            with pytest.raises(PoolError):
                pool.swap(*direction(step), int(step[4]))
            done["refused"] += 1
    assert min(done.values()) > 40
    assert done.total() > 900


def test_the_state_after_a_swap_is_the_contract_s() -> None:
    compared = 0
    for recorded in read_vectors("dodo_v2")["pools"]:
        known: DodoV2 | None = None
        for step in recorded["steps"]:
            if known is not None:
                fresh = as_recorded(recorded, step)
                assert (known.reserves, known.r_state) == (fresh.reserves, fresh.r_state)
                assert known._current_targets() == fresh.targets
                compared += 1
            pool = known or as_recorded(recorded, step)
            # A contract may also take an input and pay nothing.
            known = pool.swap(*direction(step), int(step[4]))[1] if step[5] else None
    assert compared > 600


@st.composite
def swaps(draw: st.DrawFn) -> tuple[DodoV2, tuple[str, str], int]:
    """Return a recorded pool, a direction, and an amount by the size of the pool."""
    pool = draw(st.sampled_from(POOLS))
    tokens = draw(st.sampled_from([(TOKENS[0], TOKENS[1]), (TOKENS[1], TOKENS[0])]))
    i = pool.tokens.index(tokens[0])
    return pool, tokens, max(1, int(max(pool.reserves[i], pool.targets[i]) * draw(parts)))


def dust(pool: DodoV2, start_rate: float) -> float:
    """Return the contract's rounding: k and the target's premium are fractions of 10^18, and so is the inverse of i."""
    units = 4 * (1 + start_rate)
    return units + 1e-9 * max(pool.reserves) * max(1.0, start_rate) if pool.slippage < 10**9 else units


@given(swaps())
def test_the_curve_gives_what_the_exact_swap_gives(swap: tuple[DodoV2, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    curve = pool.curve(*tokens)
    amount_out, _ = swap_or_skip(pool, tokens, amount)
    assume(amount_out > 10**6)
    assert curve.amount_out(float(amount)) == pytest.approx(amount_out, rel=2e-6, abs=dust(pool, curve.start_rate))


@given(swaps(), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_curve_is_increasing_and_concave(swap: tuple[DodoV2, tuple[str, str], int], a: float, b: float) -> None:
    pool, tokens, amount = swap
    curve = pool.curve(*tokens)
    assume(curve.start_rate > 0)
    limited = min(1.0, amount / curve.capacity)
    check_concave(curve, a * limited, b * limited)


@given(swaps(), st.floats(0.01, 0.9999))
def test_a_trade_to_a_rate_ends_there(swap: tuple[DodoV2, tuple[str, str], int], part: float) -> None:
    pool, tokens, _ = swap
    assume(pool.slippage > 10**9)
    amount_in, _, slope = trade_to_rate(pool.curve(*tokens), part, 1e-9)
    assert amount_in >= 0
    assert slope >= 0


@given(swaps())
def test_more_input_never_pays_less(swap: tuple[DodoV2, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    less, _ = swap_or_skip(pool, tokens, amount)
    more, _ = swap_or_skip(pool, tokens, amount + max(amount // 1_000, 1))
    assert more + rounding(pool) >= less


@given(swaps())
def test_there_and_back_gains_nothing(swap: tuple[DodoV2, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    back = swap_there_and_back(pool, *tokens, amount)
    assert back <= amount * (1 + 1e-6) + rounding(pool)


@given(swaps(), st.floats(0.01, 0.99))
def test_two_parts_gain_no_more_than_the_fee_that_stays(swap: tuple[DodoV2, tuple[str, str], int], part: float) -> None:
    pool, tokens, amount = swap
    first = max(int(amount * part), 1)
    assume(first < amount)
    whole, _ = swap_or_skip(pool, tokens, amount)
    paid, between = swap_or_skip(pool, tokens, first)
    rest, _ = swap_or_skip(between, tokens, amount - first)
    left = paid * pool.lp_fee // (WAD - pool.lp_fee - pool.maintainer_fee)
    assert paid + rest <= (whole + left) * (1 + 2e-6) + rounding(pool)


def rounding(pool: DodoV2) -> float:
    """Return a few units of either token, in units of either."""
    return 4 + 4 * max(pool.price / WAD, WAD / pool.price)


@given(swaps())
def test_reserves_change_by_what_is_paid(swap: tuple[DodoV2, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    i = pool.tokens.index(tokens[0])
    amount_out, after = swap_or_skip(pool, tokens, amount)
    assert after.reserves[i] == pool.reserves[i] + amount
    maintainer_fee = pool.reserves[1 - i] - after.reserves[1 - i] - amount_out
    assert 0 <= maintainer_fee * (WAD - pool.lp_fee - pool.maintainer_fee) <= (amount_out + 2) * pool.maintainer_fee
    check_state_round_trip(after)


def test_private_pools_may_have_least_amounts() -> None:
    pool, step = next((pool, step) for pool, step in recorded_steps() if step[5] and step[3])
    amount = int(step[4])
    with pytest.raises(SwapReverts, match="takes at least"):
        replace(pool, min_amounts=(amount + 1, 0)).swap(*direction(step), amount)
    assert replace(pool, min_amounts=(amount, 0)).swap(*direction(step), amount)[0] == int(step[5])
    check_state_round_trip(replace(pool, min_amounts=(amount, 7)))
