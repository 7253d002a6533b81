"""Writes `docs/venues.md`: `python -m tests.generate.venues`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.public_venues import Coverage, PublicVenue, list_venues, listed_networks, public_lists, read_on

PAGE = Path(__file__).parents[2] / "docs" / "venues.md"
_INTRODUCTION = """# Covered protocols

This page shows, network by network, how swapcli covers the protocols in public lists. Each protocol is quoted exactly
with its pool maths, sampled by calling its contracts, or absent for a stated reason. `make venues` writes this page
from the network definitions and `swapcli/quoting/public_venues.json`, which maps listed names to swapcli's protocols. A
test fails if the page is outdated or if an absent protocol has no reason. `swapcli protocols NETWORK --missing` prints
the sampled and absent protocols of one network. [Pools that only the contract can quote](decisions/sampled-pools.md)
lists the facts that are missing for sampled protocols."""
_LISTS = """## The lists

| list | commit | date | parts read |
|---|---|---|---|"""
_NOTE = """The lists also contain entries that are not exchanges, such as wallets, cards or derivatives markets. This
page shows them as absent, so that no entry disappears. A list covers a network only if its files name that network;
most simulators in `kyberswap-dex-lib` do not name any network."""
_ROWS = "| protocol | coverage | in swapcli | lists | limitation |\n|---|---|---|---|---|"


def render_page() -> str:
    """Return the page."""
    return "\n\n".join((_INTRODUCTION, *_sections())) + "\n"


def _sections() -> Iterator[str]:
    rows = (
        f"| {each.name} ({each.repository}) | {each.commit[:8]} | {each.date} | {each.parts} |"
        for each in public_lists()
    )
    yield "\n".join((_LISTS, *rows))
    yield f"All lists were read on {read_on()}.\n{_NOTE}"
    for name in listed_networks():
        venues = sorted(list_venues(find_network(name)).venues, key=lambda venue: venue.name.lower())
        counts = Counter(venue.coverage for venue in venues)
        numbers = ", ".join(f"{counts[each]} {each}" for each in reversed(Coverage) if counts[each])
        yield f"## {name}\n\n{len(venues)} protocols: {numbers}."
        covered = [venue for venue in venues if venue.coverage is not Coverage.ABSENT]
        yield "\n".join((_ROWS, *map(_row, covered)))
        absent: dict[str, list[str]] = {}
        for venue in venues:
            if venue.coverage is Coverage.ABSENT:
                absent.setdefault(venue.reason, []).append(venue.name)
        if not absent:
            continue
        yield "\n".join(
            ("Absent:\n", *(f"* **{reason}**: {', '.join(names)}" for reason, names in sorted(absent.items())))
        )


def _row(venue: PublicVenue) -> str:
    protocols = ", ".join(f"`{each}`" for each in venue.protocols)
    cells = (venue.name, venue.coverage.value, protocols, ", ".join(venue.lists), venue.reason)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(render_page())
