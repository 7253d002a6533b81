"""Writers and the server are killed, paused and resumed at random moments; followers never see a wrong state."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from swapcli.core.errors import MarketUnavailable, UpstreamError
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.state.store import Store
from tests.quoting.followers.build import NETWORK, START, Scene, check_same, write_block
from tests.quoting.followers.publisher_process import LEASE_S
from tests.state.store.build import create
from tests.support.redis_server import RedisServer, run_redis

SECONDS = 20.0
STEP_S = 0.03


class Publishers:
    """Processes that publish the same store."""

    def __init__(self, store: Store, server: RedisServer, name: str) -> None:
        command = [sys.executable, "-m", "tests.quoting.followers.publisher_process", store.path, server.url, name]
        self._command = command
        self.processes = [self._start(), self._start()]

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command)

    def disturb(self, rng: random.Random) -> None:
        """Kill and replace a process, or pause it for a while that may be longer than its lease."""
        at = rng.randrange(len(self.processes))
        if rng.random() < 0.2:
            self.processes[at].kill()
            self.processes[at].wait()
            self.processes[at] = self._start()
            return
        os.kill(self.processes[at].pid, signal.SIGSTOP)
        time.sleep(rng.uniform(0.0, 3 * LEASE_S))
        os.kill(self.processes[at].pid, signal.SIGCONT)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


def identity(market: MarketState) -> tuple[int | None, frozenset[tuple[str, Pool]]]:
    return market.block, frozenset(market.pools.items())


def write_some(store: Store, rng: random.Random, fork: int) -> None:
    """Write a block after a reorganization now and then."""
    if rng.random() < 0.15:
        blocks = store.read_blocks()
        store.rewind_to(blocks[rng.randrange(min(4, len(blocks)))].number)
    change = {rng.randrange(1, 8): rng.choice([None, rng.randrange(10**5, 10**7)]) for _ in range(rng.randrange(4))}
    write_block(store, store.read_blocks()[0].number + 1, change, fork)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_followers_never_see_a_state_that_no_block_had(tmp_path: Path, seed: int) -> None:
    rng, seen = random.Random(seed), set()
    with ExitStack() as opened:
        server = opened.enter_context(run_redis())
        store = opened.enter_context(create(tmp_path / "store", NETWORK))
        write_block(store, 1, START)
        known = {identity(store.read_market())}
        scene = Scene(server.server)
        followers = [scene.follower() for _ in range(3)]
        publishers = Publishers(store, server, scene.name)
        opened.callback(publishers.end)
        end_s, fork = time.monotonic() + SECONDS, 0
        while time.monotonic() < end_s:
            fork += 1
            write_some(store, rng, fork)
            known |= {identity(store.read_market())}
            if rng.random() < 0.05:
                publishers.disturb(rng)
            if rng.random() < 0.01:
                server.kill()
                server.start()
            for follower in rng.sample(followers, 2):
                with suppress(UpstreamError, MarketUnavailable):
                    state = identity(follower.read().market)
                    assert state in known
                    seen.add(state)
            time.sleep(STEP_S)
        assert len(seen) > fork / 4, "they followed most of the time"
        final, end_s = identity(store.read_market()), time.monotonic() + 30.0
        for follower in followers:
            while identity(follower.read().market) != final:
                assert time.monotonic() < end_s, follower.counters.__dict__
                time.sleep(0.01)
            check_same(follower.read().market, store.read_market())
