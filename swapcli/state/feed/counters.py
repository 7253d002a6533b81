"""Count a feed's events, for metrics."""

from __future__ import annotations


class FeedCounters:
    """Counters since the start of the process.

    `entries` is the number of applied entries, and `reorganizations` the number among them that undo blocks. `gaps`
    counts entries that do not continue from the market. `mismatches` counts markets whose hash differs from the
    publisher's. `rejected` counts malformed entries, snapshots and pools. `snapshots` is the number of loaded
    snapshots.
    """

    def __init__(self) -> None:
        self.entries = self.gaps = self.mismatches = self.rejected = self.snapshots = self.reorganizations = 0
