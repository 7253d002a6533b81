"""Permits: build the message whose signature replaces an approval, and check that signature."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption
from swapcli.core.model.swap_terms import SignedPermit, SwapTerms
from swapcli.core.model.swap_type import SwapType
from swapcli.core.records import NamedTuple
from swapcli.payload.evm.permit import PermitTerms, parse_signature
from swapcli.payload.permits import read_message, read_signed_permit, require_permit_kind

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.core.model.route_result import RouteResult
    from swapcli.payload.evm.typed_data import TypedData
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.sources.quote_source import QuoteSource

_PURPOSE = " for the nonce and the domain of the permit"
"""What a permit's node is needed for, in error messages."""


class PermittedSwap(NamedTuple):
    """A swap whose input `router` may take from `owner` until `deadline_s` (Unix), by a permit."""

    result: RouteResult
    network: Network
    router: str
    owner: str
    deadline_s: int

    @property
    def is_native(self) -> bool:
        """Whether the swap sells the native token, which needs no permit."""
        return self.result.swap_type is SwapType.NATIVE_TO_TOKEN

    @property
    def terms(self) -> PermitTerms:
        """The terms that the permit grants."""
        token = self.network.to_wrapped(self.result.input_token.address)
        return PermitTerms(token, self.owner, self.router, self.result.input_amount, self.deadline_s)


def permit_message(nodes: NodeOpener, swap: PermittedSwap, label: str = "permit") -> TypedData:
    """Return the permit message to sign. `label` is the name of the option or method that needs it, for error messages.

    Raises `InvalidOption` if the router or the token does not accept permits, or if there is no node, and
    `UpstreamError`.
    """
    kind = require_permit_kind(swap.network, is_native=swap.is_native, label=label)
    with closing(nodes.node_for(f"{label} needs a node", swap.network, _PURPOSE)) as node:
        message, _ = read_message(node, kind, swap.terms, swap.network.chain_id)
    return message


def _check_permit(nodes: NodeOpener, swap: PermittedSwap, signature: str, label: str) -> SignedPermit:
    """Return the signature of the message from `permit_message`, after a node has checked its signer.

    Raises the same errors as `permit_message`, and `InvalidOption` for a signature that is malformed or not the
    owner's.
    """
    parsed = parse_signature(signature, label)
    kind = require_permit_kind(swap.network, is_native=swap.is_native, label=label)
    with closing(nodes.node_for(f"{label} needs a node", swap.network, _PURPOSE)) as node:
        return read_signed_permit(node, kind, swap.terms, swap.network.chain_id, parsed, label=label)


def permitted_network(source: QuoteSource, route: RouteResult, terms: SwapTerms) -> Network:
    """Return the network with the router that will execute a route with a permit. The source may first have to choose
    the router.

    Raises the same errors as `QuoteSource.build`.
    """
    if not source.network.chooses_router:
        return source.network
    from swapcli.quoting.sources.quote_source import payload_network

    payload = source.build(route, terms._replace(needs_permit=True))
    return payload_network(source.network, payload)


def signed_terms(
    nodes: NodeOpener, network: Network, route: RouteResult, terms: SwapTerms, signature: str, label: str = "signature"
) -> SwapTerms:
    """Return the swap's terms with the permit that was signed by its sender, or by its recipient if no sender is given.

    Raises the same errors as `permit_message`, and `InvalidOption` if there is no deadline.
    """
    if terms.deadline_s is None:
        raise InvalidOption(
            "signature requires deadline, the time when the permit ends",
            hint="pass the same deadline as for the permit",
        )
    if network.router is None:
        return terms  # the payload is rejected for the same reason
    owner = terms.sender or terms.required_recipient
    swap = PermittedSwap(route, network, network.router, owner, terms.deadline_s)
    return terms._replace(permit=_check_permit(nodes, swap, signature, label), deadline_in_s=None)
