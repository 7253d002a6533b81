"""Advance a store to its node's latest block, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from swapcli.core.errors import BlockMismatch, ChainReorganized, InvalidUpstreamResponse, MarketError
from swapcli.core.records import NamedTuple
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockHeader, ChainHead, Node
from swapcli.state.store import BlockWriter, Store, StoredBlock
from swapcli.state.sync.chain_position import ChainPosition, ConcurrentWrite, locate
from swapcli.state.sync.cursor import SyncCursor, write_cursor
from swapcli.state.sync.discover import Discovery
from swapcli.state.sync.insert import add_pools, drop_illiquid
from swapcli.state.sync.progress import Advance
from swapcli.state.sync.refresh_pools import Refreshed, Refresher, check_on_chain
from swapcli.state.sync.transfer_checks import check_transfers

_MAX_ATTEMPTS: Final = 4
"""Consecutive reorganizations and concurrent writes are rare; more of them mean that something else is wrong."""
_MAX_MISMATCHES: Final = 8
"""Attempts with a node that responds from different blocks than requested: it can be read between two new blocks."""

Discoverer = Callable[[MulticallReader, ChainPosition], Discovery]
"""Discovers the next batch of pools at the reader's block."""


class SyncStep(NamedTuple):
    """The changes made by a step, and the batch of pools that it added."""

    advance: Advance
    discovery: Discovery


def advance(
    store: Store, node: Node, discover: Discoverer, *, even_without_new_block: bool, accept_losses: bool = False
) -> SyncStep | None:
    """Bring the store to the node's latest block, and add the pools that `discover` returns there.

    Return None if the node is behind the store, or if there is no new block, unless `even_without_new_block`. Before
    the transaction is committed, the block is compared with the chain once more. After a reorganization, a concurrent
    write or results from another block, the step is repeated a few times. After invalid responses, it is repeated with
    a spare node, if there is one. A step that would lose many pools fails unless `accept_losses` is true. Raises
    `UpstreamError`, and `ConfigError` if the store cannot be written to.
    """
    rewound_to: int | None = None
    failures = mismatches = 0
    while True:
        try:
            head = node.read_head()
            position = locate(store, node, head.block)
            rewound_to = rewound_to if position.rewound_to is None else position.rewound_to
            if position.node_is_behind or not (even_without_new_block or _is_new(head.block, position)):
                return None
            return _commit_step(store, node, head, position._replace(rewound_to=rewound_to), discover, accept_losses)
        except (ChainReorganized, ConcurrentWrite):
            failures += 1
            if failures == _MAX_ATTEMPTS:
                raise
        except BlockMismatch as error:
            mismatches += 1
            if mismatches > _MAX_MISMATCHES or (mismatches == _MAX_MISMATCHES and not node.use_spare(error)):
                raise
        except InvalidUpstreamResponse as error:
            failures += 1
            if failures == _MAX_ATTEMPTS or not node.use_spare(error):
                raise


def _is_new(block: BlockHeader, position: ChainPosition) -> bool:
    stored = position.stored_block
    return position.is_fork_unknown or stored is None or stored.number < block.number


def _commit_step(
    store: Store, node: Node, head: ChainHead, position: ChainPosition, discover: Discoverer, accept_losses: bool
) -> SyncStep:
    block = head.block
    reader = MulticallReader(node, block, store.network.multicall, allow_later_blocks=True)
    with _open_block(store, block, position) as writer:
        # After an unknown fork, pools of the old chain may not exist on the new one.
        refresher = Refresher(store, writer, reader, block, accept_losses=accept_losses or position.is_fork_unknown)
        refreshed = _refresh(refresher, block, position)
        discovery = discover(reader, position)
        added = add_pools(store, writer, reader, [*discovery.pool_refs, *refreshed.retry], discovery.tokens)
        writer.record_skipped(discovery.skipped)
        is_pinned = reader.verify_block()
        if reader.has_later_answers:
            block, settled = refresher.settle(added)
            refreshed.changed.extend(key for key in settled if key not in {*refreshed.changed, *added})
            writer.renumber(StoredBlock(block.number, block.hash, block.timestamp))
        cursor, illiquid = _apply_liquidity_filter(store, writer, discovery, added)
        check_transfers(store, writer, reader, added)
        write_cursor(cursor, writer)
        writer.update_description(source=node.redacted_url, gas_price_wei=head.gas_price_wei, pinned=is_pinned)
        check_on_chain(node, block)
    return SyncStep(
        Advance(
            block,
            changed=tuple(refreshed.changed),
            added=tuple(key for key in added if key not in illiquid),
            removed=(*refreshed.removed, *(key for key in illiquid if key not in added)),
            changed_without_event=tuple(refreshed.changed_without_event),
            unexplained=tuple(refreshed.unexplained),
            faults=tuple(refresher.faults),
            rewound_to=position.rewound_to,
        ),
        discovery,
    )


def _refresh(refresher: Refresher, block: BlockHeader, position: ChainPosition) -> Refreshed:
    if position.is_fork_unknown:
        return refresher.read_all()
    if position.stored_block is None or position.stored_block.number == block.number:
        return Refreshed([], [], [], [], [])
    return refresher.read_since(position.stored_block.number)


def _apply_liquidity_filter(
    store: Store, writer: BlockWriter, discovery: Discovery, added: list[str]
) -> tuple[SyncCursor, set[str]]:
    """Remove illiquid pools, and return their keys: among the added pools, or among all when discovery completes."""
    cursor = discovery.cursor
    min_usd = cursor.sync_filter.min_liquidity_usd
    if cursor.liquidity_filtered:
        return cursor, set(drop_illiquid(store, writer, min_usd, added))
    if not discovery.is_complete:
        return cursor, set()
    return replace(cursor, liquidity_filtered=True), set(drop_illiquid(store, writer, min_usd))


@contextmanager
def _open_block(store: Store, block: BlockHeader, position: ChainPosition) -> Iterator[BlockWriter]:
    """Open the store at the next block. Raises `ConcurrentWrite` if it is no longer at `position`."""
    try:
        with store.write_block(block.number, block.hash, block.timestamp, reset=position.is_fork_unknown) as writer:
            if store.inventory.head() != position.stored_block:
                raise ConcurrentWrite(store)
            yield writer
    except MarketError:
        if store.inventory.head() != position.stored_block:
            raise ConcurrentWrite(store) from None
        raise
