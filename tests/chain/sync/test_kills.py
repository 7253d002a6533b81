"""Whoever syncs may be killed at any moment, and several may sync at once: the store holds one whole block of the
chain."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from traceback import print_exc

import pytest

from swapcli.chain.rpc_node import RpcNode
from swapcli.engine.clock import Clock
from swapcli.engine.sync import SyncFilter, follow, sync
from swapcli.errors import ConfigError, UpstreamError
from tests.chain.anvil import running_anvil
from tests.chain.sync.nodes import Patient, turn
from tests.chain.sync.town import Town
from tests.chain.sync.truth import check_true, connected, followed, store_at, synced
from tests.examples import examples
from tests.store.build import is_sound

EVEN_CLOCK = Clock(time.time, count().__next__)
"""By which every step takes a second, so that portions stay as small as they are."""
KILLS = examples(15, full=50)
POOLS = 40


def work(path: Path, town: Town) -> None:
    """Sync in small portions, then follow, until somebody ends it, or nobody is there any more."""
    parent = os.getppid()
    with connected(town.chain) as made:
        node = Patient(made, path.with_suffix(".lock"))
        while os.getppid() == parent:
            try:
                with store_at(path, town.network) as store:
                    for _ in sync(store, node, SyncFilter(), EVEN_CLOCK, batch_size=3):
                        pass
                    while os.getppid() == parent:
                        follow(store, node)
            except (ConfigError, UpstreamError):
                continue  # another one was writing, or the chain never came to rest


def start(path: Path, town: Town) -> int:
    """A process of its own that works; nothing is open that it could share."""
    child = os.fork()
    if child == 0:
        try:
            work(path, town)
        except BaseException:
            print_exc()
        finally:
            os._exit(1)
    return child


def use(town: Town, rng: Random, path: Path) -> None:
    with turn(path.with_suffix(".lock")):
        town.use(rng)


def end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, "it was still at work"


@pytest.fixture
def town() -> Iterator[Town]:
    rng = Random("town")
    with running_anvil() as chain:
        made = Town(chain)
        for _ in range(POOLS):
            made.make(rng)
        yield made


def test_whoever_is_killed_leaves_one_whole_block_of_the_chain(town: Town, node: RpcNode, tmp_path: Path) -> None:
    path, rng = tmp_path / "store", Random("kills")
    heads: list[int] = []
    sizes: list[int] = []
    for number in range(KILLS):
        child = start(path, town)
        for _ in range(rng.randint(1, 3)):
            time.sleep(rng.uniform(0.0, 0.01 + 0.2 * number / KILLS))
            use(town, rng, path)
        end(child)
        with store_at(path, town.network) as store:
            if mark := store.inventory.head():
                check_true(store, node)
                heads.append(mark.number)
                sizes.append(store.inventory.count_pools_and_tokens()[0])
        assert is_sound(path)
    assert min(sizes) < POOLS, "the first were killed before they had found everything"
    assert sorted(set(sizes)) == list(dict.fromkeys(sizes)), "nothing that was found is lost"
    assert len(set(heads)) > KILLS / 4, "most came to write something"
    with store_at(path, town.network) as store:
        synced(store, node)
        check_true(store, node, town.made)


def test_several_that_sync_at_once_do_no_harm(town: Town, node: RpcNode, tmp_path: Path) -> None:
    """Also while the chain takes other ways."""
    path, rng = tmp_path / "store", Random("several")
    children = [start(path, town) for _ in range(3)]
    try:
        for _ in range(12):
            mark = town.mark()
            for _ in range(rng.randint(1, 12)):
                use(town, rng, path)
            if rng.random() < 0.5:
                lost = town.height() - mark.height
                with turn(path.with_suffix(".lock")):
                    town.go_back(mark)
                for _ in range(lost + 1):
                    use(town, rng, path)
            time.sleep(rng.uniform(0.0, 0.3))
    finally:
        for child in children:
            end(child)
    assert is_sound(path)
    with store_at(path, town.network) as store:
        assert store.inventory.count_pools_and_tokens()[0] > 0, "they came to write something"
        synced(store, node)
        check_true(store, node, town.made)
        town.use(rng)
        followed(store, node)
        check_true(store, node, town.made)
