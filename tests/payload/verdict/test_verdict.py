"""A verdict is as bad as the worst of its reasons."""

from __future__ import annotations

from itertools import permutations

from swapcli.payload.verdict.verdict import Reason, ReasonCode, Verdict, VerdictFacts, VerdictStatus, worst_first

WARNS = Reason(ReasonCode.NOT_SIMULATED, VerdictStatus.WARN, "no node can simulate", "set another node")
BLOCKS = Reason(ReasonCode.CANNOT_BE_SOLD, VerdictStatus.BLOCK, "TRAP cannot be sold again", "do not buy it")


def test_a_verdict_without_reasons_is_ok() -> None:
    assert Verdict((), VerdictFacts()).status is VerdictStatus.OK


def test_the_worst_reason_decides_in_any_order() -> None:
    assert Verdict((WARNS, WARNS), VerdictFacts()).status is VerdictStatus.WARN
    for reasons in permutations((WARNS, BLOCKS, WARNS)):
        verdict = Verdict(reasons, VerdictFacts())
        assert verdict.status is VerdictStatus.BLOCK
        assert verdict.of_status(VerdictStatus.BLOCK) == (BLOCKS,)


def test_reasons_that_block_come_first() -> None:
    also_warns = WARNS._replace(code=ReasonCode.OWNER_POWERS)
    assert worst_first((WARNS, BLOCKS, also_warns)) == (BLOCKS, WARNS, also_warns)
