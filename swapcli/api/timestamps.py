"""Timestamps of the interface: ISO 8601 in UTC with milliseconds, `2026-01-24T21:46:40.000Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)


def format_iso_utc(unix_ms: int) -> str:
    """Format Unix milliseconds in ISO 8601."""
    time = _EPOCH + timedelta(milliseconds=unix_ms)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_iso_utc(text: str) -> int:
    """Parse an ISO 8601 time that ends in `Z` into Unix milliseconds. Raises `ValueError` for anything else."""
    if not _FORM.fullmatch(text):
        raise ValueError(f"not an ISO 8601 time in UTC: {text}")
    time = datetime.fromisoformat(text)
    return (time - _EPOCH) // timedelta(milliseconds=1)
