"""Keeps a store at the newest block."""

from __future__ import annotations

from swapcli.chain.node import Node
from swapcli.engine.sync.wanted import Advance
from swapcli.store import Store


def follow(store: Store, node: Node) -> Advance | None:
    """Bring a synced store to the node's newest block, in one transaction; None where there is no new block.

    Raises `UpstreamError`, and `ConfigError` where another process is writing to the store.
    """
    head = node.head()
    held = store.blocks()[0]
    return None if held.number >= head.block.number else Advance(head.block)
