"""The bytes of a transaction give its fields and its sender, as the library of wallets signs them."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from eth_account import Account

from swapcli.core.errors import InvalidInput
from swapcli.core.model.transaction import Transaction
from swapcli.payload.decode.documents import parse_payload
from swapcli.payload.decode.raw_transactions import parse_raw
from swapcli.payload.evm.unsigned_transaction import GasFees, encode_unsigned

KEY = "0x" + "46" * 32
SENDER = Account.from_key(KEY).address.lower()
ROUTER = "0x274602a953847d807231d2370072F5f4E4594B44"
CALLDATA = "0x8619b04e" + "07" * 320
CALL: dict[str, Any] = {"nonce": 3, "gas": 300_000, "to": ROUTER, "value": 10**18, "data": CALLDATA}
FEES = {"maxFeePerGas": 20, "maxPriorityFeePerGas": 1}
SLOTS = [{"address": ROUTER, "storageKeys": ["0x" + "0a" * 32]}]
TYPES: dict[str, dict[str, Any]] = {
    "legacy": {"gasPrice": 20, "chainId": 8453},
    "legacy without a chain": {"gasPrice": 20},
    "type 1": {"gasPrice": 20, "chainId": 8453, "accessList": SLOTS, "type": 1},
    "type 2": {**FEES, "chainId": 8453, "type": 2},
    "type 2 with slots": {**FEES, "chainId": 8453, "type": 2, "accessList": SLOTS},
}

EVERY_CHAIN = "the signed transaction has no chain ID: it is valid on every chain"


def sign(fields: dict[str, Any]) -> str:
    return f"0x{bytes(Account.from_key(KEY).sign_transaction({**CALL, **fields}).raw_transaction).hex()}"


@pytest.mark.parametrize("name", TYPES)
def test_signed_bytes_have_the_fields_and_the_sender(name: str) -> None:
    found = parse_raw(sign(TYPES[name]))
    assert found is not None
    assert (found.calldata, found.to, found.value) == (CALLDATA, ROUTER.lower(), 10**18)
    assert (found.nonce, found.gas, found.max_fee_wei, found.sender) == (3, 300_000, 20, SENDER)
    assert found.max_priority_fee_wei == TYPES[name].get("maxPriorityFeePerGas")
    assert found.chain_id == TYPES[name].get("chainId")
    assert found.oddities == (() if "chainId" in TYPES[name] else (EVERY_CHAIN,))
    assert found.is_whole


def test_unsigned_bytes_have_no_sender() -> None:
    gas = GasFees(300_000, 20, 1)
    raw = encode_unsigned(Transaction(ROUTER.lower(), CALLDATA, 5), 8453, 3, gas)
    found = parse_raw(f"0x{raw.hex()}")
    assert found is not None
    assert (found.calldata, found.to, found.value, found.sender) == (CALLDATA, ROUTER.lower(), 5, None)


def test_authorizations_are_named() -> None:
    account = Account.from_key(KEY)
    authorization = account.sign_authorization({"chainId": 8453, "address": ROUTER, "nonce": 0})
    found = parse_raw(sign({**FEES, "chainId": 8453, "type": 4, "authorizationList": [authorization]}))
    assert found is not None
    assert found.sender == SENDER
    assert "authorizationList" in found.oddities[0]


def test_a_deployment_has_no_contract() -> None:
    call = {name: value for name, value in CALL.items() if name != "to"}
    signed = Account.from_key(KEY).sign_transaction({**call, **TYPES["type 2"], "to": ""})
    found = parse_raw(f"0x{bytes(signed.raw_transaction).hex()}")
    assert found is not None
    assert found.to is None


def test_changed_bytes_are_another_transaction_or_none() -> None:
    rng = Random("changed bytes")
    raw = bytes.fromhex(sign(TYPES["type 2"])[2:])
    whole = parse_raw(f"0x{raw.hex()}")
    for _ in range(12):
        at = rng.randrange(len(raw))
        changed = raw[:at] + bytes([raw[at] ^ 1 << rng.randrange(8)]) + raw[at + 1 :]
        found = parse_raw(f"0x{changed.hex()}")
        assert found is None or found.sender != SENDER
        assert found != whole
        for cut in (raw[:at], raw + b"\0"):
            assert parse_raw(f"0x{cut.hex()}") is None


def test_calldata_is_not_a_transaction() -> None:
    rng = Random("calldata")
    assert parse_raw(CALLDATA) is None
    for selector in ("02f87083", "01f8a904", "c0000000", "f86c0985", "04f90123", "02c0", "c0"):
        assert parse_raw(f"0x{selector}{rng.randbytes(rng.choice((0, 32, 324))).hex()}") is None


def test_every_form_of_bytes_is_read() -> None:
    raw = sign(TYPES["type 2"])
    fields = {**CALL, **TYPES["type 2"], "from": SENDER, "type": "0x2"}
    for text in (
        raw,
        json.dumps(raw),
        json.dumps({"method": "eth_sendRawTransaction", "params": [raw]}),
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_sendRawTransaction", "params": [raw]}),
        json.dumps({"jsonrpc": "2.0", "id": 1, "result": raw}),
        json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"raw": raw, "tx": fields}}),
        json.dumps({"rawTransaction": raw, "hash": "0x" + "ab" * 32, "r": 1, "s": 2, "v": 1}),
        json.dumps({"raw_transaction": raw, "hash": "0x" + "ab" * 32, "r": 1, "s": 2, "v": 1}),
    ):
        given = parse_payload(text)
        assert (given.payload.sender, given.payload.calldata, given.chain_ids) == (SENDER, CALLDATA, (8453,)), text
        assert given.oddities == (), text


def test_fields_beside_the_bytes_are_compared() -> None:
    raw, fields = sign(TYPES["type 2"]), {**CALL, **TYPES["type 2"], "from": SENDER}
    for name, value in {"to": "0x" + "22" * 20, "value": 1, "data": "0x12345678", "from": "0x" + "22" * 20}.items():
        given = parse_payload(json.dumps({"raw": raw, "tx": {**fields, name: value}}))
        assert given.payload.calldata == CALLDATA
        assert "than the fields beside it" in given.oddities[0]


def test_text_that_is_not_a_transaction_is_an_error() -> None:
    with pytest.raises(InvalidInput):
        parse_payload(json.dumps({"method": "eth_sendRawTransaction", "params": ["hello"]}))
