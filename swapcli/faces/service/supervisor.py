"""The parent of worker processes: it forks them, passes signals on, and replaces those that end.

If a worker ends, the parent replaces it after a pause, which doubles while replacements end early. If that continues,
the service finishes open requests and exits with an error, so that a service manager sees it. A worker that drains and
exits with 0 is replaced at once. A worker that hangs is killed and replaced.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, NoReturn

from swapcli.core.errors import UnhealthyError
from swapcli.core.records import NamedTuple
from swapcli.faces.service.parent_channel import ParentChannel, ParentMessage, WorkerChannel, open_channel
from swapcli.faces.service.server import GRACE_S
from swapcli.faces.service.worker_group import WorkerGroup
from swapcli.state.backoff import backoff_s

if TYPE_CHECKING:
    from types import FrameType

FIRST_PAUSE_S = 0.1
MAX_PAUSE_S = 5.0
EARLY_S = 5.0
"""A process that ends within this time has ended early. Starting takes less than a second."""
MAX_EARLY_ENDS = 8
"""Number of consecutive early ends of one process after which the service ends. With the pauses in between, this takes
11 seconds or more."""
KILL_AFTER_S = GRACE_S + 3.0
"""Time from the stop signal until remaining processes are killed. They need at most `GRACE_S`."""

HUNG_AFTER_S = 2.0 * GRACE_S
"""Time without a heartbeat after which a process is killed. A draining process has no heartbeat for `GRACE_S` or a
little more."""

_DEFECT = 70
"""The status `EX_SOFTWARE` from sysexits.h, for a worker that failed because of a defect."""
_POLL_S = 1.0


class ProcessPlan(NamedTuple):
    """A process to run. `run` is called in the new process with the channel to the parent, and returns its exit
    status."""

    name: str
    run: Callable[[ParentChannel], int]


class Supervisor:
    """The parent of several processes: the workers of `group` in slot order, followed by its helpers.

    `on_ready` is called once all processes are ready. `on_reload` is called after each SIGHUP, before the processes
    reload. If `is_terminal_gone` then returns True, all processes stop instead. `on_problem` receives the name of a
    process that has ended or could not be started, and the reason. `on_stop` is called at the stop signal.
    """

    def __init__(
        self,
        plans: Sequence[ProcessPlan],
        group: WorkerGroup,
        *,
        on_ready: Callable[[], None],
        on_reload: Callable[[], None],
        on_problem: Callable[[str, str], None],
        on_stop: Callable[[], None],
        is_terminal_gone: Callable[[], bool] | None = None,
    ) -> None:
        self._group, self._on_ready, self._on_reload, self._on_problem = group, on_ready, on_reload, on_problem
        self._on_stop, self._is_terminal_gone = on_stop, is_terminal_gone
        self._children = [_Child(slot, plan) for slot, plan in enumerate(plans)]
        self._signals: list[int] = []
        self._replaced = 0
        self._is_announced = False
        self._stop_s: float | None = None
        self._stops = 0
        self._failure: UnhealthyError | None = None
        self._checked_s = 0.0

    def run(self) -> None:
        """Run until SIGTERM or SIGINT arrives and all processes have ended.

        Raises `UnhealthyError` if a process repeatedly ends early.
        """
        with self._handle_signals() as wakeup:
            try:
                self._run(wakeup)
            finally:
                for child in self._children:
                    child.kill()
        if self._failure is not None:
            raise self._failure

    def _run(self, wakeup: int) -> None:
        while True:
            self._act_on_signals()
            self._reap()
            now_s = time.monotonic()
            self._kill_hung_processes(now_s)
            if self._stop_s is not None and not any(child.is_running for child in self._children):
                return
            for child in self._children:
                if self._stop_s is None and not child.is_running and now_s >= child.start_at_s:
                    self._start(child)
                elif self._stop_s is not None and now_s > self._stop_s + KILL_AFTER_S:
                    child.kill()
            self._wait(wakeup)

    def _start(self, child: _Child) -> None:
        try:
            child.start(self._children)
        except OSError as error:  # the system has no process, memory or file left, perhaps only for a moment
            child.plan_replacement(is_early=True)
            self._report(child, f"could not be started: {error.strerror}")

    def _wait(self, wakeup: int) -> None:
        """Wait for a signal, a child's message, or the time to start a child."""
        now_s = time.monotonic()
        waiting = [child for child in self._children if not child.is_running] if self._stop_s is None else []
        pauses_s = [child.start_at_s - now_s for child in waiting]
        running = {child.channel.fileno(): child for child in self._children if child.channel is not None}
        readable = wait([wakeup, *running], min([_POLL_S, *pauses_s]))
        if wakeup in readable:
            with suppress(BlockingIOError):
                os.read(wakeup, 1_024)
        for descriptor in running.keys() & readable:
            running[descriptor].read_channel()
        self._set_status()
        if not self._is_announced and all(child.is_ready for child in self._children):
            self._is_announced = True
            self._on_ready()

    def _set_status(self) -> None:
        live = sum(child.is_ready for child in self._children[: self._group.size])
        status = self._group.status
        if (live, self._replaced) != (status.live, status.replaced):
            self._group.set_status(live, self._replaced)

    def _act_on_signals(self) -> None:
        while self._signals:
            number = self._signals.pop(0)
            if number in (signal.SIGTERM, signal.SIGINT):
                self._stops += 1
                self._stop(ParentMessage.STOP if self._stops == 1 else ParentMessage.STOP_NOW)
            elif number == signal.SIGHUP and self._is_terminal_gone is not None and self._is_terminal_gone():
                self._stop(ParentMessage.STOP)
            elif number == signal.SIGHUP:
                self._on_reload()
                self._send(ParentMessage.RELOAD)

    def _stop(self, message: ParentMessage) -> None:
        if self._stop_s is None:
            self._stop_s = time.monotonic()
            self._on_stop()
        self._send(message)

    def _send(self, message: ParentMessage) -> None:
        for child in self._children:
            if child.channel is not None:
                child.channel.send(message)

    def _kill_hung_processes(self, now_s: float) -> None:
        """Kill processes that had no heartbeat for `HUNG_AFTER_S` while this process was running."""
        paused_s = max(0.0, now_s - self._checked_s - 2.0 * _POLL_S)
        self._checked_s = now_s
        for child in self._children:
            if not child.is_ready:
                continue
            child.record_heartbeat(self._group.heartbeat(child.slot), now_s, paused_s)
            if now_s - child.last_heartbeat_s > HUNG_AFTER_S:
                child.kill_hung()

    def _reap(self) -> None:
        """Plan the replacement of processes that have ended."""
        for child in self._children:
            status = child.poll()
            if status is None:
                continue
            self._group.remove_member(child.slot)
            if self._stop_s is None:
                self._replaced += child.slot < self._group.size
                child.plan_replacement(is_early=status != 0 and child.is_young)
                self._report(child, child.hang or _describe_end(status))
        self._set_status()

    def _report(self, child: _Child, problem: str) -> None:
        """Report why a process has ended; stop all processes if it has ended early too often."""
        self._on_problem(child.plan.name, problem)
        if child.early_ends >= MAX_EARLY_ENDS:
            self._failure = UnhealthyError(
                f"{child.plan.name} exited {child.early_ends} times within {EARLY_S:g} seconds of its start; the last"
                f" time it {problem}",
                hint="earlier log lines may give the reason",
            )
            self._stop(ParentMessage.STOP)

    @contextmanager
    def _handle_signals(self) -> Iterator[int]:
        """Collect signals, and provide a file descriptor that is readable when there are any."""
        read_end, write_end = os.pipe()
        os.set_blocking(read_end, False)
        os.set_blocking(write_end, False)
        numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
        before = {number: signal.signal(number, self._record_signal) for number in numbers}
        wakeup_before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        try:
            yield read_end
        finally:
            signal.set_wakeup_fd(wakeup_before)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(read_end)
            os.close(write_end)

    def _record_signal(self, number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGCHLD:
            self._signals.append(number)


class _Child:
    """One of the processes, and its replacements."""

    def __init__(self, slot: int, plan: ProcessPlan) -> None:
        self.slot, self.plan = slot, plan
        self.channel: WorkerChannel | None = None
        self.is_ready = False
        self.early_ends = 0
        self.start_at_s = 0.0
        self.last_heartbeat_s = 0.0
        self.hang = ""
        self._heartbeat: int | None = None
        self._pid: int | None = None
        self._started_s = 0.0

    @property
    def is_running(self) -> bool:
        return self._pid is not None

    @property
    def is_young(self) -> bool:
        return time.monotonic() - self._started_s < EARLY_S

    def start(self, children: Sequence[_Child]) -> None:
        """Fork the process, which does not inherit other processes' channels. Raises `OSError`."""
        ours, theirs = open_channel()
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            pid = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            raise
        if not pid:
            _run_child(self.plan, theirs, [ours, *(each.channel for each in children if each.channel is not None)])
        theirs.close()
        self._pid, self.channel, self.is_ready, self._started_s = pid, ours, False, time.monotonic()
        self._heartbeat, self.hang = None, ""

    def read_channel(self) -> None:
        """Read whether the process is ready; at the end of the channel, stop watching it."""
        assert self.channel is not None
        if self.channel.receive_ready():
            self.is_ready = True
        else:
            self.channel.close()
            self.channel = None

    def record_heartbeat(self, heartbeat: int, now_s: float, paused_s: float) -> None:
        """Record the current heartbeat; `paused_s` since the last call do not count, because all processes were
        paused."""
        if heartbeat == self._heartbeat:
            self.last_heartbeat_s += paused_s
        else:
            self._heartbeat, self.last_heartbeat_s = heartbeat, now_s

    def kill_hung(self) -> None:
        """Kill a hanging process; `poll` then returns its status."""
        if self._pid is not None and not self.hang:
            self.hang = f"did not respond for {HUNG_AFTER_S:g} seconds and was killed"
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def poll(self) -> int | None:
        """Return the status of a process that has ended since the last call, as `waitpid` does."""
        if self._pid is None:
            return None
        try:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
        except ChildProcessError:
            pid, status = self._pid, 0
        if not pid:
            return None
        self._pid, self.is_ready = None, False
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        return status

    def plan_replacement(self, *, is_early: bool) -> None:
        """Set when the process starts again."""
        self.early_ends = self.early_ends + 1 if is_early else 0
        pause_s = backoff_s(self.early_ends, FIRST_PAUSE_S, MAX_PAUSE_S) if is_early else 0.0
        self.start_at_s = time.monotonic() + pause_s

    def kill(self) -> None:
        """Kill the process, if it is running, and wait for its end."""
        if self._pid is not None:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
            self._pid = None


def _run_child(plan: ProcessPlan, parent: ParentChannel, inherited: Sequence[WorkerChannel]) -> NoReturn:
    """Run a process to its end, without the parent's exit handlers and channels."""
    status = _DEFECT
    try:
        for channel in inherited:
            channel.close()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGHUP):  # the parent passes on their meaning
            signal.signal(number, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        status = plan.run(parent)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(status)


def _describe_end(status: int) -> str:
    """Return how a process has ended, to follow its name in a sentence."""
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return "shut down cleanly"
    if code > 0:
        return f"failed with exit status {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
