"""Clanker's dynamic fee, against swaps recorded from the real hook, to the unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.uniswap.clanker_volatility import ClankerVolatility, fees_of_buying, fees_of_selling
from swapcli.families.uniswap.uniswap_v4_hooked import UniswapV4Hooked
from swapcli.testing.pool_laws import check_state_round_trip
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import read_vectors
from tests.families.uniswap.hooked_pools import LAUNCH_HOOK, backward, forward
from tests.families.uniswap.test_v4_hooks import full_range_pool, hook_at

NOW = 1_700_000_000
CALM = ClankerVolatility(
    token_is_first=True, base_fee_ppm=5_000, max_fee_ppm=50_000, filter_period_s=15, reset_period_s=120,
    reset_tick_filter=200, fee_control=500_000_000, decay_bps=7_500, reference_tick=6_931, reset_tick=6_931,
    reset_at=NOW - 10, last_swap_at=NOW - 5, applied=0, accumulator=0, protocol_fee_ppm=1_000, timestamp=NOW,
)  # fmt: skip
"""Of a pool at the tick 6,931 that was swapped in just now."""


def recorded_swaps(name: str) -> Iterator[tuple[UniswapV4Hooked, tuple[str, str], int, int | None]]:
    """Yield the recorded swaps: pool, direction, input, and output, None for a refusal."""
    for recorded in read_vectors(name)["pools"]:
        for step in recorded["steps"]:
            position = {name: step[name] for name in ("sqrt_price_x96", "tick", "liquidity")}
            state = {**recorded["state"], **position, "clanker_volatility": step["volatility"], "hook_gas": 0}
            identity = PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 6), step["fee_ppm"])
            pool = UniswapV4Hooked.from_state(identity, state)
            amount_out = step["amount_out"]
            tokens = forward(pool) if step["sells_token0"] else backward(pool)
            yield pool, tokens, int(step["amount_in"]), None if amount_out is None else int(amount_out)


def volatile_pool(volatility: ClankerVolatility = CALM, *, fee_ppm: int = 5_000, **changes: Any) -> UniswapV4Hooked:
    """Return a pool with liquidity over all ticks at the tick 6,931."""
    plain = full_range_pool(fee_ppm, state={"hooks": hook_at(0x0040), "dynamic_fee": True})
    fields = {**volatility.state(), **changes}
    state = {**plain.state(), "hooks": hook_at(LAUNCH_HOOK), "clanker_volatility": fields, "hook_gas": 0}
    return UniswapV4Hooked.from_state(plain.identity, state)


def test_swaps_recorded_from_the_hook_with_dynamic_fees_agree() -> None:
    paid = 0
    fees = set()
    for pool, tokens, amount_in, amount_out in recorded_swaps("clanker_dynamic"):
        try:
            assert pool.swap(*tokens, amount_in)[0] == amount_out
        except PoolError:
            assert amount_out is None
            continue
        assert pool.volatility
        fees.add(pool.volatility.fees_of_swap(pool.plain, amount_in, down=tokens[0] == pool.tokens[0]).lp_fee_ppm)
        paid += 1
    assert paid > 300
    assert len(fees) > 40, "the fees depend on the swaps"


@pytest.mark.parametrize(
    ("changes", "fee_ppm"),
    [
        ({}, 5_000),
        # 100 ticks from the reference: 0.05 x 100^2 ppm on top.
        ({"reference_tick": 6_831}, 5_500),
        ({"reference_tick": 7_031, "applied": 50}, 6_125),
        # The filter period is over: the reference is the tick, and three quarters of 100 are left.
        ({"reference_tick": 6_831, "accumulator": 100, "last_swap_at": NOW - 16}, 5_281),
        ({"reference_tick": 6_831, "accumulator": 100, "last_swap_at": NOW - 15}, 5_500),
        ({"accumulator": 100, "last_swap_at": NOW - 120}, 5_000),
        # The reset period is over, and the price is near the reset tick, or not.
        ({"reference_tick": 6_831, "reset_at": NOW - 121}, 5_000),
        ({"reference_tick": 6_831, "reset_at": NOW - 121, "reset_tick": 6_700}, 5_500),
        ({"reference_tick": 0}, 50_000),
    ],
)
def test_the_fee_of_the_smallest_swap_by_hand(changes: dict[str, Any], fee_ppm: int) -> None:
    pool = volatile_pool(**changes)
    assert pool.fees == (fees_of_selling(fee_ppm), fees_of_buying(fee_ppm))
    assert pool.volatility
    assert pool.volatility.fees_of_swap(pool.plain, 1_000, down=True) == fees_of_selling(fee_ppm)


def test_a_trial_takes_the_hooks_last_fee_or_an_estimate() -> None:
    """A buyer's trial is smaller by the protocol's fee; at a full tick's distance that shows in the fee."""
    calm = volatile_pool(CALM, protocol_fee_ppm=0)
    greedy = volatile_pool(CALM, protocol_fee_ppm=60_000)
    amount_in = 10**19
    fees = [
        pool.volatility.fees_of_swap(pool.plain, amount_in, down=False) for pool in (calm, greedy) if pool.volatility
    ]
    assert fees[0].lp_fee_ppm > fees[1].lp_fee_ppm
    renewed = [volatile_pool(CALM, protocol_fee_ppm=fee, last_swap_at=NOW - 200) for fee in (0, 60_000)]
    assert len({pool.swap(*backward(pool), amount_in)[0] for pool in renewed}) == 1


@given(amount_in=st.integers(10**3, 10**23), down=st.booleans())
def test_a_larger_swap_never_has_a_smaller_fee(amount_in: int, down: bool) -> None:
    pool = volatile_pool()
    assert pool.volatility
    fees = [pool.volatility.fees_of_swap(pool.plain, amount, down=down) for amount in (amount_in // 2, amount_in)]
    assert fees[0].lp_fee_ppm <= fees[1].lp_fee_ppm
    assert 5_000 <= fees[1].lp_fee_ppm <= 50_000


@given(amount_in=st.integers(10**6, 10**23), down=st.booleans())
def test_a_swap_pays_what_the_pool_with_its_fees_pays(amount_in: int, down: bool) -> None:
    pool = volatile_pool()
    tokens = forward(pool) if down else backward(pool)
    assert pool.volatility
    fees = pool.volatility.fees_of_swap(pool.plain, amount_in, down=down)
    plain = full_range_pool(fees.lp_fee_ppm).swap(*tokens, amount_in - fees.taken_of_input(amount_in))[0]
    assert pool.swap(*tokens, amount_in)[0] == plain - fees.taken_of_output(plain)


def test_a_trial_beyond_known_ticks_needs_the_highest_fee() -> None:
    """Known are 5,000 ticks around the price; more than they hold may stay in the pool or not."""
    plain = full_range_pool(5_000, state={"ticks": [[1_920, 10**21], [11_940, -(10**21)]]})
    for down in (True, False):
        assert CALM.fees_of_swap(plain, 10**22, down=down).lp_fee_ppm == 50_000
        with pytest.raises(InsufficientLiquidity):
            CALM._replace(fee_control=1).fees_of_swap(plain, 10**22, down=down)
        with pytest.raises(InsufficientLiquidity):
            CALM._replace(reference_tick=-20_000 if down else 20_000).fees_of_swap(plain, 10**22, down=down)


def test_a_fee_that_overflows_reverts() -> None:
    pool = volatile_pool(fee_control=str(2**256 - 1))
    assert pool.volatility
    with pytest.raises(SwapReverts, match="overflows"):
        pool.volatility.fees_of_swap(pool.plain, 10**19, down=True)


def test_a_pool_with_dynamic_fees_is_what_its_state_says() -> None:
    check_state_round_trip(volatile_pool(applied=7, reference_tick=-5))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"last_swap_at": NOW + 1}, "last_swap_at"),
        ({"reset_at": NOW + 1}, "reset_at"),
        ({"base_fee_ppm": 50_001}, "base_fee_ppm"),
        ({"max_fee_ppm": 300_001}, "max_fee_ppm"),
        ({"applied": 1 << 24}, "applied"),
        ({"reference_tick": 887_273}, "reference_tick"),
        ({"token_is_first": 1}, "token_is_first"),
        ({"timestamp": None}, "timestamp"),
    ],
)
def test_a_contradiction_names_its_field(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        volatile_pool(**changes)
    assert caught.value.field == f"clanker_volatility.{field}"
