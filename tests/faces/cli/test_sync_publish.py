"""The thread that publishes a store reports what it does, and goes on after failures of the server and of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli.core.errors import ConfigError
from swapcli.quoting.syncing.publish import publishing
from swapcli.state.feed.feed_stream import FeedReader, FeedWriter
from swapcli.state.store import Store
from tests.quoting.followers.build import NETWORK, START, write_block
from tests.state.store.build import create, reopen
from tests.support.redis_server import RedisServer, run_redis
from tests.support.waiting import until

TIMEOUT_S = 5.0


def test_an_outage_is_reported_and_survived(tmp_path: Path) -> None:
    notes: list[str] = []
    path = tmp_path / "store"
    with run_redis() as server, create(path, NETWORK) as store:
        write_block(store, 1, START)
        shown = server.server.shown
        writer = FeedWriter(server.server, "test", TIMEOUT_S)
        with publishing(lambda: reopen(path, NETWORK), path.as_posix, writer, notes.append) as wake:
            until(lambda: notes)
            server.kill()
            write_block(store, 2, {0: 2 * 10**6})
            wake()
            until(lambda: len(notes) == 2)
            server.start()
            wake()
            until(lambda: len(notes) == 3)
        snapshot = FeedReader(server.server, "test", TIMEOUT_S).read_snapshot()
        assert snapshot is not None
    lost = f"cannot reach {shown}; publishing resumes when it responds"
    assert notes == [f"publishing to {shown}", lost, f"publishing to {shown}"]


def test_at_its_end_another_takes_over_at_once(redis_server: RedisServer, tmp_path: Path) -> None:
    first, second = list[str](), list[str]()

    def reopened() -> Store:
        return reopen(tmp_path / "store", NETWORK)

    with create(tmp_path / "store", NETWORK) as store:
        write_block(store, 1, START)
        writers = [FeedWriter(redis_server.server, "take-over", TIMEOUT_S) for _ in range(2)]
        with publishing(reopened, (tmp_path / "store").as_posix, writers[0], first.append):
            until(lambda: first)
            with publishing(reopened, (tmp_path / "store").as_posix, writers[1], second.append) as wake:
                until(lambda: second)
                assert second[0].endswith("another process publishes to " + redis_server.server.shown + "; standing by")
        with publishing(
            reopened,
            (tmp_path / "store").as_posix,
            FeedWriter(redis_server.server, "take-over", TIMEOUT_S),
            second.append,
        ) as wake:
            wake()
            until(lambda: len(second) == 2)
        assert second[1] == first[0] == f"publishing to {redis_server.server.shown}"


@pytest.mark.parametrize("failure", [ConfigError("no store at"), RuntimeError("a secret")])
def test_a_failure_to_read_the_store_is_retried(redis_server: RedisServer, tmp_path: Path, failure: Exception) -> None:
    notes, failures = list[str](), [failure]

    def reopened() -> Store:
        if failures:
            raise failures.pop()
        return reopen(tmp_path / "store", NETWORK)

    with create(tmp_path / "store", NETWORK) as store:
        write_block(store, 1, START)
        writer = FeedWriter(redis_server.server, f"retried-{type(failure).__name__}", TIMEOUT_S)
        with publishing(reopened, (tmp_path / "store").as_posix, writer, notes.append) as wake:
            until(lambda: notes)
            wake()
            until(lambda: len(notes) == 2)
    problem = "no store at" if isinstance(failure, ConfigError) else "an internal error (RuntimeError)"
    assert notes == [f"blocks are not published: {problem}", f"publishing to {redis_server.server.shown}"]
