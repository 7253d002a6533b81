"""Announcements of new blocks in stores, from the process that writes them to the workers that read them.

Everything is created before the processes are forked. An announcement only says when to look: a lost one costs time.
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
    """How a store is written: how new blocks are found and, if the store does not exist yet, why.

    `clock_offset_s` is as in `KnowsTime`, from the writer's node. `path` is the path of the store, empty before it is
    written. `node` is the index of the node that the writer reads.
    """

    mode: FollowMode = FollowMode.POLLING
    status: str = ""
    is_failing: bool = False
    clock_offset_s: float = 0.0
    path: str = ""
    node: int = 0


class BlockAnnouncements:
    """The announcements of the stores of `networks` to a number of workers."""

    def __init__(self, networks: Iterable[str], workers: int) -> None:
        names = list(networks)
        self._states = {name: SharedDocument(_STATE_BYTES) for name in names}
        self._pipes = {(name, slot): _Pipe() for name in names for slot in range(workers)}

    def close_others(self, slot: int) -> None:
        """In a worker's process, close the pipes of the other workers: it needs its files for connections."""
        for key in [key for key in self._pipes if key[1] != slot]:
            self._pipes.pop(key).close()

    def announce(self, network: str) -> None:
        """Announce a block to all workers."""
        for (name, _), pipe in self._pipes.items():
            if name == network:
                pipe.write()

    def set_state(self, network: str, state: WriterState) -> None:
        """Set how a network's store is written. Only the writer calls this."""
        self._states[network].write(msgspec.json.encode(state))

    def state(self, network: str) -> WriterState:
        """Return how a network's store is written."""
        content = self._states[network].read()
        return msgspec.json.decode(content, type=WriterState) if content else WriterState()

    def heads(self, network: str, slot: int, poll_s: float) -> AnnouncedHeads:
        """Return a worker's head source."""
        return AnnouncedHeads(self, network, self._pipes[network, slot], poll_s)


class AnnouncedHeads:
    """Wakes a follower when the writer of its store announces a block, and after each pause."""

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
        """Like `KnowsTime.clock_offset_s`, as shown by the writer's nodes."""
        return self._announcements.state(self._network).clock_offset_s

    @property
    def node(self) -> int:
        """The index of the node that the writer reads."""
        return self._announcements.state(self._network).node

    def wait(self, pause_s: float, reached: int | None = None) -> None:
        """Like `HeadSource.wait`."""
        del reached
        if pause_s > self.poll_s:  # after a failure
            self._is_stopped.wait(self.poll_s)
            pause_s -= self.poll_s
        wait([self._pipe.read_end, self._wakeup.read_end], pause_s)
        self._pipe.drain()

    def stop(self) -> None:
        """Like `HeadSource.stop`."""
        self._is_stopped.set()
        self._wakeup.write()

    def close(self) -> None:
        """Like `HeadSource.close`; everything it opened ends with the process."""


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
