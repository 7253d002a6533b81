"""Findings about a quote, a payload or a simulated swap: facts to know before signing, each with a level."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from swapcli.core.records import NamedTuple


class Level(StrEnum):
    """How strongly a finding advises against signing, from the mildest to the gravest.

    `INFO` concerns the review or the clock, not the swap. `WARN` means that a fact is missing, or that only the user
    can judge it. `BLOCK` means that the payload must not be signed as it is.
    """

    INFO = "info"
    WARN = "warn"
    BLOCK = "block"

    @property
    def severity(self) -> int:
        """The position of the level: graver levels have higher numbers."""
        return ("info", "warn", "block").index(self.value)


class Finding(NamedTuple):
    """A fact to know before signing. `message` is a sentence without its full stop; `hint` says in the same form what
    to do.

    `code` is a `FindingCode`, or the code of another service. `facts` are values for programs, by name.
    Example: `FindingCode.STATE_OLD.finding("the state of the pools is 2 hours old: prices may have moved since")`.
    """

    code: str
    level: Level
    message: str
    hint: str | None = None
    facts: tuple[tuple[str, object], ...] = ()


class FindingCode(StrEnum):
    """The codes of findings with their usual levels. They are stable and meant for programs.

    Codes that block are in the order of their cost: first those that can cost everything sent or held, then a part of
    it, then fees. The last group judges a simulated swap. `swapcli help warnings` and `swapcli help checks`
    explain each code.
    """

    _value_: str
    level: Level

    def __new__(cls, code: str, level: Level = Level.WARN) -> FindingCode:
        """Return the code, with its usual level attached."""
        member = str.__new__(cls, code)
        member._value_, member.level = code, level
        return member

    def finding(
        self,
        message: str,
        hint: str | None = None,
        level: Level | None = None,
        facts: tuple[tuple[str, object], ...] = (),
    ) -> Finding:
        """Return a finding with this code. The default `level` is the code's usual level."""
        return Finding(self, level or self.level, message, hint, facts)

    LIVE_UNAVAILABLE = "LIVE_UNAVAILABLE", Level.INFO
    CLOCK_DIFFERS = "CLOCK_DIFFERS", Level.INFO

    PRICE_IMPACT_HIGH = "PRICE_IMPACT_HIGH"
    PRICE_IMPACT_UNKNOWN = "PRICE_IMPACT_UNKNOWN"
    SLIPPAGE_HIGH = "SLIPPAGE_HIGH"
    GAS_EXCEEDS_SHARE = "GAS_EXCEEDS_SHARE"
    RECIPIENT_BURNS = "RECIPIENT_BURNS"
    STATE_MODELLED = "STATE_MODELLED"
    STATE_SYNTHETIC = "STATE_SYNTHETIC"
    STATE_OLD = "STATE_OLD"
    STATE_UNKNOWN = "STATE_UNKNOWN"
    STATE_UNCONFIRMED = "STATE_UNCONFIRMED"
    PARAMETER_UNKNOWN = "PARAMETER_UNKNOWN"
    SEARCH_TIME_UP = "SEARCH_TIME_UP"
    SEARCH_UNREAD = "SEARCH_UNREAD"
    POOL_LEFT_OUT = "POOL_LEFT_OUT"
    AMOUNT_SAMPLED = "AMOUNT_SAMPLED"
    HOOK_MAY_TRADE = "HOOK_MAY_TRADE"
    SHARE_TOKEN = "SHARE_TOKEN"
    REFUSED_TOKEN = "REFUSED_TOKEN"
    UNTRIED_TOKEN = "UNTRIED_TOKEN"
    ROUTER_UNVERIFIED = "ROUTER_UNVERIFIED"
    DIALECT_OF_PACKAGE = "DIALECT_OF_PACKAGE"
    READING_ASSUMED = "READING_ASSUMED"
    READING_REMEMBERED = "READING_REMEMBERED"
    READING_SHARED = "READING_SHARED"
    DEADLINE_NOT_ENFORCED = "DEADLINE_NOT_ENFORCED"
    DEADLINE_SHORT = "DEADLINE_SHORT"
    OUTPUT_NOT_GUARANTEED = "OUTPUT_NOT_GUARANTEED"
    SIMULATION_DIFFERS = "SIMULATION_DIFFERS"
    ALLOWANCE_TOO_LOW = "ALLOWANCE_TOO_LOW"
    GAS_BALANCE_TOO_LOW = "GAS_BALANCE_TOO_LOW"
    GAS_NOT_ESTIMATED = "GAS_NOT_ESTIMATED"

    RECIPIENT_UNCHECKED = "RECIPIENT_UNCHECKED"
    CONTRACT_UNCHECKED = "CONTRACT_UNCHECKED"
    VALUE_UNCHECKED = "VALUE_UNCHECKED"
    ROUTE_UNCHECKED = "ROUTE_UNCHECKED"
    QUOTE_UNKNOWN = "QUOTE_UNKNOWN"
    MINIMUM_LOW = "MINIMUM_LOW"
    ROUTE_WORSE = "ROUTE_WORSE"
    SIMULATION_FAILS = "SIMULATION_FAILS"
    MINIMUM_TOO_HIGH = "MINIMUM_TOO_HIGH"
    TRAILING_BYTES = "TRAILING_BYTES"
    DEADLINE_PASSED = "DEADLINE_PASSED"
    DEADLINE_FAR = "DEADLINE_FAR"
    DEADLINE_NONE = "DEADLINE_NONE"
    ALLOWANCE_UNLIMITED = "ALLOWANCE_UNLIMITED"

    CODE_MISSING = "CODE_MISSING", Level.BLOCK
    FUNCTION_UNKNOWN = "FUNCTION_UNKNOWN", Level.BLOCK
    MESSAGE_UNKNOWN = "MESSAGE_UNKNOWN", Level.BLOCK
    PAYLOAD_UNREAD = "PAYLOAD_UNREAD", Level.BLOCK
    HANDOFF_UNUSUAL = "HANDOFF_UNUSUAL", Level.BLOCK
    RECIPIENT_DIFFERS = "RECIPIENT_DIFFERS", Level.BLOCK
    SPENDER_UNKNOWN = "SPENDER_UNKNOWN", Level.BLOCK
    ROUTER_UNKNOWN = "ROUTER_UNKNOWN", Level.BLOCK
    PAYMENT_UNKNOWN = "PAYMENT_UNKNOWN", Level.BLOCK
    MINIMUM_ZERO = "MINIMUM_ZERO", Level.BLOCK
    MINIMUM_TOO_LOW = "MINIMUM_TOO_LOW", Level.BLOCK
    SIMULATION_BELOW_MINIMUM = "SIMULATION_BELOW_MINIMUM", Level.BLOCK
    MINIMUM_NOT_ENFORCED = "MINIMUM_NOT_ENFORCED", Level.BLOCK
    RATE_ABSURD = "RATE_ABSURD", Level.BLOCK
    VALUE_DIFFERS = "VALUE_DIFFERS", Level.BLOCK
    CHAIN_DIFFERS = "CHAIN_DIFFERS", Level.BLOCK
    CALL_UNUSUAL = "CALL_UNUSUAL", Level.BLOCK
    TRANSACTIONS_DIFFER = "TRANSACTIONS_DIFFER", Level.BLOCK
    TOKEN_UNKNOWN = "TOKEN_UNKNOWN", Level.BLOCK
    POOL_UNKNOWN = "POOL_UNKNOWN", Level.BLOCK
    ROUTE_BROKEN = "ROUTE_BROKEN", Level.BLOCK
    DOCUMENT_DIFFERS = "DOCUMENT_DIFFERS", Level.BLOCK
    NETWORK_UNKNOWN = "NETWORK_UNKNOWN", Level.BLOCK
    FEES_UNUSUAL = "FEES_UNUSUAL", Level.BLOCK

    TRANSFERS_PAUSED = "TRANSFERS_PAUSED", Level.BLOCK
    ACCOUNT_BLOCKED = "ACCOUNT_BLOCKED", Level.BLOCK
    SIMULATIONS_DIFFER = "SIMULATIONS_DIFFER", Level.BLOCK
    SWAP_REVERTS = "SWAP_REVERTS", Level.BLOCK
    PAYS_TOO_LITTLE = "PAYS_TOO_LITTLE", Level.BLOCK
    TAXED_ON_SALE = "TAXED_ON_SALE", Level.BLOCK
    CANNOT_BE_SOLD = "CANNOT_BE_SOLD", Level.BLOCK
    BALANCE_IRREGULAR = "BALANCE_IRREGULAR", Level.BLOCK
    PRICE_BELOW_REFERENCES = "PRICE_BELOW_REFERENCES", Level.BLOCK
    TRANSFERS_REFUSED = "TRANSFERS_REFUSED"
    TAXED_ON_TRANSFER = "TAXED_ON_TRANSFER"
    OWNER_POWERS = "OWNER_POWERS"
    NOT_SIMULATED = "NOT_SIMULATED"


UNREAL_STATE_CODES: Final = frozenset({FindingCode.STATE_MODELLED, FindingCode.STATE_SYNTHETIC})
"""The codes for prices that are not real."""

DO_NOT_SIGN: Final = "do not sign"
"""The beginning of a danger's message when the danger does not block the payload."""

_GRAVITY: Final = {code.value: rank for rank, code in enumerate(FindingCode)}


def worst_level(findings: Iterable[Finding]) -> Level:
    """Return the gravest level of the findings; `INFO` if there are none."""
    return max((each.level for each in findings), key=lambda level: level.severity, default=Level.INFO)


def at_level(findings: Iterable[Finding], level: Level) -> tuple[Finding, ...]:
    """Return the findings at a level."""
    return tuple(each for each in findings if each.level is level)


def gravest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings with the blocking ones first, in the order of their codes; the others keep their order."""
    last = len(_GRAVITY)
    return tuple(
        sorted(findings, key=lambda each: _GRAVITY.get(each.code, last) if each.level is Level.BLOCK else last)
    )
