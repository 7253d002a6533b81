"""Read PancakeSwap Infinity's concentrated pools, whose hooks do not change swap amounts, from the storage of their
manager."""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.calls import Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.infinity_pool_creation import (
    PAUSED_SLOT,
    check_key,
    key_fields,
    read_initialized,
)
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.manager_storage import ConcentratedInManager
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.tick_bitmap import read_near_last
from swapcli.families.row import InfinityConstants
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.uniswap_v3_reader import last_ticks_of

_POOLS_SLOT: Final = 4
"""The storage slot of the manager's mapping from pool ID to pool."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds of calls, or in one if price and ticks are close to the known ones."""
    check_key(ref)
    key = ref.constants_as(InfinityConstants)
    source = ConcentratedInManager(ref.address, key.pool_id, _POOLS_SLOT, PAUSED_SLOT)
    position, state = yield from read_near_last(source, key.step, ref.last_ticks)
    fields = {**key_fields(ref, position.fee_ppm), "protocol_fees_ppm": position.protocol_fees_ppm}
    return build_pool(ref, position.fee_ppm, {**state, **fields})


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Same as `read_initialized`."""
    return read_initialized(factory, log, wrapped_native, Concentrated.family)


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the key, the tick and the listed ticks of a known pool."""
    assert isinstance(pool, Concentrated)
    ticks = pool.tick_list
    return ref._replace(
        fee_ppm=0 if ticks.has_dynamic_fee else pool.fee_ppm,
        constants=InfinityConstants(
            ticks.pool_id or "", ticks.parameters, ticks.hooks, ticks.is_native, ticks.has_dynamic_fee
        ),
        last_read=last_ticks_of(pool),
    )
