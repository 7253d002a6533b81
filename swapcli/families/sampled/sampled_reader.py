"""Pools quoted by their protocol: the stored data about them never change, so nothing is read here.

`sampled_pools` reads their samples, for live quotes.
"""

from __future__ import annotations

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.calls import Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.sampled.rows import SampledConstants
from swapcli.families.sampled.sampled import Sampled
from swapcli.families.sampled.sampled_discovery import read_announced_pool


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Return the pool without samples. This takes no call."""
    yield from ()
    constants = ref.constants_as(SampledConstants)
    return build_pool(ref, 0, {"constants": dict(constants.values), "pool_id": constants.pool_id or None})


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Read the values of a pool that its protocol announced, as the network's definition describes."""
    assert factory.quoter, "only network definitions can have factories of sampled pools"
    return (yield from read_announced_pool(factory.quoter, log, wrapped_native))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the constants of a known pool."""
    assert isinstance(pool, Sampled)
    return ref._replace(constants=SampledConstants(pool.pool_id, pool.constants))
