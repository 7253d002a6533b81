"""Keep a store at the latest block. While its disk is not writable, a copy in memory is updated instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from swapcli.core.errors import MarketUnavailable, SwapcliError
from swapcli.state.clock import SYSTEM_CLOCK, Clock
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import Node
from swapcli.state.store import IN_MEMORY, Store, is_disk_failure, remove_copy
from swapcli.state.sync.advance import advance
from swapcli.state.sync.chain_position import ChainPosition
from swapcli.state.sync.cursor import NO_PROTOCOLS, SyncCursor, read_cursor
from swapcli.state.sync.discover import Discovery, discover
from swapcli.state.sync.progress import Advance

_BATCH_SIZE = 500
"""New pools per step: far more than a network gets between two blocks."""
_RETRY_S: Final = 5.0
_RETRY_REST: Final = 20.0
"""Time between attempts to write to the disk again: at least `_RETRY_REST` times the duration of the last attempt,
which compares the whole store, so that blocks continue."""

DiskReport = Callable[[SwapcliError | None, int], object]
"""Receives each failed disk write and the number of consecutive failures; None and 0 once the disk has all blocks."""


class ChainFollower:
    """Follows a chain with a store. While the disk is not writable, a copy at `copy_path` is updated instead, because a
    store is only a cache.

    A copy left by a killed process is used again.
    """

    def __init__(
        self,
        store: Store,
        node: Node,
        on_disk: DiskReport = lambda *_: None,
        copy_path: str = IN_MEMORY,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._store, self._node, self._on_disk, self._copy_path, self._clock = store, node, on_disk, copy_path, clock
        self._failures = 0
        self._retry_s = 0.0

    def follow(self, reported: int | None = None) -> Advance | None:
        """Same as `follow`. Also returns None if the disk is not writable but another process has written the block."""
        if self._store.has_left_disk and self._clock.monotonic_s() >= self._retry_s:
            self._return_to_disk()
        before = None
        try:
            before = self._store.inventory.head()
            return follow(self._store, self._node, reported)
        except SwapcliError as error:
            if self._store.has_left_disk or not is_disk_failure(error):
                raise
            if before and before.number < (self._store.inventory.head() or before).number:
                return None
            self._store.leave_disk(self._copy_path)
            self._record_failure(error, 0.0)
        return follow(self._store, self._node, reported)

    def _return_to_disk(self) -> None:
        started_s = self._clock.monotonic_s()
        try:
            self._store.return_to_disk()
        except SwapcliError as error:
            self._record_failure(error, self._clock.monotonic_s() - started_s)
            return
        self._failures = 0
        self._on_disk(None, 0)
        remove_copy(self._copy_path)

    def _record_failure(self, error: SwapcliError, spent_s: float) -> None:
        self._retry_s = self._clock.monotonic_s() + max(_RETRY_S, _RETRY_REST * spent_s)
        self._failures += 1
        self._on_disk(error, self._failures)


def follow(store: Store, node: Node, reported: int | None = None) -> Advance | None:
    """Bring a synced store to the node's latest block, in one transaction. Return None if there is no new block.

    New pools that match the filter of the last sync are added. A node that is behind the store on the same chain counts
    as having no new block. `reported` is the number of the last block that the caller has reported to its users. If a
    failed step left the store rewound past that block, the next successful step reports the rewind. Raises
    `UpstreamError` (`StaleNode` if the node is behind on another chain), `ConfigError` if another process is writing to
    the store, and `MarketUnavailable` if the store is empty.
    """
    if read_cursor(store) is None and not store.inventory.has_pools():
        raise MarketUnavailable(
            f"the store {store.path} has no market yet",
            hint="fill it with `swapcli sync`",
            details={"store": store.path},
        )

    def discover_new(reader: MulticallReader, position: ChainPosition) -> Discovery:
        cursor = read_cursor(store) or SyncCursor(NO_PROTOCOLS, liquidity_filtered=True)
        return discover(store, reader, cursor.reset() if position.is_fork_unknown else cursor, _BATCH_SIZE)

    before = store.inventory.head()
    step = advance(store, node, discover_new, even_without_new_block=False)
    if step is None:
        return None
    if reported is not None and before is not None and before.number < reported and step.advance.rewound_to is None:
        return step.advance._replace(rewound_to=before.number)
    return step.advance
