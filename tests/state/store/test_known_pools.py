"""The inventory lists stored and skipped pools, also while a block is being written."""

from __future__ import annotations

import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from swapcli.state.store import SkippedEntry
from tests.state.store.build import TOKENS, create, imported, is_sound, pool, reopen, rows
from tests.support.pools import build_wide_market

POOL_REF = '["a pool reference"]'


def test_batches_of_any_size_list_every_pool_once(tmp_path: Path) -> None:
    market = build_wide_market(120)
    with imported(tmp_path / "store", market) as store:
        for size in (1, 7, 120, 500):
            listed: dict[int, str] = {}
            while batch := store.inventory.pool_keys_after(max(listed, default=0), size):
                assert len(batch) <= size
                assert not listed.keys() & batch.keys()
                listed |= batch
            assert list(listed.values()) == list(market.pools)
            assert max(listed) == store.inventory.last_pool_id()
        for protocol in store.inventory.families_by_protocol():
            keys = list(store.inventory.pool_keys_after(0, 500, protocol).values())
            assert keys == [key for key, each in market.pools.items() if each.protocol == protocol]
        assert store.inventory.count_pools_and_tokens() == (120, len(market.tokens))
        assert store.inventory.has_pools()
        families = {each.protocol: frozenset({each.family}) for each in market.pools.values()}
        assert store.inventory.families_by_protocol() == families


def test_pools_tokens_and_contracts_are_found_by_name(tmp_path: Path) -> None:
    market = build_wide_market(60)
    keys, addresses = random.Random(1).sample(list(market.pools), 9), list(market.tokens)[:3]
    with imported(tmp_path / "store", market) as store:
        inventory = store.inventory
        assert inventory.existing_keys([*keys, "unknown"]) == set(keys)
        assert inventory.tokens([*addresses, "unknown"]) == {each: market.tokens[each] for each in addresses}
        assert inventory.contract_addresses(60) == [each.address for each in market.pools.values()]
        assert inventory.contract_addresses(59) is None


def test_thin_pools_are_those_below_a_depth(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with imported(path, build_wide_market(150)) as store:
        legs = "SELECT key, coalesce(sum(depth), 0) FROM pools LEFT JOIN legs ON pool = pools.id GROUP BY key"
        depths = {str(key): float(str(depth)) for key, depth in rows(path, legs)}
        for bound in (0.0, 500.0, 5_000.0, 1e12):
            thin = {key for key, depth in depths.items() if depth < bound}
            assert set(store.inventory.pools_below_depth(bound)) == thin
            some = list(depths)[::3]
            assert set(store.inventory.pools_below_depth(bound, some)) == thin & set(some)


def test_skipped_pools_are_listed_until_they_are_stored(tmp_path: Path) -> None:
    stored, other = pool(0).key, pool(1, ends=(0, 2)).key
    with create(tmp_path / "store") as store:
        with store.write_block(1, "0x1") as writer:
            writer.put_tokens(TOKENS)
            futile, token = (
                SkippedEntry("0xff", "it has hooks"),
                SkippedEntry(TOKENS[0].address, "it reverted", POOL_REF),
            )
            writer.record_skipped(
                [SkippedEntry(stored, "empty", POOL_REF), SkippedEntry(other, "thin", POOL_REF), futile, token]
            )
        assert {each.key for each in store.inventory.all_skipped()} == {stored, other, "0xff"}
        assert [store.inventory.skip_reason(key) for key in ("0xff", TOKENS[0].address)] == ["it has hooks", None]
        assert [each.key for each in store.inventory.skipped_after("", 9)] == sorted([stored, other])
        assert [each.key for each in store.inventory.skipped_after(min(stored, other), 9)] == [max(stored, other)]
        assert store.inventory.skipped_among([stored, "0xff"]) == [SkippedEntry(stored, "empty", POOL_REF)]
        with store.write_block(2, "0x2") as writer:
            writer.put_pools([pool(0)])
            assert store.inventory.skipped_among([stored]) == []
            writer.record_skipped([SkippedEntry(other, "still thin", POOL_REF)])
        assert store.inventory.skipped_after("", 9) == [SkippedEntry(other, "still thin", POOL_REF)]
        store.rewind_to(1)
        assert store.inventory.skipped_among([stored]) == [SkippedEntry(stored, "empty", POOL_REF)]


def test_the_head_is_that_of_the_last_whole_block(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        assert store.inventory.head() is None
        with store.write_block(4, "0x4", 40):
            assert store.inventory.head() is None
        with store.write_block(6, "0x6", 60):
            assert store.inventory.head() == (4, "0x4", 40)
        assert store.inventory.head() == (6, "0x6", 60)


METADATA = st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(), max_size=3), min_size=1, max_size=6)


@given(METADATA, st.data())
def test_undoable_metadata_is_rewound_with_its_block(tmp_path_factory, changes: list[dict[str, int]], data) -> None:  # type: ignore[no-untyped-def]
    with create(tmp_path_factory.mktemp("metadata") / "store") as store:
        for number, change in enumerate(changes, 1):
            with store.write_block(number, hex(number)) as writer:
                for name, value in change.items():
                    writer.put_metadata(name, value - 1, undoable=True)
                    writer.put_metadata(name, value, undoable=True)
                writer.put_metadata("permanent", number)
        back = data.draw(st.integers(1, len(changes)))
        store.rewind_to(back)
        expected = {name: value for change in changes[:back] for name, value in change.items()}
        assert {name: store.read_metadata(name) for name in "abc"} == {name: expected.get(name) for name in "abc"}
        assert store.read_metadata("permanent") == len(changes)


def test_a_reset_block_may_have_any_number_and_ends_the_undo_log(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with create(path) as store:
        for number in (7, 8):
            with store.write_block(number, f"0x{number}") as writer:
                writer.put_tokens(TOKENS)
                writer.put_pools([pool(0, number)])
        for number in (8, 3):
            with store.write_block(number, "0xother", reset=True) as writer:
                writer.put_pools([pool(0, 100 + number)])
            assert [block.number for block in store.read_blocks()] == [number]
            assert store.read_market().pools == {pool(0).key: pool(0, 100 + number)}
        with store.write_block(4, "0xnext") as writer:
            writer.put_pools([pool(0, 5)])
        store.rewind_to(3)
        assert store.read_market().pools == {pool(0).key: pool(0, 103)}
    with reopen(path) as store:
        assert store.inventory.head() == (3, "0xother", None)
    assert is_sound(path)


def test_unused_tokens_are_removed_and_restored_by_a_rewind(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with create(path) as store:
        with store.write_block(1, "0x1") as writer:
            writer.put_tokens(TOKENS)
            writer.put_pools([pool(0), pool(1, ends=(1, 2)), pool(2, ends=(3, 5))])
        before = store.read_market()
        with store.write_block(2, "0x2") as writer:
            writer.remove_pools([pool(1).key, pool(2).key])
            writer.remove_unused_tokens(TOKENS[4].address)
            writer.rebuild_ranking()
        assert set(store.read_tokens()) == {TOKENS[k].address for k in (0, 1, 4)}
        assert is_sound(path)
        with store.write_block(3, "0x3") as writer:
            new = TOKENS[5]._replace(address="0x" + "77" * 20)
            writer.put_tokens([TOKENS[2]._replace(name="New"), new])
            writer.put_pools([pool(3, ends=(0, 2))])
        store.rewind_to(2)
        assert set(store.read_tokens()) == {TOKENS[k].address for k in (0, 1, 4)}
        store.rewind_to(1)
        assert store.read_market() == before
        assert is_sound(path)
