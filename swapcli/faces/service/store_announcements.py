"""Announcements of new blocks in stores, from the process that writes them to the workers that read them.

All pipes and shared memory are created before the processes are forked. An announcement only tells a worker when to
look, so a lost one only costs time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.connection import wait
from threading import Event

import msgspec

from swapcli.core.records import NamedTuple
from swapcli.faces.service.shared_memory import SharedDocument
from swapcli.state.rpc.head_source import FollowMode

_STATE_BYTES = 1_024
_ANNOUNCEMENT = b"!"


class WriterState(NamedTuple):
    """How a store is written: how new blocks are found and, if the store does not exist yet, the reason.

    `clock_offset_s` is the same as in `KnowsTime`, from the writer's node. `path` is the path of the store, or empty
    before it is written. `node` is the index of the node that the writer reads.
    """

    mode: FollowMode = FollowMode.POLLING
    status: str = ""
    is_failing: bool = False
    clock_offset_s: float = 0.0
    path: str = ""
    node: int = 0


class BlockAnnouncements:
    """Announcements about the stores of `networks`, for a number of workers."""

    def __init__(self, networks: Iterable[str], workers: int) -> None:
        names = list(networks)
        self._states = {name: SharedDocument(_STATE_BYTES) for name in names}
        self._pipes = {(name, slot): _Pipe() for name in names for slot in range(workers)}

    def close_others(self, slot: int) -> None:
        """Close the pipes of the other workers, in the process of the worker at `slot`, which needs file descriptors
        for connections."""
        for key in [key for key in self._pipes if key[1] != slot]:
            self._pipes.pop(key).close()

    def announce(self, network: str) -> None:
        """Announce a new block in a network's store to all workers."""
        for (name, _), pipe in self._pipes.items():
            if name == network:
                pipe.write()

    def set_state(self, network: str, state: WriterState) -> None:
        """Set how a network's store is written. Call this only in the writer."""
        self._states[network].write(msgspec.json.encode(state))

    def state(self, network: str) -> WriterState:
        """Return how a network's store is written."""
        content = self._states[network].read()
        return msgspec.json.decode(content, type=WriterState) if content else WriterState()

    def heads(self, network: str, slot: int, poll_s: float) -> AnnouncedHeads:
        """Return the head source for the worker at `slot`."""
        return AnnouncedHeads(self, network, self._pipes[network, slot], poll_s)


class AnnouncedHeads:
    """A head source that wakes a follower when the writer of its store announces a block, and after each pause."""

    problem = None
    hint = None

    def __init__(self, announcements: BlockAnnouncements, network: str, pipe: _Pipe, poll_s: float) -> None:
        self._announcements, self._network, self._pipe, self.poll_s = announcements, network, pipe, poll_s
        self._wakeup = _Pipe()
        self._is_stopped = Event()

    @property
    def mode(self) -> FollowMode:
        """How the writer finds new blocks."""
        return self._announcements.state(self._network).mode

    @property
    def clock_offset_s(self) -> float:
        """Same as `KnowsTime.clock_offset_s`, from the writer's node."""
        return self._announcements.state(self._network).clock_offset_s

    @property
    def node(self) -> int:
        """The index of the node that the writer reads."""
        return self._announcements.state(self._network).node

    def wait(self, pause_s: float, reached: int | None = None) -> None:
        """Same as `HeadSource.wait`."""
        del reached
        if pause_s > self.poll_s:  # after a failure
            self._is_stopped.wait(self.poll_s)
            pause_s -= self.poll_s
        wait([self._pipe.read_end, self._wakeup.read_end], pause_s)
        self._pipe.drain()

    def stop(self) -> None:
        """Same as `HeadSource.stop`."""
        self._is_stopped.set()
        self._wakeup.write()

    def close(self) -> None:
        """Same as `HeadSource.close`. The pipes stay open until the process ends."""


class _Pipe:
    """A pipe that is readable after a write."""

    def __init__(self) -> None:
        self.read_end, self._write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        os.set_blocking(self._write_end, False)

    def write(self) -> None:
        with suppress(BlockingIOError):  # it is already readable
            os.write(self._write_end, _ANNOUNCEMENT)

    def close(self) -> None:
        os.close(self.read_end)
        os.close(self._write_end)

    def drain(self) -> None:
        with suppress(BlockingIOError):
            os.read(self.read_end, 65_536)
