"""Identify which version of this project's router a deployed contract is, by its code.

The code of a deployment contains its constructor's arguments as pushed words. For each version, `versions.json` has
their positions, and the Keccak-256 hash of the code with zeros in their places. The last entry is the current version.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache

from swapcli.core.encoding.abi import WORD
from swapcli.core.networks.address import hash_code
from swapcli.core.records import NamedTuple


class RouterVersion(NamedTuple):
    """A version of the router contract: whether it has `swapBefore`, and how to recognize its code.

    `arguments_at` are the positions in bytes of the constructor's arguments, `code_hash` is the hash of the code with
    zeros there, in hex with 0x.
    """

    has_deadlines: bool
    size: int
    arguments_at: tuple[int, ...]
    code_hash: str

    def is_of(self, code: bytes) -> bool:
        """Return whether `code` is the code of a deployment of this version."""
        if len(code) != self.size:
            return False
        return hash_code(without_arguments(code, self.arguments_at)) == self.code_hash


@lru_cache
def read_versions() -> tuple[RouterVersion, ...]:
    """Return all versions of the router contract, from the first to the current one."""
    with open(os.path.join(os.path.dirname(__file__), "versions.json"), encoding="utf-8") as file:
        entries = json.load(file)
    return tuple(
        RouterVersion(each["has_deadlines"], each["size"], tuple(each["arguments_at"]), each["code_hash"])
        for each in entries
    )


def find_version(code: bytes) -> RouterVersion | None:
    """Return the router version whose deployed code is `code`, or None for any other contract."""
    return next((version for version in reversed(read_versions()) if version.is_of(code)), None)


def without_arguments(code: bytes, arguments_at: tuple[int, ...]) -> bytes:
    """Return the code with zeros in place of the constructor's arguments."""
    changed = bytearray(code)
    for position in arguments_at:
        changed[position : position + WORD] = bytes(WORD)
    return bytes(changed)
