"""Addresses as market files write them: hex in any letter case, whatever its checksum."""

from __future__ import annotations

import re

from swapcli.errors import InvalidAddress
from swapcli.model.network import Kind
from swapcli.networks.address import parse_address
from swapcli.pools.state_fields import shown

_CANONICAL_EVM = re.compile(r"0x[0-9a-f]{40}").fullmatch
_HEX = re.compile(r"0[xX][0-9a-fA-F]{1,64}").fullmatch


def read_address(value: object, kind: Kind) -> str:
    """The canonical form of an address. Raises `InvalidAddress` with a sentence for the field that holds it."""
    if not isinstance(value, str):
        raise InvalidAddress("missing" if value is None else f"expected an address, not {shown(value)}")
    lowered = value.lower()
    if kind is Kind.EVM and _CANONICAL_EVM(lowered):
        return lowered
    if not is_hex(value):
        raise InvalidAddress(f"expected an address, not {shown(value)}")
    return parse_address(lowered, kind)


def is_hex(text: str) -> bool:
    """Is it `0x` and up to 64 hex digits, so that a message may show it as it stands?"""
    return _HEX(text) is not None
