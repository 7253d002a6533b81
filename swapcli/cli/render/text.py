"""Words that every form of output shares, and that need no arithmetic: what the state behind an answer is."""

from __future__ import annotations

from datetime import UTC, datetime

from swapcli.engine.warnings import NOT_LIVE, how_old
from swapcli.model.state_source import StateSource


def printable(text: str) -> str:
    """Text from a market without control characters: names must not steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def format_time(unix_s: int) -> str:
    """A time in ISO 8601; of one beyond all calendars the seconds."""
    try:
        return datetime.fromtimestamp(unix_s, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return f"{unix_s} s"


def describe_origin(state_source: StateSource) -> str:
    """What the state is, briefly: how old, that its prices are not real, and which service quoted."""
    quoted_by = f"quoted by {printable(state_source.service_url)}" if state_source.service_url else ""
    if state_source.provenance is None:
        return quoted_by or printable(state_source.description)
    fresh = how_old(state_source.age_s) if state_source.age_s is not None else ""
    words = [f"{state_source.provenance.value} state", fresh if state_source.is_live else NOT_LIVE, quoted_by]
    return ", ".join(filter(None, words))


def describe_block(state_source: StateSource) -> str:
    """Return the block for people, with what is not certain about it; empty where there is none."""
    if state_source.block is None:
        return ""
    proposed = " (proposed, not yet final)" if state_source.is_proposed else ""
    unpinned = ", which the node does not prove it answered from" if state_source.pinned is False else ""
    return f"block {state_source.block}{proposed}{unpinned}"
