"""Writes `docs/venues.md`: `python -m tests.generate.venues`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.public_venues import Coverage, PublicVenue, list_venues, listed_networks, public_lists, read_on

PAGE = Path(__file__).parents[2] / "docs" / "venues.md"
_INTRODUCTION = """# Which venues are covered

The venues that public lists have of each network: quoted exactly, by the maths of their pools; sampled, by the answers
of their own contracts; or absent, with the reason. `make venues` writes this page from
`swapcli/quoting/public_venues.json`, which maps the venues' names to swapcli's protocols, and from the
networks' definitions; a test fails if it is not current, or if a venue is absent without a reason. `swapcli protocols
NETWORK --missing` prints the list of a network. What each of the sampled venues misses is in
[the decision about them](decisions/sampled-pools.md)."""
_LISTS = """## The lists

| list | commit | of | what was read |
|---|---|---|---|"""
_NOTE = """Lists also have entries that are no venues of their own, such as wallets, cards or markets of
derivatives: they are kept as absent, so that nothing of a list is left out silently. A list names a network only where
its files do: most simulators of `kyberswap-dex-lib` do not."""
_ROWS = "| venue | coverage | protocols | lists | limitation |\n|---|---|---|---|---|"


def render_page() -> str:
    """Return the page."""
    return "\n\n".join((_INTRODUCTION, *_sections())) + "\n"


def _sections() -> Iterator[str]:
    rows = (
        f"| {each.name} ({each.repository}) | {each.commit[:8]} | {each.date} | {each.parts} |"
        for each in public_lists()
    )
    yield "\n".join((_LISTS, *rows))
    yield f"All were read on {read_on()}. {_NOTE}"
    for name in listed_networks():
        venues = sorted(list_venues(find_network(name)).venues, key=lambda venue: venue.name.lower())
        counts = Counter(venue.coverage for venue in venues)
        numbers = ", ".join(f"{counts[each]} {each}" for each in reversed(Coverage) if counts[each])
        yield f"## {name}\n\n{len(venues)} venues: {numbers}."
        covered = [venue for venue in venues if venue.coverage is not Coverage.ABSENT]
        yield "\n".join((_ROWS, *map(_row, covered)))
        absent: dict[str, list[str]] = {}
        for venue in venues:
            if venue.coverage is Coverage.ABSENT:
                absent.setdefault(venue.reason, []).append(venue.name)
        if not absent:
            continue
        yield "\n".join(("Absent:\n", *(f"* {reason}: {', '.join(names)}" for reason, names in sorted(absent.items()))))


def _row(venue: PublicVenue) -> str:
    protocols = ", ".join(f"`{each}`" for each in venue.protocols)
    cells = (venue.name, venue.coverage.value, protocols, ", ".join(venue.lists), venue.reason)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(render_page())
