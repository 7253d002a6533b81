"""The `Retry-After` header of HTTP (RFC 9110, section 10.2.3)."""

from __future__ import annotations

import re
from math import ceil

_is_seconds = re.compile(r"[0-9]{1,9}").fullmatch


def parse_retry_after(header: str | None, now_s: float) -> int | None:
    """Return the number of seconds to wait, given as a number or as an HTTP date; None if the header is neither.

    `now_s` is Unix time. A date in the past gives 0.
    """
    text = (header or "").strip()
    if _is_seconds(text):
        return int(text)
    if not text:
        return None
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if date.tzinfo is None:
        return None
    return max(0, ceil(date.timestamp() - now_s))
