"""Compute an OP-stack network's charge for the L1 data of a transaction, which is added to its gas cost.

The formula since the Fjord upgrade, unchanged by later upgrades (docs.base.org, "Fjord: Execution Engine", and
`GasPriceOracle.getL1Fee`):

    estimated size = max(100, -42.5856 + 0.8365 * FastLZ length of the signed transaction)
    fee            = estimated size * (16 * base fee scalar * L1 base fee + blob fee scalar * L1 blob base fee)

The size is computed in millionths of a byte; scalars are millionths. A signature adds a constant 68 bytes.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.encoding.fastlz import measure_compressed_length
from swapcli.core.records import NamedTuple

_INTERCEPT: Final = -42_585_600
_COEFFICIENT: Final = 836_500
_LEAST_SIZE: Final = 100_000_000
_SIGNATURE_BYTES: Final = 68  # which an unsigned transaction lacks
_CALLDATA_GAS: Final = 16  # of a nonzero byte on Ethereum
_SCALE: Final = 10**12


class L1FeeParams(NamedTuple):
    """The cost of L1 data at a block: wei per unit of gas and of blob gas, and how much of each price the network
    charges, in millionths."""

    base_fee_wei: int
    blob_base_fee_wei: int
    base_fee_scalar: int
    blob_base_fee_scalar: int


def compute_l1_fee_wei(unsigned: bytes, terms: L1FeeParams) -> int:
    """Return the fee in wei of a transaction, given in its unsigned form (`encode_unsigned`)."""
    length = measure_compressed_length(unsigned) + _SIGNATURE_BYTES
    size = max(_LEAST_SIZE, _INTERCEPT + _COEFFICIENT * length)
    on_calldata = _CALLDATA_GAS * terms.base_fee_scalar * terms.base_fee_wei
    return size * (on_calldata + terms.blob_base_fee_scalar * terms.blob_base_fee_wei) // _SCALE
