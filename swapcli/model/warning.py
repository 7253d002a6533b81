"""Warnings about a quote or a transaction: facts to know before signing that are not errors."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class WarningCode(StrEnum):
    """The codes of our own warnings. They are stable, and meant for programs; README explains each."""

    PRICE_IMPACT_HIGH = "PRICE_IMPACT_HIGH"
    PRICE_IMPACT_UNKNOWN = "PRICE_IMPACT_UNKNOWN"
    STATE_MODELLED = "STATE_MODELLED"
    STATE_SYNTHETIC = "STATE_SYNTHETIC"
    STATE_OLD = "STATE_OLD"
    STATE_UNKNOWN = "STATE_UNKNOWN"
    SEARCH_TIME_UP = "SEARCH_TIME_UP"
    HOOK_MAY_TRADE = "HOOK_MAY_TRADE"
    SHARE_TOKEN = "SHARE_TOKEN"
    REFUSED_TOKEN = "REFUSED_TOKEN"
    UNTRIED_TOKEN = "UNTRIED_TOKEN"
    ROUTER_UNVERIFIED = "ROUTER_UNVERIFIED"
    READING_ASSUMED = "READING_ASSUMED"
    READING_REMEMBERED = "READING_REMEMBERED"
    READING_SHARED = "READING_SHARED"
    DEADLINE_NOT_ENFORCED = "DEADLINE_NOT_ENFORCED"
    SIMULATION_DIFFERS = "SIMULATION_DIFFERS"
    ALLOWANCE_TOO_LOW = "ALLOWANCE_TOO_LOW"
    GAS_BALANCE_TOO_LOW = "GAS_BALANCE_TOO_LOW"
    GAS_NOT_ESTIMATED = "GAS_NOT_ESTIMATED"
    NETWORK_UNKNOWN = "NETWORK_UNKNOWN"
    FUNCTION_UNKNOWN = "FUNCTION_UNKNOWN"
    ROUTER_UNKNOWN = "ROUTER_UNKNOWN"
    SPENDER_UNKNOWN = "SPENDER_UNKNOWN"
    TOKEN_UNKNOWN = "TOKEN_UNKNOWN"
    POOL_UNKNOWN = "POOL_UNKNOWN"
    ROUTE_BROKEN = "ROUTE_BROKEN"
    CALL_UNUSUAL = "CALL_UNUSUAL"
    TRAILING_BYTES = "TRAILING_BYTES"
    RECIPIENT_DIFFERS = "RECIPIENT_DIFFERS"
    MINIMUM_ZERO = "MINIMUM_ZERO"
    MINIMUM_LOW = "MINIMUM_LOW"
    MINIMUM_TOO_HIGH = "MINIMUM_TOO_HIGH"
    QUOTE_UNKNOWN = "QUOTE_UNKNOWN"
    VALUE_DIFFERS = "VALUE_DIFFERS"
    DEADLINE_PASSED = "DEADLINE_PASSED"
    DEADLINE_NONE = "DEADLINE_NONE"
    ALLOWANCE_UNLIMITED = "ALLOWANCE_UNLIMITED"


class QuoteWarning(NamedTuple):
    """`code` is a `WarningCode`, or the code of another service; `message` a sentence without its full stop.

    Example: `QuoteWarning(WarningCode.STATE_OLD, "the state of the pools is 2 hours old: prices have moved since")`.
    """

    code: str
    message: str
