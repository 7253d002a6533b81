"""The results of a sync, and of each step to a new block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.quoting.stores import StoreInfo

if TYPE_CHECKING:
    from swapcli.interface.document_types import AdvanceJson, SyncDocumentJson
    from swapcli.state.sync import Advance, SkipReason


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of a sync: the store, the number of new pools, the skipped entries, and the duration.

    `found_by` describes how the store's pools were found. `unexplained` are the pools that changed without an event of
    their kind, with their protocols.
    """

    store: StoreInfo
    new_pools: int
    skipped: Sequence[SkipReason]
    seconds: float
    found_by: str = ""
    unexplained: Mapping[str, str] = field(default_factory=dict)

    @property
    def pools_per_s(self) -> float:
        """Return the number of new pools per second."""
        return self.new_pools / self.seconds if self.seconds > 0 else 0.0

    @own_document
    def document(self) -> SyncDocumentJson:
        """Return the JSON that `swapcli sync` prints."""
        return {
            **self.store.document(),
            "newPools": self.new_pools,
            "foundBy": self.found_by,
            "skipped": [
                {"reason": each.reason, "count": each.count, "examples": list(each.examples)} for each in self.skipped
            ],
            "unexplained": list(self.unexplained),
            "timeS": round(self.seconds, 3),
            "poolsPerSecond": round(self.pools_per_s, 1),
        }


class ChainStep(NamedTuple):
    """The step of a network's store to a new block."""

    network: str
    advance: Advance

    @own_document
    def document(self) -> AdvanceJson:
        """Return the JSON that `swapcli sync --watch` prints for a step, with the keys of pools."""
        advance = self.advance
        return {
            "network": self.network,
            "block": advance.block.number,
            "hash": advance.block.hash,
            "timestamp": advance.block.timestamp,
            "rewoundTo": advance.rewound_to,
            "touched": list(advance.changed),
            "added": list(advance.added),
            "removed": list(advance.removed),
            "drifted": list(advance.changed_without_event),
            "unexplained": list(advance.unexplained),
        }
