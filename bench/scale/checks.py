"""Compare every response with the chain: the output of its call at its block, and the age of that block.

It also measures what clients got: how many requests the limit allowed, and how soon new blocks were quoted.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from bench.scale.load import Answer, LimitedRequest
from swapcli.testing.evm import RevertedError
from tests.chain.anvil import Node
from tests.chain.trader import USER

MINUTE_S = 60.0
_BATCH = 50
"""Calls in one request: with more, single responses of the node become too large to wait for."""


class Failure(NamedTuple):
    """A process with the monotonic times at which it was killed and restarted, and the restart's Unix time."""

    what: str
    killed_s: float
    restarted_s: float
    restarted_unix_s: float


class CheckedAnswers(NamedTuple):
    """Counts over all responses. `oldest_s` is the largest age of a quoted block when its quote was requested.

    `timestamps_s` are the times of the quoted blocks.
    """

    checked: int
    wrong: int
    stale: int
    oldest_s: int
    timestamps_s: Mapping[int, int]


def check_answers(node: Node, answers: Sequence[Answer], max_age_s: int) -> CheckedAnswers:
    """Execute each response's call, as a read, at the block that it quotes.

    Ages are in whole seconds, like block timestamps.
    """
    blocks = sorted({each.block for each in answers})
    found = node.ask_all([("eth_getBlockByNumber", (hex(block), False)) for block in blocks])
    timestamps_s = {block: int(each["timestamp"], 16) for block, each in zip(blocks, found, strict=True)}
    ages_s = [int(each.requested_s) - timestamps_s[each.block] for each in answers]
    wrong = sum(
        _paid(node, each) != each.amount_out
        for each, paid in zip(answers, _paid_by_all(node, answers), strict=True)
        if paid != each.amount_out
    )
    stale = sum(age_s > max_age_s for age_s in ages_s)
    return CheckedAnswers(len(answers), wrong, stale, max(ages_s, default=0), timestamps_s)


def _paid_by_all(node: Node, answers: Sequence[Answer]) -> Iterator[int | None]:
    """Yield the output of each call; None if a call in its batch reverts."""
    for start in range(0, len(answers), _BATCH):
        batch = answers[start : start + _BATCH]
        try:
            yield from (_amount(each) for each in node.ask_all([_request(answer) for answer in batch]))
        except RevertedError:
            yield from [None] * len(batch)


def _paid(node: Node, answer: Answer) -> int | None:
    method, parameters = _request(answer)
    try:
        return _amount(node.ask(method, *parameters))
    except RevertedError:
        return None


def _request(answer: Answer) -> tuple[str, Sequence[object]]:
    call = {"from": USER, "to": answer.to, "data": answer.calldata, "value": hex(answer.value), "gas": hex(25_000_000)}
    return "eth_call", (call, hex(answer.block))


def _amount(returned: str) -> int:
    return int(returned[:66], 16)


class Availability(NamedTuple):
    """What clients got while processes were being killed.

    `good_share` is the share of whole seconds in which a good answer arrived. `recoveries_s` are the times from a
    restart to the first answer that quotes a block mined after it, if nothing else was killed meanwhile but replicas.
    """

    seconds: float
    good_share: float
    blocks_quoted: int
    recoveries_s: Mapping[str, Sequence[float]]


def measure_availability(
    answers: Sequence[Answer],
    timestamps_s: Mapping[int, int],
    failures: Sequence[Failure],
    started_s: float,
    ended_s: float,
) -> Availability:
    """Measure availability between the two times. `timestamps_s` are the times of the quoted blocks."""
    good_seconds = {int(each.answered_s - started_s) for each in answers if started_s <= each.answered_s < ended_s}
    by_time = sorted(answers, key=lambda each: each.answered_s)
    recoveries_s: defaultdict[str, list[float]] = defaultdict(list)
    outages = [each for each in failures if each.what != "replica"]
    for outage, following in zip(outages, [*outages[1:], None], strict=True):
        later = by_time[bisect_left(by_time, outage.restarted_s, key=lambda each: each.answered_s) :]
        first = next((each for each in later if timestamps_s[each.block] > outage.restarted_unix_s), None)
        if first is not None and (following is None or first.answered_s < following.killed_s):
            recoveries_s[outage.what].append(first.answered_s - outage.restarted_s)
    blocks = len({each.block for each in answers})
    return Availability(
        ended_s - started_s, len(good_seconds) / math.ceil(ended_s - started_s), blocks, dict(recoveries_s)
    )


class Limit(NamedTuple):
    """The limited client's requests while Redis was running and its bucket was empty: those allowed, and those due by
    the limit."""

    seconds: float
    allowed: int
    due: float


def check_limit(
    requests: Sequence[LimitedRequest], lives: Sequence[tuple[float, float]], per_minute: int, settle_s: float
) -> Limit:
    """Sum over the lives of Redis, each from its first rejection `settle_s` after its start.

    After a rejection the bucket is empty, so only as many requests are allowed as it refills.
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
