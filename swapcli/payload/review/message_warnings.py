"""Is every field of a message to sign known, and is it for the account that signs it?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from swapcli.core.encoding.text import SHOWN_CHARACTERS, printable, truncate
from swapcli.core.model.decoded_call import DecodedMessage
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.review.deadline_warnings import deadline_warnings
from swapcli.payload.review.reviewed_payload import PayloadReview

_SHOWN_AMOUNTS: Final = 4  # in one sentence
_WORD: Final = re.compile(r"[^\W_]+")
_TETHER: Final = str.maketrans({"₮": "t"})
"""The sign that Tether uses in names: USD₮0."""


def message_warnings(review: PayloadReview, now_s: float) -> Iterator[Finding]:
    """Yield warnings about the dangers of a message to sign."""
    message = review.call.message
    if message is None:
        return
    if not message.is_judged:
        yield _unknown(_describe_unjudged(message, review))
        if message.deadline_s is not None:
            yield from deadline_warnings(message.deadline_s, now_s, "the order")
    yield from map(_unknown, message.problems)
    yield from map(_unknown, _account_problems(message, review))
    to = review.signing.to
    if message.is_permit2 and to is not None and to != PERMIT2:
        yield FindingCode.ROUTER_UNKNOWN.finding(f"the permit is for {review.shown(to)}, not for Permit2")
    if message.is_judged and message.approvals and not message.is_permit2:
        yield from map(_unknown, _name_problems(message, review))


def _unknown(sentence: str) -> Finding:
    return FindingCode.MESSAGE_UNKNOWN.finding(sentence)


def _describe_unjudged(message: DecodedMessage, review: PayloadReview) -> str:
    if not message.title:
        name = printable(truncate(message.primary_type, SHOWN_CHARACTERS)) or "without a name"
        return f"the message {name} is unknown or differs from its standard, so its effect is unknown"
    if not message.sells and not message.buys:
        return f"this is {message.title}, which decode cannot check"
    sells, buys = _amounts(message.sells, review), _amounts(message.buys, review)
    sentence = f"this is {message.title}, which decode cannot check: it gives {sells or 'tokens'}"
    if message.buys:
        sentence += f" for at least {buys}"
    if message.recipients:
        sentence += " to " + " and ".join(map(review.shown, message.recipients[:_SHOWN_AMOUNTS]))
    return sentence


def _amounts(amounts: Sequence[tuple[str, int]], review: PayloadReview) -> str:
    shown = [
        review.amount(amount, token) if token in review.tokens else f"{amount} base units of {review.shown(token)}"
        for token, amount in amounts[:_SHOWN_AMOUNTS]
    ]
    return " and ".join(shown)


def _account_problems(message: DecodedMessage, review: PayloadReview) -> Iterator[str]:
    """Yield a sentence if the message concerns a different account from the one that signs."""
    sender, account, owner = review.signing.sender, message.account, message.owner
    if owner is not None and account is not None and owner != account:
        yield f"the message is about tokens of {review.shown(owner)}, but {review.shown(account)} signs it"
    elif owner is not None and sender is not None and owner != sender:
        yield f"the message is about tokens of {review.shown(owner)}, not of {review.shown(sender)}"
    elif account is not None and sender is not None and account != sender and message.primary_type != "SafeTx":
        yield f"{review.shown(account)} signs the message, not {review.shown(sender)}"


def _name_problems(message: DecodedMessage, review: PayloadReview) -> Iterator[str]:
    """Yield a sentence if the domain names a different token from that of its contract.

    Names in the catalogue may differ from those of the contract, so one common word is enough, unless the name belongs
    to a different token.
    """
    network, token = review.network, review.tokens.get(review.signing.to or "")
    name = message.contract_name
    if network is None or token is None or name is None:
        return
    shown = printable(truncate(name, SHOWN_CHARACTERS))
    others = (each for each in (*network.tokens, network.native) if each.symbol != token.symbol)
    is_other = any(_plain(name) in (_plain(each.name), _plain(each.symbol)) for each in others)
    is_own = _plain(name) in (_plain(token.name), _plain(token.symbol))
    if not is_own and (is_other or not _words(name) & (_words(token.name) | _words(token.symbol))):
        yield f"the message calls its contract {shown}, but the contract is {token.name} ({token.symbol})"


def _plain(name: str) -> str:
    return name.translate(_TETHER).casefold().strip()


def _words(name: str) -> set[str]:
    return set(_WORD.findall(_plain(name)))
