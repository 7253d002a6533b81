"""Which warnings about a payload mean that it must not be signed as it is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from swapcli.core.model.warning import QuoteWarning, WarningCode

GRAVEST_FIRST: Final = (
    WarningCode.CODE_MISSING,
    WarningCode.FUNCTION_UNKNOWN,
    WarningCode.MESSAGE_UNKNOWN,
    WarningCode.PAYLOAD_UNREAD,
    WarningCode.HANDOFF_UNUSUAL,
    WarningCode.RECIPIENT_DIFFERS,
    WarningCode.SPENDER_UNKNOWN,
    WarningCode.ROUTER_UNKNOWN,
    WarningCode.PAYMENT_UNKNOWN,
    WarningCode.MINIMUM_ZERO,
    WarningCode.MINIMUM_TOO_LOW,
    WarningCode.SIMULATION_BELOW_MINIMUM,
    WarningCode.MINIMUM_NOT_ENFORCED,
    WarningCode.RATE_ABSURD,
    WarningCode.VALUE_DIFFERS,
    WarningCode.CHAIN_DIFFERS,
    WarningCode.CALL_UNUSUAL,
    WarningCode.TRANSACTIONS_DIFFER,
    WarningCode.TOKEN_UNKNOWN,
    WarningCode.POOL_UNKNOWN,
    WarningCode.ROUTE_BROKEN,
    WarningCode.DOCUMENT_DIFFERS,
    WarningCode.NETWORK_UNKNOWN,
    WarningCode.FEES_UNUSUAL,
)
"""The dangers by their cost: first those that can cost everything sent or held, then a part of it, then fees."""
DANGEROUS_CODES = frozenset(GRAVEST_FIRST)

_RANKS = {code.value: rank for rank, code in enumerate(GRAVEST_FIRST)}


def by_gravity(warnings: Iterable[QuoteWarning]) -> tuple[QuoteWarning, ...]:
    """Return the warnings with the dangers first, the gravest of them at the start; others keep their order."""
    last = len(_RANKS)
    return tuple(sorted(warnings, key=lambda each: _RANKS.get(each.code, last + (each.code not in DANGEROUS_CODES))))


_INFORMATIVE_CODES: Final = frozenset({WarningCode.LIVE_UNAVAILABLE, WarningCode.CLOCK_DIFFERS})
"""Warnings about the review, not about the payload. A comparison that was skipped has its own warning."""


class ReviewStatus(StrEnum):
    """The result of a review. `UNKNOWN` means that a fact is missing, or that only the user can judge one."""

    NO_DANGER_FOUND = "no_danger_found"
    UNKNOWN = "unknown"
    DANGER = "danger"


def dangers_of(warnings: Iterable[QuoteWarning]) -> tuple[QuoteWarning, ...]:
    """Return the warnings that make a payload dangerous to sign; empty if none does."""
    return tuple(warning for warning in warnings if warning.code in DANGEROUS_CODES)


def doubts_of(warnings: Iterable[QuoteWarning]) -> tuple[QuoteWarning, ...]:
    """Return the warnings that are not dangers but still rule out the status `NO_DANGER_FOUND`.

    These are all other warnings about the payload, so that a new kind of warning never passes as safe.
    """
    return tuple(each for each in warnings if each.code not in DANGEROUS_CODES | _INFORMATIVE_CODES)


def status_of(warnings: Iterable[QuoteWarning]) -> ReviewStatus:
    """Return the status of a review with these warnings."""
    found = tuple(warnings)
    if dangers_of(found):
        return ReviewStatus.DANGER
    return ReviewStatus.UNKNOWN if doubts_of(found) else ReviewStatus.NO_DANGER_FOUND
