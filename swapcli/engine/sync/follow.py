"""Keeps a store at the newest block."""

from __future__ import annotations

from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import Node
from swapcli.engine.sync.advance import take_step
from swapcli.engine.sync.chain_position import Footing
from swapcli.engine.sync.cursor import NOTHING, Search, search_of
from swapcli.engine.sync.discover import Found, find_more
from swapcli.engine.sync.sync_filter import Advance
from swapcli.errors import MarketUnavailable
from swapcli.store import Store

_PORTION = 500


def follow(store: Store, node: Node) -> Advance | None:
    """Bring a synced store to the node's newest block, in one transaction; None where there is no new block.

    What has come since and was wanted of the last sync is added. A node that is behind the store, on the same chain,
    counts as one without a new block. Raises `UpstreamError` (`StaleNode` for a node that is behind on another chain),
    `ConfigError` where another process is writing to the store, and `MarketUnavailable` where it holds nothing yet.
    """
    if search_of(store) is None and not store.register.counts()[0]:
        raise MarketUnavailable(
            f"the store {store.path} holds no market yet",
            hint="fill it with `swapcli sync`",
            details={"store": store.path},
        )

    def hunt(view: BlockReader, footing: Footing) -> Found:
        search = search_of(store) or Search(NOTHING, is_judged=True)
        return find_more(store, view, search.anew() if footing.is_lost else search, _PORTION)

    step = take_step(store, node, hunt, at_rest=False)
    return step and step.advance
