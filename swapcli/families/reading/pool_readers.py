"""One reader per kind of pool contract, each of which turns a `PoolRef` into the pool.

A reader is imported when the first pool of its kind is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Protocol, cast

from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.families import reader_name
from swapcli.families.reading.calls import BlockReader, Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.families.reading.pool_ref import PoolRef, bare_ref

_BATCH_SIZE = 250  # pools that are read side by side, per concurrent request of the reader


class PoolReader(Protocol):
    """The functions of a module `<kind>_reader`. `KindRow` shows which of them each kind needs."""

    def load(self, ref: PoolRef) -> BatchRead[Pool]:
        """Read the state of a pool."""

    def read_list(self, factory: Factory) -> BatchRead[tuple[str, ...]]:
        """Read the addresses of all pools that a factory lists."""

    def read_constants(self, factory: Factory, address: str) -> BatchRead[PoolRef]:
        """Read the constants of a pool that a factory lists."""

    def read_created(self, factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
        """Read the constants of a pool announced by an event."""

    def complete_ref(self, ref: PoolRef, pool: Pool) -> PoolRef:
        """Return the reference of a known pool, completed with data from its state."""


def pool_reader(kind: str) -> PoolReader:
    """Return the reader of a kind."""
    return cast(PoolReader, import_module(reader_name(kind)))


def ref_of_pool(pool: Pool, network: Network) -> PoolRef | None:
    """Return the reference of a known pool, or None if its kind of contract is unknown or it has no state to read."""
    ref = bare_ref(pool, network)
    if ref is None:
        return None
    reader = pool_reader(ref.kind)
    return reader.complete_ref(ref, pool) if hasattr(reader, "complete_ref") else ref


def read_pool(ref: PoolRef) -> BatchRead[Pool]:
    """Read the state of a pool.

    Its reader is chosen inside the read, so that any failure is attributed to this pool.
    """
    return (yield from pool_reader(ref.kind).load(ref))


def read_known_pool(pool: Pool, network: Network) -> BatchRead[Pool] | None:
    """Return a read of a known pool's state, or None in the same cases as `ref_of_pool`."""
    try:
        ref = ref_of_pool(pool, network)
    except Exception as error:
        return _failed_read(error)
    return None if ref is None else read_pool(ref)


def _failed_read(error: Exception) -> BatchRead[Pool]:
    raise error
    yield


def load_pools(reader: BlockReader, refs: Sequence[PoolRef]) -> Iterator[Pool | SkippedItem]:
    """Yield the pool of each reference at the reader's block, in order, or the reason why it was skipped. Raises
    `UpstreamError`.

    Pools are read one batch at a time, so that memory stays bounded and progress can be shown.
    """
    return load_reads(reader, ((ref.key, read_pool(ref)) for ref in refs))


def load_reads(reader: BlockReader, reads: Iterable[tuple[str, BatchRead[Pool]]]) -> Iterator[Pool | SkippedItem]:
    """Yield the results of `reads`, which are (pool key, read) pairs, in the same way as `load_pools`."""
    remaining = iter(reads)
    while batch := list(islice(remaining, _BATCH_SIZE * reader.width)):
        yield from run_batched(batch, reader.call)
