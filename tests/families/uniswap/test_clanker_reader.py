"""Pools of Clanker, with a hook by its rule, a factory and a locker in a local EVM; the bytecode of the real hook gave
the recorded swaps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.clanker_volatility import ClankerVolatility
from swapcli.state.discovery.pair_lookup import find_pair_pools
from swapcli.testing.evm import Contract
from tests.chain.node.evm_node import view_of
from tests.families.real_pools import ContractFixture
from tests.families.uniswap.hooked_pools import (
    LAUNCH_HOOK,
    HookedPool,
    compare_one_hooked_swap,
    contracts,
    hook_fees,
    selling_and_buying,
)
from tests.support.outside_ids import keccak256

NOW = 1_700_000_000
TOKEN_FEE, PAIRED_FEE = 10_000, 30_007


class LaunchedPool:
    """A pool of a launched token, its factory, and what the rule says of both."""

    def __init__(
        self,
        preferences: Sequence[int] = (),
        *,
        is_second_version: bool,
        token_is_first: bool,
        fixture: ContractFixture | None = None,
        permissions: int = LAUNCH_HOOK,
    ) -> None:
        self.real = real = HookedPool(
            Random("launch"), "LaunchHook", permissions, is_dynamic=True, price=Q96 // 5, spacing=200, fixture=fixture
        )
        self.fees = hook_fees(*selling_and_buying(TOKEN_FEE, PAIRED_FEE), token_is_first=token_is_first)
        self.pad: Contract = real.world.chain.deploy(contracts()["Launchpad"])
        self.pad.send("launch", real.world.tokens[0 if token_is_first else 1], real.key, list(preferences))
        self.known = {"token_is_first": token_is_first, "is_second_version": is_second_version}
        self.set_pool(locker=self.pad.address)
        tick = real.position()[1] // real.tick_spacing * real.tick_spacing
        real.mint(tick - 99 * real.tick_spacing, tick + 99 * real.tick_spacing, 10**22)

    def set_pool(self, **known: Any) -> None:
        self.real.launch(TOKEN_FEE, PAIRED_FEE, **{**self.known, **known})

    def rule(self, **contracts_of_rule: str) -> Mapping[str, object]:
        return {"rule": "clanker_static", "contracts": {"factory": self.pad.address, **contracts_of_rule}, "gas": 9}

    def reason(self, **contracts_of_rule: str) -> str:
        """Return why the pool is refused."""
        skipped = self.real.load(self.real.ref(self.rule(**contracts_of_rule)))
        assert isinstance(skipped, SkippedItem), skipped
        return skipped.reason


@pytest.mark.parametrize("token_is_first", [True, False])
@pytest.mark.parametrize("is_second_version", [True, False])
def test_the_fees_of_both_directions_are_those_of_the_hook(is_second_version: bool, token_is_first: bool) -> None:
    launched = LaunchedPool(is_second_version=is_second_version, token_is_first=token_is_first)
    real = launched.real
    pool = real.load_hooked(real.ref(launched.rule()))
    assert (pool.fees, pool.hook_gas) == (launched.fees, 9)
    rng = Random(str(launched.known))
    for _ in range(20):
        with real.world.chain.revert_after():
            compare_one_hooked_swap(rng, real, pool)


def test_the_protocols_fee_of_the_last_swap_is_no_matter() -> None:
    """It is one number for all pools of the hook, and the last swap was in the other direction."""
    launched = LaunchedPool(is_second_version=True, token_is_first=True)
    real = launched.real
    for down in (True, False):
        real.swap(down, 10**12)
        pool = real.load_hooked(real.ref(launched.rule()))
        assert pool.fees == launched.fees
        assert pool.fee_ppm == (TOKEN_FEE if down else PAIRED_FEE)


@pytest.mark.parametrize("is_second_version", [True, False])
def test_a_locker_that_swaps_before_the_swap_is_refused(is_second_version: bool) -> None:
    """Recipients may want both tokens (0), or the paired (1) or the launched one (2) for the other."""
    assert LaunchedPool((0, 0), is_second_version=is_second_version, token_is_first=True)
    for preferences in ((0, 1), (2,)):
        launched = LaunchedPool(preferences, is_second_version=is_second_version, token_is_first=True)
        assert f"before each swap {launched.pad.address} swaps collected fees in the pool" in launched.reason()


def test_the_module_against_snipers_ends_with_its_time() -> None:
    launched = LaunchedPool(is_second_version=True, token_is_first=True)
    real = launched.real
    launched.set_pool(locker=launched.pad.address, module_until=NOW + 1)
    assert f"until {NOW + 1} its anti-sniper module may set a different fee" in launched.reason()
    launched.set_pool(locker=launched.pad.address, module_until=NOW)
    assert real.load_hooked(real.ref(launched.rule())).fees == launched.fees


def test_a_pool_that_anybody_opened_has_no_locker() -> None:
    """The second version tells the direction of such a pool; nobody tells that of the first version's."""
    launched = LaunchedPool(is_second_version=True, token_is_first=True)
    launched.set_pool(locker=ZERO_ADDRESS)
    real = launched.real
    assert real.load_hooked(real.ref(launched.rule())).fees == launched.fees
    launched.set_pool(locker=ZERO_ADDRESS, is_second_version=False)
    other = (*real.key[:3], real.tick_spacing + 1, real.hooks)
    launched.pad.send("launch", real.world.tokens[0], other, [])
    assert "neither of its tokens was launched with this pool" in launched.reason()


def test_known_code_needs_no_quoter_only_with_a_known_locker() -> None:
    launched = LaunchedPool(is_second_version=True, token_is_first=True)
    real = launched.real
    code_hash = f"0x{keccak256(real.world.chain.code(real.hooks)).hex()}"
    unknown = {**launched.rule(), "code_hash": code_hash}
    skipped = real.load(real.ref(unknown, has_quoter=False))
    assert isinstance(skipped, SkippedItem)
    assert "nor a quoter" in skipped.reason
    known = {**launched.rule(locker=launched.pad.address), "code_hash": code_hash}
    assert real.load_hooked(real.ref(known, has_quoter=False)).fees == launched.fees


def test_dynamic_fees_are_read_at_the_time_of_the_block() -> None:
    """The configuration and the variables of a pool, and what the last swap in any pool left as the protocol's fee."""
    launched = LaunchedPool(is_second_version=True, token_is_first=False)
    real = launched.real
    config = (5_000, 50_000, 15, 120, -200, 5 * 10**8, 7_500)
    variables = (-16_095, -16_000, NOW - 40, NOW - 3, 7, 9)
    real.hook.send("setVolatility", bytes.fromhex(real.pool_id[2:]), config, variables, 1_234)
    rule = {**launched.rule(locker=launched.pad.address), "rule": "clanker_dynamic"}
    code_hash = f"0x{keccak256(real.world.chain.code(real.hooks)).hex()}"
    pool = real.load_hooked(real.ref({**rule, "code_hash": code_hash}, has_quoter=False))
    assert pool.volatility == ClankerVolatility(False, *config, *variables, 1_234, NOW)
    assert pool.fees == pool.volatility.start_fees(pool.plain)
    refused = real.load(real.ref(rule))
    assert isinstance(refused, SkippedItem)
    assert "the quoter contradicts the rule" in refused.reason, "swaps of this hook have constant fees"


def test_a_launched_pool_is_found_by_its_tokens() -> None:
    launched = LaunchedPool(is_second_version=True, token_is_first=True)
    real = launched.real
    rule = json.dumps({**launched.rule(), "hooks": [real.hooks]})
    protocol = ProtocolInfo(58, "clanker", "Clanker", "uniswap_v4_hooked", contracts=("uniswap_v4",))
    factory = Factory(
        real.manager.address, ContractKind.UNISWAP_V4, (protocol,), hook_rules={real.hooks: rule},
        swap_quoter=real.quoter.address,
    )  # fmt: skip
    (ref,) = find_pair_pools(view_of(real.world.chain), [factory], real.world.tokens, None)
    assert isinstance(ref, PoolRef)
    assert real.load_hooked(ref._replace(decimals=(18, 6))).fees == launched.fees
