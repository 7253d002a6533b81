"""The note next to a median."""

from __future__ import annotations

from swapcli import Distribution


def median_note(found: Distribution, spread: str) -> str:
    """Return the note next to a median, with the `spread` if there are enough values, or an empty text for a single
    value."""
    if found.size == 1:
        return ""
    return f"median; p5 to p95: {spread}" if found.has_tails else "median"
