"""Announcements of blocks between processes: they wake readers, are never waited for, and survive a reader's end."""

from __future__ import annotations

import gc
import os
import resource
import time
from threading import Timer

from swapcli.faces.service.store_announcements import BlockAnnouncements, WriterState
from swapcli.state.rpc.head_source import FollowMode

LONG_S = 20.0


def waited_s(announcements: BlockAnnouncements, slot: int = 0, *, network: str = "base", pause_s: float) -> float:
    """Return how long a new reader in a slot waits for the next announcement."""
    heads = announcements.heads(network, slot, poll_s=LONG_S)
    started_s = time.monotonic()
    heads.wait(pause_s)
    return time.monotonic() - started_s


def test_an_announcement_wakes_each_reader_once() -> None:
    announcements = BlockAnnouncements(["base", "monad"], workers=2)
    announcements.announce("base")
    for slot in range(2):
        assert waited_s(announcements, slot, pause_s=LONG_S) < LONG_S / 2
        assert waited_s(announcements, slot, pause_s=0.05) >= 0.05
        assert waited_s(announcements, slot, network="monad", pause_s=0.05) >= 0.05


def test_readers_that_read_nothing_do_not_block_the_writer() -> None:
    announcements = BlockAnnouncements(["base"], workers=1)
    for _ in range(100_000):
        announcements.announce("base")
    assert waited_s(announcements, pause_s=LONG_S) < LONG_S / 2


def test_a_stop_ends_each_wait() -> None:
    heads = BlockAnnouncements(["base"], workers=1).heads("base", 0, poll_s=LONG_S / 2)
    started_s = time.monotonic()
    stopping = Timer(0.05, heads.stop)
    stopping.start()
    heads.wait(LONG_S)  # after a failure, when announcements wait for `poll_s`
    heads.wait(LONG_S / 2)
    stopping.join()
    assert time.monotonic() - started_s < LONG_S / 4


def test_other_processes_see_announcements_and_states() -> None:
    announcements = BlockAnnouncements(["base"], workers=1)
    assert announcements.state("base") == WriterState()
    child = os.fork()
    if not child:
        announcements.set_state("base", WriterState(FollowMode.SUBSCRIPTION, "reading", True, -30.5))
        announcements.announce("base")
        os._exit(0)
    assert waited_s(announcements, pause_s=LONG_S) < LONG_S / 2
    os.waitpid(child, 0)
    assert announcements.state("base") == WriterState(FollowMode.SUBSCRIPTION, "reading", True, -30.5)
    heads = announcements.heads("base", 0, LONG_S)
    assert (heads.mode, heads.clock_offset_s) == (FollowMode.SUBSCRIPTION, -30.5)


def test_many_workers_follow_many_networks() -> None:
    """128 workers on 5 networks have more pipes than the 1,024 files that `select.select` takes."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (2_048, limits[1]))
    try:
        networks = [f"network-{number}" for number in range(5)]
        gc.collect()  # closes files of other tests
        before = len(os.listdir("/proc/self/fd"))
        announcements = BlockAnnouncements(networks, workers=128)
        announcements.close_others(127)
        # Threads of other tests may still open and close some.
        assert 0 <= len(os.listdir("/proc/self/fd")) - before - 2 * len(networks) + 20 <= 40
        files = [os.dup(0) for _ in range(1_100)]
        heads = announcements.heads(networks[-1], 127, poll_s=LONG_S)
        for file in files:
            os.close(file)
        announcements.announce(networks[-1])
        started_s = time.monotonic()
        heads.wait(LONG_S)
        assert time.monotonic() - started_s < LONG_S / 2
    finally:
        announcements.close_others(-1)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
