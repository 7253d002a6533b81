"""A decoded payload: its review, its verdict in one line, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swapcli.core.model.decoded_call import (
    WHOLE_E18,
    DecodedApproval,
    DecodedMessage,
    DecodedPayment,
    enforcer_of_approval,
    enforcer_of_call,
)
from swapcli.core.model.finding import Finding
from swapcli.core.model.network import UNIVERSAL_ROUTER
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import NOBODY, ORDER
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.interface.quote_fields import render_state_source, render_warning_list
from swapcli.payload.review.decoded_replay import ReviewedSwap
from swapcli.payload.review.review_verdict import ReviewVerdict, verdict_of
from swapcli.payload.review.reviewed_payload import PayloadReview, ReviewedTransaction

if TYPE_CHECKING:
    from swapcli.interface.document_types import (
        DecodedAmountJson,
        DecodedApprovalJson,
        DecodedDocumentJson,
        DecodedMessageJson,
        DecodedOrderJson,
        DecodedPaymentJson,
        DecodedSwapJson,
        DecodedTokenJson,
        DecodedTransactionJson,
    )


class DecodedPayload(NamedTuple):
    """The effect of a payload, compared with a fresh quote. `reviewed_at_s` is the time of the comparison on the
    network's clock."""

    review: PayloadReview
    reviewed_at_s: float = 0

    @property
    def verdict(self) -> ReviewVerdict:
        """The verdict in one line."""
        return verdict_of(self.review)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The differences from a fresh quote's payload, most dangerous first."""
        return self.review.warnings

    @property
    def dangers(self) -> tuple[str, ...]:
        """The codes of the warnings that make the payload dangerous to sign, each once."""
        return self.review.dangers

    @property
    def doubts(self) -> tuple[str, ...]:
        """The codes of the other warnings that exclude the verdict "no danger found", each once."""
        return self.review.doubts

    @own_document
    def document(self) -> DecodedDocumentJson:
        """Return the JSON of `swapcli decode`. Amounts are text, in base units."""
        return _Renderer(self.review).document()


class _Renderer:
    def __init__(self, review: PayloadReview) -> None:
        self._review = review

    def document(self) -> DecodedDocumentJson:
        """Render the whole review."""
        review, call = self._review, self._review.call
        fee, gap, verdict = call.fee, review.minimum_gap, verdict_of(review)
        return {
            "verdict": {"status": verdict.status, "message": verdict.message},
            "network": review.network.name if review.network else None,
            "dialect": call.dialect,
            "function": call.function or None,
            "selector": call.selector or None,
            "to": self._address(review.signing.to),
            "value": None if review.signing.value is None else str(review.signing.value),
            "order": self._order(),
            "swaps": [self._swap(swap) for swap in review.swaps],
            "fee": None
            if fee is None
            else {
                "recipient": self._required(fee.recipient),
                "feeBps": fee.fee_bps,
                "surplusBps": fee.surplus_bps,
            },
            "payments": [self._payment(payment) for payment in call.payments],
            "permit": self._approval(
                call.permit, review.signing.to, is_signed_for_permit2=call.dialect == UNIVERSAL_ROUTER
            ),
            "approval": self._approval(call.approval, review.signing.to),
            "message": self._message(call.message),
            "trailingBytes": max(call.trailing_bytes, 0),
            "freshOutputAmount": None if review.fresh_amount_out is None else str(review.fresh_amount_out),
            "belowFreshPercent": None if gap is None else round(gap * 100, 4),
            "state": None if review.state is None else render_state_source(review.state),
            "transactions": [self._transaction(each) for each in review.transactions],
            "warnings": render_warning_list(review.warnings),
            "dangers": list(review.dangers),
        }

    def _order(self) -> DecodedOrderJson | None:
        order = self._review.call.order
        if order is None:
            return None
        return {
            "inputToken": self._token(order.token_in, is_native=order.is_native_in),
            "outputToken": self._token(order.token_out, is_native=order.is_native_out),
            "exactOutput": order.is_exact_out,
            "inputAmount": str(order.amount_in),
            "outputAmount": None if order.amount_out is None else str(order.amount_out),
            "minReceived": str(order.min_received),
            "recipient": self._required(order.recipient),
            "deadline": order.deadline_s,
            "deadlineEnforcer": enforcer_of_call(self._review.call),
        }

    def _swap(self, reviewed: ReviewedSwap) -> DecodedSwapJson:
        swap, pool = reviewed.swap, reviewed.pool
        key = pool.key if pool else swap.pool.key
        return {
            "inputToken": self._token(reviewed.token_in),
            "outputToken": None if reviewed.token_out is None else self._token(reviewed.token_out),
            "pool": self._address(key),
            "protocol": pool.protocol if pool else None,
            "feePpm": pool.fee_ppm if pool else None,
            "sharePercent": None if reviewed.share_ppm is None else reviewed.share_ppm / 10_000,
            "inputAmount": None if swap.amount_in is None else str(swap.amount_in),
        }

    def _payment(self, payment: DecodedPayment) -> DecodedPaymentJson:
        share_e18, surplus_bps = payment.share_e18, payment.surplus_bps
        return {
            "token": self._token(payment.token, is_native=payment.token == ZERO_ADDRESS),
            "recipient": self._required(payment.recipient),
            "sharePercent": None if share_e18 is None else share_e18 / WHOLE_E18 * 100,
            "surplusSharePercent": surplus_bps / 100 if surplus_bps else None,
            "amount": None if payment.amount is None else str(payment.amount),
        }

    def _approval(
        self, approval: DecodedApproval | None, to: str | None, *, is_signed_for_permit2: bool = False
    ) -> DecodedApprovalJson | None:
        if approval is None:
            return None
        token = approval.token or to
        return {
            "token": None if token is None else self._token(token),
            "spender": self._address(approval.spender),
            "amount": str(approval.amount),
            "expiration": approval.expiration_s,
            "deadline": approval.deadline_s,
            "deadlineEnforcer": enforcer_of_approval(approval, is_signed_for_permit2=is_signed_for_permit2),
        }

    def _transaction(self, reviewed: ReviewedTransaction) -> DecodedTransactionJson:
        given, call = reviewed
        return {
            "to": self._address(given.to),
            "value": None if given.value is None else str(given.value),
            "chainId": given.chain_id,
            "function": call.function or None,
            "selector": call.selector or None,
            "approval": self._approval(call.approval, given.to),
        }

    def _message(self, message: DecodedMessage | None) -> DecodedMessageJson | None:
        if message is None:
            return None
        to, is_permit2 = self._review.signing.to, message.is_permit2
        approvals = (self._approval(each, to, is_signed_for_permit2=is_permit2) for each in message.approvals)
        return {
            "title": message.title or None,
            "type": message.primary_type,
            "owner": self._address(message.owner),
            "account": self._address(message.account),
            "approvals": [each for each in approvals if each is not None],
            "sells": [self._token_amount(*each) for each in message.sells],
            "buys": [self._token_amount(*each) for each in message.buys],
            "recipients": [self._required(each) for each in message.recipients],
            "deadline": message.deadline_s,
            "deadlineEnforcer": NOBODY if message.deadline_s is None else ORDER,
        }

    def _token_amount(self, token: str, amount: int) -> DecodedAmountJson:
        return {"token": self._token(token), "amount": str(amount)}

    def _token(self, address: str, *, is_native: bool = False) -> DecodedTokenJson:
        network = self._review.network
        known: Mapping[str, Token] = self._review.tokens
        token = network.native if is_native and network else known.get(address)
        shown = ZERO_ADDRESS if is_native else address
        return {
            "address": self._required(shown),
            "symbol": token.symbol if token else None,
            "decimals": token.decimals if token else None,
        }

    def _address(self, address: str | None) -> str | None:
        return None if address is None else display_address(address, self._review.kind)

    def _required(self, address: str) -> str:
        return display_address(address, self._review.kind)
