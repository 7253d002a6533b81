"""A keeper beside a chain, and beside others who keep the same store at the newest block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Thread

import pytest

from swapcli.chain.node import Node
from swapcli.chain.rpc_node import RpcNode
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.market_follower import FollowedStore, MarketFollower, open_follower
from swapcli.engine.sources.in_memory import MarketSource
from swapcli.engine.sync import Progress, follow
from swapcli.errors import UpstreamError
from swapcli.model.market import Provenance
from tests.chain.anvil import running_anvil
from tests.chain.small_chain import SmallTestChain
from tests.chain.sync.oracle import connected, fresh, store_at, synced
from tests.store.build import only

STEPS = 25


@pytest.fixture
def small_chain() -> Iterator[SmallTestChain]:
    with running_anvil() as chain:
        yield SmallTestChain(chain)


@pytest.fixture
def node(small_chain: SmallTestChain) -> Iterator[RpcNode]:
    with connected(small_chain.chain) as made:
        yield made


@pytest.fixture
def path(small_chain: SmallTestChain, node: RpcNode, tmp_path: Path) -> Path:
    """Of a store that was synced."""
    with store_at(tmp_path / "store", small_chain.network) as store:
        synced(store, node)
    return tmp_path / "store"


@contextmanager
def keeping(
    small_chain: SmallTestChain, path: Path, node: Node | None, told: list[Progress] | None = None
) -> Iterator[MarketFollower]:
    kept = FollowedStore(small_chain.network, only(small_chain.network), path, node)
    with open_follower(kept, SYSTEM_CLOCK, (list[Progress]() if told is None else told).append) as keeper:
        yield keeper


def check_true(source: MarketSource, node: Node) -> None:
    """Every pool that is quoted on is as the chain has it at the block that is told."""
    market = source.market
    assert market.block is not None
    assert dict(market.pools) == fresh(node, market.pools.values(), market.block)
    block = node.block(market.block)
    assert block
    assert market.timestamp == block.timestamp
    assert market.provenance is Provenance.SYNCED


def test_what_a_keeper_holds_is_the_chain_whoever_else_follows_it_and_whatever_way_it_takes(
    small_chain: SmallTestChain, path: Path, node: RpcNode
) -> None:
    """Two keepers with nodes and one without, and somebody who syncs, in any order."""
    rng = Random("keepers")
    with (
        keeping(small_chain, path, node) as first,
        keeping(small_chain, path, node) as second,
        keeping(small_chain, path, None) as reader,
        store_at(path, small_chain.network) as store,
    ):
        keepers = [first, second, reader]
        sources = [keeper.read() for keeper in keepers]
        for _ in range(STEPS):
            turn = small_chain.prepare_reorg(rng)
            if rng.random() < 0.3:
                follow(store, node)
                turn()
            small_chain.chain.node.ask("anvil_mine", "0x6")
            for number in rng.sample(range(3), rng.randint(1, 3)):
                if rng.random() < 0.3:
                    follow(store, node)
                sources[number] = keepers[number].advance() or sources[number]
                if number != 2:
                    assert sources[number].market.block == small_chain.head()
                    check_true(sources[number], node)
        sources[2] = reader.advance() or sources[2]
        check_true(sources[2], node)
        assert set(sources[2].market.pools) == set(store.read_market().pools)


def test_keepers_of_one_store_at_the_same_time_are_in_nobodys_way(small_chain: SmallTestChain, path: Path) -> None:
    rng, wrong, ended = Random("together"), list[BaseException](), list[bool]()

    def keep() -> None:
        try:
            with connected(small_chain.chain) as own, keeping(small_chain, path, own) as keeper:
                keeper.read()
                while not ended:
                    keeper.advance()
                source = keeper.advance() or keeper.read()
                check_true(source, own)
                assert source.market.block == own.head().block.number
        except BaseException as error:
            wrong.append(error)

    threads = [Thread(target=keep) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(40):
        small_chain.run_random_activity(rng)
    ended.append(True)
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_was_only_described_is_kept_in_private_and_its_store_left_as_it_was(
    small_chain: SmallTestChain, path: Path, node: RpcNode
) -> None:
    with store_at(path, small_chain.network) as store:
        noted = replace(store.read_market(), provenance=Provenance.RECORDED, source="somebody's notes")
        store.write_market(noted)
    small_chain.run_random_activity(Random("since"))
    told: list[Progress] = []
    with keeping(small_chain, path, node, told) as keeper:
        source = keeper.read()
        check_true(source, node)
        assert set(source.market.pools) == set(noted.pools)
        assert told[-1].done == told[-1].total == len(noted.pools)
        small_chain.run_random_activity(Random("then"))
        small_chain.chain.node.ask("evm_mine")
        moved = keeper.advance()
        assert moved
        check_true(moved, node)
    with store_at(path, small_chain.network) as store:
        assert store.read_market() == noted


def test_a_node_that_fails_leaves_what_is_held_as_it_was(
    small_chain: SmallTestChain, path: Path, node: RpcNode
) -> None:
    nobody = RpcNode("http://127.0.0.1:1", shown="nobody", chain_id=31_337, attempts=1)
    with keeping(small_chain, path, nobody) as keeper, keeping(small_chain, path, node) as other:
        source = keeper.read()
        with pytest.raises(UpstreamError, match="no connection to nobody"):
            keeper.advance()
        check_true(source, node)
        small_chain.chain.node.ask("evm_mine")
        other.read()
        assert other.advance()
        with pytest.raises(UpstreamError):
            keeper.advance()
