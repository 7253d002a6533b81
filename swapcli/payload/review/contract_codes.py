"""Check a payload's contracts on a node: funds sent to a contract without code are lost, and a permit's domain must
match."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from swapcli.core.encoding.abi import WORD_CHARACTERS
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.address import display_address
from swapcli.payload.review.reviewed_payload import PayloadReview

if TYPE_CHECKING:
    from swapcli.state.rpc.rpc_node import RpcNode

_NO_CODE = ("0x", "0x0")
_DOMAIN_SEPARATOR = "0x3644e515"
"""The selector of `DOMAIN_SEPARATOR()` (EIP-2612)."""


def warn_of_codeless(review: PayloadReview, node: RpcNode) -> PayloadReview:
    """Return the review with a warning for each contract without code. This takes one round trip. Raises
    `UpstreamError`.

    If a node does not return a contract's code, there is no warning.
    """
    from swapcli.state.rpc.json_rpc_client import RpcRequest

    network = review.network
    if network is None:
        return review
    names = dict(_contracts(review))
    requests = [RpcRequest("eth_getCode", (address, "latest")) for address in names]
    found = dict(zip(names, node.send_optional(requests) if requests else (), strict=True))
    warnings = [
        FindingCode.CODE_MISSING.finding(
            f"the {name} {display_address(address, network.kind)} has no code on {network.name}: it is not a contract",
        )
        for address, name in names.items()
        if found[address] in _NO_CODE
    ]
    return review._replace(warnings=(*review.warnings, *warnings))


def warn_of_domain(review: PayloadReview, node: RpcNode) -> PayloadReview:
    """Return the review with a warning if the contract of a permit to sign has a different domain than the permit.

    A contract without the function `DOMAIN_SEPARATOR` causes no warning. Raises `UpstreamError`.
    """
    from swapcli.state.rpc.json_rpc_client import RpcRequest

    message, to = review.call.message, review.signing.to
    if message is None or not message.domain_hash or to is None:
        return review
    (found,) = node.send_optional([RpcRequest("eth_call", ({"to": to, "data": _DOMAIN_SEPARATOR}, "latest"))])
    if not isinstance(found, str) or len(found) != WORD_CHARACTERS or found == "0x" + message.domain_hash.hex():
        return review
    sentence = f"the message's domain differs from that of {review.shown(to)}, which would reject it"
    return review._replace(warnings=(*review.warnings, FindingCode.MESSAGE_UNKNOWN.finding(sentence)))


def _contracts(review: PayloadReview) -> Iterator[tuple[str, str]]:
    """Yield the addresses that must be contracts, each with a description."""
    call, order = review.call, review.call.order
    for swap in review.swaps:
        yield swap.token_in, "token"
        if swap.token_out is not None:
            yield swap.token_out, "token"
    if order is not None:
        yield from ((token, "token") for token in (order.token_in, order.token_out) if token != ZERO_ADDRESS)
    for approval in call.approvals:
        if approval.token is not None:
            yield approval.token, "token"
        if approval.spender is not None:
            yield approval.spender, "spender"
    if call.router is not None:
        yield call.router, "router"
    if review.signing.to is not None:
        yield review.signing.to, "called contract"
