"""The time limit of a search counts the work of its thread, and not what else the machine does."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic, sleep, thread_time

import pytest

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.state.clock import SYSTEM_CLOCK, Clock
from tests.support.markets import embedded_market
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


@pytest.mark.parametrize("whole_tokens", [10**6, 10**7, 10**8])
def test_an_order_that_drains_the_market_ends_at_the_limit(whole_tokens: int) -> None:
    """Without a limit, the largest search takes seconds: it places a surplus that no pool takes at a good price."""
    base = embedded_market("base")
    token_in, token_out = (
        next(each for each in base.tokens.values() if each.symbol == symbol) for symbol in ("WETH", "USDC")
    )
    searchable, order = SearchableMarket(base, SYSTEM_CLOCK), Order(token_in, token_out, whole_tokens * 10**18)
    searchable.search(QuoteRequest(order._replace(amount=10**18), ApiVersion.V2))  # makes the index
    started_s = thread_time()
    assert searchable.search(QuoteRequest(order, ApiVersion.V2, solve_time_s=0.2)).is_complete is False
    assert thread_time() - started_s < 0.8
