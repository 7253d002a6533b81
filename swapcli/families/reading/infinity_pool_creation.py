"""Keys of PancakeSwap Infinity pools: from creation events, in references, and in states."""

from __future__ import annotations

from typing import Final

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.pool_addresses import infinity_pool_id
from swapcli.families.infinity_key import check_infinity_hooks
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.call_encoding import invalid_response, read_words, to_address
from swapcli.families.reading.calls import Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.manager_storage import read_currencies
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.row import InfinityConstants

PAUSED_SLOT: Final = 1
"""The storage slot of the flag that stops all swaps of a pool manager."""
_TOPICS: Final = 4  # kind, id and two currencies


def read_initialized(factory: Factory, log: Log, wrapped_native: str | None, family: str) -> BatchRead[PoolRef]:
    """Decode a pool creation event, which takes no call. Reject hooks that may change the amounts of a swap.

    The event's data begins with hooks, fee and parameters.
    """
    yield from ()
    if len(log.topics) < _TOPICS:
        raise invalid_response(factory.address, "an event of a different kind")
    hooks, fee, parameters = read_words(log.data, 3, "Initialize")
    tokens, native = read_currencies(log, wrapped_native)
    is_dynamic = fee == DYNAMIC_FEE
    ref = factory.new_ref(factory.address, tokens, family)._replace(
        fee_ppm=0 if is_dynamic else fee,
        constants=InfinityConstants(log.topics[1], parameters, to_address(hooks, "hooks"), native, is_dynamic),
    )
    check_key(ref)
    return ref


def check_key(ref: PoolRef) -> None:
    """Raise `InvalidPoolState` unless the key hashes to the pool's ID and its hook does not change swap amounts.

    A swap identifies the pool by its key.
    """
    key = ref.constants_as(InfinityConstants)
    check_infinity_hooks(key.hooks, key.parameters, has_dynamic_fee=key.has_dynamic_fee)
    currency0 = ZERO_ADDRESS if key.is_native else ref.tokens[0]
    fee = DYNAMIC_FEE if key.has_dynamic_fee else ref.fee_ppm
    if infinity_pool_id(currency0, ref.tokens[1], key.hooks, ref.address, fee, key.parameters) != key.pool_id:
        raise InvalidPoolState("pool_id", "not the hash of the pool's key")


def key_fields(ref: PoolRef, lp_fee_ppm: int) -> dict[str, object]:
    """Return the market file fields that describe the pool's key.

    Raises `InvalidPoolState` if a constant fee differs from the key's.
    """
    key = ref.constants_as(InfinityConstants)
    if not key.has_dynamic_fee and lp_fee_ppm != ref.fee_ppm:
        raise InvalidPoolState("fee_ppm", f"expected the {ref.fee_ppm} of its key, not {lp_fee_ppm}")
    return {
        "pool_id": key.pool_id,
        "hooks": key.hooks,
        "native": key.is_native,
        "dynamic_fee": key.has_dynamic_fee,
        "parameters": f"0x{key.parameters:064x}",
    }
