"""A server that refuses, or that has something else under its keys: plain errors, and never another market."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis

from swapcli.core.errors import MarketUnavailable, UpstreamError
from swapcli.quoting.followers.feed_follower import FeedFollower
from swapcli.state.feed.feed_stream import StreamEntry
from swapcli.state.feed.publisher import FeedPublisher, PublisherState
from swapcli.state.markets.feed_format import MAX_ENTRY_BYTES, MAX_SNAPSHOT_BYTES, decode_entry, encode_entry
from swapcli.state.store import Store
from tests.examples import examples
from tests.quoting.followers.build import NETWORK, START, Scene, check_same, write_block
from tests.state.store.build import create
from tests.support.redis_server import RedisServer, run_redis


@pytest.fixture(scope="module")
def own_redis() -> Iterator[RedisServer]:
    """A server whose configuration the tests may change."""
    with run_redis() as server:
        yield server


@contextmanager
def configured(client: Redis, name: str, value: int) -> Iterator[None]:
    client.config_set(name, value)
    try:
        yield
    finally:
        client.config_set(name, 0)


@contextmanager
def replica_of_nothing(client: Redis, serves_old_data: str) -> Iterator[None]:
    client.config_set("replica-serve-stale-data", serves_old_data)
    client.replicaof("127.0.0.1", 1)
    try:
        yield
    finally:
        client.replicaof("NO", "ONE")


Condition = Callable[[Redis], AbstractContextManager[None]]
CONDITIONS: list[tuple[Condition, str, bool]] = [
    (lambda client: configured(client, "maxmemory", 1), "is out of memory", False),
    (lambda client: configured(client, "min-replicas-to-write", 3), "because too few replicas follow it", False),
    (lambda client: replica_of_nothing(client, "yes"), "is a read-only replica", False),
    (lambda client: replica_of_nothing(client, "no"), "is a replica without a primary", True),
]


@pytest.mark.parametrize(("condition", "problem", "fails_readers"), CONDITIONS, ids=[each[1] for each in CONDITIONS])
def test_a_server_that_refuses_is_survived(
    own_redis: RedisServer,
    store: Store,
    path: Path,
    condition: Condition,
    problem: str,
    fails_readers: bool,
) -> None:
    scene = Scene(own_redis.server)
    publisher, follower = scene.publisher(path), scene.follower()
    publisher.publish()
    source = follower.read()
    write_block(store, 2, {1: 2 * 10**6})
    with scene.client() as client, condition(client):
        check_fails(publisher.publish, problem, own_redis)
        if fails_readers:
            check_fails(follower.advance, problem, own_redis)
            check_fails(scene.follower().read, problem, own_redis)
        else:
            assert follower.advance() is None
            check_same(scene.follower().read().market, source.market)
    assert source.market.block == 1
    publisher.publish()
    assert publisher.state is PublisherState.PUBLISHING
    check_same(follower.read().market, store.read_market())


def check_fails(act: Callable[[], object], problem: str, server: RedisServer) -> None:
    with pytest.raises(UpstreamError) as raised:
        act()
    assert raised.value.message.startswith(f"{server.server.shown} ")
    assert problem in raised.value.message


@pytest.mark.parametrize("name", ["state", "lease", "blocks", "snapshot"])
def test_values_of_another_type_are_reported(redis_server: RedisServer, store: Store, path: Path, name: str) -> None:
    scene = Scene(redis_server.server)
    publisher, follower = scene.publisher(path), scene.follower()
    publisher.publish()
    source = follower.read()
    write_block(store, 2, {1: 2 * 10**6})
    with scene.client() as client:
        client.delete(scene.key(name))
        if name == "blocks":
            client.set(scene.key(name), "foreign")
        else:
            client.lpush(scene.key(name), "foreign")
        scene.now_s += 1_000  # a snapshot is due
        writer = scene.publisher(path) if name == "lease" else publisher  # SET replaces what the lease has
        check_fails(writer.publish, "has values of a different type under swapcli's keys", redis_server)
        client.delete(scene.key(name))
    assert source.market.block == 1
    publisher.publish()
    check_same(follower.read().market, store.read_market())


CONTENT = st.one_of(st.binary(max_size=20), st.sampled_from([b"", b"-1", b"1e9", b"9" * 40, b"1-1", b"\xff", b"nan"]))


@settings(max_examples=examples(6, full=15))
@given(st.dictionaries(st.sampled_from(["writer", "token", "last", "block", "hash", "listener"]), CONTENT, min_size=1))
def test_foreign_fields_of_a_feed_never_change_a_market(redis_server: RedisServer, fields: dict[str, bytes]) -> None:
    scene = Scene(redis_server.server)
    with create_store() as store, scene.client() as client:
        publisher, follower = scene.publisher(Path(store.path)), scene.follower()
        publisher.publish()
        follower.read()
        client.hset(scene.key("state"), mapping=fields)
        write_block(store, 2, {1: 2 * 10**6})
        for _ in range(3):
            check_published(publisher, follower)
        client.delete(scene.key("state"), scene.key("lease"))
        publisher.publish()
        check_same(follower.read().market, store.read_market())


@contextmanager
def create_store() -> Iterator[Store]:
    with TemporaryDirectory() as folder, create(Path(folder) / "store", NETWORK) as store:
        write_block(store, 1, START)
        yield store


def check_published(publisher: FeedPublisher, follower: FeedFollower) -> None:
    """Publish and follow; both may fail plainly, and the market is of one of the two blocks."""
    with suppress(UpstreamError):
        publisher.publish()
    with suppress(UpstreamError):
        assert follower.read().market.block in (1, 2)


def changed_header(data: bytes, **fields: object) -> bytes:
    entry = decode_entry(data, MAX_SNAPSHOT_BYTES)
    return encode_entry(entry._replace(header=entry.header._replace(**fields)))  # type: ignore[arg-type]


def oversized(data: bytes) -> bytes:
    entry = decode_entry(data, MAX_SNAPSHOT_BYTES)
    zeros = b"0" * 2**20
    more = {f"0x{number:040x}": zeros for number in range(MAX_ENTRY_BYTES // len(zeros) + 1)}
    return encode_entry(entry._replace(changes=entry.changes._replace(tokens=more)))


ENTRIES: dict[str, Callable[[bytes], bytes | None]] = {
    "no data": lambda _: None,
    "nothing": lambda _: b"",
    "truncated": lambda data: data[:-5],
    "with more after its end": lambda data: data + b"x",
    "not in zlib's format": lambda _: b"{}",
    "of another network": lambda data: changed_header(data, network="base"),
    "of another chain": lambda data: changed_header(data, chain_id=8453),
    "too large": oversized,
}


@pytest.mark.parametrize(
    "damage", [*(each for each in ENTRIES if each != "too large"), pytest.param("too large", marks=pytest.mark.slow)]
)
def test_damaged_entries_are_counted(redis_server: RedisServer, store: Store, path: Path, damage: str) -> None:
    scene = Scene(redis_server.server)
    publisher, follower = scene.publisher(path), scene.follower()
    publisher.publish()
    source = follower.read()
    write_block(store, 2, {1: 2 * 10**6})
    publisher.publish()
    with scene.client() as client:
        ((entry_id, fields),) = client.xrevrange(scene.key("blocks"), count=1)
        client.xdel(scene.key("blocks"), entry_id)
        content = ENTRIES[damage](fields[b"data"])
        damaged: dict[str, bytes] = {"other": b""} if content is None else {"data": content}
        client.hset(scene.key("state"), "last", client.xadd(scene.key("blocks"), damaged))
        assert follower.advance() is None
        assert (follower.counters.rejected, follower.read()) == (1, source)
        client.hset(scene.key("snapshot"), mapping={"id": "1-1", "data": content or b""})
        fresh = scene.follower()
        with pytest.raises(MarketUnavailable):
            fresh.read()
        assert fresh.counters.rejected + fresh.counters.mismatches >= 1
    write_block(store, 3, {1: 3 * 10**6})
    publisher.publish()
    for each in (follower, fresh):
        check_same(each.read().market, store.read_market())
    assert follower.counters.rejected == 1


def test_a_reader_needs_no_right_to_write(redis_server: RedisServer, store: Store, path: Path) -> None:
    scene = Scene(redis_server.server)
    publisher = scene.publisher(path)
    server = scene.add_user("-@write", "-@scripting")
    with closing(scene.feed(server=server)) as feed:
        follower = FeedFollower(feed, scene.clock, route_ttl_s=60)
        assert follower.advance() is None
        publisher.publish()
        check_same(follower.read().market, store.read_market())
        assert isinstance(feed.reader.read_snapshot(), StreamEntry)
