"""Rejections: immediate while there are few, at a bounded rate for clients that retry."""

from __future__ import annotations

import heapq

from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.service.rate_limits import BATCH_S, BURST, MAX_DELAY_S, REJECTIONS_PER_S, RejectionPacer


@given(st.lists(st.floats(0.0, 0.2), min_size=1, max_size=300))
def test_delays_are_bounded_and_few_rejections_have_none(pauses_s: list[float]) -> None:
    pacer, now_s = RejectionPacer(), 0.0
    for number, pause_s in enumerate(pauses_s):
        now_s += pause_s
        delay_s = pacer.delay_s(now_s)
        assert 0.0 <= delay_s <= MAX_DELAY_S + 1e-9
        assert delay_s == 0.0 or number >= BURST


@given(connections=st.integers(1, 2_000))
def test_immediate_retries_are_rejected_at_a_bounded_rate(connections: int) -> None:
    pacer, refused, due_s = RejectionPacer(), 0, [0.0] * connections
    while due_s[0] < 3.0:
        refused += 1
        heapq.heapreplace(due_s, due_s[0] + pacer.delay_s(due_s[0]))
    assert refused <= BURST + 3.0 * max(REJECTIONS_PER_S, connections / (MAX_DELAY_S - BATCH_S)) + connections
