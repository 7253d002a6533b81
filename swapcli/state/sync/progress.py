"""Reports of a sync: its progress while it fills a store, and the changes of each step to a new block."""

from __future__ import annotations

from swapcli.core.model.skipped_pool import SkippedPool
from swapcli.core.records import NamedTuple
from swapcli.state.rpc.node import BlockHeader


class Progress(NamedTuple):
    """The progress of a sync after a committed block. `pools` and `tokens` are the current counts in the store.

    `phase` says in words what is counted: `done` of `total`, which is None if it is unknown.
    """

    phase: str
    done: int
    total: int | None
    block: int
    pools: int
    tokens: int


class Advance(NamedTuple):
    """The changes of a step to the node's latest block, as pool keys.

    `changed` pools have a new state, `added` are new, `removed` could no longer be read or were dropped; `faults` are
    those whose reader failed because of a defect in the program. `changed_without_event` were found by reading a
    sample, and are now correct; `unexplained` are those whose logs contain no event of their kind, so they are read at
    every block from now on. `rewound_to` is the number of the block to which the store was first rewound, after a chain
    reorganization: any pool may then differ from before.
    """

    block: BlockHeader
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed_without_event: tuple[str, ...] = ()
    rewound_to: int | None = None
    unexplained: tuple[str, ...] = ()
    faults: tuple[SkippedPool, ...] = ()
