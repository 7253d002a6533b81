"""Does a deadline end, and has it ended?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swapcli.core.model.number_format import format_time
from swapcli.core.model.warning import QuoteWarning, WarningCode
from swapcli.interface.timestamps import find_unit

_ENDLESS_S: Final = 100 * 365 * 86_400
"""A deadline further away than a century never comes: wallets and contracts use 2^48 - 1, 2^256 - 1 and others."""


def deadline_warnings(end_s: int, now_s: float, subject: str, usual_s: int | None = None) -> Iterator[QuoteWarning]:
    """Yield what is wrong with the deadline (Unix) of a subject, such as "the swap", that ends in `usual_s` or less."""
    if end_s < now_s:
        yield QuoteWarning(WarningCode.DEADLINE_PASSED, f"{subject} ended at {format_time(end_s)}")
    elif (reason := describe_endless(end_s, now_s)) is not None:
        yield QuoteWarning(WarningCode.DEADLINE_NONE, f"{reason}: {subject} practically never expires")
    elif usual_s is not None and end_s - now_s > usual_s:
        message = f"the deadline is late, {format_time(end_s)}: until then {subject} can be executed"
        yield QuoteWarning(WarningCode.DEADLINE_FAR, message)


def describe_endless(end_s: int, now_s: float) -> str | None:
    """Return why a deadline is none, in words; None if it is one."""
    if found := find_unit(end_s, now_s):
        return f"the deadline looks like {found[0]} and is read as seconds"
    return "the deadline is more than a century away" if end_s - now_s > _ENDLESS_S else None
