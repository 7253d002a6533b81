"""Findings, their levels, and which of them comes first."""

from __future__ import annotations

import pytest

from swapcli.core.model.finding import Finding, FindingCode, Level, at_level, gravest_first, worst_level

DANGER = FindingCode.MINIMUM_ZERO.finding("the minimum is zero")
DOUBT = FindingCode.TRAILING_BYTES.finding("4 bytes follow the end of the call")
NOTE = FindingCode.CLOCK_DIFFERS.finding("the clock is 90 seconds behind")


@pytest.mark.parametrize(
    ("graver", "lesser"),
    [
        (FindingCode.CODE_MISSING, FindingCode.FEES_UNUSUAL),
        (FindingCode.RECIPIENT_DIFFERS, FindingCode.ROUTE_WORSE),
        (FindingCode.RECIPIENT_DIFFERS, FindingCode.TOKEN_UNKNOWN),
        (FindingCode.SPENDER_UNKNOWN, FindingCode.ALLOWANCE_UNLIMITED),
        (FindingCode.MESSAGE_UNKNOWN, FindingCode.CHAIN_DIFFERS),
        (FindingCode.MINIMUM_ZERO, FindingCode.DOCUMENT_DIFFERS),
        (FindingCode.FEES_UNUSUAL, FindingCode.LIVE_UNAVAILABLE),
    ],
)
def test_the_graver_finding_comes_first(graver: FindingCode, lesser: FindingCode) -> None:
    one, other = graver.finding("this"), lesser.finding("that")
    assert gravest_first((other, one)) == gravest_first((one, other)) == (one, other)


def test_findings_of_one_code_and_harmless_ones_keep_their_order() -> None:
    first, second = FindingCode.CALL_UNUSUAL.finding("b"), FindingCode.CALL_UNUSUAL.finding("a")
    old, late = FindingCode.STATE_OLD.finding("c"), Finding("THEIRS", Level.WARN, "d")
    assert gravest_first((late, old, first, second)) == (first, second, late, old)


def test_a_finding_has_the_level_of_its_code_unless_it_names_another() -> None:
    assert [each.level for each in (NOTE, DOUBT, DANGER)] == [Level.INFO, Level.WARN, Level.BLOCK]
    assert FindingCode.FEES_UNUSUAL.finding("the fee is high", level=Level.WARN).level is Level.WARN


def test_the_worst_level_of_findings_decides() -> None:
    assert worst_level(()) is worst_level((NOTE,)) is Level.INFO
    assert worst_level((NOTE, DOUBT)) is Level.WARN
    assert worst_level((DANGER, NOTE, DOUBT)) is Level.BLOCK


def test_findings_are_chosen_by_their_level() -> None:
    assert at_level((DANGER, NOTE, DOUBT, DANGER), Level.BLOCK) == (DANGER, DANGER)
    assert at_level((DANGER,), Level.WARN) == ()
