"""Publish the blocks of a store as a feed, unless another process is already publishing it.

The publisher makes entries and snapshots from a copy of the store's documents in memory. Changes that could not be
published go into the next entry. A writer that starts or takes over continues after the newest entry if its store still
has that entry's block, with one entry that has all changes since then. Otherwise, or if the server has lost its data,
it starts over with an empty entry and a snapshot.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from swapcli.core.records import NamedTuple
from swapcli.state.clock import Clock
from swapcli.state.feed.feed_stream import FeedWriter, NewestEntry, WriteResult
from swapcli.state.markets.feed_format import MAX_ENTRY_BYTES, Changes, FeedMarket, MarketHeader, encode_entry
from swapcli.state.store import Store, StoredBlock

SNAPSHOT_INTERVAL_S: Final = 300.0
"""Time between two snapshots: a reader that starts applies the entries of at most this time."""
MIN_SNAPSHOT_INTERVAL_S: Final = 1.0
"""Time between two snapshots requested by readers; at least `_SNAPSHOT_REST` times as long as the last one took."""
_SNAPSHOT_REST: Final = 10.0
"""Readers that constantly request snapshots take at most a tenth of the publisher's time, so blocks continue."""
_MAX_PENDING: Final = 20_000
"""Above this number of changed records, a snapshot is published: readers would have to apply most of a market."""
_HISTORY: Final = 64
"""Blocks whose changed keys are remembered: as many as a store can undo."""


class PublisherState(StrEnum):
    """The current status of a publisher."""

    PUBLISHING = "publishing"
    STANDING_BY = "standing by"
    """Another process publishes the network."""
    BEHIND = "behind"
    """No process publishes the network, but a later block than the store's has been published."""


class _Change(NamedTuple):
    """A block, the market's hash at it, and the records that may differ from the previous change."""

    block: StoredBlock
    state_hash: str | None
    tokens: frozenset[str]
    pools: frozenset[str]


class FeedPublisher:
    """Publishes the market of `store` through `writer`. Use the publisher, the store and the writer in the same thread.

    `store` may be replaced by another store that has the same blocks.
    """

    def __init__(
        self,
        store: Store,
        writer: FeedWriter,
        clock: Clock,
        *,
        snapshot_interval_s: float = SNAPSHOT_INTERVAL_S,
    ) -> None:
        self.store, self._writer, self._clock = store, writer, clock
        self._snapshot_interval_s = snapshot_interval_s
        self._market = FeedMarket()
        self._history: deque[_Change] = deque(maxlen=_HISTORY)
        self._pending_tokens: set[str] = set()
        self._pending_pools: set[str] = set()
        self._rewound_to: int | None = None
        self._is_writer = False
        self._last_id: str | None = None
        """The newest entry of the stream, if this process added it and no change of the market was lost."""
        self._published_hash: str | None = None
        self._snapshot_s = float("-inf")
        self._snapshot_rest_s = MIN_SNAPSHOT_INTERVAL_S
        self.state = PublisherState.STANDING_BY
        self.last_entry_bytes = self.last_snapshot_bytes = 0

    def publish(self) -> None:
        """Publish the store's block. If it is already published, only show that this process is alive.

        Raises `UpstreamError` if the server fails; the next call then publishes the changes.
        """
        self._follow_store()
        header = self._market.header
        if header is None:
            return
        was_writer = self._is_writer
        self._write(header)
        if was_writer and not self._is_writer:  # replaced, or the server has lost its data
            self._write(header)

    def release(self) -> None:
        """Give up the lease, so that another process can publish immediately. Raises `UpstreamError`."""
        if self._is_writer:
            self._is_writer = False
            self._writer.release()

    def _write(self, header: MarketHeader) -> None:
        if not self._is_writer:
            result, newest = self._writer.acquire(header.block)
            if result is not WriteResult.OK:
                self.state = PublisherState.BEHIND if result is WriteResult.BEHIND else PublisherState.STANDING_BY
                return
            self._is_writer = True
            self._continue_from(newest)
        if self._last_id is None or len(self._pending_pools) + len(self._pending_tokens) > _MAX_PENDING:
            self._begin(header)
        elif self._market.state_hash != self._published_hash:
            self._append(header, self._last_id)
        else:
            self._check(self._writer.renew())
        if not self._is_writer:
            return
        self.state = PublisherState.PUBLISHING
        limit_s = self._snapshot_interval_s
        if self._writer.is_snapshot_requested:
            limit_s = min(self._snapshot_rest_s, limit_s)
        if self._last_id and self._clock.monotonic_s() - self._snapshot_s >= limit_s:
            self._write_snapshot(self._last_id)

    def _continue_from(self, newest: NewestEntry | None) -> None:
        """Continue after the newest entry if this process or its store knows its market."""
        self._last_id = None
        if newest is not None and newest.snapshot_age_s is not None:
            self._snapshot_s = max(self._snapshot_s, self._clock.monotonic_s() - newest.snapshot_age_s)
        later: list[_Change] = []
        for change in reversed(self._history):
            if newest is not None and change.state_hash == newest.state_hash:
                self._last_id, self._published_hash = newest.id, newest.state_hash
                self._pending_tokens = {key for each in later for key in each.tokens}
                self._pending_pools = {key for each in later for key in each.pools}
                return
            later.append(change)
        if newest is not None:
            self._bridge(newest)

    def _bridge(self, newest: NewestEntry) -> None:
        """Continue after another process's entry if the store has its block and knows the changes since.

        Readers compare the hash after the changes. If the entry came from a store with different pools, they request a
        snapshot, which then follows.
        """
        with self.store.snapshot():
            blocks = [each for each in self.store.read_blocks() if each.number == newest.block]
            if not blocks or not newest.block_hash or blocks[0].hash != newest.block_hash:
                return
            pools = self.store.inventory.changed_since(blocks[0])
            tokens = self.store.inventory.tokens_changed_since(blocks[0].number)
        if pools is not None:
            self._last_id, self._published_hash = newest.id, newest.state_hash
            self._pending_pools, self._pending_tokens = set(pools), tokens

    def _append(self, header: MarketHeader, after: str) -> None:
        entry = self._market.entry(self._published_hash, self._pending_tokens, self._pending_pools, self._rewound_to)
        data = encode_entry(entry)
        if len(data) > MAX_ENTRY_BYTES // 4:
            self._begin(header)
            return
        result, entry_id = self._writer.append(data, header.block, entry.state_hash, after, header.block_hash or "")
        if self._check(result):
            self._set_published(entry_id)
            self.last_entry_bytes = len(data)
        elif result is WriteResult.LOST:
            self._begin(header)

    def _begin(self, header: MarketHeader) -> None:
        """Publish the whole market. Its entry has no changes: readers with another market load the snapshot."""
        entry, started_s = self._market.entry("", (), (), self._rewound_to), self._clock.monotonic_s()
        data = encode_entry(self._market.snapshot())
        result, entry_id = self._writer.begin(
            encode_entry(entry), header.block, entry.state_hash, data, header.block_hash or ""
        )
        if self._check(result):
            self._set_published(entry_id)
            self._set_snapshot(data, started_s)

    def _write_snapshot(self, entry_id: str) -> None:
        started_s = self._clock.monotonic_s()
        data = encode_entry(self._market.snapshot())
        if self._check(self._writer.set_snapshot(data, entry_id)):
            self._set_snapshot(data, started_s)

    def _set_snapshot(self, data: bytes, started_s: float) -> None:
        self._snapshot_s, self.last_snapshot_bytes = self._clock.monotonic_s(), len(data)
        self._snapshot_rest_s = max(MIN_SNAPSHOT_INTERVAL_S, _SNAPSHOT_REST * (self._snapshot_s - started_s))

    def _check(self, result: WriteResult) -> bool:
        """Return whether the server succeeded. If not, the next call becomes the writer or starts again."""
        if result is WriteResult.LOST:
            self._last_id = None
        elif result is not WriteResult.OK:
            self._is_writer = False
        return result is WriteResult.OK

    def _set_published(self, entry_id: str) -> None:
        self._last_id, self._published_hash = entry_id, self._market.state_hash
        self._pending_tokens, self._pending_pools, self._rewound_to = set(), set(), None

    # --- the copy of the store

    def _follow_store(self) -> None:
        """Bring the copy to the store's block."""
        with self.store.snapshot():
            head = self.store.inventory.head()
            if head is None or (self._history and self._history[-1].block == head):
                return
            known = self._find_known_block()
            undone = self._undo_history(known)
            if known is None:
                changes = self._read_changes(None, None)
            else:
                tokens = self.store.inventory.tokens_changed_since(known.block.number)
                pools = self.store.inventory.changed_since(known.block) or frozenset()
                changes = self._read_changes(
                    tokens.union(*(each.tokens for each in undone)), pools.union(*(each.pools for each in undone))
                )
            if undone and undone[0].block.number >= min(block.number for block in self.store.read_blocks()):
                self._rewound_to = (undone[-1].block.number - 1) if known is None else known.block.number
            header = self._read_header(head)
        changed = self._market.changed(changes)
        self._market.update(header, changes)
        self._pending_tokens.update(changed.tokens)
        self._pending_pools.update(changed.pools)
        # A record changed by an undone block may differ from the known block, even if that block's value was the same.
        change = _Change(
            head,
            self._market.state_hash,
            frozenset(changed.tokens).union(*(each.tokens for each in undone)),
            frozenset(changed.pools).union(*(each.pools for each in undone)),
        )
        self._history.append(change)

    def _undo_history(self, known: _Change | None) -> list[_Change]:
        """Remove the changes after the known one, and return them, newest first.

        A reorganization undid them, unless the store has moved so far ahead that it has forgotten them.
        """
        undone = []
        while self._history and self._history[-1] is not known:
            undone.append(self._history.pop())
        return undone

    def _find_known_block(self) -> _Change | None:
        """Return the newest published block that the store still has."""
        blocks = set(self.store.read_blocks())
        return next((change for change in reversed(self._history) if change.block in blocks), None)

    def _read_changes(self, tokens: Iterable[str] | None, pools: Iterable[str] | None) -> Changes:
        """Return the documents of these records, or of all. Those missing from the store are removed."""
        inventory = self.store.inventory
        found = inventory.pool_documents(pools)
        found_tokens = inventory.token_documents(tokens)
        token_keys = set(self._market.tokens) if tokens is None else set(tokens)
        pool_keys = set(self._market.pools) if pools is None else set(pools)
        return Changes(
            {**dict.fromkeys(token_keys - found_tokens.keys()), **found_tokens},
            {**dict.fromkeys(pool_keys - found.keys()), **{key: each.document for key, each in found.items()}},
            {key: each.depth_usd for key, each in found.items()},
        )

    def _read_header(self, head: StoredBlock) -> MarketHeader:
        market = self.store.read_pools(())
        return MarketHeader(
            network=market.network.name,
            chain_id=market.network.chain_id,
            block=head.number,
            block_hash=head.hash,
            timestamp=head.timestamp,
            gas_price_wei=market.gas_price_wei,
            source=market.source,
            pinned=market.pinned,
        )
