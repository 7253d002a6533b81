"""Pools and tokens that are missing from a store, with the reasons. The store records them, to report them and to read
them again later."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.skipped_pool import pass_request_errors
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.pool_ref_text import format_pool_ref, parse_pool_ref
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.store import SkippedEntry, Store
from swapcli.state.sync.cursor import read_cursor

_MAX_EXAMPLES: Final = 3  # pools named for each reason
_ADDRESSES_AND_NUMBERS: Final = re.compile(r"0x[0-9a-f]{8,}|\d{6,}")


@dataclass(frozen=True, slots=True)
class SkipReason:
    """A reason why pools, tokens or protocols are missing from a store. `examples` are the keys of some of these
    items."""

    reason: str
    count: int
    examples: tuple[str, ...]


def count_skipped(store: Store) -> tuple[SkipReason, ...]:
    """Return the reasons why discovered items were not stored, with counts, the most frequent first."""
    counts: dict[str, int] = defaultdict(int)
    examples: dict[str, list[str]] = defaultdict(list)
    for key, reason in _keys_with_reasons(store):
        counts[reason] += 1
        if len(examples[reason]) < _MAX_EXAMPLES:
            examples[reason].append(key)
    by_count = sorted(counts, key=lambda reason: (-counts[reason], reason))
    return tuple(SkipReason(reason, counts[reason], tuple(examples[reason])) for reason in by_count)


def _keys_with_reasons(store: Store) -> Iterator[tuple[str, str]]:
    cursor = read_cursor(store)
    if cursor:
        protocols = cursor.sync_filter.protocols_on(store.network)
        _, without_factory = find_factories(store.network, None if protocols is None else sorted(protocols))
        yield from without_factory
        reason = f"the node did not return its pools' creation events: {cursor.event_error}"
        yield from ((name.split()[0], reason) for name in cursor.event_gaps)
        yield from cursor.unqueried_factories.items()
    for entry in store.inventory.all_skipped():
        yield entry.key, _ADDRESSES_AND_NUMBERS.sub("…", entry.reason)


def skipped_pool(ref: PoolRef, reason: str, *, is_lost: bool = False) -> SkippedEntry:
    """Return the entry for a pool that may become usable later."""
    return SkippedEntry(ref.key, reason, format_pool_ref(ref), is_lost)


def skipped_known_pool(pool: Pool, network: Network, reason: str) -> SkippedEntry:
    """Return the entry for a pool that is no longer usable."""
    try:
        ref = ref_of_pool(pool, network)
    except Exception as error:  # its reader already fails on the known data of the pool
        pass_request_errors(error)
        ref = None
    return skipped_pool(ref, reason) if ref else SkippedEntry(pool.key, reason)


def parse_pool_refs(entries: Iterable[SkippedEntry]) -> list[PoolRef]:
    """Return the references with which skipped pools can be read again. Entries without a reference are omitted."""
    return [parse_pool_ref(entry.pool_ref) for entry in entries if entry.pool_ref]
