"""The worker thread, which computes quotes off the event loop.

One thread is enough, because Python runs one at a time, and a second one would only compete with the event loop. Orders
wait in a bounded queue that serves its clients in turn, and each client's orders by expected cost. An abandoned job
leaves the queue, or is cancelled if it has started. Urgent jobs run first and are never rejected.

A long order lets short ones run in between, including its own client's. Whenever it checks for cancellation, a waiting
order may run on the same stack. Orders that are expected to be short may do so for at most as long as the long order
itself has run. Short orders therefore wait about as long as they take, and long orders keep half of the time.

An order whose expected wait, by the expected times of the orders ahead of it, is longer than `MAX_EXPECTED_WAIT_S` is
rejected at once. If the orders ahead take longer than expected, an order is rejected once it has waited for
`MAX_WAIT_S`.

A search checks for cancellation every few milliseconds. A search that has not done so for `STUCK_S` is stuck: its order
fails, and a new thread takes the place of its thread. The old thread ends at its next check, if there is one.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from math import ceil, inf
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Generic, TypedDict, TypeVar, Unpack

from swapcli.core.errors import Cancelled, Overloaded
from swapcli.core.records import NamedTuple
from swapcli.faces.service.fair_queue import FairQueue, QueueFull
from swapcli.faces.service.order_costs import OrderClass, OrderCosts
from swapcli.faces.service.refusal_reasons import RefusalReason, refused
from swapcli.faces.service.retry_times import RetryTimes

T = TypeVar("T")
IsCancelled = Callable[[], bool]
Work = Callable[[IsCancelled], T]

MAX_EXPECTED_WAIT_S = 2.0
"""An order is rejected if it is not expected to start within this time. A client that has waited longer has given
up."""
MAX_WAIT_S = 2.3
"""An order that has waited this long is rejected. With `SWEEP_S` and a busy event loop, this happens before 2.5 s."""
SWEEP_S = 0.1
"""Seconds between two checks for orders that have waited too long."""
_PRECEDED_WAIT_S = 0.25
"""Maximum wait due to rejected orders that go before an order. It is short, so that rejected orders run at their retry
times, and long enough to keep the thread busy if they do not return."""
MAX_DEPTH = 12
"""Maximum depth of nested jobs, which is enough for eight clients whose orders take longer than expected."""
MIN_RATIO = 1.5
"""How many times longer than a waiting order the running order must be to be interrupted. Orders of similar length do
not interrupt each other."""
UNKNOWN_COST_S = 0.1
"""The cost that an order of unknown cost is assumed to have when it may interrupt others. Most orders take less, so
many new clients do not interrupt orders immediately. Only one order of unknown cost interrupts at a time."""
STUCK_S = 20.0
"""Time without a check after which a search counts as stuck. The longest observed time between two checks is below 1
s."""
MAX_STUCK = 3
"""Number of stuck threads still running at which the process should end, because each of them takes part of the
processor."""


class JobFigures(NamedTuple):
    """The times of a job: its wait in the queue, the time from its start to its end (during which other jobs may have
    run), and its own processor time."""

    wait_s: float
    run_s: float
    cpu_s: float


class JobOptions(TypedDict, total=False):
    """Facts about a job that the worker uses.

    `client` is the client for which the work is done, or None for the service itself. `order_class` is the class of its
    order. `connection` identifies a rejected order if it is sent again. `on_done` is called on the worker thread when
    the job has run, before its result is available.
    """

    client: str | None
    order_class: OrderClass | None
    connection: Hashable
    is_urgent: bool
    on_done: Callable[[JobFigures], object]


def _ignore(_: object) -> None:
    pass


class SearchStuck(Exception):
    """The search for an order no longer checks for cancellation, which is a defect."""


class Worker:
    """A worker that runs jobs one after the other. `max_queue` is the maximum number of waiting orders. `timer_s` is
    monotonic.

    `on_wait` is called, on any thread, with the number of seconds that a client's order has waited. The error of a
    rejected order carries the reason: see `refusal_reasons.refusal_of`.
    """

    def __init__(
        self,
        max_queue: int,
        *,
        timer_s: Callable[[], float] = time.perf_counter,
        on_wait: Callable[[float], object] = _ignore,
    ) -> None:
        self._timer_s = timer_s
        self._on_wait = on_wait
        self._sweeping: asyncio.AbstractEventLoop | None = None
        self._lock = Lock()
        self._orders: FairQueue[_Job[object]] = FairQueue(max_queue)
        self._urgent: deque[_Job[object]] = deque()
        self._costs = OrderCosts()
        self._retries = RetryTimes()
        self._running: list[_Job[object]] = []
        self._wakeups: SimpleQueue[bool] = SimpleQueue()
        self._thread: Thread | None = None
        self._checked_s = 0.0
        self._stuck: list[Thread] = []

    @property
    def is_alive(self) -> bool:
        """Whether fewer than `MAX_STUCK` threads are stuck."""
        return sum(thread.is_alive() for thread in self._stuck) < MAX_STUCK

    @property
    def stuck_searches(self) -> int:
        """The number of searches that have been stuck so far."""
        return len(self._stuck)

    @property
    def queue_length(self) -> int:
        """The number of waiting orders."""
        return len(self._orders)

    async def run(self, work: Work[T], **options: Unpack[JobOptions]) -> T:
        """Run `work` on the thread and return its result. Options and errors are the same as for `submit`."""
        return await self.submit(work, **options)

    def submit(self, work: Work[T], **options: Unpack[JobOptions]) -> asyncio.Future[T]:
        """Queue `work` for the thread, and return the future of its result. Cancelling the future cancels the work.

        Raises `Overloaded` if the queue has no room for the client, or if the order could not start in time. The future
        raises it if another client evicts the job, or if the job has waited too long.
        """
        job: _Job[T] = _Job(work, **options)
        self._add(job)  # type: ignore[arg-type]
        job.future.add_done_callback(lambda _: self._discard(job))  # type: ignore[arg-type]
        return job.future

    def close(self) -> None:
        """End the thread after the current job."""
        if self._thread is not None:
            self._wakeups.put(False)
            self._thread = None

    def _add(self, job: _Job[object]) -> None:
        evicted, retry_after_s = None, 1
        with self._lock:
            if job.is_urgent:
                self._urgent.append(job)
            else:
                evicted = self._push(job)
                retry_after_s = self._retry_after_s(evicted) if evicted else 1
        if evicted is not None:
            evicted.fail(_overloaded(RefusalReason.QUEUE, retry_after_s))
        if self._thread is None:
            self._start()
        self._wakeups.put(True)
        if job.client is not None:
            self._sweep_later(job.future.get_loop())

    def _push(self, job: _Job[object]) -> _Job[object] | None:
        """Add an order to the queue; return the order that it evicts. Raises `Overloaded`."""
        self._estimate(job)
        job.queued_s = self._timer_s()
        if job.client is not None:
            self._check_wait(job, job.client)
        try:
            return self._orders.push(job.client, job, job.expected_s, job.queued_s)
        except QueueFull:
            raise _overloaded(RefusalReason.QUEUE, self._retry_after_s(job)) from None

    def _check_wait(self, job: _Job[object], client: str) -> None:
        """Raise `Overloaded` if a client's order could not start in time."""
        # Without examining each order: not even the last of them would wait longer.
        if self._orders.total_s + self._remaining_s(job.queued_s) > _PRECEDED_WAIT_S:
            preceding_s = self._retries.preceding_s(client, job.connection, job.queued_s)
            if self._expected_wait_s(job, client) > max(MAX_EXPECTED_WAIT_S - preceding_s, _PRECEDED_WAIT_S):
                message = f"the order could not start within {MAX_EXPECTED_WAIT_S:g} seconds: too many are ahead of it"
                error = Overloaded(message, retry_after_s=self._retry_after_s(job), hint="retry later")
                raise refused(RefusalReason.EXPECTED_WAIT, error)
        self._retries.take(client, job.connection)

    def _retry_after_s(self, job: _Job[object]) -> int:
        """Return when a rejected order is due, in whole seconds."""
        if job.client is None:
            return 1
        now_s = self._timer_s()
        wait_s = self._expected_wait_s(job, job.client)
        return max(1, ceil(self._retries.refuse(job.client, job.connection, wait_s, job.expected_s, now_s)))

    def _expected_wait_s(self, job: _Job[object], client: str) -> float:
        """Return how long a client's order will wait if no other order arrives.

        It waits for everything ahead of it or, if a long order is running, until it may interrupt that order, and for
        cheaper orders that may do so first, which have half of the time.
        """
        now_s = self._timer_s()
        behind_s = self._remaining_s(now_s) + self._orders.wait_s(client, job.expected_s, now_s)
        inside_s = MIN_RATIO * job.expected_s + 2.0 * self._orders.cheaper_s(client, job.expected_s)
        return min(behind_s, inside_s)

    def _remaining_s(self, now_s: float) -> float:
        """Return the expected remaining time of the running orders."""
        remaining_s, inner_s = 0.0, 0.0
        for job in reversed(tuple(self._running)):
            if job.client is None:
                continue
            elapsed_s = now_s - job.started_s
            remaining_s += max(0.0, job.expected_s - (elapsed_s - job.paused_s - inner_s))
            inner_s = elapsed_s
        return remaining_s

    def _sweep_later(self, loop: asyncio.AbstractEventLoop) -> None:
        """Check soon for orders that have waited too long."""
        if self._sweeping is not loop:
            self._sweeping = loop
            loop.call_later(SWEEP_S, self._sweep, loop)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now_s = self._timer_s()
        with self._lock:
            expired = self._orders.remove_older(now_s - MAX_WAIT_S)
            late = [(job, self._retry_after_s(job)) for job in expired]
        for job, retry_after_s in late:
            self._on_wait(now_s - job.queued_s)
            message = f"the order waited for {MAX_WAIT_S:g} seconds: earlier orders take longer than expected"
            error = Overloaded(message, retry_after_s=retry_after_s, hint="retry later")
            job.fail(refused(RefusalReason.WAIT, error))
        self._sweeping = None
        if self._orders:
            self._sweep_later(loop)

    def _estimate(self, job: _Job[object]) -> None:
        """Set the expected time of a job. The service's own work does not interrupt orders."""
        if job.client is None:
            job.expected_s = inf
        else:
            job.expected_s, job.is_guess = self._costs.estimate(job.client, job.order_class)

    def _start(self) -> None:
        self._running, self._wakeups = [], SimpleQueue()
        self._thread = Thread(target=self._work, args=(self._wakeups, self._running), name="worker", daemon=True)
        self._thread.start()

    def replace_if_stuck(self, limit_s: float = STUCK_S) -> bool:
        """Replace the thread if its search is stuck. Return whether it was.

        Call this periodically on the event loop. The stuck order fails with `SearchStuck`, and the orders that it
        interrupted with `Overloaded`. The service's own work may take longer.
        """
        running, thread = self._running, self._thread
        if thread is None or not running or running[-1].client is None:
            return False
        if self._timer_s() - self._checked_s <= limit_s:
            return False
        self._stuck.append(thread)
        stuck = list(running)
        self._start()
        for job in stuck[:-1]:
            job.fail(_overloaded(RefusalReason.INTERRUPTED, 1))
        stuck[-1].fail(SearchStuck(f"a search has not responded for {limit_s:g} seconds"))
        with self._lock:
            waiting = len(self._orders) + len(self._urgent)
        for _ in range(waiting):
            self._wakeups.put(True)
        return True

    def _discard(self, job: _Job[object]) -> None:
        job.is_abandoned = True
        with self._lock:
            if not job.is_urgent:
                self._orders.remove(job.client, job)
            elif job in self._urgent:
                self._urgent.remove(job)

    def _work(self, wakeups: SimpleQueue[bool], running: list[_Job[object]]) -> None:
        while running is self._running and wakeups.get():
            with self._lock:
                job = self._urgent.popleft() if self._urgent else self._orders.pop(self._timer_s())
            if job is not None:
                self._run(job, running)

    def _run(self, job: _Job[object], running: list[_Job[object]]) -> None:
        if job.is_abandoned:
            return
        job.started_s = self._checked_s = self._timer_s()
        if job.client is not None:
            self._on_wait(job.started_s - job.queued_s)
        running.append(job)
        cpu_s = time.thread_time()
        is_answered = job.run(lambda: self._is_cancelled(job, running))
        cpu_s = time.thread_time() - cpu_s
        running.pop()
        now_s = self._timer_s()
        spent_s = now_s - job.started_s
        job.on_done(JobFigures(job.started_s - job.queued_s, spent_s, cpu_s - job.others_cpu_s))
        if running:
            running[-1].paused_s += spent_s
            running[-1].others_cpu_s += cpu_s
        if running is self._running:
            self._checked_s = now_s
        if job.client is not None:
            self._record(job, job.client, spent_s - job.paused_s, is_answered=is_answered)
        job.settle()

    def _record(self, job: _Job[object], client: str, spent_s: float, *, is_answered: bool) -> None:
        """Record the time of a job, which also updates the expected times of waiting orders in its class."""
        with self._lock:
            self._costs.record(client, job.order_class, spent_s, is_answered=is_answered)
            if job.order_class is None:
                return
            expected_s, _ = self._costs.estimate(client, job.order_class)
            changed = {}
            for waiting in self._orders:
                is_near = 0.5 * waiting.expected_s <= expected_s <= 2.0 * waiting.expected_s
                if waiting.order_class == job.order_class and (waiting.is_guess or not is_near):
                    waiting.expected_s, waiting.is_guess = expected_s, False
                    changed[waiting] = expected_s
            if changed:
                self._orders.set_costs(changed)

    def _is_cancelled(self, job: _Job[object], running: list[_Job[object]]) -> bool:
        """Return whether a job should end, after running jobs that should go before it. A search calls this every 0.1
        ms, so it must cost little while no order is waiting."""
        if running is not self._running:
            return True  # it was stuck, and another thread has replaced it
        self._checked_s = self._timer_s()
        # Without the lock: a job that arrives at this moment is found next time.
        while self._orders.cheapest_s < inf and not job.is_abandoned and len(running) < MAX_DEPTH:
            shorter = self._pop_shorter_job(job, running)
            if shorter is None:
                break
            self._run(shorter, running)
        return job.is_abandoned

    def _pop_shorter_job(self, job: _Job[object], running: list[_Job[object]]) -> _Job[object] | None:
        """Remove and return a waiting job that should run before `job` continues; None if there is none."""
        own_s = self._timer_s() - job.started_s - job.paused_s
        allowance_s = (own_s - job.paused_s) / MIN_RATIO
        if self._orders.cheapest_s >= allowance_s:
            return None
        allows_guess = allowance_s > UNKNOWN_COST_S and not any(each.is_guess for each in running[1:])
        with self._lock:
            return self._orders.pop_cheaper(allowance_s, lambda each: allows_guess or not each.is_guess)


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    """Work, and the future that its caller awaits on an event loop. Times are on the worker's timer."""

    work: Work[T]
    client: str | None = None
    order_class: OrderClass | None = None
    connection: Hashable = None
    is_urgent: bool = False
    on_done: Callable[[JobFigures], object] = _ignore
    context: Context = field(default_factory=copy_context)
    future: asyncio.Future[T] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    is_abandoned: bool = False
    expected_s: float = 0.0
    is_guess: bool = False
    queued_s: float = 0.0
    started_s: float = 0.0
    paused_s: float = 0.0
    others_cpu_s: float = 0.0
    _result: T | None = None
    _error: BaseException | None = None

    def run(self, is_cancelled: IsCancelled) -> bool:
        """Do the work; return whether it succeeded. `settle` then passes its result or error to the caller."""
        try:
            self._result = self.context.run(self.work, is_cancelled)
        except BaseException as error:
            self._error = error
        return self._error is None

    def settle(self) -> None:
        """Pass the result of the work, or its error, to the caller."""
        if self._error is None:
            self._settle(self.future.set_result, self._result)
        else:
            self.fail(self._error)

    def fail(self, error: BaseException) -> None:
        """Raise an error in the caller."""
        self._settle(self.future.set_exception, error)

    def _settle(self, settle: Callable[..., None], outcome: object) -> None:
        # A closed loop raises RuntimeError; no caller is waiting then.
        with suppress(RuntimeError):
            self.future.get_loop().call_soon_threadsafe(self._settle_on_loop, settle, outcome)

    def _settle_on_loop(self, settle: Callable[..., None], outcome: object) -> None:
        if not self.future.done():
            settle(outcome)


def _overloaded(reason: RefusalReason, retry_after_s: int) -> Overloaded:
    return refused(reason, Overloaded("too many orders at once", retry_after_s=retry_after_s, hint="retry in a moment"))


async def cancel_on_disconnect(work: asyncio.Future[T], disconnected: asyncio.Task[None]) -> T:
    """Return the result of `work`. If `disconnected` finishes first, cancel the work and raise `Cancelled`."""
    disconnected.add_done_callback(lambda _: work.cancel())
    try:
        return await work
    except asyncio.CancelledError:
        if not disconnected.done() or disconnected.cancelled():
            raise  # the caller was cancelled
        raise Cancelled("the client disconnected before the response") from None
    finally:
        work.cancel()
        disconnected.cancel()
