"""The parent of processes: it waits without work, and copes with a system that cannot fork."""

from __future__ import annotations

import gc
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from threading import Timer

import pytest

from swapcli.core.errors import UnhealthyError
from swapcli.faces.service import supervisor
from swapcli.faces.service.parent_channel import ParentChannel
from swapcli.faces.service.supervisor import ProcessPlan, Supervisor
from swapcli.faces.service.worker_group import WorkerGroup

DRAIN_S = 0.5


def stop_after(pause_s: float) -> Callable[[ParentChannel], int]:
    """A process that ends so long after the parent says stop."""

    def run(parent: ParentChannel) -> int:
        parent.report_ready()
        wait([parent.fileno()], None)
        time.sleep(pause_s)
        return 0

    return run


def run_supervisor(
    *runs: Callable[[ParentChannel], int], on_ready: Callable[[], None], group: WorkerGroup | None = None
) -> list[tuple[str, str]]:
    """Run processes until they are stopped; return the problems that there were."""
    plans = [ProcessPlan(f"worker {slot}", run) for slot, run in enumerate(runs)]
    problems: list[tuple[str, str]] = []
    Supervisor(
        plans,
        group or WorkerGroup(len(plans)),
        on_ready=on_ready,
        on_reload=lambda: None,
        on_problem=lambda *problem: problems.append(problem),
        on_stop=lambda: None,
    ).run()
    return problems


def stop_this_process() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.fixture
def deadline() -> Iterator[None]:
    """Stops the supervisor if the test would wait forever."""
    timer = Timer(20.0, stop_this_process)
    timer.start()
    yield
    timer.cancel()


@pytest.mark.usefixtures("deadline")
def test_the_parent_is_idle_while_workers_drain() -> None:
    def cpu_s() -> float:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    started_s = 0.0

    def stop() -> None:
        nonlocal started_s
        started_s = cpu_s()
        stop_this_process()

    run_supervisor(stop_after(0.0), stop_after(DRAIN_S), on_ready=stop)
    assert cpu_s() - started_s < DRAIN_S / 3


@pytest.mark.usefixtures("deadline")
def test_a_failing_fork_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fork, failures = os.fork, iter([OSError(11, "Resource temporarily unavailable")])

    def fork_later() -> int:
        for error in failures:
            raise error
        return fork()

    monkeypatch.setattr(os, "fork", fork_later)
    is_ready = False

    def stop() -> None:
        nonlocal is_ready
        is_ready = True
        stop_this_process()

    problems = run_supervisor(stop_after(0.0), on_ready=stop)
    assert is_ready
    assert problems == [("worker 0", "could not be started: Resource temporarily unavailable")]


@pytest.mark.usefixtures("deadline")
def test_a_fork_that_always_fails_ends_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", fail)
    monkeypatch.setattr(supervisor, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(supervisor, "MAX_PAUSE_S", 0.01)
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(UnhealthyError, match="could not be started: Resource temporarily unavailable"):
        run_supervisor(stop_after(0.0), on_ready=lambda: None)
    gc.collect()  # the error and the supervisor refer to each other
    assert len(os.listdir("/proc/self/fd")) == descriptors


@pytest.mark.usefixtures("deadline")
def test_a_worker_that_always_ends_lets_the_others_drain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(supervisor, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(supervisor, "MAX_PAUSE_S", 0.01)
    drained = tmp_path / "drained"

    def drain(parent: ParentChannel) -> int:
        stop_after(0.1)(parent)
        drained.touch()
        return 0

    with pytest.raises(UnhealthyError, match=r"worker 1 exited 8 times .* the last time it failed with exit status 3"):
        run_supervisor(drain, lambda _: 3, on_ready=lambda: None)
    assert drained.exists()


@pytest.mark.usefixtures("deadline")
def test_a_worker_that_hangs_is_killed_and_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(supervisor, "HUNG_AFTER_S", 0.5)
    monkeypatch.setattr(supervisor, "_POLL_S", 0.05)
    group, stopped = WorkerGroup(2), tmp_path / "stopped"

    def work(slot: int, parent: ParentChannel) -> int:
        parent.report_ready()
        if slot == 0 and stopped.exists():
            os.kill(os.getppid(), signal.SIGTERM)
        while not wait([parent.fileno()], 0.02):
            group.publish_metrics(slot, [])
            if slot == 0 and not stopped.exists():
                stopped.touch()
                os.kill(os.getpid(), signal.SIGSTOP)
        return 0

    problems = run_supervisor(partial(work, 0), partial(work, 1), on_ready=lambda: None, group=group)
    assert problems == [("worker 0", "did not respond for 0.5 seconds and was killed")]


@pytest.mark.usefixtures("deadline")
def test_a_pause_of_all_processes_is_no_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "HUNG_AFTER_S", 0.5)
    monkeypatch.setattr(supervisor, "_POLL_S", 0.05)
    group = WorkerGroup(1)

    def work(parent: ParentChannel) -> int:
        parent.report_ready()
        is_stopping = False
        while not is_stopping:
            group.publish_metrics(0, [])
            is_stopping = bool(wait([parent.fileno()], 0.2))
        return 0

    def pause_then_stop() -> None:
        time.sleep(0.3)
        monkeypatch.setattr(time, "monotonic", lambda: real() + 100.0)  # as after a suspended machine
        Timer(0.8, stop_this_process).start()

    real = time.monotonic
    assert run_supervisor(work, on_ready=pause_then_stop, group=group) == []


@pytest.mark.usefixtures("deadline")
def test_the_parent_may_have_many_open_files() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (2_048, limits[1]))
    files = [os.dup(0) for _ in range(1_100)]
    try:
        assert run_supervisor(stop_after(0.0), on_ready=stop_this_process) == []
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.usefixtures("deadline")
@pytest.mark.parametrize(
    ("end", "words"),
    [
        (lambda: 0, "shut down cleanly"),
        (lambda: 3, "failed with exit status 3"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "was killed by SIGKILL"),
    ],
)
def test_the_log_says_how_a_process_ended(end: Callable[[], int], words: str, tmp_path: Path) -> None:
    ended = tmp_path / "ended"

    def work(parent: ParentChannel) -> int:
        if not ended.exists():
            ended.touch()
            return end()
        return stop_after(0.0)(parent)

    assert run_supervisor(work, on_ready=stop_this_process) == [("worker 0", words)]
