"""While its disk cannot be written, a store follows the chain in memory; later the disk has all of it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from swapcli.core.errors import SwapcliError
from swapcli.state.clock import Clock
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import IN_MEMORY, Store
from swapcli.state.sync import ChainFollower, follow
from tests.chain.sync.expected_state import check_true
from tests.chain.sync.factory_chain import TestChain
from tests.state.store.build import is_sound, reopen
from tests.support.full_disk import full_disk

RETRY_S = 5.0


class Time:
    now_s = 0.0
    clock = Clock(lambda: 0.0, lambda: Time.now_s)


@pytest.mark.slow
def test_blocks_and_reorganizations_go_on_in_memory(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng, path, reports = Random("full"), Path(store.path), list[tuple[SwapcliError | None, int]]()
    chain = ChainFollower(store, node, lambda *report: reports.append(report), clock=Time.clock)
    before = store.read_market()
    with full_disk():
        for _ in range(3):
            mark = local_chain.snapshot()
            local_chain.create_pool(rng)
            local_chain.use(rng)
            advance = chain.follow()
            assert advance
            lost = local_chain.height() - mark.height
            local_chain.revert(mark)
            for _ in range(lost + 1):
                local_chain.use(rng)
            advance = chain.follow(advance.block.number)
            assert advance
            assert advance.rewound_to == mark.height
            check_true(store, node, local_chain.pools)
            assert store.path == IN_MEMORY
            with reopen(path, store.network) as disk:
                assert disk.read_market() == before
            Time.now_s += RETRY_S
    assert [failures for _, failures in reports] == [1, 2, 3]
    assert all("cannot be used" in str(error) for error, _ in reports)

    local_chain.use(rng)
    mark = local_chain.snapshot()
    assert chain.follow()
    assert reports[-1] == (None, 0)
    assert Path(store.path) == path
    check_true(store, node, local_chain.pools)
    assert is_sound(path)
    local_chain.use(rng)
    assert follow(store, node)
    local_chain.revert(mark)
    local_chain.use(rng)
    local_chain.use(rng)
    assert follow(store, node)
    check_true(store, node, local_chain.pools)


def test_the_copy_of_a_killed_process_is_continued(
    local_chain: TestChain, node: RpcNode, store: Store, tmp_path: Path
) -> None:
    rng, path = Random("killed"), Path(store.path)
    copy = str(tmp_path / "copy")
    with reopen(path, store.network) as killed:
        local_chain.use(rng)
        killed.leave_disk(copy)
        assert follow(killed, node)
        local_chain.use(rng)
        assert follow(killed, node)
        newest = killed.inventory.head()
        with reopen(path, store.network) as successor:
            successor.leave_disk(copy)
            assert successor.inventory.head() == newest
            successor.return_to_disk()
            assert successor.inventory.head() == newest
        assert store.read_market() == killed.read_market()
    # A copy that is older than the store is of no use.
    local_chain.use(rng)
    assert follow(store, node)
    newest = store.inventory.head()
    store.leave_disk(copy)
    assert store.inventory.head() == newest


def test_later_blocks_of_another_process_stay(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng, path = Random("another"), Path(store.path)
    store.leave_disk(IN_MEMORY)
    local_chain.use(rng)
    assert follow(store, node)
    local_chain.create_pool(rng)
    with reopen(path, store.network) as another:
        assert follow(another, node)
        expected = another.read_market()
    store.return_to_disk()
    assert store.read_market() == expected
    assert is_sound(path)
