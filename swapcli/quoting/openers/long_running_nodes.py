"""Open nodes for long-running commands (sync, serve), to which WebSocket and IPC nodes announce new blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from swapcli.core.encoding.url import is_http_url
from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple
from swapcli.quoting.config import Secret
from swapcli.quoting.live_choice import NodeChoice, no_known_node
from swapcli.quoting.openers.nodes import NodeOpener, http_only
from swapcli.quoting.openers.user_setup import Warn

if TYPE_CHECKING:
    from swapcli.state.rpc.connect_nodes import AnyNode
    from swapcli.state.rpc.head_source import HeadSource


PUBLIC_POLL_S: Final = 3.0
"""The shortest pause between a service's polls of public nodes, because it follows all networks all day on shared
nodes."""


class LastingNode(NamedTuple):
    """A node for a long-running command, and the source of heads that wakes its follower. Close the heads to close
    their connection.

    `is_public` is true for public nodes from the catalogue that the user has not named.
    """

    node: AnyNode
    heads: HeadSource
    is_public: bool = False


def named_lasting_node(
    nodes: NodeOpener,
    network: Network,
    warn: Warn | None = None,
    *,
    is_followed: bool = True,
    shares_load: bool = False,
) -> LastingNode | None:
    """Return the node that the user has named for a network, or None if there is none, or if the setup is offline.

    In addition to the http nodes that quotes read, WebSocket and IPC nodes are used. The first of these announces new
    blocks if the chain `is_followed`. All of them replace http nodes that fail or are missing. With `shares_load`, all
    nodes share large reads, each within its limits. Raises the same errors as `NodeOpener.node`.
    """
    named = nodes.rules.named_nodes(network)
    if named is None:
        return None
    return _connect(nodes, named.urls, network, named.headers, warn, is_followed=is_followed, shares_load=shares_load)


def any_lasting_node(nodes: NodeOpener, network: Network) -> LastingNode:
    """Return the user's node for a network, otherwise the catalogue's public nodes, with a warning.

    Its nodes share large reads. Raises the same errors as `NodeOpener.node`, and `InvalidOption` if there is no node at
    all.
    """
    lasting = named_lasting_node(nodes, network, shares_load=True)
    if lasting is not None:
        return lasting
    public = nodes.rules.public_nodes(network)
    if public is None:
        raise no_known_node(network)
    lasting = _connect_public(nodes, public, network)
    shown = lasting.node.redacted_url
    nodes.setup.warn(
        f"{network.name} has no node in the settings; using a public node, which may limit requests: {shown}"
    )
    return lasting


def service_node(nodes: NodeOpener, network: Network, warn: Warn | None = None) -> LastingNode | None:
    """Return the node that a service follows: the user's node, otherwise the catalogue's public nodes.

    Returns None if there is no node, or if none may be read. `warn` receives the reason when a spare replaces a node.
    Raises the same errors as `NodeOpener.node`, and `InvalidOption` if a node is required and none is known.
    """
    rules = nodes.rules
    if rules.excludes_nodes:
        return None
    lasting = named_lasting_node(nodes, network, warn)
    if lasting is not None:
        return lasting
    public = rules.public_nodes(network)
    if public is not None:
        return _connect_public(nodes, public, network, warn, min_poll_s=PUBLIC_POLL_S)
    if rules.requires_node:
        raise no_known_node(network)
    return None


def _connect_public(
    nodes: NodeOpener, public: NodeChoice, network: Network, warn: Warn | None = None, *, min_poll_s: float = 0.0
) -> LastingNode:
    node, heads, _ = _connect(nodes, public.urls, network, {}, warn, shares_load=True, min_poll_s=min_poll_s)
    return LastingNode(node, heads, is_public=True)


def _connect(
    nodes: NodeOpener,
    urls: Sequence[Secret],
    network: Network,
    headers: Mapping[str, str],
    warn: Warn | None = None,
    *,
    is_followed: bool = True,
    shares_load: bool = False,
    min_poll_s: float = 0.0,
) -> LastingNode:
    from swapcli.state.rpc.head_source import POLLING_HINT, PollingHeads, SubscribedHeads, poll_interval_s
    from swapcli.state.rpc.head_watch import MIN_PERIOD_S
    from swapcli.state.rpc.nodes_by_kind import nodes_of_kind

    of_kind = nodes_of_kind(network.kind)
    if not of_kind.announce_blocks:
        urls = http_only(urls, network)
    poll_s = poll_interval_s(network.block_time_s)
    has_live = any(not is_http_url(url.reveal()) for url in urls)
    subscribed = SubscribedHeads(poll_s) if has_live and is_followed else None
    in_order = sorted(urls, key=lambda url: not is_http_url(url.reveal()))
    node = nodes.connector.connect(in_order, network, headers, warn, subscribed, shares_load=shares_load)
    hint = POLLING_HINT if of_kind.announce_blocks and not min_poll_s else None
    heads = subscribed or PollingHeads(max(poll_s, min_poll_s), hint=hint, min_poll_s=min_poll_s)
    return LastingNode(node, node.watch_heads(heads, min_period_s=max(min_poll_s, MIN_PERIOD_S)))
