"""The reports of a sync: its progress while it fills a store, and later the changes at each new block."""

from __future__ import annotations

from swapcli.core.model.skipped_pool import SkippedPool
from swapcli.core.records import NamedTuple
from swapcli.state.rpc.node import BlockHeader


class Progress(NamedTuple):
    """The progress of a sync after a committed block. `pools` and `tokens` are the current counts in the store.

    `phase` describes the work of which `done` out of `total` is complete. `total` is None if it is unknown.
    """

    phase: str
    done: int
    total: int | None
    block: int
    pools: int
    tokens: int


class Advance(NamedTuple):
    """The changes made by a step to the node's latest block, as pool keys.

    `changed` pools have a new state, `added` are new, `removed` could no longer be read or were dropped; `faults` are
    pools whose reader failed because of a defect in the program. `changed_without_event` are pools whose change was
    found by reading a sample, and that are now correct. `unexplained` are the pools among them whose logs contain no
    event of their kind; they are read at every block from now on. After a chain reorganization, `rewound_to` is the
    number of the block to which the store was first rewound, and any pool may have changed.
    """

    block: BlockHeader
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed_without_event: tuple[str, ...] = ()
    rewound_to: int | None = None
    unexplained: tuple[str, ...] = ()
    faults: tuple[SkippedPool, ...] = ()
