"""Order books of Hanji: amounts of a real book, the laws of order books, and malformed state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.order_books.hanji import LEVEL_GAS, Hanji
from swapcli.families.order_books.price_levels import PriceLevel
from swapcli.testing.pool_laws import check_state_round_trip
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.order_books.order_book_laws import check_capacity, check_fills

S, USDC = TOKENS[:2]
SELL, BUY = (S, USDC), (USDC, S)
WAD = 10**18
# The book S/USDC of Sonic at block 46254472, 0xc7723fe3...: KyberSwap's dex-lib @ae6a99aa, lgl-clob, with its amounts.
ASKS = [
    (3119, 933470), (3120, 8401546), (3123, 9334701), (3200, 45000), (3375, 10000), (3450, 15000), (4000, 172000),
    (4400, 2500), (4464, 212), (4895, 1202718), (5689, 1845777), (6818, 94259), (7000, 100), (13300, 11779),
    (19900, 200), (30000, 100), (100000000, 300),
]  # fmt: skip
BIDS = [
    (3117, 933470), (3116, 2800410), (3113, 14935837), (3000, 121630), (2925, 81729), (2120, 4000720), (1950, 2468061),
    (1822, 269134), (1745, 1037263), (890, 1048295),
]  # fmt: skip
PAID = [
    (SELL, 10**18, 311606),
    (SELL, 10**18 + 123, 311606),
    (BUY, 998_380, 32 * 10**17),
    (BUY, 998_381, 32 * 10**17),
    (BUY, 2_912_366_378, 933_470 * 10**16),
    (BUY, 106_432_882_855, 22_069_662 * 10**16),
]


def build(fee_wad: int = 3 * 10**14, scaling: tuple[int, int] = (10**16, 1), **changes: Any) -> Hanji:
    state = {
        "scaling_factors": [str(each) for each in scaling],
        "fee": str(fee_wad),
        "asks": [list(level) for level in ASKS],
        "bids": [list(level) for level in BIDS],
    }
    identity = PoolIdentity(ADDRESS, "test", (S, USDC), (18, 6), fee_wad // 10**12)
    return Hanji.from_state(identity, {**state, **changes})


def valid_pool() -> Pool:
    return build()


def reserve_of(pool: Pool, k: int) -> float:
    """Return what the orders of one side hold."""
    assert isinstance(pool, Hanji)
    if k:
        return sum(level.price * level.size for level in pool.bids) * pool.scaling_y
    return sum(level.size for level in pool.asks) * pool.scaling_x


@st.composite
def books(draw: st.DrawFn) -> Hanji:
    middle = draw(st.integers(1_000, 10**6))
    sides: dict[str, list[list[int]]] = {"asks": [], "bids": []}
    for name, step in (("asks", 1), ("bids", -1)):
        price = middle
        for _ in range(draw(st.integers(1, 6))):
            price += step * draw(st.integers(1, middle // 20))
            sides[name].append([price, draw(st.integers(1, 10**12))])
    scaling = draw(st.sampled_from([(10**16, 1), (10**10, 100), (1, 1)]))
    return build(draw(st.sampled_from([0, 1, 3 * 10**14, 10**16])), scaling, **sides)


@pytest.mark.parametrize(("way", "amount_in", "amount_out"), PAID)
def test_a_real_book_pays_the_known_amounts(way: tuple[str, str], amount_in: int, amount_out: int) -> None:
    assert build().swap(*way, amount_in)[0] == amount_out


def test_a_unit_beyond_the_last_order_is_refused() -> None:
    with pytest.raises(InsufficientLiquidity):
        build().swap(*BUY, 106_432_882_856)


def test_shares_are_taken_from_the_best_price() -> None:
    assert build().swap(*SELL, 10**18)[1].bids[0] == PriceLevel(3117, 933370)
    assert build().swap(*SELL, 933_470 * 10**16)[1].bids[0] == PriceLevel(3116, 2800410)
    assert build().swap(*BUY, 998_380)[1].asks[0] == PriceLevel(3119, 933150)
    assert build().swap(*BUY, 2_912_366_378)[1].asks[0] == PriceLevel(3120, 8401546)


@given(books())
def test_state_survives_a_round_trip(pool: Hanji) -> None:
    check_state_round_trip(pool)


@given(books(), st.sampled_from([SELL, BUY]), st.floats(-6, 0), st.floats(0.01, 0.99))
def test_the_laws_of_order_books_hold(pool: Hanji, way: tuple[str, str], exponent: float, part: float) -> None:
    whole = max(int(pool.curve(*way).capacity * 10**exponent), 2)
    first = min(max(int(whole * part), 1), whole - 1)
    # Two fees round up twice, and a part of the input below one unit is lost.
    check_fills(pool, way, first, whole - first, dust=0)
    if way == SELL:
        check_capacity(pool, way, max(pool.scaling_x, 10**6))


@given(books(), st.sampled_from([SELL, BUY]))
def test_the_output_comes_from_the_orders(pool: Hanji, way: tuple[str, str]) -> None:
    k = 1 if way == SELL else 0
    capacity = pool.curve(*way).capacity
    with pytest.raises(InsufficientLiquidity):
        pool.swap(*way, int(capacity * 1.01) + 10**26)
    try:
        paid, after = pool.swap(*way, max(int(capacity * 0.9), 1))
    except SwapReverts:
        return
    taken = reserve_of(pool, k) - reserve_of(after, k)
    assert paid <= taken
    assert paid == taken or way == SELL


def test_gas_counts_prices() -> None:
    pool = build()
    assert pool.gas_units(pool.swap(*SELL, 10**22)[1]) == pool.swap_gas + LEVEL_GAS
    assert pool.gas_units_to(*SELL, 3115e-16) == pool.swap_gas + LEVEL_GAS
    assert pool.gas_units_to(*BUY, 1e16 / 3100) == pool.swap_gas


def test_quotes_follow_an_oracle() -> None:
    assert build().changes_without_events


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"asks": [[3117, 1]]}, "asks"),
        ({"asks": [[3200, 1], [3119, 1]]}, "asks"),
        ({"bids": [[3000, 1], [3117, 1]]}, "bids"),
        ({"bids": [[3117, 0]]}, "bids"),
        ({"bids": [[1 << 72, 1]]}, "bids"),
        ({"scaling_factors": [0, 1]}, "scaling_factors"),
        ({"scaling_factors": [1]}, "scaling_factors"),
        ({"fee": WAD}, "fee"),
        ({"fee": 10**15}, "fee_ppm"),
    ],
)
def test_contradictory_states_are_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidPoolState, match=field):
        build(**changes)
