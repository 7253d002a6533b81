"""Open nodes for commands that read many past blocks. Their responses about final blocks are kept in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from swapcli.core.errors import ConfigError
from swapcli.quoting.openers.nodes import NodeOpener

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.state.read_cache.cache_file import CacheFile
    from swapcli.state.read_cache.cached_node import ArchiveNode
    from swapcli.state.rpc.node import HistoryNode

CACHE_FILE = "past-blocks.db"
"""The file in the data folder with nodes' responses about final blocks, for all networks."""


@contextmanager
def open_past_node(nodes: NodeOpener, network: Network, *, uses_cache: bool) -> Iterator[HistoryNode]:
    """Yield the node from which quotes on a network are read. With `uses_cache`, its responses about final blocks are
    kept.

    On an EVM network, the node is an `ArchiveNode`. A cache that cannot be used is skipped with a note. Raises the same
    errors as `NodeOpener.require_quoted_node`.
    """
    with closing(nodes.require_quoted_node(network)) as node, _open_cache(nodes, uses_cache=uses_cache) as cache:
        if cache is None:
            yield node
            return
        from swapcli.state.read_cache.cached_node import CachedArchiveNode, CachedNode
        from swapcli.state.rpc.node import StateOverrideNode

        if isinstance(node, StateOverrideNode):
            yield CachedArchiveNode(node, cache, network.chain_id)
        else:
            yield CachedNode(node, cache, network.chain_id)


@contextmanager
def open_archive_node(nodes: NodeOpener, network: Network, *, uses_cache: bool) -> Iterator[ArchiveNode]:
    """Yield the node of an EVM network in the same way as `open_past_node`. Raises the same errors as
    `NodeOpener.require_node`."""
    with closing(nodes.require_node(network)) as node, _open_cache(nodes, uses_cache=uses_cache) as cache:
        if cache is None:
            yield node
            return
        from swapcli.state.read_cache.cached_node import CachedArchiveNode

        yield CachedArchiveNode(node, cache, network.chain_id)


@contextmanager
def _open_cache(nodes: NodeOpener, *, uses_cache: bool) -> Iterator[CacheFile | None]:
    if not uses_cache:
        yield None
        return
    from swapcli.state.read_cache.cache_file import CacheFile

    try:
        opened = CacheFile(nodes.setup.data_dir / CACHE_FILE, nodes.setup.warn)
    except ConfigError as error:
        nodes.setup.warn(f"{error.message}; {error.hint}")
        yield None
        return
    with closing(opened) as cache:
        yield cache
