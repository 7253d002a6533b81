"""Permits: messages whose signature replaces an approval. Nothing is signed here.

A token's own permit (EIP-2612) approves a spender; a Permit2 permit records an allowance for a spender, after the token
has approved Permit2 once. Both end at a deadline, and both have a nonce that counts the owner's permits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from swapcli.core.encoding.abi import encode_address, encode_uint, parse_hex
from swapcli.core.errors import InvalidInput, InvalidOption
from swapcli.core.networks.permit2 import AMOUNT_BITS, PERMIT2
from swapcli.core.records import NamedTuple
from swapcli.payload.evm.permit2_allowance import TIME_BITS
from swapcli.payload.evm.typed_data import TypedData

SIGNATURE_BYTES: Final = 65  # r, s and v
_CURVE_ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""The order of the group of secp256k1 (SEC 2)."""

TOKEN_TYPES: Final = {
    "Permit": {
        "owner": "address",
        "spender": "address",
        "value": "uint256",
        "nonce": "uint256",
        "deadline": "uint256",
    }
}
PERMIT2_TYPES: Final = {
    "PermitSingle": {"details": "PermitDetails", "spender": "address", "sigDeadline": "uint256"},
    "PermitDetails": {"token": "address", "amount": "uint160", "expiration": "uint48", "nonce": "uint48"},
}
_NONCE_BITS: Final = 48  # of Permit2, a uint48


class PermitTerms(NamedTuple):
    """A permit: `spender` may take `amount` base units of `token` from its `owner` until `deadline_s`."""

    token: str
    owner: str
    spender: str
    amount: int
    deadline_s: int


class Signature(NamedTuple):
    """A secp256k1 signature; `v` is 27 or 28."""

    r: int
    s: int
    v: int

    @property
    def encoded(self) -> bytes:
        """The 65 bytes r, s, v."""
        return self.r.to_bytes(32) + self.s.to_bytes(32) + bytes((self.v,))


def parse_signature(text: str, label: str = "signature") -> Signature:
    """Parse r, s and v in hex with 0x; `label` names the option in errors.

    Raises `InvalidOption` for a length, v or s that wallets never return.
    """
    try:
        octets = parse_hex(text.strip(), "signature")
    except InvalidInput as error:
        raise InvalidOption(f"{label}: {error.message.removeprefix('signature: ')}") from None
    if len(octets) != SIGNATURE_BYTES:
        raise InvalidOption(f"{label}: a signature has {SIGNATURE_BYTES} bytes, not {len(octets)}")
    r, s, v = int.from_bytes(octets[:32]), int.from_bytes(octets[32:64]), octets[64]
    if v not in (27, 28):
        raise InvalidOption(f"{label}: the last byte must be 27 or 28 (0x1b or 0x1c), not {v}")
    if not 0 < r < _CURVE_ORDER or not 0 < s <= _CURVE_ORDER // 2:
        raise InvalidOption(f"{label}: r or s is out of range, so contracts reject it")
    return Signature(r, s, v)


def permit2_message(terms: PermitTerms, nonce: int, chain_id: int) -> TypedData:
    """Return Permit2's `PermitSingle`. The allowance ends at the same time as the permit."""
    details = {"token": terms.token, "amount": terms.amount, "expiration": terms.deadline_s, "nonce": nonce}
    message = {"details": details, "spender": terms.spender, "sigDeadline": terms.deadline_s}
    domain = {"name": "Permit2", "chainId": chain_id, "verifyingContract": PERMIT2}
    return TypedData(PERMIT2_TYPES, "PermitSingle", domain, message)


def permit_single_words(terms: PermitTerms, nonce: int) -> str:
    """Return the six words that represent the `PermitSingle` in calldata. Raises `InvalidInput` for a value out of
    range."""
    return (
        encode_address(terms.token, "token")
        + encode_uint(terms.amount, AMOUNT_BITS, "amount")
        + encode_uint(terms.deadline_s, TIME_BITS, "expiration")
        + encode_uint(nonce, _NONCE_BITS, "nonce")
        + encode_address(terms.spender, "spender")
        + encode_uint(terms.deadline_s, 256, "deadline")
    )


def token_message(terms: PermitTerms, nonce: int, domain: Mapping[str, Any]) -> TypedData:
    """Return a token's `Permit` message, with its domain."""
    message = {
        "owner": terms.owner,
        "spender": terms.spender,
        "value": terms.amount,
        "nonce": nonce,
        "deadline": terms.deadline_s,
    }
    return TypedData(TOKEN_TYPES, "Permit", domain, message)
