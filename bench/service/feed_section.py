"""A service that follows a feed."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from bench.report.tables import NOTHING, Section, format_limit, ms, number
from bench.report.thresholds import MAX_FEED_BYTES, Check


@dataclass(frozen=True, slots=True)
class FeedFigures:
    """Times are CPU times of the service's process, and memory is resident; `publish_ms` are the publisher's.

    `load_s` is the time of starting, with the snapshot. `caught_up_per_s` blocks are applied together, `followed_per_s`
    one by one. Quotes are made while two blocks per second arrive.
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


TITLE = "Feed"


def feed_section(found: FeedFigures) -> Section:
    """Return the section on a service that follows a feed."""
    section = Section(TITLE)
    section.add_paragraph(
        f"`swapcli serve --feed` over {found.pools:,} pools, the 5,000 deepest parsed and others when an order "
        "needs them, with `redis-server` and the publisher on the same machine; measured with `python -m "
        f"bench.service.feed`. Each block changes {found.changed_pools} pools. All times are CPU times of the "
        "service's process, except that of publishing. *Catching up*: blocks that were published while the "
        "process was paused. *Following*: one by one, each quoted before the next. *Quotes*: routes of the "
        "market's small and medium orders for 8 clients, while two blocks a second arrive."
    )
    memory = Check(f"bytes of a service over a feed of {found.pools:,} pools", found.peak_bytes, MAX_FEED_BYTES)
    peak = section.check(number(found.peak_bytes / 1e6, 0), memory)
    rows = [
        ("peak memory, MB", peak, format_limit(MAX_FEED_BYTES / 1e6)),
        ("memory once loaded, MB", number(found.loaded_bytes / 1e6, 0), NOTHING),
        ("snapshot, MB", number(found.snapshot_bytes / 1e6, 1), NOTHING),
        ("entry of a block, kB", number(found.entry_bytes / 1e3, 1), NOTHING),
        ("start with the snapshot, s", number(found.load_s, 1), NOTHING),
        ("catching up, blocks/s", number(found.caught_up_per_s, 0), NOTHING),
        ("following, blocks/s", number(found.followed_per_s, 0), NOTHING),
        ("publishing a block, median ms", ms(median(found.publish_ms)), NOTHING),
        ("quotes/s", number(found.quotes_per_s, 0), NOTHING),
    ]
    section.add_table(["figure", "reached", "bar"], rows)
    return section
