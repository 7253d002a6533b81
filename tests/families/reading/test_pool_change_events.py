"""Pool events identify their pool, and forged events do no harm."""

from __future__ import annotations

import re
from random import Random

import pytest

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Kind
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.families import FAMILIES, KIND_NAMES
from swapcli.families.balancer.rows import balancer_id_in_first_topic
from swapcli.families.ekubo.rows import ekubo_key_in_data
from swapcli.families.order_books.rows import clober_book_in_first_topic
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import KINDS, contract_kinds, kinds_of_family
from swapcli.families.reading.pool_change_events import EVENTS, change_topics, changed_pool, emits_events
from swapcli.families.row import KeyOfEvent, address_in_first_topic, first_topic, key_of_emitter
from tests.contracts.evm import compile_solidity, load_artifact
from tests.support.outside_ids import keccak256, topic_of

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
    "balancer_v2": (
        f"{_BALANCER}/20210418-vault/artifact/Vault.json",
        f"{_BALANCER}/20230206-weighted-pool-v3/artifact/WeightedPool.json",
        f"{_BALANCER}/20230206-composable-stable-pool-v3/artifact/ComposableStablePool.json",
    ),
}
IGNORED = {
    *("Approval", "Transfer", "Collect", "CollectProtocol", "Flash", "IncreaseObservationCardinalityNext"),
    *("SetFeeProtocol", "SetLmPoolEvent", "Donate", "OperatorSet", "OwnershipTransferred"),
    *("ProtocolFeeControllerUpdated", "AuthorizerChanged", "ExternalBalanceTransfer", "FlashLoan"),
    *("InternalBalanceChanged", "RelayerApprovalChanged"),
    *("CommunityFee", "CommunityVault", "Skim", "BurnFee"),
    *("ExcessTokens", "SwapFee", "PoolRegistered", "TokensRegistered", "TokensDeregistered"),
}
"""Events of the real contracts that change no swap, or that announce a new pool."""
IGNORED_BY_KIND = {
    ContractKind.UNISWAP_V2: {"Mint", "Burn", "Swap"},
    ContractKind.UNISWAP_V4: {"Initialize"},
    "balancer_v2": {"TokenRateCacheUpdated"},
}
"""Those of a pair come with a Sync; that of a manager announces a new pool; pools with rates are read at each block."""

WITHOUT_EVENTS = {kind for kind, traits in KINDS.items() if traits.unannounced}
"""Kinds whose table says what changes the swaps of a pool unannounced."""


def test_every_kind_has_a_row_of_events() -> None:
    assert EVENTS.keys() == KINDS.keys() == set(KIND_NAMES)
    # Known from explorers: a pair's Sync, and Uniswap V3's Swap.
    assert topic_of("Sync(uint112,uint112)") == "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"
    swap = topic_of("Swap(address,address,int256,int256,uint160,uint128,int24)")
    assert swap == "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"


@pytest.mark.parametrize("kind", ARTIFACTS)
def test_every_event_is_followed_or_changes_no_swap(kind: str) -> None:
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


POOL_KEY = bytes(range(160))
"""The five words of an Ekubo pool's key, which follow the locker in its events."""


def test_an_event_gives_the_key_of_its_pool() -> None:
    emitter, other, pool_id = "0x" + "aa" * 20, "0x" + "bb" * 20, "0x" + "bb" * 20 + "0002" + "00" * 10
    keys: dict[KeyOfEvent, str] = {
        key_of_emitter: emitter,
        first_topic: pool_id,
        address_in_first_topic: other,
        balancer_id_in_first_topic: other,
        ekubo_key_in_data: f"0x{int.from_bytes(keccak256(POOL_KEY)) | 1 << 255:064x}",
        clober_book_in_first_topic: f"0x{0:016x}{pool_id[2:50]}",
    }
    content: dict[KeyOfEvent, str] = dict.fromkeys(
        (first_topic, balancer_id_in_first_topic, clober_book_in_first_topic), pool_id
    )
    for events in EVENTS.values():
        for topic, key_of in events.items():
            log = Log(emitter, (topic, content.get(key_of, word(other)), word(other)), bytes(32) + POOL_KEY, 1, 0)
            assert changed_pool(log) == keys[key_of]


def test_no_forged_event_raises() -> None:
    rng = Random(3)
    topics = [*change_topics(FAMILIES), *change_topics(FAMILIES, Kind.STARKNET), "0x" + "12" * 32]
    for topic in topics:
        for count in range(4):
            words = [f"0x{rng.randbytes(32).hex()}" for _ in range(count)]
            key = changed_pool(Log("0x" + "cc" * 20, (topic, *words), rng.randbytes(rng.randint(0, 99)), 1, 0))
            assert key is None or re.fullmatch(r"0x(?:[0-9a-f]{40}|[0-9a-f]{64})", key)
    assert changed_pool(Log("0x" + "cc" * 20, (), b"", 1, 0)) is None
    assert changed_pool(Log("0x" + "cc" * 20, (topics[-1],), b"", 1, 0)) is None


def test_only_events_of_the_families_are_requested() -> None:
    assert set(change_topics(["constant_product"])) == {*EVENTS[ContractKind.UNISWAP_V2], *EVENTS[ContractKind.SOLIDLY]}
    solidly = {*EVENTS[ContractKind.SOLIDLY], *EVENTS[ContractKind.SOLIDLY_V1]}
    assert set(change_topics(["solidly_stable"])) == solidly
    assert change_topics(["stableswap"]) == ()
    assert len(change_topics(FAMILIES)) == len(set(change_topics(FAMILIES)))


def test_a_family_emits_events_if_all_its_kinds_do() -> None:
    assert {kind for kind in KINDS if not EVENTS[kind]} == WITHOUT_EVENTS
    stored = {kind for kind in WITHOUT_EVENTS if not KINDS[kind].is_sampled}
    assert stored == WITHOUT_EVENTS - {ContractKind.SAMPLED}, "a store has no state of sampled pools to change"
    for network_kind in Kind:
        for name in FAMILIES:
            assert emits_events(name, network_kind) == stored.isdisjoint(kinds_of_family(name, network_kind)), name


def test_every_contract_kind_has_a_family_with_events() -> None:
    for name in network_names():
        described = find_network(name)
        for protocol in described.protocols:
            for kind in contract_kinds(protocol, described):
                assert set(EVENTS[kind]) <= set(change_topics(KINDS[kind].families, described.kind))
