"""Are the transactions in a document exactly those that its swap needs, and for its network?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from swapcli.core.encoding.text import SHOWN_CHARACTERS, printable, truncate
from swapcli.core.model.decoded_call import DecodedApproval, DecodedCall
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.network import Kind, Network
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.model.transaction import Purpose
from swapcli.payload.decode.documents import PayloadInput
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.decode.transaction_list import ApprovalList, implied_approvals
from swapcli.payload.review.reviewed_payload import PayloadReview, ReviewedTransaction

_MAINNET = "-mainnet"
"""A suffix that some services add to a network's name."""
_KINDS = {Kind.EVM: ("evm", "eip155"), Kind.STARKNET: ("starknet",)}
"""The names for all chains of a kind."""
_NO_CONTRACT = "the call names no contract"
_MAX_SENDER_CHARACTERS = 66  # of a Starknet address
_HEX = re.compile(r"0x[0-9a-f]{1,64}")

FindToken: TypeAlias = Callable[[str], Token | None]
"""Returns the token at an address; None if it is unknown."""


def chain_warnings(review: PayloadReview, given: PayloadInput) -> Iterator[Finding]:
    """Yield warnings about signs that a document is for a different network, and about oddities in the form of its
    transactions."""
    network = review.network
    if network is not None:
        yield from _other_chains(network, given)
    yield from (FindingCode.HANDOFF_UNUSUAL.finding(oddity) for oddity in given.oddities)
    yield from _own_warnings(review, given)
    for each in (given.payload, *given.listed):
        yield from (FindingCode.CALL_UNUSUAL.finding(oddity) for oddity in each.oddities)
        if each.is_whole and each.to is None and review.signing.to is None:
            sentence = "the transaction has no `to`: it deploys a contract" if each.felts is None else _NO_CONTRACT
            yield FindingCode.CALL_UNUSUAL.finding(sentence)


def _own_warnings(review: PayloadReview, given: PayloadInput) -> Iterator[Finding]:
    """Yield the cases in which the document has a different contract, sender or value from the user's."""
    written, signing = given.written, review.signing
    if written is not None:
        if written.to not in (None, signing.to):
            yield _differ(f"the transaction goes to {_shown(review, written.to)}, not to {_shown(review, signing.to)}")
        if written.is_whole and written.value not in (None, signing.value):
            values = [_wei(review, each or 0) for each in (written.value, signing.value)]
            yield _differ(f"the transaction sends {values[0]}, not {values[1]}")
    # A message has its own account, and a Safe transaction's account is one of the owners.
    own = {_plain(each) for each in (signing.sender, given.payload.sender) if each is not None}  # or an ENS name
    sent = [each.sender for each in (written or given.payload, *given.listed) if each.message is None]
    for sender in dict.fromkeys(filter(None, sent)):
        if signing.sender is not None and _plain(sender) not in own:
            shown = printable(truncate(sender, _MAX_SENDER_CHARACTERS))
            yield _differ(f"the transaction is from {shown}, not from {review.shown(signing.sender)}")


def _plain(account: str) -> str:
    """Return an account as text that is equal for all forms of the same address."""
    lower = account.strip().lower()
    return hex(int(lower, 16)) if _HEX.fullmatch(lower) else lower


def _other_chains(network: Network, given: PayloadInput) -> Iterator[Finding]:
    for name in filter(None, (given.network, *given.chain_names)):
        if not _is_named(name, network):
            yield FindingCode.CHAIN_DIFFERS.finding(
                f"the document is for {printable(truncate(name, SHOWN_CHARACTERS))}, not for {network.name}",
            )
    for chain_id in given.chain_ids:
        if chain_id != network.chain_id:
            yield FindingCode.CHAIN_DIFFERS.finding(
                f"the transaction is for chain {chain_id}, but {network.name} is chain {network.chain_id}",
            )


def _is_named(name: str, network: Network) -> bool:
    words = name.lower().replace("_", "-").replace(" ", "-").removesuffix(_MAINNET)
    return words in (network.name.lower(), str(network.chain_id), *_KINDS.get(network.kind, ()))


def list_warnings(
    review: PayloadReview, given: PayloadInput, reviewed: Sequence[ReviewedTransaction], find_token: FindToken
) -> Iterator[Finding]:
    """Yield warnings about differences between the transactions in a document and those that its swap needs."""
    if not reviewed:
        return
    position = given.position or 0
    listed_swap = given.listed[position]
    yield from map(_differ, _other_swap(review, given.payload, listed_swap))
    to = given.payload.to or listed_swap.to
    approvals = implied_approvals(review.call, to)
    needed = ApprovalList(approvals, review.kind)
    for number, (each, call) in enumerate(reviewed[:position], start=1):
        if not needed.accepts(each) and not _is_needed_permit(review, each, to):
            yield _differ(
                f"transaction {number} {_describe(review, each, call, find_token)}, which the swap does not need"
            )
    for number, (each, call) in enumerate(reviewed[position + 1 :], start=position + 2):
        yield _differ(f"transaction {number} {_describe(review, each, call, find_token)} after the swap")
    if "dialect" in given.document:
        for number, (each, call) in enumerate(reviewed, start=1):
            if each.purpose not in (None, purpose := _purpose(call)):
                yield _differ(f"transaction {number} is labelled {each.purpose}, but is {purpose}")
    if needed.is_revoked:
        yield _differ("an approval is revoked and not granted again")
    is_checked = any(one.sender is not None for one in given.listed)
    if "dialect" in given.document and not is_checked:
        for _ in needed.missing(given.listed):
            yield _differ("an approval that the swap needs is missing")
    yield from _sender_warnings(given)


def _is_needed_permit(review: PayloadReview, given: GivenTransaction, router: str | None) -> bool:
    """Return whether a message to sign lets the router take exactly the amount that the swap sells.

    It is also judged like any other message.
    """
    order, message = review.call.order, given.message
    if order is None or order.is_native_in or router is None or message is None or not message.is_judged:
        return False
    permitted = [(each.token or given.to, each.spender, each.amount) for each in message.approvals]
    return permitted == [(order.token_in, router, order.amount_in)]


def _purpose(call: DecodedCall) -> Purpose:
    """Return the purpose of a transaction that belongs to a swap."""
    if call.approval is None:
        return Purpose.SWAP
    if call.approval.expiration_s is not None:
        return Purpose.APPROVE_PERMIT2
    return Purpose.APPROVE if call.approval.amount else Purpose.REVOKE


def _other_swap(review: PayloadReview, shown: GivenTransaction, listed: GivenTransaction) -> Iterator[str]:
    """Compare the swap in the transactions with the one that the document shows."""
    if (listed.calldata, listed.felts, listed.entrypoint) != (shown.calldata, shown.felts, shown.entrypoint):
        yield "the swap among the transactions has different calldata than the document"
    if shown.to is not None and listed.to != shown.to:
        yield f"the swap among the transactions goes to {_shown(review, listed.to)}, not {_shown(review, shown.to)}"
    if (listed.value or 0) != (shown.value or 0):
        yield f"the swap among the transactions sends {listed.value or 0} wei, not {shown.value or 0}"


def _sender_warnings(given: PayloadInput) -> Iterator[Finding]:
    senders = {each.sender.lower() for each in given.listed if each.sender is not None}
    if len(senders) > 1:
        yield _differ("the transactions have several senders")
    sent = [each for each in given.listed if each.message is None]
    nonces = [each.nonce for each in sent if each.nonce is not None]
    if nonces and nonces != list(range(nonces[0], nonces[0] + len(sent))):
        yield _differ("the transactions' nonces are not consecutive")


def _describe(review: PayloadReview, given: GivenTransaction, call: DecodedCall, find_token: FindToken) -> str:
    """Return the effect of a transaction, worded as the end of a sentence that begins with it."""
    value = f" and sends {_wei(review, given.value)}" if given.value else ""
    if call.approval is not None:
        return _describe_approval(review, given, call.approval, find_token) + value
    to = "a new contract" if given.to is None else _shown(review, given.to)
    if not given.has_content:
        return f"sends {_wei(review, given.value or 0)} to {to}"
    if call.function:
        return f"calls {call.function} of {to}{value}"
    return f"calls an unknown function, {call.selector}, of {to}{value}"


def _describe_approval(
    review: PayloadReview, given: GivenTransaction, approval: DecodedApproval, find_token: FindToken
) -> str:
    address = approval.token or given.to or ""
    token = review.tokens.get(address) or (find_token(address) if address else None)
    if approval.is_unlimited:
        amount = f"any amount of {token.symbol if token else _shown(review, address)}"
    elif token:
        amount = in_tokens(approval.amount, token)
    else:
        amount = f"{approval.amount} units of {_shown(review, address)}"
    return f"lets {_shown(review, approval.spender)} take {amount}"


def _wei(review: PayloadReview, value: int) -> str:
    return in_tokens(value, review.network.native) if review.network else f"{value} wei"


def _shown(review: PayloadReview, address: str | None) -> str:
    return "no contract" if address is None else review.shown(address)


def _differ(sentence: str) -> Finding:
    return FindingCode.TRANSACTIONS_DIFFER.finding(sentence)
