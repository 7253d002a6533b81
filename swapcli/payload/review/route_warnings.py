"""Are the tokens and pools of the payload known, and do its swaps connect the input with the output?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swapcli.core.errors import InvalidRoute
from swapcli.core.model.decoded_call import PoolHint
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.network import INTERFACE_DIALECTS, SETTLER, Network, ProtocolInfo
from swapcli.core.model.number_format import format_percentage
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import PPM
from swapcli.families.row import PoolUse
from swapcli.payload.evm.extra_data import find_pool_key
from swapcli.payload.review.reviewed_payload import PayloadReview


def named_tokens(review: PayloadReview) -> Iterator[str]:
    """Yield the address of each token that a call names."""
    call = review.call
    yield from review.ends
    yield from (payment.token for payment in call.payments)
    yield from (review.wrapped(token) for swap in call.swaps for token in swap[:2] if token)
    for approval in call.approvals:
        allowed = approval.token or review.signing.to
        if allowed is not None:
            yield allowed
    if call.message is not None:
        yield from (token for token, _ in (*call.message.sells, *call.message.buys))


def is_pool(hint: PoolHint, pool: Pool, network: Network, dialect: str | None) -> bool:
    """Return whether a call that identifies a pool by `hint` means `pool`, which has the right tokens."""
    protocol = network.protocol(pool.protocol)
    if hint.protocol_id is not None and protocol is not None and protocol.id != hint.protocol_id:
        return False
    if hint.family not in ("", pool.family):
        return False
    if dialect in INTERFACE_DIALECTS and not network.kind.traits.has_felts:
        key = find_pool_key(PoolUse(pool, pool.tokens[0], pool.tokens[1], protocol))
        if hint.pool_key != key or hint.contract not in (None, pool.called_address):
            return False
    elif hint.contract is not None and not _swaps_by(hint.contract, pool, network):
        return False
    if hint.extra_felts is not None and (protocol is None or not _has_felts(pool, protocol, hint.extra_felts)):
        return False
    if hint.key is not None:
        return hint.key in (pool.key, pool.pool_id) or hint.key == pool.address != pool.key
    names = network.for_dialect(dialect or "").dialect_router.protocols.get(pool.protocol, "").split()
    if not names or names[0] != hint.kind or (hint.fork is not None and str(hint.fork) not in names[1:]):
        return False
    return hint.tier is None or hint.tier == pool.api_extra_data().get(protocol.tier_key if protocol else "fee")


def _has_felts(pool: Pool, protocol: ProtocolInfo, felts: Sequence[int]) -> bool:
    """Return whether a Starknet call describes a pool in the way the router requires."""
    from swapcli.payload.starknet.router_params import extra_felts

    try:
        return extra_felts(pool, protocol) == tuple(felts)
    except InvalidRoute:
        return False


def _swaps_by(contract: str, pool: Pool, network: Network) -> bool:
    """Return whether a contract is known to belong to the protocol of a pool."""
    deployments = (deployment for deployment in network.deployments if pool.protocol in deployment.protocols)
    return any(contract in deployment.addresses.values() for deployment in deployments)


def token_warnings(review: PayloadReview, *, knows_pools: bool) -> Iterator[Finding]:
    """Yield warnings about the unknown tokens in a call, and about its unknown pools if any pools are known."""
    network = review.network
    if network is None:
        return
    for address in dict.fromkeys(named_tokens(review)):
        if address not in review.tokens:
            yield FindingCode.TOKEN_UNKNOWN.finding(
                f"the token {review.shown(address)} is unknown on {network.name}; anybody can deploy one",
            )
    if not knows_pools:
        return
    for number, reviewed in enumerate(review.swaps, start=1):
        if reviewed.pool is None:
            named = f" {review.shown(reviewed.swap.pool.key)}" if reviewed.swap.pool.key else ""
            yield FindingCode.POOL_UNKNOWN.finding(
                f"the pool{named} of swap {number} is unknown or does not trade these tokens"
            )


def route_warnings(review: PayloadReview) -> Iterator[Finding]:
    """Yield warnings about the places at which the swaps in a call do not lead from its input to its output."""
    if review.call.order is not None:
        yield from _broken_routes(review) if review.swaps else _without_swaps(review)


def _without_swaps(review: PayloadReview) -> Iterator[Finding]:
    token_in, token_out = (review.wrapped(token) for token in review.ends)
    if token_in != token_out:
        yield FindingCode.ROUTE_BROKEN.finding("the call has no swaps")


def _broken_routes(review: PayloadReview) -> Iterator[Finding]:
    swaps = review.swaps
    token_in, token_out = (review.wrapped(token) for token in review.ends)
    reached, left, unsold = {token_in}, dict[str, int](), dict[str, None]()
    for number, reviewed in enumerate(swaps, start=1):
        if reviewed.token_in not in reached:
            yield FindingCode.ROUTE_BROKEN.finding(
                f"swap {number} sells {review.symbol(reviewed.token_in)}, which no earlier swap buys",
            )
        if reviewed.token_out == reviewed.token_in and not (reviewed.pool and reviewed.pool.is_wrapper):
            yield FindingCode.ROUTE_BROKEN.finding(
                f"swap {number} sells {review.symbol(reviewed.token_in)} for {review.symbol(reviewed.token_in)}",
            )
        unsold.pop(reviewed.token_in, None)
        if reviewed.token_out is not None:
            reached.add(reviewed.token_out)
            unsold[reviewed.token_out] = None
        if reviewed.share_ppm is not None:
            left[reviewed.token_in] = left.get(reviewed.token_in, PPM) - reviewed.share_ppm
    if token_in == token_out and not all(each.pool and each.pool.is_wrapper for each in swaps):
        yield FindingCode.ROUTE_BROKEN.finding(f"the swaps sell {review.symbol(token_in)} and buy the same token")
    if token_out not in reached and all(reviewed.token_out for reviewed in swaps):
        yield FindingCode.ROUTE_BROKEN.finding(f"no swap buys {review.symbol(token_out)}")
    if review.call.dialect not in (*INTERFACE_DIALECTS, SETTLER):  # other checks cover what stays in the router
        return
    unknown = {each.token_in for each in swaps if each.share_ppm is None}
    for token, part in (left | dict.fromkeys(unsold, PPM)).items():
        if part > 0 and token not in unknown and token != token_out:
            yield FindingCode.ROUTE_BROKEN.finding(
                f"{format_percentage(part / PPM)} of the {review.symbol(token)} is not swapped",
            )
