"""Deadlines of swaps: Unix seconds, or a duration from now."""

from __future__ import annotations

import re

from swapcli.core.encoding.text import SHOWN_CHARACTERS, truncate
from swapcli.core.errors import InvalidDeadline
from swapcli.interface.timestamps import find_unit

_FROM_NOW = re.compile(r"\+?([0-9]{1,12})([smh])|\+([0-9]{1,12})", re.IGNORECASE)
_UNIX_TIME = re.compile(r"[0-9]{1,20}")
_UNIT_S = {"s": 1, "m": 60, "h": 3_600}

LATEST_S = 253_402_300_799
"""The end of the year 9999, the last year that `datetime` can represent."""


def parse_duration_s(text: str) -> int | None:
    """Return the seconds of a duration such as "20m", "+1200" or "+2h"; None for any other text."""
    match = _FROM_NOW.fullmatch(text)
    return int(match[1] or match[3]) * _UNIT_S[(match[2] or "s").lower()] if match else None


def parse_deadline_s(text: str, now_s: float, label: str = "--deadline") -> int:
    """Parse "1800000000", or "20m", "+1200" or "+2h" from now, into Unix seconds.

    Raises `InvalidDeadline` with `label` in front of its message.
    """
    duration_s = parse_duration_s(text)
    if duration_s is not None:
        deadline_s = int(now_s) + duration_s
    elif _UNIX_TIME.fullmatch(text):
        deadline_s = int(text)
    else:
        raise InvalidDeadline(
            f'{label}: "{truncate(text, SHOWN_CHARACTERS)}" is neither Unix seconds nor a duration',
            hint="write 20m, +1200 or 1800000000",
        )
    if found := find_unit(deadline_s, now_s):
        unit, seconds = found
        raise InvalidDeadline(
            f"{label}: {text} looks like {unit}, but a deadline is in seconds",
            hint=f"write {seconds}",
            details={"deadline": deadline_s, "now": int(now_s)},
        )
    if deadline_s > LATEST_S:
        raise InvalidDeadline(f"{label}: {text} is after the year 9999", details={"latest": LATEST_S})
    if deadline_s <= now_s:
        raise InvalidDeadline(
            f"{label}: {text} has passed: it is now {int(now_s)}",
            hint="a duration needs a unit or a plus sign, such as 20m or +1200",
            details={"deadline": deadline_s, "now": int(now_s)},
        )
    return deadline_s
