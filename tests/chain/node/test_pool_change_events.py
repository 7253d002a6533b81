"""Pool events identify their pool, and forged events do no harm."""

from __future__ import annotations

import re
from random import Random

import pytest

from swapcli.chain import pool_change_events
from swapcli.chain.node import Log
from swapcli.chain.pool_change_events import EVENTS, change_topics, changed_pool, emits_events
from swapcli.chain.pool_ref import ContractKind, contract_kind
from swapcli.networks.address import keccak256
from swapcli.networks.catalogue import find_network, network_names
from swapcli.pools import FAMILIES
from tests.contracts.evm import compile_solidity, load_artifact

SIGNATURES = {
    "_SYNC": "Sync(uint112,uint112)",
    "_SYNC_SOLIDLY": "Sync(uint256,uint256)",
    "_SET_CUSTOM_FEE": "SetCustomFee(address,uint256)",
    "_CUSTOM_FEE_SET": "CustomFeeSet(address,uint24)",
    "_INITIALIZE": "Initialize(uint160,int24)",
    "_SWAP": "Swap(address,address,int256,int256,uint160,uint128,int24)",
    "_SWAP_PANCAKE": "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)",
    "_MINT": "Mint(address,address,int24,int24,uint128,uint256,uint256)",
    "_BURN": "Burn(address,int24,int24,uint128,uint256,uint256)",
    "_FEE": "Fee(uint16)",
    "_TICK_SPACING": "TickSpacing(int24)",
    "_SWAP_V4": "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
    "_MODIFY_LIQUIDITY": "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)",
    "_PROTOCOL_FEE_UPDATED": "ProtocolFeeUpdated(bytes32,uint24)",
    "_SWAP_BALANCER": "Swap(bytes32,address,address,uint256,uint256)",
    "_BALANCE_CHANGED": "PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])",
    "_BALANCE_MANAGED": "PoolBalanceManaged(bytes32,address,address,int256,int256)",
    "_SWAP_FEE_CHANGED": "SwapFeePercentageChanged(uint256)",
    "_PAUSED_CHANGED": "PausedStateChanged(bool)",
}
_BALANCER = "@balancer-labs/v2-deployments/dist/tasks"
_SOLIDLY = "sphere-mezo-solidity-files/domains/aerodrome/contracts"
_SLIPSTREAM = "sphere-mezo-solidity-files/domains/aerodrome-slipstream/contracts/core"
ARTIFACTS = {
    ContractKind.UNISWAP_V2: ("@uniswap/v2-core/build/UniswapV2Pair.json",),
    ContractKind.UNISWAP_V3: (
        "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json",
        "@pancakeswap/v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json",
    ),
    ContractKind.ALGEBRA: ("@cryptoalgebra/integral-core/artifacts/contracts/AlgebraPool.sol/AlgebraPool.json",),
    ContractKind.UNISWAP_V4: ("@uniswap/v4-core/out/PoolManager.sol/PoolManager.json",),
    ContractKind.WEIGHTED: (
        f"{_BALANCER}/20210418-vault/artifact/Vault.json",
        f"{_BALANCER}/20230206-weighted-pool-v3/artifact/WeightedPool.json",
    ),
}
IGNORED = {
    *("Approval", "Transfer", "Collect", "CollectProtocol", "Flash", "IncreaseObservationCardinalityNext"),
    *("SetFeeProtocol", "SetLmPoolEvent", "Donate", "OperatorSet", "OwnershipTransferred"),
    *("ProtocolFeeControllerUpdated", "AuthorizerChanged", "ExternalBalanceTransfer", "FlashLoan"),
    *("InternalBalanceChanged", "RelayerApprovalChanged", "ProtocolFeePercentageCacheUpdated"),
    *("RecoveryModeStateChanged", "Plugin", "PluginConfig", "CommunityFee", "CommunityVault", "Skim", "BurnFee"),
    *("ExcessTokens", "SwapFee", "PoolRegistered", "TokensRegistered", "TokensDeregistered"),
}
"""Events of the real contracts that change no swap, or that announce a new pool."""
IGNORED_BY_KIND = {ContractKind.UNISWAP_V2: {"Mint", "Burn", "Swap"}, ContractKind.UNISWAP_V4: {"Initialize"}}
"""Those of a pair come with a Sync; that of a manager announces a new pool."""


def test_topics_are_the_hashes_of_their_signatures() -> None:
    for name, signature in SIGNATURES.items():
        assert getattr(pool_change_events, name) == f"0x{keccak256(signature.encode()).hex()}"
    assert {topic for events in EVENTS.values() for topic in events} == {
        getattr(pool_change_events, name) for name in SIGNATURES
    }
    assert EVENTS.keys() == set(ContractKind)


@pytest.mark.parametrize("kind", ARTIFACTS)
def test_every_event_is_followed_or_changes_no_swap(kind: ContractKind) -> None:
    for path in ARTIFACTS[kind]:
        for entry in load_artifact(path).abi:
            if entry["type"] != "event":
                continue
            signature = f"{entry['name']}({','.join(each['type'] for each in entry['inputs'])})"
            is_followed = f"0x{keccak256(signature.encode()).hex()}" in EVENTS[kind]
            assert is_followed != (entry["name"] in IGNORED | IGNORED_BY_KIND.get(kind, set())), signature


def test_solidly_and_slipstream_emit_the_followed_events() -> None:
    pool = compile_solidity(f"{_SOLIDLY}/Pool.sol")["Pool"]
    factory = compile_solidity(f"{_SOLIDLY}/factories/PoolFactory.sol")["PoolFactory"]
    declared = {
        f"{entry['name']}({','.join(each['type'] for each in entry['inputs'])})"
        for artifact in (pool, factory)
        for entry in artifact.abi
        if entry["type"] == "event"
    }
    assert {"Sync(uint256,uint256)", "SetCustomFee(address,uint256)"} <= declared


def word(address: str) -> str:
    return f"0x{address[2:]:0>64}"


def test_an_event_gives_the_key_of_its_pool() -> None:
    emitter, other, pool_id = "0x" + "aa" * 20, "0x" + "bb" * 20, "0x" + "bb" * 20 + "0002" + "00" * 10
    named = {
        pool_change_events._SYNC: emitter, pool_change_events._SYNC_SOLIDLY: emitter,
        pool_change_events._SWAP: emitter, pool_change_events._SWAP_PANCAKE: emitter,
        pool_change_events._MINT: emitter, pool_change_events._BURN: emitter,
        pool_change_events._FEE: emitter, pool_change_events._SWAP_FEE_CHANGED: emitter,
        pool_change_events._SWAP_V4: pool_id, pool_change_events._MODIFY_LIQUIDITY: pool_id,
        pool_change_events._PROTOCOL_FEE_UPDATED: pool_id,
        pool_change_events._SWAP_BALANCER: other, pool_change_events._BALANCE_CHANGED: other,
        pool_change_events._BALANCE_MANAGED: other,
    }  # fmt: skip
    for topic, key in named.items():
        assert changed_pool(Log(emitter, (topic, pool_id, word(other)), b"", 1, 0)) == key
    for topic in (pool_change_events._SET_CUSTOM_FEE, pool_change_events._CUSTOM_FEE_SET):
        assert changed_pool(Log(emitter, (topic, word(other)), b"", 1, 0)) == other


def test_no_forged_event_raises() -> None:
    rng = Random(3)
    topics = [*change_topics(FAMILIES), "0x" + "12" * 32]
    for topic in topics:
        for count in range(4):
            words = [f"0x{rng.randbytes(32).hex()}" for _ in range(count)]
            key = changed_pool(Log("0x" + "cc" * 20, (topic, *words), rng.randbytes(rng.randint(0, 99)), 1, 0))
            assert key is None or re.fullmatch(r"0x(?:[0-9a-f]{40}|[0-9a-f]{64})", key)
    assert changed_pool(Log("0x" + "cc" * 20, (), b"", 1, 0)) is None
    assert changed_pool(Log("0x" + "cc" * 20, (topics[-1],), b"", 1, 0)) is None


def test_only_events_of_the_families_are_requested() -> None:
    assert set(change_topics(["constant_product"])) == {*EVENTS[ContractKind.UNISWAP_V2], *EVENTS[ContractKind.SOLIDLY]}
    assert set(change_topics(["solidly_stable"])) == set(EVENTS[ContractKind.SOLIDLY])
    assert change_topics(["stableswap"]) == ()
    assert len(change_topics(FAMILIES)) == len(set(change_topics(FAMILIES))) == len(SIGNATURES)
    assert {name for name in FAMILIES if not emits_events(name)} == {"stableswap"}


def test_every_contract_kind_has_a_family_with_events() -> None:
    for name in network_names():
        described = find_network(name)
        for protocol in described.protocols:
            kind = contract_kind(protocol, described)
            assert kind is None or set(EVENTS[kind]) <= set(change_topics([protocol.family or ""]))
