"""Whatever happens on the chain, a store that follows it equals a fresh read at every block that it comes to."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.chain.rpc_node import RpcNode
from swapcli.engine.sync import follow
from swapcli.store import Store
from tests.chain.sync.town import CONCENTRATED, EVERY_PROTOCOL, PAIRS, Town
from tests.chain.sync.truth import check_true


def test_pools_of_every_kind_are_followed_through_whatever_is_done_with_them(
    town: Town, node: RpcNode, store: Store
) -> None:
    rng = Random("use")
    for _ in range(40):
        used = {town.use(rng).key for _ in range(rng.choice((1, 1, 2, 8)))}
        advance = follow(store, node)
        assert advance
        assert set(advance.changed) <= used
        assert advance == (node.head().block, advance.changed, (), (), (), None)
        check_true(store, node, town.made)
        assert follow(store, node) is None


@pytest.mark.parametrize("name", EVERY_PROTOCOL)
def test_every_kind_of_change_is_heard_of(town: Town, node: RpcNode, store: Store, name: str) -> None:
    rng = Random(name)
    (made,) = (each for each in town.made if each.protocol == name)
    acts = [town.use] if name in (*PAIRS, "weighted") else [town.swap, town.provide, town.withdraw]
    for act in acts * 3:
        act(rng, made)
        before = store.read_pools([made.key]).pools
        advance = follow(store, node)
        assert advance
        assert advance.changed == (made.key,)
        assert store.read_pools([made.key]).pools != before
        check_true(store, node, town.made)


def test_pools_that_appear_are_added_whether_listed_or_told_of(town: Town, node: RpcNode, store: Store) -> None:
    rng = Random("new")
    for name in EVERY_PROTOCOL * 2:
        made = town.make(rng, name)
        advance = follow(store, node)
        assert advance
        assert advance.added == (made.key,)
        check_true(store, node, town.made)


@pytest.mark.parametrize("name", [*PAIRS, *CONCENTRATED, "v4"])
def test_a_pool_that_is_made_first_and_filled_later_is_held_once_it_can_be_read(
    town: Town, node: RpcNode, store: Store, name: str
) -> None:
    rng = Random(name)
    made = town.make(rng, name, empty=True)
    assert follow(store, node)
    check_true(store, node)
    town.fill(rng, made)
    assert follow(store, node)
    check_true(store, node, town.made)
