"""A verdict is as bad as the worst of its findings, and one that blocks is an error."""

from __future__ import annotations

from itertools import permutations

import pytest

from swapcli.core.errors import VerdictBlocks
from swapcli.core.model.finding import FindingCode
from swapcli.payload.verdict.verdict import Verdict, VerdictFacts

WARNS = FindingCode.NOT_SIMULATED.finding("no node can simulate", "set a different node")
BLOCKS = FindingCode.CANNOT_BE_SOLD.finding("TRAP cannot be sold again", "do not buy it")


def test_the_worst_finding_decides_in_any_order() -> None:
    assert Verdict((), VerdictFacts()).status == "ok"
    assert Verdict((WARNS, WARNS), VerdictFacts()).status == "warn"
    for findings in permutations((WARNS, BLOCKS, WARNS)):
        assert Verdict(findings, VerdictFacts()).status == "block"


def test_a_verdict_that_blocks_is_an_error_with_the_verdict() -> None:
    Verdict((WARNS,), VerdictFacts()).settle()
    with pytest.raises(VerdictBlocks) as raised:
        Verdict((BLOCKS, BLOCKS, WARNS), VerdictFacts(block=7)).settle(lambda setting: f"--{setting}")
    error = raised.value
    assert error.message == "TRAP cannot be sold again; and 1 more"
    assert error.hint == "do not buy it; to build the transaction anyway, set --check to never"
    details = dict(error.details["verdict"])  # type: ignore[call-overload]
    assert (details["status"], details["facts"]["block"], len(details["reasons"])) == ("block", 7, 3)
