"""Connect to nodes by their URLs: clients with their spares, proxies, limits and WebSocket connections.

Which nodes, `nodes` decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from swapcli.core.encoding.url import is_http_url
from swapcli.core.errors import ConfigError
from swapcli.core.model.network import Network, PublicNode
from swapcli.quoting.config import Secret, node_url
from swapcli.quoting.openers.user_setup import UserSetup, Warn

if TYPE_CHECKING:
    from swapcli.state.rpc.head_source import SubscribedHeads
    from swapcli.state.rpc.public_nodes import AnyPublicNode
    from swapcli.state.rpc.rpc_node import RpcEndpoint, RpcNode
    from swapcli.state.rpc.starknet_node import StarknetNode
    from swapcli.state.rpc.subscribed_connection import LiveConnection

    AnyNode = RpcNode | StarknetNode
    """A node that pools can be read from."""

_LIMITS_FILE = "node-limits.json"
_QUOTE_REQUESTS = 30
"""Requests of a quote, which need not wait for a rate that was learned under load."""


class NodeConnector:
    """Connects to nodes with the timeouts, the proxies and the warnings of a setup."""

    def __init__(self, setup: UserSetup) -> None:
        self._setup = setup

    def connect(
        self,
        urls: Sequence[Secret],
        network: Network,
        headers: Mapping[str, str],
        warn: Warn | None = None,
        heads: SubscribedHeads | None = None,
        *,
        shares_load: bool = False,
    ) -> AnyNode:
        """Return a node of a network of any kind: the first of the URLs, and the others as its spares.

        Its documented public nodes keep to the limits that they publish. `warn` says why a spare replaces it.
        """
        from swapcli.state.rpc.nodes_by_kind import node_class, nodes_of_kind

        shares_load = shares_load and nodes_of_kind(network.kind).share_load
        documented = network.public_nodes
        return node_class(network.kind)(
            **self._node_arguments(
                urls, network.chain_id, headers, warn, heads, shares_load=shares_load, documented=documented
            )
        )

    def connect_eth(self, urls: Sequence[Secret], chain_id: int, headers: Mapping[str, str]) -> RpcNode:
        """Return a node with an EVM interface that the user has named: as `connect`, without documented limits."""
        from swapcli.state.rpc.rpc_node import RpcNode

        return RpcNode(**self._node_arguments(urls, chain_id, headers))

    def connect_public(self, network: Network) -> AnyPublicNode:
        """Return a node over the public nodes of the catalogue, which are asked at the same time."""
        from swapcli.state.rpc.http_proxy import find_proxy
        from swapcli.state.rpc.node_limits_file import NodeLimitsFile
        from swapcli.state.rpc.node_records import NodeRecords
        from swapcli.state.rpc.public_nodes import PublicEndpoint, open_public_node

        setup = self._setup
        place = f"networks.{network.name}.public_rpc_urls"
        path = setup.data_dir / _LIMITS_FILE
        return open_public_node(
            [
                PublicEndpoint(node, node_url(place, node.url).redacted, find_proxy(node.url, setup.environ))
                for node in network.public_nodes
            ],
            kind=network.kind,
            chain_id=network.chain_id,
            block_time_s=network.block_time_s,
            live_timeout_s=setup.settings.live_timeout_s,
            is_required=setup.node_rules.requires_node,
            report=setup.warn,
            records=NodeRecords(path),
            limits_file=NodeLimitsFile(path),
            burst=_QUOTE_REQUESTS,
        )

    def _node_arguments(
        self,
        urls: Sequence[Secret],
        chain_id: int,
        headers: Mapping[str, str],
        warn: Warn | None = None,
        heads: SubscribedHeads | None = None,
        *,
        shares_load: bool = False,
        documented: Sequence[PublicNode] = (),
    ) -> dict[str, Any]:
        from swapcli.state.rpc.http_proxy import find_proxy
        from swapcli.state.rpc.node_limits_file import NodeLimitsFile
        from swapcli.state.rpc.rpc_node import RpcEndpoint

        setup = self._setup
        shown = dict(zip(urls, _number_duplicates([url.redacted for url in urls]), strict=True))
        endpoints = []
        for url, name in shown.items():
            proxy = find_proxy(url.reveal(), setup.environ)
            endpoint = RpcEndpoint(url.reveal(), name, headers, proxy)
            if not is_http_url(endpoint.url):
                endpoint = endpoint._replace(connection=self._open_live(endpoint, chain_id, heads))
                heads = None
            endpoints.append(endpoint)
        first, *spares = endpoints
        return {
            "url": first.url,
            "redacted_url": first.redacted_url,
            "chain_id": chain_id,
            "timeout_s": setup.settings.timeout_s,
            "headers": first.headers,
            "proxy": first.proxy,
            "connection": first.connection,
            "spares": spares,
            "documented": documented,
            "report": warn or setup.warn,
            "limits_file": NodeLimitsFile(setup.data_dir / _LIMITS_FILE),
            "burst": 0 if shares_load else _QUOTE_REQUESTS,
            "shares_load": shares_load,
        }

    def _open_live(self, endpoint: RpcEndpoint, chain_id: int, heads: SubscribedHeads | None) -> LiveConnection:
        from swapcli.state.rpc.subscribed_connection import LiveConnection

        return LiveConnection(
            endpoint.url,
            endpoint.redacted_url,
            chain_id=chain_id,
            timeout_s=self._setup.settings.timeout_s,
            headers=endpoint.headers,
            proxy=endpoint.proxy,
            heads=heads,
        )


def http_only(urls: Sequence[Secret], network: Network) -> list[Secret]:
    """Return the http nodes. Raises `ConfigError` if there are only others."""
    http_urls = [url for url in urls if is_http_url(url.reveal())]
    if urls and not http_urls:
        setting = f"networks.{network.name}.rpc_url"
        raise ConfigError(
            f"{urls[0].redacted} is not an http node: only swapcli sync and swapcli serve use WebSocket and IPC nodes",
            hint=f"set an http or https address as well, as {setting} or in {setting}s",
            details={"key": setting},
        )
    return http_urls


def _number_duplicates(names: Sequence[str]) -> list[str]:
    """Return the names, with a number behind those that occur several times."""
    numbered = [f"{name} ({names[:at].count(name) + 1})" for at, name in enumerate(names)]
    return [whole if names.count(name) > 1 else name for name, whole in zip(names, numbered, strict=True)]
