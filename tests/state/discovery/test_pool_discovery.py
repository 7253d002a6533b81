"""Pools of real factories are found by lists or events, and their references can be read."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from eth_abi.abi import encode

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Deployment, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.families.balancer.rows import BalancerV2Constants
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import LastTicks, PoolRef, with_decimals
from swapcli.families.row import TickConstants
from swapcli.families.tick_math import sqrt_ratio_at_tick
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.rows import AlgebraConstants, V4Constants
from swapcli.state.discovery.pool_discovery import (
    FactoryPools,
    creation_filter,
    find_factories,
    read_created_pools,
    read_listed_pools,
    read_pool_lists,
)
from swapcli.state.rpc.log_scan import scan_logs
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.testing.evm import DEPLOYER, Chain
from tests.chain.node.evm_node import BLOCK, EvmNode, packed_reader
from tests.chain.node.factories import ALGEBRA, SLIPSTREAM, STABLE, V2, V3, V4, VOLATILE
from tests.contracts.evm import compile_solidity, load_artifact
from tests.families.balancer.test_weighted_differential import Balancer, random_pool
from tests.support.outside_ids import topic_of, v4_id

INITIALIZE, POOL_REGISTERED, POOL, POOL_CREATED_SLIPSTREAM, CUSTOM_POOL = (
    topic_of(signature)
    for signature in (
        KINDS[ContractKind.UNISWAP_V4].created[0],
        KINDS["balancer_v2"].created[0],
        KINDS[ContractKind.ALGEBRA].created[0],
        KINDS[ContractKind.UNISWAP_V3].created[1],
        KINDS[ContractKind.ALGEBRA].created[1],
    )
)
WEIGHTED = ProtocolInfo(8, "weighted", "Weighted", "weighted")
CURVE = ProtocolInfo(9, "curve", "Curve", "stableswap")
UNKNOWN = ProtocolInfo(10, "unknown", "Unknown")
WETH = "0x" + "ee" * 20

_V3 = "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"
_V3_POOL = "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"
_V4 = "@uniswap/v4-core/out/PoolManager.sol/PoolManager.json"
_SOLIDLY = "sphere-mezo-solidity-files/domains/aerodrome/contracts"


class Scene:
    """A chain with tokens; `record_events` adds its events to the node."""

    def __init__(self, chain: Chain | None = None) -> None:
        self.chain = chain or Chain()
        self.node = EvmNode(self.chain)
        kit = compile_solidity("kit.sol")
        found = (self.chain.deploy(kit["Token"], places).address for places in (18, 6, 8, 18))
        self.tokens = sorted(found, key=lambda address: int(address, 16))

    @property
    def view(self) -> MulticallReader:
        return packed_reader(self.node)

    def record_events(self, result: object) -> None:
        """Add the events of the last transaction to the node."""
        del result
        number = len(self.node.emitted_logs) + 1
        for position, (address, topics, content) in enumerate(self.chain.logs):
            self.node.emitted_logs.append(Log(address, tuple(topics), content, number, position))

    def created(self, *found: Factory, wrapped: str | None = WETH) -> list[PoolRef | SkippedItem]:
        query = creation_filter(found, 0, 10**6)
        assert query is not None
        logs = [log for part in scan_logs(self.node, query) for log in part.logs]
        return list(read_created_pools(self.view, {home.address: home for home in found}, logs, wrapped))

    def known(self) -> dict[str, Token]:
        return {address: Token(address, "T", "T", 18) for address in (*self.tokens, WETH)}


@pytest.fixture
def scene() -> Scene:
    return Scene()


def read(scene: Scene, places: Sequence[PoolRef | SkippedItem]) -> list[object]:
    whole = [with_decimals(place, scene.known()) for place in places if isinstance(place, PoolRef)]
    return list(load_pools(scene.view, [place for place in whole if isinstance(place, PoolRef)]))


def test_all_pairs_of_a_factory_are_found_and_read(scene: Scene) -> None:
    factory = scene.chain.deploy(load_artifact("@uniswap/v2-core/build/UniswapV2Factory.json"), DEPLOYER)
    a, b, c, _ = scene.tokens
    pairs = [factory.send("createPair", *pair)[0] for pair in ((a, b), (c, a), (b, c))]
    home = Factory(factory.address, ContractKind.UNISWAP_V2, (V2,), fee_ppm=3_000)
    (listing,) = read_pool_lists(scene.view, [home])
    assert isinstance(listing, FactoryPools)
    assert (listing.factory, listing.length) == (home, 3)
    found = list(read_listed_pools(scene.view, listing, 0, 99))
    assert [place.key for place in found] == pairs
    assert found[1] == PoolRef(pairs[1], "v2", "constant_product", ContractKind.UNISWAP_V2, (a, c), (), 3_000)
    assert list(read_listed_pools(scene.view, listing, 1, 2)) == [found[1]]
    assert [str(type(pool).__name__) for pool in read(scene, found)] == ["ConstantProduct"] * 3


def test_stable_and_volatile_pairs_of_a_factory_differ(scene: Scene) -> None:
    pool = compile_solidity(f"{_SOLIDLY}/Pool.sol")["Pool"]
    factory = scene.chain.deploy(
        compile_solidity(f"{_SOLIDLY}/factories/PoolFactory.sol")["PoolFactory"], scene.chain.deploy(pool).address
    )
    a, b, _, _ = scene.tokens
    for stable in (True, False):
        factory.send("createPool(address,address,bool)", a, b, stable)
    home = Factory(factory.address, ContractKind.SOLIDLY, (VOLATILE, STABLE))
    (listing,) = read_pool_lists(scene.view, [home])
    assert isinstance(listing, FactoryPools)
    assert (listing.factory, listing.length) == (home, 2)
    found = list(read_listed_pools(scene.view, listing, 0, 2))
    assert [place.protocol for place in found if isinstance(place, PoolRef)] == ["stable", "volatile"]
    pools = read(scene, found)
    assert [getattr(pool, "family", None) for pool in pools] == ["solidly_stable", "constant_product"]
    assert [getattr(pool, "fee_ppm", None) for pool in pools] == [500, 3_000]
    skipped, found_ref = read_listed_pools(
        scene.view, listing._replace(factory=home._replace(protocols=(VOLATILE,))), 0, 2
    )
    assert isinstance(skipped, SkippedItem)
    assert skipped.reason.endswith("the catalogue has no protocol for it")
    assert found_ref == found[1]


def test_pool_lists_of_many_factories_take_one_round(scene: Scene) -> None:
    factory = scene.chain.deploy(load_artifact("@uniswap/v2-core/build/UniswapV2Factory.json"), DEPLOYER)
    good, bad = (Factory(address, ContractKind.UNISWAP_V2, (V2,)) for address in (factory.address, scene.tokens[0]))
    found, skipped, again = read_pool_lists(MulticallReader(scene.node, BLOCK, None), [good, bad, good])
    assert found == again == FactoryPools(good, 0, "allPairs(uint256)")
    assert skipped == SkippedItem(bad.address, f"{bad.address}: the factory keeps no list of its pools")
    assert scene.node.batch_sizes == [6]


def test_uniswap_v3_pools_are_found_by_factory_events(scene: Scene) -> None:
    factory = scene.chain.deploy(load_artifact(_V3))
    a, b, c, _ = scene.tokens
    for first, second, fee in ((a, b, 500), (c, b, 3_000), (a, c, 10_000)):
        scene.record_events(factory.send("createPool", first, second, fee))
    found = scene.created(Factory(factory.address, ContractKind.UNISWAP_V3, (V3,)))
    places = [place for place in found if isinstance(place, PoolRef)]
    assert [(place.tokens, place.fee_ppm, place.constants_as(TickConstants).tick_spacing) for place in places] == [
        ((a, b), 500, 10),
        ((b, c), 3_000, 60),
        ((a, c), 10_000, 200),
    ]
    for place in places:
        pool = scene.chain.at(place.address, load_artifact(_V3_POOL))
        assert pool.call("token0") == (place.tokens[0],)
        pool.send("initialize", sqrt_ratio_at_tick(7))
    assert all(isinstance(pool, Concentrated) for pool in read(scene, places))


def test_uniswap_v4_pools_are_found_by_manager_events(scene: Scene) -> None:
    manager = scene.chain.deploy(load_artifact(_V4), DEPLOYER)
    a, b, _, _ = scene.tokens
    for first, second, fee, spacing in ((a, b, 500, 10), (ZERO_ADDRESS, a, 3_000, 60)):
        scene.record_events(
            manager.send("initialize", (first, second, fee, spacing, ZERO_ADDRESS), sqrt_ratio_at_tick(5))
        )
    home = Factory(manager.address, ContractKind.UNISWAP_V4, (V4,))
    plain, native = scene.created(home)
    assert plain == PoolRef(
        manager.address,
        "v4",
        "concentrated",
        ContractKind.UNISWAP_V4,
        (a, b),
        (),
        500,
        V4Constants(v4_id(a, b, 500, 10), 10),
        LastTicks(5),
    )
    assert isinstance(native, PoolRef)
    assert (native.tokens, native.constants_as(V4Constants).is_native, native.key) == (
        (WETH, a),
        True,
        v4_id(ZERO_ADDRESS, a, 3_000, 60),
    )
    assert [type(pool).__name__ for pool in read(scene, [plain, native])] == ["Concentrated"] * 2
    unwrapped = scene.created(home, wrapped=None)
    assert unwrapped[0] == plain
    assert isinstance(unwrapped[1], SkippedItem)


@pytest.mark.parametrize(
    ("fee", "hooks", "reason"),
    [
        (500, "0x" + "12" * 19 + "80", f"hooks: 0x{'12' * 19}80 has permissions ("),
        (DYNAMIC_FEE, ZERO_ADDRESS, f"hooks: no pool can have {ZERO_ADDRESS}"),
    ],
)
def test_unsupported_uniswap_v4_pools_are_skipped_with_a_reason(
    scene: Scene, fee: int, hooks: str, reason: str
) -> None:
    manager, pool_id = "0x" + "44" * 20, "0x" + "55" * 32
    scene.node.emitted_logs.append(initialize_event(scene, manager, pool_id, fee, hooks))
    (skipped,) = scene.created(Factory(manager, ContractKind.UNISWAP_V4, (V4,)))
    assert isinstance(skipped, SkippedItem)
    assert skipped.key == pool_id
    assert skipped.reason.startswith(reason)


@pytest.mark.parametrize(("fee", "fee_ppm", "is_dynamic"), [(10_000, 10_000, False), (DYNAMIC_FEE, 0, True)])
def test_the_hook_of_a_uniswap_v4_pool_decides_its_protocol(
    scene: Scene, fee: int, fee_ppm: int, is_dynamic: bool
) -> None:
    manager, known, other = "0x" + "44" * 20, "0x" + "12" * 18 + "1040", "0x" + "13" * 18 + "1040"
    launcher = ProtocolInfo(51, "launcher", "Launcher", "concentrated", V4.extra_keys, contracts=V4.contracts)
    for number, hooks in enumerate((known, other)):
        scene.node.emitted_logs.append(initialize_event(scene, manager, f"0x{number:064x}", fee, hooks))
    home = Factory(manager, ContractKind.UNISWAP_V4, (V4,), protocols_by_hook={known: launcher})
    refs = [ref for ref in scene.created(home) if isinstance(ref, PoolRef)]
    assert [(ref.protocol, ref.constants_as(V4Constants).hooks) for ref in refs] == [("launcher", known), ("v4", other)]
    assert {(ref.fee_ppm, ref.constants_as(V4Constants).has_dynamic_fee) for ref in refs} == {(fee_ppm, is_dynamic)}
    assert home.all_protocols == (V4, launcher)


def initialize_event(scene: Scene, manager: str, pool_id: str, fee: int, hooks: str) -> Log:
    content = encode(["uint24", "int24", "address", "uint160", "int24"], [fee, 60, hooks, 2**96, 0])
    topics = (INITIALIZE, pool_id, topic(scene.tokens[0]), topic(scene.tokens[1]))
    return Log(manager, topics, content, len(scene.node.emitted_logs) + 1, 0)


def test_events_of_slipstream_and_algebra_are_decoded(scene: Scene) -> None:
    a, b, pool, other = scene.tokens
    homes_of = (
        Factory("0x" + "11" * 20, ContractKind.UNISWAP_V3, (SLIPSTREAM,)),
        Factory("0x" + "22" * 20, ContractKind.ALGEBRA, (ALGEBRA,)),
    )
    spacing = "0x" + (200).to_bytes(32).hex()
    custom, deployer = "0x" + "c5" * 20, "0x" + "de" * 20
    made_by_deployer = AlgebraConstants(deployer=deployer)
    scene.node.emitted_logs = [
        Log(
            homes_of[0].address,
            (POOL_CREATED_SLIPSTREAM, topic(a), topic(b), spacing),
            encode(["address"], [pool]),
            1,
            0,
        ),
        Log(homes_of[1].address, (POOL, topic(a), topic(b)), encode(["address"], [other]), 2, 0),
        Log(
            homes_of[1].address, (CUSTOM_POOL, topic(deployer), topic(a), topic(b)), encode(["address"], [custom]), 2, 1
        ),
        Log("0x" + "33" * 20, (POOL, topic(a), topic(b)), encode(["address"], [other]), 3, 0),
    ]
    assert scene.created(*homes_of) == [
        PoolRef(pool, "slipstream", "concentrated", ContractKind.UNISWAP_V3, (a, b), (), constants=TickConstants(200)),
        PoolRef(other, "algebra", "concentrated", ContractKind.ALGEBRA, (a, b), (), constants=AlgebraConstants()),
        PoolRef(custom, "algebra", "concentrated", ContractKind.ALGEBRA, (a, b), (), constants=made_by_deployer),
    ]


def test_weighted_pools_are_found_among_vault_registrations() -> None:
    rng = Random("registered")
    balancer = Balancer()
    scene = Scene(balancer.chain)
    known = random_pool(rng, balancer, "v3")
    contract = balancer.deploy("v3", list(known.tokens), list(known.weights), known.swap_fee)
    scene.record_events(None)
    vault = balancer.vault.address
    (pool_id,) = contract.call("getPoolId")
    other = Log(vault, (POOL_REGISTERED, "0x" + "99" * 32, topic(scene.tokens[0])), bytes(32), 9, 0)
    scene.node.emitted_logs.append(other)
    found, skipped = scene.created(Factory(vault, "balancer_v2", (WEIGHTED,)))
    assert found == PoolRef(
        contract.address,
        "weighted",
        "weighted",
        "balancer_v2",
        known.tokens,
        (),
        constants=BalancerV2Constants(vault, f"0x{pool_id.hex()}"),
    )
    assert skipped == SkippedItem(
        "0x" + "99" * 32, f"{scene.tokens[0]}: neither a weighted nor a stable pool, nor an E-CLP"
    )


@pytest.mark.parametrize(
    ("kind", "signature"), [(kind, signature) for kind, traits in KINDS.items() for signature in traits.created]
)
def test_forged_events_are_skipped(scene: Scene, kind: str, signature: str) -> None:
    rng = Random(signature)
    home = Factory("0x" + "11" * 20, kind, (V3,))
    for topics in range(4):
        words = tuple(f"0x{rng.randbytes(32).hex()}" for _ in range(topics))
        scene.node.emitted_logs = [
            Log(home.address, (topic_of(signature), *words), rng.randbytes(rng.randint(0, 200)), 1, 0)
        ]
        (skipped,) = scene.created(home)
        assert isinstance(skipped, SkippedItem)


def test_a_pool_ref_needs_the_decimals_of_all_its_tokens(scene: Scene) -> None:
    a, b, _, _ = scene.tokens
    place = PoolRef("0x" + "01" * 20, "v2", "constant_product", ContractKind.UNISWAP_V2, (a, b), ())
    tokens = {a: Token(a, "A", "A", 6), b: Token(b, "B", "B", 8)}
    assert with_decimals(place, tokens) == place._replace(decimals=(6, 8))
    del tokens[b]
    assert with_decimals(place, tokens) == SkippedItem(place.key, f"its token {b} is unknown or was skipped")


def test_base_has_a_factory_or_a_reason_for_each_protocol() -> None:
    found, skipped = find_factories(find_network("base"))
    by_protocol = {protocol.amm_name: home for home in found for protocol in home.protocols}
    assert by_protocol["uniswapV2"].fee_ppm == 3_000
    assert by_protocol["aerodromeV2Classic"] == by_protocol["aerodromeV2Stable"]
    assert by_protocol["uniswapV4"].kind == ContractKind.UNISWAP_V4
    assert by_protocol["balancerV2Weighted"].kind == "balancer_v2"
    assert sum("aerodromeV3" in {each.amm_name for each in home.protocols} for home in found) == 2
    for name in ("curveFi", "curveFiStableNG", "curveFiTwoCrypto", "curveFiTriCrypto"):
        assert by_protocol[name].is_enumerable
    assert "equalizerV3" not in {each.key for each in skipped}
    zora = "0xd61a675f8a0c67a73dc3b54fb7318b4d91409040"
    assert by_protocol["uniswapV4"].protocols_by_hook[zora].amm_name == "uniswapV4Zora"
    only, none = find_factories(find_network("base"), ["uniswapV3"])
    assert [protocol.amm_name for home in only for protocol in home.protocols] == ["uniswapV3"]
    assert none == []


def test_a_factory_with_an_unknown_fee_is_skipped_with_a_reason() -> None:
    base = find_network("base")
    bare = tuple(replace_fees(each) for each in base.deployments)
    _, skipped = find_factories(base._replace(deployments=bare), ["uniswapV2"])
    assert skipped == [SkippedItem("uniswapV2", "its fee is not in the catalogue")]


def replace_fees(deployment: Deployment) -> Deployment:
    return deployment._replace(fee_tiers={})


def topic(address: str) -> str:
    return f"0x{address[2:]:0>64}"
