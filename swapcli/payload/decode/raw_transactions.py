"""Read a transaction from its RLP bytes: legacy, or type 1, 2 or 4, signed or not. The sender is recovered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from swapcli.core.encoding.abi import ADDRESS_BYTES
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.encoding.key_recovery import recover_public_key
from swapcli.core.records import NamedTuple
from swapcli.payload.decode.given_transaction import AUTHORIZES_CONTRACTS, GivenTransaction
from swapcli.payload.evm.unsigned_transaction import RLP_BYTES, RLP_LIST, RLP_SHORT, encode_rlp

_Item: TypeAlias = "bytes | list[_Item]"

_MAX_DEPTH: Final = 4  # of nested lists: a bound against hostile input; chosen
_FEES: Final = ("max_priority_fee_wei", "max_fee_wei")
_CALL: Final = ("gas", "to", "value", "data")
_FIELDS: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("chain_id", "nonce", "max_fee_wei", *_CALL, "access list"),
    2: ("chain_id", "nonce", *_FEES, *_CALL, "access list"),
    4: ("chain_id", "nonce", *_FEES, *_CALL, "access list", "authorizations"),
}
"""The fields of each transaction type (EIP-2718) before its signature."""
_LEGACY: Final = ("nonce", "max_fee_wei", *_CALL)
_SIGNATURE_ITEMS: Final = 3  # parity, r and s


class _Signed(NamedTuple):
    """The fields of a transaction, the bytes whose digest is signed, and the signature: r, s and parity."""

    fields: Mapping[str, _Item]
    content: bytes
    signature: tuple[int, int, int] | None
    chain_id: int | None


def parse_raw(calldata: str) -> GivenTransaction | None:
    """Parse hex with 0x as a whole transaction. Return None if it does not encode a transaction.

    Without a signature, the sender is unknown.
    """
    raw = bytes.fromhex(calldata[2:])
    # Calldata begins with a selector and is not valid RLP to its last byte.
    if not raw or not (raw[0] in _FIELDS or raw[0] >= RLP_LIST):
        return None
    try:
        return _transaction(_typed(raw) if raw[0] in _FIELDS else _legacy(raw))
    except _InvalidRlpError:
        return None


class _InvalidRlpError(ValueError):
    """The bytes are not canonical RLP, or not a transaction."""


def _typed(raw: bytes) -> _Signed:
    names = _FIELDS[raw[0]]
    items = _decode(raw[1:])
    fields = dict(zip(names, items, strict=False))
    unsigned = raw[:1] + encode_rlp(items[: len(names)])
    if len(items) == len(names):
        return _Signed(fields, unsigned, None, _number(fields["chain_id"]))
    if len(items) != len(names) + _SIGNATURE_ITEMS:
        raise _InvalidRlpError
    parity, r, s = map(_number, items[len(names) :])
    return _Signed(fields, unsigned, (r, s, parity), _number(fields["chain_id"]))


def _legacy(raw: bytes) -> _Signed:
    items = _decode(raw)
    count = len(_LEGACY)
    fields = dict(zip(_LEGACY, items, strict=False))
    if len(items) == count:
        return _Signed(fields, raw, None, None)
    if len(items) != count + _SIGNATURE_ITEMS:
        raise _InvalidRlpError
    v, r, s = map(_number, items[count:])
    if not r and not s:  # EIP-155: the chain ID replaces the signature
        return _Signed(fields, raw, None, v)
    if v in (27, 28):
        return _Signed(fields, encode_rlp(items[:count]), (r, s, v - 27), None)
    chain_id, parity = divmod(v - 35, 2)
    if chain_id < 0:
        raise _InvalidRlpError
    return _Signed(fields, encode_rlp([*items[:count], chain_id, b"", b""]), (r, s, parity), chain_id)


def _transaction(signed: _Signed) -> GivenTransaction:
    fields = signed.fields
    to, data = fields["to"], fields["data"]
    if not isinstance(to, bytes) or not isinstance(data, bytes) or len(to) not in (0, ADDRESS_BYTES):
        raise _InvalidRlpError

    def number(name: str) -> int | None:
        return _number(fields[name]) if name in fields else None

    oddities = []
    if fields.get("authorizations"):
        oddities.append(AUTHORIZES_CONTRACTS)
    sender = None
    if signed.signature is not None:
        sender = _recover(signed.content, *signed.signature)
        if sender is None:
            oddities.append("the signature of the transaction is not valid")
        if signed.chain_id is None:
            oddities.append("the signed transaction has no chain ID: it is valid on every chain")
    return GivenTransaction(
        f"0x{data.hex()}",
        to=f"0x{to.hex()}" if to else None,
        chain_id=signed.chain_id,
        sender=sender,
        oddities=tuple(oddities),
        is_whole=True,
        value=number("value"),
        nonce=number("nonce"),
        gas=number("gas"),
        max_fee_wei=number("max_fee_wei"),
        max_priority_fee_wei=number("max_priority_fee_wei"),
    )


def _recover(content: bytes, r: int, s: int, parity: int) -> str | None:
    key = recover_public_key(keccak256(content), r, s, parity)
    return None if key is None else f"0x{keccak256(key)[-ADDRESS_BYTES:].hex()}"


def _number(item: _Item) -> int:
    if not isinstance(item, bytes) or len(item) > 32 or item[:1] == b"\0":
        raise _InvalidRlpError
    return int.from_bytes(item)


def _decode(raw: bytes) -> list[_Item]:
    """Decode one list, up to the last byte."""
    item, end = _item(raw, 0, 0)
    if end != len(raw) or not isinstance(item, list):
        raise _InvalidRlpError
    return item


def _item(raw: bytes, at: int, depth: int) -> tuple[_Item, int]:
    """Return the item that begins at a position, and the position after it."""
    if at >= len(raw) or depth > _MAX_DEPTH:
        raise _InvalidRlpError
    first = raw[at]
    if first < RLP_BYTES:
        return raw[at : at + 1], at + 1
    kind = RLP_LIST if first >= RLP_LIST else RLP_BYTES
    length, start = first - kind, at + 1
    if length > RLP_SHORT:
        start += length - RLP_SHORT
        written = raw[at + 1 : start]
        length = int.from_bytes(written)
        if length <= RLP_SHORT or written[:1] == b"\0":
            raise _InvalidRlpError
    end = start + length
    if end > len(raw):
        raise _InvalidRlpError
    if kind == RLP_BYTES:
        if length == 1 and raw[start] < RLP_BYTES:
            raise _InvalidRlpError
        return raw[start:end], end
    return _items(raw, start, end, depth), end


def _items(raw: bytes, start: int, end: int, depth: int) -> list[_Item]:
    items: list[_Item] = []
    while start < end:
        item, start = _item(raw, start, depth + 1)
        items.append(item)
    if start != end:
        raise _InvalidRlpError
    return items
