"""Relate a store to the chain that a node has. Every step begins with this check.

Each block contains the hash of its parent, so if one of the store's blocks is on the node's chain, all earlier ones are
too. The node's chain replaces the store's only if it is at least as long, because a node that is behind merely has less
information.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.errors import ConfigError, MarketUnavailable, StaleNode
from swapcli.core.records import NamedTuple
from swapcli.state.rpc.node import BlockHeader, Node
from swapcli.state.store import Store, StoredBlock


class ChainPosition(NamedTuple):
    """A store's latest block, and its relation to a node's chain.

    `stored_block` is None if the store has no block. `rewound_to` is the number of `stored_block` if the store had to
    be rewound to it. `node_is_behind` is true if the node's latest block precedes `stored_block` on the same chain.
    `is_fork_unknown` is true if none of the store's blocks is on the node's chain, so that all of the store's state is
    invalid.
    """

    stored_block: StoredBlock | None
    rewound_to: int | None = None
    node_is_behind: bool = False
    is_fork_unknown: bool = False


class ConcurrentWrite(ConfigError):
    """Another process has written to the store during the step."""

    def __init__(self, store: Store) -> None:
        super().__init__(
            f"the store {store.path} cannot be used: another process is writing to it",
            hint="wait until that process has finished",
            details={"store": store.path},
        )


def locate(store: Store, node: Node, head: BlockHeader) -> ChainPosition:
    """Rewind the store to its latest block that is on the node's chain, and return the store's position.

    Raises `StaleNode` if `head`, the node's latest block, is older than the store's latest block and on another chain.
    Raises `ConcurrentWrite`.
    """
    blocks = store.read_blocks()
    if not blocks:
        return ChainPosition(store.inventory.head(), is_fork_unknown=store.inventory.has_pools())
    newest = blocks[0]
    if head.number < newest.number:
        _check_same_chain(blocks, node, head)
        return ChainPosition(newest, node_is_behind=True)
    if _is_on_chain(newest, node, head):
        return ChainPosition(newest)
    common = _newest_on_chain(blocks[1:], node, head)
    if common is None:
        return ChainPosition(newest, is_fork_unknown=True)
    try:
        store.rewind_to(common.number)
    except MarketUnavailable:
        raise ConcurrentWrite(store) from None
    return ChainPosition(common, rewound_to=common.number)


def _is_on_chain(block: StoredBlock, node: Node, head: BlockHeader) -> bool:
    if block.hash is None:
        return False
    if block.number == head.number:
        return block.hash == head.hash
    if block.number == head.number - 1:
        return block.hash == head.parent_hash
    header = node.read_block(block.number)
    if header is None:
        raise StaleNode(
            f"{node.redacted_url} has no block {block.number}, although it reported block {head.number}",
            hint="try again: several nodes may serve this URL, and some may lag behind",
        )
    return block.hash == header.hash


def _newest_on_chain(blocks: Sequence[StoredBlock], node: Node, head: BlockHeader) -> StoredBlock | None:
    """Return the latest block on the node's chain, by bisection; `blocks` are sorted from newest to oldest."""
    low, high = 0, len(blocks)
    while low < high:
        middle = (low + high) // 2
        if _is_on_chain(blocks[middle], node, head):
            high = middle
        else:
            low = middle + 1
    return blocks[low] if low < len(blocks) else None


def _check_same_chain(blocks: Sequence[StoredBlock], node: Node, head: BlockHeader) -> None:
    """Raise `StaleNode` unless the newest stored block that the node can know is on the node's chain."""
    known = next((block for block in blocks if block.number <= head.number), None)
    if known is None or not _is_on_chain(known, node, head):
        raise StaleNode(
            f"{node.redacted_url} is at block {head.number} of "
            f"{'a chain that the store does not have' if known is None else 'a different chain than the store'}, "
            f"but the store is already at block {blocks[0].number}",
            hint="wait until the node has caught up, or set a different node",
            details={"node_block": head.number, "store_block": blocks[0].number},
        )
