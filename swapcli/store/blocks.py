"""The blocks that a store remembers."""

from __future__ import annotations

from typing import NamedTuple


class BlockMark(NamedTuple):
    """A block of the chain; hash and time (Unix seconds) are None where nobody told them."""

    number: int
    hash: str | None
    timestamp: int | None
