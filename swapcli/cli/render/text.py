"""Words that every form of output shares, and that need no arithmetic: what the state behind an answer is."""

from __future__ import annotations

from datetime import UTC, datetime

from swapcli.engine.quote import Origin
from swapcli.engine.warnings import NOT_LIVE, how_old


def printable(text: str) -> str:
    """Text from a market without control characters: names must not steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def format_time(unix_s: int) -> str:
    """A time in ISO 8601; of one beyond all calendars the seconds."""
    try:
        return datetime.fromtimestamp(unix_s, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return f"{unix_s} s"


def describe_origin(origin: Origin) -> str:
    """What the state is, briefly: how old, that its prices are not real, and which service quoted."""
    quoted_by = f"quoted by {printable(origin.service)}" if origin.service else ""
    if origin.provenance is None:
        return quoted_by or printable(origin.source)
    fresh = how_old(origin.age_s) if origin.age_s is not None else ""
    words = [f"{origin.provenance.value} state", fresh if origin.is_live else NOT_LIVE, quoted_by]
    return ", ".join(filter(None, words))


def describe_block(origin: Origin) -> str:
    """Return the block for people, with what is not certain about it; empty where there is none."""
    if origin.block is None:
        return ""
    proposed = " (proposed, not yet final)" if origin.is_proposed else ""
    unpinned = ", which the node does not prove it answered from" if origin.pinned is False else ""
    return f"block {origin.block}{proposed}{unpinned}"
