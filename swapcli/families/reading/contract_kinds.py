"""The kinds of contracts that pools are read from: one row for each, with all that differs between them.

To add a kind, add a member of `ContractKind` and a row. Its reader is the module `loader` of this package, which has

* `load(ref)`, which reads a pool;
* `read_list(factory)` if a factory has its whole list in one answer: reads the addresses of its pools;
* `read_constants(factory, address)` if a factory lists pools of the kind or finds them by their tokens: reads a
  reference of a pool;
* `read_created(factory, log, wrapped_native)` if events announce pools: reads a reference of a new pool;
* `complete_ref(ref, pool)`, optional: adds to a reference what the state of the known pool has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.errors import ConfigError
from swapcli.core.model.contract_kind import ContractKind as ContractKind
from swapcli.core.model.network import Kind, Network, ProtocolInfo
from swapcli.core.networks.address import keccak256
from swapcli.core.networks.pool_addresses import hash_ekubo_key, is_solidly
from swapcli.core.records import NamedTuple
from swapcli.families import FAMILIES
from swapcli.families.reading.calls import Log
from swapcli.families.reading.pool_constants import (
    AlgebraConstants,
    BalancerV2Constants,
    BalancerV3Constants,
    CloberConstants,
    CryptoSwapConstants,
    EkuboConstants,
    EkuboEvmConstants,
    FactoryConstants,
    FluidConstants,
    HanjiConstants,
    InfinityConstants,
    KuruConstants,
    MaverickConstants,
    MetapoolConstants,
    PoolConstants,
    RingConstants,
    SampledConstants,
    TickConstants,
    V4Constants,
)
from swapcli.families.reading.starknet_calls import selector

KeyOfEvent = Callable[[Log], str]
"""Returns the key of the pool that an event is about."""


def key_of_emitter(log: Log) -> str:
    """Return the address of the contract that emitted an event."""
    return log.address


def first_topic(log: Log) -> str:
    """Return the first indexed value: the id of a pool in a contract of many."""
    return log.topics[1]


def address_in_first_topic(log: Log) -> str:
    """Return the last 20 bytes of the first indexed value."""
    return f"0x{log.topics[1][-40:]}"


def clober_book_in_first_topic(log: Log) -> str:
    """Return the id of a book of Clober V2: the first 192 bits of an order's id, as 32 bytes."""
    return f"0x{0:016x}{log.topics[1][2:50]}"


def balancer_id_in_first_topic(log: Log) -> str:
    """Return the pool's address, with which Balancer V2's ids begin."""
    return log.topics[1][:42]


def ekubo_key_in_data(log: Log) -> str:
    """Return the id of an Ekubo pool: the hash of the PoolKey, which follows the locker in the data of its events."""
    return hash_ekubo_key(log.data[WORD : 6 * WORD])


class KindTraits(NamedTuple):
    """How the pools of a kind are found, read and followed.

    `families` are the pool families that a contract of the kind can have. `roles` are the roles of the contracts that
    create or register them, in the deployments of the network definitions. `list_functions` are pairs of functions of
    such a contract, the length of its list of pools and an entry; one pair must work. `created` are the events that
    announce a pool. `events` are those that signal a change of a pool's state; without any, pools are read at every
    block. Events are written as their signatures, those of Starknet as their names.
    """

    families: tuple[str, ...]
    loader: str
    events: Mapping[str, KeyOfEvent] = MappingProxyType({})
    roles: tuple[str, ...] = ("factory", "factory_2")
    list_functions: tuple[tuple[str, str], ...] = ()
    created: tuple[str, ...] = ()
    has_constant_fee: bool = False
    """Whether the code of the contract has the fee, so that only the catalogue knows it."""
    has_stored_state: bool = True
    """Whether a store has more of its pools than what never changes."""
    is_in_vault: bool = False
    """Whether a vault at another address than the pool's emits its events."""
    has_whole_list: bool = False
    """Whether the reader reads a factory's list of pools as a whole."""
    network_kind: Kind = Kind.EVM
    is_keyed_by_id: bool = False
    """Whether one contract has all pools, which differ by their ids."""
    constants: type[PoolConstants] | None = None
    """The record of what never changes about a pool, besides its tokens and fee."""
    is_pool_itself: bool = False
    """Whether the contracts in the deployments are the pools, which nothing lists or announces."""
    unannounced: str = ""
    """What changes the swaps of a pool without an event, for kinds without `events`."""
    needs_lens: bool = False
    """Whether another contract reads its pools: the role "lens" of the deployment, the field `lens` of `constants`."""


_PAIR_LISTS: Final = (("allPairsLength()", "allPairs(uint256)"), ("allPoolsLength()", "allPools(uint256)"))
_TICK_EVENTS: Final = dict.fromkeys(
    (
        "Initialize(uint160,int24)",
        "Swap(address,address,int256,int256,uint160,uint128,int24)",
        "Mint(address,address,int24,int24,uint128,uint256,uint256)",
        "Burn(address,int24,int24,uint128,uint256,uint256)",
    ),
    key_of_emitter,
)
_CURVE_LISTS: Final = (("pool_count()", "pool_list(uint256)"),)
_CRYPTO_EVENTS: Final = dict.fromkeys(
    (
        "TokenExchange(address,uint256,uint256,uint256,uint256,uint256,uint256)",
        "AddLiquidity(address,uint256[2],uint256,uint256,uint256)",
        "AddLiquidity(address,uint256[3],uint256,uint256,uint256)",
        "RemoveLiquidity(address,uint256[2],uint256)",
        "RemoveLiquidity(address,uint256[3],uint256)",
        "RemoveLiquidityOne(address,uint256,uint256,uint256,uint256,uint256)",
        # With and without the time of another average.
        "NewParameters(uint256,uint256,uint256,uint256,uint256,uint256,uint256)",
        "NewParameters(uint256,uint256,uint256,uint256,uint256,uint256)",
        "RampAgamma(uint256,uint256,uint256,uint256,uint256,uint256)",
        "StopRampA(uint256,uint256,uint256)",
        "ClaimAdminFee(address,uint256[2])",
        "ClaimAdminFee(address,uint256[3])",
        "ClaimAdminFee(address,uint256)",
    ),
    key_of_emitter,
)
_VAULT_V2_EVENTS: Final = dict.fromkeys(
    (
        "Swap(bytes32,address,address,uint256,uint256)",
        "PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])",
        "PoolBalanceManaged(bytes32,address,address,int256,int256)",
    ),
    balancer_id_in_first_topic,
)
_INFINITY_FEE_EVENTS: Final = dict.fromkeys(
    ("ProtocolFeeUpdated(bytes32,uint24)", "DynamicLPFeeUpdated(bytes32,uint24)"), first_topic
)

_STARKNET_PAIR: Final = KindTraits(
    ("constant_product",),
    "uniswap.jediswap",
    dict.fromkeys(("Sync", "Swap", "Mint", "Burn"), key_of_emitter),
    has_whole_list=True,
    network_kind=Kind.STARKNET,
)

_VAULT_V3_EVENTS: Final = dict.fromkeys(
    (
        "Swap(address,address,address,uint256,uint256,uint256,uint256)",
        "LiquidityAdded(address,address,uint8,uint256,uint256[],uint256[])",
        "LiquidityRemoved(address,address,uint8,uint256,uint256[],uint256[])",
        "SwapFeePercentageChanged(address,uint256)",
        "AggregateSwapFeePercentageChanged(address,uint256)",
        "AggregateYieldFeePercentageChanged(address,uint256)",
        "PoolPausedStateChanged(address,bool)",
        "PoolRecoveryModeStateChanged(address,bool)",
        "PoolInitialized(address)",
    ),
    address_in_first_topic,
)
_HOOKS_CONFIG: Final = f"({'bool,' * 10}address)"
_POOL_REGISTERED_V3: Final = (
    "PoolRegistered(address,address,(address,uint8,address,bool)[],uint256,uint32,"
    f"(address,address,address),{_HOOKS_CONFIG},(bool,bool,bool,bool))"
)

KINDS: Final[Mapping[ContractKind, KindTraits]] = {
    ContractKind.UNISWAP_V2: KindTraits(
        ("constant_product",),
        "uniswap.uniswap_v2",
        {"Sync(uint112,uint112)": key_of_emitter},
        list_functions=_PAIR_LISTS,
        has_constant_fee=True,
    ),
    ContractKind.SOLIDLY: KindTraits(
        ("constant_product", "solidly_stable"),
        "solidly.solidly",
        {"Sync(uint256,uint256)": key_of_emitter, "SetCustomFee(address,uint256)": address_in_first_topic},
        list_functions=_PAIR_LISTS,
        constants=FactoryConstants,
    ),
    ContractKind.SOLIDLY_V1: KindTraits(
        ("constant_product", "solidly_stable"),
        "solidly.solidly_v1",
        {"Sync(uint256,uint256)": key_of_emitter},
        list_functions=_PAIR_LISTS,
        constants=FactoryConstants,
    ),
    ContractKind.SOLIDLY_V3: KindTraits(
        ("concentrated",),
        "uniswap.solidly_v3",
        {**_TICK_EVENTS, "SetFee(uint24,uint24)": key_of_emitter},
        created=("PoolCreated(address,address,uint24,int24,address)",),
        constants=TickConstants,
    ),
    ContractKind.UNISWAP_V3: KindTraits(
        ("concentrated",),
        "uniswap.uniswap_v3",
        {
            **_TICK_EVENTS,
            # PancakeSwap's.
            "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)": key_of_emitter,
            "CustomFeeSet(address,uint24)": address_in_first_topic,
        },
        # Uniswap's, and Slipstream's, which has no fee.
        created=("PoolCreated(address,address,uint24,int24,address)", "PoolCreated(address,address,int24,address)"),
        constants=TickConstants,
    ),
    ContractKind.RAMSES_V3: KindTraits(
        ("concentrated",),
        "uniswap.ramses_v3",
        {
            **_TICK_EVENTS,
            "FeeAdjustment(uint24,uint24)": key_of_emitter,
            # Of pools without a dynamic fee.
            "Mint(address,address,uint256,int24,int24,uint128,uint256,uint256)": key_of_emitter,
        },
        created=("PoolCreated(address,address,uint24,int24,address)", "PoolCreated(address,address,int24,address)"),
        constants=TickConstants,
    ),
    ContractKind.ALGEBRA: KindTraits(
        ("concentrated",),
        "uniswap.algebra",
        {
            **_TICK_EVENTS,
            # Of the releases from 1.2.0 on, with the plugin's fees, for which 1.2.10 has events besides the usual ones.
            "Swap(address,address,int256,int256,uint160,uint128,int24,uint24,uint24)": key_of_emitter,
            "Burn(address,int24,int24,uint128,uint256,uint256,uint24)": key_of_emitter,
            "Fee(uint16)": key_of_emitter,
            "TickSpacing(int24)": key_of_emitter,
            "Plugin(address)": key_of_emitter,
            "PluginConfig(uint8)": key_of_emitter,
        },
        created=("Pool(address,address,address)", "CustomPool(address,address,address,address)"),
        constants=AlgebraConstants,
    ),
    ContractKind.UNISWAP_V4: KindTraits(
        ("concentrated", "uniswap_v4_hooked"),
        "uniswap.uniswap_v4",
        {
            "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)": first_topic,
            "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)": first_topic,
            "ProtocolFeeUpdated(bytes32,uint24)": first_topic,
        },
        roles=("pool_manager",),
        created=("Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)",),
        is_keyed_by_id=True,
        constants=V4Constants,
    ),
    ContractKind.INFINITY_CL: KindTraits(
        ("concentrated",),
        "uniswap.infinity_cl",
        {
            "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24,uint16)": first_topic,
            "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)": first_topic,
            **_INFINITY_FEE_EVENTS,
        },
        roles=("cl_pool_manager",),
        created=("Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)",),
        is_keyed_by_id=True,
        constants=InfinityConstants,
    ),
    ContractKind.INFINITY_BIN: KindTraits(
        ("infinity_bin",),
        "bins.infinity_bin",
        {
            "Swap(bytes32,address,int128,int128,uint24,uint24,uint16)": first_topic,
            "Mint(bytes32,address,uint256[],bytes32,bytes32[],bytes32,bytes32)": first_topic,
            "Burn(bytes32,address,uint256[],bytes32,bytes32[])": first_topic,
            "Donate(bytes32,address,int128,int128,uint24)": first_topic,
            **_INFINITY_FEE_EVENTS,
        },
        roles=("bin_pool_manager",),
        created=("Initialize(bytes32,address,address,address,uint24,bytes32,uint24)",),
        is_keyed_by_id=True,
        constants=InfinityConstants,
    ),
    ContractKind.LIQUIDITY_BOOK: KindTraits(
        ("liquidity_book",),
        "bins.liquidity_book",
        dict.fromkeys(
            (
                "Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)",
                "DepositedToBins(address,address,uint256[],bytes32[])",
                "WithdrawnFromBins(address,address,uint256[],bytes32[])",
                "FlashLoan(address,address,uint24,bytes32,bytes32,bytes32)",
                "StaticFeeParametersSet(address,uint16,uint16,uint16,uint16,uint24,uint16,uint24)",
                "HooksParametersSet(address,bytes32)",
                "ForcedDecay(address,uint24,uint24)",
            ),
            key_of_emitter,
        ),
        list_functions=(("getNumberOfLBPairs()", "getLBPairAtIndex(uint256)"),),
    ),
    ContractKind.CLOBER_V2: KindTraits(
        ("clober_v2",),
        "order_books.clober_v2",
        {
            "Make(uint192,address,int24,uint256,uint64,address)": first_topic,
            "Take(uint192,address,int24,uint64)": first_topic,
            "Cancel(uint256,uint64)": clober_book_in_first_topic,
        },
        roles=("book_manager",),
        created=("Open(uint192,address,address,uint64,uint24,uint24,address)",),
        is_keyed_by_id=True,
        constants=CloberConstants,
        needs_lens=True,
    ),
    ContractKind.KURU: KindTraits(
        ("kuru",),
        "order_books.kuru",
        dict.fromkeys(
            (
                "OrderCreated(uint40,address,uint96,uint32,bool)",
                "FlipOrderCreated(uint40,uint40,address,uint96,uint32,uint32,bool)",
                "FlippedOrderCreated(uint40,uint40,address,uint96,uint32,uint32,bool)",
                "FlipOrderUpdated(uint40,uint96)",
                "FlipOrdersCanceled(uint40[],address)",
                "OrderCanceled(uint40,address,uint32,uint96,bool)",
                "OrdersCanceled(uint40[],address)",
                "Trade(uint40,address,bool,uint256,uint96,address,address,uint96)",
                "VaultParamsUpdated(uint96,uint96,uint96,uint96,uint256,uint256)",
                "MarketStateUpdated(uint8,uint8)",
            ),
            key_of_emitter,
        ),
        created=(
            "MarketRegistered(address,address,address,address,uint32,uint96,uint32,uint96,uint96,uint256,uint256,uint96)",
        ),
        constants=KuruConstants,
    ),
    ContractKind.HANJI: KindTraits(
        ("hanji",),
        "order_books.hanji",
        created=(
            "OnchainCLOBCreated(address,address,address,address,bool,uint256,uint256,address,address,address,bool,uint64,uint64,uint64,uint64)",
        ),
        constants=HanjiConstants,
        needs_lens=True,
        unannounced="quotes of a market maker follow an oracle",
    ),
    ContractKind.STABLESWAP: KindTraits(
        ("stableswap", "curve_meta"),
        "curve.stableswap",
        list_functions=_CURVE_LISTS,
        constants=MetapoolConstants,
        unannounced="rates of its tokens, and versions whose events differ",
    ),
    ContractKind.CRYPTOSWAP: KindTraits(
        ("cryptoswap",), "curve.cryptoswap", _CRYPTO_EVENTS, list_functions=_CURVE_LISTS, constants=CryptoSwapConstants
    ),
    ContractKind.BALANCER_V2: KindTraits(
        ("weighted", "balancer_v2_stable", "balancer_v2_composable", "balancer_v2_eclp"),
        "balancer.balancer_v2",
        {
            **_VAULT_V2_EVENTS,
            **dict.fromkeys(
                (
                    "SwapFeePercentageChanged(uint256)",
                    "PausedStateChanged(bool)",
                    "RecoveryModeStateChanged(bool)",
                    "AmpUpdateStarted(uint256,uint256,uint256,uint256)",
                    "AmpUpdateStopped(uint256)",
                    "TokenRateProviderSet(uint256,address,uint256)",
                    "PriceRateProviderSet(address,address,uint256)",
                    "ProtocolFeePercentageCacheUpdated(uint256,uint256)",
                ),
                key_of_emitter,
            ),
        },
        roles=("vault",),
        created=("PoolRegistered(bytes32,address,uint8)",),
        is_in_vault=True,
        constants=BalancerV2Constants,
    ),
    ContractKind.BALANCER_V3: KindTraits(
        (
            "balancer_v3_weighted",
            "balancer_v3_stable",
            "balancer_v3_stable_surge",
            "balancer_v3_boosted",
            "balancer_v3_eclp",
            "balancer_v3_2clp",
            "balancer_v3_reclamm",
            "balancer_v3_lbp",
        ),
        "balancer.balancer_v3",
        {
            **_VAULT_V3_EVENTS,
            "AmpUpdateStarted(uint256,uint256,uint256,uint256)": key_of_emitter,
            "AmpUpdateStopped(uint256)": key_of_emitter,
        },
        roles=("vault",),
        created=(_POOL_REGISTERED_V3,),
        is_in_vault=True,
        constants=BalancerV3Constants,
    ),
    ContractKind.DODO_V2: KindTraits(
        ("dodo_v2",),
        "dodo.dodo_v2",
        created=tuple(f"New{kind}(address,address,address,address)" for kind in ("DVM", "DPP", "DSP", "GSP")),
        unannounced="prices and fees that owners set, and balances that anyone can have counted",
    ),
    ContractKind.IZISWAP: KindTraits(
        ("iziswap",),
        "iziswap.iziswap",
        dict.fromkeys(
            (
                "Swap(address,address,uint24,bool,uint256,uint256,int24)",
                "Mint(address,address,int24,int24,uint128,uint256,uint256)",
                "Burn(address,int24,int24,uint128,uint256,uint256)",
                "AddLimitOrder(address,uint128,uint128,int24,uint128,uint128,bool)",
                "DecLimitOrder(address,uint128,int24,uint128,uint128,bool)",
            ),
            key_of_emitter,
        ),
        created=("NewPool(address,address,uint24,uint24,address)",),
        constants=TickConstants,
    ),
    ContractKind.MAVERICK_V2: KindTraits(
        ("maverick_v2",),
        "maverick.maverick_v2",
        dict.fromkeys(
            (
                "PoolSwap(address,address,(uint256,bool,bool,int32),uint256,uint256)",
                "PoolAddLiquidity(address,address,uint256,(uint8,int32[],uint128[]),uint256,uint256,uint32[])",
                "PoolRemoveLiquidity(address,address,uint256,(uint32[],uint128[]),uint256,uint256)",
                "PoolMigrateBinsUpStack(address,uint32,uint32)",
                "PoolSetProtocolFeeRatio(uint256)",
            ),
            key_of_emitter,
        ),
        has_whole_list=True,
        constants=MaverickConstants,
    ),
    ContractKind.SMARDEX: KindTraits(
        ("smardex",),
        "smardex.smardex",
        dict.fromkeys(
            ("Sync(uint256,uint256,uint256,uint256,uint256,uint256)", "FeesChanged(uint256,uint256)"), key_of_emitter
        ),
        list_functions=_PAIR_LISTS,
        constants=FactoryConstants,
    ),
    ContractKind.FLUID_T1: KindTraits(
        ("fluid_t1",),
        "fluid.fluid_t1",
        roles=("reserves_resolver",),
        has_whole_list=True,
        constants=FluidConstants,
        unannounced="interest and limits that grow in another contract",
    ),
    ContractKind.PSM: KindTraits(
        ("psm",),
        "fixed_rate.psm",
        roles=("psm",),
        is_pool_itself=True,
        unannounced="a rate that grows with time",
    ),
    ContractKind.VAULT: KindTraits(
        ("vault",),
        "fixed_rate.vault",
        roles=("share_vault",),
        is_pool_itself=True,
        unannounced="the price of shares",
    ),
    ContractKind.BRIDGE: KindTraits(
        ("bridge",),
        "fixed_rate.bridge",
        roles=("bridge",),
        is_pool_itself=True,
        unannounced="limits and the balances of another contract",
    ),
    ContractKind.TOKEN_MIGRATION: KindTraits(
        ("bridge",),
        "fixed_rate.token_migration",
        roles=("bridge",),
        network_kind=Kind.STARKNET,
        is_pool_itself=True,
        unannounced="the balance and the allowance of the account that supplies the tokens",
    ),
    ContractKind.JEDISWAP: _STARKNET_PAIR._replace(loader="uniswap.jediswap", has_constant_fee=True),
    ContractKind.TENKSWAP: _STARKNET_PAIR._replace(loader="uniswap.tenkswap", has_constant_fee=True),
    ContractKind.SITHSWAP: _STARKNET_PAIR._replace(
        families=("constant_product", "solidly_stable"), loader="solidly.sithswap"
    ),
    ContractKind.STARKDEFI: _STARKNET_PAIR._replace(
        families=("constant_product", "solidly_stable"), loader="solidly.starkdefi", constants=FactoryConstants
    ),
    ContractKind.NOSTRA: _STARKNET_PAIR._replace(loader="uniswap.nostra"),
    ContractKind.JEDISWAP_CL: KindTraits(
        ("concentrated",),
        "uniswap.jediswap_cl",
        dict.fromkeys(("Initialize", "Swap", "Mint", "Burn"), key_of_emitter),
        created=("PoolCreated",),
        network_kind=Kind.STARKNET,
        constants=TickConstants,
    ),
    ContractKind.EKUBO: KindTraits(
        ("ekubo", "ekubo_twamm"),
        "ekubo.ekubo",
        dict.fromkeys(("Swapped", "PositionUpdated"), ekubo_key_in_data),
        roles=("core",),
        created=("PoolInitialized",),
        is_in_vault=True,
        is_keyed_by_id=True,
        network_kind=Kind.STARKNET,
        constants=EkuboConstants,
    ),
    ContractKind.EKUBO_EVM: KindTraits(
        ("ekubo_evm",),
        "ekubo.ekubo_evm",
        roles=("core",),
        created=("PoolInitialized(bytes32,(address,address,bytes32),int32,uint96)",),
        is_keyed_by_id=True,
        constants=EkuboEvmConstants,
        needs_lens=True,
        unannounced="swaps, whose logs have no topic to ask for",
    ),
    ContractKind.GMX_VAULT: KindTraits(
        ("gmx_vault",),
        "gmx.gmx_vault",
        roles=("vault",),
        is_pool_itself=True,
        unannounced="prices of an oracle",
    ),
    ContractKind.VALANTIS_STEX: KindTraits(
        ("valantis_stex",),
        "valantis.valantis_stex",
        roles=("stex",),
        has_whole_list=True,
        unannounced="a rate that grows with time, and balances of other contracts",
    ),
    ContractKind.RING_PAIR: KindTraits(
        ("ring_pair",),
        "uniswap.ring_pair",
        list_functions=_PAIR_LISTS,
        has_constant_fee=True,
        constants=RingConstants,
        unannounced="what wrappers hold, which other pairs change as well",
    ),
    ContractKind.EULER_SWAP: KindTraits(
        ("euler_swap",),
        "euler.euler_swap",
        has_whole_list=True,
        unannounced="interest, limits and cash of its vaults",
    ),
    ContractKind.SAMPLED: KindTraits(
        ("sampled",),
        "sampled.sampled",
        roles=(),
        has_stored_state=False,
        constants=SampledConstants,
        unannounced="prices of the protocol's own",
    ),
}


@lru_cache
def kinds_of_family(family: str, network_kind: Kind = Kind.EVM) -> tuple[ContractKind, ...]:
    """Return the contract kinds of a pool family on networks of a kind; one that is not read from a node has none."""
    of_network = (each for each in KINDS.items() if each[1].network_kind is network_kind)
    return tuple(kind for kind, traits in of_network if family in traits.families)


def contract_kinds(protocol: ProtocolInfo, network: Network) -> tuple[ContractKind, ...]:
    """Return the contract kinds of a protocol's pools; empty if they cannot be read.

    The definition names them (`contracts`) where the family is not enough. Raises `ConfigError` for an unknown name,
    also of the family.
    """
    if protocol.family is not None and protocol.family not in FAMILIES:
        raise _unknown_name(protocol, "family", protocol.family, FAMILIES)
    if protocol.contracts:
        return tuple(_named_kind(name, protocol) for name in protocol.contracts)
    kinds = kinds_of_family(protocol.family or "", network.kind)
    if ContractKind.SOLIDLY in kinds:
        return (ContractKind.SOLIDLY if is_solidly(network, protocol.amm_name) else ContractKind.UNISWAP_V2,)
    if ContractKind.UNISWAP_V3 in kinds:
        # Protocols of concentrated pools differ in the extra data that the router needs.
        return (ContractKind.UNISWAP_V3 if protocol.extra_keys else ContractKind.ALGEBRA,)
    return kinds if len(kinds) == 1 else ()


def _named_kind(name: str, protocol: ProtocolInfo) -> ContractKind:
    try:
        return ContractKind(name)
    except ValueError:
        raise _unknown_name(protocol, "contract kind", name, tuple(ContractKind)) from None


def _unknown_name(protocol: ProtocolInfo, what: str, name: str, known: Sequence[str]) -> ConfigError:
    return ConfigError(
        f'{protocol.amm_name} has the unknown {what} "{name}"',
        hint=did_you_mean(closest_names(name, known)) or f"it is one of {', '.join(known)}",
        details={"protocol": protocol.amm_name, what.split()[-1]: name},
    )


@lru_cache
def topic_of(signature: str) -> str:
    """Return the first topic of an event: the hash of its signature, in hex; on Starknet its lowest 250 bits."""
    if "(" not in signature:
        return f"0x{selector(signature):064x}"
    return f"0x{keccak256(signature.encode()).hex()}"
