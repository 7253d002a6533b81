"""The result of a sync and of each step of --watch: as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact
from swapcli.faces.cli.render.store_view import build_store_details, store_document
from swapcli.state.store import StoreSummary
from swapcli.state.sync import Advance, SkipReason

if TYPE_CHECKING:
    from swapcli.interface.document_types import AdvanceJson, SyncDocumentJson


SKIPPED_COLUMNS = (Column("skipped because"), Column("count", is_whole=True), Column("example", has_pool_ids=True))
UNEXPLAINED_COLUMNS = (Column("pool of an unknown version, read at every block", is_whole=True), Column("protocol"))


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The store after a sync, the number of new pools, the skipped entries, and the duration.

    `found_by` says how its pools were found. `unexplained` are the pools that changed without an event of their kind,
    with their protocols.
    """

    summary: StoreSummary
    new_pools: int
    skipped: Sequence[SkipReason]
    seconds: float
    found_by: str = ""
    unexplained: Mapping[str, str] = field(default_factory=dict)

    @property
    def pools_per_s(self) -> float:
        """Return the rate of new pools."""
        return self.new_pools / self.seconds if self.seconds > 0 else 0.0


def sync_document(result: SyncResult, now_s: float) -> SyncDocumentJson:
    """Return the JSON of `swapcli market info` with the result of the sync."""
    return {
        **store_document(result.summary, now_s),
        "newPools": result.new_pools,
        "foundBy": result.found_by,
        "leftOut": [
            {"reason": each.reason, "count": each.count, "examples": list(each.examples)} for each in result.skipped
        ],
        "unexplained": list(result.unexplained),
        "seconds": round(result.seconds, 3),
        "poolsPerSecond": round(result.pools_per_s, 1),
    }


def build_sync_details(result: SyncResult, now_s: float) -> DetailView:
    """Build the details of the store with the result of the sync."""
    rate = f"{result.pools_per_s:,.0f} pools per second" if result.new_pools else ""
    found_by = f"found by {result.found_by}" if result.found_by else ""
    facts = (Fact("New pools", f"{result.new_pools:,}", found_by), Fact("Took", f"{result.seconds:,.1f} s", rate))
    rows = tuple((printable(each.reason), f"{each.count:,}", printable(each.examples[0])) for each in result.skipped)
    listings = (ListView(columns=SKIPPED_COLUMNS, rows=rows, documents=()),) if rows else ()
    if result.unexplained:
        named = tuple((printable(key), printable(protocol)) for key, protocol in result.unexplained.items())
        listings = (*listings, ListView(columns=UNEXPLAINED_COLUMNS, rows=named, documents=()))
    title = f"{printable(result.summary.network)}, synced"
    return build_store_details(title, result.summary, now_s, more=facts, listings=listings)


def advance_document(network: str, advance: Advance) -> AdvanceJson:
    """Return the JSON of a step to a new block, with the keys of pools."""
    return {
        "network": network,
        "block": advance.block.number,
        "hash": advance.block.hash,
        "timestamp": advance.block.timestamp,
        "rewoundTo": advance.rewound_to,
        "touched": list(advance.changed),
        "added": list(advance.added),
        "removed": list(advance.removed),
        "drifted": list(advance.changed_without_event),
        "unexplained": list(advance.unexplained),
    }


def format_advance(advance: Advance) -> str:
    """Describe a step to a new block on one line."""
    return f"block {advance.block.number}: " + ", ".join(_changes(advance))


def _changes(advance: Advance) -> Iterator[str]:
    if advance.rewound_to is not None:
        yield f"rewound to {advance.rewound_to}"
    yield f"{_pools(advance.changed)} read again"
    if advance.added:
        yield f"{_pools(advance.added)} new"
    if advance.removed:
        yield f"{_pools(advance.removed)} gone"
    for each in advance.faults:
        yield f"pool {printable(each.key)} ({printable(each.protocol)}) was skipped: {printable(each.reason)}"
    if advance.changed_without_event:
        corrected = advance.changed_without_event
        yield f"{_pools(corrected)} changed without an event and {_were(corrected)} corrected"
    if advance.unexplained:
        named = ", ".join(printable(key) for key in advance.unexplained)
        yield f"of an unknown version, and read at every block from now on: {named}"


def _pools(keys: Sequence[str]) -> str:
    return f"{len(keys):,} pool{'s' if len(keys) != 1 else ''}"


def _were(keys: Sequence[str]) -> str:
    return "was" if len(keys) == 1 else "were"
