"""Compare every answer with the chain: what its call pays at its block, and how old that block was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.bench.scale.load import Answer, LimitedRequest
from tests.chain.anvil import Node
from tests.chain.trader import USER
from tests.contracts.evm import RevertedError

MINUTE_S = 60.0


class CheckedAnswers(NamedTuple):
    """Counts over all answers. `oldest_s` is the greatest age of a quoted block when its quote was requested."""

    checked: int
    wrong: int
    stale: int
    oldest_s: int


def check_answers(node: Node, answers: Sequence[Answer], max_age_s: int) -> CheckedAnswers:
    """Execute the call of each answer, as a read, at the block that it quotes.

    Ages count whole seconds, as timestamps of blocks do.
    """
    timestamps_s: dict[int, int] = {}
    wrong = stale = 0
    oldest_s = 0
    for answer in answers:
        if answer.block not in timestamps_s:
            timestamps_s[answer.block] = int(
                node.ask("eth_getBlockByNumber", hex(answer.block), False)["timestamp"], 16
            )
        age_s = int(answer.requested_s) - timestamps_s[answer.block]
        oldest_s = max(oldest_s, age_s)
        stale += age_s > max_age_s
        wrong += _paid(node, answer) != answer.amount_out
    return CheckedAnswers(len(answers), wrong, stale, oldest_s)


def _paid(node: Node, answer: Answer) -> int | None:
    call = {"from": USER, "to": answer.to, "data": answer.calldata, "value": hex(answer.value), "gas": hex(25_000_000)}
    try:
        return int(node.ask("eth_call", call, hex(answer.block))[:66], 16)
    except RevertedError:
        return None


class Limit(NamedTuple):
    """The limited client while Redis lived and its bucket was empty: allowed requests, and those due by the limit."""

    seconds: float
    allowed: int
    due: float


def check_limit(
    requests: Sequence[LimitedRequest], lives: Sequence[tuple[float, float]], per_minute: int, settle_s: float
) -> Limit:
    """Sum over the lives of Redis, each from its first rejection `settle_s` after its start on.

    From a rejection on the bucket is empty, so that as many requests are allowed as it refills.
    """
    seconds, allowed = 0.0, 0
    for started_s, ended_s in lives:
        within = [each for each in requests if started_s + settle_s <= each.at_s < ended_s]
        rejected = [k for k, each in enumerate(within) if not each.is_allowed]
        if not rejected:
            continue
        saturated = within[rejected[0] : rejected[-1] + 1]
        seconds += saturated[-1].at_s - saturated[0].at_s
        allowed += sum(each.is_allowed for each in saturated)
    return Limit(seconds, allowed, seconds * per_minute / MINUTE_S)
