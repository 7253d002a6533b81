"""Times of refused orders: one after the other, kept by those that come too early, and forgotten."""

from __future__ import annotations

import asyncio
import timeit
from heapq import heappop, heappush
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import Overloaded
from swapcli.faces.service.order_costs import OrderClass
from swapcli.faces.service.retry_times import (
    EARLY_S,
    GRACE_S,
    MAX_DELAY_S,
    MAX_ORDERS,
    SPARE_WAIT_S,
    RetryTimes,
)
from swapcli.faces.service.worker_thread import IsCancelled, Worker
from tests.examples import few_rows

ORDER = OrderClass(1, 2)

COST_S = st.floats(0.05, 1.0)


@given(costs_s=st.lists(COST_S, min_size=1, max_size=40), wait_s=st.floats(0, 3))
def test_refused_orders_are_due_one_after_the_other(costs_s: list[float], wait_s: float) -> None:
    retries = RetryTimes()
    for number, cost_s in enumerate(costs_s):
        due_s = retries.refuse("a", number, wait_s, cost_s, 10.0)
        ahead_s = wait_s + sum(costs_s[:number])
        assert due_s == pytest.approx(min(max(0.0, ahead_s - SPARE_WAIT_S), MAX_DELAY_S))


@given(orders=st.lists(st.tuples(st.integers(0, 3), COST_S), max_size=60), client=st.integers(0, 3))
def test_other_clients_have_as_many_turns(orders: list[tuple[int, float]], client: int) -> None:
    retries = RetryTimes()
    costs_s: dict[int, list[float]] = {}
    for number, (each, cost_s) in enumerate(orders):
        retries.refuse(f"client {each}", number, 0.0, cost_s, 0.0)
        costs_s.setdefault(each, []).append(cost_s)
    own_s = costs_s.pop(client, [])
    preceding_s = retries.preceding_s(f"client {client}", "new", 0.0)
    others_s = sum(map(sum, costs_s.values()))
    assert sum(own_s) <= preceding_s + 1e-9
    assert preceding_s <= sum(own_s) + others_s + 1e-9
    turns = (len(own_s) + 1) * len(costs_s) / max(1, sum(map(len, costs_s.values())))
    assert preceding_s == pytest.approx(sum(own_s) + others_s * min(1.0, turns))


@given(number=st.integers(0, 9), gaps_s=st.lists(st.floats(0, 0.2), max_size=20))
def test_a_connection_that_comes_early_keeps_its_time(number: int, gaps_s: list[float]) -> None:
    """It gains nothing, and it does not put off others."""
    retries = RetryTimes()
    due_s = {each: 1.0 + retries.refuse("a", each, 1.5, 0.5, 1.0) for each in range(10)}
    now_s = 1.0
    for gap_s in gaps_s:
        now_s += gap_s
        if now_s + EARLY_S < due_s[number]:
            assert now_s + retries.refuse("a", number, 0.0, 0.5, now_s) == pytest.approx(due_s[number])
            assert retries.preceding_s("a", number, now_s) == pytest.approx(9 * 0.5)
    assert 1.0 + retries.refuse("a", "new", 1.5, 0.5, 1.0) == pytest.approx(max(due_s.values()) + 0.5)


def test_one_whose_time_has_come_goes_before_others() -> None:
    retries = RetryTimes()
    for connection in range(10):
        retries.refuse("a", connection, 2.0, 1.0, 0.0)
    assert retries.preceding_s("a", 0, 1.0) == 0.0
    assert retries.preceding_s("a", 5, 1.0) == 9.0
    assert retries.preceding_s("a", "new", 1.0) == 10.0
    assert retries.preceding_s("b", "new", 1.0) == 1.0, "a turn of the other client"
    # Refused all the same, it is next, and not the last.
    assert retries.refuse("a", 0, 1.3, 1.0, 1.0) == pytest.approx(0.3)
    for connection in range(1, 10):
        retries.take("a", connection)
    assert retries.preceding_s("a", 0, 0.0) == 0.0, "nothing but itself"
    retries.take("a", 0)
    retries.take("a", 0)
    assert retries.preceding_s("a", "new", 1.0) == 0.0


def test_orders_that_do_not_come_again_are_forgotten() -> None:
    """Those of other clients too, so that nobody waits for them."""
    retries = RetryTimes()
    retries.refuse("a", 0, 2.0, 1.0, 0.0)
    for client in ("a", "b"):
        assert retries.preceding_s(client, "new", 1.0 + GRACE_S) == 1.0
    for client in ("a", "b"):
        assert retries.preceding_s(client, "new", 1.1 + GRACE_S) == 0.0
    assert retries.refuse("a", "new", 1.5, 1.0, 1.1 + GRACE_S) == pytest.approx(0.5)


def test_what_is_kept_is_bounded() -> None:
    retries = RetryTimes()
    told_s = [retries.refuse("a", number, 0.0, 1.0, 0.0) for number in range(2 * MAX_ORDERS)]
    assert max(told_s) == MAX_DELAY_S
    for number in range(100):
        retries.refuse(f"client {number}", 0, 0.0, 1.0, 0.0)
    assert sum(map(len, retries._refused.values())) == MAX_ORDERS
    assert retries.preceding_s("client 0", 0, 1_000.0) == 0.0
    assert not retries._refused


def test_a_client_does_not_pay_for_the_orders_of_another_one() -> None:
    def shortest_s(orders: int) -> float:
        retries = RetryTimes()
        for number in range(orders):
            retries.refuse("a", number, 0.0, 1.0, 0.0)
        return min(timeit.repeat(lambda: retries.preceding_s("b", 0, 0.0), repeat=20, number=10))

    assert shortest_s(MAX_ORDERS) < 10 * shortest_s(1)


class SimulatedClients:
    """Connections that send an order, ask again when they are told to, and send the next one once it is answered.

    The orders run on a real worker, whose time advances with them alone: before one ends, all come who come until then.
    """

    def __init__(self, connections: int, clients: int, cost_s: float, spread: float) -> None:
        self._clients, self._cost_s, self._spread = clients, cost_s, spread
        self._now_s, self._end_s, self._rng = 0.0, 0.0, Random(connections)
        self._has_ended = False
        self._worker = Worker(max_queue=1_024, timer_s=lambda: self._now_s)
        self._arrivals = [(0.001 * number, number) for number in range(connections)]
        self._asked_s: dict[int, float] = {}
        self._told: dict[int, tuple[float, float]] = {}
        self.figures: list[tuple[float, float]] = []
        """Of each order that was refused: the time that it was told first, and that it took from there until it came
        and was taken."""
        self.answered = 0

    async def run(self, seconds: float) -> None:
        """Run for so long, after an order of each client that tells what they cost."""
        for client in range(self._clients):
            await self._worker.run(self._spend, client=f"client {client}", order_class=ORDER)
        self._end_s = self._now_s + seconds
        self._arrivals = [(self._now_s + at_s, number) for at_s, number in self._arrivals]
        self._loop, self._is_over = asyncio.get_running_loop(), asyncio.Event()
        await self._come(heappop(self._arrivals)[1])
        await self._is_over.wait()
        self._worker.close()

    def _spend(self, _: IsCancelled) -> None:
        self._now_s += self._cost_s * self._rng.lognormvariate(0.0, self._spread)

    def _take(self, number: int) -> None:
        """Be the order of a connection. Once the time is over nobody comes: the loop may be closed."""
        if self._has_ended:
            return
        self.answered += 1
        if number in self._told:
            at_s, told_s = self._told.pop(number)
            self.figures.append((told_s, self._asked_s[number] - at_s))
        end_s = self._now_s + self._cost_s * self._rng.lognormvariate(0.0, self._spread)
        heappush(self._arrivals, (end_s, number))
        while self._arrivals[0][0] < end_s or not self._worker.queue_length:
            at_s, other = heappop(self._arrivals)
            self._now_s = max(self._now_s, at_s)
            asyncio.run_coroutine_threadsafe(self._come(other), self._loop).result()
        self._now_s = max(self._now_s, end_s)
        if self._now_s >= self._end_s:
            self._has_ended = True
            self._loop.call_soon_threadsafe(self._is_over.set)

    async def _come(self, number: int) -> None:
        self._asked_s[number] = self._now_s
        try:
            answer = self._worker.submit(
                lambda _: self._take(number),
                client=f"client {number % self._clients}",
                order_class=ORDER,
                connection=number,
            )
        except Overloaded as error:
            self._come_again(number, error)
        else:
            answer.add_done_callback(lambda ended: self._look(number, ended))

    def _look(self, number: int, ended: asyncio.Future[None]) -> None:
        """Come again with an order that has waited too long."""
        if not ended.cancelled() and isinstance(error := ended.exception(), Overloaded):
            self._come_again(number, error)

    def _come_again(self, number: int, error: Overloaded) -> None:
        self._told.setdefault(number, (self._now_s, error.retry_after_s))
        heappush(self._arrivals, (self._now_s + error.retry_after_s, number))


@pytest.mark.parametrize(
    ("connections", "clients", "cost_s", "spread"),
    few_rows(
        [
            (32, 1, 0.3, 0.1),
            (32, 1, 0.3, 0.4),
            (64, 1, 0.08, 0.2),
            (32, 4, 0.3, 0.2),
            (32, 16, 0.3, 0.2),
            (32, 32, 0.2, 0.2),
        ],
        3,
    ),
)
def test_clients_that_ask_again_when_told_are_taken_then(
    connections: int, clients: int, cost_s: float, spread: float
) -> None:
    """The first time that they are told is wrong by at most a second or 30%, and the service is never idle."""
    simulated = SimulatedClients(connections, clients, cost_s, spread)
    asyncio.run(simulated.run(90.0))
    assert len(simulated.figures) > 100
    right = [abs(told_s - taken_s) <= max(1.0, 0.3 * taken_s) for told_s, taken_s in simulated.figures]
    assert sum(right) >= 0.9 * len(right)
    assert simulated.answered * cost_s >= 0.9 * 90.0
