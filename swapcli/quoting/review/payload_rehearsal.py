"""Simulate a decoded payload on a node, and compare the output with the payload's minimum and with a fresh quote.

The simulation grants missing balances and allowances, so that only the payload itself is tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from swapcli.core.encoding.abi import parse_hex
from swapcli.core.errors import InvalidInput, SimulationError, SwapcliError, UpstreamError
from swapcli.core.model.decoded_call import SENDER, DecodedOrder
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.network import UNIVERSAL_ROUTER
from swapcli.core.model.number_format import format_percentage
from swapcli.core.model.order import UNOWNED_ADDRESS, ZERO_ADDRESS
from swapcli.core.model.transaction import Approval
from swapcli.core.model.units import DAY_S, PPM
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.evm.simulation import SimulatedCall, SimulationRun, SimulationStatus
from swapcli.payload.review.reviewed_payload import PayloadReview
from swapcli.payload.simulation.offered_swaps import simulate_offers
from swapcli.payload.simulation.revert_reason import describe_revert

if TYPE_CHECKING:
    from swapcli.state.rpc.rpc_node import RpcNode

_DIFFERENCE_PPM: Final = 1_000
"""A payload that pays less than a fresh quote by more than this gets a warning."""


def rehearse_decoded(review: PayloadReview, calldata: str, node: RpcNode) -> PayloadReview:
    """Return the review of a payload, with warnings from a simulation at the node's latest block.

    Nothing is simulated if the payload is not a swap, or if the node cannot simulate it.
    """
    order, sender = review.call.order, _sender_of(review)
    if order is None or not order.amount_in or review.signing.to is None:
        return review
    try:
        head = node.read_head()
        swap = _simulated_call(review, order, sender, calldata, head.block.timestamp + DAY_S)
        price_wei = head.gas_price if isinstance(head.gas_price, int) else 0
        (run,) = simulate_offers(node, head.block, [swap], sender, price_wei)
    except (UpstreamError, SimulationError, InvalidInput):
        return review
    return review._replace(warnings=(*review.warnings, *_warnings(review, order, run, head.block.number)))


def _warnings(
    review: PayloadReview, order: DecodedOrder, run: SimulationRun | SwapcliError, block: int
) -> Iterator[Finding]:
    if isinstance(run, SimulationError):
        yield FindingCode.SIMULATION_FAILS.finding(f"the payload cannot be simulated: {run.message}")
    elif isinstance(run, SimulationRun) and run.status is SimulationStatus.DONE:
        yield from _amount_warnings(review, order, run.received, block)
    # The signature of an unknown sender cannot be simulated.
    elif isinstance(run, SimulationRun) and run.status is SimulationStatus.REVERTED and review.signing.sender:
        message = f"simulated at block {block:,}, the payload reverts: {describe_revert(run.return_data)}"
        yield FindingCode.SIMULATION_FAILS.finding(message)


def _sender_of(review: PayloadReview) -> str:
    """Return the sender; if it is unknown, the recipient, otherwise an address that no one owns."""
    order = review.call.order
    recipient = order.recipient if order and order.recipient != SENDER else None
    return review.signing.sender or recipient or UNOWNED_ADDRESS


def _simulated_call(
    review: PayloadReview, order: DecodedOrder, sender: str, calldata: str, expiration_s: int
) -> SimulatedCall:
    signing, is_native_in = review.signing, order.is_native_in or order.token_in == ZERO_ADDRESS
    router = signing.to or ""
    token_in = ZERO_ADDRESS if is_native_in else order.token_in
    approvals: tuple[Approval, ...] = ()
    if not is_native_in and review.call.dialect == UNIVERSAL_ROUTER:
        approvals = (
            Approval(token_in, PERMIT2, order.amount_in),
            Approval(token_in, router, order.amount_in, expiration_s=expiration_s),
        )
    elif not is_native_in:
        approvals = (Approval(token_in, router, order.amount_in),)
    value_wei = (order.amount_in if is_native_in else 0) if signing.value is None else signing.value
    return SimulatedCall(
        router=router,
        token_in=token_in,
        token_out=ZERO_ADDRESS if order.is_native_out else order.token_out,
        recipient=sender if order.recipient == SENDER else order.recipient,
        amount_in=order.amount_in,
        value_wei=value_wei,
        calldata=parse_hex(calldata, "calldata"),
        approvals=approvals,
    )


def _amount_warnings(review: PayloadReview, order: DecodedOrder, received: int, block: int) -> Iterator[Finding]:
    """Yield a warning if the recipient gets less than the minimum, or less than a fresh quote."""
    token = ZERO_ADDRESS if order.is_native_out else order.token_out
    pays = f"simulated at block {block:,}, the payload pays its recipient {review.amount(received, token)}"
    if received < order.min_received:
        message = f"{pays}, less than its minimum of {review.amount(order.min_received, token)}"
        yield FindingCode.SIMULATION_BELOW_MINIMUM.finding(message)
        return
    fresh, state = review.fresh_amount_out, review.state
    if not fresh or state is None or not state.is_live:
        return
    if received * PPM < fresh * (PPM - _DIFFERENCE_PPM):
        gap = format_percentage((fresh - received) / fresh)
        yield FindingCode.SIMULATION_DIFFERS.finding(f"{pays}, {gap} less than a fresh quote")
