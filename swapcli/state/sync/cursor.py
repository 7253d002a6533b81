"""The position of pool discovery. The store saves it with each block, so that discovery resumes there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from swapcli.state.store import BlockWriter, Store
from swapcli.state.sync.sync_filter import SyncFilter

NO_PROTOCOLS: Final = SyncFilter(protocols=frozenset())
"""The filter of a store that only follows its existing pools."""

_METADATA_KEY: Final = "search"
_STORED_NAMES: Final = {
    "sync_filter": "wanted",
    "list_positions": "lists",
    "event_blocks": "events",
    "event_gaps": "gaps",
    "event_error": "refusal",
    "unqueried_factories": "unread",
    "recheck_key": "again",
    "lost_recheck_key": "lost",
    "last_recheck_block": "looked_at",
    "imported_pools": "adopted",
    "pair_position": "pairs",
    "factories_queried": "is_asked",
    "liquidity_filtered": "is_judged",
}
"""The keys of the stored JSON by field. Existing stores have them, so they never change."""
_RECHECK_BLOCKS: Final = 1_000
"""Minimum distance between two rechecks of skipped pools, which may be numerous."""


@dataclass(frozen=True, slots=True)
class SyncCursor:
    """The position of discovery in every list of pools and in the chain's events.

    `list_positions` has the next index in each factory's list, and `event_blocks` the next block of each factory's
    events. The keys are the names that `discover` uses. `event_gaps` has the first block whose events the node did not
    return, by factory, and `event_error` the reason. `unqueried_factories` are the addresses of factories that could
    not be queried for pairs, with the reasons. `recheck_key` is the last skipped pool that the current recheck has
    reached, None if there is no current recheck. `last_recheck_block` is the block at which the last recheck ended.
    `lost_recheck_key` is the same for lost pools. `imported_pools` is the number of pools imported from a market.
    `pair_position` is the next pair of the filter's tokens to query. `factories_queried` is true if factories were
    queried for the pairs of the filter's tokens, `liquidity_filtered` if illiquid pools were removed.
    """

    sync_filter: SyncFilter
    list_positions: Mapping[str, int] = field(default_factory=dict)
    event_blocks: Mapping[str, int] = field(default_factory=dict)
    event_gaps: Mapping[str, int] = field(default_factory=dict)
    event_error: str = ""
    unqueried_factories: Mapping[str, str] = field(default_factory=dict)
    recheck_key: str | None = None
    lost_recheck_key: str | None = None
    last_recheck_block: int = 0
    imported_pools: int = 0
    pair_position: int = 0
    factories_queried: bool = False
    liquidity_filtered: bool = False

    def reset(self) -> SyncCursor:
        """Return a new cursor with the same filter, to begin discovery again on another fork."""
        return replace(
            self, list_positions={}, event_blocks={}, event_gaps={}, pair_position=0, factories_queried=False
        )


def resume_cursor(store: Store, sync_filter: SyncFilter, block: int) -> SyncCursor:
    """Return the cursor for a sync with `sync_filter` at `block`. It is the stored cursor, in which the parts that a
    changed filter affects are reset.

    Newly requested protocols start without a cursor. Only a changed token filter or an earlier start block restarts
    discovery. Pools in the store are not read again. With a token filter, the start block also decides whether events
    are read.
    """
    last = read_cursor(store)
    if last is None:
        return SyncCursor(sync_filter, last_recheck_block=block)
    previous = last.sync_filter
    if sync_filter.tokens:
        other_start = sync_filter.from_block != previous.from_block
    else:
        other_start = sync_filter.from_block < previous.from_block
    other_tokens = sync_filter.tokens != previous.tokens
    lower_minimum = sync_filter.min_liquidity_usd < previous.min_liquidity_usd
    recheck_is_due = block - last.last_recheck_block >= _RECHECK_BLOCKS
    keeps_queries = last.factories_queried and not (other_tokens or other_start)
    keeps_pairs = not (other_tokens or other_start or sync_filter.protocols != previous.protocols)
    return replace(
        last,
        sync_filter=sync_filter,
        list_positions={} if other_tokens else last.list_positions,
        event_blocks={} if other_tokens or other_start else {**last.event_blocks, **last.event_gaps},
        event_gaps={},
        event_error="",
        unqueried_factories=last.unqueried_factories if keeps_queries else {},
        recheck_key="" if last.recheck_key is None and (lower_minimum or recheck_is_due) else last.recheck_key,
        lost_recheck_key="",
        pair_position=last.pair_position if keeps_pairs else 0,
        factories_queried=keeps_queries,
        liquidity_filtered=False,
    )


def read_cursor(store: Store) -> SyncCursor | None:
    """Return the stored cursor; None if discovery has not begun."""
    stored: Any = store.read_metadata(_METADATA_KEY)
    if stored is None:
        return None
    protocols, tokens, min_liquidity_usd, from_block = stored.pop("wanted")
    sync_filter = SyncFilter(
        None if protocols is None else frozenset(protocols),
        None if tokens is None else frozenset(tokens),
        min_liquidity_usd,
        from_block,
    )
    names = {stored_name: name for name, stored_name in _STORED_NAMES.items()}
    return SyncCursor(sync_filter, **{names[stored_name]: value for stored_name, value in stored.items()})


def discovery_method(store: Store) -> str:
    """Return a description, for users, of how the store's pools were found; empty if discovery has not begun."""
    cursor = read_cursor(store)
    if cursor is None:
        return ""
    if cursor.sync_filter.tokens is not None and (cursor.factories_queried or cursor.pair_position):
        return f"the pairs of {len(cursor.sync_filter.tokens):,} tokens"
    return "the lists and events of factories"


def write_cursor(cursor: SyncCursor, writer: BlockWriter) -> None:
    """Store the cursor. If the store rewinds to an earlier block, it gets that block's cursor back."""
    protocols, tokens, min_liquidity_usd, from_block = cursor.sync_filter
    stored: dict[str, object] = {
        _STORED_NAMES[each.name]: getattr(cursor, each.name) for each in fields(cursor) if each.name != "sync_filter"
    }
    stored["wanted"] = [
        None if protocols is None else sorted(protocols),
        None if tokens is None else sorted(tokens),
        min_liquidity_usd,
        from_block,
    ]
    writer.put_metadata(_METADATA_KEY, stored, undoable=True)
