"""Hooks that take their fee always in one token, against the rule on the real pool manager."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, PoolError, SwapReverts
from swapcli.families.state_fields import StateFields
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.fee_in_token import FeeInToken, read_fee_in_token
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.internal_swap import InternalSwap
from swapcli.families.uniswap.uniswap_v4_hooked import UniswapV4Hooked
from swapcli.testing.evm import ContractArtifact
from swapcli.testing.pool_laws import check_state_round_trip
from tests.contracts.evm import compile_solidity
from tests.examples import fuzzed_seeds
from tests.families.real_pools import ContractFixture, add_random_positions
from tests.families.uniswap.hooked_pools import HookedPool, backward, compare_one_hooked_swap, forward, hooked_pool

DELI_HOOK = 0x30CC
FREE = HookFees(DirectionFees(0), DirectionFees(0))
SEEDS, SWAPS = 100, 100
"""10,000 swaps. One seed runs by default."""


def fee_in_token_hook() -> ContractArtifact:
    """Return the hook of `fee_in_token_hook.sol`."""
    return compile_solidity("fee_in_token_hook.sol", root=Path(__file__).parent)["FeeInTokenHook"]


class DeliPool(HookedPool):
    """A pool whose hook takes its fee in the first token or in the second."""

    def __init__(
        self,
        rng: Random,
        fee_ppm: int,
        *,
        token_is_first: bool,
        price: int = 0,
        fixture: ContractFixture | None = None,
    ) -> None:
        super().__init__(
            rng, "", DELI_HOOK, is_dynamic=True, fee_ppm=fee_ppm, price=price, spacing=60,
            hook_code=fee_in_token_hook(), fixture=fixture,
        )  # fmt: skip
        token = self.world.tokens[0 if token_is_first else 1]
        self.hook.send("set", self.manager.address, self.key, token, fee_ppm)
        self.fee = FeeInToken(token_is_first, fee_ppm)


def one_sided_pool(fee: FeeInToken, **changes: object) -> UniswapV4Hooked:
    """Return a pool at the price 2 with 10^21 of liquidity over all ticks."""
    plain = hooked_pool(FREE, permissions=DELI_HOOK, fee_ppm=fee.fee_ppm)
    return UniswapV4Hooked.from_state(plain.identity, {**plain.state(), "fee_in_token": fee.state(), **changes})


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=SEEDS))
def test_swaps_with_a_fee_in_one_token_equal_the_contracts(seed: int) -> None:
    rng = Random(f"one token {seed}")
    real = DeliPool(rng, rng.choice((0, 100, 3_000, 30_000, rng.randrange(900_000))), token_is_first=rng.random() < 0.5)
    ticks = add_random_positions(rng, real)
    known = real.read_hooked(ticks, FREE)
    pool = UniswapV4Hooked.from_state(real.identity(), {**known.state(), "fee_in_token": real.fee.state()})
    for _ in range(SWAPS):
        pool = compare_one_hooked_swap(rng, real, pool)


def test_by_hand() -> None:
    """At the price 2, a hundredth of 10^18 of token0 is worth 2 x 10^16 of token1, and a unit for each rounding."""
    without = one_sided_pool(FeeInToken(True, 0))
    of_output, of_input = (one_sided_pool(FeeInToken(is_first, 10_000)) for is_first in (False, True))
    whole = without.swap(*forward(without), 10**18)[0]
    assert of_output.swap(*forward(of_output), 10**18)[0] == pytest.approx(whole - 2 * 10**16, abs=5)
    assert of_input.swap(*forward(of_input), 10**18)[0] == without.swap(*forward(without), 99 * 10**16)[0]
    # 1 of 1: the fee is rounded up, and nothing is left to sell.
    with pytest.raises(SwapReverts, match="rounds to zero"):
        of_input.swap(*forward(of_input), 1)


def test_a_fee_of_more_than_the_output_is_refused() -> None:
    """The price falls with the swap, and the fee does not."""
    pool = one_sided_pool(FeeInToken(False, 500_000))
    pool.swap(*forward(pool), 10**20)
    with pytest.raises(SwapReverts, match="rounds to zero"):
        pool.swap(*forward(pool), 10**22)


@given(fee_ppm=st.integers(0, 900_000), amount_in=st.integers(1, 10**24), down=st.booleans(), is_first=st.booleans())
def test_the_curve_is_the_swap_in_floats(fee_ppm: int, amount_in: int, down: bool, is_first: bool) -> None:
    pool = one_sided_pool(FeeInToken(is_first, fee_ppm))
    tokens = forward(pool) if down else backward(pool)
    curve = pool.curve(*tokens)
    try:
        exact = pool.swap(*tokens, amount_in)[0]
    except PoolError:
        return
    if amount_in < curve.capacity:
        assert curve.amount_out(amount_in) == pytest.approx(exact, rel=1e-9, abs=8)
    else:
        assert exact <= curve.amount_out(curve.capacity) * (1 + 1e-9) + 8


def test_a_state_is_read_as_it_is_written() -> None:
    pool = one_sided_pool(FeeInToken(True, 3_000))
    check_state_round_trip(pool)
    assert read_fee_in_token(StateFields({})) is None
    with pytest.raises(InvalidPoolState, match=r"fee_in_token\.fee_ppm"):
        read_fee_in_token(StateFields({"fee_in_token": {"token_is_first": True, "fee_ppm": 10**6}}))


@pytest.mark.parametrize(
    "changes",
    [
        {"hooks": f"0x{0x5AFE << 140 | 0x20C4:040x}"},
        {"hook_fees": HookFees(DirectionFees(0, 1), DirectionFees(0)).state()},
        {"hook_fees": HookFees(DirectionFees(0, 0, 1), DirectionFees(0)).state()},
        {"internal_swap": InternalSwap(True, 1).state()},
    ],
)
def test_no_other_rule_goes_with_it(changes: Mapping[str, object]) -> None:
    with pytest.raises(InvalidPoolState, match="no known rule"):
        one_sided_pool(FeeInToken(True, 3_000), **changes)


def test_the_fee_in_floats_is_that_of_the_price() -> None:
    pool = one_sided_pool(FeeInToken(True, 10_000)).plain
    assert pool.sqrt_price_x96 == pytest.approx(2**0.5 * Q96)
    assert FeeInToken(False, 10_000).rate(pool) == pytest.approx(0.02)
    assert FeeInToken(True, 10_000).rate(pool) == pytest.approx(0.005)
