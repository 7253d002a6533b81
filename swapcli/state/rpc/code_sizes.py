"""Read the code sizes of many contracts in few requests. EVM code that runs without being deployed collects the
sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.starknet_calls import class_hash_call
from swapcli.state.rpc.node import BlockId, Node

_STORE_SIZE: Final = b"\x73%s\x3b\x61%s\x52"
"""PUSH20 address, EXTCODESIZE, PUSH2 position, MSTORE."""
_RETURN: Final = b"\x61%s\x60\x00\xf3"
"""PUSH2 length, PUSH 0, RETURN."""
_BATCH_SIZE: Final = 500  # contracts per request: 12.5 kB of code; EIP-3860 allows 49 kB
_STARKNET_ADDRESS_LENGTH: Final = 66  # 0x and 64 digits


def read_code_sizes(node: Node, addresses: Sequence[str], at: BlockId) -> list[int | None]:
    """Return the size in bytes of the code at each address; None for a size that the node does not return.

    On Starknet, the size is 1 for every contract. Raises `UpstreamError`.
    """
    sizes: list[int | None] = []
    for start in range(0, len(addresses), _BATCH_SIZE):
        batch = addresses[start : start + _BATCH_SIZE]
        if len(batch[0]) == _STARKNET_ADDRESS_LENGTH:
            sizes += [int(bool(each)) for each in node.call_many([class_hash_call(each) for each in batch], at)]
            continue
        (answer,) = node.call_many([ContractCall("", _size_code(batch))], at)
        if answer is None or len(answer) != WORD * len(batch):
            sizes += [None] * len(batch)
        else:
            sizes += [int.from_bytes(answer[WORD * k : WORD * (k + 1)]) for k in range(len(batch))]
    return sizes


def _size_code(addresses: Sequence[str]) -> bytes:
    stores = (_STORE_SIZE % (bytes.fromhex(address[2:]), (WORD * k).to_bytes(2)) for k, address in enumerate(addresses))
    return b"".join(stores) + _RETURN % (WORD * len(addresses)).to_bytes(2)
