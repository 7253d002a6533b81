"""Decide when to look for a new block: after a while, or when a node announces one.

A head source only says when to look. The reader of the chain finds out what is new, and whether a block still belongs
to the chain. So a lost announcement costs time but never gives a wrong result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import StrEnum
from threading import Condition, Event
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from swapcli.state.rpc.node import BlockHeader

_FIRST_LAG_PAUSE_S: Final = 0.02
"""Pause before the second query of a node that does not have an announced block yet: nodes of one provider differ by
some tens of milliseconds."""
_SILENT_PERIODS: Final = 5
_MIN_SILENCE_S: Final = 10.0
"""A subscription without a block for this many block times, and at least this long, may be dead."""


MIN_POLL_S: Final = 1.0
MAX_POLL_S: Final = 15.0
_BLOCK_TIME_S: Final = MIN_POLL_S
"""Assumed for networks without a known block time: a longer time would skip blocks."""


_MIN_BLOCK_TIME_S: Final = 0.1
"""Networks take a fifth of a second or more per block; the blocks of a local chain may come in bursts."""
_MEASURED_BLOCKS: Final = 16
"""Blocks whose numbers and times determine the time between blocks."""
_EARLIER: Final = 0.125
"""Fraction of the time between blocks by which a query is early, and the first pause after one that found no block."""
_MIN_PAUSE_S: Final = 0.01  # keeps the loop from running without a pause
POLLING_HINT: Final = "polling the node when its next block is due; a ws:// or wss:// node is faster"
"""A hint for users of nodes without subscriptions."""


def poll_interval_s(block_time_s: float | None) -> float:
    """Return the seconds until the network's next block is expected."""
    return min(max(block_time_s or _BLOCK_TIME_S, MIN_POLL_S), MAX_POLL_S)


class FollowMode(StrEnum):
    """How a follower learns of new blocks."""

    SUBSCRIPTION = "subscription"
    POLLING = "polling"
    FEED = "feed"
    """From the feed of another process, without a node."""


class HeadSource(Protocol):
    """Wakes a chain's follower when there may be a new block."""

    @property
    def mode(self) -> FollowMode:
        """The way in which new blocks are currently found."""

    @property
    def poll_s(self) -> float:
        """The usual pause in seconds between two queries if there is no subscription."""

    @property
    def problem(self) -> str | None:
        """Why an expected subscription is missing, for messages."""

    @property
    def hint(self) -> str | None:
        """A hint for the user on how to find blocks sooner; None if blocks are announced."""

    def wait(self, pause_s: float, reached: int | None = None) -> None:
        """Return when there may be a new block, or after `pause_s` if there is no subscription.

        `reached` is the number of the follower's latest block, if any. A `pause_s` above `poll_s` means that the last
        attempt failed. A new block then ends the pause, but not before `poll_s`.
        """

    def stop(self) -> None:
        """End the current wait and all later waits immediately. Any thread may call it."""

    def close(self) -> None:
        """Close every connection that the source has opened. Any thread may call it."""


class HeadConnection(Protocol):
    """A connection with a subscription to new blocks. Any thread may use it."""

    def open(self) -> None:
        """Start to connect, and return without waiting."""

    def restart(self) -> None:
        """Close the connection and start to open another, and return without waiting."""

    def close(self) -> None:
        """Close the connection."""


class PollingHeads:
    """Looks for a new block when the next one is due, judging by the times of earlier blocks.

    `poll_s` is the time between blocks: first the network's usual time, later the measured one. The source looks a
    little early, so that it catches blocks as they appear, and soon looks again if there is none yet. While no blocks
    appear, the pauses grow, up to the longer of the usual and the measured time. No pause is shorter than `min_poll_s`.
    """

    mode = FollowMode.POLLING
    problem = None

    def __init__(
        self,
        poll_s: float,
        *,
        hint: str | None = None,
        timer_s: Callable[[], float] = monotonic,
        min_poll_s: float = 0.0,
    ) -> None:
        self._min_poll_s = min_poll_s
        self._nominal_s, self.poll_s, self.hint, self._timer_s = poll_s, poll_s, hint, timer_s
        self._found: deque[tuple[float, int]] = deque(maxlen=_MEASURED_BLOCKS)
        self._looked_at_s = timer_s()
        self._empty_looks = 0
        self._woken, self._is_stopped = Event(), False

    def wait(self, pause_s: float, reached: int | None = None) -> None:
        """Same as `HeadSource.wait`."""
        has_failed = pause_s > self.poll_s
        self._woken.wait(
            pause_s if has_failed or reached is None else max(self._pause_after(reached), self._min_poll_s)
        )
        if not self._is_stopped:
            self._woken.clear()
        self._looked_at_s = self._timer_s()

    def _pause_after(self, reached: int) -> float:
        """Return the pause after finding block `reached`, or after finding no block above it."""
        if self._found and reached == self._found[-1][1]:
            self._empty_looks += 1
            pause_s = self.poll_s * _EARLIER * 2.0 ** (self._empty_looks - 1)
            return min(max(pause_s, _MIN_PAUSE_S), max(self.poll_s, self._nominal_s))
        if self._found and reached < self._found[-1][1]:
            self._found.clear()  # another chain's numbers, or a shorter branch
        # Without an earlier query that found nothing, the block's age is unknown.
        early = _EARLIER if self._empty_looks else 2.0 * _EARLIER
        self._empty_looks = 0
        if not self._found:  # this object may be older than this forked process
            self._looked_at_s = self._timer_s()
        self._found.append((self._looked_at_s, reached))
        first_s, first = self._found[0]
        if reached > first:
            self.poll_s = min(max((self._looked_at_s - first_s) / (reached - first), _MIN_BLOCK_TIME_S), MAX_POLL_S)
        due_s = self._looked_at_s + self.poll_s * (1.0 - early)
        return max(due_s - self._timer_s(), _MIN_PAUSE_S)

    def wake(self) -> None:
        """End the current wait, or the next one if there is none. Any thread may call it."""
        self._woken.set()

    def stop(self) -> None:
        """Same as `HeadSource.stop`."""
        self._is_stopped = True
        self._woken.set()

    def close(self) -> None:
        """Same as `HeadSource.close`."""


class SubscribedHeads:
    """Wakes a follower as soon as a node announces a block.

    The `record_*` methods report events in the subscription, and may be called from any thread. Before the first
    announcement, while there is no connection, and after a long silence, the source polls instead. The first wait opens
    the connection.
    """

    def __init__(self, poll_s: float) -> None:
        self.poll_s = poll_s
        self.problem: str | None = None
        self.hint: str | None = None
        self._connection: HeadConnection | None = None
        self._changed = Condition()
        self._events = self._handled = self._heads = 0
        self._announced = -1
        self._header: BlockHeader | None = None
        self._lag_pause_s = 0.0
        self._is_open = self._is_live = self._had_head = self._is_stopped = False

    @property
    def mode(self) -> FollowMode:
        """Same as `HeadSource.mode`."""
        return FollowMode.SUBSCRIPTION if self._is_live else FollowMode.POLLING

    def attach(self, connection: HeadConnection) -> None:
        """Set the connection whose subscription announces the blocks."""
        self._connection = connection

    @property
    def announced(self) -> BlockHeader | None:
        """The newest announced block; None if there is no subscription."""
        return self._header if self._is_live else None

    def record_head(self, number: int, header: BlockHeader | None = None) -> None:
        """Report that a block was announced."""
        with self._changed:
            self._header = header
            self._is_live = self._had_head = True
            self._announced, self._lag_pause_s = number, _FIRST_LAG_PAUSE_S
            self._heads += 1
            self._add_event()

    def record_connection(self, problem: str | None) -> None:
        """Report that a connection was opened. `problem` is the reason if it will not announce blocks."""
        self._reset(problem, is_open=True)

    def record_loss(self, problem: str) -> None:
        """Report that the connection was lost or could not be opened, with the reason in `problem`."""
        self._reset(problem, is_open=False)

    def _reset(self, problem: str | None, *, is_open: bool) -> None:
        """Go back to polling until the next announcement, and read now what was missed in the meantime."""
        with self._changed:
            has_changed, self._is_open = self._is_open != is_open, is_open
            self.problem = problem
            self._is_live = self._had_head = False
            self._announced = -1
            if has_changed:
                self._add_event()

    def wait(self, pause_s: float, reached: int | None = None) -> None:
        """Same as `HeadSource.wait`."""
        if self._connection:
            self._connection.open()
        with self._changed:
            if pause_s > self.poll_s:
                heads = self._heads
                self._changed.wait_for(lambda: self._is_stopped, self.poll_s)
                self._changed.wait_for(lambda: self._is_stopped or self._heads > heads, pause_s - self.poll_s)
                self._handled = self._events
                return
            if not self._is_live:
                is_behind = self._had_head and reached is not None and reached > self._announced
                if not self._wait_for_event(pause_s) and is_behind:
                    self._had_head = False
                    if self._connection:
                        self._connection.restart()
                return
            if reached is not None and reached < self._announced:
                pause_s = self._lag_pause_s
                self._lag_pause_s = min(2 * self._lag_pause_s, self.poll_s)
                self._wait_for_event(pause_s)
                return
            if not self._wait_for_event(max(_SILENT_PERIODS * self.poll_s, _MIN_SILENCE_S)):
                self._is_live = False

    def wake(self) -> None:
        """End the current wait, or the next one if there is none. Any thread may call it."""
        with self._changed:
            self._add_event()

    def stop(self) -> None:
        """Same as `HeadSource.stop`."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def close(self) -> None:
        """Same as `HeadSource.close`."""
        if self._connection:
            self._connection.close()

    def _wait_for_event(self, limit_s: float) -> bool:
        """Wait for an event after the one that ended the last wait. Return whether there is one."""
        has_event = self._changed.wait_for(lambda: self._is_stopped or self._events > self._handled, limit_s)
        self._handled = self._events
        return has_event

    def _add_event(self) -> None:
        self._events += 1
        self._changed.notify_all()
