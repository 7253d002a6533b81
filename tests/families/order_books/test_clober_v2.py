"""Books of Clober V2: swaps recorded from the contracts, the laws of order books, and malformed state."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.order_books.clober_v2 import LEVEL_GAS, CloberV2, FeePolicy
from swapcli.families.order_books.price_levels import PriceLevel
from swapcli.testing.pool_laws import check_state_round_trip
from swapcli.testing.recorded_swaps import check_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.order_books.order_book_laws import check_capacity, check_fills
from tests.families.recorded import vectors_file

A, B = TOKENS[:2]
WAY = (A, B)
IN_QUOTE = 1 << 23
FREE = 500_000
"""A policy without a fee."""


def policy(rate_ppm: int, *, uses_quote: bool) -> int:
    return (IN_QUOTE if uses_quote else 0) | (FREE + rate_ppm)


def build(taker: int = policy(300, uses_quote=False), unit_size: int = 10**12, *levels: tuple[int, int]) -> CloberV2:
    fee_ppm = max(FeePolicy.decode(taker).rate_ppm, 0)
    identity = PoolIdentity(ADDRESS, "test", (A, B), (18, 18), fee_ppm)
    state = {
        "book_id": f"0x{7:064x}",
        "unit_size": str(unit_size),
        "maker_policy": policy(0, uses_quote=True),
        "taker_policy": taker,
        "hooks": ZERO_ADDRESS,
        "levels": [list(level) for level in levels or ((120, 10**6), (100, 5 * 10**6), (-300, 10**7))],
    }
    return CloberV2.from_state(identity, state)


def valid_pool() -> Pool:
    return build()


def reserve_of(pool: Pool, k: int) -> float:
    """Return what the bids hold, with a rebate that a policy may give; nothing of the base token."""
    assert isinstance(pool, CloberV2)
    return pool.unit_size * sum(level.size for level in pool.levels) * 3 / 2 if k else 0


@st.composite
def books(draw: st.DrawFn) -> CloberV2:
    rate_ppm = draw(st.sampled_from([0, 1, 500, 3_000, -1, -200]) | st.integers(-2_000, 500_000))
    tick = draw(st.integers(-150_000, 150_000))
    levels = []
    for _ in range(draw(st.integers(1, 8))):
        levels.append((tick, draw(st.integers(1, 10**12))))
        tick -= draw(st.integers(1, 2_000))
    unit_size = draw(st.sampled_from([1, 1_000, 10**12]) | st.integers(1, 10**15))
    return build(policy(rate_ppm, uses_quote=draw(st.booleans())), unit_size, *levels)


def test_recorded_swaps_agree() -> None:
    assert check_recorded_swaps(vectors_file("clober_v2")) > 150


@given(books())
def test_state_survives_a_round_trip(pool: CloberV2) -> None:
    check_state_round_trip(pool)


@given(books(), st.floats(-9, 0), st.floats(0.01, 0.99))
def test_the_laws_of_order_books_hold(pool: CloberV2, exponent: float, part: float) -> None:
    whole = max(int(pool.curve(*WAY).capacity * 10**exponent), 2)
    first = min(max(int(whole * part), 1), whole - 1)
    check_fills(pool, WAY, first, whole - first)
    check_capacity(pool, WAY)


@given(books(), st.floats(-6, 0))
def test_units_are_conserved(pool: CloberV2, exponent: float) -> None:
    amount_in = max(int(pool.curve(*WAY).capacity * 10**exponent), 1)
    try:
        amount_out, after = pool.swap(*WAY, amount_in)
    except SwapReverts:
        return
    taken = (sum(level.size for level in each.levels) * pool.unit_size for each in (pool, after))
    before, left = taken
    fee = FeePolicy.decode(pool.taker_policy)
    if not fee.uses_quote:
        assert amount_out == before - left
    elif fee.rate_ppm >= 0:
        assert amount_out <= before - left
    assert pool.gas_units(after) == pool.swap_gas + LEVEL_GAS * (len(pool.levels) - len(after.levels))
    assert pool.gas_units_to(*WAY, 1e-60) == pool.swap_gas + LEVEL_GAS * (len(pool.levels) - 1)


def test_a_book_trades_in_one_direction() -> None:
    pool = build()
    with pytest.raises(InsufficientLiquidity):
        pool.swap(B, A, 10**18)
    assert pool.curve(B, A).capacity == 0


def test_the_part_that_buys_no_unit_changes_nothing() -> None:
    pool = build(FREE, 10**12, (0, 10))
    paid, after = pool.swap(*WAY, 3 * 10**12)
    assert paid == 3 * 10**12
    assert pool.swap(*WAY, 4 * 10**12 - 1) == (paid, after)
    with pytest.raises(SwapReverts):
        pool.swap(*WAY, 10**12 - 1)
    assert pool.swap(*WAY, 10**13) == (10**13, replace(pool, levels=()))
    with pytest.raises(InsufficientLiquidity):
        pool.swap(*WAY, 10**13 + 1)
    with pytest.raises(InsufficientLiquidity):
        replace(pool, levels=()).swap(*WAY, 1)


def test_an_amount_that_overflows_reverts() -> None:
    pool = build(FREE, 1, (500_000, 1))
    with pytest.raises(SwapReverts):
        pool.swap(*WAY, 1 << 200)


@pytest.mark.parametrize("rate_ppm", [300, -300])
@pytest.mark.parametrize("uses_quote", [False, True])
def test_a_packed_policy_is_decoded(rate_ppm: int, uses_quote: bool) -> None:
    assert FeePolicy.decode(policy(rate_ppm, uses_quote=uses_quote)) == FeePolicy(rate_ppm, uses_quote)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"levels": [[100, 5], [120, 5]]}, "levels"),
        ({"levels": [[1 << 19, 5]]}, "levels"),
        ({"unit_size": 0}, "unit_size"),
        ({"taker_policy": (1 << 23) - 1}, "taker_policy"),
        ({"maker_policy": (1 << 23) - 1}, "maker_policy"),
        ({"taker_policy": FREE + 299}, "fee_ppm"),
        ({"hooks": f"0x{1 << 155:040x}"}, "hooks"),
        ({"native": "both"}, "native"),
        ({"book_id": "0x07"}, "book_id"),
    ],
)
def test_contradictory_states_are_refused(change: dict[str, object], field: str) -> None:
    pool = build()
    with pytest.raises(InvalidPoolState, match=field):
        CloberV2.from_state(pool.identity, {**pool.state(), **change})


@pytest.mark.parametrize(
    ("native", "currencies"), [("", (A, B)), ("base", (ZERO_ADDRESS, B)), ("quote", (A, ZERO_ADDRESS))]
)
def test_the_native_token_is_the_zero_address_in_a_key(native: str, currencies: tuple[str, str]) -> None:
    pool = CloberV2.from_state(build().identity, {**build().state(), "native": native or None})
    assert pool.currencies() == currencies
    assert (pool.key, pool.pool_id) == (pool.book_id, pool.book_id)
    assert pool.levels[0] == PriceLevel(120, 10**6)
