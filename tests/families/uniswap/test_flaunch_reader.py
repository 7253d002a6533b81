"""Pools of Flaunch, with a hook by its rule in a local EVM; the compiled hook itself gave the recorded swaps."""

from __future__ import annotations

import json
from random import Random

import pytest

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import ProtocolInfo
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.families.uniswap.internal_swap import InternalSwap
from swapcli.families.uniswap.rows import V4Constants
from swapcli.families.uniswap.uniswap_v4_reader import load
from swapcli.state.discovery.pair_lookup import find_pair_pools
from tests.chain.node.evm_node import EvmNode, packed_reader, view_of
from tests.families.uniswap.hooked_pools import compare_one_hooked_swap
from tests.families.uniswap.test_internal_swap import BASIS_POINT, FlaunchedPool

NOW = 1_700_000_000
WEEK = 7 * 86_400
RULE = {"rule": "flaunch", "gas": 9}


def launched(*, token_is_first: bool = True, calculated_bps: int = 0) -> FlaunchedPool:
    real = FlaunchedPool(
        Random("flaunch"), 100, token_is_first=token_is_first, calculated_bps=calculated_bps, price=Q96 // 5
    )
    tick = real.position()[1] // 60 * 60
    real.mint(tick - 6_000, tick + 6_000, 10**22)
    real.hook.send("setTokens", bytes.fromhex(real.pool_id[2:]), 10**18)
    return real


def reason(real: FlaunchedPool) -> str:
    """Return why the pool is refused."""
    skipped = real.load(real.ref(RULE))
    assert isinstance(skipped, SkippedItem), skipped
    return skipped.reason


@pytest.mark.parametrize("calculated_bps", [0, 50, 250])
@pytest.mark.parametrize("token_is_first", [True, False])
def test_fees_and_tokens_of_the_hook_are_read_and_confirmed(token_is_first: bool, calculated_bps: int) -> None:
    real = launched(token_is_first=token_is_first, calculated_bps=calculated_bps)
    pool = real.load_hooked(real.ref(RULE))
    fees = DirectionFees(0, 0, max(100, calculated_bps) * BASIS_POINT)
    assert (pool.fees, pool.hook_gas) == (HookFees(fees, fees), 9)
    assert pool.internal_swap == InternalSwap(token_is_first, 10**18)
    rng = Random(calculated_bps)
    for _ in range(10):
        pool = compare_one_hooked_swap(rng, real, pool)
    assert pool == real.load_hooked(real.ref(RULE))


def test_a_pool_takes_six_rounds_of_which_its_ticks_take_two() -> None:
    real = launched(calculated_bps=1)
    ref = real.ref(RULE)
    node = EvmNode(real.world.chain)
    (read,) = run_batched([("", load(ref))], packed_reader(node).call)
    assert read == real.load_hooked(ref)
    assert len(node.batch_sizes) == 6, "the price and its ticks, time and hook, what the hook names, the quoter"


def test_a_launch_that_is_not_over_is_refused() -> None:
    real = launched()
    real.hook.send("setLaunch", False, NOW + 1, True)
    assert reason(real).endswith(f"rejects swaps until {NOW + 1}")
    real.hook.send("setLaunch", False, NOW, False)
    assert "its fair launch is not closed" in reason(real)
    real.hook.send("setLaunch", False, NOW, True)
    assert real.load_hooked(real.ref(RULE)).internal_swap


def test_a_bid_wall_that_was_left_alone_is_refused() -> None:
    real = launched()
    real.hook.send("setWall", 5, NOW - WEEK)
    assert "the bid wall has been idle, so the next swap moves its liquidity" in reason(real)
    for pending, used_at in ((0, NOW - WEEK), (5, NOW - WEEK + 1)):
        real.hook.send("setWall", pending, used_at)
        assert real.load_hooked(real.ref(RULE)).internal_swap


def test_the_first_version_has_no_clock_in_the_wall() -> None:
    real = launched()
    real.hook.send("setWall", 5, NOW - WEEK)
    real.hook.send("setLaunch", True, 0, True)
    assert real.load_hooked(real.ref(RULE)).internal_swap


def test_a_hook_for_other_tokens_is_refused() -> None:
    real = launched()
    real.hook.send("setUp", real.manager.address, 100, 0)
    assert "is not one of the pool's tokens" in reason(real)


def test_a_launched_pool_is_found_by_its_tokens() -> None:
    real = launched()
    rule = json.dumps({**RULE, "hooks": [real.hooks]})
    protocol = ProtocolInfo(54, "flaunch", "Flaunch", "uniswap_v4_hooked", contracts=("uniswap_v4",))
    factory = Factory(
        real.manager.address, ContractKind.UNISWAP_V4, (protocol,), hook_rules={real.hooks: rule},
        swap_quoter=real.quoter.address,
    )  # fmt: skip
    (ref,) = find_pair_pools(view_of(real.world.chain), [factory], real.world.tokens, None)
    assert isinstance(ref, PoolRef)
    assert ref.constants_as(V4Constants).pool_id == real.pool_id
    assert real.load_hooked(ref._replace(decimals=(18, 6))).internal_swap
