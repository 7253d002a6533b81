"""The `FAMILIES` and `KINDS` rows for constant product pairs, concentrated liquidity and similar pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.core.model.network import Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple
from swapcli.families.row import (
    PAIR_LISTS,
    V4_AS_SINGLETON,
    Event,
    ExtraData,
    FamilyRow,
    InfinityConstants,
    KindRow,
    PoolUse,
    RouterEncoding,
    RouterPoolKind,
    SwapAmounts,
    TickConstants,
    address_in_first_topic,
    announces,
    fee_data,
    first_topic,
    infinity_pool_key,
    key_of_emitter,
    of_signs,
    read_words,
    tick_spacing_data,
    two_sided,
    v4_pool_key,
)


class AlgebraConstants(NamedTuple):
    """The constants of an Algebra Integral pool: the quoter of its deployment, and the deployer of a custom pool.

    `has_dynamic_fee` records whether its plugin could set the fee of a swap at the last read.
    """

    quoter: str = ""
    deployer: str = ""
    has_dynamic_fee: bool = False


class V4Constants(NamedTuple):
    """The ID of a Uniswap V4 pool, and its key without the tokens and a constant fee.

    A pool that trades the native token lists it in its wrapped form. For a pool whose hook changes swaps, `hook_rule`
    is the rule in the network's definition, as JSON; `quoter` can confirm it, and `is_quoted` means that the pool can
    be sampled if the rule does not hold.
    """

    pool_id: str = ""
    tick_spacing: int = 0
    hooks: str = ZERO_ADDRESS
    is_native: bool = False
    has_dynamic_fee: bool = False
    hook_rule: str = ""
    quoter: str = ""
    is_quoted: bool = False


class RingConstants(NamedTuple):
    """The constants of a RingSwap pair: the contracts that wrap its tokens."""

    wrappers: tuple[str, ...] = ()


def kind_of_pairs(protocol: ProtocolInfo, network: Network) -> str:
    """Return the contract kind of a protocol's pairs. Solidly pairs are a separate kind, because they compute the
    output themselves."""
    from swapcli.core.networks.pool_addresses import is_solidly

    return "solidly" if is_solidly(network, protocol.amm_name) else "uniswap_v2"


def pair_data(use: PoolUse) -> ExtraData:
    """Return the fee of a pair, because the pair does not expose it. Return nothing if the pair computes the output
    itself."""
    return b"" if use.pool.computes_output else fee_data(use.pool.fee_ppm)


def swap_in_pair(log: Event) -> SwapAmounts:
    """Read the inputs and outputs of both tokens. A flash swap has more than one of each."""
    in0, in1, out0, out1 = read_words(log, 4)
    return two_sided(in0, in1, out0, out1)._replace(names_output=True)


def _swap(log: Event) -> SwapAmounts:
    """Read the amounts from the pool's point of view: what it receives is positive."""
    return _signed(log, 5)


def _swap_in_manager(log: Event) -> SwapAmounts:
    """Read the amounts from the swapper's point of view, and the total fee."""
    amounts = _signed(log, 6, view=-1)
    return amounts._replace(fee_ppm=read_words(log, 6)[5])


def _signed(log: Event, count: int, view: int = 1) -> SwapAmounts:
    words = read_words(log, count)
    amount0, amount1, tick = view * to_signed(words[0]), view * to_signed(words[1]), to_signed(words[4])
    return of_signs(amount0, amount1)._replace(
        state_after={"sqrt_price_x96": words[2], "liquidity": words[3], "tick": tick}
    )


def _kind_of_pair(pool: Pool) -> str:
    return "solidly" if getattr(pool, "is_solidly", False) else "uniswap_v2"


def _kind_of_concentrated_protocol(protocol: ProtocolInfo, network: Network) -> str:
    """Return the kind, based on the extra data that the router needs."""
    del network
    return "uniswap_v3" if protocol.extra_keys else "algebra_integral"


def _kind_of_concentrated(pool: Pool) -> str:
    from swapcli.families.uniswap.concentrated import Concentrated

    assert isinstance(pool, Concentrated)
    if pool.tick_list.parameters:
        return "infinity_cl"
    if pool.tick_list.pool_id:
        return "uniswap_v4"
    return "uniswap_v3" if pool.tick_list.word_ticks else "algebra_integral"


def _concentrated_data(use: PoolUse) -> ExtraData:
    """A protocol known to the network only by its ID is treated as a fork of Uniswap V3."""
    traits = use.pool.api_extra_data()
    if "poolId" in traits:
        return infinity_pool_key(use) if "parameters" in traits else v4_pool_key(use)
    keys = use.protocol.extra_keys if use.protocol and use.protocol.family else ("fee",)
    if "fee" in keys:
        return fee_data(int(traits["fee"]))._replace(is_tier=True)
    return tick_spacing_data(int(traits["tickSpacing"])) if "tickSpacing" in keys else b""


def _quoter_of_deployment(pool: Pool, network: Network) -> AlgebraConstants:
    from swapcli.families.reading.pool_ref import network_quoter

    return AlgebraConstants(quoter=network_quoter(pool.protocol, network))


def _rule_of_hook(pool: Pool, network: Network) -> V4Constants:
    """Return the network's rule for the hook of a Uniswap V4 pool, and the contract that can confirm it."""
    from swapcli.core.networks.hook_rules import hook_rule_text
    from swapcli.core.networks.quoter_definitions import quoted_protocols
    from swapcli.families.reading.pool_ref import network_quoter
    from swapcli.families.uniswap.v4_hooks import may_change_amounts

    hooks = str(pool.api_extra_data()["hooks"])
    rule = hook_rule_text(network, hooks) if may_change_amounts(hooks) else ""
    if not rule:
        return V4Constants()
    is_quoted = pool.protocol in quoted_protocols(network)
    return V4Constants(hook_rule=rule, quoter=network_quoter(pool.protocol, network), is_quoted=is_quoted)


_TICK_FIELDS: Final = ("sqrt_price_x96", "tick", "liquidity", "tick_spacing", "ticks")
_SWAP_IN_PAIR: Final = "Swap(address,uint256,uint256,uint256,uint256,address)"
_SWAP: Final = "Swap(address,address,int256,int256,uint160,uint128,int24)"
_TICK_EVENTS: Final = dict.fromkeys(
    (
        "Initialize(uint160,int24)",
        _SWAP,
        "Mint(address,address,int24,int24,uint128,uint256,uint256)",
        "Burn(address,int24,int24,uint128,uint256,uint256)",
    ),
    key_of_emitter,
)
_PANCAKE_SWAP: Final = "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)"
"""The event with the protocol's fees at the end."""
_ALGEBRA_SWAP: Final = "Swap(address,address,int256,int256,uint160,uint128,int24,uint24,uint24)"
"""The event of releases from 1.2.0 on, with the fees set by the plugin for this swap at the end."""
_V4_SWAP: Final = "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)"
_INFINITY_SWAP: Final = "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24,uint16)"
_POOL_CREATED: Final = "PoolCreated(address,address,uint24,int24,address)"
_SLIPSTREAM_POOL_CREATED: Final = "PoolCreated(address,address,int24,address)"
"""The event without a fee."""

STARKNET_PAIR: Final = KindRow(
    ("constant_product",),
    dict.fromkeys(("Sync", "Swap", "Mint", "Burn"), key_of_emitter),
    has_whole_list=True,
    network_kind=Kind.STARKNET,
)

FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "constant_product": FamilyRow(
        ("reserves",), RouterEncoding(RouterPoolKind.PAIR, pair_data), kind_of_pairs, _kind_of_pair
    ),
    "concentrated": FamilyRow(
        _TICK_FIELDS,
        RouterEncoding(
            RouterPoolKind.CONCENTRATED,
            _concentrated_data,
            {**V4_AS_SINGLETON, **dict.fromkeys(("infinity_cl", "infinity_bin"), RouterPoolKind.INFINITY)},
        ),
        _kind_of_concentrated_protocol,
        _kind_of_concentrated,
    ),
    "uniswap_v4_hooked": FamilyRow(
        (*_TICK_FIELDS, "pool_id", "hooks", "hook_fees", "hook_gas"),
        RouterEncoding(RouterPoolKind.SINGLETON, _concentrated_data),
    ),
    "ring_pair": FamilyRow(("reserves", "deposits", "wrappers")),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "uniswap_v2": KindRow(
        ("constant_product",),
        {"Sync(uint112,uint112)": key_of_emitter},
        {_SWAP_IN_PAIR: swap_in_pair},
        list_functions=PAIR_LISTS,
        has_constant_fee=True,
    ),
    "solidly_v3": KindRow(
        ("concentrated",),
        {**_TICK_EVENTS, "SetFee(uint24,uint24)": key_of_emitter},
        {_SWAP: _swap},
        created=(_POOL_CREATED,),
        constants=TickConstants,
    ),
    "uniswap_v3": KindRow(
        ("concentrated",),
        {**_TICK_EVENTS, _PANCAKE_SWAP: key_of_emitter, "CustomFeeSet(address,uint24)": address_in_first_topic},
        {_SWAP: _swap, _PANCAKE_SWAP: _swap},
        created=(_POOL_CREATED, _SLIPSTREAM_POOL_CREATED),
        constants=TickConstants,
    ),
    "ramses_v3": KindRow(
        ("concentrated",),
        {
            **_TICK_EVENTS,
            "FeeAdjustment(uint24,uint24)": key_of_emitter,
            # For pools without a dynamic fee.
            "Mint(address,address,uint256,int24,int24,uint128,uint256,uint256)": key_of_emitter,
        },
        {_SWAP: _swap},
        created=(_POOL_CREATED, _SLIPSTREAM_POOL_CREATED),
        constants=TickConstants,
    ),
    "algebra_integral": KindRow(
        ("concentrated",),
        {
            **_TICK_EVENTS,
            # With the plugin's fees; 1.2.10 has events for them besides the usual ones.
            _ALGEBRA_SWAP: key_of_emitter,
            "Burn(address,int24,int24,uint128,uint256,uint256,uint24)": key_of_emitter,
            "Fee(uint16)": key_of_emitter,
            "TickSpacing(int24)": key_of_emitter,
            "Plugin(address)": key_of_emitter,
            "PluginConfig(uint8)": key_of_emitter,
        },
        {_SWAP: _swap, _ALGEBRA_SWAP: _swap},
        created=("Pool(address,address,address)", "CustomPool(address,address,address,address)"),
        reader="algebra",
        constants=AlgebraConstants,
        constants_of=_quoter_of_deployment,
    ),
    "uniswap_v4": KindRow(
        ("concentrated", "uniswap_v4_hooked"),
        {
            _V4_SWAP: first_topic,
            "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)": first_topic,
            "ProtocolFeeUpdated(bytes32,uint24)": first_topic,
        },
        {_V4_SWAP: _swap_in_manager},
        roles=("pool_manager",),
        created=("Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)",),
        is_keyed_by_id=True,
        constants=V4Constants,
        constants_of=_rule_of_hook,
    ),
    "infinity_cl": KindRow(
        ("concentrated",),
        {
            _INFINITY_SWAP: first_topic,
            "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)": first_topic,
            "ProtocolFeeUpdated(bytes32,uint24)": first_topic,
            "DynamicLPFeeUpdated(bytes32,uint24)": first_topic,
        },
        {_INFINITY_SWAP: _swap_in_manager},
        roles=("cl_pool_manager",),
        created=("Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)",),
        is_keyed_by_id=True,
        constants=InfinityConstants,
    ),
    "jediswap": STARKNET_PAIR._replace(has_constant_fee=True),
    "10kswap": STARKNET_PAIR._replace(reader="tenkswap", has_constant_fee=True),
    "nostra": STARKNET_PAIR,
    "jediswap_cl": KindRow(
        ("concentrated",),
        dict.fromkeys(("Initialize", "Swap", "Mint", "Burn"), key_of_emitter),
        created=("PoolCreated",),
        network_kind=Kind.STARKNET,
        constants=TickConstants,
    ),
    "ring_pair": KindRow(
        ("ring_pair",),
        swaps={_SWAP_IN_PAIR: swap_in_pair},
        parts={"Sync(uint112,uint112)": announces},
        # From wrappers, whose deposits only limit what can be unwrapped.
        harmless=(
            "Mint(address,uint256,address)",
            "Burn(address,uint256,address)",
            "Wrap(address,uint256,address)",
            "Unwrap(address,uint256,address)",
        ),
        list_functions=PAIR_LISTS,
        has_constant_fee=True,
        constants=RingConstants,
        unannounced="what wrappers hold, which other pairs change as well",
    ),
}
