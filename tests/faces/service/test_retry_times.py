"""Times of refused orders: one after the other, kept by those that come too early, and forgotten."""

from __future__ import annotations

from itertools import pairwise
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.service.retry_times import EARLY_S, GRACE_S, MAX_DELAY_S, MAX_ORDERS, RetryTimes

COST_S = st.floats(0.05, 1.0)


@given(costs_s=st.lists(COST_S, min_size=1, max_size=40), first_s=st.floats(0, 2))
def test_refused_orders_are_due_one_after_the_other(costs_s: list[float], first_s: float) -> None:
    retries = RetryTimes()
    due_s = [retries.refuse("a", number, first_s, cost_s, 10.0) for number, cost_s in enumerate(costs_s)]
    assert due_s[0] == pytest.approx(first_s)
    for (before_s, after_s), cost_s in zip(pairwise(due_s), costs_s[1:], strict=True):
        assert after_s == pytest.approx(min(before_s + cost_s, MAX_DELAY_S))
    # Another client does not wait for them.
    assert retries.refuse("b", 0, first_s, 1.0, 10.0) == pytest.approx(first_s)


@given(number=st.integers(0, 9), gaps_s=st.lists(st.floats(0, 0.2), max_size=20))
def test_a_connection_that_comes_early_keeps_its_time(number: int, gaps_s: list[float]) -> None:
    """It gains nothing, and it does not put off others."""
    retries = RetryTimes()
    due_s = {each: 1.0 + retries.refuse("a", each, 0.5, 0.5, 1.0) for each in range(10)}
    now_s = 1.0
    for gap_s in gaps_s:
        now_s += gap_s
        if now_s + EARLY_S < due_s[number]:
            assert now_s + retries.refuse("a", number, 0.0, 0.5, now_s) == pytest.approx(due_s[number])
            assert retries.preceding_s("a", number, now_s) == pytest.approx(9 * 0.5)
    assert 1.0 + retries.refuse("a", "new", 0.5, 0.5, 1.0) == pytest.approx(max(due_s.values()) + 0.5)


def test_one_whose_time_has_come_goes_before_others() -> None:
    retries = RetryTimes()
    for connection in range(10):
        retries.refuse("a", connection, 1.0, 1.0, 0.0)
    assert retries.preceding_s("a", 0, 1.0) == 0.0
    assert retries.preceding_s("a", 5, 1.0) == 9.0
    assert retries.preceding_s("a", "new", 1.0) == 10.0
    assert retries.preceding_s("b", "new", 1.0) == 0.0
    # Refused all the same, it is next, and not the last.
    assert retries.refuse("a", 0, 0.3, 1.0, 1.0) == pytest.approx(0.3)
    for connection in range(1, 10):
        retries.take("a", connection)
    assert retries.preceding_s("a", 0, 0.0) == 0.0, "nothing but itself"
    retries.take("a", 0)
    retries.take("a", 0)
    assert retries.preceding_s("a", "new", 1.0) == 0.0


def test_orders_that_do_not_come_again_are_forgotten() -> None:
    retries = RetryTimes()
    retries.refuse("a", 0, 1.0, 1.0, 0.0)
    assert retries.preceding_s("a", "new", 1.0 + GRACE_S) == 1.0
    assert retries.preceding_s("a", "new", 1.1 + GRACE_S) == 0.0
    assert retries.refuse("a", "new", 0.5, 1.0, 1.1 + GRACE_S) == pytest.approx(0.5)


def test_what_is_kept_is_bounded() -> None:
    retries = RetryTimes()
    told_s = [retries.refuse("a", number, 0.0, 1.0, 0.0) for number in range(2 * MAX_ORDERS)]
    assert max(told_s) == MAX_DELAY_S
    assert len(retries._refused["a"]) == MAX_ORDERS
    for number in range(10_100):
        retries.refuse(f"client {number}", 0, 0.0, 1.0, 0.0)
    assert len(retries._refused) == 10_000


@given(cost_s=st.floats(0.2, 0.8), connections=st.integers(8, 40))
def test_connections_that_ask_again_when_told_are_served_then(cost_s: float, connections: int) -> None:
    """Orders of one cost that repeat themselves as soon as they are answered, on a service that takes one at a time."""
    retries, queue, now_s = RetryTimes(), list[int](), 0.0
    events = [(0.0, number) for number in range(connections)]
    told: dict[int, tuple[float, float]] = {}
    errors_s, free_s = list[float](), 0.0
    while now_s < 60.0:
        events.sort()
        now_s, number = events.pop(0)
        wait_s = max(0.0, free_s - now_s)
        if wait_s > max(0.5, 2.0 - retries.preceding_s("a", number, now_s)):
            retry_s = float(max(1, ceil(retries.refuse("a", number, max(0.0, wait_s - 1.0), cost_s, now_s))))
            told.setdefault(number, (now_s, retry_s))
            events.append((now_s + retry_s, number))
        else:
            retries.take("a", number)
            queue.append(number)
            free_s = max(free_s, now_s) + cost_s
            events.append((free_s, number))
            if number in told:
                told_at_s, retry_s = told.pop(number)
                taken_s = now_s - told_at_s
                errors_s.append(abs(taken_s - retry_s) - max(1.0, 0.3 * taken_s))
    assert len(queue) * cost_s >= 55.0, "the service is never idle for long"
    assert sum(each <= 0 for each in errors_s) >= 0.9 * len(errors_s)
