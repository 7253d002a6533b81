"""The store follows the chain through shorter and longer reorganizations; a node that is behind changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from swapcli.core.errors import ChainReorganized, StaleNode, UpstreamTimeout
from swapcli.core.model.block_tag import BlockTag
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.state.rpc.node import BlockHeader, BlockId, ChainHead
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from swapcli.state.store.undo_log import MAX_UNDO_BLOCKS
from swapcli.state.sync import count_skipped, follow
from tests.chain.sync.expected_state import check_true, followed, synced
from tests.chain.sync.factory_chain import EVERY_PROTOCOL, TestChain
from tests.chain.sync.nodes import LaggingNode, LimitedNode
from tests.examples import examples, few


def live(local_chain: TestChain, rng: Random, blocks: int) -> None:
    """Use pools until the chain is at least so many blocks longer; sometimes a new pool appears."""
    end = local_chain.height() + blocks
    while local_chain.height() < end:
        if rng.random() < 0.1:
            local_chain.create_pool(rng)
        else:
            local_chain.use(rng)


def test_a_store_follows_every_reorganization(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng = Random("ways")
    for _ in range(examples(4, full=12)):
        mark = local_chain.snapshot()
        for _ in range(rng.randint(1, 5)):
            live(local_chain, rng, rng.randint(1, 3))
            assert follow(store, node)
        lost = local_chain.height() - mark.height
        local_chain.revert(mark)
        live(local_chain, rng, lost + rng.randint(0, 2))
        advance = follow(store, node)
        assert advance
        assert advance.rewound_to is not None
        assert advance.rewound_to <= mark.height
        check_true(store, node, local_chain.pools)


def test_a_rewind_is_reported_after_a_step_that_failed(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng = Random("failing")
    mark = local_chain.snapshot()
    live(local_chain, rng, 2)
    before = follow(store, node)
    assert before
    local_chain.revert(mark)
    live(local_chain, rng, 3)
    with pytest.raises(UpstreamTimeout):
        follow(store, SilentNode(node), before.block.number)
    advance = follow(store, node, before.block.number)
    assert advance
    assert advance.rewound_to == mark.height
    local_chain.use(rng)
    advance = follow(store, node, advance.block.number)
    assert advance
    assert advance.rewound_to is None
    check_true(store, node, local_chain.pools)


def test_a_reorganization_replaces_the_pools_it_created(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    """Lists have other pools in the same places then."""
    rng = Random("places")
    for name in EVERY_PROTOCOL:
        mark = local_chain.snapshot()
        gone = local_chain.create_pool(rng, name)
        assert follow(store, node)
        assert store.inventory.existing_keys([gone.key])
        lost = local_chain.height() - mark.height
        local_chain.revert(mark)
        local_chain.create_pool(rng, name)
        while local_chain.height() < mark.height + lost:
            local_chain.chain.node.ask("evm_mine")
        assert follow(store, node)
        check_true(store, node, local_chain.pools)


@pytest.mark.slow
def test_a_reorganization_beyond_the_undo_log_reads_all_pools(
    local_chain: TestChain, node: RpcNode, store: Store
) -> None:
    rng = Random("deep")
    mark = local_chain.snapshot()
    for _ in range(MAX_UNDO_BLOCKS + 10):
        live(local_chain, rng, 1)
        assert follow(store, node)
    lost = local_chain.height() - mark.height
    local_chain.revert(mark)
    live(local_chain, rng, lost)
    advance = follow(store, node)
    assert advance
    assert advance.rewound_to is None
    followed(store, node)
    check_true(store, node, local_chain.pools)
    local_chain.use(rng)
    assert follow(store, node)
    check_true(store, node, local_chain.pools)


def test_a_shorter_branch_is_followed_once_it_is_as_long(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng = Random("shorter")
    mark = local_chain.snapshot()
    for _ in range(4):
        live(local_chain, rng, 2)
        assert follow(store, node)
    end, stored = local_chain.height(), store.read_market()
    local_chain.revert(mark)
    local_chain.use(rng)
    assert follow(store, node) is None, "the branch looks like a node that is behind"
    live(local_chain, rng, 3)
    assert local_chain.height() < end
    with pytest.raises(StaleNode, match="at block 68 of a different chain than the store"):
        follow(store, node)
    with pytest.raises(StaleNode, match="at block 68 of a different chain than the store"):
        synced(store, node)
    assert store.read_market() == stored
    live(local_chain, rng, end - local_chain.height())
    advance = follow(store, node)
    assert advance
    assert advance.rewound_to is not None
    check_true(store, node, local_chain.pools)


def test_a_node_behind_on_the_same_chain_changes_nothing(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng = Random("behind")
    for _ in range(3):
        local_chain.use(rng)
        assert follow(store, node)
    stored, head = store.read_market(), local_chain.height()
    for behind in (1, 2):
        late = LaggingNode(node, head - behind)
        assert follow(store, late) is None
        with pytest.raises(StaleNode, match="behind the store"):
            synced(store, late)
    with pytest.raises(StaleNode, match="does not have"):
        follow(store, LaggingNode(node, 3))
    assert store.read_market() == stored


class SilentNode(LimitedNode):
    """A node that knows its blocks, but answers no calls."""

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        del calls, at
        raise UpstreamTimeout("no answer in time")


class Turning(LimitedNode):
    """A node whose chain is reorganized `turns` times, each just before a step is written."""

    def __init__(self, node: RpcNode, turns: int, turn: TestChain) -> None:
        super().__init__(node)
        self._turns, self._chain, self._rng = turns, turn, Random("turning")

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        del tag, code_of
        self._mark = self._chain.snapshot()
        live(self._chain, self._rng, 1)
        self._head = self.node.read_head()
        return self._head

    def read_block(self, number: int) -> BlockHeader | None:
        if number == self._head.block.number and self._turns:
            self._turns -= 1
            self._chain.revert(self._mark)
            live(self._chain, self._rng, 2)
        return self.node.read_block(number)


@pytest.mark.parametrize("turns", few([1, 2, 3], 1))
def test_a_reorganization_during_a_read_repeats_the_read(
    local_chain: TestChain, node: RpcNode, store: Store, turns: int
) -> None:
    assert follow(store, Turning(node, turns, local_chain))
    check_true(store, node)
    followed(store, node)
    check_true(store, node, local_chain.pools)


def test_endless_reorganizations_raise_and_store_nothing(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    stored = store.read_market()
    with pytest.raises(ChainReorganized, match="was reorganized while block"):
        follow(store, Turning(node, 99, local_chain))
    assert store.read_market() == stored
    assert count_skipped(store) == ()
