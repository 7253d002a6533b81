"""Count a feed's events, for metrics."""

from __future__ import annotations


class FeedCounters:
    """Counters since the start of the process.

    `entries` were applied; `gaps` are entries that do not continue from the market; `mismatches` are markets whose hash
    differs from the publisher's; `rejected` are malformed entries, snapshots and pools; `snapshots` were loaded;
    `reorganizations` are applied entries that undo blocks.
    """

    def __init__(self) -> None:
        self.entries = self.gaps = self.mismatches = self.rejected = self.snapshots = self.reorganizations = 0
