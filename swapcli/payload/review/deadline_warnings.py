"""Has a deadline passed, or is it too far away?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.number_format import format_time
from swapcli.interface.timestamps import find_unit

ENDLESS_S: Final = 100 * 365 * 86_400
"""A deadline more than a century away never comes: wallets and contracts use 2^48 - 1, 2^256 - 1 and others."""


def deadline_warnings(end_s: int, now_s: float, subject: str, usual_s: int | None = None) -> Iterator[Finding]:
    """Yield a warning if there is a problem with a deadline of `end_s` (Unix seconds). `subject` has this deadline, for
    example "the swap".

    `usual_s` is the usual maximum distance, None without one.
    """
    if end_s < now_s:
        yield FindingCode.DEADLINE_PASSED.finding(f"{subject} expired at {format_time(end_s)}")
    elif (reason := describe_endless(end_s, now_s)) is not None:
        yield FindingCode.DEADLINE_NONE.finding(f"{reason}, so {subject} practically never expires")
    elif usual_s is not None and end_s - now_s > usual_s:
        message = f"{subject} can be executed until {format_time(end_s)}, which is unusually late"
        yield FindingCode.DEADLINE_FAR.finding(message)


def describe_endless(end_s: int, now_s: float) -> str | None:
    """Describe a deadline that never comes, or return None for any other deadline."""
    if found := find_unit(end_s, now_s):
        return f"the deadline looks like {found[0]} but is read as seconds"
    return "the deadline is more than a century away" if end_s - now_s > ENDLESS_S else None
