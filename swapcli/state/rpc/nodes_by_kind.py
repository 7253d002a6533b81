"""Facts about the nodes of each kind of network: the class that reads them, and their features. Classes are loaded on
demand."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from swapcli.core.model.network import Kind
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.state.rpc.rpc_node import RpcNode
    from swapcli.state.rpc.starknet_node import StarknetNode


class NodesOfKind(NamedTuple):
    """Facts about the nodes of one kind of network.

    `client` is a class in this package, as module and name. Nodes that `announce_blocks` do so over WebSocket or IPC.
    Nodes that `return_unnamed_events` can return all events from a contract, and others only the events that a query
    names.
    """

    client: str
    announce_blocks: bool
    share_load: bool
    return_unnamed_events: bool


_NODES: Final = {
    Kind.EVM: NodesOfKind(
        client="rpc_node:RpcNode",
        announce_blocks=True,
        share_load=True,
        return_unnamed_events=True,
    ),
    Kind.STARKNET: NodesOfKind(
        client="starknet_node:StarknetNode",
        announce_blocks=False,
        share_load=False,
        return_unnamed_events=False,
    ),
}


def nodes_of_kind(kind: Kind) -> NodesOfKind:
    """Return the facts about the nodes of a kind of network."""
    return _NODES[kind]


def node_class(kind: Kind) -> type[RpcNode | StarknetNode]:
    """Return the class that reads nodes of a kind of network."""
    module, _, name = _NODES[kind].client.partition(":")
    found: type[RpcNode | StarknetNode] = getattr(import_module(f"{__package__}.{module}"), name)
    return found
