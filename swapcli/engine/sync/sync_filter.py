"""The pools that a sync stores."""

from __future__ import annotations

from swapcli.records import NamedTuple


class SyncFilter(NamedTuple):
    """Which pools of a network to store: those of `protocols` whose tokens are all in `tokens`; None means all.

    `min_liquidity_usd` is compared with the depth by which the store ranks a pool; it needs one of the network's
    stablecoins among the tokens. `from_block` is the first block of creation events that the first sync reads. With
    `tokens`, factories are queried for pairs of them, and events are read only if `from_block` is not 0.
    """

    protocols: frozenset[str] | None = None
    tokens: frozenset[str] | None = None
    min_liquidity_usd: float = 0.0
    from_block: int = 0
