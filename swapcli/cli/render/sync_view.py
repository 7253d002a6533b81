"""What a sync came to, and each step after it: for programs and for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from swapcli.cli.render.detail_view import DetailView
from swapcli.cli.render.facts import Fact
from swapcli.cli.render.list_view import ListView
from swapcli.cli.render.store_view import build_store_details, store_document
from swapcli.cli.render.text import printable
from swapcli.engine.sync import Advance, Omission
from swapcli.store import Summary


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What is held now, how many pools of it are `new`, what was left out, and how long it took."""

    summary: Summary
    new_pools: int
    skipped: Sequence[Omission]
    seconds: float

    @property
    def pools_per_s(self) -> float:
        """New ones."""
        return self.new_pools / self.seconds if self.seconds > 0 else 0.0


def sync_document(synced: SyncResult, now_s: float) -> dict[str, object]:
    """What is held as `swapcli market info` tells it, and what the sync was."""
    return {
        **store_document(synced.summary, now_s),
        "newPools": synced.new_pools,
        "leftOut": [
            {"reason": each.reason, "count": each.count, "examples": list(each.examples)} for each in synced.skipped
        ],
        "seconds": round(synced.seconds, 3),
        "poolsPerSecond": round(synced.pools_per_s, 1),
    }


def build_sync_details(synced: SyncResult, now_s: float) -> DetailView:
    """The same for people."""
    rate = f"{synced.pools_per_s:,.0f} pools a second" if synced.new_pools else ""
    facts = (Fact("New pools", f"{synced.new_pools:,}"), Fact("Took", f"{synced.seconds:,.1f} s", rate))
    rows = tuple((printable(each.reason), f"{each.count:,}", printable(each.examples[0])) for each in synced.skipped)
    listings = (ListView(columns=("left out because", "count", "such as"), rows=rows, documents=()),) if rows else ()
    title = f"{printable(synced.summary.network)}, synced"
    return build_store_details(title, synced.summary, now_s, more=facts, listings=listings)


def advance_document(network: str, advance: Advance) -> dict[str, object]:
    """A step to a new block, with the keys of pools."""
    return {
        "network": network,
        "block": advance.block.number,
        "hash": advance.block.hash,
        "timestamp": advance.block.timestamp,
        "rewoundTo": advance.rewound_to,
        "touched": list(advance.touched),
        "added": list(advance.added),
        "removed": list(advance.removed),
        "drifted": list(advance.drifted),
    }


def format_advance(advance: Advance) -> str:
    """The same on a line."""
    return f"block {advance.block.number}: " + ", ".join(_changes(advance))


def _changes(advance: Advance) -> Iterator[str]:
    if advance.rewound_to is not None:
        yield f"rewound to {advance.rewound_to}"
    yield f"{_pools(advance.touched)} read anew"
    if advance.added:
        yield f"{_pools(advance.added)} new"
    if advance.removed:
        yield f"{_pools(advance.removed)} gone"
    if advance.drifted:
        yield f"{_pools(advance.drifted)} had changed without an event and {_were(advance.drifted)} corrected"


def _pools(keys: Sequence[str]) -> str:
    return f"{len(keys):,} pool{'s' if len(keys) != 1 else ''}"


def _were(keys: Sequence[str]) -> str:
    return "was" if len(keys) == 1 else "were"
