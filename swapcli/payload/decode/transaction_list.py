"""The transactions that must precede a payload, and how a document's list of transactions differs from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.network import INTERFACE_DIALECTS, SETTLER, UNIVERSAL_ROUTER, Kind
from swapcli.core.model.transaction import Approval, Transaction
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.evm import transactions
from swapcli.payload.evm.permit2_allowance import TIME_BITS, build_permit2_approval
from swapcli.payload.starknet import account_calls

_LATEST_S = (1 << TIME_BITS) - 1


def implied_approvals(call: DecodedCall, router: str | None) -> tuple[Approval, ...]:
    """Return the approvals that a swap needs, in order, if it goes to `router`. Any other call needs none."""
    order = call.order
    if order is None or order.is_native_in or router is None:
        return ()
    of_router = Approval(order.token_in, router, order.amount_in)
    if call.dialect == UNIVERSAL_ROUTER:
        of_permit2 = Approval(order.token_in, PERMIT2, order.amount_in)
        expiration_s = _LATEST_S if order.deadline_s is None else min(order.deadline_s, _LATEST_S)
        return (of_permit2,) if call.permit else (of_permit2, of_router._replace(expiration_s=expiration_s))
    if call.dialect == SETTLER:
        return (of_router,) if call.function == "exec" else ()
    return (of_router,) if call.dialect in INTERFACE_DIALECTS and call.permit is None else ()


class ApprovalList:
    """The transactions that may precede a swap: each approval, optionally after one that revokes the previous
    allowance.

    An approval may be missing, because the allowance may already exist.
    """

    def __init__(self, approvals: Sequence[Approval], kind: Kind) -> None:
        self._steps: list[tuple[Transaction, bool]] = []
        for approval in approvals:
            if approval.expiration_s is not None:
                self._steps.append((build_permit2_approval(approval), False))
                continue
            if kind.traits.has_felts:
                self._steps.append((account_calls.build_approval(*approval[:3]), False))
                continue
            for amount in (0, approval.amount):
                step = transactions.build_approval(approval.token, approval.spender, amount)
                self._steps.append((step, amount == 0))
        self._next = 0
        self._is_revoked = False

    def accepts(self, given: GivenTransaction) -> bool:
        """Return whether a transaction equals, to the last byte, one of the approvals that may come next. If so, record
        it."""
        for position in range(self._next, len(self._steps)):
            step, is_revocation = self._steps[position]
            if _is_same(step, given) and not given.value:
                self._next, self._is_revoked = position + 1, is_revocation
                return True
            if self._is_revoked:  # a revoked allowance must be granted again
                return False
        return False

    @property
    def is_revoked(self) -> bool:
        """Whether the last approval was revoked and not granted again."""
        return self._is_revoked

    def missing(self, listed: Sequence[GivenTransaction]) -> Iterator[Transaction]:
        """Yield the approvals that a list does not contain, without revocations."""
        for step, is_revocation in self._steps:
            if not is_revocation and not any(_is_same(step, given) for given in listed):
                yield step


def _is_same(step: Transaction, given: GivenTransaction) -> bool:
    if given.to != step.to:
        return False
    if given.felts is not None:
        return (given.felts, given.entrypoint) == (step.felts, step.entrypoint)
    return given.calldata == step.calldata.lower()
