"""Which warnings about a payload mean that it must not be signed as it is."""

from __future__ import annotations

from collections.abc import Iterable

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
        WarningCode.SIMULATION_BELOW_MINIMUM,
        WarningCode.VALUE_DIFFERS,
        WarningCode.CHAIN_DIFFERS,
        WarningCode.TRANSACTIONS_DIFFER,
        WarningCode.DOCUMENT_DIFFERS,
        WarningCode.FEES_UNUSUAL,
    }
)
"""What cannot be named, and what sends tokens elsewhere or takes more of them than the payload seems to say."""


def dangers_of(warnings: Iterable[QuoteWarning]) -> tuple[QuoteWarning, ...]:
    """Return the warnings that make a payload dangerous to sign; empty if none does."""
    return tuple(warning for warning in warnings if warning.code in DANGEROUS_CODES)
