"""A transaction as bytes before it is signed: EIP-1559's type 2, in RLP.

0x02 || rlp([chain id, nonce, priority fee, fee, gas limit, to, value, calldata, access list])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.model.transaction import Transaction
from swapcli.core.records import NamedTuple

_TYPE: Final = b"\x02"
RLP_SHORT: Final = 55
RLP_BYTES: Final = 0x80
RLP_LIST: Final = 0xC0
"""RLP: the first byte of an empty string and of an empty list; a length above `RLP_SHORT` is written out."""

_Item = int | bytes | Sequence["_Item"]


class GasFees(NamedTuple):
    """The gas limit and the gas prices that a sender accepts: `limit` in units of gas, the prices in wei per unit."""

    limit: int
    fee_wei: int
    priority_fee_wei: int


def encode_unsigned(transaction: Transaction, chain_id: int, nonce: int, gas: GasFees) -> bytes:
    """Return the bytes that a wallet signs for a transaction, without an access list."""
    fields: _Item = (
        chain_id,
        nonce,
        gas.priority_fee_wei,
        gas.fee_wei,
        gas.limit,
        bytes.fromhex(transaction.to[2:]),
        transaction.value,
        bytes.fromhex(transaction.calldata[2:]),
        (),
    )
    return _TYPE + encode_rlp(fields)


def encode_rlp(item: _Item) -> bytes:
    """Encode an integer, bytes or a sequence of them."""
    if isinstance(item, int):
        return encode_rlp(item.to_bytes((item.bit_length() + 7) // 8))
    if not isinstance(item, bytes):
        return _with_length(b"".join(map(encode_rlp, item)), RLP_LIST)
    is_itself = len(item) == 1 and item[0] < RLP_BYTES
    return item if is_itself else _with_length(item, RLP_BYTES)


def _with_length(content: bytes, kind: int) -> bytes:
    length = len(content)
    if length <= RLP_SHORT:
        return bytes((kind + length,)) + content
    written = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes((kind + RLP_SHORT + len(written),)) + written + content
