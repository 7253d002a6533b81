"""Pools of Fluid's DEX T1 swap as recorded from the contract, and revert where it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from math import exp
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.families.fluid.fluid_t1 import FluidSide, FluidT1
from swapcli.testing.pool_laws import check_state_round_trip
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import read_vectors

UNLIMITED = (2**128, 2**128)
"""The recorded pools have wide limits."""
REASONS = {
    "DexT1__OracleUpdateHugeSwapDiff": (InsufficientLiquidity, "5%"),
    "DexT1__SwapInLimitingAmounts": (InsufficientLiquidity, "half"),
    "DexT1__TokenReservesTooLow": (InsufficientLiquidity, "too little"),
    "DexT1__LimitingAmountsSwapAndNonPerfectActions": (SwapReverts, "does not swap an input|an input of 0"),
    "Panic(0x11)": (InsufficientLiquidity, "less than"),
}


def big_number(word: int) -> int:
    return (word >> 8 & 0xFFFFFFFF) << (word & 0xFF)


def side(recorded: Mapping[str, str] | None) -> FluidSide | None:
    if recorded is None:
        return None
    real, imaginary = ((int(recorded[f"{name}_0"]), int(recorded[f"{name}_1"])) for name in ("real", "imaginary"))
    return FluidSide(real, imaginary)


def as_recorded(pool: dict[str, Any], step: dict[str, Any]) -> FluidT1:
    """Return the pool before a step. A second swap in a block is measured against the price before the first."""
    before = step["before"]
    variables = int(before["dex_variables"])
    is_second = variables >> 121 & (1 << 33) - 1 == step["timestamp"]
    return FluidT1(
        ADDRESS,
        "test",
        TOKENS[:2],
        tuple(pool["decimals"]),
        pool["fee"],
        side(before["collateral"]),
        side(before["debt"]),
        int(before["prices"]["center_price"]),
        big_number(variables >> (1 if is_second else 41)),
        pool["revenue_cut"],
        UNLIMITED,
        UNLIMITED,
        is_native=False,
        resolver="",
    )


def recorded_steps() -> Iterator[tuple[FluidT1, dict[str, Any]]]:
    """Yield the pool before each recorded exact input, and the step."""
    for pool in read_vectors("fluid_dex_t1")["pools"]:
        yield from ((as_recorded(pool, step), step) for step in pool["steps"] if step["exact"] == "in")


def direction(step: dict[str, Any]) -> tuple[str, str]:
    return (TOKENS[0], TOKENS[1]) if step["swap_0_to_1"] else (TOKENS[1], TOKENS[0])


POOLS = [pool for pool, step in recorded_steps() if step["amount_out"]]


def test_every_recorded_swap_is_exact() -> None:
    done = Counter[str]()
    for pool, step in recorded_steps():
        amount = int(step["amount"])
        reason = str(step.get("revert", "done"))
        done[reason] += 1
        if step["amount_out"]:
            amount_out, _ = pool.swap(*direction(step), amount)
            assert amount_out == int(step["amount_out"])
        else:
            error, text = REASONS[reason]
            with pytest.raises(error, match=text):
                pool.swap(*direction(step), amount)
    assert done["done"] > 300
    assert done.total() - done["done"] > 150


@st.composite
def swaps(draw: st.DrawFn) -> tuple[FluidT1, tuple[str, str], int]:
    """Return a recorded pool at the price of its last swap or near it, a direction, and an amount that may be small."""
    pool = draw(st.sampled_from(POOLS))
    tokens = draw(st.sampled_from([(TOKENS[0], TOKENS[1]), (TOKENS[1], TOKENS[0])]))
    i = pool.tokens.index(tokens[0])
    reserve = sum(each.imaginary[i] for each in (pool.collateral, pool.debt) if each)
    base = reserve * 10.0 ** (pool.decimals[i] - 12)
    return pool, tokens, max(1, int(base * 10 ** draw(st.floats(-6.0, -1.0))))


@given(swaps())
def test_the_curve_gives_what_the_exact_swap_gives(swap: tuple[FluidT1, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    curve = pool.curve(*tokens)
    try:
        amount_out, _ = pool.swap(*tokens, amount)
    except PoolError:
        assume(False)
    assert amount <= curve.capacity * (1 + 1e-4)
    # Amounts with fewer than 12 decimals' worth are cut: of the input, and of the output of each side.
    dust = sum(3 * 10.0 ** max(places - 12, 0) for places in pool.decimals) * max(1.0, curve.start_rate)
    assert curve.amount_out(float(amount)) == pytest.approx(amount_out, rel=1e-6, abs=dust)


@given(swaps())
def test_a_swap_within_the_capacity_goes_through(swap: tuple[FluidT1, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    curve = pool.curve(*tokens)
    assume(10**10 < amount < curve.capacity * 0.999)
    # From a price that is too far away already, only larger swaps go through.
    sides = [each.imaginary for each in (pool.collateral, pool.debt) if each]
    assume(all(abs(1 - pool.last_price / 1e27 * first / second) < 0.049 for first, second in sides))
    assert pool.swap(*tokens, amount)[0] > 0


@given(swaps(), st.lists(st.floats(-7.0, 0.5).map(lambda exponent: 10.0**exponent), min_size=2, max_size=6))
def test_the_curve_is_increasing_and_concave(swap: tuple[FluidT1, tuple[str, str], int], drops: list[float]) -> None:
    pool, tokens, _ = swap
    curve = pool.curve(*tokens)
    rates = [curve.start_rate * exp(-drop) for drop in sorted(drops)]
    trades = [(0.0, 0.0, curve.start_rate), *((*curve.trade_to_marginal_rate(rate)[:2], rate) for rate in rates)]
    for (sold, bought, rate), (more, out, less) in pairwise(trades):
        assert more >= sold * (1 - 1e-12)
        assert out <= bought + rate * (more - sold) * (1 + 1e-9) + 1e-9 * out
        if more < curve.capacity:
            assert out >= bought + less * (more - sold) * (1 - 1e-9) - 1e-9 * out
            assert curve.rate(more) == pytest.approx(less, rel=1e-9)
        assert curve.amount_out(more) == pytest.approx(out, rel=1e-9)


@given(swaps())
def test_there_and_back_never_gains_in_one_side(swap: tuple[FluidT1, tuple[str, str], int]) -> None:
    # Two sides may have prices that differ by more than the fee.
    pool, (first, second), amount = swap
    assume(not (pool.collateral and pool.debt))
    try:
        amount_out, after = pool.swap(first, second, amount)
        back, _ = after.swap(second, first, amount_out)
    except PoolError:
        return
    assert back <= amount


@given(swaps(), st.floats(0.1, 0.9), st.booleans())
def test_the_liquidity_layer_limits_a_swap(
    swap: tuple[FluidT1, tuple[str, str], int], part: float, of_debt: bool
) -> None:
    pool, tokens, amount = swap
    j = pool.tokens.index(tokens[1])
    try:
        amount_out, after = pool.swap(*tokens, amount)
    except PoolError:
        assume(False)
    name = "debt" if of_debt else "collateral"
    before, later = getattr(pool, name), getattr(after, name)
    assume(before is not None and later.real[j] < before.real[j])
    adjusted = before.real[j] - later.real[j]
    output = int(adjusted * 10.0 ** (pool.decimals[j] - 12))
    assume(output > 10**6)
    limits = [2**128, 2**128]
    limits[j] = int(output * part)
    pair = limits[0], limits[1]
    limited = replace(pool, borrowable=pair) if of_debt else replace(pool, withdrawable=pair)
    with pytest.raises(InsufficientLiquidity, match="liquidity layer"):
        limited.swap(*tokens, amount)
    assert limited.curve(*tokens).capacity < amount
    assert amount_out > 0


@pytest.mark.parametrize("pool", [POOLS[0], POOLS[-1], replace(POOLS[3], is_native=True, resolver="0x" + "5e" * 20)])
def test_state_survives_a_round_trip(pool: FluidT1) -> None:
    check_state_round_trip(pool)
    assert pool.changes_without_events
    assert pool.is_single_use


def with_state(**changes: object) -> FluidT1:
    pool = next(pool for pool in POOLS if pool.collateral and pool.debt)
    return FluidT1.from_state(pool.identity, pool.state() | changes)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"collateral": None, "debt": None}, "collateral"),
        ({"collateral": [5, 1, 4, 4]}, "collateral"),
        ({"debt": [1, 1, 0, 4]}, "debt"),
        ({"debt": [1, 1, 4]}, "debt"),
        ({"center_price": 0}, "center_price"),
        ({"last_price": 0}, "last_price"),
        ({"revenue_cut": 101}, "revenue_cut"),
        ({"withdrawable": [1]}, "withdrawable"),
        ({"borrowable": [-1, 2]}, "borrowable[0]"),
        ({"resolver": "0x12"}, "resolver"),
    ],
)
def test_a_state_that_cannot_be_names_its_field(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        with_state(**changes)
    assert caught.value.field == field
