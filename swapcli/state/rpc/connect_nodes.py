"""Connect to nodes by URL, including spare nodes, proxies, limits and WebSocket connections.

The caller decides which nodes to use. Modules outside `state` get node clients here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from swapcli.core.encoding.secret import Secret
from swapcli.core.encoding.url import is_http_url
from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.state.rpc.head_source import SubscribedHeads
    from swapcli.state.rpc.public_nodes import AnyPublicNode as AnyPublicNode
    from swapcli.state.rpc.public_nodes import PublicRpcNode as PublicRpcNode
    from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
    from swapcli.state.rpc.run_budget import RunBudget
    from swapcli.state.rpc.starknet_node import StarknetNode
    from swapcli.state.rpc.subscribed_connection import LiveConnection

    AnyNode = RpcNode | StarknetNode
    """A node from which pools can be read."""

Warn = Callable[[str], object]
"""Receives a warning as a sentence."""

_LIMITS_FILE = "node-limits.json"
_QUOTE_REQUESTS = 30
"""Requests of a quote, which need not wait for a rate learned under load."""


class NodeConnector(NamedTuple):
    """Connects to nodes.

    `data_dir` contains the file of the nodes' known limits, and `environ` names HTTP proxies. A public node has
    `live_timeout_s` to respond, unless the command requires a node (`is_required`). `gas_price_wei` replaces the gas
    price of EVM nodes. HTTP exchanges count towards the `run_budget`, if there is one.
    """

    data_dir: Path
    environ: Mapping[str, str]
    warn: Warn
    timeout_s: float
    live_timeout_s: float
    is_required: bool
    gas_price_wei: int | None = None
    run_budget: RunBudget | None = None

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
        """Return a node for a network of any kind. The first URL is used, and the other URLs are its spares.

        Requests to documented public nodes keep to the published limits. `warn` receives the reason when a spare
        replaces the node.
        """
        from swapcli.state.rpc.network_time import NetworkTime
        from swapcli.state.rpc.nodes_by_kind import node_class, nodes_of_kind

        shares_load = shares_load and nodes_of_kind(network.kind).share_load
        return node_class(network.kind)(
            self._endpoints(urls, network.chain_id, headers, heads),
            network.chain_id,
            self._policy(warn, shares_load=shares_load)._replace(documented=network.public_nodes),
            gas_price_wei=self.gas_price_wei,
            network_time=NetworkTime(network.block_time_s),
        )

    def connect_eth(self, urls: Sequence[Secret], chain_id: int, headers: Mapping[str, str]) -> RpcNode:
        """Return a user's node with an EVM interface. The same as `connect`, but without documented limits."""
        from swapcli.state.rpc.rpc_node import RpcNode

        endpoints = self._endpoints(urls, chain_id, headers)
        return RpcNode(endpoints, chain_id, self._policy(), gas_price_wei=self.gas_price_wei)

    def connect_public(self, network: Network, urls: Sequence[Secret]) -> AnyPublicNode:
        """Return one node that stands for all public nodes of a network, at `urls`. They are queried in parallel."""
        from swapcli.state.rpc.node_limits_file import NodeLimitsFile
        from swapcli.state.rpc.node_records import NodeRecords
        from swapcli.state.rpc.proxy_from_environment import find_proxy
        from swapcli.state.rpc.public_nodes import PublicEndpoint, open_public_node

        path = self.data_dir / _LIMITS_FILE
        return open_public_node(
            [
                PublicEndpoint(node, url.redacted, find_proxy(node.url, self.environ), self.run_budget)
                for node, url in zip(network.public_nodes, urls, strict=True)
            ],
            kind=network.kind,
            chain_id=network.chain_id,
            block_time_s=network.block_time_s,
            live_timeout_s=self.live_timeout_s,
            is_required=self.is_required,
            report=self.warn,
            records=NodeRecords(path),
            limits_file=NodeLimitsFile(path),
            burst=_QUOTE_REQUESTS,
            gas_price_wei=self.gas_price_wei,
        )

    def _policy(self, warn: Warn | None = None, *, shares_load: bool = False) -> NodePolicy:
        from swapcli.state.rpc.node_limits_file import NodeLimitsFile
        from swapcli.state.rpc.rpc_node import NodePolicy

        return NodePolicy(
            timeout_s=self.timeout_s,
            report=warn or self.warn,
            limits_file=NodeLimitsFile(self.data_dir / _LIMITS_FILE),
            burst=0 if shares_load else _QUOTE_REQUESTS,
            shares_load=shares_load,
        )

    def _endpoints(
        self, urls: Sequence[Secret], chain_id: int, headers: Mapping[str, str], heads: SubscribedHeads | None = None
    ) -> list[RpcEndpoint]:
        """Return the nodes at the URLs, each with its proxy; the first persistent connection has the `heads`."""
        from swapcli.state.rpc.proxy_from_environment import find_proxy
        from swapcli.state.rpc.rpc_node import RpcEndpoint

        shown = dict(zip(urls, _number_duplicates([url.redacted for url in urls]), strict=True))
        endpoints = []
        for url, name in shown.items():
            proxy = find_proxy(url.reveal(), self.environ)
            endpoint = RpcEndpoint(url.reveal(), name, headers, proxy, run_budget=self.run_budget)
            if not is_http_url(endpoint.url):
                endpoint = endpoint._replace(connection=self._open_live(endpoint, chain_id, heads))
                heads = None
            endpoints.append(endpoint)
        return endpoints

    def _open_live(self, endpoint: RpcEndpoint, chain_id: int, heads: SubscribedHeads | None) -> LiveConnection:
        from swapcli.state.rpc.subscribed_connection import LiveConnection

        return LiveConnection(
            endpoint.url,
            endpoint.redacted_url,
            chain_id=chain_id,
            timeout_s=self.timeout_s,
            headers=endpoint.headers,
            proxy=endpoint.proxy,
            heads=heads,
        )


def _number_duplicates(names: Sequence[str]) -> list[str]:
    """Return the names, with a number after those that occur several times."""
    numbered = [f"{name} ({names[:at].count(name) + 1})" for at, name in enumerate(names)]
    return [whole if names.count(name) > 1 else name for name, whole in zip(names, numbered, strict=True)]
