"""Parse addresses in market files: hex digits in upper or lower case, with or without a valid checksum."""

from __future__ import annotations

import re

from swapcli.core.errors import InvalidAddress
from swapcli.core.model.network import Kind
from swapcli.core.networks.address import is_canonical, parse_address
from swapcli.core.validation.values import describe

_HEX = re.compile(r"0[xX][0-9a-fA-F]{1,64}").fullmatch


def read_address(value: object, kind: Kind) -> str:
    """Return the canonical form of an address. Raises `InvalidAddress` with the problem; the caller adds the field's
    name."""
    if not isinstance(value, str):
        raise InvalidAddress("missing" if value is None else f"expected an address, not {describe(value)}")
    lowered = value.lower()
    if is_canonical(lowered, kind):
        return lowered
    if not is_hex(value):
        raise InvalidAddress(f"expected an address, not {describe(value)}")
    return parse_address(lowered, kind)


def is_hex(text: str) -> bool:
    """Return whether `text` is `0x` and at most 64 hex digits. A message may show such a text unchanged."""
    return _HEX(text) is not None
