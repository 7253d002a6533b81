"""Review a payload from a plan's file before it is shown again, because someone else may have written the file.

The file's digest detects only accidental changes, because anyone can compute it. A recorded payload is therefore
reviewed like any other payload, as in `decode`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidInput, InvalidPlan
from swapcli.core.model.network import Network
from swapcli.core.model.number_format import format_time
from swapcli.core.model.token import Token
from swapcli.core.networks.address import parse_network_address
from swapcli.core.records import NamedTuple
from swapcli.payload.decode.decode_payload import decode_payload
from swapcli.payload.decode.documents import parse_payload
from swapcli.payload.review.review_verdict import verdict_of
from swapcli.payload.review.reviewed_payload import PayloadReview, Signing, SlippageLimits
from swapcli.quoting.live_choice import own_node_hint
from swapcli.quoting.planning.plan_file import PlanFile, PlannedPart
from swapcli.quoting.planning.route_limits import PlanRouteLimits, excluded_in
from swapcli.quoting.price_policy import PriceRequest, PriceUse, check_use
from swapcli.quoting.quote_options import parse_address_option
from swapcli.quoting.review.document_review import review_document
from swapcli.quoting.review.payload_review import review_payload
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.quoting.config import Settings
    from swapcli.quoting.sources.quote_source import QuoteSource

_PRICE_MOVE_PPM: Final = 10_000
"""How much the price may have risen since the payload was built. Chosen for the minutes in which a payload is valid."""


class FreshPrices(NamedTuple):
    """The prices with which to compare a recorded payload.

    `request` is how the user requested prices that are not real. Such prices are used for the check only if a payload
    may be built on them.
    """

    source: QuoteSource
    settings: Settings
    request: PriceRequest


def check_recorded(
    plan: PlanFile, part: PlannedPart, recipient: str, limits: PlanRouteLimits, prices: FreshPrices
) -> None:
    """Raise `InvalidPlan` if a recorded payload is dangerous, is not the part's order for `recipient`, or uses
    protocols that `limits` exclude.

    The payload's minimum must match a fresh quote, within the slippage and an allowance for price moves since then. If
    there is no fresh quote, the quote's error is raised instead: the plan is valid, and a retry may succeed. Raises the
    same errors as `QuoteSource.quote`, and `ModelledState` if no real prices are available.
    """
    assert part.payload is not None
    source = prices.source
    limit_ppm = prices.settings.slippage_ppm + _PRICE_MOVE_PPM
    for recorded in (part.payload["document"], part.payload.get("safeBatch")):
        if recorded is None:
            continue
        try:
            review = _review(to_json(recorded), recipient, source, SlippageLimits(limit_ppm, limit_ppm))
        except InvalidInput as error:
            raise _invalid(plan, part, error.message) from None
        if review.quote_problem is not None and not isinstance(review.quote_problem, InvalidInput):
            raise review.quote_problem
        if review.state is not None:
            check_use(review.state, PriceUse.PAYLOAD, prices.request, node_hint=own_node_hint(source.network))
        verdict = verdict_of(review)
        if verdict.status == "danger":
            raise _invalid(plan, part, verdict.message)
        if not _is_order_of(plan, part, review, source.network):
            raise _invalid(plan, part, "it is a different order")
        _check_protocols(plan, part, review, limits, source.network)
        if review.minimum_gap is None and not review.call.wraps:
            reason = f": {review.quote_problem.message}" if review.quote_problem else ""
            raise _invalid(plan, part, f"its minimum cannot be compared with a fresh quote{reason}")


def _review(text: str, recipient: str, source: QuoteSource, limits: SlippageLimits) -> PayloadReview:
    given, network, now_s = parse_payload(text), source.network, SYSTEM_CLOCK.now_s()
    call = decode_payload(given.payload, network.wrapped_native_address)
    to, sender = (
        None if address is None else parse_address_option(address, network, name)
        for name, address in (("to", given.payload.to), ("sender", given.payload.sender))
    )
    signing = Signing(to, given.payload.value, sender, recipient)
    review = review_payload(call, source, signing, now_s, limits)
    return review_document(review, given, source, now_s, limits)


def _check_protocols(
    plan: PlanFile, part: PlannedPart, review: PayloadReview, limits: PlanRouteLimits, network: Network
) -> None:
    """Raise `InvalidPlan` if a reviewed call swaps in pools of protocols that are excluded. Pools that the market does
    not know have the protocol that the call names, if any."""
    names = {each.id: each.amm_name for each in network.protocols}
    found = (
        swap.pool.protocol if swap.pool else names.get(swap.swap.pool.protocol_id or -1, "") for swap in review.swaps
    )
    excluded = excluded_in(limits, network, filter(None, found))
    if excluded:
        raise InvalidPlan(
            f"part {part.number} of {printable(plan.name)} was built through {', '.join(map(printable, excluded))}, "
            f"which {'is' if len(excluded) == 1 else 'are'} excluded",
            hint=f"exclude fewer protocols, or wait until {format_time(part.payload_ends_at_s or 0)}, when the payload "
            "expires",
        )


def _is_order_of(plan: PlanFile, part: PlannedPart, review: PayloadReview, network: Network) -> bool:
    """Return whether a reviewed call sells the part. If the call has no amount, the value sent with it limits it."""
    order = review.call.order
    if order is None:
        return False
    is_pair = _is_token(order.token_in, plan.token_in, network) and _is_token(order.token_out, plan.token_out, network)
    return is_pair and (order.max_amount_in or order.amount_in) in (0, part.amount_in)


def _is_token(address: str, token: Token, network: Network) -> bool:
    """Return whether an address is one of the plan's tokens, or its wrapped form."""
    canonical = parse_network_address(token.address, network)
    return address in (canonical, network.to_wrapped_token(token._replace(address=canonical)).address)


def _invalid(plan: PlanFile, part: PlannedPart, problem: str) -> InvalidPlan:
    return InvalidPlan(
        f"the payload of part {part.number} in {printable(plan.name)} is not used: {problem}",
        hint=f"wait until it expires at {format_time(part.payload_ends_at_s or 0)}, or make a new plan",
    )
