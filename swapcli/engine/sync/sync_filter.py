"""The filter of a sync, and the results that callers see."""

from __future__ import annotations

from typing import NamedTuple

from swapcli.chain.node import BlockHeader


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


class Progress(NamedTuple):
    """The progress of a sync after a committed block. `pools` and `tokens` count what the store has now.

    `phase` names for people what is counted: `done` of `total`, which is None if it is unknown.
    """

    phase: str
    done: int
    total: int | None
    block: int
    pools: int
    tokens: int


class Advance(NamedTuple):
    """The changes of a step to the node's newest block, as keys of pools.

    `changed` pools had another state, `added` are new, `removed` could no longer be read or were dropped.
    `changed_without_event` were found by reading a sample, and are correct now. `rewound_to` is the number of the block
    to which the store was rewound first, after a chain reorganization: any pool may then differ from before.
    """

    block: BlockHeader
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed_without_event: tuple[str, ...] = ()
    rewound_to: int | None = None
