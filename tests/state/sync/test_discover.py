"""A sync stores the pools of its filter, and finds more when the filter is widened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from swapcli.state.sync import SyncFilter, count_skipped, follow
from tests.chain.sync.expected_state import check_true, store_at, synced
from tests.chain.sync.factory_chain import EVERY_PROTOCOL, PAIRS, CreatedPool, TestChain
from tests.chain.sync.nodes import FlakyNode, LimitedNode, NoLogsNode
from tests.examples import few
from tests.support.chain import restored

QUERYABLE = {*PAIRS, "v3", "pancake", "slipstream", "algebra"}
AUDITED = 3
"""Blocks whose events are compared with their headers, now and then."""


@pytest.fixture(scope="module")
def prepared_chain(factory_chain: TestChain) -> Iterator[TestChain]:
    rng = Random("town")
    with restored(factory_chain) as local_chain:
        for name in EVERY_PROTOCOL * 4:
            local_chain.create_pool(rng, name)
        yield local_chain


@pytest.fixture
def store(local_chain: TestChain, tmp_path: Path) -> Iterator[Store]:
    """Empty."""
    with store_at(tmp_path / "store", local_chain.network) as made:
        yield made


def of(local_chain: TestChain, protocols: set[str]) -> list[CreatedPool]:
    return [each for each in local_chain.pools if each.protocol in protocols]


def among(local_chain: TestChain, tokens: set[str]) -> list[CreatedPool]:
    return [each for each in local_chain.pools if tokens.issuperset(each.tokens)]


@pytest.mark.slow
def test_only_requested_protocols_are_stored_until_widened(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    wider = ({"v2"}, {"v2", "volatile", "v3"}, {"v2", "volatile", "stable", "v3", "v4"}, set(EVERY_PROTOCOL))
    for protocols in wider:
        synced(store, node, SyncFilter(frozenset(protocols)))
        check_true(store, node, of(local_chain, protocols))
    assert count_skipped(store) == ()
    synced(store, node, SyncFilter(frozenset({"v2"})))
    check_true(store, node, local_chain.pools)


def test_all_protocols_after_one(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    synced(store, node, SyncFilter(frozenset({"stable"})))
    check_true(store, node, of(local_chain, {"stable"}))
    synced(store, node)
    check_true(store, node, local_chain.pools)


def test_a_token_filter_queries_factories_instead_of_events(
    local_chain: TestChain, node: RpcNode, store: Store
) -> None:
    tokens = list(local_chain.coins)
    for count in (2, 3, 4):
        tokens_in_filter = set(tokens[:count])
        limited = LimitedNode(node)
        synced(store, limited, SyncFilter(tokens=frozenset(tokens_in_filter)))
        assert limited.ranges == []
        queryable = [each for each in among(local_chain, tokens_in_filter) if each.protocol in QUERYABLE]
        assert len(queryable) > count
        stored = set(store.read_market().pools)
        assert {each.key for each in queryable} <= stored <= {each.key for each in among(local_chain, tokens_in_filter)}
        check_true(store, node)
    assert any("its pools cannot be looked up" in each.reason for each in count_skipped(store))
    synced(store, node)
    check_true(store, node, local_chain.pools)


def test_a_new_factory_is_queried_for_pairs_of_a_token_filter(
    local_chain: TestChain, node: RpcNode, store: Store
) -> None:
    """A release may know more factories than the one that synced the store before."""
    tokens, whole = set(list(local_chain.coins)[:4]), store.network
    known = tuple(each for each in whole.deployments if each.name not in ("v3", "v2"))
    store.network = whole._replace(deployments=known)
    synced(store, node, SyncFilter(tokens=frozenset(tokens)))
    before = set(store.read_market().pools)
    store.network = whole
    limited = LimitedNode(node)
    synced(store, limited, SyncFilter(tokens=frozenset(tokens)))
    assert limited.ranges == []
    added = set(store.read_market().pools) - before
    assert added
    assert added == {each.key for each in among(local_chain, tokens) if each.protocol in ("v2", "v3")}
    check_true(store, node)


def test_a_first_block_adds_events_to_a_token_filter(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    tokens_in_filter = set(list(local_chain.coins)[:4])
    for first in (0, 1):
        synced(store, node, SyncFilter(tokens=frozenset(tokens_in_filter), from_block=first))
        assert bool(count_skipped(store)) == (first == 0)
    check_true(store, node, among(local_chain, tokens_in_filter))
    limited = LimitedNode(node)
    synced(store, limited, SyncFilter(tokens=frozenset(tokens_in_filter)))
    assert limited.ranges == []
    check_true(store, node, among(local_chain, tokens_in_filter))


def test_an_earlier_first_block_finds_earlier_events(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    late = node.read_head().block.number
    synced(store, node, SyncFilter(from_block=late))
    check_true(store, node, of(local_chain, {*PAIRS}))
    synced(store, node, SyncFilter(from_block=0))
    check_true(store, node, local_chain.pools)


@pytest.mark.slow
def test_only_new_pools_that_match_the_filter_are_followed(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng = Random("new")
    tokens_in_filter = set(list(local_chain.coins)[:3])
    protocols = {"v2", "stable", "v4", "weighted", "slipstream"}
    with local_chain.chain.revert_after():
        synced(store, node, SyncFilter(frozenset(protocols), frozenset(tokens_in_filter)))
        for _ in range(25):
            made = local_chain.create_pool(rng)
            local_chain.pools.remove(made)
            advance = follow(store, node)
            assert advance
            is_expected = made.protocol in protocols and tokens_in_filter.issuperset(made.tokens)
            assert advance.added == ((made.key,) if is_expected else ())
        check_true(store, node)


@pytest.mark.parametrize("most", few([1, 3, 50], 1))
def test_a_node_with_short_log_ranges_is_enough(local_chain: TestChain, node: RpcNode, store: Store, most: int) -> None:
    synced(store, NoLogsNode(node, most))
    check_true(store, node, local_chain.pools)


def test_without_events_only_listed_pools_are_found(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    silent = NoLogsNode(node)
    synced(store, silent)
    check_true(store, node, of(local_chain, {*PAIRS}))
    (reason,) = count_skipped(store)
    assert (
        reason.reason == "the node did not return its pools' creation events: a lesser node refused: not these blocks"
    )
    assert reason.count == len(EVERY_PROTOCOL) - len(PAIRS)
    with local_chain.chain.revert_after():
        rng = Random("silent")
        for _ in range(5):
            local_chain.use(rng, rng.choice(of(local_chain, {*PAIRS})))
            assert follow(store, silent)
            check_true(store, node, of(local_chain, {*PAIRS}))
        synced(store, node)
        check_true(store, node, local_chain.pools)
        assert count_skipped(store) == ()


def test_a_node_without_old_logs_returns_the_newer_ones(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    middle = node.read_head().block.number // 2
    synced(store, NoLogsNode(node, 10**6, middle))
    some = len(store.read_market().pools)
    assert len(of(local_chain, {*PAIRS})) < some < len(local_chain.pools)
    check_true(store, node)
    assert len(count_skipped(store)) == 1
    synced(store, node)
    check_true(store, node, local_chain.pools)
    assert count_skipped(store) == ()


@pytest.mark.slow
def test_many_missed_blocks_are_recovered_by_a_full_read(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng = Random("missed")
    synced(store, node)
    with local_chain.chain.revert_after():
        for _ in range(60):
            local_chain.use(rng)
        silent = NoLogsNode(node, 2)
        advance = follow(store, silent)
        assert advance
        assert advance.changed
        assert len(silent.ranges) < 40 + AUDITED
        check_true(store, node, local_chain.pools)


def test_events_missed_during_an_outage_are_recovered(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    rng = Random("flaky")
    flaky = FlakyNode(node)
    synced(store, flaky)
    made = list(local_chain.pools)
    with local_chain.chain.revert_after():
        for name in ("v3", "weighted", "v4"):
            flaky.is_well = False
            for _ in range(3):
                made += [local_chain.create_pool(rng, name), local_chain.create_pool(rng, "v2")]
                local_chain.pools = local_chain.pools[:-2]
                local_chain.use(rng, made[0])
                before = len(flaky.ranges)
                assert follow(store, flaky)
                assert len(flaky.ranges) - before < 12
                check_true(store, node)
            assert count_skipped(store)
            flaky.is_well = True
            local_chain.chain.node.ask("evm_mine")
            assert follow(store, flaky)
            check_true(store, node, made)
            assert count_skipped(store) == ()
