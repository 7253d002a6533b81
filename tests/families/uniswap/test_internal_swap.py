"""Hooks that sell tokens of their own before the pool does, against the rule on the real pool manager."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.units import WAD
from swapcli.families.state_fields import StateFields
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.internal_swap import InternalSwap, read_internal_swap
from swapcli.families.uniswap.uniswap_v4_hooked import UniswapV4Hooked
from swapcli.testing.evm import ContractArtifact
from swapcli.testing.pool_laws import check_state_round_trip
from tests.contracts.evm import compile_solidity
from tests.examples import fuzzed_seeds
from tests.families.real_pools import ContractFixture, add_random_positions
from tests.families.uniswap.hooked_pools import HookedPool, backward, compare_one_hooked_swap, forward, hooked_pool

FLAUNCH_HOOK = 0x2FDC
BASIS_POINT = WAD // 10_000
SEEDS, SWAPS = 100, 100
"""10,000 swaps. One seed runs by default."""


def internal_swap_hook() -> ContractArtifact:
    """Return the hook of `internal_swap_hook.sol`."""
    return compile_solidity("internal_swap_hook.sol", root=Path(__file__).parent)["InternalSwapHook"]


class FlaunchedPool(HookedPool):
    """A pool whose hook has launched tokens to sell; the other one is what Flaunch calls native."""

    def __init__(
        self,
        rng: Random,
        fee_bps: int,
        *,
        token_is_first: bool,
        calculated_bps: int = 0,
        price: int = 0,
        fixture: ContractFixture | None = None,
    ) -> None:
        super().__init__(
            rng, "", FLAUNCH_HOOK, is_dynamic=False, fee_ppm=0, price=price, spacing=60, hook_code=internal_swap_hook(),
            fixture=fixture,
        )  # fmt: skip
        self.token_is_first = token_is_first
        native = self.world.tokens[1 if token_is_first else 0]
        self.hook.send("setUp", native, fee_bps, calculated_bps)
        part = max(fee_bps, calculated_bps) * BASIS_POINT
        self.fees = HookFees(DirectionFees(0, 0, part), DirectionFees(0, 0, part))

    def sell(self, pool: UniswapV4Hooked, amount: int) -> UniswapV4Hooked:
        """Give the hook this amount of the launched token, and return the pool with it."""
        self.hook.send("setTokens", bytes.fromhex(self.pool_id[2:]), amount)
        state = {**pool.state(), "internal_swap": InternalSwap(self.token_is_first, amount).state()}
        return UniswapV4Hooked.from_state(self.identity(), state)

    def tokens_of_hook(self) -> int:
        (amount,) = self.hook.call("tokens", bytes.fromhex(self.pool_id[2:]))
        assert isinstance(amount, int)
        return amount


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=SEEDS))
def test_swaps_that_a_hook_fills_first_equal_the_contracts(seed: int) -> None:
    """The hook's tokens are those of its fees, now and then any other amount."""
    rng = Random(f"internal {seed}")
    fee_bps = rng.choice((0, 100, rng.randrange(5_000)))
    real = FlaunchedPool(rng, fee_bps, token_is_first=rng.random() < 0.5, calculated_bps=rng.choice((0, 300)))
    ticks = add_random_positions(rng, real)
    pool = real.sell(real.read_hooked(ticks, real.fees), 0)
    for number in range(SWAPS):
        if number % 4 == 0:
            pool = real.sell(pool, rng.choice((0, 1, int(2 ** rng.uniform(0, 100)), int(2 ** rng.uniform(50, 126)))))
        pool = compare_one_hooked_swap(rng, real, pool)
        assert pool.internal_swap
        assert real.tokens_of_hook() == pool.internal_swap.amount


def selling_pool(amount: int, *, token_is_first: bool = False, fee_bps: int = 100) -> UniswapV4Hooked:
    """Return a pool at the price 2 with 10^21 of liquidity over all ticks, whose hook sells an amount."""
    fees = DirectionFees(0, 0, fee_bps * BASIS_POINT)
    plain = hooked_pool(HookFees(fees, fees), permissions=FLAUNCH_HOOK, fee_ppm=0)
    internal = InternalSwap(token_is_first, amount).state()
    return UniswapV4Hooked.from_state(plain.identity, {**plain.state(), "internal_swap": internal})


def test_a_small_purchase_is_filled_by_the_hook_alone() -> None:
    """By hand: 10^15 of token0 is 10^-6 / sqrt(2) of the virtual reserve, and cost that more than 2 x 10^15."""
    pool = selling_pool(10**18)
    amount_out, after = pool.swap(*forward(pool), 10**15)
    price = pool.plain.sqrt_price_x96 / Q96
    asked = 10**15 * price**2 / (1 - 10**15 * price / 10**21)
    assert amount_out == pytest.approx(asked * 0.99, rel=1e-12)
    assert after.plain == pool.plain
    assert after.internal_swap
    assert after.internal_swap.amount == 10**18 - amount_out, "the fee stays with the hook"


def test_a_large_purchase_empties_the_hook_at_a_better_price() -> None:
    pool, without = selling_pool(10**15), selling_pool(0)
    amount_in = 10**18
    got, plain_got = (each.swap(*forward(each), amount_in)[0] for each in (pool, without))
    assert 0 < got - plain_got < 10**15
    _, after = pool.swap(*forward(pool), amount_in)
    assert after.internal_swap
    assert after.internal_swap.amount == pytest.approx(0.01 * 2 * amount_in, rel=0.01), "only fees are left"


@pytest.mark.parametrize("token_is_first", [True, False])
def test_who_sells_the_launched_token_does_not_meet_the_hook(token_is_first: bool) -> None:
    pool = selling_pool(10**18, token_is_first=token_is_first)
    tokens = forward(pool) if token_is_first else backward(pool)
    amount_out, after = pool.swap(*tokens, 10**15)
    assert amount_out == selling_pool(0, token_is_first=token_is_first).swap(*tokens, 10**15)[0]
    assert after.internal_swap == pool.internal_swap


@given(amount=st.integers(0, 10**22), amount_in=st.integers(1, 10**24), token_is_first=st.booleans())
def test_a_buyer_never_gets_less_than_without_the_hooks_tokens(
    amount: int, amount_in: int, token_is_first: bool
) -> None:
    """But for the units that the hook's roundings cost."""
    pool, without = (selling_pool(each, token_is_first=token_is_first) for each in (amount, 0))
    tokens = backward(pool) if token_is_first else forward(pool)
    try:
        least = without.swap(*tokens, amount_in)[0]
    except PoolError:
        return
    assert pool.swap(*tokens, amount_in)[0] >= least - 2


@given(amount_in=st.integers(1, 2**127), amount=st.integers(1, 2**127 - 1), down=st.booleans())
def test_what_the_hook_fills_is_at_most_what_it_has(amount_in: int, amount: int, down: bool) -> None:
    pool = selling_pool(amount, token_is_first=not down)
    assert pool.internal_swap
    try:
        paid, filled = pool.internal_swap.fill(pool.plain, amount_in, down=down)
    except SwapReverts:
        return
    assert 0 <= paid <= amount_in
    assert 0 <= filled <= amount


def test_without_liquidity_the_hook_sells_nothing() -> None:
    pool = selling_pool(10**18)
    for down in (True, False):
        empty = pool.plain.__class__.from_state(
            pool.plain.identity, {**pool.plain.state(), "hooks": f"0x{0x40:040x}", "liquidity": 0, "ticks": []}
        )
        assert InternalSwap(not down, 10**18).fill(empty, 10**15, down=down) == (0, 0)


def test_a_state_is_read_as_it_is_written() -> None:
    pool = selling_pool(123)
    check_state_round_trip(pool)
    assert read_internal_swap(StateFields({})) is None
    with pytest.raises(InvalidPoolState, match=r"internal_swap\.amount"):
        read_internal_swap(StateFields({"internal_swap": {"token_is_first": True, "amount": str(1 << 127)}}))


@pytest.mark.parametrize(("permissions", "input_fee"), [(0x20C4, 0), (0x20C8, 0), (FLAUNCH_HOOK, 1)])
def test_a_hook_that_cannot_sell_has_nothing_to_sell(permissions: int, input_fee: int) -> None:
    fees = DirectionFees(0, input_fee)
    pool = hooked_pool(HookFees(fees, fees), permissions=permissions, fee_ppm=0)
    state = {**pool.state(), "internal_swap": InternalSwap(True, 1).state()}
    with pytest.raises(InvalidPoolState) as caught:
        UniswapV4Hooked.from_state(pool.identity, state)
    assert caught.value.field == "internal_swap"
