"""Does the payload call a known function of the right contract?"""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.network import INTERFACE_DIALECTS, SETTLER, UNIVERSAL_ROUTER, Network
from swapcli.core.model.token import in_tokens
from swapcli.payload.review.reviewed_payload import PayloadReview


def call_warnings(review: PayloadReview) -> Iterator[Finding]:
    """Yield warnings about problems with the called function and the called contract."""
    call, signing = review.call, review.signing
    if review.network is None and call.function:
        yield FindingCode.NETWORK_UNKNOWN.finding(_describe_unknown_network(review))
    if not call.function:
        yield FindingCode.FUNCTION_UNKNOWN.finding(
            f"the function {call.selector} is unknown, so the call's effect is unknown"
            if call.selector
            else _describe_transfer(review),
        )
    for oddity in call.oddities:
        yield FindingCode.CALL_UNUSUAL.finding(oddity)
    if call.trailing_bytes > 0:
        yield FindingCode.TRAILING_BYTES.finding(
            f"{call.trailing_bytes} bytes follow the end of the call, which quotes never have",
        )
    if review.network is None:
        return
    if call.wraps and signing.to not in (None, review.network.wrapped_native_address):
        yield FindingCode.ROUTER_UNKNOWN.finding(
            f"{call.function} belongs to the wrapped native token, but the transaction calls"
            f" {review.shown(signing.to)}",
        )
    if call.dialect and signing.to is not None and signing.to not in _routers(call, review.network):
        yield FindingCode.ROUTER_UNKNOWN.finding(
            f"the call goes to {review.shown(signing.to)}, which is not a known router on {review.network.name}",
        )
    if call.dialect == UNIVERSAL_ROUTER:
        known_router = review.network.for_dialect(UNIVERSAL_ROUTER).dialect_router
        version = known_router.version
        if signing.to == known_router.address and version is not None and version not in call.releases:
            yield FindingCode.CALL_UNUSUAL.finding(
                f"the V4 swaps are not encoded for release {version} of the router, which reads different amounts",
            )
    known = review.network.for_dialect(SETTLER).router
    if call.dialect == SETTLER and call.router and call.router != known:
        what = "is not the known Settler" if known else "may not be Settler: set its address as networks.NAME.router"
        yield FindingCode.ROUTER_UNKNOWN.finding(f"the swap is by {review.shown(call.router)}, which {what}")


def _describe_unknown_network(review: PayloadReview) -> str:
    """Describe what an unknown network leaves open: for an approval, above all who the spender is."""
    approval = review.call.approval
    if approval is None or approval.spender is None or not approval.amount:
        return "the network is unknown, so tokens, pools and prices were not checked; set it with --network"
    amount = "all tokens" if approval.is_unlimited else "tokens"
    return (
        f"the spender {review.shown(approval.spender)} may take {amount}; the network is unknown, so the spender was "
        "not compared with known routers; set it with --network"
    )


def _describe_transfer(review: PayloadReview) -> str:
    """Describe a transaction without calldata."""
    value, to, native = review.signing.value, review.signing.to, review.network and review.network.native
    if not value or to is None:
        return "the transaction calls no function"
    amount = in_tokens(value, native) if native else f"{value} wei"
    return f"the transaction calls no function: it only sends {amount} to {review.shown(to)}"


def _routers(call: DecodedCall, network: Network) -> set[str]:
    """Return the known contracts to which calls in the call's dialect go."""
    dialects = INTERFACE_DIALECTS if call.dialect in INTERFACE_DIALECTS else (call.dialect,)
    routers = [network.for_dialect(dialect or "").dialect_router for dialect in dialects]
    if call.dialect != SETTLER:
        return {each.address for each in routers if each.address}
    (settler,) = routers
    if call.function == "exec":
        return {settler.spender} if settler.spender else set()
    return {settler.address} if settler.address else set()
