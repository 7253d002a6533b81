"""Between a store and its node everything goes wrong that can: the store is true to a block of the chain, always."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from shutil import copyfile

import pytest

from swapcli.core.errors import InvalidUpstreamResponse, UpstreamError
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.families.reading.pool_readers import load_pools, ref_of_pool
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from swapcli.state.sync import SyncFilter, follow, sync
from tests.chain import proxy as failures
from tests.chain.failure_modes import FAST_MODES, MODES, NOWHERE, FailureMode, check_error, connect_without_pauses
from tests.chain.node.server import SECRET
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.settings import url_of
from tests.chain.small_chain import SmallTestChain
from tests.examples import examples, few
from tests.state.store.build import create, reopen
from tests.support.chain import restored

BASE = find_network("base")
"""Its protocols have other names than those of the tests, so that the state of a pool shows its kind."""

SEEDS = examples(4, full=8)
STEPS = 4
FORGOTTEN_BLOCKS = 200

End = type[UpstreamError] | None


class Bench:
    """A small chain behind a proxy, and stores of it in `folder`."""

    def __init__(self, small_chain: SmallTestChain, proxy: Proxy, folder: Path) -> None:
        self.small_chain, self.proxy, self.folder = small_chain, proxy, folder
        self.chain = small_chain.chain
        self.network = self.small_chain.network
        self._stores = iter(range(1 << 30))
        self._synced, self._synced_at = self.new_path(), 0

    def new_path(self) -> Path:
        return self.folder / f"store-{next(self._stores)}.sqlite"

    @contextmanager
    def store(self, is_new: bool) -> Iterator[Store]:
        """A new one, or one that has been synced a while ago."""
        path = self.new_path()
        if is_new:
            create(path, self.network).close()
        else:
            copyfile(self._synced_lately(), path)
        with reopen(path, self.network) as store:
            yield store

    def _synced_lately(self) -> Path:
        """The node forgets the states of old blocks."""
        if not self._synced_at or self.small_chain.head() - self._synced_at > FORGOTTEN_BLOCKS:
            with create(self._synced, self.network) as store, connect_without_pauses(url_of(self.chain)) as node:
                assert synced(store, node) is None
            self._synced_at = self.small_chain.head()
        return self._synced

    def is_true(self, store: Store) -> bool:
        """Check every pool against the node at the store's block; return False if the chain has dropped that block."""
        stored = store.read_market()
        head = store.inventory.head()
        if head is None:
            assert not stored.pools
            return True
        with connect_without_pauses(url_of(self.chain)) as node:
            block = node.read_block(head.number)
            if block is None or block.hash != head.hash:
                return False
            places = [place for pool in stored.pools.values() if (place := ref_of_pool(pool, BASE))]
            assert len(places) == len(stored.pools)
            found = [each for each in load_pools(MulticallReader(node, block, None), places) if isinstance(each, Pool)]
        assert stored.pools == {pool.key: pool for pool in found}
        return True

    def check_whole(self, store: Store) -> None:
        """Nothing fails any more: it comes to the latest block, and to all that a new store comes to."""
        self.proxy.failures, self.proxy.always = [], None
        # A chain that took another way counts once it has come as far.
        head = store.inventory.head()
        self.chain.node.ask("anvil_mine", hex(max(1, head.number - self.small_chain.head()) if head else 1))
        with connect_without_pauses(self.proxy.url) as node:
            assert synced(store, node) is None
        assert self.is_true(store)
        with connect_without_pauses(url_of(self.chain)) as node, create(self.new_path(), self.network) as other:
            assert synced(other, node) is None
            assert store.inventory.head() == other.inventory.head()
            assert store.read_market().pools == other.read_market().pools
            assert store.read_tokens().keys() >= other.read_tokens().keys()
        for file in Path(store.path).parent.glob(f"{Path(store.path).name}*"):
            assert SECRET.encode() not in file.read_bytes()


def synced(store: Store, node: RpcNode, after_each: Callable[[], object] = bool) -> End:
    """Syncs: what it came to."""
    try:
        for _ in sync(store, node, SyncFilter(), SYSTEM_CLOCK):
            after_each()
    except UpstreamError as error:
        return check_error(error)
    return None


def followed(store: Store, node: RpcNode) -> End:
    """Takes a step: what it came to."""
    try:
        follow(store, node)
    except UpstreamError as error:
        return check_error(error)
    return None


@pytest.fixture(scope="module")
def whole_bench(shared_small_chain: SmallTestChain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with restored(shared_small_chain) as small_chain, open_proxy(small_chain.chain.node.port) as proxy:
        yield Bench(small_chain, proxy, tmp_path_factory.mktemp("stores"))


@pytest.fixture
def bench(whole_bench: Bench, capfd: pytest.CaptureFixture[str]) -> Iterator[Bench]:
    """Afterwards nothing has been printed."""
    whole_bench.proxy.failures, whole_bench.proxy.always = [], None
    yield whole_bench
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("mode", few(MODES, 6), ids=lambda mode: mode.name)
def test_a_sync_during_failures_leaves_a_correct_store(bench: Bench, mode: FailureMode) -> None:
    with bench.store(is_new=True) as store:
        bench.proxy.failures = [failures.passes_on] * Random(mode.name).randint(0, 9)
        bench.proxy.always = mode.build(Random(3))
        with connect_without_pauses(bench.proxy.url, mode.timeout_s) as node:
            assert synced(store, node, lambda: bench.is_true(store)) in {*mode.outcomes_if_permanent, None}
        assert bench.is_true(store)
        bench.check_whole(store)


@pytest.mark.parametrize("mode", few(MODES[1:], 6), ids=lambda mode: mode.name)
def test_a_step_during_failures_leaves_a_correct_store(bench: Bench, mode: FailureMode) -> None:
    bench.small_chain.run_random_activity(Random(mode.name))
    with bench.store(is_new=False) as store:
        bench.proxy.failures = [failures.passes_on] * Random(mode.name).randint(0, 5)
        bench.proxy.always = mode.build(Random(4))
        with connect_without_pauses(bench.proxy.url, mode.timeout_s) as node:
            assert followed(store, node) in {*mode.outcomes_if_permanent, None}
        assert bench.is_true(store)
        bench.check_whole(store)


def test_what_passes_is_waited_out_in_syncs_and_steps(bench: Bench) -> None:
    passing = [mode for mode in FAST_MODES if mode.outcomes_if_temporary == (None,)]
    for seed in range(SEEDS):
        rng = Random(seed)
        bench.small_chain.run_random_activity(rng)
        bench.proxy.always = failures.every(2, failures.any_of(rng, [mode.build(rng) for mode in passing], 0.9))
        with bench.store(is_new=seed % 2 == 0) as store, connect_without_pauses(bench.proxy.url) as node:
            assert (followed if store.read_blocks() else synced)(store, node) is None
            bench.check_whole(store)


@pytest.mark.slow
def test_a_store_stays_correct_through_any_order_of_failures(bench: Bench) -> None:
    """Failures of all sorts, a chain that goes on and takes other ways, and stores that are closed and opened again."""
    ends: list[End] = []
    for seed in range(SEEDS):
        rng = Random(seed)
        with bench.store(is_new=rng.random() < 0.3) as store:
            for _ in range(STEPS):
                ends.append(disturbed(bench, store, rng))
                bench.is_true(store)
            path = Path(store.path)
        with reopen(path, bench.network) as store:
            bench.check_whole(store)
    assert None in ends
    assert len(set(ends)) > 1, "nothing failed"


def disturbed(bench: Bench, store: Store, rng: Random) -> End:
    """A sync or a step while failures, or a turn of the chain, strike at random: what it came to."""
    turns = rng.random() < 0.5
    turn = bench.small_chain.prepare_reorg(rng)
    failure = rng.choice([failures.first(turn), failures.meanwhile(turn, rng), failures.amid(turn, rng)])
    bench.proxy.failures = [failures.passes_on] * rng.randint(0, 12) + [failure] * turns
    failing = [mode.build(rng) for mode in rng.sample(FAST_MODES, 3)]
    bench.proxy.always = failures.any_of(rng, failing, rng.choice([0.0, 0.2, 0.6]))
    with connect_without_pauses(bench.proxy.url) as node:
        if store.inventory.count_pools_and_tokens()[0] and rng.random() < 0.7:
            return followed(store, node)
        return synced(store, node, lambda: bench.is_true(store))


def test_a_reorg_deeper_than_the_stored_blocks_resyncs(bench: Bench) -> None:
    mark = bench.chain.snapshot()
    rng = Random("deep")
    bench.small_chain.run_random_activity(rng)
    with bench.store(is_new=True) as store:
        with connect_without_pauses(bench.proxy.url) as node:
            assert synced(store, node) is None
        bench.chain.revert(mark)
        bench.small_chain.run_random_activity(rng)
        bench.small_chain.run_random_activity(rng)
        with connect_without_pauses(bench.proxy.url) as node:
            assert followed(store, node) is None
        assert bench.is_true(store)
        bench.check_whole(store)


def test_a_node_of_another_chain_changes_nothing(bench: Bench) -> None:
    bench.small_chain.run_random_activity(Random("another chain"))
    with bench.store(is_new=False) as store:
        before = store.read_market()
        bench.proxy.always = failures.moves_to(1)
        with connect_without_pauses(bench.proxy.url) as node:
            assert followed(store, node) is InvalidUpstreamResponse
            assert synced(store, node) is InvalidUpstreamResponse
        assert store.read_market() == before


def test_a_sync_without_multicall_has_the_same_result(bench: Bench) -> None:
    network = bench.network._replace(multicall=NOWHERE)
    with (
        bench.store(is_new=True) as store,
        create(bench.new_path(), network) as other,
        connect_without_pauses(bench.proxy.url) as node,
    ):
        assert synced(store, node) is synced(other, node) is None
        assert other.read_market().pools == store.read_market().pools
        assert bench.is_true(other)
