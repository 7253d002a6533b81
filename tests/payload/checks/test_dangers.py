"""Which warnings are dangerous, and which of them comes first."""

from __future__ import annotations

import pytest

from swapcli.core.model.warning import QuoteWarning, WarningCode
from swapcli.payload.checks.dangers import DANGEROUS_CODES, GRAVEST_FIRST, by_gravity


def test_every_dangerous_code_has_its_rank() -> None:
    assert sorted(GRAVEST_FIRST) == sorted(DANGEROUS_CODES)


@pytest.mark.parametrize(
    ("graver", "lesser"),
    [
        (WarningCode.CODE_MISSING, WarningCode.FEES_UNUSUAL),
        (WarningCode.RECIPIENT_DIFFERS, WarningCode.ROUTE_WORSE),
        (WarningCode.RECIPIENT_DIFFERS, WarningCode.TOKEN_UNKNOWN),
        (WarningCode.SPENDER_UNKNOWN, WarningCode.ALLOWANCE_UNLIMITED),
        (WarningCode.MESSAGE_UNKNOWN, WarningCode.CHAIN_DIFFERS),
        (WarningCode.MINIMUM_ZERO, WarningCode.DOCUMENT_DIFFERS),
        (WarningCode.FEES_UNUSUAL, WarningCode.LIVE_UNAVAILABLE),
    ],
)
def test_the_graver_warning_comes_first(graver: WarningCode, lesser: WarningCode) -> None:
    one, other = QuoteWarning(graver, "this"), QuoteWarning(lesser, "that")
    assert by_gravity((other, one)) == by_gravity((one, other)) == (one, other)


def test_warnings_of_one_code_and_harmless_ones_keep_their_order() -> None:
    first, second = QuoteWarning(WarningCode.CALL_UNUSUAL, "b"), QuoteWarning(WarningCode.CALL_UNUSUAL, "a")
    old, late = QuoteWarning(WarningCode.STATE_OLD, "c"), QuoteWarning("THEIRS", "d")
    assert by_gravity((late, old, first, second)) == (first, second, late, old)
