"""The names for recent blocks in Ethereum's JSON-RPC."""

from __future__ import annotations

from enum import StrEnum


class BlockTag(StrEnum):
    """A recent block, by how far the network has agreed on it.

    The network has agreed on the `finalized` block, and will most likely never replace the `safe` block; `latest` is
    the latest block. `pending` is the block that is being built, with the preconfirmed transactions: on Base, every 200
    ms.
    """

    LATEST = "latest"
    PENDING = "pending"
    SAFE = "safe"
    FINALIZED = "finalized"


BLOCK_TAGS = tuple(BlockTag)
