"""Which warnings about a payload mean that it must not be signed as it is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from swapcli.core.model.warning import QuoteWarning, WarningCode

DANGEROUS_CODES = frozenset(
    {
        WarningCode.NETWORK_UNKNOWN,
        WarningCode.FUNCTION_UNKNOWN,
        WarningCode.ROUTER_UNKNOWN,
        WarningCode.SPENDER_UNKNOWN,
        WarningCode.TOKEN_UNKNOWN,
        WarningCode.CODE_MISSING,
        WarningCode.POOL_UNKNOWN,
        WarningCode.ROUTE_BROKEN,
        WarningCode.CALL_UNUSUAL,
        WarningCode.RECIPIENT_DIFFERS,
        WarningCode.PAYMENT_UNKNOWN,
        WarningCode.MINIMUM_ZERO,
        WarningCode.MINIMUM_TOO_LOW,
        WarningCode.VALUE_DIFFERS,
        WarningCode.CHAIN_DIFFERS,
        WarningCode.TRANSACTIONS_DIFFER,
        WarningCode.DOCUMENT_DIFFERS,
        WarningCode.FEES_UNUSUAL,
    }
)
"""What cannot be named, and what sends tokens elsewhere or takes more of them than the payload seems to say."""

_INFORMATIVE_CODES: Final = frozenset({WarningCode.LIVE_UNAVAILABLE, WarningCode.CLOCK_DIFFERS})
"""What concerns the review, and not the payload: the missing comparison has a warning of its own."""


class ReviewStatus(StrEnum):
    """The result of a review. `UNKNOWN` means that a fact is missing, or that only the user can judge one."""

    NO_DANGER_FOUND = "no_danger_found"
    UNKNOWN = "unknown"
    DANGER = "danger"


def dangers_of(warnings: Iterable[QuoteWarning]) -> tuple[QuoteWarning, ...]:
    """Return the warnings that make a payload dangerous to sign; empty if none does."""
    return tuple(warning for warning in warnings if warning.code in DANGEROUS_CODES)


def doubts_of(warnings: Iterable[QuoteWarning]) -> tuple[QuoteWarning, ...]:
    """Return the warnings that are not dangers but still prevent the status `NO_DANGER_FOUND`.

    These are all others about the payload, so that a new kind of warning never passes as safe.
    """
    return tuple(each for each in warnings if each.code not in DANGEROUS_CODES | _INFORMATIVE_CODES)


def status_of(warnings: Iterable[QuoteWarning]) -> ReviewStatus:
    """Return the status of a review with these warnings."""
    found = tuple(warnings)
    if dangers_of(found):
        return ReviewStatus.DANGER
    return ReviewStatus.UNKNOWN if doubts_of(found) else ReviewStatus.NO_DANGER_FOUND
