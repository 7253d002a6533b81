"""The names for recent blocks in Ethereum's JSON-RPC."""

from __future__ import annotations

from enum import StrEnum


class BlockTag(StrEnum):
    """A tag of a recent block, which shows how far the network has agreed on the block.

    The network has agreed on the `finalized` block, and will most likely never replace the `safe` block; `latest` is
    the latest block. `pending` is the block that is being built, including preconfirmed transactions, which Base
    publishes every 200 ms.
    """

    LATEST = "latest"
    PENDING = "pending"
    SAFE = "safe"
    FINALIZED = "finalized"


BLOCK_TAGS = tuple(BlockTag)
