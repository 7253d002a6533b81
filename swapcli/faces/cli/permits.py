"""`--permit` and `--signature`: the message whose signature stands in for an approval, and a payload with it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption
from swapcli.core.model.network import Network
from swapcli.core.model.swap_terms import SignedPermit, SwapTerms
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.faces.cli.options import PayloadOptions
from swapcli.faces.cli.output import COMMON_FORMATS
from swapcli.faces.cli.session import Session
from swapcli.payload.dialects import router_dialect
from swapcli.payload.signing.deadlines import parse_deadline_s
from swapcli.quoting.live_choice import missing_node_hint
from swapcli.quoting.quote_options import parse_address_option
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.core.model.router_dialect import PermitKind
    from swapcli.interface.route_result import RouteResult
    from swapcli.state.rpc.rpc_node import RpcNode


def parse_permit_deadline(options: PayloadOptions, signature: str | None) -> int | None:
    """Return the Unix time of --deadline, None without one.

    Raises `InvalidOption` for --permit or --signature without a deadline, or for both, and `InvalidDeadline`.
    """
    if options.permit and signature is not None:
        raise InvalidOption("--permit prints the message to sign, and --signature is its signature: give one of them")
    flag = "--permit" if options.permit else "--signature"
    if (options.permit or signature is not None) and options.deadline is None:
        hint = "--deadline +1200" if options.permit else "the --deadline of --permit, as Unix seconds"
        raise InvalidOption(f"{flag} needs --deadline: the end of the permit", hint=hint)
    return None if options.deadline is None else parse_deadline_s(options.deadline, SYSTEM_CLOCK.now_s())


def print_permit(
    session: Session,
    network: Network,
    options: PayloadOptions,
    payload: UnsignedTransaction,
    deadline_s: int | None,
) -> None:
    """Print the message that permits the input of a payload, as JSON to sign. Raises `InvalidOption`."""
    from swapcli.payload.evm.permit import PermitTerms
    from swapcli.payload.signing.permit_reader import read_message

    route, flag = payload.call.route, "--permit"
    kind = _require_permit(network, flag, is_native=route.swap_type is SwapType.NATIVE_TO_TOKEN)
    if deadline_s is None:
        raise InvalidOption(f"{flag} needs --deadline: the end of the permit", hint="--deadline +1200")
    owner = _owner(network, options, route.recipient)
    terms = PermitTerms(route.token_in, owner, payload.to, route.amount_in, deadline_s)
    with closing(_require_node(session, network, flag)) as node:
        message, _ = read_message(node, kind, terms, network.chain_id)
    if session.output.format not in COMMON_FORMATS:
        raise InvalidOption(
            f"--permit prints a message, which has no format {session.output.format}", hint="leave out --format"
        )
    session.output.note(f"when it is signed: swapcli execute ROUTE --deadline {deadline_s} --signature SIGNATURE")
    session.output.print_document(message.document())


def with_signature(
    session: Session, network: Network, options: PayloadOptions, signature: str, route: tuple[RouteResult, SwapTerms]
) -> SwapTerms:
    """Return the terms of a route with the permit of --signature, after a node has checked its signer.

    Raises `InvalidOption`.
    """
    result, terms = route
    if terms.deadline_s is None:
        return terms  # `parse_permit_deadline` requires one
    from swapcli.payload.evm.permit import PermitTerms, parse_signature
    from swapcli.payload.signing.permit_reader import check_signer, read_message

    flag = "--signature"
    parsed = parse_signature(signature)
    kind = _require_permit(network, flag, is_native=result.swap_type is SwapType.NATIVE_TO_TOKEN)
    if network.router is None:
        return terms  # the payload is refused for the same reason
    owner = _owner(network, options, terms.required_recipient)
    token = network.to_wrapped(result.input_token.address)
    permit = PermitTerms(token, owner, network.router, result.input_amount, terms.deadline_s)
    with closing(_require_node(session, network, flag)) as node:
        message, nonce = read_message(node, kind, permit, network.chain_id)
        check_signer(node, message, parsed, owner)
    return terms._replace(permit=SignedPermit(parsed.encoded, nonce))


def _owner(network: Network, options: PayloadOptions, recipient: str) -> str:
    """Return who owns the input: --from, else the recipient."""
    return recipient if options.sender is None else parse_address_option(options.sender, network, "--from")


def _require_permit(network: Network, flag: str, *, is_native: bool) -> PermitKind:
    kind = router_dialect(network).permit_kind
    if kind is None:
        raise InvalidOption(
            f"{flag}: payloads for the router dialect {network.router_dialect} of {network.name} carry no permit",
            hint="approve the token by a transaction, which is in the JSON, and which --with-approval shows",
        )
    if is_native:
        raise InvalidOption(f"{flag}: {network.native.symbol} needs no approval, so there is nothing to sign")
    return kind


def _require_node(session: Session, network: Network, flag: str) -> RpcNode:
    node = session.node(network)
    if node is None:
        problem = session.node_rules.why_none()
        raise InvalidOption(
            f"{flag} needs a node of {network.name} for the nonce and the domain of the permit, but {problem}",
            hint=missing_node_hint(network),
        )
    return node
