"""What a store shall hold, and what became of it: all that others see of syncing."""

from __future__ import annotations

from typing import NamedTuple

from swapcli.chain.node import BlockHeader


class Wanted(NamedTuple):
    """Which pools of a network: of these protocols, whose tokens are all among these; None stands for all.

    `min_liquidity_usd` is held against the depth of a pool as the store ranks it, for which one of the network's
    stablecoins has to be among the tokens. `from_block` is where creation events are looked for from, on a first sync.
    Where tokens are given, factories are asked for their pools, and events are looked for only if it is not 0.
    """

    protocols: frozenset[str] | None = None
    tokens: frozenset[str] | None = None
    min_liquidity_usd: float = 0.0
    from_block: int = 0


class Progress(NamedTuple):
    """How far a sync is, after a whole block that was written; `pools` and `tokens` count what the store holds now.

    `phase` names, for people, what `done` of `total` count; `total` is None where nobody knows it yet.
    """

    phase: str
    done: int
    total: int | None
    block: int
    pools: int
    tokens: int


class Advance(NamedTuple):
    """What a step to the node's newest block changed, by keys of pools.

    `touched` were read anew and had changed, `added` are new, `removed` can no longer be read or were taken out.
    `drifted` had changed without an event, which a sample brought to light; they are right again. `rewound_to` is the
    number of the block that the store went back to first, after a reorganisation: all pools may then differ from what
    they were before.
    """

    block: BlockHeader
    touched: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    drifted: tuple[str, ...] = ()
    rewound_to: int | None = None
