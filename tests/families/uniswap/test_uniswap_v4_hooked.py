"""Uniswap V4 pools with hooks that take fees, against the real pool manager and hooks that follow the rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import PoolError, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.uniswap_v4_hooked import UniswapV4Hooked
from swapcli.testing.pool_laws import check_state_round_trip
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.examples import fuzzed_seeds
from tests.families.real_pools import add_random_positions
from tests.families.recorded import read_vectors
from tests.families.uniswap.hooked_pools import (
    FEE_HOOK,
    FEES,
    LAUNCH_HOOK,
    HookedPool,
    backward,
    compare_one_hooked_swap,
    forward,
    hook_fees,
    hooked_pool,
    selling_and_buying,
)

SEEDS, SWAPS = 100, 100
"""10,000 swaps of each kind of hook. One seed runs by default."""
PERCENT = WAD // 100
AMOUNTS = st.integers(1, 10**24)


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=SEEDS))
def test_swaps_of_which_a_hook_takes_fees_equal_the_contracts(seed: int) -> None:
    rng = Random(f"fees {seed}")
    is_dynamic = rng.random() < 0.7
    fee_ppm = 0 if is_dynamic else rng.choice((0, 3_000, rng.randrange(900_000)))
    real = HookedPool(rng, "FeeHook", FEE_HOOK, is_dynamic=is_dynamic, fee_ppm=fee_ppm)
    ticks = add_random_positions(rng, real)
    rates = [[rng.choice((0, 1_000, 10_000, rng.randrange(900_000))) for _ in range(3)] for _ in range(2)]
    if not is_dynamic:
        rates = [[fee_ppm, *others] for _, *others in rates]
    real.set_fees(rates)
    first, second = (DirectionFees(lp, a * 10**12, b * 10**12) for lp, a, b in rates)
    pool = real.read_hooked(ticks, HookFees(first, second))
    for _ in range(SWAPS):
        pool = compare_one_hooked_swap(rng, real, pool)


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=SEEDS))
def test_swaps_in_launched_tokens_equal_the_contracts(seed: int) -> None:
    """The manager's LP fee is the one that the last swap has left, which does not matter."""
    rng = Random(f"launched {seed}")
    real = HookedPool(rng, "LaunchHook", LAUNCH_HOOK, is_dynamic=True)
    ticks = add_random_positions(rng, real)
    token_fee, paired_fee = (rng.choice((0, 4, 10_000, rng.randrange(300_001))) for _ in range(2))
    token_is_first = rng.random() < 0.5
    real.launch(token_fee, paired_fee, token_is_first=token_is_first)
    fees = selling_and_buying(token_fee, paired_fee)
    pool = real.read_hooked(ticks, hook_fees(*fees, token_is_first=token_is_first))
    for _ in range(SWAPS):
        pool = compare_one_hooked_swap(rng, real, pool)


@pytest.mark.parametrize(
    ("fees", "amount_out"),
    [
        (DirectionFees(10_000), 1977231734344682191),
        (DirectionFees(10_000, output_fee=PERCENT), 1977231734344682191 - 19772317343446821),
        (DirectionFees(10_000, input_fee=PERCENT), 1957486784897383705),
        (DirectionFees(10_000, PERCENT, PERCENT), 1957486784897383705 - 19574867848973837),
    ],
)
def test_parts_are_taken_before_and_after_the_swap(fees: DirectionFees, amount_out: int) -> None:
    """By hand: the first amount was recorded from the contract, and a part is the floor of a hundredth."""
    pool = hooked_pool(HookFees(fees, DirectionFees(3_000)))
    assert pool.swap(*forward(pool), 10**18)[0] == amount_out
    price, liquidity = pool.plain.sqrt_price_x96, 10**21
    sold = (10**18 - 10**18 * fees.input_fee // WAD) * 990_000 // 10**6
    after = -(-(liquidity << 96) * price // ((liquidity << 96) + sold * price))
    bought = liquidity * (price - after) >> 96
    assert amount_out == bought - bought * fees.output_fee // WAD


def recorded_swaps(name: str) -> Iterator[tuple[UniswapV4Hooked, tuple[str, str], int, int | None]]:
    """Yield the recorded swaps of a launcher's pools: pool, direction, input, and output, None for a refusal."""
    for recorded in read_vectors(name)["pools"]:
        fees = selling_and_buying(recorded["token_fee_ppm"], recorded["paired_fee_ppm"])
        both = hook_fees(*fees, token_is_first=recorded["token_is_first"])
        identity = PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 6), recorded["fee_ppm"])
        state = {**recorded["state"], "hook_fees": both.state(), "hook_gas": 0}
        pool = UniswapV4Hooked.from_state(identity, state)
        for sells_token0, amount_in, amount_out in recorded["steps"]:
            tokens = (TOKENS[0], TOKENS[1]) if sells_token0 else (TOKENS[1], TOKENS[0])
            yield pool, tokens, int(amount_in), None if amount_out is None else int(amount_out)


def test_swaps_recorded_from_the_hook_of_clanker_agree() -> None:
    paid = 0
    for pool, tokens, amount_in, amount_out in recorded_swaps("clanker_static"):
        try:
            assert pool.swap(*tokens, amount_in)[0] == amount_out
            paid += 1
        except PoolError:
            assert amount_out is None
    assert paid > 300


@given(fees=FEES, amounts=st.lists(AMOUNTS, min_size=2, max_size=5))
def test_more_input_never_pays_less(fees: DirectionFees, amounts: list[int]) -> None:
    pool = hooked_pool(HookFees(fees, fees))
    paid = [output(pool, amount) for amount in sorted(amounts)]
    assert all(less <= more for less, more in pairwise(paid))


@given(fees=FEES, first=AMOUNTS, second=AMOUNTS)
def test_splitting_an_order_gains_no_more_than_the_rounding(fees: DirectionFees, first: int, second: int) -> None:
    """Each swap rounds what the hook takes down, by less than a unit of the input and one of the output."""
    pool = hooked_pool(HookFees(fees, fees))
    try:
        got, after = pool.swap(*forward(pool), first)
        got += after.swap(*forward(pool), second)[0]
    except PoolError:
        return
    assert got <= output(pool, first + second + 1) + 2


@given(fees=FEES, amount_in=AMOUNTS)
def test_a_round_trip_loses(fees: DirectionFees, amount_in: int) -> None:
    pool = hooked_pool(HookFees(fees, fees))
    try:
        bought, between = pool.swap(*forward(pool), amount_in)
        back, _ = between.swap(*backward(pool), bought)
    except PoolError:
        return
    assert back <= amount_in


def output(pool: UniswapV4Hooked, amount_in: int) -> int:
    try:
        return pool.swap(*forward(pool), amount_in)[0]
    except SwapReverts:
        return 0


def test_a_pool_is_what_its_state_says() -> None:
    pool = hooked_pool(HookFees(DirectionFees(10_000, 0, PERCENT), DirectionFees(20_000, PERCENT)))
    check_state_round_trip(pool)
    assert pool.key == pool.plain.key
    assert pool.api_extra_data()["fee"] == DYNAMIC_FEE
    assert pool.is_single_use
    assert pool.changes_without_events
    assert json.loads(json.dumps(pool.state()))["hook_fees"]["lp_fees_ppm"] == [10_000, 20_000]


def test_the_hook_adds_its_gas() -> None:
    pool = hooked_pool(HookFees(DirectionFees(10_000, PERCENT), DirectionFees(10_000)))
    _, after = pool.swap(*forward(pool), 10**18)
    assert pool.gas_units(after) == pool.plain.gas_units(after.plain) + 1_000
    assert pool.gas_units_to(*forward(pool), 1.0) == pool.swap_gas + 1_000
    assert pool.gas_units_to(*forward(pool), 1e-40) > pool.gas_units_to(*forward(pool), 1.0)


@pytest.mark.parametrize(
    ("amount_in", "reason"), [(1 << 127, "more than the contract can count"), (1, "rounds to zero")]
)
def test_amounts_that_no_swap_can_have_revert(amount_in: int, reason: str) -> None:
    pool = hooked_pool(HookFees(DirectionFees(500_000, WAD // 2), DirectionFees(500_000)))
    with pytest.raises(SwapReverts, match=reason):
        pool.swap(*forward(pool), amount_in)
