"""The chain takes other ways, shorter and longer ones, and the store goes with it; a node that is behind changes
nothing."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.chain.node import BlockHeader, ChainHead
from swapcli.chain.rpc_node import RpcNode
from swapcli.engine.sync import count_skipped, follow
from swapcli.errors import ChainReorganized, StaleNode
from swapcli.store import Store
from swapcli.store.undo_log import MAX_UNDO_BLOCKS
from tests.chain.sync.nodes import Late, Lesser
from tests.chain.sync.town import EVERY_PROTOCOL, Town
from tests.chain.sync.truth import check_true, followed, synced


def live(town: Town, rng: Random, blocks: int) -> None:
    """Use pools until the chain is at least so many blocks longer; sometimes a new pool appears."""
    end = town.height() + blocks
    while town.height() < end:
        if rng.random() < 0.1:
            town.make(rng)
        else:
            town.use(rng)


def test_a_store_goes_with_the_chain_whatever_way_it_takes(town: Town, node: RpcNode, store: Store) -> None:
    rng = Random("ways")
    for _ in range(12):
        mark = town.mark()
        for _ in range(rng.randint(1, 5)):
            live(town, rng, rng.randint(1, 3))
            assert follow(store, node)
        lost = town.height() - mark.height
        town.go_back(mark)
        live(town, rng, lost + rng.randint(0, 2))
        advance = follow(store, node)
        assert advance
        assert advance.rewound_to is not None
        assert advance.rewound_to <= mark.height
        check_true(store, node, town.made)


def test_pools_that_another_way_never_made_are_gone_and_those_it_made_are_there(
    town: Town, node: RpcNode, store: Store
) -> None:
    """Lists have other pools in the same places then."""
    rng = Random("places")
    for name in EVERY_PROTOCOL:
        mark = town.mark()
        gone = town.make(rng, name)
        assert follow(store, node)
        assert store.inventory.existing_keys([gone.key])
        lost = town.height() - mark.height
        town.go_back(mark)
        town.make(rng, name)
        while town.height() < mark.height + lost:
            town.chain.node.ask("evm_mine")
        assert follow(store, node)
        check_true(store, node, town.made)


def test_a_way_that_parted_before_all_that_is_remembered_has_everything_read_anew(
    town: Town, node: RpcNode, store: Store
) -> None:
    rng = Random("deep")
    mark = town.mark()
    for _ in range(MAX_UNDO_BLOCKS + 10):
        live(town, rng, 1)
        assert follow(store, node)
    lost = town.height() - mark.height
    town.go_back(mark)
    live(town, rng, lost)
    advance = follow(store, node)
    assert advance
    assert advance.rewound_to is None
    followed(store, node)
    check_true(store, node, town.made)
    town.use(rng)
    assert follow(store, node)
    check_true(store, node, town.made)


def test_a_shorter_way_waits_until_it_is_as_long(town: Town, node: RpcNode, store: Store) -> None:
    rng = Random("shorter")
    mark = town.mark()
    for _ in range(4):
        live(town, rng, 2)
        assert follow(store, node)
    end, held = town.height(), store.read_market()
    town.go_back(mark)
    town.use(rng)
    assert follow(store, node) is None, "it cannot tell it from a node that is behind"
    live(town, rng, 3)
    assert town.height() < end
    with pytest.raises(StaleNode, match="another chain"):
        follow(store, node)
    with pytest.raises(StaleNode, match="another chain"):
        synced(store, node)
    assert store.read_market() == held
    live(town, rng, end - town.height())
    advance = follow(store, node)
    assert advance
    assert advance.rewound_to is not None
    check_true(store, node, town.made)


def test_a_node_that_is_behind_on_the_same_chain_changes_nothing(town: Town, node: RpcNode, store: Store) -> None:
    rng = Random("behind")
    for _ in range(3):
        town.use(rng)
        assert follow(store, node)
    held, head = store.read_market(), town.height()
    for behind in (1, 2):
        late = Late(node, head - behind)
        assert follow(store, late) is None
        with pytest.raises(StaleNode, match="behind the store"):
            synced(store, late)
    with pytest.raises(StaleNode, match="does not remember"):
        follow(store, Late(node, 3))
    assert store.read_market() == held


class Turning(Lesser):
    """A node whose chain takes another way just before a step is kept, as often as it is told to."""

    def __init__(self, node: RpcNode, turns: int, turn: Town) -> None:
        super().__init__(node)
        self._turns, self._town, self._rng = turns, turn, Random("turning")

    def head(self) -> ChainHead:
        self._mark = self._town.mark()
        live(self._town, self._rng, 1)
        self._head = self.node.head()
        return self._head

    def block(self, number: int) -> BlockHeader | None:
        if number == self._head.block.number and self._turns:
            self._turns -= 1
            self._town.go_back(self._mark)
            live(self._town, self._rng, 2)
        return self.node.block(number)


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_chain_that_turns_while_it_is_read_is_read_again(town: Town, node: RpcNode, store: Store, turns: int) -> None:
    assert follow(store, Turning(node, turns, town))
    check_true(store, node)
    followed(store, node)
    check_true(store, node, town.made)


def test_a_chain_that_never_comes_to_rest_is_given_up_and_nothing_is_kept(
    town: Town, node: RpcNode, store: Store
) -> None:
    held = store.read_market()
    with pytest.raises(ChainReorganized, match="was reorganized while block"):
        follow(store, Turning(node, 99, town))
    assert store.read_market() == held
    assert count_skipped(store) == ()
