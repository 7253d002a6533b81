"""Words that every form of output shares, and that need no arithmetic: what the state behind an answer is."""

from __future__ import annotations

from datetime import UTC, datetime

from swapcli.engine.answer import Answer, Origin

NOT_LIVE = "not live prices"
INVENTED = "invented"


def clean(text: str) -> str:
    """Text from a market without control characters: names must not steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def how_old(seconds: int) -> str:
    """How long ago, in the largest unit that fits."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = seconds // length
            return f"{count:,} {unit}{'s' if count > 1 else ''} old"
    return f"{seconds} second{'s' if seconds != 1 else ''} old"


def moment(unix_s: int) -> str:
    """A time in ISO 8601; of one beyond all calendars the seconds."""
    try:
        return datetime.fromtimestamp(unix_s, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return f"{unix_s} s"


def origin_words(origin: Origin) -> str:
    """What the state is, briefly: how old, that its prices are not real, or which service does not tell."""
    if origin.provenance is None:
        return f"quoted by {clean(origin.service or origin.source)}"
    fresh = how_old(origin.age_s) if origin.age_s is not None else ""
    return ", ".join(filter(None, [f"{origin.provenance.value} state", fresh if origin.is_live else NOT_LIVE]))


def block_words(origin: Origin) -> str:
    """Return the block for people, with what is not certain about it; empty where there is none."""
    if origin.block is None:
        return ""
    proposed = " (proposed, not yet final)" if origin.is_proposed else ""
    unpinned = ", which the node does not prove it answered from" if origin.pinned is False else ""
    return f"block {origin.block}{proposed}{unpinned}"


def state_warning(origin: Origin, ttl_s: int) -> str | None:
    """What must be said before anyone acts on amounts; None where the state was just read from the network, and where
    a service does not tell."""
    age_s = origin.age_s
    if origin.provenance is None:
        return None
    if not origin.is_live:
        return f"the state of the pools is {origin.provenance.value}: these are {NOT_LIVE}"
    if age_s is None or age_s <= ttl_s:
        return None
    return f"the state of the pools is {how_old(age_s)}: prices have moved since"


def answer_warning(answer: Answer, ttl_s: int) -> str | None:
    """The same of a whole answer, which may name pools that are nowhere."""
    warning = state_warning(answer.origin, ttl_s)
    if not warning or not answer.invented:
        return warning
    swaps = (swap for segment in answer.result.segments for hop in segment.hops for swap in hop)
    return f"{warning}; {INVENTED} pool addresses: {len(answer.invented)} of {len({s.pool_key for s in swaps})}"
