"""Check that each node from the settings or the catalogue has the features that quotes and syncs need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

from swapcli.core.model.network import Network
from swapcli.quoting.config import Secret
from swapcli.quoting.openers.nodes import NodeOpener, http_only

if TYPE_CHECKING:
    from swapcli.state.rpc.node_checks import NodeReport


def check_named_nodes(nodes: NodeOpener, network: Network) -> tuple[NodeReport, ...]:
    """Check each node from the command line or the settings. Raises `ConfigError` for an invalid URL."""
    named = nodes.rules.named_nodes(network)
    return _check_each(nodes, http_only(named.urls, network), network, named.headers) if named else ()


def check_public_nodes(nodes: NodeOpener, network: Network) -> tuple[NodeReport, ...]:
    """Check each public node of a network. Raises `ConfigError` for an invalid URL."""
    public = nodes.rules.public_nodes(network)
    return _check_each(nodes, public.urls, network, {}) if public else ()


def _check_each(
    nodes: NodeOpener, urls: Sequence[Secret], network: Network, headers: Mapping[str, str]
) -> tuple[NodeReport, ...]:
    """Check nodes in parallel; the results are in the order of their URLs."""
    from swapcli.state.rpc.node_checks import check_node

    def check(url: Secret) -> NodeReport:
        with closing(nodes.connector.connect([url], network, headers)) as node:
            return check_node(node, network)

    with ThreadPoolExecutor(max(len(urls), 1)) as pool:
        return tuple(pool.map(check, urls))
