"""The time limit of a search counts the work of its thread, and not what else the machine does."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic, sleep

import pytest

from swapcli.core.model.market import MarketState
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.state.clock import SYSTEM_CLOCK, Clock
from tests.support.pools import build_random_market


@pytest.fixture(scope="module")
def market() -> MarketState:
    return build_random_market(1)


def limit(market: MarketState, clock: Clock, solve_time_s: float) -> Callable[[], bool]:
    found = SearchableMarket(market, clock)._time_limit(solve_time_s)
    assert found is not None
    return found


def test_work_counts_and_waiting_only_threefold(market: MarketState) -> None:
    now = {"time": 0.0, "work": 0.0}
    clock = Clock(lambda: 0.0, lambda: now["time"], lambda: now["work"])
    for time, work, expected in ((0.5, 0.5, False), (2.5, 0.8, False), (1.0, 1.0, True), (3.0, 0.1, True)):
        now.update(time=0.0, work=0.0)
        is_up = limit(market, clock, 1.0)
        now.update(time=time, work=work)
        assert is_up() == expected


def test_without_the_time_of_the_thread_durations_count(market: MarketState) -> None:
    now = [0.0]
    is_up = limit(market, Clock(lambda: 0.0, lambda: now[0]), 1.0)
    assert not is_up()
    now[0] = 1.0
    assert is_up()
    assert SearchableMarket(market, SYSTEM_CLOCK)._time_limit(0.0) is None


def test_a_thread_that_waits_uses_no_time(market: MarketState) -> None:
    """And neither does one beside which others work."""
    has_ended = Event()

    def work() -> None:
        while not has_ended.is_set():
            sum(range(1000))

    others = [Thread(target=work) for _ in range(2)]
    for other in others:
        other.start()
    try:
        is_up, started = limit(market, SYSTEM_CLOCK, 0.3), monotonic()
        sleep(0.4)
        assert not is_up()
        while not is_up():
            assert monotonic() - started < 10.0
    finally:
        has_ended.set()
        for other in others:
            other.join()
    assert monotonic() - started >= 0.4
