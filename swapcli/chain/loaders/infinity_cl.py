"""Concentrated pools of PancakeSwap Infinity whose hooks leave swaps alone, from the storage of their manager."""

from __future__ import annotations

from typing import Final

from swapcli.chain.factory import Factory
from swapcli.chain.loaders.build_pool import build_pool
from swapcli.chain.loaders.infinity_key import (
    PAUSED_SLOT,
    check_key,
    key_fields,
    parameters_constant,
    ref_of_initialize,
)
from swapcli.chain.loaders.manager_storage import ConcentratedInManager
from swapcli.chain.loaders.tick_bitmap import guess_tick_calls, read_around_price
from swapcli.chain.loaders.uniswap_v4 import complete_ref as complete_ref_of_v4
from swapcli.chain.lockstep_reads import BatchRead, with_prefetch
from swapcli.chain.node import Log
from swapcli.chain.pool_ref import PoolRef
from swapcli.model.pool import Pool
from swapcli.pools.concentrated import Concentrated

_POOLS_SLOT: Final = 4
"""The storage slot of the manager's mapping from pool id to pool."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds; one if price and ticks are close to the known ones."""
    check_key(ref)
    source = ConcentratedInManager(ref.address, ref.pool_id, _POOLS_SLOT, PAUSED_SLOT)
    read = read_around_price(source, ref.tick_spacing, ref.last_tick)
    position, state = yield from with_prefetch(read, guess_tick_calls(source, ref))
    fields = {**key_fields(ref, position.fee_ppm), "protocol_fees_ppm": position.protocol_fees_ppm}
    return build_pool(ref, position.fee_ppm, {**state, **fields})


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode the event of a pool's creation, without a call. Refuse hooks that may change the amounts of a swap."""
    yield from ()
    ref = ref_of_initialize(factory, log, wrapped_native, Concentrated.family)
    check_key(ref)
    return ref


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return a reference with the key of a known pool and its last ticks."""
    assert isinstance(pool, Concentrated)
    return complete_ref_of_v4(ref, pool)._replace(constants=parameters_constant(pool.tick_list.parameters))
