"""The integrator of a call: `integrator_data` = abi.encode(address integrator, uint256 fee_bps, uint256 surplus_bps).

How the public router reads these bytes is not published; the encoding is this project's.
"""

from __future__ import annotations

from swapcli.core.encoding.abi import AbiReader, encode_address, encode_uint
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.records import NamedTuple


class IntegratorShares(NamedTuple):
    """The content of `integrator_data`, whether or not a router would accept it. Shares are in basis points."""

    address: str
    fee_bps: int
    surplus_bps: int


def encode_integrator_data(integrator: Integrator | None) -> bytes:
    """Return the integrator data: three words, or no bytes without an integrator or shares. Raises `InvalidInput` for
    an invalid address."""
    if integrator is None or not (integrator.fee_bps or integrator.surplus_bps):
        return b""
    return bytes.fromhex(
        encode_address(integrator.address, "integrator")
        + encode_uint(integrator.fee_bps, 256, "fee_bps")
        + encode_uint(integrator.surplus_bps, 256, "surplus_bps")
    )


def decode_integrator_data(integrator_data: bytes) -> IntegratorShares | None:
    """Decode integrator data: the inverse of `encode_integrator_data`. Empty data gives None.

    Raises `InvalidInput` for anything but three valid words.
    """
    if not integrator_data:
        return None
    reader = AbiReader(integrator_data)
    address = reader.address("integrator")
    shares = IntegratorShares(address, reader.uint(256, "fee_bps"), reader.uint(256, "surplus_bps"))
    reader.end("integrator_data")
    return shares
