"""A market follower next to a chain and next to other followers of the same store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Thread

import pytest

from swapcli.core.errors import UpstreamError
from swapcli.core.model.market import Provenance
from swapcli.quoting.followers.market_follower import FollowedStore, MarketFollower, open_follower
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.node import Node
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from swapcli.state.sync import Progress, follow
from tests.chain.small_chain import SmallTestChain
from tests.chain.sync.expected_state import fresh, store_at, synced
from tests.examples import examples
from tests.state.store.build import only
from tests.support.chain import connected

STEPS = examples(6, full=25)


@pytest.fixture
def node(small_chain: SmallTestChain) -> Iterator[RpcNode]:
    with connected(small_chain.chain) as made:
        yield made


@pytest.fixture
def path(small_chain: SmallTestChain, node: RpcNode, tmp_path: Path) -> Path:
    """The path of a synced store."""
    with store_at(tmp_path / "store", small_chain.network) as store:
        synced(store, node)
    return tmp_path / "store"


@contextmanager
def open_market_follower(
    small_chain: SmallTestChain, path: Path, node: Node | None, progress: list[Progress] | None = None
) -> Iterator[MarketFollower]:
    followed = FollowedStore(small_chain.network, only(small_chain.network), path, node)
    with open_follower(followed, SYSTEM_CLOCK, (list[Progress]() if progress is None else progress).append) as follower:
        yield follower


def check_true(source: InMemorySource, node: Node) -> None:
    """Check that every pool equals the chain at the reported block."""
    market = source.market
    assert market.block is not None
    assert dict(market.pools) == fresh(node, market.pools.values(), market.block)
    block = node.read_block(market.block)
    assert block
    assert market.timestamp == block.timestamp
    assert market.provenance is Provenance.SYNCED


def test_followers_agree_with_the_chain_through_reorgs(small_chain: SmallTestChain, path: Path, node: RpcNode) -> None:
    """Run two followers with nodes, one without, and a sync in random order."""
    rng = Random("keepers")
    with (
        open_market_follower(small_chain, path, node) as first,
        open_market_follower(small_chain, path, node) as second,
        open_market_follower(small_chain, path, None) as reader,
        store_at(path, small_chain.network) as store,
    ):
        followers = [first, second, reader]
        sources = [follower.read() for follower in followers]
        for _ in range(STEPS):
            turn = small_chain.prepare_reorg(rng)
            if rng.random() < 0.3:
                follow(store, node)
                turn()
            small_chain.chain.node.ask("anvil_mine", "0x6")
            for number in rng.sample(range(3), rng.randint(1, 3)):
                if rng.random() < 0.3:
                    follow(store, node)
                sources[number] = followers[number].advance() or sources[number]
                if number != 2:
                    assert sources[number].market.block == small_chain.head()
                    check_true(sources[number], node)
        sources[2] = reader.advance() or sources[2]
        check_true(sources[2], node)
        assert set(sources[2].market.pools) == set(store.read_market().pools)


@pytest.mark.slow
def test_concurrent_followers_of_one_store_do_not_interfere(small_chain: SmallTestChain, path: Path) -> None:
    rng, wrong, ended = Random("together"), list[BaseException](), list[bool]()

    def keep() -> None:
        try:
            with connected(small_chain.chain) as own, open_market_follower(small_chain, path, own) as follower:
                follower.read()
                while not ended:
                    follower.advance()
                source = follower.advance() or follower.read()
                check_true(source, own)
                assert source.market.block == own.read_head().block.number
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


def test_a_recorded_market_is_followed_in_memory_only(small_chain: SmallTestChain, path: Path, node: RpcNode) -> None:
    with store_at(path, small_chain.network) as store:
        noted = store.read_market()._replace(provenance=Provenance.RECORDED, source="notes of a user")
        store.write_market(noted)
    small_chain.run_random_activity(Random("since"))
    progress: list[Progress] = []
    with open_market_follower(small_chain, path, node, progress) as follower:
        source = follower.read()
        check_true(source, node)
        assert set(source.market.pools) == set(noted.pools)
        assert progress[-1].done == progress[-1].total == len(noted.pools)
        small_chain.run_random_activity(Random("then"))
        small_chain.chain.node.ask("evm_mine")
        moved = follower.advance()
        assert moved
        check_true(moved, node)
    with store_at(path, small_chain.network) as store:
        assert store.read_market() == noted


def test_a_node_that_fails_leaves_what_is_held_as_it_was(
    small_chain: SmallTestChain, path: Path, node: RpcNode
) -> None:
    unreachable = RpcNode([RpcEndpoint("http://127.0.0.1:1", "an unreachable node")], 31_337, NodePolicy(attempts=1))
    with (
        open_market_follower(small_chain, path, unreachable) as follower,
        open_market_follower(small_chain, path, node) as other,
    ):
        source = follower.read()
        with pytest.raises(UpstreamError, match="an unreachable node refuses connections"):
            follower.advance()
        check_true(source, node)
        small_chain.chain.node.ask("evm_mine")
        other.read()
        assert other.advance()
        with pytest.raises(UpstreamError):
            follower.advance()
