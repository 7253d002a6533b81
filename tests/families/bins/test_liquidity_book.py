"""Liquidity Book: swaps recorded from the real contract, the fee in time, the curve, and malformed state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.bins.bin_math import BASE_ID
from swapcli.families.bins.liquidity_book import BIN_GAS, LiquidityBook
from swapcli.families.bins.volatility_fee import FeeParameters, Volatility
from swapcli.testing.pool_laws import check_state_round_trip
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.bins.random_bins import bins_around
from tests.families.recorded import read_vectors

A, B = TOKENS[:2]
ERRORS = {"LBPair__OutOfLiquidity": InsufficientLiquidity, "LBPair__InsufficientAmountOut": SwapReverts}
PARAMETERS = {
    "base_factor": 8_000,
    "filter_period": 30,
    "decay_period": 600,
    "reduction_factor": 5_000,
    "variable_fee_control": 40_000,
    "protocol_share": 1_000,
    "max_volatility_accumulator": 350_000,
}
STATE: dict[str, object] = {
    "active_id": BASE_ID,
    "bin_step": 20,
    "bins": [[BASE_ID - 1, "0", "1000000"], [BASE_ID, "500000", "700000"], [BASE_ID + 1, "1000000", "0"]],
    "fee_parameters": PARAMETERS,
    "volatility": {"accumulator": 20_000, "reference": 4_000, "id_reference": BASE_ID - 1, "updated_at": 1_000},
    "timestamp": 1_000,
}
IDENTITY = PoolIdentity(ADDRESS, "test", (A, B), (18, 18), 1_600)
POOL = LiquidityBook.from_state(IDENTITY, STATE)
WAYS = st.sampled_from([(A, B), (B, A)])

Fields = Mapping[str, Any]


def test_recorded_swaps_agree() -> None:
    outcomes: Counter[str] = Counter()
    for step, pool in recorded_steps():
        outcomes[step.get("revert", "swap")] += 1
        way, amount_in = (A, B) if step["swap_for_y"] else (B, A), int(step["amount"])
        if "revert" in step:
            with pytest.raises(ERRORS[step["revert"]]):
                pool.swap(*way, amount_in)
            continue
        amount_out, after = pool.swap(*way, amount_in)
        assert amount_out == int(step["amount_out"])
        assert (after.active_id, list(after.volatility)) == (step["after"]["active_id"], step["after"]["volatility"])
        changed = {row[0]: row for row in step["after"]["bins"]}
        assert {row[0]: row for row in after.bins.state()} == {row[0]: row for row in pool.bins.state()} | changed
    assert outcomes == {"swap": 720, "LBPair__InsufficientAmountOut": 112, "LBPair__OutOfLiquidity": 18}


def recorded_steps() -> Iterator[tuple[Fields, LiquidityBook]]:
    """Yield each recorded swap and the pool before it, with the bins that the swaps before have left."""
    for pool in read_vectors("liquidity_book")["pools"]:
        rows = {row[0]: row for row in pool["bins"]}
        fee_ppm = pool["fee_parameters"]["base_factor"] * pool["bin_step"] // 100
        for step in pool["steps"]:
            names = ("accumulator", "reference", "id_reference", "updated_at")
            state = {
                "active_id": step["before"]["active_id"],
                "bin_step": pool["bin_step"],
                "bins": [rows[bin_id] for bin_id in sorted(rows)],
                "fee_parameters": pool["fee_parameters"],
                "volatility": dict(zip(names, step["before"]["volatility"], strict=True)),
                "timestamp": step["timestamp"],
            }
            yield step, LiquidityBook.from_state(IDENTITY._replace(fee_ppm=fee_ppm), state)
            rows |= {row[0]: row for row in step.get("after", {}).get("bins", [])}


@st.composite
def books(draw: st.DrawFn) -> LiquidityBook:
    active_id = BASE_ID + draw(st.integers(-5_000, 5_000))
    parameters = FeeParameters(draw(st.sampled_from([0, 8_000])), 30, 600, 5_000, 40_000, 1_000, 350_000)
    updated_at = 10_000 - draw(st.integers(0, 700))
    accumulated = st.integers(0, 350_000)
    id_reference = active_id + draw(st.integers(-20, 20))
    volatility = Volatility(draw(accumulated), draw(accumulated), id_reference, updated_at)
    fee_ppm = parameters.base_fee_ppm(20)
    bins = draw(bins_around(active_id))
    return LiquidityBook(
        ADDRESS, "test", (A, B), (18, 18), fee_ppm, active_id, 20, bins, parameters, volatility, 10_000
    )


@given(books())
def test_state_survives_a_round_trip(pool: LiquidityBook) -> None:
    check_state_round_trip(pool)


@given(books(), WAYS, st.floats(-6.0, 0.0).map(lambda exponent: 10.0**exponent))
def test_the_curve_bounds_the_exact_swap(pool: LiquidityBook, way: tuple[str, str], part: float) -> None:
    curve = pool.curve(*way)
    assume(curve.capacity >= 1)
    amount_in = max(1, int(curve.capacity * part))
    try:
        amount_out, after = pool.swap(*way, amount_in)
    except SwapReverts:
        assume(False)
    assert curve.amount_out(float(amount_in)) >= amount_out * (1 - 1e-12)
    assert (pool.gas_units(after) - pool.swap_gas) % BIN_GAS == 0
    assert after.timestamp == pool.timestamp == after.volatility.updated_at


@given(books(), WAYS)
def test_a_swap_takes_up_to_the_capacity(pool: LiquidityBook, way: tuple[str, str]) -> None:
    capacity = pool.curve(*way).capacity
    assume(capacity > 1e6)
    pool.swap(*way, int(capacity))
    with pytest.raises(InsufficientLiquidity):
        pool.swap(*way, int(capacity * (1 + 2**-40)) + 2 * len(pool.bins.ids) + 2)


@pytest.mark.parametrize(
    ("elapsed", "reference", "id_reference", "changes"),
    [
        (0, 4_000, BASE_ID - 1, True),
        (29, 4_000, BASE_ID - 1, True),
        (30, 10_000, BASE_ID, True),
        (599, 10_000, BASE_ID, True),
        (600, 0, BASE_ID, False),
    ],
)
def test_volatility_decays_in_steps(elapsed: int, reference: int, id_reference: int, changes: bool) -> None:
    pool = replace(POOL, timestamp=1_000 + elapsed)
    assert pool.changes_without_events is changes
    _, after = pool.swap(A, B, 1_000)
    accumulator = reference + abs(BASE_ID - id_reference) * 10_000
    assert after.volatility == Volatility(accumulator, reference, id_reference, 1_000 + elapsed)


def test_the_fee_grows_with_the_bins_crossed() -> None:
    pool = replace(POOL, timestamp=5_000)
    fees = [pool.fee_parameters.fee(20, distance * 10_000) for distance in (0, 1, 2, 35)]
    assert fees[0] == 1_600 * 10**12
    # 0.4 * (0.2% * distance)^2 in fees of 1.
    assert [fee - fees[0] for fee in fees[1:]] == [16 * 10**12 * square for square in (1, 4, 1225)]


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("fee_ppm", {"bin_step": 10}),
        ("fee_parameters", {"fee_parameters": PARAMETERS | {"variable_fee_control": 10**6}}),
        ("fee_parameters.filter_period", {"fee_parameters": PARAMETERS | {"filter_period": 601}}),
        ("fee_parameters.protocol_share", {"fee_parameters": PARAMETERS | {"protocol_share": 2_501}}),
        ("volatility.updated_at", {"timestamp": 999}),
        ("bins[0]", {"active_id": BASE_ID - 2}),
    ],
)
def test_contradictory_state_is_refused(field: str, change: dict[str, object]) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        LiquidityBook.from_state(IDENTITY, STATE | change)
    assert caught.value.details["field"] == field
