"""Pools of Balancer V3, found and read through a node. The answers are encoded as the real contracts encode them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from eth_abi.abi import encode

from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.families.balancer.boosted_shares import vault_of
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.discovery.pool_discovery import read_created_pools
from swapcli.testing.evm import Chain
from tests.chain.node.evm_node import BLOCK, EvmNode, packed_reader, sources
from tests.support.outside_ids import topic_of

WAD = 10**18
TOKENS = tuple(f"0x{k:040x}" for k in (0x11, 0x22, 0x33))
PROVIDER = "0x" + "ab" * 20
FAMILIES = ("balancer_v3_weighted", "balancer_v3_stable", "balancer_v3_stable_surge")
PROTOCOLS = tuple(ProtocolInfo(k, name, name, name) for k, name in enumerate(FAMILIES, 1))
CONFIG: dict[str, Any] = {
    "management": (False, False, False, False),
    "swap_fee": 3 * 10**15 + 10**11,
    "aggregate_swap_fee": WAD // 2,
    "aggregate_yield_fee": WAD // 10,
    "decimal_diffs": 12,
    "pause_window_end": 2**31,
    "is_registered": True,
    "is_initialized": True,
    "is_paused": False,
    "in_recovery": False,
}
NO_HOOKS = ((False,) * 10, ZERO_ADDRESS)
SURGE_FLAGS = (False, False, False, True, False, False, False, True, False, True)


class Scene:
    """A vault with one pool, and a hook."""

    def __init__(self) -> None:
        chain = Chain()
        artifact = sources()["OddToken"]
        self.vault, self.pool, self.hook = (chain.deploy(artifact) for _ in range(3))
        self.node = EvmNode(chain)
        self.answer(self.pool, "getVault()", ["address"], self.vault.address)
        self.answer(self.vault, "getMinimumTradeAmount()", ["uint256"], 10**6)
        self.answer(self.vault, "isVaultPaused()", ["bool"], False)
        self.answer(self.vault, "getPoolTokens(address)", ["address[]"], TOKENS)
        self.answer(self.hook, "getMaxSurgeFeePercentage(address)", ["uint256"], 95 * 10**16)
        self.answer(self.hook, "getSurgeThresholdPercentage(address)", ["uint256"], 3 * 10**17)
        self.set_version(self.hook, "StableSurgeHook", 2)
        self.set_data()
        self.set_config()
        self.set_hooks(*NO_HOOKS)

    def answer(self, contract: Any, signature: str, types: list[str], *values: Any) -> None:
        contract.send("say", signature, encode(types, values))

    def set_version(self, contract: Any, name: str, number: int) -> None:
        self.answer(contract, "version()", ["string"], json.dumps({"name": name, "version": number, "deployment": "x"}))

    def set_data(self, providers: tuple[str, ...] = (ZERO_ADDRESS, PROVIDER, ZERO_ADDRESS)) -> None:
        infos = [(int(provider != ZERO_ADDRESS), provider, True) for provider in providers]
        lists = [10**24, 10**12, 10**20], [1, 2, 3], [WAD, 11 * WAD // 10, WAD], [1, 10**12, 1]
        struct = "(bytes32,address[],(uint8,address,bool)[],uint256[],uint256[],uint256[],uint256[])"
        self.answer(self.vault, "getPoolData(address)", [struct], (bytes(32), TOKENS, infos, *lists))

    def set_config(self, **changes: object) -> None:
        types = "((bool,bool,bool,bool),uint256,uint256,uint256,uint40,uint32,bool,bool,bool,bool)"
        self.answer(self.vault, "getPoolConfig(address)", [types], tuple((CONFIG | changes).values()))

    def set_hooks(self, flags: tuple[bool, ...], contract: str) -> None:
        self.answer(self.vault, "getHooksConfig(address)", [f"({'bool,' * 10}address)"], (*flags, contract))

    def make(self, name: str, number: int) -> None:
        """Make the pool one of this kind and version."""
        self.set_version(self.pool, name, number)
        if name == "WeightedPool":
            self.answer(self.pool, "getNormalizedWeights()", ["uint256[]"], [WAD // 2, WAD // 4, WAD // 4])
            if number >= 2:
                self.answer(self.pool, "getMinTokenBalances()", ["uint256[]"], [10**6, 10**12, 10**6])
            return
        self.answer(self.pool, "getAmplificationParameter()", ["uint256", "bool", "uint256"], 200_000, False, 1000)
        if name == "StableSurgePool":
            self.set_hooks(SURGE_FLAGS, self.hook.address)

    def find(self, protocols: tuple[ProtocolInfo, ...] = PROTOCOLS) -> PoolRef | SkippedItem:
        created = topic_of(KINDS["balancer_v3"].created[0])
        topics = (created, f"0x{self.pool.address[2:]:0>64}", f"0x{'00' * 32}")
        vault = Factory(self.vault.address, "balancer_v3", protocols)
        reader = packed_reader(self.node)
        (found,) = read_created_pools(
            reader, {vault.address: vault}, [Log(vault.address, topics, bytes(32), BLOCK, 0)], None
        )
        return found._replace(decimals=(18, 6, 18)) if isinstance(found, PoolRef) else found

    def read(self, family: str) -> Pool | SkippedItem:
        ref = PoolRef(self.pool.address, family, family, "balancer_v3", TOKENS, (18, 6, 18))
        (found,) = load_pools(packed_reader(self.node), [ref])
        return found


@pytest.mark.parametrize(
    ("name", "number", "family", "own"),
    [
        ("WeightedPool", 1, FAMILIES[0], {}),
        ("WeightedPool", 2, FAMILIES[0], {"floors": [str(10**6), str(10**12), str(10**6)]}),
        ("StablePool", 2, FAMILIES[1], {"amp": 200_000}),
        ("StablePool", 3, FAMILIES[1], {"amp": 200_000, "limits_imbalance": True}),
        ("StableSurgePool", 2, FAMILIES[2], {"max_surge_fee": str(95 * 10**16), "surge_threshold": str(3 * 10**17)}),
    ],
)
def test_a_pool_is_found_and_read(name: str, number: int, family: str, own: Mapping[str, object]) -> None:
    scene = Scene()
    scene.make(name, number)
    ref = scene.find()
    assert isinstance(ref, PoolRef), ref
    assert (ref.family, ref.protocol, ref.tokens, vault_of(ref)) == (family, family, TOKENS, scene.vault.address)
    pool = scene.read(family)
    assert isinstance(pool, Pool), pool
    assert (pool.family, pool.fee_ppm) == (family, 3_000)
    expected = {
        "reserves": [str(10**24), str(10**12), str(10**20)],
        "rates": [str(WAD), str(11 * WAD // 10), str(WAD)],
        "swap_fee": str(3 * 10**15 + 10**11),
        "aggregate_swap_fee": str(WAD // 2),
        "changes_without_events": True,
        **own,
    }
    assert {key: pool.state().get(key) for key in expected} == expected
    assert list(load_pools(packed_reader(scene.node), [ref])) == [pool]


def test_a_pool_without_rates_changes_by_events_alone() -> None:
    scene = Scene()
    scene.make("StablePool", 3)
    scene.set_data((ZERO_ADDRESS,) * 3)
    pool = scene.read("balancer_v3_stable")
    assert isinstance(pool, Pool)
    assert not pool.changes_without_events
    scene.answer(scene.pool, "getAmplificationParameter()", ["uint256", "bool", "uint256"], 200_000, True, 1000)
    ramping = scene.read("balancer_v3_stable")
    assert isinstance(ramping, Pool)
    assert ramping.changes_without_events


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"is_paused": True}, "the pool is paused"),
        ({"in_recovery": True}, "the pool is in recovery mode"),
        ({"is_initialized": False}, "the pool is not initialized"),
        ({"is_registered": False}, "the pool is not initialized"),
    ],
)
def test_a_pool_that_does_not_swap_is_left_out(change: dict[str, object], reason: str) -> None:
    scene = Scene()
    scene.make("StablePool", 3)
    scene.set_config(**change)
    assert scene.read("balancer_v3_stable") == SkippedItem(scene.pool.address, f"getPoolConfig(address): {reason}")


def test_a_paused_vault_leaves_its_pools_out() -> None:
    scene = Scene()
    scene.make("StablePool", 3)
    scene.answer(scene.vault, "isVaultPaused()", ["bool"], True)
    found = scene.read("balancer_v3_stable")
    assert found == SkippedItem(scene.pool.address, "isVaultPaused(): the vault is paused")


@pytest.mark.parametrize("flag", [0, 4, 5])
def test_a_hook_that_takes_part_in_swaps_leaves_the_pool_out(flag: int) -> None:
    scene = Scene()
    scene.make("StablePool", 3)
    scene.set_hooks(tuple(k == flag for k in range(10)), scene.hook.address)
    reason = f"hooks: swaps call the hook {scene.hook.address}, which is not supported"
    for found in (scene.read("balancer_v3_stable"), scene.find()):
        assert found is not None
        assert isinstance(found, SkippedItem)
        assert found.reason == reason


@pytest.mark.parametrize(("name", "number"), [("StableSurgeHook", 1), ("MevCaptureHook", 2)])
def test_only_the_known_surge_hook_is_computed(name: str, number: int) -> None:
    scene = Scene()
    scene.make("StableSurgePool", 3)
    scene.set_version(scene.hook, name, number)
    found = scene.read("balancer_v3_stable_surge")
    assert found == SkippedItem(scene.pool.address, f"hooks: version {number} of the hook {name} is not supported")


def test_an_unknown_kind_of_pool_is_left_out_by_its_name() -> None:
    scene = Scene()
    scene.make("CowPool", 3)
    found = scene.find()
    assert isinstance(found, SkippedItem)
    assert found.reason == f'{scene.pool.address}: pools of the kind "CowPool" are not supported'


LBP = "balancer_v3_lbp"


class SaleScene(Scene):
    """A vault with a bootstrapping pool of the first two tokens, the second one for sale; it is its own hook."""

    def __init__(self, before_swap: bool = False) -> None:
        super().__init__()
        self.set_version(self.pool, "LBPool", 3)
        self.answer(self.vault, "getPoolTokens(address)", ["address[]"], TOKENS[:2])
        struct = "(bytes32,address[],(uint8,address,bool)[],uint256[],uint256[],uint256[],uint256[])"
        lists = [10**24, 10**22], [1, 2], [WAD, WAD], [1, 1]
        data = bytes(32), TOKENS[:2], [(0, ZERO_ADDRESS, False)] * 2, *lists
        self.answer(self.vault, "getPoolData(address)", [struct], data)
        self.set_hooks((False, True, False, False, before_swap, False, True, False, True, False), self.pool.address)
        self.answer(self.pool, "getNormalizedWeights()", ["uint256[]"], [WAD // 5, 4 * WAD // 5])
        self.answer(self.pool, "isSwapEnabled()", ["bool"], True)
        self.answer(self.pool, "getProjectToken()", ["address"], TOKENS[1])
        self.answer(self.pool, "isProjectTokenSwapInBlocked()", ["bool"], True)

    def read_sale(self, name: str = LBP) -> Pool | SkippedItem:
        ref = PoolRef(self.pool.address, name, name, "balancer_v3", TOKENS[:2], (18, 18))
        (found,) = load_pools(packed_reader(self.node), [ref])
        return found


@pytest.mark.parametrize("before_swap", [False, True])
def test_a_bootstrapping_pool_has_the_weights_of_the_block(before_swap: bool) -> None:
    scene = SaleScene(before_swap)
    pool = scene.read_sale()
    assert isinstance(pool, Pool), pool
    assert pool.changes_without_events
    state = pool.state()
    assert (state["weights"], state["project"], state["is_project_bought_only"]) == (
        [str(WAD // 5), str(4 * WAD // 5)], 1, True,
    )  # fmt: skip
    assert "virtual_reserve" not in state
    scene.answer(scene.pool, "getReserveTokenVirtualBalance()", ["uint256", "uint256"], 5, 7)
    virtual = scene.read_sale()
    assert isinstance(virtual, Pool)
    assert virtual.state()["virtual_reserve"] == "7"


def test_a_sale_that_is_closed_and_foreign_hooks_are_left_out() -> None:
    scene = SaleScene()
    scene.answer(scene.pool, "isSwapEnabled()", ["bool"], False)
    assert "has not started or is over" in str(scene.read_sale())
    scene = SaleScene()
    scene.answer(scene.pool, "getProjectToken()", ["address"], TOKENS[2])
    assert "not in the pool" in str(scene.read_sale())
    scene = SaleScene()
    scene.set_hooks((False, False, False, False, True, False, False, False, False, False), scene.hook.address)
    assert "which is not supported" in str(scene.read_sale())


def test_a_fixed_price_pool_has_its_price() -> None:
    scene = SaleScene()
    scene.answer(scene.pool, "getProjectTokenRate()", ["uint256"], 4 * WAD)
    pool = scene.read_sale("balancer_v3_fixed_lbp")
    assert isinstance(pool, Pool), pool
    assert pool.changes_without_events
    assert (pool.state()["project"], pool.state()["project_price"]) == (1, str(4 * WAD))
    scene.answer(scene.pool, "isSwapEnabled()", ["bool"], False)
    assert "has not started or is over" in str(scene.read_sale("balancer_v3_fixed_lbp"))


QUANTAMM_DATA = "(address[],uint256,uint256,int256[][],uint64[],uint64,uint64,uint64,uint256)"


def test_a_pool_of_quantamm_has_the_weights_of_the_block() -> None:
    scene = Scene()
    scene.set_version(scene.pool, "QuantAMMWeightedPool", 1)
    scene.answer(scene.pool, "getNormalizedWeights()", ["uint256[]"], [WAD // 2, WAD // 4, WAD // 4 + 10**12])
    constants = (TOKENS, 3_600, 1, [[5, 6], [7]], [8, 9], 10, 11, 12, WAD // 5)
    scene.answer(scene.pool, "getQuantAMMWeightedPoolImmutableData()", [QUANTAMM_DATA], constants)
    pool = scene.read("balancer_v3_quantamm")
    assert isinstance(pool, Pool), pool
    assert pool.changes_without_events
    assert pool.state()["weights"] == [str(WAD // 2), str(WAD // 4), str(WAD // 4 + 10**12)]
    assert pool.state()["max_trade_ratio"] == str(WAD // 5)
    scene.set_hooks((True, False, False, False, False, True, False, False, False, False), scene.hook.address)
    assert "which is not supported" in str(scene.read("balancer_v3_quantamm"))


@pytest.mark.parametrize(
    ("kind", "name"),
    [("FixedPriceLBPool", "balancer_v3_fixed_lbp"), ("QuantAMMWeightedPool", "balancer_v3_quantamm")],
)
def test_a_new_kind_of_pool_is_found_by_its_name(kind: str, name: str) -> None:
    scene = Scene()
    scene.set_version(scene.pool, kind, 1)
    found = scene.find((ProtocolInfo(1, name, name, name),))
    assert isinstance(found, PoolRef), found
    assert found.family == name
