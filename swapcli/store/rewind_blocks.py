"""The blocks to which a store can rewind."""

from __future__ import annotations

from typing import NamedTuple


class StoredBlock(NamedTuple):
    """A block of the chain. `hash` and `timestamp` (Unix seconds) are None if they are unknown."""

    number: int
    hash: str | None
    timestamp: int | None
