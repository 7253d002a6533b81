"""A store that follows a chain equals a fresh read at every block."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.pool import Pool
from swapcli.faces.cli.commands.sync.view import format_step
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_readers import pool_reader
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.quoting.syncing.results import ChainStep
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from swapcli.state.sync import Advance, count_skipped, follow
from tests.chain.sync.expected_state import check_true
from tests.chain.sync.factory_chain import CONCENTRATED, EVERY_PROTOCOL, PAIRS, TestChain
from tests.examples import examples, few
from tests.support.faults import DEFECT


def test_pools_of_every_protocol_are_followed(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng = Random("use")
    for _ in range(examples(16, full=40)):
        used = {local_chain.use(rng).key for _ in range(rng.choice((1, 1, 2, 8)))}
        advance = follow(store, node)
        assert advance
        assert set(advance.changed) <= used
        assert advance == Advance(node.read_head().block, advance.changed)
        check_true(store, node, local_chain.pools)
        assert follow(store, node) is None


@pytest.mark.parametrize("name", few(EVERY_PROTOCOL, 5))
def test_every_kind_of_change_is_found(local_chain: TestChain, node: RpcNode, store: Store, name: str) -> None:
    rng = Random(name)
    (made,) = (each for each in local_chain.pools if each.protocol == name)
    acts = (
        [local_chain.use]
        if name in (*PAIRS, "weighted")
        else [local_chain.swap, local_chain.provide, local_chain.withdraw]
    )
    for act in acts * 3:
        act(rng, made)
        before = store.read_pools([made.key]).pools
        advance = follow(store, node)
        assert advance
        assert advance.changed == (made.key,)
        assert store.read_pools([made.key]).pools != before
        check_true(store, node, local_chain.pools)


def test_new_pools_are_added_from_lists_and_from_events(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng = Random("new")
    for name in EVERY_PROTOCOL * 2:
        made = local_chain.create_pool(rng, name)
        advance = follow(store, node)
        assert advance
        assert advance.added == (made.key,)
        check_true(store, node, local_chain.pools)


@pytest.mark.parametrize("name", few([*PAIRS, *CONCENTRATED, "v4"], 2))
def test_an_empty_pool_is_stored_once_it_is_filled(
    local_chain: TestChain, node: RpcNode, store: Store, name: str
) -> None:
    rng = Random(name)
    made = local_chain.create_pool(rng, name, empty=True)
    assert follow(store, node)
    check_true(store, node)
    local_chain.fill(rng, made)
    assert follow(store, node)
    check_true(store, node, local_chain.pools)


def test_faults_of_readers_cost_their_pools_and_are_not_losses(
    local_chain: TestChain, node: RpcNode, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All pools of a family fail, more than the losses that a node may have; the next version reads them again."""
    rng, before = Random("faults"), store.read_market().pools
    with monkeypatch.context() as patched:
        patched.setattr(pool_reader(ContractKind.UNISWAP_V2), "load", raise_defect)
        patched.setattr(pool_reader(ContractKind.SOLIDLY), "load", raise_defect)
        pairs = [made for made in local_chain.pools if made.protocol in ("v2", "volatile", "stable")]
        for made in pairs:
            local_chain.use(rng, made)
        advance = follow(store, node)
        assert advance
        assert {each.key for each in advance.faults} == set(advance.removed) == {made.key for made in pairs}
        assert {each.reason for each in advance.faults} == {f"ValueError: {DEFECT}"}
        assert f"pool {pairs[0].key} (" in format_step(ChainStep(store.network.name, advance))
        assert store.read_market().pools.keys() == before.keys() - {made.key for made in pairs}
        assert {each.reason for each in count_skipped(store)} == {f"ValueError: {DEFECT}"}
    for made in pairs:
        local_chain.use(rng, made)
    assert follow(store, node)
    assert store.read_market().pools.keys() == before.keys()


def raise_defect(ref: PoolRef) -> BatchRead[Pool]:
    del ref
    yield []
    raise ValueError(DEFECT)
