"""The worker thread: in order, bounded, cancelled when abandoned; the event loop stays free."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partialmethod
from typing import Any

import httpx
import pytest

from swapcli.core.errors import Cancelled, NoRoute, Overloaded
from swapcli.faces.service import app
from swapcli.faces.service.order_costs import OrderClass
from swapcli.faces.service.refusal_reasons import RefusalReason, refusal_of
from swapcli.faces.service.worker_thread import (
    MAX_STUCK,
    MAX_WAIT_S,
    IsCancelled,
    SearchStuck,
    Work,
    Worker,
    cancel_on_disconnect,
)
from swapcli.quoting.sources.in_memory import InMemorySource
from tests.faces.service.test_quote_stream import serving
from tests.support.service import build_order_query

SHORT, LONG = (OrderClass(size) for size in (1, 2))


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker(max_queue=3)
    yield worker
    worker.close()


class Gatekeeper:
    """Work that runs until it is released or cancelled."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.may_end = threading.Event()
        self.was_cancelled = False

    def __call__(self, is_cancelled: IsCancelled) -> str:
        self.has_begun.set()
        while not self.may_end.wait(0.001):
            if is_cancelled():
                self.was_cancelled = True
                raise Cancelled("given up")
        return "done"


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it did not happen")


async def begun(worker: Worker, gate: Gatekeeper) -> asyncio.Task[str]:
    task = asyncio.create_task(worker.run(gate))
    await until(gate.has_begun.is_set)
    return task


def running(work: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        await work()

    asyncio.run(whole())


def test_what_work_returns_and_raises_comes_back(worker: Worker) -> None:
    async def work() -> None:
        assert await worker.run(lambda _: 17) == 17
        with pytest.raises(NoRoute, match="none"):
            await worker.run(lambda _: fail(NoRoute("none")))
        assert await worker.run(lambda is_cancelled: is_cancelled()) is False
        assert await worker.run(lambda _: threading.current_thread().name) == "worker"

    running(work)


def adding(seen: list[int], number: int) -> Work[None]:
    return lambda _: seen.append(number)


def giving(number: int) -> Work[int]:
    return lambda _: number


def fail(error: Exception) -> None:
    raise error


def test_jobs_run_one_at_a_time_in_order(worker: Worker) -> None:
    async def work() -> None:
        gate, seen = Gatekeeper(), list[int]()
        first = await begun(worker, gate)
        rest = [asyncio.create_task(worker.run(adding(seen, n))) for n in range(3)]
        await asyncio.sleep(0.01)
        assert seen == []
        assert worker.queue_length == 3
        gate.may_end.set()
        await asyncio.gather(first, *rest)
        assert seen == [0, 1, 2]
        assert worker.queue_length == 0

    running(work)


def test_a_full_queue_rejects_until_there_is_room(worker: Worker) -> None:
    async def work() -> None:
        gate = Gatekeeper()
        first = await begun(worker, gate)
        waiting = [asyncio.create_task(worker.run(lambda _: None)) for _ in range(3)]
        await until(lambda: worker.queue_length == 3)
        with pytest.raises(Overloaded) as caught:
            await worker.run(lambda _: None)
        assert caught.value.retry_after_s == 1
        gate.may_end.set()
        await asyncio.gather(first, *waiting)
        assert await worker.run(lambda _: "again") == "again"

    running(work)


def test_a_client_alone_has_all_places_and_others_take_theirs() -> None:
    async def work() -> None:
        worker, gate, seen = Worker(max_queue=8), Gatekeeper(), list[str]()
        first = await begun(worker, gate)

        def order(client: str) -> asyncio.Task[None]:
            return asyncio.create_task(worker.run(lambda _: seen.append(client), client=client))

        greedy = [order("greedy") for _ in range(8)]
        await until(lambda: worker.queue_length == 8)
        with pytest.raises(Overloaded):
            await order("greedy")
        modest = order("modest")
        with pytest.raises(Overloaded):
            await greedy[-1]
        gate.may_end.set()
        await asyncio.gather(first, modest, *greedy[:-1])
        assert seen == ["greedy", "modest", *["greedy"] * 6]
        worker.close()

    running(work)


def test_a_new_client_evicts_a_job_in_a_full_queue() -> None:
    async def work() -> None:
        worker, gate = Worker(max_queue=8), Gatekeeper()
        first = await begun(worker, gate)
        greedy = [asyncio.create_task(worker.run(giving(n), client=f"greedy {n % 4}")) for n in range(8)]
        await until(lambda: worker.queue_length == 8)
        modest = asyncio.create_task(worker.run(giving(17), client="modest"))
        with pytest.raises(Overloaded):
            await greedy[4]
        gate.may_end.set()
        assert await modest == 17
        assert await asyncio.gather(first, *greedy[:4], *greedy[5:]) == ["done", 0, 1, 2, 3, 5, 6, 7]
        worker.close()

    running(work)


class Time:
    """A timer that advances only with work."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def steps(self, count: int, seen: list[str], name: str, may_go_on: Callable[[], bool] = lambda: True) -> Work[str]:
        """Work of so many milliseconds, which asks after each whether it is cancelled, once it may go on."""

        def run(is_cancelled: IsCancelled) -> str:
            for _ in range(count):
                while not may_go_on():
                    time.sleep(0)
                self.now_s += 0.001
                if is_cancelled():
                    raise Cancelled(name)
            seen.append(name)
            return name

        return run


def test_a_client_with_short_orders_does_not_wait_for_long_ones() -> None:
    """Long orders of eight clients, short ones of another, who asks again as soon as it is answered: it waits for about
    as long as its orders take, and the long ones go on."""

    async def work() -> None:
        timer, seen, waits_s = Time(), list[str](), list[float]()
        worker, gate = Worker(max_queue=64, timer_s=timer), Gatekeeper()
        first = await begun(worker, gate)
        names = [f"long {n}" for n in range(8)]

        def has_short_order() -> bool:
            done = sum(name in seen for name in names)
            return len(waits_s) == 40 or worker.queue_length == len(names) - done

        long = [
            asyncio.create_task(worker.run(timer.steps(50, seen, name, has_short_order), client=name)) for name in names
        ]
        short = asyncio.create_task(short_orders(worker, timer, seen, waits_s))
        await until(lambda: worker.queue_length == 9)
        gate.may_end.set()
        await asyncio.gather(first, short, *long)
        assert max(waits_s[1:]) < 0.02
        assert [name for name in seen if name in names] == names
        assert seen.index(names[0]) < 20
        worker.close()

    running(work)


async def short_orders(
    worker: Worker, timer: Time, seen: list[str], waits_s: list[float], client: str = "short"
) -> None:
    for number in range(40):
        started_s = timer()
        await worker.run(timer.steps(3, seen, f"short {number}"), client=client, order_class=SHORT)
        waits_s.append(timer() - started_s)


def test_short_orders_of_a_client_do_not_wait_for_its_long_ones() -> None:
    """As with those of other clients, once orders of their class have been measured."""

    async def work() -> None:
        timer, seen, waits_s = Time(), list[str](), list[float]()
        worker, gate = Worker(max_queue=64, timer_s=timer), Gatekeeper()
        await worker.run(timer.steps(3, seen, "measured"), client="another", order_class=SHORT)
        await worker.run(timer.steps(50, seen, "measured"), client="another", order_class=LONG)
        first = await begun(worker, gate)
        names = [f"long {n}" for n in range(8)]

        def has_short_order() -> bool:
            done = sum(name in seen for name in names)
            return len(waits_s) == 40 or worker.queue_length == len(names) - done

        long = [
            asyncio.create_task(
                worker.run(timer.steps(50, seen, name, has_short_order), client="one", order_class=LONG)
            )
            for name in names
        ]
        short = asyncio.create_task(short_orders(worker, timer, seen, waits_s, "one"))
        await until(lambda: worker.queue_length == 9)
        gate.may_end.set()
        await asyncio.gather(first, short, *long)
        assert max(waits_s) < 0.02
        assert [name for name in seen if name in names] == names
        # Short ones take at most as long as the long ones that they interrupt.
        assert seen.index(names[0]) < 22
        worker.close()

    running(work)


def test_waiting_orders_are_expected_as_the_first_of_their_class() -> None:
    """Two clients with orders of one class: after the first, no other one looks like a short one."""

    async def work() -> None:
        timer, seen = Time(), list[str]()
        worker, gate = Worker(max_queue=64, timer_s=timer), Gatekeeper()
        first = await begun(worker, gate)
        tasks = [
            asyncio.create_task(worker.run(timer.steps(400, seen, client), client=client, order_class=LONG))
            for client in "abcdef"
        ]
        await until(lambda: worker.queue_length == 6)
        gate.may_end.set()
        await asyncio.gather(first, *tasks)
        # The second one, of which nothing was known, interrupted the first.
        assert seen == ["b", "a", "c", "d", "e", "f"]
        worker.close()

    running(work)


def test_orders_of_equal_length_take_turns() -> None:
    async def work() -> None:
        timer, seen = Time(), list[str]()
        worker, gate = Worker(max_queue=64, timer_s=timer), Gatekeeper()
        first = await begun(worker, gate)
        tasks = [
            asyncio.create_task(worker.run(timer.steps(10, seen, f"{client}{n}"), client=client))
            for client in "ab"
            for n in range(3)
        ]
        await until(lambda: worker.queue_length == 6)
        gate.may_end.set()
        await asyncio.gather(first, *tasks)
        assert seen == ["a0", "b0", "a1", "b1", "a2", "b2"]
        worker.close()

    running(work)


def test_an_order_that_cannot_start_in_time_is_refused_at_once() -> None:
    """Of orders of 0.45 s, as many are taken as start within two seconds; a short one starts soon, and is taken."""

    async def work() -> None:
        timer, seen, waits_s = Time(), list[str](), list[float]()
        worker = Worker(max_queue=64, timer_s=timer, on_wait=waits_s.append)
        gate = Gatekeeper()
        await worker.run(timer.steps(3, seen, "measured"), client="another", order_class=SHORT)
        await worker.run(timer.steps(450, seen, "measured"), client="another", order_class=LONG)
        first = await begun(worker, gate)

        def submit_long(client: str) -> asyncio.Future[str]:
            return worker.submit(timer.steps(450, seen, client), client=client, order_class=LONG)

        taken = [submit_long("one") for _ in range(5)]
        with pytest.raises(Overloaded, match="could not start within 2 seconds") as caught:
            submit_long("one")
        assert caught.value.retry_after_s == 2
        assert refusal_of(caught.value) is RefusalReason.EXPECTED_WAIT
        taken.append(worker.submit(timer.steps(3, seen, "short"), client="one", order_class=SHORT))
        taken.append(submit_long("two"))
        gate.may_end.set()
        await asyncio.gather(first, *taken)
        assert sorted(seen[2:]) == [*["one"] * 5, "short", "two"]
        assert 2.2 < max(waits_s) < MAX_WAIT_S
        assert len(waits_s) == 9
        worker.close()

    running(work)


def test_a_retry_is_due_when_the_order_is_taken() -> None:
    """The time comes from measured costs, and leaves a second for costs that vary."""

    async def work() -> None:
        timer, seen, until_s = Time(), list[str](), [100.0]
        worker = Worker(max_queue=64, timer_s=timer)
        for order_class, count in ((LONG, 5_000), (SHORT, 4_000)):
            await worker.run(timer.steps(count, seen, "measured"), client="another", order_class=order_class)
        start_s = until_s[0] = timer()
        long = worker.submit(
            timer.steps(5_000, seen, "long", lambda: timer() <= until_s[0]), client="one", order_class=LONG
        )
        await until(lambda: worker.queue_length == 0)

        def submit() -> asyncio.Future[str]:
            return worker.submit(timer.steps(4_000, seen, "other"), client="two", order_class=SHORT)

        with pytest.raises(Overloaded) as caught:
            submit()
        assert caught.value.retry_after_s == 4
        until_s[0] = start_s + 2.8
        await until(lambda: timer() > start_s + 2.8)
        with pytest.raises(Overloaded) as caught:
            submit()
        assert caught.value.retry_after_s == 2
        until_s[0] = start_s + 3.1
        await until(lambda: timer() > start_s + 3.1)
        other = submit()
        until_s[0] = start_s + 100.0
        await asyncio.gather(long, other)
        worker.close()

    running(work)


def test_an_order_waits_for_no_longer_than_it_may() -> None:
    """Orders ahead of it take longer than expected: it is refused then, and so are all that are as old."""

    async def work() -> None:
        timer, seen, waits_s = Time(), list[str](), list[float]()
        gate = threading.Event()
        worker = Worker(max_queue=64, timer_s=timer, on_wait=waits_s.append)
        first = worker.submit(lambda _: gate.wait(), client="one")
        await until(lambda: len(waits_s) == 1)
        old = [worker.submit(timer.steps(1, seen, "old"), client="one") for _ in range(3)]
        own = worker.submit(timer.steps(1, seen, "the service's"))
        timer.now_s += MAX_WAIT_S
        new = worker.submit(timer.steps(1, seen, "new"), client="one")
        for each in old:
            with pytest.raises(Overloaded, match=r"waited for 2\.3 seconds") as caught:
                await each
            assert refusal_of(caught.value) is RefusalReason.WAIT
        assert worker.queue_length == 2
        gate.set()
        await asyncio.gather(first, new, own)
        assert sorted(seen) == ["new", "the service's"]
        assert [round(each, 1) for each in waits_s] == [0.0, *[MAX_WAIT_S] * 3, 0.0]
        worker.close()

    running(work)


def test_an_interrupted_order_gives_up_once_nobody_waits_for_it() -> None:
    async def work() -> None:
        timer, seen = Time(), list[str]()
        worker = Worker(max_queue=8, timer_s=timer)
        task = asyncio.create_task(worker.run(timer.steps(10**9, seen, "endless"), client="endless"))
        assert await worker.run(timer.steps(1, seen, "short"), client="short") == "short"
        task.cancel()
        assert await worker.run(timer.steps(100, seen, "next"), client="next") == "next"
        assert seen == ["short", "next"]
        worker.close()

    running(work)


def test_urgent_work_overtakes_and_is_never_refused(worker: Worker) -> None:
    async def work() -> None:
        gate, seen = Gatekeeper(), list[str]()
        first = await begun(worker, gate)
        rest = [asyncio.create_task(worker.run(lambda _: seen.append("order"))) for _ in range(3)]
        await until(lambda: worker.queue_length == 3)
        urgent = asyncio.create_task(worker.run(lambda _: seen.append("urgent"), is_urgent=True))
        await asyncio.sleep(0)
        gate.may_end.set()
        await asyncio.gather(first, urgent, *rest)
        assert seen == ["urgent", "order", "order", "order"]

    running(work)


def test_work_at_hand_hears_that_nobody_waits(worker: Worker) -> None:
    async def work() -> None:
        gate = Gatekeeper()
        task = await begun(worker, gate)
        task.cancel()
        await until(lambda: gate.was_cancelled)
        assert await worker.run(lambda _: "next") == "next"

    running(work)


def test_abandoned_work_leaves_the_queue_and_never_runs(worker: Worker) -> None:
    async def work() -> None:
        gate, ran = Gatekeeper(), list[int]()
        first = await begun(worker, gate)
        for round_ in range(50):
            tasks = [asyncio.create_task(worker.run(lambda _: ran.append(1))) for _ in range(3)]
            await until(lambda: worker.queue_length == 3)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert worker.queue_length == 0, round_
        gate.may_end.set()
        await first
        await worker.run(lambda _: None)
        assert ran == []

    running(work)


def test_the_loop_goes_on_while_the_thread_computes(worker: Worker) -> None:
    async def work() -> None:
        until_s = time.perf_counter() + 0.3
        task = asyncio.create_task(worker.run(lambda _: spin(until_s)))
        beats = 0
        while not task.done():
            await asyncio.sleep(0.002)
            beats += 1
        assert beats >= 3  # with the thread alone at work, it would be one

    running(work)


def spin(until_s: float) -> None:
    while time.perf_counter() < until_s:
        sum(range(100))


def test_a_solver_serves_again_after_it_was_closed(worker: Worker) -> None:
    async def work() -> None:
        for turn in range(3):
            assert await worker.run(giving(turn)) == turn
            worker.close()

    running(work)


def test_a_loop_that_ended_does_not_harm_the_thread(worker: Worker) -> None:
    gate = Gatekeeper()

    async def leave() -> None:
        await begun(worker, gate)

    asyncio.run(leave())
    assert asyncio.run(worker.run(lambda _: "fine")) == "fine"
    assert gate.was_cancelled


def test_whoever_leaves_first_decides() -> None:
    async def work() -> None:
        async def after(seconds: float, value: Any = None) -> Any:
            await asyncio.sleep(seconds)
            return value

        def task(seconds: float, value: Any = None) -> asyncio.Task[Any]:
            return asyncio.create_task(after(seconds, value))

        assert await cancel_on_disconnect(task(0, "answer"), task(5)) == "answer"
        slow, left = task(5), task(0)
        with pytest.raises(Cancelled):
            await cancel_on_disconnect(slow, left)
        await asyncio.sleep(0)
        assert slow.cancelled()
        with pytest.raises(NoRoute):
            await cancel_on_disconnect(asyncio.create_task(failing()), task(5))

    async def failing() -> None:
        raise NoRoute("none")

    running(work)


def test_cancelling_the_caller_cancels_both() -> None:
    async def work() -> None:
        one, other = (asyncio.create_task(asyncio.sleep(5)) for _ in range(2))
        caller = asyncio.create_task(cancel_on_disconnect(one, other))
        await asyncio.sleep(0.01)
        caller.cancel()
        await asyncio.gather(caller, one, other, return_exceptions=True)
        assert one.cancelled()
        assert other.cancelled()

    running(work)


def test_a_stuck_search_fails_and_others_go_on() -> None:
    async def whole() -> None:
        worker, gate, late = Worker(max_queue=16), threading.Event(), list[bool]()

        def hang(is_cancelled: IsCancelled) -> str:
            gate.wait()
            late.append(is_cancelled())
            return "late"

        stuck = asyncio.create_task(worker.run(hang, client="one"))
        waiting = [asyncio.create_task(worker.run(lambda _: "quick", client="two")) for _ in range(3)]
        await until(lambda: worker.queue_length == 3)
        assert not worker.replace_if_stuck(limit_s=60.0)
        await until(lambda: worker.replace_if_stuck(limit_s=0.05))
        with pytest.raises(SearchStuck):
            await stuck
        assert await asyncio.gather(*waiting) == ["quick"] * 3
        assert (worker.stuck_searches, worker.is_alive) == (1, True)
        assert not worker.replace_if_stuck(limit_s=0.0), "nothing runs"
        gate.set()
        await until(lambda: late == [True])
        assert await worker.run(lambda _: "next", client="one") == "next"
        worker.close()

    running(whole)


def test_too_many_stuck_searches_are_the_end_of_a_process() -> None:
    async def whole() -> None:
        worker, gate = Worker(max_queue=8), threading.Event()
        for number in range(MAX_STUCK):
            assert worker.is_alive
            task = asyncio.create_task(worker.run(lambda _: gate.wait(), client=str(number)))
            await until(lambda: worker.replace_if_stuck(limit_s=0.05))
            with pytest.raises(SearchStuck):
                await task
        assert not worker.is_alive
        gate.set()
        await until(lambda: worker.is_alive)
        worker.close()

    running(whole)


def test_work_of_the_service_itself_may_take_long() -> None:
    async def whole() -> None:
        worker, gate = Worker(max_queue=8), Gatekeeper()
        task = await begun(worker, gate)
        assert not worker.replace_if_stuck(limit_s=0.0)
        gate.may_end.set()
        assert await task == "done"
        worker.close()

    running(whole)


def test_a_service_outlives_a_stuck_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over real connections: the order is a 500, others are answered, and log and metrics say so."""
    monkeypatch.setattr(app, "STUCK_CHECK_S", 0.05)
    monkeypatch.setattr(Worker, "replace_if_stuck", partialmethod(Worker.replace_if_stuck, limit_s=0.3))
    gate = threading.Event()
    with serving() as service:
        find_source = service.registry.fresh_source

        def hang_once(*arguments: Any) -> InMemorySource:
            monkeypatch.setattr(service.registry, "fresh_source", find_source)
            gate.wait()
            return find_source(*arguments)

        monkeypatch.setattr(service.registry, "fresh_source", hang_once)
        query = build_order_query("testnet")
        with httpx.Client(base_url=service.url, timeout=60) as client:
            assert client.get("/testnet/route", params=query).status_code == 500
            assert client.get("/testnet/route", params=query).status_code == 200
            assert client.get("/livez").json() == {"live": True}
        assert service.metric("swapcli_stuck_searches_total") == 1
        assert '"search":"stuck","stuck_searches":1,"live":true' in service.log.getvalue()
        assert "SearchStuck" in service.log.getvalue()
        gate.set()
