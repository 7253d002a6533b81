"""Uniswap V4 pools whose hooks take fees: contracts that follow the rules, and the pools that swapcli makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import WAD
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.rows import V4Constants
from swapcli.families.uniswap.uniswap_v4_hooked import UniswapV4Hooked
from swapcli.families.uniswap.uniswap_v4_reader import load
from swapcli.testing.evm import Contract, ContractArtifact, RevertedError
from tests.chain.node.evm_node import view_of
from tests.contracts.evm import compile_solidity, load_artifact
from tests.families.real_pools import ContractFixture, UniswapV4, random_sqrt_price
from tests.families.uniswap.test_concentrated_differential import pays_nothing, random_amount, random_direction
from tests.families.uniswap.test_v4_hooks import full_range_pool, hook_at

FEE_HOOK, LAUNCH_HOOK = 0x00CC, 0x28CC
"""Permissions: beforeSwap, afterSwap and both amounts; Clanker's also has beforeInitialize and beforeAddLiquidity."""
FEES = st.builds(
    lambda lp_fee, of_input, of_output, cut, rounds_up: DirectionFees(
        lp_fee, of_input, of_output, cut, rounds_up and bool(cut)
    ),
    st.integers(0, 900_000),
    st.integers(0, WAD // 2),
    st.integers(0, WAD // 2),
    st.one_of(st.just(0), st.integers(0, 400_000)),
    st.booleans(),
)
"""Of one direction, up to a half of the input and of the output, and a part of the LP fee."""
QUOTER = "@uniswap/v4-periphery/foundry-out/V4Quoter.sol/V4Quoter.json"
_SPACINGS = (60, 100, 200)
"""Launchers' own are 60 and 200; with less, the contract walks thousands of words of an empty range."""


def contracts() -> dict[str, ContractArtifact]:
    """Return the contracts of `fee_hooks.sol`."""
    return compile_solidity("fee_hooks.sol", root=Path(__file__).parent)


class HookedPool(UniswapV4):
    """A pool with a hook of `fee_hooks.sol`, or that of `hook_code`, and the quoter of its manager."""

    def __init__(
        self,
        rng: Random,
        name: str,
        permissions: int,
        *,
        is_dynamic: bool,
        fee_ppm: int = 0,
        price: int = 0,
        spacing: int = 0,
        hook_code: ContractArtifact | None = None,
        fixture: ContractFixture | None = None,
    ) -> None:
        fixture = fixture or ContractFixture()
        super().__init__(
            fixture, fee_ppm, spacing or rng.choice(_SPACINGS), price or random_sqrt_price(rng),
            hooks=hook_at(permissions),
            has_dynamic_fee=is_dynamic, hook_code=hook_code or contracts()[name],
        )  # fmt: skip
        self.quoter: Contract = fixture.chain.deploy(load_artifact(QUOTER), self.manager.address)

    def read_hooked(self, ticks: set[int], fees: HookFees) -> UniswapV4Hooked:
        """Return the whole pool with what its hook takes; `ticks` are the ends of its positions."""
        price, tick, liquidity = self.position()
        nets = [(each, *self.tick(each)) for each in sorted(ticks)]
        state: dict[str, object] = {
            "sqrt_price_x96": price, "tick": tick, "liquidity": liquidity, "tick_spacing": self.tick_spacing,
            "ticks": [[each, net] for each, gross, net in nets if gross], **self.traits(), "hook_fees": fees.state(),
            "hook_gas": 0,
        }  # fmt: skip
        return UniswapV4Hooked.from_state(self.identity(), state)

    def set_fees(self, rates: Sequence[Sequence[int]]) -> None:
        """Set the LP fee, the part of the input and that of the output in ppm, of selling token0 and token1."""
        self.hook.send("setFees", bytes.fromhex(self.pool_id[2:]), *((self.has_dynamic_fee, *each) for each in rates))

    def launch(
        self, token_fee: int, paired_fee: int, *, token_is_first: bool, locker: str = ZERO_ADDRESS,
        module_until: int | None = None, is_second_version: bool = True,
    ) -> None:  # fmt: skip
        """Set what Clanker's hook knows of the pool; its module may be called until a time."""
        created_at = (module_until or 0) - 120 if module_until else 0
        known = (token_fee, paired_fee, token_is_first, module_until is not None, created_at, locker)
        self.hook.send("setPool", bytes.fromhex(self.pool_id[2:]), known, is_second_version)

    def ref(self, rule: Mapping[str, object] | None, *, is_quoted: bool = False, has_quoter: bool = True) -> PoolRef:
        """Return the reference with which the reader reads the pool by a rule."""
        text = json.dumps({"hooks": [self.hooks], **rule}) if rule else ""
        constants = V4Constants(
            self.pool_id, self.tick_spacing, self.hooks, has_dynamic_fee=self.has_dynamic_fee, hook_rule=text,
            quoter=self.quoter.address if has_quoter else "", is_quoted=is_quoted,
        )  # fmt: skip
        return PoolRef(
            self.manager.address, "test", UniswapV4Hooked.family, ContractKind.UNISWAP_V4, self.world.tokens, (18, 6),
            0 if self.has_dynamic_fee else self.fee_ppm, constants,
        )  # fmt: skip

    def load(self, ref: PoolRef) -> Pool | SkippedItem:
        """Read the pool as from a node."""
        (pool,) = run_batched([(ref.key, load(ref))], view_of(self.world.chain).call)
        return pool

    def load_hooked(self, ref: PoolRef) -> UniswapV4Hooked:
        pool = self.load(ref)
        assert isinstance(pool, UniswapV4Hooked), pool
        return pool


def hooked_pool(fees: HookFees, *, permissions: int = LAUNCH_HOOK, fee_ppm: int = 3_000) -> UniswapV4Hooked:
    """Return a pool with liquidity over all ticks, whose hook takes these fees."""
    hooks = hook_at(permissions)
    plain = full_range_pool(fee_ppm, state={"hooks": hook_at(0x0040), "dynamic_fee": True})
    state = {**plain.state(), "hooks": hooks, "hook_fees": fees.state(), "hook_gas": 1_000}
    return UniswapV4Hooked.from_state(plain.identity, state)


def forward(pool: Pool) -> tuple[str, str]:
    """Return the tokens of selling the first one."""
    return pool.tokens[0], pool.tokens[1]


def backward(pool: Pool) -> tuple[str, str]:
    """Return the tokens of selling the second one."""
    return pool.tokens[1], pool.tokens[0]


def hook_fees(selling: DirectionFees, buying: DirectionFees, *, token_is_first: bool) -> HookFees:
    """Return the fees of both directions, where the launched token is the pool's first one or its second."""
    return HookFees(selling, buying) if token_is_first else HookFees(buying, selling)


def selling_and_buying(token_fee: int, paired_fee: int) -> tuple[DirectionFees, DirectionFees]:
    """Return by Clanker's rule the fees of selling the launched token, and of buying it."""
    p = paired_fee // 5
    return (
        DirectionFees(token_fee, output_fee=token_fee // 5 * 10**12),
        DirectionFees(paired_fee, input_fee=p * 10**18 // (10**6 + p)),
    )


def compare_one_hooked_swap(rng: Random, real: UniswapV4, pool: UniswapV4Hooked) -> UniswapV4Hooked:
    """Swap on the chain and in the pool: both pay the same and reach the same state, or both refuse."""
    down = random_direction(rng, pool.plain)
    token_in, token_out = pool.tokens if down else pool.tokens[::-1]
    amount_in = random_amount(rng, pool.plain, token_in, token_out)
    chain = real.world.chain
    try:
        amount_out, after = pool.swap(token_in, token_out, amount_in)
    except InsufficientLiquidity:
        with chain.revert_after():
            assert takes_less(real, down, amount_in)
        return pool
    except SwapReverts as refusal:
        if "may not be able to count" in refusal.message:  # other hooks with the same fees would revert
            return pool
        with chain.revert_after():
            assert pays_nothing(real, down, amount_in)
        return pool
    outcome = real.swap(down, amount_in)
    assert (outcome.paid, outcome.got) == (amount_in, amount_out)
    reached = outcome.sqrt_price_x96, outcome.tick, outcome.liquidity
    assert reached == (after.plain.sqrt_price_x96, after.plain.tick, after.plain.liquidity)
    return after


def takes_less(real: UniswapV4, down: bool, amount_in: int) -> bool:
    try:
        return real.swap(down, amount_in).paid < amount_in
    except RevertedError:
        return True
