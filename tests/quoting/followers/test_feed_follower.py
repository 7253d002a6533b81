"""Followers of a feed have the market of its store, also after damage to blocks, writers, entries and the server."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.core.errors import MarketUnavailable, NoRoute, UpstreamError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.quoting.followers.feed_follower import FeedFollower
from swapcli.quoting.followers.market_follower import RESELECT_AFTER_S
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.feed.feed_stream import StreamEntry, WriteResult
from swapcli.state.feed.publisher import MIN_SNAPSHOT_INTERVAL_S, SNAPSHOT_INTERVAL_S, FeedPublisher, PublisherState
from swapcli.state.markets.feed_format import MAX_ENTRY_BYTES, decode_entry, encode_entry
from swapcli.state.store import Store
from tests.examples import examples
from tests.quoting.followers.build import NETWORK, START, Scene, check_same, write_block
from tests.state.store.build import TOKENS, create, pool
from tests.support.redis_server import CERTIFICATE, RedisServer, run_redis
from tests.support.waiting import until

CHANGE = st.dictionaries(st.integers(1, 7), st.none() | st.integers(10**5, 10**7), max_size=4)
"""Pools by number with their new reserve, None for a removed pool; pool 0 stays."""
EVENT = st.one_of(
    CHANGE,
    st.integers(1, 3),
    st.tuples(st.sampled_from(["publish", "look"]), st.integers(0, 1)),
    st.sampled_from(["wait", "lose entry", "lose data", "damage"]),
)
"""A block, the number of blocks to rewind, or what happens to the feed."""


@pytest.fixture
def scene(redis_server: RedisServer) -> Scene:
    return Scene(redis_server.server)


class Events:
    """A store, two publishers and two followers of it, and what has been published."""

    def __init__(self, scene: Scene, store: Store, opened: ExitStack) -> None:
        self.scene, self.store = scene, store
        self.client = opened.enter_context(scene.client())
        path = Path(store.path)
        self.publishers = [scene.publisher(path), scene.publisher(path)]
        self.followers = [scene.follower(), scene.follower()]
        self.published: set[tuple[int | None, frozenset[tuple[str, Pool]]]] = set()
        self.forks = 0

    def apply(self, event: object) -> None:
        match event:
            case int():
                blocks = self.store.read_blocks()
                self.store.rewind_to(blocks[min(event, len(blocks) - 1)].number)
            case dict():
                self.forks += 1
                write_block(self.store, self.store.read_blocks()[0].number + 1, event, self.forks)
            case "wait":
                self.wait(SNAPSHOT_INTERVAL_S)
            case "lose data":
                self.client.delete(*map(self.scene.key, ("blocks", "snapshot", "state", "lease", "request")))
            case "lose entry" | "damage":
                for entry_id, fields in self.client.xrevrange(self.scene.key("blocks"), count=1):
                    self.client.xdel(self.scene.key("blocks"), entry_id)
                    if event == "damage":
                        self.client.hset(self.scene.key("snapshot"), "data", fields[b"data"][:-9])
            case ("publish", int(number)):
                self.publish(self.publishers[number])
            case ("look", int(number)):
                self.look(self.followers[number])

    def wait(self, duration_s: float) -> None:
        """Let time pass for the scene's clock, and for the server, which dates the snapshot by its own."""
        self.scene.now_s += duration_s
        snapshot = self.scene.key("snapshot")
        written = self.client.hget(snapshot, "written")
        if written is not None:
            self.client.hset(snapshot, "written", str(float(written) - duration_s))

    def publish(self, publisher: FeedPublisher) -> None:
        sleep(0.0015)  # longer than the lease
        publisher.publish()
        if publisher.state is PublisherState.PUBLISHING:
            self.published.add(identity(self.store.read_market()))

    def look(self, follower: FeedFollower) -> None:
        with suppress(MarketUnavailable):
            assert identity(follower.read().market) in self.published


def identity(market: MarketState) -> tuple[int | None, frozenset[tuple[str, Pool]]]:
    return market.block, frozenset(market.pools.items())


def quoted(source: InMemorySource, sold: int, bought: int) -> RouteResult | None:
    """Return the quote without its duration."""
    try:
        answer = source.quote(QuoteRequest(Order(TOKENS[sold], TOKENS[bought], 10**15), ApiVersion.V1, gas_price_wei=1))
    except NoRoute:
        return None
    return answer.result._replace(time_s=0)


@settings(max_examples=examples(6, full=150, fuzz=400))
@example([("publish", 0), "damage", ("publish", 1)])
@given(st.lists(EVENT, max_size=16))
def test_followers_equal_the_store_after_any_events(redis_server: RedisServer, events: list[object]) -> None:
    """Each state that a follower returns is one that was published; in the end it is the store's."""
    scene = Scene(redis_server.server, lease_s=0.001)
    with TemporaryDirectory() as folder, create(Path(folder) / "store", NETWORK) as store, ExitStack() as opened:
        write_block(store, 1, START)
        history = Events(scene, store, opened)
        end = ["wait", ("publish", 0), ("publish", 1), ("look", 0), ("look", 1)]
        for event in (*events, *end, *end):
            history.apply(event)
        stored = store.read_market()
        for follower in history.followers:
            source = follower.read()
            check_same(source.market, stored)
            # In the same order, which decides between equal routes.
            pools = {key: stored.pools[key] for key in source.market.pools}
            tokens = {address: stored.tokens[address] for address in source.market.tokens}
            fresh = InMemorySource(stored._replace(pools=pools, tokens=tokens), scene.clock)
            for sold, bought in ((0, 1), (1, 3), (5, 4)):
                assert quoted(source, sold, bought) == quoted(fresh, sold, bought)


def test_a_block_is_an_entry_of_what_it_changed(scene: Scene, store: Store, path: Path) -> None:
    publisher, follower = scene.publisher(path), scene.follower()
    publisher.publish()
    first = follower.read()
    assert follower.advance() is None
    write_block(store, 2, {1: 2 * 10**6})
    publisher.publish()
    second = follower.advance()
    assert second is not None
    assert (second.market.block, second.market.gas_price_wei) == (2, store.read_market().gas_price_wei)
    changed = {key for key, each in second.market.pools.items() if first.market.pools[key] is not each}
    assert changed == {pool(1).key}
    assert (follower.counters.entries, follower.counters.snapshots, follower.counters.gaps) == (1, 1, 0)
    assert "the feed at redis://127.0.0.1" in second.market.source
    assert "hunter2" not in second.market.source


def test_a_replaced_writer_cannot_write_any_more(redis_server: RedisServer) -> None:
    scene = Scene(redis_server.server, lease_s=0.001)
    paused, successor = scene.writer(), scene.writer()
    assert paused.acquire(1)[0] is WriteResult.OK
    assert paused.begin(b"first", 1, "a", b"snapshot")[0] is WriteResult.OK
    sleep(0.0015)
    result, newest = successor.acquire(1)
    assert result is WriteResult.OK
    assert newest is not None
    assert newest.state_hash == "a"
    assert paused.append(b"late", 2, "b", newest.id) == (WriteResult.REPLACED, "")
    assert paused.begin(b"late", 2, "b", b"late") == (WriteResult.REPLACED, "")
    assert paused.set_snapshot(b"late", newest.id) is WriteResult.REPLACED
    assert {paused.renew(), paused.release()} == {WriteResult.REPLACED}
    assert successor.append(b"second", 2, "c", newest.id)[0] is WriteResult.OK
    reader = scene.feed().reader
    assert [entry.data for entry in reader.read_entries("0-0", 9)] == [b"first", b"second"]
    assert reader.read_snapshot() == StreamEntry(newest.id, b"snapshot")


def test_one_writes_and_the_other_takes_over(scene: Scene, store: Store, path: Path) -> None:
    first, second, follower = scene.publisher(path), scene.publisher(path), scene.follower()
    first.publish()
    second.publish()
    assert (first.state, second.state) == (PublisherState.PUBLISHING, PublisherState.STANDING_BY)
    follower.read()
    write_block(store, 2, {0: 3 * 10**6})
    second.publish()
    assert follower.advance() is None
    first.release()
    second.publish()
    first.publish()
    assert (first.state, second.state) == (PublisherState.STANDING_BY, PublisherState.PUBLISHING)
    check_same(follower.read().market, store.read_market())
    assert follower.counters.gaps == 0, "the successor goes on where the first one ended"


@settings(max_examples=examples(6, full=100))
@given(st.lists(CHANGE, max_size=5))
def test_a_restarted_writer_goes_on_without_a_snapshot(
    redis_server: RedisServer, blocks: list[dict[int, int | None]]
) -> None:
    scene = Scene(redis_server.server)
    with TemporaryDirectory() as folder, create(path := Path(folder) / "store", NETWORK) as store:
        write_block(store, 1, START)
        write_block(store, 2, {0: 5 * 10**5})
        first, follower = scene.publisher(path), scene.follower()
        first.publish()
        follower.read()
        first.release()
        for number, change in enumerate(blocks, 3):
            write_block(store, number, change)
        second = scene.publisher(path)
        second.publish()
        state = follower.advance()
        counters = follower.counters
        assert (second.last_snapshot_bytes, counters.snapshots, counters.gaps, counters.mismatches) == (0, 1, 0, 0)
        assert (state is not None) == bool(blocks)
        check_same((state or follower.read()).market, store.read_market())


def test_a_writer_with_another_store_begins_anew(scene: Scene, store: Store, path: Path) -> None:
    first, follower = scene.publisher(path), scene.follower()
    first.publish()
    follower.read()
    first.release()
    for number in range(70, 140):
        write_block(store, number, {0: 10**6 + number})
    second = scene.publisher(path)
    second.publish()
    assert second.last_snapshot_bytes > 0, "the store no longer has the block of the newest entry"
    state = follower.advance()
    assert state is not None
    check_same(state.market, store.read_market())


def test_a_writer_without_a_connection_is_replaced(scene: Scene, store: Store, path: Path) -> None:
    """Its lease of 60 s does not delay the successor; the first one cannot write any more when it comes back."""
    writer, follower = scene.writer(), scene.follower()
    first, second = scene.publisher(path, writer), scene.publisher(path)
    first.publish()
    second.publish()
    assert (first.state, second.state) == (PublisherState.PUBLISHING, PublisherState.STANDING_BY)
    follower.read()
    writer.close()
    until(lambda: not scene.subscribers(writer))
    write_block(store, 2, {0: 3 * 10**6})
    second.publish()
    first.publish()
    assert (first.state, second.state) == (PublisherState.STANDING_BY, PublisherState.PUBLISHING)
    check_same(follower.read().market, store.read_market())
    assert follower.counters.gaps == 0, "the successor goes on where the first one ended"


def test_each_transport_carries_a_feed(
    redis_server: RedisServer, scene: Scene, store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    for number, url in enumerate((redis_server.tls_url, redis_server.unix_url), 2):
        server = RedisUrl.parse(url)
        write_block(store, number, {0: number * 10**6})
        writer = scene.writer(server)
        publisher = scene.publisher(path, writer)
        publisher.publish()
        assert scene.subscribers(writer) == 1
        follower = FeedFollower(scene.feed(server=server), scene.clock, route_ttl_s=60)
        check_same(follower.read().market, store.read_market())
        publisher.release()


@pytest.mark.usefixtures("store")
def test_a_lost_subscription_is_renewed(scene: Scene, path: Path) -> None:
    writer = scene.writer()
    first, second = scene.publisher(path, writer), scene.publisher(path)
    first.publish()
    with scene.client() as client:
        client.client_kill_filter(_type="pubsub")
    for _ in range(2):
        first.publish()
    assert scene.subscribers(writer) == 1
    second.publish()
    assert (first.state, second.state) == (PublisherState.PUBLISHING, PublisherState.STANDING_BY)


@pytest.mark.usefixtures("store")
def test_a_user_that_may_not_subscribe_has_its_lease(scene: Scene, path: Path) -> None:
    server = scene.add_user("resetchannels")
    writer = scene.writer(server)
    first, second = scene.publisher(path, writer), scene.publisher(path, scene.writer(server))
    first.publish()
    writer.close()
    second.publish()
    assert (first.state, second.state) == (PublisherState.PUBLISHING, PublisherState.STANDING_BY)
    with scene.client() as client:
        client.delete(scene.key("lease"))
    second.publish()
    assert second.state is PublisherState.PUBLISHING


def test_a_writer_behind_the_feed_waits(scene: Scene, store: Store, path: Path) -> None:
    write_block(store, 9, {})
    first, second = scene.publisher(path), scene.publisher(path)
    first.publish()
    first.release()
    store.rewind_to(1)
    states = []
    for number in (None, 9):
        if number:
            write_block(store, number, {}, fork=1)
        second.publish()
        states.append(second.state)
    assert states == [PublisherState.BEHIND, PublisherState.PUBLISHING]


def test_after_a_lost_entry_a_snapshot_is_requested(scene: Scene, store: Store, path: Path) -> None:
    publisher, follower = scene.publisher(path), scene.follower()
    publisher.publish()
    follower.read()
    write_block(store, 2, {0: 3 * 10**6})
    publisher.publish()
    with scene.client() as client:
        ((entry_id, _),) = client.xrevrange(scene.key("blocks"), count=1)
        client.xdel(scene.key("blocks"), entry_id)
    write_block(store, 3, {1: 3 * 10**6})
    publisher.publish()
    assert follower.advance() is None
    assert follower.counters.gaps == 1
    assert follower.advance() is None
    scene.now_s += MIN_SNAPSHOT_INTERVAL_S
    publisher.publish()
    check_same(follower.read().market, store.read_market())
    assert (follower.counters.gaps, follower.counters.mismatches) == (1, 0)


@pytest.mark.parametrize("changes", [{0: 3 * 10**6}, {}])
def test_a_lost_newest_entry_is_noticed(scene: Scene, store: Store, path: Path, changes: dict[int, int | None]) -> None:
    publisher, follower = scene.publisher(path), scene.follower()
    publisher.publish()
    follower.read()
    write_block(store, 2, changes)
    publisher.publish()
    with scene.client() as client:
        ((entry_id, _),) = client.xrevrange(scene.key("blocks"), count=1)
        client.xdel(scene.key("blocks"), entry_id)
    for _ in range(3):
        assert follower.advance() is None
    scene.now_s += MIN_SNAPSHOT_INTERVAL_S
    publisher.publish()
    check_same(follower.read().market, store.read_market())
    assert (follower.counters.gaps, follower.counters.snapshots) == (1, 2)


def test_a_damaged_snapshot_is_replaced_without_a_new_block(scene: Scene, store: Store, path: Path) -> None:
    publisher, follower = scene.publisher(path), scene.follower()
    publisher.publish()
    with scene.client() as client:
        client.hset(scene.key("snapshot"), "data", b"damaged")
    with pytest.raises(MarketUnavailable, match="cannot be used"):
        follower.read()
    scene.now_s += MIN_SNAPSHOT_INTERVAL_S
    publisher.publish()
    check_same(follower.read().market, store.read_market())
    assert (follower.counters.rejected, follower.counters.snapshots) == (1, 1)


def test_an_entry_with_another_hash_is_not_applied(scene: Scene, store: Store, path: Path) -> None:
    publisher, follower = scene.publisher(path), scene.follower()
    publisher.publish()
    source = follower.read()
    write_block(store, 2, {0: 3 * 10**6})
    publisher.publish()
    with scene.client() as client:
        ((entry_id, fields),) = client.xrevrange(scene.key("blocks"), count=1)
        entry = decode_entry(fields[b"data"], MAX_ENTRY_BYTES)
        other = {
            key: document and document.replace(b"3000000", b"4000000") for key, document in entry.changes.pools.items()
        }
        assert other != entry.changes.pools
        client.xdel(scene.key("blocks"), entry_id)
        forged = encode_entry(entry._replace(changes=entry.changes._replace(pools=other)))
        client.hset(scene.key("state"), "last", client.xadd(scene.key("blocks"), {"data": forged}))
    assert follower.advance() is None
    assert follower.counters.mismatches == 1
    assert follower.read() is source


def test_a_reorganization_replaces_what_it_undid(scene: Scene, store: Store, path: Path) -> None:
    publisher, follower = scene.publisher(path), scene.follower()
    write_block(store, 2, {1: 2 * 10**6, 5: 10**6})
    publisher.publish()
    write_block(store, 3, {2: None})
    publisher.publish()
    follower.read()
    store.rewind_to(1)
    write_block(store, 2, {0: 5 * 10**6}, fork=1)
    publisher.publish()
    check_same(follower.read().market, store.read_market())
    counters = follower.counters
    assert (counters.entries, counters.reorganizations, counters.gaps, counters.snapshots) == (2, 1, 0, 1)


def test_the_market_outlives_its_server(store: Store, path: Path) -> None:
    with run_redis() as server:
        scene = Scene(server.server)
        publisher, follower = scene.publisher(path), scene.follower()
        publisher.publish()
        source = follower.read()
        server.kill()
        for act in (publisher.publish, follower.advance):
            with pytest.raises(UpstreamError) as raised:
                act()
            assert "hunter2" not in raised.value.message
        assert source.market.block == 1
        write_block(store, 2, {0: 3 * 10**6})
        server.start()
        assert follower.advance() is None
        publisher.publish()
        check_same(follower.read().market, store.read_market())
        assert follower.counters.snapshots == 2


def test_the_deepest_pools_are_quoted_and_reselected(scene: Scene, store: Store, path: Path) -> None:
    write_block(store, 2, {k: 10**6 * (k + 1) for k in range(6)})
    publisher, follower = scene.publisher(path), scene.follower(max_pools=3)
    publisher.publish()
    deepest = set(follower.read().market.pools)
    assert deepest == set(store.read_deepest(3).pools)
    thin = next(k for k in range(6) if pool(k).key not in deepest)
    write_block(store, 3, {thin: 10**9})
    publisher.publish()
    assert set(follower.read().market.pools) == deepest, "there is no room"
    scene.now_s += RESELECT_AFTER_S + 1
    write_block(store, 4, {})
    publisher.publish()
    assert set(follower.read().market.pools) == set(store.read_deepest(3).pools) >= {pool(thin).key}


@settings(max_examples=10)
@given(st.lists(CHANGE, min_size=1, max_size=4), st.integers(1, 3))
def test_orders_of_other_tokens_use_their_pools(
    redis_server: RedisServer, changes: list[dict[int, int | None]], max_pools: int
) -> None:
    """A source with few pools, extended by an order's tokens, quotes at least what the deepest of their pools pay."""
    scene = Scene(redis_server.server)
    with TemporaryDirectory() as folder, create(Path(folder) / "store", NETWORK) as store:
        write_block(store, 1, {number: 10**6 * (number + 1) for number in range(8)})
        publisher, follower = scene.publisher(Path(folder) / "store"), scene.follower(max_pools)
        for number, change in enumerate(changes, 2):
            publisher.publish()
            source = follower.read()
            whole = InMemorySource(store.read_market(), scene.clock)
            for sold, bought in ((0, 1), (1, 3), (5, 4), (2, 0)):
                addresses = [TOKENS[sold].address, TOKENS[bought].address]
                extended = follower.extended_source(addresses, ()) or source
                traded = {address for each in whole.market.pools.values() for address in each.tokens}
                assert set(extended.market.tokens) >= set(addresses) & traded
                assert source.market.pools.items() <= extended.market.pools.items() <= whole.market.pools.items()
                assert extended.market.block == whole.market.block
                fresh = InMemorySource(extended.market, scene.clock)
                assert quoted(extended, sold, bought) == quoted(fresh, sold, bought)
            everything = follower.extended_source((), whole.market.pools) or source
            check_same(everything.market, whole.market)
            assert follower.extended_source((), source.market.pools) is None
            write_block(store, number, change)


def test_an_extended_source_is_remembered_for_its_block(scene: Scene, store: Store, path: Path) -> None:
    publisher, follower = scene.publisher(path), scene.follower(max_pools=1)
    assert follower.extended_source([TOKENS[2].address], ()) is None
    publisher.publish()
    missing = {token.address for token in TOKENS[:3]} - follower.read().market.tokens.keys()
    first = follower.extended_source(missing, ())
    assert first is not None
    assert follower.extended_source(missing, ()) is first
    write_block(store, 2, {})
    publisher.publish()
    follower.read()
    second = follower.extended_source(missing, ())
    assert second is not None
    assert (first.market.block, second.market.block) == (1, 2)


def test_a_loaded_market_is_opened_once(scene: Scene, store: Store, path: Path) -> None:
    publisher, feed = scene.publisher(path), scene.feed()
    feed.load(scene.clock, 60)
    assert feed.counters.snapshots == 0
    publisher.publish()
    feed.load(scene.clock, 60)
    loaded, other = feed.open(scene.clock, 60), feed.open(scene.clock, 60)
    assert feed.counters.snapshots == 1
    check_same(loaded.read().market, store.read_market())
    assert feed.counters.snapshots == 1
    check_same(other.read().market, store.read_market())
    assert feed.counters.snapshots == 2


def test_without_a_feed_there_is_no_market(scene: Scene) -> None:
    with pytest.raises(MarketUnavailable, match="no block has been published yet for test "):
        scene.follower().read()


def test_the_feed_of_another_chain_is_named(scene: Scene, store: Store, path: Path) -> None:
    write_block(store, 5, START)
    scene.publisher(path).publish()
    feed = scene.feed()
    feed.network = NETWORK._replace(chain_id=NETWORK.chain_id + 1)
    with pytest.raises(MarketUnavailable, match=rf"cannot be used: it is for test with chain ID {NETWORK.chain_id}$"):
        feed.open(scene.clock, 60).read()
