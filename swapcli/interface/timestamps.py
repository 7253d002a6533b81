"""Timestamps in the API: ISO 8601 in UTC with milliseconds, `2026-01-24T21:46:40.000Z`.

All forms of RFC 3339 are accepted, because clients may reformat the times they read.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_UNITS_PER_S = {"milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
_LIKELY_S = 10 * 365 * 86_400
"""The furthest plausible deadline, used to recognise numbers in other units: read as seconds, even the smallest of
those are more than 30,000 years ahead."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORM = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d):([0-5]\d|60)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))", re.ASCII
)


def format_iso_utc(unix_ms: int) -> str:
    """Format Unix milliseconds in ISO 8601."""
    time = _EPOCH + timedelta(milliseconds=unix_ms)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_rfc3339(text: str) -> int:
    """Parse an RFC 3339 time into Unix milliseconds; further decimals are cut off. Raises `ValueError`.

    `T` and `Z` may be lower case, `T` may be a space, and any offset is read: `2026-01-24 22:46:40+01:00`. A leap
    second counts as the second after it.
    """
    match = _FORM.fullmatch(text)
    if not match:
        raise ValueError(f"not an RFC 3339 time: {text}")
    date, minute, seconds, decimals, sign, hours, minutes = match.groups()
    offset_m = (int(hours) * 60 + int(minutes)) * (-1 if sign == "-" else 1) if sign else 0
    start = datetime.fromisoformat(f"{date}T{minute}").replace(tzinfo=UTC)
    whole_minutes = (start - _EPOCH) // timedelta(minutes=1) - offset_m
    return (whole_minutes * 60 + int(seconds)) * 1000 + int((decimals or "")[:3].ljust(3, "0"))


def find_unit(number: int, now_s: float) -> tuple[str, int] | None:
    """Return the unit, smaller than a second, in which `number` is a Unix time near `now_s`, and that time in seconds.

    None if no such unit fits.
    """
    for unit, per_s in _UNITS_PER_S.items():
        if abs(number // per_s - now_s) <= _LIKELY_S:
            return unit, number // per_s
    return None
