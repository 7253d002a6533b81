"""The nodes that confirm another node's reads: the node that the user names, and the other public nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from swapcli.core.encoding.secret import Secret
from swapcli.core.model.network import Network

if TYPE_CHECKING:
    from swapcli.state.rpc.connect_nodes import AnyNode, AnyPublicNode, NodeConnector
    from swapcli.state.rpc.witness_node import WitnessNode


class ServiceWitnesses:
    """The `Witnesses` of a service's reads from nodes: the `named` node, and two of the `public` nodes.

    The service does not know which public node returned a state. If `public` is None, the nodes are the user's own.
    """

    first_host = ""

    def __init__(
        self, connector: NodeConnector, network: Network, public: AnyPublicNode | None, named: Secret | None
    ) -> None:
        self._connector, self._network, self._public, self._named = connector, network, public, named
        if public is None:
            self.first_host = self.description

    @property
    def description(self) -> str:
        """Same as `Witnesses.description`."""
        return "the node of the service" if self._public is None else "public nodes"

    @property
    def required(self) -> int:
        """Same as `Witnesses.required`."""
        return 1 + (self._named is not None) + (self._public is not None)

    def candidates(self) -> Iterator[WitnessNode]:
        """Same as `Witnesses.candidates`. Raises `ConfigError`."""
        if self._named is not None:
            yield _named_witness(self._connector, self._network, self._named)
        if self._public is not None:
            yield from self._public.open_witnesses(self._network.multicall)


class ChosenWitnesses:
    """The `Witnesses` of the reads of `node`: the `named` node, and the other `public` nodes.

    `public` is None unless `node` reads from public nodes.
    """

    def __init__(
        self,
        connector: NodeConnector,
        network: Network,
        node: AnyNode,
        public: AnyPublicNode | None,
        named: Secret | None,
    ) -> None:
        self._connector, self._network, self._node, self._public = connector, network, node, public
        self._named = named

    @property
    def first_host(self) -> str:
        """Same as `Witnesses.first_host`. All nodes that the user has named count as one."""
        return self._public.sole_reader if self._public is not None else self.description

    @property
    def description(self) -> str:
        """Same as `Witnesses.description`."""
        return "several public nodes" if self._public is not None else _host_of(self._node.redacted_url)

    @property
    def required(self) -> int:
        """Same as `Witnesses.required`."""
        return 1 + (self._named is not None) + (self._public is not None and len(self._network.public_nodes) > 1)

    def candidates(self) -> Iterator[WitnessNode]:
        """Same as `Witnesses.candidates`. Raises `ConfigError`."""
        if self._named is not None:
            yield _named_witness(self._connector, self._network, self._named)
        if self._public is not None:
            yield from self._public.open_witnesses(self._network.multicall)


def _named_witness(connector: NodeConnector, network: Network, url: Secret) -> WitnessNode:
    from swapcli.state.rpc.witness_node import WitnessNode

    node = connector.connect([url], network, {})
    return WitnessNode(
        node,
        _host_of(url.redacted),
        network.multicall,
        block_time_s=network.block_time_s,
        close_node=node.close,
        is_named=True,
    )


def _host_of(redacted_url: str) -> str:
    return urlsplit(redacted_url).netloc or redacted_url
