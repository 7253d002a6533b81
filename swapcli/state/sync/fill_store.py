"""Fill a store, and bring it to the latest block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from swapcli.core.errors import ConfigError, StaleNode
from swapcli.core.model.market import MarketState
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.state.clock import Clock
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import Node
from swapcli.state.store import Store
from swapcli.state.sync.advance import Discoverer, SyncStep, advance
from swapcli.state.sync.chain_position import ChainPosition
from swapcli.state.sync.cursor import NO_PROTOCOLS, SyncCursor, read_cursor, resume_cursor
from swapcli.state.sync.discover import Discovery, Stage, discover
from swapcli.state.sync.progress import Progress
from swapcli.state.sync.sync_filter import SyncFilter

_BATCH_SIZE: Final = 500  # pools of the first step; chosen
_MIN_RETRY_BATCH, _MIN_BATCH, _MAX_BATCH = 10, 50, 2_000
_SHORT_STEP_S, _LONG_STEP_S = 0.5, 2.0
"""Batches grow or shrink until a step takes between these times: a kill loses one step, and progress is reported after
each."""


def sync(
    store: Store,
    node: Node,
    sync_filter: SyncFilter,
    clock: Clock,
    *,
    batch_size: int = _BATCH_SIZE,
    accept_losses: bool = False,
) -> Iterator[Progress]:
    """Fill a store with the pools that match the filter, and bring it to the latest block. An interrupted sync is
    resumed.

    One transaction is committed per progress report. The first adds about `batch_size` pools. Stored pools stay even if
    they do not match the filter. With `accept_losses`, all pools that the node no longer returns are removed, however
    many. Raises `UpstreamError`, and `ConfigError` if another process is writing to the store.
    """
    batch, is_first_step, is_retry = _BatchSize(batch_size), True, False

    def discover_batch(reader: MulticallReader, position: ChainPosition) -> Discovery:
        nonlocal is_retry
        if is_retry:
            batch.after_retry()
        is_retry = True  # until the next step
        cursor = _cursor_for(store, sync_filter, reader.block, position, is_first_step=is_first_step)
        return discover(store, reader, cursor, batch.pools)

    is_complete = False
    while not is_complete:
        started_s, is_retry = clock.monotonic_s(), False
        step = _require_step(store, node, discover_batch, accept_losses)
        is_first_step, is_complete = False, step.discovery.is_complete
        batch.after_step(clock.monotonic_s() - started_s)
        yield _progress(store, step)


class _BatchSize:
    """The number of `pools` to discover in a step, adapted to the duration of steps."""

    def __init__(self, pools: int) -> None:
        self.pools = pools

    def after_retry(self) -> None:
        """Halve the batch: a shorter step is more likely to fit between two blocks or reorganizations."""
        self._halve(_MIN_RETRY_BATCH)

    def after_step(self, duration_s: float) -> None:
        """Halve the batch after a long step, and double it after a short one."""
        if duration_s > _LONG_STEP_S:
            self._halve(_MIN_BATCH)
        elif duration_s < _SHORT_STEP_S:
            self.pools = min(2 * self.pools, _MAX_BATCH)

    def _halve(self, minimum: int) -> None:
        self.pools = max(self.pools // 2, min(self.pools, minimum))  # a batch below the minimum stays unchanged


def _cursor_for(
    store: Store, sync_filter: SyncFilter, block: int, position: ChainPosition, *, is_first_step: bool
) -> SyncCursor:
    """Return the cursor from which a step discovers pools.

    The first step adapts the cursor of the last sync to this sync's filter. So does a step after a rewind, which
    restores the cursor of an earlier block, possibly from before this sync. Other steps continue where the previous
    step stopped. Raises `ConfigError` if another process has since stored a cursor with a different filter.
    """
    if is_first_step or position.rewound_to is not None:
        cursor = resume_cursor(store, sync_filter, block)
    else:
        stored = read_cursor(store)
        if stored is None or stored.sync_filter != sync_filter:
            raise _other_sync(store)
        cursor = stored
    return cursor.reset() if position.is_fork_unknown else cursor


def import_pools(store: Store, node: Node, market: MarketState, *, batch_size: int = _BATCH_SIZE) -> Iterator[Progress]:
    """Fill an empty store with a market's pools, except placeholders. Their state is read from the node.

    An interrupted import can be resumed with the same market. Raises the same errors as `sync`, and `ConfigError` if
    the store was filled in another way.
    """
    cursor = read_cursor(store)
    if store.inventory.has_pools() if cursor is None else cursor.sync_filter != NO_PROTOCOLS:
        raise ConfigError(
            f"the store {store.path} already has a different market",
            hint="use a different file",
            details={"store": store.path},
        )
    known = (pool for key, pool in market.pools.items() if key not in market.placeholder_pools)
    refs = [ref for pool in known if (ref := ref_of_pool(pool, store.network))]

    def next_pools(reader: MulticallReader, position: ChainPosition) -> Discovery:
        del reader, position
        cursor = read_cursor(store) or SyncCursor(NO_PROTOCOLS, liquidity_filtered=True)
        last = min(cursor.imported_pools + batch_size, len(refs))
        return Discovery(
            replace(cursor, imported_pools=last),
            refs[cursor.imported_pools : last],
            tokens=market.tokens,
            stage=Stage("pools of the market", last, len(refs)),
            is_complete=last == len(refs),
        )

    is_complete = False
    while not is_complete:
        step = _require_step(store, node, next_pools)
        is_complete = step.discovery.is_complete
        yield _progress(store, step)


def _require_step(store: Store, node: Node, discoverer: Discoverer, accept_losses: bool = False) -> SyncStep:
    step = advance(store, node, discoverer, even_without_new_block=True, accept_losses=accept_losses)
    if step is None:
        raise StaleNode(
            f"{node.redacted_url} is behind the store {store.path}",
            hint="wait until the node has caught up, or set a different node",
        )
    return step


def _progress(store: Store, step: SyncStep) -> Progress:
    number = step.advance.block.number
    phase, done, total = step.discovery.stage or Stage("blocks", number, number)
    pools, tokens = store.inventory.count_pools_and_tokens()
    return Progress(phase, done, total, number, pools, tokens)


def _other_sync(store: Store) -> ConfigError:
    return ConfigError(
        f"another process is running a different sync into the store {store.path}",
        hint="wait until it has finished, or use a different file",
        details={"store": store.path},
    )
