"""Where a store stands on the chain that a node knows: the check that comes before each step.

Blocks with their hashes are a chain, so if one of those that the store remembers is part of the node's chain, all
before it are. A chain takes the place of the store's only where it has come at least as far: a node that is behind
knows less, not better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from swapcli.chain.node import BlockHeader, Node
from swapcli.errors import ConfigError, MarketUnavailable, StaleNode
from swapcli.store import BlockMark, Store


class Footing(NamedTuple):
    """`held` is the block that the store is at, None where it is at none.

    `rewound_to` is that block's number where the store had to go back to it. `is_behind` says that the node's newest
    block comes before `held`, on the same chain; `is_lost` that no block that the store remembers is on the node's
    chain, so that nothing it holds can be believed.
    """

    held: BlockMark | None
    rewound_to: int | None = None
    is_behind: bool = False
    is_lost: bool = False


class Overtaken(ConfigError):
    """Another process has moved the store in the meantime."""

    def __init__(self, store: Store) -> None:
        super().__init__(
            f"the store {store.path} cannot be used: another process is writing to it",
            hint="wait until that one has finished",
            details={"store": store.path},
        )


def find_footing(store: Store, node: Node, head: BlockHeader) -> Footing:
    """Where `store` stands, once it has gone back to the newest of its blocks that the node's chain still has.

    Raises `StaleNode` where the node's newest block `head` is older than the store's and on another chain, and
    `Overtaken`.
    """
    marks = store.blocks()
    if not marks:
        return Footing(store.register.head(), is_lost=store.register.counts()[0] > 0)
    newest = marks[0]
    if head.number < newest.number:
        _check_same_chain(marks, node, head)
        return Footing(newest, is_behind=True)
    if _is_on_chain(newest, node, head):
        return Footing(newest)
    standing = _newest_standing(marks[1:], node, head)
    if standing is None:
        return Footing(newest, is_lost=True)
    try:
        store.rewind_to(standing.number)
    except MarketUnavailable:
        raise Overtaken(store) from None
    return Footing(standing, rewound_to=standing.number)


def _is_on_chain(mark: BlockMark, node: Node, head: BlockHeader) -> bool:
    if mark.hash is None:
        return False
    if mark.number == head.number:
        return mark.hash == head.hash
    if mark.number == head.number - 1:
        return mark.hash == head.parent_hash
    found = node.block(mark.number)
    if found is None:
        raise StaleNode(
            f"{node.shown} does not know block {mark.number}, though it told of block {head.number}",
            hint="try again: it may be several nodes, of which some are behind",
        )
    return mark.hash == found.hash


def _newest_standing(marks: Sequence[BlockMark], node: Node, head: BlockHeader) -> BlockMark | None:
    """Of marks from the newest to the oldest: those that stand all come after those that do not."""
    low, high = 0, len(marks)
    while low < high:
        middle = (low + high) // 2
        if _is_on_chain(marks[middle], node, head):
            high = middle
        else:
            low = middle + 1
    return marks[low] if low < len(marks) else None


def _check_same_chain(marks: Sequence[BlockMark], node: Node, head: BlockHeader) -> None:
    """By the newest remembered block that the node can know."""
    known = next((mark for mark in marks if mark.number <= head.number), None)
    if known is None or not _is_on_chain(known, node, head):
        raise StaleNode(
            f"{node.shown} is at block {head.number} of "
            f"{'a chain that the store does not remember' if known is None else 'another chain than the store'}, "
            f"and the store is at block {marks[0].number} already",
            hint="wait until the node has caught up, or set another node",
            details={"node_block": head.number, "store_block": marks[0].number},
        )
