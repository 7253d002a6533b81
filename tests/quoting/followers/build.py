"""Publishers and followers of one feed on a real Redis server, over a store of small markets."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from redis import Redis

from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import ProtocolInfo
from swapcli.quoting.followers.feed_follower import FeedFollower, FollowedFeed
from swapcli.quoting.followers.market_follower import MAX_POOLS
from swapcli.state.clock import Clock
from swapcli.state.feed.feed_stream import FeedReader, FeedWriter
from swapcli.state.feed.publisher import FeedPublisher
from swapcli.state.feed.redis_client import open_redis
from swapcli.state.store import Store
from tests.state.store.build import NETWORK as STORE_NETWORK
from tests.state.store.build import TOKENS, pool, reopen

NETWORK = STORE_NETWORK._replace(protocols=(ProtocolInfo(1, pool(0).protocol, "V2", pool(0).family),))
PAIRS = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (0, 5), (1, 4), (2, 5)]
START: dict[int, int | None] = {0: 10**6, 1: 10**6, 2: 10**6}
TIMEOUT_S = 5.0
USER_PASSWORD = "hunter2"

_NAMES = count()


class Scene:
    """A feed of its own on a shared server, and the clock of all who write and read it.

    A lease lasts 60 s unless `lease_s` says otherwise; Redis measures it.
    """

    def __init__(self, server: RedisUrl, lease_s: float = 60.0) -> None:
        self.server, self.name, self._lease_s = server, f"feed-{next(_NAMES)}", lease_s
        self.now_s = 1_000.0
        self.clock = Clock(lambda: self.now_s, lambda: self.now_s)

    def key(self, name: str) -> str:
        return f"swapcli:feed:{{{self.name}}}:{name}"

    def add_user(self, *rights: str) -> RedisUrl:
        """Add a user that may write the feed but for the changes that `rights` makes; return its address."""
        with self.client() as client:
            allowed = ["~swapcli:*", "&swapcli:*", "+@all", "-@admin", "-@dangerous"]
            client.execute_command("ACL", "SETUSER", self.name, "reset", "on", f">{USER_PASSWORD}", *allowed, *rights)
        return self.server._replace(username=self.name, password=USER_PASSWORD)

    def writer(self, server: RedisUrl | None = None) -> FeedWriter:
        return FeedWriter(server or self.server, self.name, TIMEOUT_S, lease_s=self._lease_s)

    def subscribers(self, writer: FeedWriter) -> int:
        """Return the number of connections by which the server sees that the writer lives."""
        with self.client() as client:
            ((_, found),) = client.pubsub_numsub(writer.channel)
            return int(found)

    def publisher(self, path: Path, writer: FeedWriter | None = None) -> FeedPublisher:
        return FeedPublisher(reopen(path, NETWORK), writer or self.writer(), self.clock)

    def feed(self, max_pools: int = MAX_POOLS, server: RedisUrl | None = None) -> FollowedFeed:
        return FollowedFeed(NETWORK, FeedReader(server or self.server, self.name, TIMEOUT_S), max_pools)

    def follower(self, max_pools: int = MAX_POOLS) -> FeedFollower:
        return FeedFollower(self.feed(max_pools), self.clock, route_ttl_s=60)

    def client(self) -> Redis:
        return open_redis(self.server, TIMEOUT_S)


def write_block(store: Store, number: int, change: dict[int, int | None], fork: int = 0) -> None:
    """Write the reserves of pools by number, None for a removed pool."""
    with store.write_block(number, f"0x{fork:x}{number:x}", number * 10) as writer:
        writer.put_tokens(TOKENS)
        writer.remove_pools([pool(k).key for k, reserve in change.items() if reserve is None])
        writer.put_pools([pool(k, reserve, PAIRS[k]) for k, reserve in change.items() if reserve])
        writer.update_description(gas_price_wei=7 + number)


def check_same(market: MarketState, stored: MarketState) -> None:
    """Fail unless both have the same pools at the same block."""
    assert dict(market.pools) == dict(stored.pools)
    tokens = {address for each in stored.pools.values() for address in each.tokens}
    assert dict(market.tokens) == {address: stored.tokens[address] for address in tokens}
    assert (market.block, market.timestamp, market.pinned) == (stored.block, stored.timestamp, stored.pinned)
