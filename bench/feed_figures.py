"""The figures of a service that follows a feed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FeedFigures:
    """Times are CPU times, and memory is resident, of the service's process; `publish_ms` are of the publisher.

    `load_s` is that of starting, with the snapshot. `caught_up_per_s` blocks are applied together, `followed_per_s` one
    by one. Quotes are answered while two blocks a second arrive.
    """

    pools: int
    changed_pools: int
    snapshot_bytes: int
    entry_bytes: int
    load_s: float
    loaded_bytes: int
    peak_bytes: int
    caught_up_per_s: float
    followed_per_s: float
    publish_ms: tuple[float, ...]
    quotes_per_s: float
