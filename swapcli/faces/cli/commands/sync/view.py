"""The result of a sync, and of each step of --watch, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact
from swapcli.faces.cli.render.store_view import build_store_details

if TYPE_CHECKING:
    from swapcli import ChainStep, Network, SyncResult

SKIPPED_COLUMNS = (Column("skipped because"), Column("count", is_whole=True), Column("example", has_pool_ids=True))
UNEXPLAINED_COLUMNS = (Column("pool of an unknown version, read at every block", is_whole=True), Column("protocol"))


def build_sync_details(result: SyncResult, network: Network) -> DetailView:
    """Build the details of the store with the result of the sync."""
    new = f", {result.new_pools:,} new" if result.new_pools else ", none new"
    found_by = f"new pools found by {result.found_by}" if result.found_by and result.new_pools else ""
    facts = (Fact("Took", f"{result.seconds:,.1f} s", found_by),)
    rows = tuple((printable(each.reason), f"{each.count:,}", printable(each.examples[0])) for each in result.skipped)
    listings = (ListView(columns=SKIPPED_COLUMNS, rows=rows),) if rows else ()
    if result.unexplained:
        named = tuple((printable(key), printable(protocol)) for key, protocol in result.unexplained.items())
        listings = (*listings, ListView(columns=UNEXPLAINED_COLUMNS, rows=named))
    return build_store_details(result.store, network, done="synced", note=new, more=facts, listings=listings)


def format_step(step: ChainStep) -> str:
    """Describe a step to a new block on one line."""
    return f"block {step.advance.block.number:,}: " + ", ".join(_changes(step))


def _changes(step: ChainStep) -> Iterator[str]:
    advance = step.advance
    if advance.rewound_to is not None:
        yield f"rewound to {advance.rewound_to:,}"
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
        yield f"of an unknown version, and now read at every block: {named}"


def _pools(keys: Sequence[str]) -> str:
    return f"{len(keys):,} pool{'s' if len(keys) != 1 else ''}"


def _were(keys: Sequence[str]) -> str:
    return "was" if len(keys) == 1 else "were"
