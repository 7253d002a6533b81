"""Open nodes for commands that look at many past blocks: what they say of final ones is kept in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

from swapcli.quoting.openers.nodes import NodeOpener

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.state.read_cache.cached_node import ArchiveNode

CACHE_FILE = "past-blocks.db"
"""The file in the data folder with what nodes have said of final blocks of all networks."""


@contextmanager
def open_past_node(nodes: NodeOpener, network: Network, *, uses_cache: bool) -> Iterator[ArchiveNode]:
    """Yield the node of an EVM network that quotes read; what it says of final blocks is kept if it `uses_cache`.

    Raises as `NodeOpener.require_node`, and `ConfigError` if the cache cannot be opened.
    """
    with ExitStack() as stack:
        node = stack.enter_context(closing(nodes.require_node(network)))
        if not uses_cache:
            yield node
            return
        from swapcli.state.read_cache.cache_file import CacheFile
        from swapcli.state.read_cache.cached_node import CachedNode

        setup = nodes.setup
        cache = stack.enter_context(closing(CacheFile(setup.data_dir / CACHE_FILE, setup.warn)))
        yield CachedNode(node, cache, network.chain_id)
