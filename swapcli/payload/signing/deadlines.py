"""Deadlines of swaps: Unix seconds, or a duration from now."""

from __future__ import annotations

import re

from swapcli.core.encoding.text import SHOWN_CHARACTERS, truncate
from swapcli.core.errors import InvalidDeadline
from swapcli.core.validation import values
from swapcli.interface.timestamps import find_unit

_SECONDS_FROM_NOW = re.compile(r"\+([0-9]{1,12})")
_UNIX_TIME = re.compile(r"[0-9]{1,20}")

LATEST_S = 253_402_300_799
"""The end of the year 9999, the last year that `datetime` can represent."""


def parse_duration_s(text: str) -> int | None:
    """Return the seconds in a duration such as "20m", "3d" or "+1200", rounded down, or None for any other text."""
    if match := _SECONDS_FROM_NOW.fullmatch(text):
        return int(match[1])
    duration_s = values.parse_duration_s(text.removeprefix("+"))
    return None if duration_s is None else int(duration_s)


def parse_deadline_s(text: str, now_s: float, label: str = "--deadline") -> int:
    """Parse Unix seconds such as "1800000000", or a duration from now such as "20m", "3d" or "+1200", into Unix
    seconds.

    Raises `InvalidDeadline` with `label` before its message.
    """
    duration_s = parse_duration_s(text)
    if duration_s is not None:
        return _after(duration_s, text, now_s, label)
    if not _UNIX_TIME.fullmatch(text):
        raise InvalidDeadline(
            f'{label}: "{truncate(text, SHOWN_CHARACTERS)}" is neither Unix seconds nor a duration',
            hint="write 20m, 3d, +1200 or 1800000000",
        )
    deadline_s = int(text)
    if found := find_unit(deadline_s, now_s):
        unit, seconds = found
        raise InvalidDeadline(
            f"{label}: {text} looks like {unit}, but a deadline is in seconds",
            hint=f"write {seconds}",
            details={"deadline": deadline_s, "now": int(now_s)},
        )
    _check_latest(deadline_s, text, label)
    if deadline_s <= now_s:
        raise InvalidDeadline(
            f"{label}: {text} has passed: it is now {int(now_s)}",
            hint="a duration needs a unit or a plus sign, such as 20m or +1200",
            details={"deadline": deadline_s, "now": int(now_s)},
        )
    return deadline_s


def _after(duration_s: int, text: str, now_s: float, label: str) -> int:
    """Return the Unix time after a duration."""
    if duration_s < 1:
        raise InvalidDeadline(
            f"{label}: {text} is less than a second", hint="write 20m, 3d or +1200", details={"now": int(now_s)}
        )
    deadline_s = int(now_s) + duration_s
    _check_latest(deadline_s, text, label)
    return deadline_s


def _check_latest(deadline_s: int, text: str, label: str) -> None:
    if deadline_s > LATEST_S:
        raise InvalidDeadline(f"{label}: {text} is after the year 9999", details={"latest": LATEST_S})
