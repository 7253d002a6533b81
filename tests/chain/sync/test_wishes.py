"""What is wanted is found, and what was not wanted at first is found once it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.chain.rpc_node import RpcNode
from swapcli.engine.sync import SyncFilter, count_skipped, follow
from swapcli.store import Store
from tests.chain.anvil import running_anvil
from tests.chain.sync.nodes import Lesser, Moody, Silent
from tests.chain.sync.town import EVERY_PROTOCOL, PAIRS, Made, Town
from tests.chain.sync.truth import check_true, store_at, synced

ASKABLE = {*PAIRS, "v3", "pancake", "slipstream", "algebra"}
AUDITED = 3
"""Blocks whose events are compared with their headers, now and then."""


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    rng = Random("town")
    with running_anvil() as chain:
        made = Town(chain)
        for name in EVERY_PROTOCOL * 4:
            made.make(rng, name)
        yield made


@pytest.fixture
def store(town: Town, tmp_path: Path) -> Iterator[Store]:
    """Empty."""
    with store_at(tmp_path / "store", town.network) as made:
        yield made


def of(town: Town, protocols: set[str]) -> list[Made]:
    return [each for each in town.made if each.protocol in protocols]


def among(town: Town, tokens: set[str]) -> list[Made]:
    return [each for each in town.made if tokens.issuperset(each.tokens)]


def test_only_wanted_protocols_are_held_and_more_are_found_when_more_are_wanted(
    town: Town, node: RpcNode, store: Store
) -> None:
    wider = ({"v2"}, {"v2", "volatile", "v3"}, {"v2", "volatile", "stable", "v3", "v4"}, set(EVERY_PROTOCOL))
    for protocols in wider:
        synced(store, node, SyncFilter(frozenset(protocols)))
        check_true(store, node, of(town, protocols))
    assert count_skipped(store) == ()
    synced(store, node, SyncFilter(frozenset({"v2"})))
    check_true(store, node, town.made)


def test_all_protocols_after_one(town: Town, node: RpcNode, store: Store) -> None:
    synced(store, node, SyncFilter(frozenset({"stable"})))
    check_true(store, node, of(town, {"stable"}))
    synced(store, node)
    check_true(store, node, town.made)


def test_factories_are_asked_for_wanted_tokens_and_events_are_left_alone(
    town: Town, node: RpcNode, store: Store
) -> None:
    tokens = list(town.coins)
    for count in (2, 3, 4):
        wanted = set(tokens[:count])
        lesser = Lesser(node)
        synced(store, lesser, SyncFilter(tokens=frozenset(wanted)))
        assert lesser.ranges == []
        asked = [each for each in among(town, wanted) if each.protocol in ASKABLE]
        assert len(asked) > count
        held = set(store.read_market().pools)
        assert {each.key for each in asked} <= held <= {each.key for each in among(town, wanted)}
        check_true(store, node)
    assert any("such pools cannot be asked for" in each.reason for each in count_skipped(store))
    synced(store, node)
    check_true(store, node, town.made)


def test_with_a_first_block_events_tell_of_wanted_tokens_too(town: Town, node: RpcNode, store: Store) -> None:
    wanted = set(list(town.coins)[:4])
    for first in (0, 1):
        synced(store, node, SyncFilter(tokens=frozenset(wanted), from_block=first))
        assert bool(count_skipped(store)) == (first == 0)
    check_true(store, node, among(town, wanted))
    lesser = Lesser(node)
    synced(store, lesser, SyncFilter(tokens=frozenset(wanted)))
    assert lesser.ranges == []
    check_true(store, node, among(town, wanted))


def test_events_before_the_first_block_are_found_once_it_is_an_earlier_one(
    town: Town, node: RpcNode, store: Store
) -> None:
    late = node.head().block.number
    synced(store, node, SyncFilter(from_block=late))
    check_true(store, node, of(town, {*PAIRS}))
    synced(store, node, SyncFilter(from_block=0))
    check_true(store, node, town.made)


def test_new_pools_of_wanted_tokens_and_protocols_are_followed_and_no_others(
    town: Town, node: RpcNode, store: Store
) -> None:
    rng = Random("new")
    wanted = set(list(town.coins)[:3])
    protocols = {"v2", "stable", "v4", "weighted", "slipstream"}
    with town.chain.undone():
        synced(store, node, SyncFilter(frozenset(protocols), frozenset(wanted)))
        for _ in range(25):
            made = town.make(rng)
            town.made.remove(made)
            advance = follow(store, node)
            assert advance
            is_wanted = made.protocol in protocols and wanted.issuperset(made.tokens)
            assert advance.added == ((made.key,) if is_wanted else ())
        check_true(store, node)


@pytest.mark.parametrize("most", [1, 3, 50])
def test_a_node_that_tells_of_few_blocks_at_once_is_enough(town: Town, node: RpcNode, store: Store, most: int) -> None:
    synced(store, Silent(node, most))
    check_true(store, node, town.made)


def test_without_events_the_lists_are_still_read_and_the_rest_is_told_with_its_reason(
    town: Town, node: RpcNode, store: Store
) -> None:
    silent = Silent(node)
    synced(store, silent)
    check_true(store, node, of(town, {*PAIRS}))
    (reason,) = count_skipped(store)
    assert (
        reason.reason
        == "the node did not return events of the creation of its pools: a lesser node refused: not these blocks"
    )
    assert reason.count == len(EVERY_PROTOCOL) - len(PAIRS)
    with town.chain.undone():
        rng = Random("silent")
        for _ in range(5):
            town.use(rng, rng.choice(of(town, {*PAIRS})))
            assert follow(store, silent)
            check_true(store, node, of(town, {*PAIRS}))
        synced(store, node)
        check_true(store, node, town.made)
        assert count_skipped(store) == ()


def test_a_node_that_has_forgotten_old_blocks_tells_of_those_after_them(
    town: Town, node: RpcNode, store: Store
) -> None:
    middle = node.head().block.number // 2
    synced(store, Silent(node, 10**6, middle))
    some = len(store.read_market().pools)
    assert len(of(town, {*PAIRS})) < some < len(town.made)
    check_true(store, node)
    assert len(count_skipped(store)) == 1
    synced(store, node)
    check_true(store, node, town.made)
    assert count_skipped(store) == ()


def test_many_missed_blocks_are_made_up_for_by_reading_everything(town: Town, node: RpcNode, store: Store) -> None:
    rng = Random("missed")
    synced(store, node)
    with town.chain.undone():
        for _ in range(60):
            town.use(rng)
        silent = Silent(node, 2)
        advance = follow(store, silent)
        assert advance
        assert advance.changed
        assert len(silent.ranges) < 40 + AUDITED
        check_true(store, node, town.made)


def test_what_a_node_did_not_tell_for_a_while_is_made_up_for(town: Town, node: RpcNode, store: Store) -> None:
    rng = Random("moody")
    moody = Moody(node)
    synced(store, moody)
    made = list(town.made)
    with town.chain.undone():
        for name in ("v3", "weighted", "v4"):
            moody.is_well = False
            for _ in range(3):
                made += [town.make(rng, name), town.make(rng, "v2")]
                town.made = town.made[:-2]
                town.use(rng, made[0])
                before = len(moody.ranges)
                assert follow(store, moody)
                assert len(moody.ranges) - before < 12
                check_true(store, node)
            assert count_skipped(store)
            moody.is_well = True
            town.chain.node.ask("evm_mine")
            assert follow(store, moody)
            check_true(store, node, made)
            assert count_skipped(store) == ()
