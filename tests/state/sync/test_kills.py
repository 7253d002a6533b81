"""A sync killed at any time, and several syncs at once, leave one whole block of the chain in the store."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from traceback import print_exc
from typing import NamedTuple

import pytest

from swapcli.core.errors import ConfigError, UpstreamError
from swapcli.state.clock import Clock
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.sync import SyncFilter, follow, sync
from tests.chain.sync.expected_state import check_true, followed, store_at, synced
from tests.chain.sync.factory_chain import TestChain
from tests.chain.sync.nodes import LockedNode, turn
from tests.examples import examples
from tests.state.store.build import is_sound
from tests.support.chain import connected, restored

EVEN_CLOCK = Clock(time.time, count().__next__)
"""Every step takes a second by this clock, so that batches stay small."""
KILLS = examples(3, full=50)
POOLS = 40


class Alarm(NamedTuple):
    """The time at which a process ends itself: so many seconds after it has stored so many batches."""

    batches: int
    delay_s: float


def work(path: Path, local_chain: TestChain, alarm: Alarm | None) -> None:
    """Sync in small batches, then follow, until the process is killed or its parent has ended."""
    parent = os.getppid()
    stored = 0
    with connected(local_chain.chain) as made:
        node = LockedNode(made, path.with_suffix(".lock"))
        while os.getppid() == parent:
            try:
                with store_at(path, local_chain.network) as store:
                    for _ in sync(store, node, SyncFilter(), EVEN_CLOCK, batch_size=3):
                        stored += 1
                        if alarm and stored == alarm.batches:
                            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # not that of the test's own timeout
                            signal.setitimer(signal.ITIMER_REAL, alarm.delay_s)
                    while os.getppid() == parent:
                        follow(store, node)
            except (ConfigError, UpstreamError):
                continue  # another one was writing, or the chain never came to rest


def start(path: Path, local_chain: TestChain, alarm: Alarm | None = None) -> int:
    """A process of its own that works; nothing is open that it could share."""
    child = os.fork()
    if child == 0:
        try:
            work(path, local_chain, alarm)
        except BaseException:
            print_exc()
        finally:
            os._exit(1)
    return child


def use(local_chain: TestChain, rng: Random, path: Path) -> None:
    with turn(path.with_suffix(".lock")):
        local_chain.use(rng)


def end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGALRM), "it was still at work"


def wait_for_end(child: int, limit_s: float) -> None:
    """Wait until a process has ended; one that finds nothing more to store has no alarm."""
    end_s = time.monotonic() + limit_s
    while not os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) and time.monotonic() < end_s:
        time.sleep(0.005)


@pytest.fixture(scope="module")
def prepared_chain(factory_chain: TestChain) -> Iterator[TestChain]:
    rng = Random("town")
    with restored(factory_chain) as local_chain:
        for _ in range(POOLS):
            local_chain.create_pool(rng)
        yield local_chain


@pytest.mark.slow
def test_a_killed_sync_leaves_one_whole_block(local_chain: TestChain, node: RpcNode, tmp_path: Path) -> None:
    path, rng = tmp_path / "store", Random("kills")
    heads: list[int] = []
    sizes: list[int] = []
    with store_at(tmp_path / "measured", local_chain.network) as store:
        started_s = time.monotonic()
        synced(store, node)
        sync_s = time.monotonic() - started_s
    for number in range(KILLS):
        if number < KILLS // 3:
            child = start(path, local_chain, Alarm(rng.randint(1, 4), rng.uniform(0.0001, 0.002)))
            wait_for_end(child, 10 * sync_s)
        else:
            child = start(path, local_chain)
            for _ in range(rng.randint(1, 3)):
                time.sleep(rng.uniform(0.0, 3 * sync_s * number / KILLS))
                use(local_chain, rng, path)
        end(child)
        with store_at(path, local_chain.network) as store:
            if mark := store.inventory.head():
                check_true(store, node)
                heads.append(mark.number)
                sizes.append(store.inventory.count_pools_and_tokens()[0])
        assert is_sound(path)
    assert min(sizes) < POOLS, "the first were killed before they had found everything"
    assert sorted(set(sizes)) == list(dict.fromkeys(sizes)), "nothing that was found is lost"
    assert len(set(heads)) > KILLS / 4, "most came to write something"
    with store_at(path, local_chain.network) as store:
        synced(store, node)
        check_true(store, node, local_chain.pools)


@pytest.mark.slow
def test_concurrent_syncs_leave_a_sound_store(local_chain: TestChain, node: RpcNode, tmp_path: Path) -> None:
    """The chain is reorganized meanwhile."""
    path, rng = tmp_path / "store", Random("several")
    children = [start(path, local_chain) for _ in range(3)]
    try:
        for _ in range(examples(3, full=12)):
            mark = local_chain.snapshot()
            for _ in range(rng.randint(1, 12)):
                use(local_chain, rng, path)
            if rng.random() < 0.5:
                lost = local_chain.height() - mark.height
                with turn(path.with_suffix(".lock")):
                    local_chain.revert(mark)
                for _ in range(lost + 1):
                    use(local_chain, rng, path)
            time.sleep(rng.uniform(0.0, 0.3))
    finally:
        for child in children:
            end(child)
    assert is_sound(path)
    with store_at(path, local_chain.network) as store:
        assert store.inventory.count_pools_and_tokens()[0] > 0, "they came to write something"
        synced(store, node)
        check_true(store, node, local_chain.pools)
        local_chain.use(rng)
        followed(store, node)
        check_true(store, node, local_chain.pools)
