"""Permits: build the message whose signature replaces an approval, and check that signature."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption
from swapcli.core.model.swap_terms import SignedPermit
from swapcli.core.model.swap_type import SwapType
from swapcli.core.records import NamedTuple
from swapcli.payload.evm.permit import PermitTerms, parse_signature
from swapcli.payload.permits import read_message, read_signed_permit, require_permit_kind
from swapcli.quoting.live_choice import missing_node_hint

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.core.model.route_result import RouteResult
    from swapcli.payload.evm.typed_data import TypedData
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.state.rpc.rpc_node import RpcNode


class PermittedSwap(NamedTuple):
    """A route whose input `owner` permits `router` to take until `deadline_s` (Unix)."""

    result: RouteResult
    network: Network
    router: str
    owner: str
    deadline_s: int

    @property
    def is_native(self) -> bool:
        """Whether the native token is sold, which needs no permit."""
        return self.result.swap_type is SwapType.NATIVE_TO_TOKEN

    @property
    def terms(self) -> PermitTerms:
        """What the permit says."""
        token = self.network.to_wrapped(self.result.input_token.address)
        return PermitTerms(token, self.owner, self.router, self.result.input_amount, self.deadline_s)


def permit_message(nodes: NodeOpener, swap: PermittedSwap, label: str = "permit") -> TypedData:
    """Return the message to sign. `label` is the option that asks for it, as the caller knows it.

    Raises `InvalidOption` if the router or the token takes no permit, or without a node, and `UpstreamError`.
    """
    kind = require_permit_kind(swap.network, is_native=swap.is_native, label=label)
    with closing(_require_node(nodes, swap.network, label)) as node:
        message, _ = read_message(node, kind, swap.terms, swap.network.chain_id)
    return message


def check_permit(nodes: NodeOpener, swap: PermittedSwap, signature: str, label: str = "signature") -> SignedPermit:
    """Return the signature of the message of `permit_message`, after a node has checked its signer.

    Raises as `permit_message`, and `InvalidOption` for a signature that is malformed or not the owner's.
    """
    parsed = parse_signature(signature, label)
    kind = require_permit_kind(swap.network, is_native=swap.is_native, label=label)
    with closing(_require_node(nodes, swap.network, label)) as node:
        return read_signed_permit(node, kind, swap.terms, swap.network.chain_id, parsed, label=label)


def _require_node(nodes: NodeOpener, network: Network, label: str) -> RpcNode:
    node = nodes.node(network)
    if node is None:
        raise InvalidOption(
            f"{label} needs a node of {network.name} for the nonce and the domain of the permit, but "
            + nodes.rules.why_no_node(),
            hint=missing_node_hint(network),
        )
    return node
