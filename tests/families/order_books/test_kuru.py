"""Markets of Kuru: swaps recorded from the contracts, the laws of order books, and malformed state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.order_books.kuru import LEVEL_GAS, VAULT_STEP_GAS, Kuru
from swapcli.families.order_books.price_levels import PriceLevel
from swapcli.testing.pool_laws import check_state_round_trip
from swapcli.testing.recorded_swaps import check_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.order_books.order_book_laws import check_fills
from tests.families.recorded import vectors_file

A, B = TOKENS[:2]
SELL, BUY = (A, B), (B, A)
PRICES, SIZES = 10**4, 10**6
"""Precisions: a price of 25,000 is 2.5 quote tokens."""
VAULT = {
    "best_bid": 2_480_000_000_000_000_000, "bid_filled": 0, "best_ask": 2_500_000_000_000_000_000, "ask_filled": 10**6,
    "bid_size": 20_080_000, "ask_size": 20_000_000, "spread": 80,
}  # fmt: skip


def build(fee_bps: int = 5, **changes: Any) -> Kuru:
    state = {
        "size_precision": SIZES,
        "price_precision": PRICES,
        "asks": [[25_100, 30 * SIZES], [26_000, 5 * SIZES]],
        "bids": [[24_700, 40 * SIZES], [20_000, 8 * SIZES]],
        "vault": VAULT,
    }
    return Kuru.from_state(PoolIdentity(ADDRESS, "test", (A, B), (18, 6), 100 * fee_bps), {**state, **changes})


def valid_pool() -> Pool:
    return build()


def reserve_of(pool: Pool, k: int) -> float:
    """Return what the limit orders hold; a vault has orders at every price."""
    assert isinstance(pool, Kuru)
    if pool.vault:
        return float("inf")
    unit = 10.0 ** pool.decimals[k] * (1 + 1e-9)
    if k:
        return sum(each.price * each.size for each in pool.bids) * unit / pool.size_precision / pool.price_precision
    return sum(each.size for each in pool.asks) * unit / pool.size_precision


@st.composite
def markets(draw: st.DrawFn) -> Kuru:
    middle = draw(st.integers(2_000, 10**7))
    sides: dict[str, list[list[int]]] = {"asks": [], "bids": []}
    for name, step in (("asks", 1), ("bids", -1)):
        price = middle
        for _ in range(draw(st.integers(0, 5))):
            price += step * draw(st.integers(1, middle // 20))
            sides[name].append([price, draw(st.integers(1, 10**12))])
    spread, size = draw(st.sampled_from([10, 30, 100, 490])), draw(st.integers(10**4, 10**9))
    best_ask = middle * 10**18 // PRICES
    vault = VAULT | {
        "spread": spread, "best_ask": best_ask, "best_bid": best_ask * 10_000 // (10_000 + spread), "ask_size": size,
        "bid_size": size, "ask_filled": draw(st.integers(0, size)), "bid_filled": draw(st.integers(0, size)),
    }  # fmt: skip
    return build(draw(st.integers(0, 100)), **sides, vault=vault if draw(st.booleans()) else None)


def test_recorded_swaps_agree() -> None:
    assert check_recorded_swaps(vectors_file("kuru")) > 150


@given(markets())
def test_state_survives_a_round_trip(pool: Kuru) -> None:
    check_state_round_trip(pool)


@given(markets(), st.sampled_from([SELL, BUY]), st.floats(-6, 0), st.floats(0.01, 0.99))
def test_the_laws_of_order_books_hold(pool: Kuru, way: tuple[str, str], exponent: float, part: float) -> None:
    whole = max(int(pool.curve(*way).capacity * 10**exponent), 2)
    first = min(max(int(whole * part), 1), whole - 1)
    # A part of the input that is less than one unit is lost: the first part may save it, worth a size or a price.
    check_fills(pool, way, first, whole - first, dust=2 * 10 ** pool.decimals[1 if way == SELL else 0] // PRICES + 2)


@given(markets(), st.sampled_from([SELL, BUY]))
def test_no_more_is_paid_than_the_orders_hold(pool: Kuru, way: tuple[str, str]) -> None:
    bare = replace(pool, vault=None)
    k, levels = (1, bare.bids) if way == SELL else (0, bare.asks)
    with pytest.raises(InsufficientLiquidity):
        bare.swap(*way, int(bare.curve(*way).capacity * 1.01) + 10**18)
    if sum(level.size for level in levels) > 10**4:
        paid, after = bare.swap(*way, int(bare.curve(*way).capacity * 0.999))
        assert paid <= reserve_of(bare, k)
        assert (after.asks if way == SELL else after.bids) == (bare.asks if way == SELL else bare.bids)


def test_the_curve_keeps_fractions_of_units() -> None:
    """Each order of this vault pays at most 7.44 units. Together the fractions are a twentieth of the output."""
    pool = build(fee_bps=0, asks=[], bids=[], vault=VAULT | {"bid_size": 3, "ask_size": 3, "ask_filled": 0})
    amount_in = 150 * 3 * 10**12
    paid, _ = pool.swap(A, B, amount_in)
    assert pool.curve(A, B).amount_out(float(amount_in)) == pytest.approx(paid, rel=1e-9, abs=1)


def test_orders_are_filled_by_price() -> None:
    pool = build(fee_bps=0)
    # 19 from the vault at 2.5; at its next price, 2.52, come the limit orders at 2.51 first.
    cost = 19 * 2_500_000
    assert pool.swap(B, A, cost) == (19 * 10**18, replace(pool, vault=pool.vault and pool.vault.raised()))
    paid, after = pool.swap(B, A, cost + 2_510_000)
    assert (paid, after.asks[0]) == (20 * 10**18, PriceLevel(25_100, 29 * SIZES))
    sold, after = pool.swap(A, B, 10**18)
    assert sold == 2_480_000
    assert after.vault
    assert after.vault.bid_filled == SIZES


def test_limit_orders_come_first_at_the_same_price() -> None:
    pool = build(fee_bps=0, asks=[[25_000, SIZES]])
    assert pool.swap(B, A, 2_500_000) == (10**18, replace(pool, asks=()))


def test_the_part_beyond_a_unit_changes_nothing() -> None:
    pool = build()
    assert pool.swap(A, B, 10**18) == pool.swap(A, B, 10**18 + 10**12 - 1)
    with pytest.raises(SwapReverts):
        pool.swap(A, B, 10**12 - 1)
    with pytest.raises(SwapReverts):
        pool.swap(A, B, 1 << 130)


@pytest.mark.parametrize("way", [SELL, BUY])
def test_beyond_the_last_known_price_nothing_is_quoted(way: tuple[str, str]) -> None:
    whole, cut = build(), build(cut=[True, True])
    amount = 2_000 * 10**18 if way == SELL else 500 * 10**6
    assert whole.swap(*way, amount)
    with pytest.raises(InsufficientLiquidity):
        cut.swap(*way, amount)
    assert cut.curve(*way).capacity < whole.curve(*way).capacity
    assert Kuru.from_state(cut.identity, cut.state()) == cut


def test_gas_counts_emptied_prices_and_orders_of_the_vault() -> None:
    pool = build()
    _, after = pool.swap(B, A, 130 * 10**6)
    assert after.asks[0].price == 26_000
    assert pool.vault
    assert after.vault
    steps = pool.vault.steps_to(after.vault)
    assert steps >= 1
    assert pool.gas_units(after) == pool.swap_gas + LEVEL_GAS + VAULT_STEP_GAS * steps
    assert pool.gas_units_to(A, B, 1e-12 * 2.0) == pool.swap_gas + LEVEL_GAS
    assert pool.gas_units_to(B, A, 1e12 / 2.59) == pool.swap_gas


def test_a_vault_without_an_end_reverts() -> None:
    tiny = build(asks=[], vault=VAULT | {"ask_size": 1, "ask_filled": 0})
    with pytest.raises(SwapReverts):
        tiny.swap(B, A, 10**15)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"asks": [[24_700, 1]]}, "asks"),
        ({"asks": [[26_000, 1], [25_100, 1]]}, "asks"),
        ({"bids": [[20_000, 1], [24_700, 1]]}, "bids"),
        ({"bids": [[24_700, 0]]}, "bids"),
        ({"asks": [[(1 << 32) - 1, 1]]}, "asks"),
        ({"size_precision": 3}, "size_precision"),
        ({"price_precision": 10**10}, "price_precision"),
        ({"vault": VAULT | {"best_bid": VAULT["best_ask"]}}, "vault.best_ask"),
        ({"vault": VAULT | {"ask_filled": 20_000_001}}, "vault.ask_filled"),
        ({"vault": VAULT | {"spread": 0}}, "vault.spread"),
        ({"vault": []}, "vault"),
        ({"cut": [True]}, "cut"),
        ({"native": "MON"}, "native"),
    ],
)
def test_contradictory_states_are_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidPoolState, match=field):
        build(**changes)


def test_a_fee_is_a_number_of_basis_points() -> None:
    pool = build()
    with pytest.raises(InvalidPoolState, match="fee_ppm"):
        Kuru.from_state(pool.identity._replace(fee_ppm=150), pool.state())


@pytest.mark.parametrize(("native", "currencies"), [("", (A, B)), ("base", (ZERO_ADDRESS, B))])
def test_the_native_token_is_the_zero_address(native: str, currencies: tuple[str, str]) -> None:
    assert build(native=native or None).currencies() == currencies
