"""Which findings let a payload pass, and the error of one that does not."""

from __future__ import annotations

import pytest

from swapcli.core.errors import PriceImpactTooHigh, UnusualFees, VerdictBlocks
from swapcli.core.model.finding import FindingCode, Level
from swapcli.payload.checks.settlement import settle

IMPACT = FindingCode.PRICE_IMPACT_HIGH.finding(
    "price impact of 30.00%; 15% is allowed", "sell less", Level.BLOCK, (("max_impact_percent", 15.0),)
)
FEES = [FindingCode.FEES_UNUSUAL.finding(each) for each in ("the nonce is 9", "the gas may cost $80", "the fee is 1")]


def test_findings_that_do_not_block_are_returned() -> None:
    notes = FindingCode.CLOCK_DIFFERS.finding("90 seconds"), FindingCode.STATE_OLD.finding("2 hours old")
    assert settle(notes) == notes


@pytest.mark.parametrize(("prefix", "setting"), [("", "max_impact"), ("--", "--max_impact")])
def test_the_error_names_the_setting_as_the_caller_does(prefix: str, setting: str) -> None:
    with pytest.raises(PriceImpactTooHigh, match="15% is allowed") as raised:
        settle([FindingCode.STATE_OLD.finding("2 hours old"), IMPACT], name_setting=lambda name: prefix + name)
    assert raised.value.hint == f"sell less, or allow it with {setting}"
    assert raised.value.details == {"max_impact_percent": 15.0}


def test_several_findings_are_one_error() -> None:
    with pytest.raises(UnusualFees) as raised:
        settle(FEES, details={"reasons": ["a", "b"]})
    assert raised.value.message == "check the node's figures before you sign them: the nonce is 9, and 2 more"
    assert raised.value.details == {"reasons": ["a", "b"]}


def test_an_allowed_code_is_a_warning() -> None:
    settled = settle(FEES, (FindingCode.FEES_UNUSUAL,))
    assert [(each.code, each.level) for each in settled] == [("FEES_UNUSUAL", Level.WARN)] * 3
    assert [each.message for each in settled] == [each.message for each in FEES]
    with pytest.raises(PriceImpactTooHigh):
        settle([*FEES, IMPACT], (FindingCode.FEES_UNUSUAL,))


def test_a_message_with_braces_stays_as_it_is() -> None:
    blocks = FindingCode.SWAP_REVERTS.finding('the swap reverts: "{0} {hint}"', "quote {again}")
    with pytest.raises(VerdictBlocks) as raised:
        settle([blocks])
    assert raised.value.message == blocks.message
    assert str(raised.value.hint).startswith("quote {again}; to build")
