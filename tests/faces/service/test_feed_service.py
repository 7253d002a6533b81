"""A service that follows a feed quotes as its publisher's store, and refuses when the feed is too old."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from swapcli.core.model.market import MarketState
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.app import create_app
from swapcli.faces.service.market_followers import FollowerThreads
from swapcli.faces.service.market_registry import MarketRegistry, ServiceRules
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.followers.feed_follower import FollowedFeed
from swapcli.quoting.followers.market_follower import MAX_POOLS
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.feed.feed_stream import FeedReader, FeedWriter
from swapcli.state.feed.publisher import FeedPublisher
from swapcli.state.store import Store, create_store
from tests.state.store.build import only
from tests.support.redis_server import RedisServer, run_redis
from tests.support.service import InProcessService, build_order_query, open_testnet_market
from tests.support.waiting import until

MAX_AGE_S = 20
TIMEOUT_S = 5.0

_NAMES = count()


class FeedService(InProcessService):
    """A service of `testnet` that follows the feed of a store; the test writes blocks and publishes them."""

    def __init__(self, server: RedisServer, store: Store, max_pools: int = MAX_POOLS) -> None:
        super().__init__({})
        name = f"service-{next(_NAMES)}"
        self.store = store
        self.publisher = FeedPublisher(store, FeedWriter(server.server, name, TIMEOUT_S), SYSTEM_CLOCK)
        self.market = open_testnet_market()
        network = self.market.network
        self.registry = MarketRegistry(
            [network], {}, self.fake_clock.clock, ServiceRules(max_age_s=MAX_AGE_S), followed=["testnet"]
        )
        log = AccessLog(self.log)
        self.threads = FollowerThreads(
            [FollowedFeed(network, FeedReader(server.server, name, TIMEOUT_S), max_pools)], self.registry, log
        )
        self.app = create_app(
            self.registry,
            ServiceSettings(),
            log=log,
            followers=self.threads,
        )

    def write(self, number: int, stride: int = 1) -> None:
        """Write a block with every `stride`-th pool of the market; `publisher.publish` publishes it."""
        pools = list(self.market.pools.values())
        with self.store.write_block(number, hex(number), int(self.fake_clock.now_s)) as writer:
            writer.put_tokens(self.market.tokens.values())
            writer.remove_pools([pool.key for pool in pools])
            writer.put_pools(pools[::stride])
            writer.update_description(source="a node", gas_price_wei=self.market.gas_price_wei, pinned=True)

    def is_at(self, block: int) -> Callable[[], bool]:
        return lambda: "testnet" in self.registry.sources and self.registry.sources["testnet"].market.block == block

    def route(self) -> tuple[int, str | None]:
        answer = self.get("/testnet/v2/route", build_order_query("testnet"))
        return answer.status_code, answer.json().get("outputAmount")

    def route_of_store(self) -> tuple[int, str | None]:
        """Return the route of the whole market of the store."""
        state: MarketState = self.store.read_market()
        self.registry.set_source(InMemorySource(state, self.fake_clock.clock))
        return self.route()

    def metric(self, name: str) -> float:
        lines = self.get("/metrics").text.splitlines()
        (line,) = [line for line in lines if line.startswith(f'swapcli_{name}{{network="testnet"}}')]
        return float(line.split()[-1])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    network = open_testnet_market().network
    with create_store(str(tmp_path / "store"), network, only(network)) as store:
        yield store


def test_blocks_of_the_feed_are_quoted(redis_server: RedisServer, store: Store) -> None:
    service = FeedService(redis_server, store)
    service.write(5)
    service.publisher.publish()
    with service.threads:
        until(service.is_at(5))
        quotes = [service.route()]
        health = service.get("/testnet/v2/healthcheck")
        assert (health.status_code, health.json()["message"].partition(", block")[2]) == (
            200,
            " 5, 0 s old, followed by feed",
        )
        service.write(6, stride=2)
        service.publisher.publish()
        until(service.is_at(6))
        quotes.append(service.route())
        assert service.metric("feed_entries_total") == service.metric("feed_snapshots_total") == 1
        assert service.metric("market_block") == 6
        assert service.metric("feed_gaps_total") == service.metric("market_update_failures_total") == 0
    assert quotes[0] != quotes[1]
    assert quotes[1] == service.route_of_store()
    store.rewind_to(5)
    assert quotes[0] == service.route_of_store()
    service.close()


def test_without_the_server_the_market_serves_until_too_old(store: Store) -> None:
    with run_redis() as server:
        service = FeedService(server, store)
        service.write(5)
        service.publisher.publish()
        with service.threads:
            until(service.is_at(5))
            server.kill()
            until(lambda: service.metric("market_update_failures_total"))
            assert service.route()[0] == 200
            service.fake_clock.advance(MAX_AGE_S + 1)
            assert service.route()[0] == 503
            assert service.metric("market_age_seconds") == MAX_AGE_S + 1
            server.start()
            service.write(6)
            service.publisher.publish()
            until(service.is_at(6))
            assert service.route()[0] == 200
        service.close()
        assert "hunter2" not in service.log.getvalue()
        assert [line["market_updates"] for line in service.log_lines() if "market_updates" in line] == [
            "failing",
            "recovered",
        ]


def test_pools_beyond_the_deepest_are_quoted_and_built(redis_server: RedisServer, store: Store) -> None:
    service = FeedService(redis_server, store, max_pools=1)
    service.write(5)
    service.publisher.publish()
    with service.threads:
        until(service.is_at(5))
        assert service.metric("market_pools") == 1
        route = service.get("/testnet/v2/route", build_order_query("testnet"))
        assert route.status_code == 200
        body = {"route": route.json(), "slippage": 0.5, "destination": "0x" + "12" * 20}
        assert service.post("/testnet/v2/calldata", body).status_code == 200
        query = build_order_query("testnet", slippage="0.5", destination="0x" + "12" * 20)
        assert service.get("/testnet/v2/routeAndCalldata", query).status_code == 200
        assert service.metric("market_pools") == 1
    service.close()
