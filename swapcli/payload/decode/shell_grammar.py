"""The shell forms of a payload: the options of `cast send` and the variables that `swapcli calldata` prints.

The writer (`--format cast` and `sh`) and the reader (`swapcli decode`) share these names. Everything else in such a
text is dangerous, because a shell would execute it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CAST_COMMAND: Final = ("cast", "send")
CHAIN_OPTION: Final = "--chain"
VALUE_OPTION: Final = "--value"
ACCESS_LIST_OPTION: Final = "--access-list"
CAST_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "from": "--from",
        "nonce": "--nonce",
        "gas": "--gas-limit",
        "maxFeePerGas": "--gas-price",
        "maxPriorityFeePerGas": "--priority-gas-price",
    }
)
"""The options of `cast send`, by transaction field; each sets exactly its field."""

NETWORK: Final = "SWAP_NETWORK"
CHAIN_ID: Final = "SWAP_CHAIN_ID"
TO: Final = "SWAP_TO"
VALUE: Final = "SWAP_VALUE"
CALLDATA: Final = "SWAP_CALLDATA"
MIN_RECEIVED: Final = "SWAP_MIN_RECEIVED"
EXPIRES_AT: Final = "SWAP_EXPIRES_AT"
WARNINGS: Final = "SWAP_WARNINGS"
APPROVALS: Final = "SWAP_APPROVALS"


def approval_variable(number: int, part: str) -> str:
    """Return the name of a variable for an approval (approvals are numbered from 1); `part` is `TO` or `CALLDATA`."""
    return f"SWAP_APPROVAL_{number}_{part}"


APPROVAL_VARIABLE: Final = re.compile(r"SWAP_APPROVAL_[1-9][0-9]{0,2}_(?:TO|CALLDATA)")

BARE_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,+-"
"""The characters allowed in a word outside quotes."""
ACTIVE_IN_DOUBLE_QUOTES: Final = frozenset("$`\\!")
"""The characters that a shell executes or changes inside double quotes."""

_DECIMAL: Final = re.compile(r"[0-9]+")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]+")
_VALUES: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        NETWORK: re.compile(r"[A-Za-z0-9_-]+"),
        CHAIN_ID: _DECIMAL,
        TO: _HEX,
        VALUE: _DECIMAL,
        CALLDATA: _HEX,
        MIN_RECEIVED: _DECIMAL,
        EXPIRES_AT: _DECIMAL,
        WARNINGS: re.compile(r"(?:[A-Z][A-Z0-9_]*(?: [A-Z][A-Z0-9_]*)*)?"),
        APPROVALS: _DECIMAL,
    }
)


def is_variable(name: str) -> bool:
    """Return whether `--format sh` assigns a variable called `name`."""
    return name in _VALUES or APPROVAL_VARIABLE.fullmatch(name) is not None


def is_variable_value(name: str, value: str) -> bool:
    """Return whether `--format sh` may assign `value` to the variable `name`."""
    return _VALUES.get(name, _HEX).fullmatch(value) is not None
