"""Read PancakeSwap Infinity's bin pools, whose hooks do not change swap amounts, from the storage of their manager.

The IDs of the bins with liquidity are the bits of a tree with three levels of 256. Only some of its words around the
active bin are read; a swap that would leave them is rejected as if the pool had no more liquidity.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple
from swapcli.families.bins.bin_math import MAX_ID
from swapcli.families.bins.infinity_bin import InfinityBin
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.infinity_pool_creation import (
    PAUSED_SLOT,
    check_key,
    key_fields,
    read_initialized,
)
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.manager_storage import (
    extsload_call,
    fees_in,
    mapping_slot,
    read_extsload,
    require_unpaused,
    slot_of_id,
)
from swapcli.families.reading.pool_ref import LastBins, PoolRef
from swapcli.families.rounding import WORD_BITS
from swapcli.families.row import InfinityConstants

REACH: Final = 4
"""The number of words read on either side of the active bin's own.

At a step of 10 basis points, the price can move to almost three times itself.
"""
_POOLS_SLOT: Final = 5
"""The storage slot of the manager's mapping from pool ID to pool."""
_RESERVES_OFFSET: Final = 1  # offset of the bins' reserves from the pool's storage slot
_LEAVES_OFFSET: Final = 6  # offset of the tree's lowest level from the pool's storage slot
_AMOUNT_BITS: Final = 128  # a word packs two amounts


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds of calls, or in one if the active bin and the listed bins are still the same."""
    check_key(ref)
    source = _BinsInManager(ref.address, slot_of_id(ref.pool_id, _POOLS_SLOT))
    guesses: list[ContractCall] = []
    if last := ref.last_bins:
        guesses = [source.leaves_call(last.active_id), source.reserves_call(last.active_id, last.ids)]
    return (yield from with_prefetch(_load(ref, source), guesses))


def _load(ref: PoolRef, source: _BinsInManager) -> BatchRead[Pool]:
    slot0 = yield from source.read_slot0()
    if not slot0.active_id:
        raise InvalidPoolState("active_id", "the pool does not exist")
    listed = yield from source.read_listed_ids(slot0.active_id)
    bins = yield from source.read_bins(slot0.active_id, listed)
    is_active_listed = slot0.active_id in listed
    if not is_active_listed:
        # Remainders left by the last withdrawal are traded only in the active bin, since it is not in the tree.
        bins = [row for row in bins if row[0] != slot0.active_id or any(row[1:])]
    state: dict[str, object] = {
        "active_id": slot0.active_id,
        "bin_step": ref.constants_as(InfinityConstants).step,
        "bins": bins,
        "active_bin_listed": is_active_listed or all(row[0] != slot0.active_id for row in bins),
        "protocol_fees_ppm": slot0.protocol_fees_ppm,
    }
    return build_pool(ref, slot0.lp_fee_ppm, state | key_fields(ref, slot0.lp_fee_ppm))


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Same as `read_initialized`."""
    return read_initialized(factory, log, wrapped_native, InfinityBin.family)


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the key, the active bin and the listed bins of a known pool."""
    assert isinstance(pool, InfinityBin)
    key = pool.pool_key
    has_dynamic_fee = key.fee == DYNAMIC_FEE
    return ref._replace(
        fee_ppm=0 if has_dynamic_fee else key.fee,
        constants=InfinityConstants(
            key.pool_id, key.parameters, key.hooks or ZERO_ADDRESS, key.is_native, has_dynamic_fee
        ),
        last_read=LastBins(pool.active_id, pool.bins.ids),
    )


class _Slot0(NamedTuple):
    active_id: int
    protocol_fees_ppm: tuple[int, int]
    lp_fee_ppm: int


class _BinsInManager:
    """A bin pool in the manager's storage, at `slot`."""

    def __init__(self, manager: str, slot: int) -> None:
        self._manager = manager
        self._slot = slot

    def leaves_call(self, active_id: int) -> ContractCall:
        """Return the call for the tree's words around a bin."""
        slots = [mapping_slot(word, self._slot + _LEAVES_OFFSET) for word in _words_around(active_id)]
        return extsload_call(self._manager, slots)

    def reserves_call(self, active_id: int, listed: Sequence[int]) -> ContractCall:
        """Return the call for the amounts in the active bin and in the bins that the tree lists."""
        slots = [mapping_slot(bin_id, self._slot + _RESERVES_OFFSET) for bin_id in _with_active(active_id, listed)]
        return extsload_call(self._manager, slots)

    def read_slot0(self) -> Generator[Sequence[ContractCall], Sequence[ReturnData], _Slot0]:
        """Read the active bin and the fees in one round of calls.

        Raises `InvalidUpstreamResponse` while the manager is paused.
        """
        (answer,) = yield [extsload_call(self._manager, [self._slot, PAUSED_SLOT])]
        slot0, flag = read_extsload(answer, 2)
        require_unpaused(flag)
        return _Slot0(slot0 & MAX_ID, *fees_in(slot0 >> 24))

    def read_listed_ids(self, active_id: int) -> Generator[Sequence[ContractCall], Sequence[ReturnData], list[int]]:
        """Read the IDs that the tree lists around the active bin, ascending, in one round of calls."""
        (answer,) = yield [self.leaves_call(active_id)]
        words = _words_around(active_id)
        return [
            number * WORD_BITS + bit
            for number, leaves in zip(words, read_extsload(answer, len(words)), strict=True)
            if leaves
            for bit in range(WORD_BITS)
            if leaves >> bit & 1
        ]

    def read_bins(
        self, active_id: int, listed: Sequence[int]
    ) -> Generator[Sequence[ContractCall], Sequence[ReturnData], list[list[int]]]:
        """Read [id, x, y] of the active bin and of the bins that the tree lists, ascending, in one round of calls."""
        (answer,) = yield [self.reserves_call(active_id, listed)]
        ids = _with_active(active_id, listed)
        mask = (1 << _AMOUNT_BITS) - 1
        return [
            [bin_id, packed & mask, packed >> _AMOUNT_BITS]
            for bin_id, packed in zip(ids, read_extsload(answer, len(ids)), strict=True)
        ]


def _words_around(active_id: int) -> range:
    """Return the numbers of the tree's words around a bin."""
    own = active_id // WORD_BITS
    return range(max(own - REACH, 0), min(own + REACH, MAX_ID // WORD_BITS) + 1)


def _with_active(active_id: int, listed: Sequence[int]) -> list[int]:
    return sorted({active_id, *listed})
