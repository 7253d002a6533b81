"""One transaction in any form in which a user gives it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import SELECTOR_CHARACTERS
from swapcli.core.encoding.text import SHOWN_CHARACTERS, truncate
from swapcli.core.errors import InvalidInput
from swapcli.core.model.decoded_call import DecodedMessage
from swapcli.core.records import NamedTuple
from swapcli.payload.evm import permit2_allowance, transactions
from swapcli.payload.evm.decoding.decode import DECODERS
from swapcli.payload.starknet.account_calls import SWAP

MAX_BYTES: Final = 1 << 20
"""The maximum size in bytes: more than any transaction has."""
HINT: Final = "give 0x and hexadecimal digits, felts separated by commas, or the output of swapcli calldata"

AUTHORIZES_CONTRACTS: Final = "the transaction also lets contracts act as the sender's account (authorizationList)"
RUNS_AS_SAFE: Final = "the Safe runs the called contract's code as the Safe itself (operation 1)"
REFUNDS_GAS: Final = "the Safe refunds the gas of the transaction (gasPrice), possibly to a stranger's account"

_MAX_PLACES: Final = 5  # listed in a warning; the others are only counted
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_APPROVALS: Final = (*transactions.ALLOWANCES, permit2_allowance.APPROVE)


class GivenTransaction(NamedTuple):
    """One transaction as given; None for missing fields. Values and fees are in wei.

    `calldata` is hex with 0x; `felts` are the arguments of `entrypoint` for a call on Starknet. `oddities` are
    sentences about content that no swap transaction has. A message to sign has `message`, and the contract that accepts
    it as `to`. `purpose` is the document's name for the transaction's purpose (`core.model.transaction.Purpose`). A
    whole transaction (`is_whole`) contains everything that is signed: without `to`, it deploys a contract. Calldata
    alone does not. `max_total_fee_fri` is the most that a Starknet account pays for the transaction, in the base unit
    of STRK, and `max_total_fee_wei` the same for old versions that pay in ETH.
    """

    calldata: str = "0x"
    felts: tuple[int, ...] | None = None
    to: str | None = None
    value: int | None = None
    chain_id: int | None = None
    sender: str | None = None
    nonce: int | None = None
    gas: int | None = None
    max_fee_wei: int | None = None
    max_priority_fee_wei: int | None = None
    entrypoint: str | None = None
    oddities: tuple[str, ...] = ()
    message: DecodedMessage | None = None
    purpose: str | None = None
    is_whole: bool = False
    max_total_fee_fri: int | None = None
    max_total_fee_wei: int | None = None

    @property
    def has_content(self) -> bool:
        """Whether the transaction calls anything, or is a message."""
        return self.felts is not None or self.calldata != "0x" or self.message is not None

    @property
    def calls_router(self) -> bool:
        """Whether the transaction calls a router function that can be decoded."""
        if self.felts is not None:
            return self.entrypoint == SWAP
        selector = self.calldata[2:SELECTOR_CHARACTERS].lower()
        return selector in DECODERS and selector not in _APPROVALS


def shorten_places(sentences: Sequence[str]) -> tuple[str, ...]:
    """Return the first of the sentences about places in a text, and a sentence with the number of the others."""
    left = len(sentences) - _MAX_PLACES
    more = () if left <= 0 else (f"{left} more {'place is' if left == 1 else 'places are'} unusual",)
    return (*sentences[:_MAX_PLACES], *more)


def parse_calldata(text: str) -> str:
    """Return calldata in lower-case hex with 0x. Raises `InvalidInput`."""
    digits = text[2:] if text[:2] in ("0x", "0X") else text
    if not digits or not _HEX.fullmatch(digits):
        raise InvalidInput(f'"{truncate(text, SHOWN_CHARACTERS)}" is not calldata', hint=HINT)
    if len(digits) % 2:
        raise InvalidInput("the calldata has an odd number of digits", hint="check that all of it was copied")
    if len(digits) > MAX_BYTES * 2:
        raise InvalidInput("this is more calldata than any transaction can have", hint=HINT)
    return f"0x{digits.lower()}"
