"""Read Uniswap V4 pools from the storage of the pool manager: pools whose hooks do not change swap amounts, and pools
whose hooks have a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.core.errors import InvalidPoolState, InvalidUpstreamResponse
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.networks.hook_rules import hook_rule_text, parse_hook_rule
from swapcli.core.networks.pool_addresses import v4_pool_id
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response, read_words, to_address
from swapcli.families.reading.calls import Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.manager_storage import ConcentratedInManager, read_currencies
from swapcli.families.reading.pool_ref import LastTicks, PoolRef, network_quoter
from swapcli.families.reading.tick_bitmap import read_near_last
from swapcli.families.sampled import sampled_reader as sampled
from swapcli.families.sampled.rows import SampledConstants
from swapcli.families.sampled.sampled import Sampled
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.hook_reader import confirm_by_quoter, read_hook
from swapcli.families.uniswap.rows import V4Constants
from swapcli.families.uniswap.uniswap_v3_reader import last_ticks_of
from swapcli.families.uniswap.uniswap_v4_hooked import UniswapV4Hooked
from swapcli.families.uniswap.v4_hooks import check_hook_address, check_hooks, may_change_amounts

POOLS_SLOT: Final = 6
"""The storage slot of the manager's mapping from pool ID to pool."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds of calls, or in one if price and ticks are close to the known ones.

    The key must hash to the pool's ID, since a swap identifies the pool by its key. A pool whose hook has a rule takes
    one or two more rounds; if the rule does not hold, the pool is sampled with the network's quoter, if possible.
    """
    if ref.family == UniswapV4Hooked.family:
        return (yield from _load_hooked(ref))
    key = ref.constants_as(V4Constants)
    check_hooks(key.hooks, has_dynamic_fee=key.has_dynamic_fee)
    fee_ppm, state = yield from _read_state(ref, key)
    return build_pool(ref, fee_ppm, state)


def _read_state(ref: PoolRef, key: V4Constants) -> BatchRead[tuple[int, Mapping[str, object]]]:
    """Return the LP fee in the manager, and the fields of a market file."""
    if _id_of_key(ref, key) != key.pool_id:
        raise InvalidPoolState("pool_id", "not the hash of the pool's key")
    source = ConcentratedInManager(ref.address, key.pool_id, POOLS_SLOT)
    position, state = yield from read_near_last(source, key.tick_spacing, ref.last_ticks)
    if not key.has_dynamic_fee and position.fee_ppm != ref.fee_ppm:
        raise InvalidPoolState("fee_ppm", f"expected the {ref.fee_ppm} of its key, not {position.fee_ppm}")
    traits = {
        "pool_id": key.pool_id,
        "hooks": key.hooks,
        "native": key.is_native,
        "dynamic_fee": key.has_dynamic_fee,
        "protocol_fees_ppm": position.protocol_fees_ppm,
    }
    return position.fee_ppm, {**state, **traits}


def _load_hooked(ref: PoolRef) -> BatchRead[Pool]:
    key = ref.constants_as(V4Constants)
    fee_ppm, state = yield from _read_state(ref, key)
    try:
        return (yield from _read_hooked(ref, key, fee_ppm, state))
    except (InvalidPoolState, InvalidUpstreamResponse):
        if not key.is_quoted:
            raise
        return (yield from sampled.load(_sampled_ref(ref, key)))


def _read_hooked(ref: PoolRef, key: V4Constants, fee_ppm: int, state: Mapping[str, object]) -> BatchRead[Pool]:
    """Read what the hook takes, and have it confirmed if its code is not known."""
    if not key.hook_rule:
        raise InvalidPoolState("hooks", f"the network's definition has no rule for {key.hooks}")
    rule = parse_hook_rule(key.hook_rule)
    reading = yield from read_hook(ref, rule, fee_ppm)
    pool = build_pool(ref, fee_ppm, {**state, **reading.state, "hook_gas": rule.gas})
    if reading.is_proven:
        return pool
    for other in reading.alternatives:
        try:
            yield from confirm_by_quoter(ref, key, pool)
        except InvalidPoolState:
            pool = build_pool(ref, fee_ppm, {**state, **other, "hook_gas": rule.gas})
        else:
            return pool
    yield from confirm_by_quoter(ref, key, pool)
    return pool


def _id_of_key(ref: PoolRef, key: V4Constants) -> str:
    currency0 = ZERO_ADDRESS if key.is_native else ref.tokens[0]
    fee = DYNAMIC_FEE if key.has_dynamic_fee else ref.fee_ppm
    return v4_pool_id(currency0, ref.tokens[1], fee, key.tick_spacing, key.hooks)


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a pool creation event, which takes no call. Reject hooks with unknown effects on swap amounts.

    The effects of a hook with a rule are known; pools with other hooks are sampled if the network has a quoter.
    """
    yield from ()
    ref = ref_of_initialize(factory, log, wrapped_native)
    key = ref.constants_as(V4Constants)
    if key.hooks in factory.hook_rules and may_change_amounts(key.hooks):
        check_hook_address(key.hooks, has_dynamic_fee=key.has_dynamic_fee)
        return with_hook_rule(factory, ref)
    try:
        check_hooks(key.hooks, has_dynamic_fee=key.has_dynamic_fee)
    except InvalidPoolState:
        if ref.protocol not in factory.quoted_protocols:
            raise
        return _sampled_ref(ref, key)
    return ref


def with_hook_rule(factory: Factory, ref: PoolRef) -> PoolRef:
    """Return `ref`, a pool whose hook has a rule, with that rule added."""
    key = ref.constants_as(V4Constants)
    constants = key._replace(
        hook_rule=factory.hook_rules[key.hooks],
        quoter=factory.swap_quoter,
        is_quoted=ref.protocol in factory.quoted_protocols,
    )
    return ref._replace(family=UniswapV4Hooked.family, constants=constants)


def _sampled_ref(ref: PoolRef, key: V4Constants) -> PoolRef:
    """Return the pool as one that the network's quoter samples."""
    fee = DYNAMIC_FEE if key.has_dynamic_fee else ref.fee_ppm
    values = {
        "currency0": ZERO_ADDRESS if key.is_native else ref.tokens[0],
        "currency1": ref.tokens[1],
        "fee": str(fee),
        "hooks": key.hooks,
        "tickSpacing": str(key.tick_spacing),
    }
    constants = SampledConstants(key.pool_id, tuple(sorted(values.items())))
    kind, family = ContractKind.SAMPLED, Sampled.family
    return PoolRef(ref.address, ref.protocol, family, kind, ref.tokens, ref.decimals, constants=constants)


def ref_with_rule(pool: Sampled, network: Network) -> PoolRef | None:
    """Return the reference for reading a sampled pool exactly, or None if the network has no rule for its hook."""
    traits = pool.api_extra_data()
    hooks = str(traits.get("hooks", ""))
    rule = hook_rule_text(network, hooks)
    if not rule:
        return None
    fee = int(traits["fee"])
    is_dynamic = fee == DYNAMIC_FEE
    constants = V4Constants(
        pool.pool_id,
        int(traits["tickSpacing"]),
        hooks,
        traits["token0"] == ZERO_ADDRESS,
        is_dynamic,
        rule,
        network_quoter(pool.protocol, network),
        is_quoted=True,
    )
    fee_ppm, kind = 0 if is_dynamic else fee, ContractKind.UNISWAP_V4
    identity = pool.address, pool.protocol, UniswapV4Hooked.family, kind, pool.tokens, pool.decimals, fee_ppm
    return PoolRef(*identity, constants)


def ref_of_initialize(factory: Factory, log: Log, wrapped_native: str | None) -> PoolRef:
    """Return the reference of a Uniswap V4 pool with any hook, from its initialisation event: only that event has the
    pool's key."""
    if len(log.topics) < 4:
        raise invalid_response(factory.address, "an event of a different kind")
    fee, spacing, hooks_word, _, tick = read_words(log.data, 5, "Initialize")
    hooks = to_address(hooks_word, "hooks")
    protocol = factory.protocols_by_hook.get(hooks)
    tokens, native = read_currencies(log, wrapped_native)
    is_dynamic = fee == DYNAMIC_FEE
    ref = factory.new_ref(factory.address, tokens, protocol=protocol)
    return ref._replace(
        fee_ppm=0 if is_dynamic else fee,
        constants=V4Constants(log.topics[1], to_signed(spacing), hooks, native, is_dynamic),
        last_read=LastTicks(to_signed(tick)),
    )


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the key, the tick and the listed ticks of a known pool."""
    plain = pool.plain if isinstance(pool, UniswapV4Hooked) else pool
    assert isinstance(plain, Concentrated)
    ticks = plain.tick_list
    constants = ref.constants_as(V4Constants)._replace(
        pool_id=ticks.pool_id or "",
        tick_spacing=ticks.tick_spacing,
        hooks=ticks.hooks,
        is_native=ticks.is_native,
        has_dynamic_fee=ticks.has_dynamic_fee,
    )
    fee_ppm = 0 if ticks.has_dynamic_fee else pool.fee_ppm
    return ref._replace(fee_ppm=fee_ppm, constants=constants, last_read=last_ticks_of(plain))
