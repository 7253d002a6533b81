"""Which warnings about a payload mean that it must not be signed as it is."""

from __future__ import annotations

from collections.abc import Iterable

from swapcli.core.model.warning import QuoteWarning, WarningCode

DANGEROUS_CODES = frozenset(
    {
        WarningCode.NETWORK_UNKNOWN,
        WarningCode.FUNCTION_UNKNOWN,
        WarningCode.MESSAGE_UNKNOWN,
        WarningCode.ROUTER_UNKNOWN,
        WarningCode.SPENDER_UNKNOWN,
        WarningCode.TOKEN_UNKNOWN,
        WarningCode.CODE_MISSING,
        WarningCode.POOL_UNKNOWN,
        WarningCode.ROUTE_BROKEN,
        WarningCode.CALL_UNUSUAL,
        WarningCode.HANDOFF_UNUSUAL,
        WarningCode.RECIPIENT_DIFFERS,
        WarningCode.PAYMENT_UNKNOWN,
        WarningCode.MINIMUM_ZERO,
        WarningCode.MINIMUM_TOO_LOW,
        WarningCode.MINIMUM_NOT_ENFORCED,
        WarningCode.RATE_ABSURD,
        WarningCode.PAYLOAD_UNREAD,
        WarningCode.VALUE_DIFFERS,
        WarningCode.CHAIN_DIFFERS,
        WarningCode.TRANSACTIONS_DIFFER,
        WarningCode.DOCUMENT_DIFFERS,
        WarningCode.FEES_UNUSUAL,
    }
)
"""What cannot be named, and what sends tokens elsewhere or takes more of them than the payload seems to say."""

GRAVEST_FIRST = (
    WarningCode.CODE_MISSING,
    WarningCode.FUNCTION_UNKNOWN,
    WarningCode.MESSAGE_UNKNOWN,
    WarningCode.RECIPIENT_DIFFERS,
    WarningCode.SPENDER_UNKNOWN,
    WarningCode.ROUTER_UNKNOWN,
    WarningCode.PAYMENT_UNKNOWN,
    WarningCode.MINIMUM_ZERO,
    WarningCode.MINIMUM_TOO_LOW,
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
"""Every dangerous code, by what it can cost: all that is sent or all that is held, then a part, then fees."""

_RANKS = {code.value: rank for rank, code in enumerate(GRAVEST_FIRST)}


def by_gravity(warnings: Iterable[QuoteWarning]) -> tuple[QuoteWarning, ...]:
    """Return the warnings with the dangers first, the gravest of them at the start; others keep their order."""
    last = len(_RANKS)
    return tuple(sorted(warnings, key=lambda each: _RANKS.get(each.code, last + (each.code not in DANGEROUS_CODES))))


def dangers_of(warnings: Iterable[QuoteWarning]) -> tuple[QuoteWarning, ...]:
    """Return the warnings that make a payload dangerous to sign; empty if none does."""
    return tuple(warning for warning in warnings if warning.code in DANGEROUS_CODES)
