"""Query the `NodeInterface` of an Arbitrum network for the gas that it charges for a transaction's data on L1.

On top of the execution's gas, the network charges enough gas to pay for the data at the block's base fee:

    units    = 16 * bytes of the signed transaction, compressed by Brotli at the level of ArbOS
    L1 gas   = units * price of a unit / base fee, rounded down

The contract exists only inside a node: if a transaction or another contract calls it, there is no code to run. It
compresses a transaction with placeholders for unknown numbers, adds 256 units and 1% because these may be longer, and
adds 10% to the price. Source: OffchainLabs/nitro @6dce8d1, gasEstimateL1Component of
execution/nodeinterface/node_interface.go, and arbos/l1pricing/l1pricing.go.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.encoding.abi import WORD, encode_word
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_words
from swapcli.families.reading.calls import ReturnData

_ESTIMATE: Final = "gasEstimateL1Component(address,bool,bytes)"
_NO_CREATION: Final = 0
_HEAD_BYTES: Final = 3 * WORD  # where the bytes begin
_GAS_BITS: Final = 64  # gas is a uint64


def encode_l1_gas_call(to: str, data: bytes) -> bytes:
    """Return the calldata that requests the gas of a transaction to `to` with `data`."""
    padding = bytes(-len(data) % WORD)
    return encode_call(_ESTIMATE, to, _NO_CREATION, _HEAD_BYTES) + encode_word(len(data)) + data + padding


def decode_l1_gas(answer: ReturnData) -> int | None:
    """Return the gas that L1 data adds, or None if the network has no such contract.

    Raises `InvalidUpstreamResponse` for a malformed response.
    """
    if not answer:
        return None
    gas_units, _, _ = read_words(answer, 3, _ESTIMATE)
    if gas_units >> _GAS_BITS:
        raise invalid_response(_ESTIMATE, f"more gas than {_GAS_BITS} bits hold")
    return gas_units
