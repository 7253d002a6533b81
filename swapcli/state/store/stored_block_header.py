"""The header of a block in the store: its latest block, or an earlier block to which it can rewind."""

from __future__ import annotations

from swapcli.core.records import NamedTuple


class StoredBlock(NamedTuple):
    """A block of the chain. `hash` and `timestamp` (Unix seconds) are None if unknown."""

    number: int
    hash: str | None
    timestamp: int | None
