"""Messages of permits are what wallets sign, and signatures are read strictly."""

from __future__ import annotations

import json

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidOption
from swapcli.payload.evm.permit import (
    PermitTerms,
    Signature,
    parse_signature,
    permit2_message,
    permit_single_words,
    token_message,
)
from swapcli.payload.evm.typed_data import TypedData
from tests.payload.evm.build import ADDRESSES

KEY = "0x" + "17" * 32
"""A private key for these tests only."""
TERMS = st.builds(
    PermitTerms, ADDRESSES, ADDRESSES, ADDRESSES, st.integers(1, 2**160 - 1), st.integers(1, 253_402_300_799)
)
CHAIN_IDS = st.integers(1, 2**53 - 1)


@given(TERMS, st.integers(0, 2**48 - 1), CHAIN_IDS)
def test_a_permit2_message_is_hashed_as_eth_account_does(terms: PermitTerms, nonce: int, chain_id: int) -> None:
    check_digest(permit2_message(terms, nonce, chain_id))


@given(TERMS, st.integers(0, 2**256 - 1), CHAIN_IDS, st.text(max_size=20), st.none() | st.text(max_size=3))
def test_a_token_message_is_hashed_as_eth_account_does(
    terms: PermitTerms, nonce: int, chain_id: int, name: str, version: str | None
) -> None:
    versioned = {} if version is None else {"version": version}
    domain = {"name": name, **versioned, "chainId": chain_id, "verifyingContract": terms.token}
    check_digest(token_message(terms, nonce, domain))


def check_digest(message: TypedData) -> None:
    """Compare with the signature of the document as JSON: it has everything that a wallet needs."""
    document = json.loads(json.dumps(message.document()))
    signable = encode_typed_data(full_message=document)
    signed = Account.sign_message(signable, KEY)
    assert signed.message_hash == message.digest()
    signature = parse_signature(signed.signature.to_0x_hex())
    assert signature == Signature(signed.r, signed.s, signed.v)
    assert signature.encoded == signed.signature


@given(TERMS, st.integers(0, 2**48 - 1))
def test_calldata_has_the_words_of_the_signed_message(terms: PermitTerms, nonce: int) -> None:
    message = permit2_message(terms, nonce, 1).message
    words = permit_single_words(terms, nonce)
    numbers = [int(words[k : k + 64], 16) for k in range(0, len(words), 64)]
    details = message["details"]
    assert numbers == [
        int(details["token"], 16),
        *(details["amount"], details["expiration"], details["nonce"]),
        *(int(message["spender"], 16), message["sigDeadline"]),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "does not begin with 0x"),
        ("0xzz", "not pairs of hexadecimal digits"),
        ("0x" + "11" * 64, "a signature has 65 bytes, not 64"),
        ("0x" + "11" * 66, "a signature has 65 bytes, not 66"),
        ("0x" + "11" * 64 + "00", "the last byte must be 27 or 28 (0x1b or 0x1c), not 0"),
        ("0x" + "11" * 64 + "1d", "the last byte must be 27 or 28 (0x1b or 0x1c), not 29"),
        ("0x" + "11" * 32 + "ff" * 32 + "1b", "r or s is out of range, so contracts reject it"),
        ("0x" + "11" * 32 + "7f" + "ff" * 31 + "1b", "r or s is out of range, so contracts reject it"),
        ("0x" + "00" * 32 + "11" * 32 + "1b", "r or s is out of range, so contracts reject it"),
    ],
)
def test_a_malformed_signature_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        parse_signature(text)
    assert caught.value.message == f"signature: {problem}"
