"""Followed networks: responses before, during and after updates, and the lines of the log."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as all_threads
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InputOutputError
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.app import create_app
from swapcli.faces.service.market_followers import JOIN_TIMEOUT_S, FollowerThreads
from swapcli.faces.service.market_registry import MarketOpener, MarketRegistry, ServiceRules
from swapcli.faces.service.store_announcements import BlockAnnouncements, WriterState
from swapcli.interface.timestamps import format_iso_utc
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.followers.market_follower import FollowedMarket, FollowedStore
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.rpc.head_source import MAX_POLL_S, MIN_POLL_S, PollingHeads, poll_interval_s
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from swapcli.state.store import create_store
from tests.state.store.build import only
from tests.support.service import InProcessService, Json, build_order_query, build_swap_terms, open_testnet_market
from tests.support.testnet import NOW_S
from tests.support.waiting import until

TTL_S, MAX_AGE_S = 60, 20


def at_block(block: int, timestamp: int | None = None) -> MarketState:
    """The test market, marked as synced."""
    synced = open_testnet_market()._replace(
        provenance=Provenance.SYNCED, block=block, timestamp=timestamp or int(NOW_S)
    )
    return synced._replace(network=synced.network._replace(block_time_s=0.1))


class FollowingService(InProcessService):
    """A service of `testnet` that follows the store at `path`, or the market `followed`."""

    def __init__(
        self,
        path: Path,
        *,
        max_age_s: int | None = None,
        followed: FollowedStore | FollowedMarket | None = None,
        openers: Mapping[str, MarketOpener] = MappingProxyType({}),
        announcements: BlockAnnouncements | None = None,
    ) -> None:
        super().__init__({})
        network = at_block(1).network
        self.path = path
        self.followed = followed or FollowedStore(network, only(network), path, None)
        self.registry = MarketRegistry(
            [network],
            openers,
            self.fake_clock.clock,
            ServiceRules(terms=SwapTerms(0, ttl_s=TTL_S), max_age_s=max_age_s),
            followed=["testnet"],
        )
        log = AccessLog(self.log)
        self.threads = FollowerThreads([self.followed], self.registry, log, announcements)
        self.app = create_app(self.registry, ServiceSettings(), log=log, followers=self.threads)

    def write(self, market: MarketState) -> None:
        """Write a market to the store, created if necessary."""
        with create_store(str(self.path), market.network, only(market.network)) as store:
            store.write_market(market)

    def health(self) -> tuple[int, str]:
        answer = self.get("/testnet/v2/healthcheck")
        assert answer.json()["status"] == answer.status_code
        return answer.status_code, answer.json()["message"]

    def route(self) -> Any:
        return self.get("/testnet/v2/route", build_order_query("testnet"))

    def is_at(self, block: int) -> Callable[[], bool]:
        return lambda: "testnet" in self.registry.sources and self.registry.sources["testnet"].market.block == block

    def reported(self) -> list[Json]:
        """The log lines about following."""
        return [line for line in self.log_lines() if "market_updates" in line]


@contextmanager
def following_service(path: Path, **options: Any) -> Iterator[FollowingService]:
    world = FollowingService(path, **options)
    try:
        yield world
    finally:
        world.close()


@given(st.none() | st.floats(0.0, 1e4))
def test_looks_are_as_frequent_as_blocks_within_bounds(block_time_s: float | None) -> None:
    assert MIN_POLL_S <= poll_interval_s(block_time_s) <= MAX_POLL_S
    if block_time_s and MIN_POLL_S <= block_time_s <= MAX_POLL_S:
        assert poll_interval_s(block_time_s) == block_time_s


def test_before_the_first_state_nothing_is_made_up(tmp_path: Path) -> None:
    with following_service(tmp_path / "store") as world:
        reading = "the pools of testnet are being read"
        assert world.health() == (503, reading)
        assert world.get("/testnet/healthcheck").json() == {"staus": 503, "message": reading}
        refused = {"statusCode": 503, "message": reading, "error": "Service Unavailable"}
        refused |= {"hint": "retry later", "code": "MARKET_UNAVAILABLE"}
        answer = world.route()
        meta = answer.json().pop("meta")
        assert (answer.status_code, answer.json(), meta["apiVersion"]) == (503, refused | {"meta": meta}, "2.0")
        assert world.get("/testnet/tokens").status_code == 503
        assert world.get("/readyz").json() == {"ready": False, "missing": ["testnet"]}
        assert world.get("/supported-chains").json()[0]["chain_name"] == "testnet"
        assert 'swapcli_market_update_failures_total{network="testnet"} 0.0' in world.get("/metrics").text
        assert not world.threads.are_settled()
        world.registry.set_status("testnet", "the pools of testnet are being read: 7 of 9")
        assert world.health() == (503, "the pools of testnet are being read: 7 of 9")


def test_new_blocks_are_published_with_their_age(tmp_path: Path) -> None:
    with following_service(tmp_path / "store") as world:
        world.write(at_block(5))
        with world.threads:
            until(world.is_at(5))
            until(world.threads.are_settled)
            world.fake_clock.advance(3)
            message = "Testnet router is alive and well: 5 pools, synced state"
            assert world.health() == (200, f"{message}, block 5, 3 s old, followed by polling")
            reported = {"staus": 200, "message": f"{message}, block 5, 3 s old, followed by polling"}
            assert world.get("/testnet/healthcheck").json() == reported
            assert world.get("/readyz").json() == {"ready": True, "missing": []}
            first = world.route().json()["outputAmount"]
            world.write(at_block(6, int(NOW_S) + 2)._replace(gas_price_wei=7))
            until(world.is_at(6))
            assert world.health() == (200, f"{message}, block 6, 1 s old, followed by polling")
            assert world.route().json()["outputAmount"] == first
            lines = world.get("/metrics").text.splitlines()
            assert 'swapcli_market_block{network="testnet"} 6.0' in lines
            assert 'swapcli_market_age_seconds{network="testnet"} 1.0' in lines
            assert 'swapcli_market_subscribed{network="testnet"} 0.0' in lines
        assert world.reported() == []


@pytest.mark.parametrize("max_age_s", [None, MAX_AGE_S])
def test_old_state_is_not_quoted_until_newer_arrives(tmp_path: Path, max_age_s: int | None) -> None:
    limit_s = max_age_s or TTL_S
    with following_service(tmp_path / "store", max_age_s=max_age_s) as world:
        world.write(at_block(5))
        with world.threads:
            until(world.is_at(5))
            world.fake_clock.advance(limit_s)
            assert world.health()[0] == world.route().status_code == 200
            world.fake_clock.advance(1)
            age = f"{limit_s + 1} seconds old, so a maximum age of {limit_s} seconds cannot be met"
            old = f"the pool state of testnet is {age}"
            assert world.health() == (503, old)
            assert (world.route().status_code, world.route().json()["message"]) == (503, old)
            assert world.get("/testnet/tokens").status_code == 200
            assert world.get("/readyz").json() == {"ready": False, "missing": ["testnet"]}
            world.fake_clock.advance(1)
            assert str(limit_s + 2) in world.health()[1], "as old as it is now"
            world.write(at_block(6, int(world.fake_clock.now_s)))
            until(world.is_at(6))
            assert world.health()[0] == world.route().status_code == 200


class ToldHeads(PollingHeads):
    """Knows from the nodes of another process by how much this machine's clock is wrong."""

    def __init__(self, clock_offset_s: float) -> None:
        super().__init__(0.02)
        self.clock_offset_s = clock_offset_s


@pytest.mark.parametrize("ahead_s", [3_600, 40, -40, -3_600])
def test_a_wrong_clock_makes_no_state_old_nor_keeps_it_new(tmp_path: Path, ahead_s: int) -> None:
    network, path = at_block(1).network, tmp_path / "store"
    followed = FollowedStore(network, only(network), path, None, ToldHeads(-ahead_s), is_read_only=True)
    with following_service(path, followed=followed) as world:
        world.write(at_block(5))
        world.fake_clock.advance(ahead_s)
        with world.threads:
            until(world.is_at(5))
            found = world.get("/testnet/v2/route", build_order_query("testnet"))
            posted = {"route": found.json(), **build_swap_terms("testnet")}
            built = world.post("/testnet/v2/calldata", posted)
            health = world.get("/testnet/v2/healthcheck")
            for each in (found, built, health):
                assert each.status_code == 200, each.text
                assert "CLOCK_DIFFERS" in each.headers["X-Swap-Warnings"]
                assert each.headers["X-Swap-State"].startswith("synced;block=5;age=0")
                assert each.json()["meta"]["timestamp"] == format_iso_utc(int(NOW_S * 1_000))
            world.fake_clock.advance(TTL_S + 1)
            assert world.health() == (503, world.route().json()["message"])
            assert f"{TTL_S + 1} seconds old" in world.health()[1]
            assert world.post("/testnet/v2/calldata", posted).status_code == 503


def test_failure_and_recovery_are_logged_once_each(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with following_service(path) as world, world.threads:
        until(lambda: world.threads.figures()["testnet"].failures)
        assert world.threads.are_settled()
        assert world.health() == (503, "the pools of testnet could not be read yet")
        (line,) = world.reported()
        assert (line["network"], line["market_updates"]) == ("testnet", "failing")
        assert line["message"] == f"no store at {path}"
        world.write(at_block(8))
        until(world.is_at(8))
        until(lambda: len(world.reported()) == 2)
        assert {key: each for key, each in world.reported()[1].items() if key != "time"} == {
            "level": "info",
            "network": "testnet",
            "market_updates": "recovered",
        }
        count = world.threads.figures()["testnet"].failures
        assert f'swapcli_market_update_failures_total{{network="testnet"}} {count}.0' in world.get("/metrics").text


def test_a_defect_is_logged_without_message_and_retried(tmp_path: Path) -> None:
    tries: list[int] = []

    def broken() -> MarketState:
        tries.append(1)
        raise RuntimeError("a secret")

    network = at_block(1).network
    node = RpcNode([RpcEndpoint("http://127.0.0.1:1", "a node")], network.chain_id)
    with (
        following_service(tmp_path / "store", followed=FollowedMarket(network, only(network), broken, node)) as world,
        world.threads,
    ):
        until(lambda: len(tries) >= 2)
        (line,) = world.reported()
        assert (line["market_updates"], line["defect"]) == ("failing", "RuntimeError")
        assert any("test_market_followers" in where for where in line["where"])
        assert "a secret" not in world.log.getvalue()


def test_the_end_waits_for_no_node(tmp_path: Path) -> None:
    """A node that accepts connections and never responds; its timeout is longer than all others."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        market = at_block(1)
        node = RpcNode([RpcEndpoint(url, "a node")], market.network.chain_id, NodePolicy(timeout_s=60.0))
        followed = FollowedMarket(market.network, only(market.network), lambda: market, node)
        with following_service(tmp_path / "store", followed=followed) as world:
            with world.threads:
                connection, _ = listener.accept()
                assert not world.threads.are_settled()
                started_s = time.monotonic()
            assert JOIN_TIMEOUT_S <= time.monotonic() - started_s < 10 * JOIN_TIMEOUT_S
            connection.close()
            assert world.health()[0] == 503


def test_an_end_in_peace_leaves_no_thread_and_no_file(tmp_path: Path) -> None:
    with following_service(tmp_path / "store") as world:
        world.write(at_block(5))
        before = set(all_threads())
        with world.threads:
            until(world.is_at(5))
            (thread,) = set(all_threads()) - before
        assert not thread.is_alive()
        assert [file.name for file in tmp_path.iterdir()] == ["store"]


def test_a_response_uses_one_state_while_another_replaces_it(tmp_path: Path) -> None:
    """Alternate two states with different quotes as fast as possible, while orders are quoted."""
    with following_service(tmp_path / "store") as world:
        thin = at_block(2)
        pools = {key: pool for key, pool in thin.pools.items() if len(key) and key != max(thin.pools)}
        sources = [InMemorySource(each, world.fake_clock.clock) for each in (at_block(1), thin._replace(pools=pools))]
        outs = []
        for source in sources:
            world.registry.set_source(source)
            outs.append(world.route().json()["outputAmount"])
        ended = Event()

        def swap() -> None:
            while not ended.is_set():
                for source in sources:
                    world.registry.set_source(source)

        thread = Thread(target=swap)
        thread.start()
        try:
            for _ in range(60):
                body = {**build_order_query("testnet"), "slippage": 0.5, "destination": "0x" + "12" * 20}
                answer = world.post("/testnet/calldata", body).json()
                reported = answer["route"]["outputAmount"]
                assert reported in outs
                assert json.dumps(answer).count(reported) >= 1
        finally:
            ended.set()
            thread.join()


# --- networks that are served on other state until their first block


def test_a_network_becomes_real_without_a_restart(tmp_path: Path) -> None:
    with following_service(tmp_path / "store", openers={"testnet": open_testnet_market}) as world, world.threads:
        order = {**build_order_query("testnet"), **build_swap_terms("testnet")}
        assert world.route().headers["X-Swap-State"].startswith("synthetic")
        assert "LIVE_UNAVAILABLE" in world.route().headers["X-Swap-Warnings"]
        assert world.get("/testnet/v2/routeAndCalldata", order).status_code == 503
        assert (world.health()[0], world.get("/readyz").status_code) == (503, 503)
        assert 'swapcli_market_real{network="testnet"} 0.0' in world.get("/metrics").text
        world.write(at_block(7))
        until(world.is_at(7))
        assert world.route().headers["X-Swap-State"].startswith("synced;block=7")
        assert "LIVE_UNAVAILABLE" not in world.route().headers.get("X-Swap-Warnings", "")
        assert world.get("/testnet/v2/routeAndCalldata", order).status_code == 200
        assert (world.health()[0], world.get("/readyz").status_code) == (200, 200)
        assert 'swapcli_market_real{network="testnet"} 1.0' in world.get("/metrics").text
        (line,) = [line for line in world.log_lines() if "state" in line]
        assert (line["network"], line["state"], line["block"]) == ("testnet", "synced", 7)
        # It never goes back: prices that are too old are better than made-up ones.
        world.fake_clock.advance(TTL_S + 1)
        assert (world.route().status_code, world.health()[0]) == (503, 503)


def test_a_start_waits_for_a_first_block_only_briefly(tmp_path: Path) -> None:
    with following_service(tmp_path / "store") as world:
        assert not world.threads.are_settled(patience_s=0.0)
    with following_service(tmp_path / "store", openers={"testnet": open_testnet_market}) as world:
        assert world.threads.are_settled(patience_s=0.0)
        assert not world.threads.are_settled()


def test_a_worker_reads_the_store_where_its_writer_says_it_is(tmp_path: Path) -> None:
    """While the disk fails, that is a copy in memory."""
    announcements, network = BlockAnnouncements(["testnet"], workers=1), at_block(1).network
    heads = announcements.heads("testnet", 0, poll_s=30.0)
    disk, copy = tmp_path / "store", tmp_path / "copy"
    followed = FollowedStore(network, only(network), disk, None, heads, is_read_only=True)
    with following_service(disk, followed=followed, announcements=announcements) as world:
        world.write(at_block(1))
        with world.threads:
            for path, block in ((disk, 1), (copy, 2), (disk, 3)):
                world.path = path
                world.write(at_block(block))
                announcements.set_state("testnet", WriterState(path=str(path)))
                announcements.announce("testnet")
                until(world.is_at(block))
        assert world.reported() == []


def test_failed_writes_are_counted_and_logged_once(tmp_path: Path) -> None:
    with following_service(tmp_path / "store") as world:
        (thread,) = world.threads._threads.values()
        full = InputOutputError("the store cannot be used: no space is left on the disk")
        for report in ((full, 1), (full, 2), (None, 0)):
            thread._record_write(*report)
        counted = 'swapcli_store_write_failures_total{network="testnet"} 2.0'
        assert counted in world.get("/metrics").text
        lines = [(line["store"], line.get("message")) for line in world.log_lines() if "store" in line]
        assert lines == [("in memory", full.message), ("on disk", None)]
