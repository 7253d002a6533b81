"""Read StarkWare's TokenMigration on Starknet: a bridged token is swapped for its native successor, one to one.

An account supplies both tokens. The contract returns how much of the new token it can pay. It does not return how much
of the old token it can give back, so that direction, which its owner may also forbid, is not used.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.starknet_calls import read_felt_addresses, read_u256, starknet_call

_TOKENS: Final = ("get_new_token", "get_legacy_token")
_AVAILABLE: Final = "max_available_swap"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a migration in one round, as a bridge that can mint the available amount of the new token."""
    (available,) = yield [starknet_call(ref.address, _AVAILABLE)]
    return build_pool(ref, 0, {"minted": 0, "limit": read_u256(available, _AVAILABLE), "reserve": 0})


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a migration in one round of calls."""
    return factory.new_ref(address, (yield from read_felt_addresses(address, _TOKENS)))
