"""Networks that are kept fresh: what their service answers before, while and after they are, and what its log tells."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as all_threads
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.chain.rpc_node import RpcNode
from swapcli.config.settings import ServiceSettings
from swapcli.engine.market_follower import FollowedMarket, FollowedStore
from swapcli.engine.sources.in_memory import MarketSource
from swapcli.model.market import Market, Provenance
from swapcli.service.access_log import AccessLog
from swapcli.service.app import create_app
from swapcli.service.market_followers import JOIN_TIMEOUT_S, MAX_PAUSE_S, MIN_PAUSE_S, FollowerThreads, poll_interval_s
from swapcli.service.market_registry import MarketRegistry
from swapcli.store import create_store
from tests.store.build import only
from tests.support.service import InProcessService, Json, build_order_query, open_testnet_market
from tests.support.testnet import NOW_S

PATIENCE_S = 10.0
TTL_S, MAX_AGE_S = 60, 20


def at_block(block: int, timestamp: int | None = None) -> Market:
    """The tests' market as if it had been synced."""
    synced = replace(
        open_testnet_market(), provenance=Provenance.SYNCED, block=block, timestamp=timestamp or int(NOW_S)
    )
    return replace(synced, network=replace(synced.network, block_time_s=0.1))


class KeptWorld(InProcessService):
    """A service of `testnet`, kept from the store at `path`, or whatever else `kept` says."""

    def __init__(
        self, path: Path, *, max_age_s: int | None = None, kept: FollowedStore | FollowedMarket | None = None
    ) -> None:
        super().__init__({})
        network = at_block(1).network
        self.path = path
        self.kept = kept or FollowedStore(network, only(network), path, None)
        self.registry = MarketRegistry(
            [network], {}, self.fake_clock.clock, followed=["testnet"], route_ttl_s=TTL_S, max_age_s=max_age_s
        )
        log = AccessLog(self.log)
        self.keepers = FollowerThreads([self.kept], self.registry, log)
        self.app = create_app(self.registry, ServiceSettings(), log=log, failures=self.keepers.failures)

    def write(self, market: Market) -> None:
        """Into the store, which is made if need be."""
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

    def told(self) -> list[Json]:
        """What the log says of keeping."""
        return [line for line in self.log_lines() if "keeping" in line]


@contextmanager
def kept_world(path: Path, **options: Any) -> Iterator[KeptWorld]:
    world = KeptWorld(path, **options)
    try:
        yield world
    finally:
        world.close()


def until(is_so: Callable[[], object]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.01)


@given(st.none() | st.floats(0.0, 1e4))
def test_looks_are_as_frequent_as_blocks_within_bounds(block_time_s: float | None) -> None:
    assert MIN_PAUSE_S <= poll_interval_s(block_time_s) <= MAX_PAUSE_S
    if block_time_s and MIN_PAUSE_S <= block_time_s <= MAX_PAUSE_S:
        assert poll_interval_s(block_time_s) == block_time_s


def test_before_the_first_state_nothing_is_made_up(tmp_path: Path) -> None:
    with kept_world(tmp_path / "store") as world:
        reading = "the pools of testnet are being read"
        assert world.health() == (503, reading)
        assert world.get("/testnet/healthcheck").json() == {"staus": 503, "message": reading}
        refused = {"statusCode": 503, "message": reading, "error": "Service Unavailable"}
        assert (world.route().status_code, world.route().json()) == (503, refused)
        assert world.get("/testnet/tokens").status_code == 503
        assert world.get("/readyz").json() == {"ready": False, "missing": ["testnet"]}
        assert world.get("/supported-chains").json()[0]["chain_name"] == "testnet"
        assert 'swapcli_keeping_failures_total{network="testnet"} 0.0' in world.get("/metrics").text
        assert not world.keepers.are_settled()
        world.registry.set_status("testnet", "the pools of testnet are being read: 7 of 9")
        assert world.health() == (503, "the pools of testnet are being read: 7 of 9")


def test_blocks_are_taken_over_as_they_come_and_told_with_their_age(tmp_path: Path) -> None:
    with kept_world(tmp_path / "store") as world:
        world.write(at_block(5))
        with world.keepers:
            until(world.is_at(5))
            until(world.keepers.are_settled)
            world.fake_clock.advance(3)
            said = "Testnet router is alive and well: 5 pools, synced state"
            assert world.health() == (200, f"{said}, block 5, 3 s old")
            assert world.get("/testnet/healthcheck").json() == {"staus": 200, "message": f"{said}, block 5, 3 s old"}
            assert world.get("/readyz").json() == {"ready": True, "missing": []}
            first = world.route().json()["outputAmount"]
            world.write(replace(at_block(6, int(NOW_S) + 2), gas_price_wei=7))
            until(world.is_at(6))
            assert world.health() == (200, f"{said}, block 6, 1 s old")
            assert world.route().json()["outputAmount"] == first
            lines = world.get("/metrics").text.splitlines()
            assert 'swapcli_market_block{network="testnet"} 6.0' in lines
            assert 'swapcli_market_age_seconds{network="testnet"} 1.0' in lines
        assert world.told() == []


@pytest.mark.parametrize("max_age_s", [None, MAX_AGE_S])
def test_state_that_is_too_old_is_not_quoted_on_until_there_is_newer(tmp_path: Path, max_age_s: int | None) -> None:
    limit_s = max_age_s or TTL_S
    with kept_world(tmp_path / "store", max_age_s=max_age_s) as world:
        world.write(at_block(5))
        with world.keepers:
            until(world.is_at(5))
            world.fake_clock.advance(limit_s)
            assert world.health()[0] == world.route().status_code == 200
            world.fake_clock.advance(1)
            old = (
                f"the state of the pools of testnet is {limit_s + 1} seconds old, so --max-age {limit_s} cannot be met"
            )
            assert world.health() == (503, old)
            assert (world.route().status_code, world.route().json()["message"]) == (503, old)
            assert world.get("/testnet/tokens").status_code == 200
            assert world.get("/readyz").status_code == 200
            world.fake_clock.advance(1)
            assert str(limit_s + 2) in world.health()[1], "as old as it is now"
            world.write(at_block(6, int(world.fake_clock.now_s)))
            until(world.is_at(6))
            assert world.health()[0] == world.route().status_code == 200


def test_what_fails_is_tried_again_and_told_once_in_the_beginning_and_once_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with kept_world(path) as world, world.keepers:
        until(lambda: world.keepers.failures()["testnet"])
        assert world.keepers.are_settled()
        assert world.health() == (503, "the pools of testnet could not be read yet")
        (line,) = world.told()
        assert (line["network"], line["keeping"]) == ("testnet", "failing")
        assert line["message"] == f"there is no store {path}"
        world.write(at_block(8))
        until(world.is_at(8))
        until(lambda: len(world.told()) == 2)
        assert {key: each for key, each in world.told()[1].items() if key != "time"} == {
            "network": "testnet",
            "keeping": "well",
        }
        count = world.keepers.failures()["testnet"]
        assert f'swapcli_keeping_failures_total{{network="testnet"}} {count}.0' in world.get("/metrics").text


def test_a_defect_is_logged_without_its_message_and_ends_nothing(tmp_path: Path) -> None:
    tries: list[int] = []

    def broken() -> Market:
        tries.append(1)
        raise RuntimeError("a secret")

    network = at_block(1).network
    node = RpcNode("http://127.0.0.1:1", shown="a node", chain_id=network.chain_id)
    with (
        kept_world(tmp_path / "store", kept=FollowedMarket(network, only(network), broken, node)) as world,
        world.keepers,
    ):
        until(lambda: len(tries) >= 2)
        (line,) = world.told()
        assert (line["keeping"], line["defect"]) == ("failing", "RuntimeError")
        assert any("test_market_followers" in where for where in line["where"])
        assert "a secret" not in world.log.getvalue()


def test_the_end_waits_for_no_node(tmp_path: Path) -> None:
    """A node that accepts and never answers; its own patience is longer than anybody's here."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        market = at_block(1)
        node = RpcNode(url, shown="a node", chain_id=market.network.chain_id, timeout_s=60.0)
        kept = FollowedMarket(market.network, only(market.network), lambda: market, node)
        with kept_world(tmp_path / "store", kept=kept) as world:
            with world.keepers:
                connection, _ = listener.accept()
                assert not world.keepers.are_settled()
                started_s = time.monotonic()
            assert JOIN_TIMEOUT_S <= time.monotonic() - started_s < 10 * JOIN_TIMEOUT_S
            connection.close()
            assert world.health()[0] == 503


def test_an_end_in_peace_leaves_no_thread_and_no_file(tmp_path: Path) -> None:
    with kept_world(tmp_path / "store") as world:
        world.write(at_block(5))
        before = set(all_threads())
        with world.keepers:
            until(world.is_at(5))
            (thread,) = set(all_threads()) - before
        assert not thread.is_alive()
        assert [file.name for file in tmp_path.iterdir()] == ["store"]


def test_an_answer_rests_on_one_state_also_while_another_takes_its_place(tmp_path: Path) -> None:
    """Two states whose quotes differ, put in turns as fast as can be, while orders are answered."""
    with kept_world(tmp_path / "store") as world:
        thin = at_block(2)
        pools = {key: pool for key, pool in thin.pools.items() if len(key) and key != max(thin.pools)}
        sources = [MarketSource(each, world.fake_clock.clock) for each in (at_block(1), replace(thin, pools=pools))]
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
                told = answer["route"]["outputAmount"]
                assert told in outs
                assert json.dumps(answer).count(told) >= 1
        finally:
            ended.set()
            thread.join()
