"""Blocks are written whole, in order, and can be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import MarketError, MarketUnavailable
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.token import Token
from swapcli.state.store import Store, StoredBlock
from swapcli.state.store.past_states import MAX_PAST_ROWS
from swapcli.state.store.undo_log import MAX_UNDO_BLOCKS
from tests.examples import examples
from tests.state.store.build import TOKENS, create, imported, is_sound, pool, reopen, rows
from tests.support.pools import build_wide_market


class Change(NamedTuple):
    """The changes of one block: pools by number with their new reserve, None to remove one; new names of tokens."""

    pools: dict[int, int | None]
    names: dict[int, str]


PAIRS = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (0, 5)]
CHANGES = st.builds(
    Change,
    st.dictionaries(st.integers(0, 5), st.none() | st.integers(1, 10**9), max_size=4),
    st.dictionaries(st.integers(0, 5), st.sampled_from(["One", "Other", "Third"]), max_size=2),
)


def write(store: Store, number: int, change: Change) -> None:
    with store.write_block(number, f"0x{number:x}", number * 10) as writer:
        named = [TOKENS[k]._replace(name=name) for k, name in change.names.items()]
        needed = {end for k, reserve in change.pools.items() if reserve for end in PAIRS[k]} - change.names.keys()
        writer.put_tokens([*named, *(TOKENS[end] for end in needed if TOKENS[end].address not in store.read_tokens())])
        writer.remove_pools([pool(k).key for k, reserve in change.pools.items() if reserve is None])
        writer.put_pools([pool(k, reserve, PAIRS[k]) for k, reserve in change.pools.items() if reserve])


def apply_changes(changes: Sequence[Change]) -> tuple[dict[str, Token], dict[str, object]]:
    """Return the tokens and pools after the changes, computed without a store."""
    tokens: dict[str, Token] = {}
    pools: dict[str, object] = {}
    for change in changes:
        for k, reserve in change.pools.items():
            for end in PAIRS[k] if reserve else ():
                tokens.setdefault(TOKENS[end].address, TOKENS[end])
        tokens |= {TOKENS[k].address: TOKENS[k]._replace(name=name) for k, name in change.names.items()}
        for k, reserve in change.pools.items():
            key = pool(k).key
            if reserve:
                pools[key] = pool(k, reserve, PAIRS[k])
            else:
                pools.pop(key, None)
    return tokens, pools


def tokens_and_pools(market: MarketState) -> tuple[dict[str, Token], dict[str, object]]:
    return dict(market.tokens), dict(market.pools)


@settings(max_examples=examples(7, full=30))
@given(st.lists(CHANGES, min_size=2, max_size=6), st.lists(CHANGES, max_size=3), st.data())
def test_changes_since_a_block_lead_to_the_newest_state(
    changes: list[Change], other_branch: list[Change], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        for number, change in enumerate(changes, 1):
            write(store, number, change)
        back = data.draw(st.integers(1, len(changes)))
        seen = data.draw(st.integers(1, back))
        store.rewind_to(back)
        for number, change in enumerate(other_branch, back + 1):
            write(store, number, change)
        _, before = apply_changes(changes[:seen])
        _, now = apply_changes([*changes[:back], *other_branch])
        with store.snapshot():
            since = store.inventory.changed_since(block_of(seen))
            assert since is not None
            after = {**{key: each for key, each in before.items() if key not in since}, **store.read_pools(since).pools}
        assert after == now
        untouched = {key for key, each in before.items() if now.get(key) == each} - _touched(changes, seen, back)
        assert not untouched & since - _touched(other_branch, 1, len(other_branch))


def block_of(number: int) -> StoredBlock:
    return StoredBlock(number, f"0x{number:x}", number * 10)


def test_changes_since_an_unknown_block_are_unknown(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        for number in range(1, MAX_UNDO_BLOCKS + 3):
            write(store, number, Change({0: number}, {}))
        newest = MAX_UNDO_BLOCKS + 2
        assert store.inventory.changed_since(block_of(newest)) == frozenset({pool(0).key})
        for other in (
            StoredBlock(newest, "0xff", newest * 10),
            StoredBlock(newest, None, None),
            block_of(1),
            block_of(99),
        ):
            assert store.inventory.changed_since(other) is None


def _touched(changes: Sequence[Change], first: int, last: int) -> set[str]:
    return {pool(k).key for change in changes[first - 1 : last] for k in change.pools}


def test_reads_of_a_snapshot_see_one_block_during_a_write(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store, reopen(tmp_path / "store") as other:
        write(store, 1, Change({0: 5}, {}))
        with other.snapshot():
            seen = other.read_market()
            write(store, 2, Change({0: 6, 1: 7}, {}))
            assert (other.read_blocks()[0].number, other.read_market()) == (1, seen)
        assert (other.read_blocks()[0].number, len(other.read_market().pools)) == (2, 2)


@settings(max_examples=examples(7, full=30))
@given(st.lists(CHANGES, min_size=1, max_size=6), st.data())
def test_a_rewind_restores_every_state_exactly(changes: list[Change], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        for number, change in enumerate(changes, 1):
            write(store, number, change)
            assert tokens_and_pools(store.read_market()) == apply_changes(changes[:number])
        back = data.draw(st.integers(1, len(changes)))
        assert store.rewind_to(back) == (back, f"0x{back:x}", back * 10)
        market = store.read_market()
        assert tokens_and_pools(market) == apply_changes(changes[:back])
        assert (market.block, market.timestamp) == (back, back * 10)
        assert [block.number for block in store.read_blocks()] == [*range(back, 0, -1)]
        later = data.draw(st.lists(CHANGES, max_size=3))
        for number, change in enumerate(later, back + 1):
            write(store, number, change)
        assert tokens_and_pools(store.read_market()) == apply_changes([*changes[:back], *later])
        assert is_sound(Path(folder) / "store")


def test_only_the_newest_blocks_can_be_rewound(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        write(store, 1, Change({}, dict.fromkeys(range(6), "One")))
        last = MAX_UNDO_BLOCKS + 20
        for number in range(2, last + 1):
            write(store, number, Change({number % 5: number}, {}))
        assert [block.number for block in store.read_blocks()] == [*range(last, last - MAX_UNDO_BLOCKS - 1, -1)]
        with pytest.raises(MarketUnavailable, match=f"cannot go back to block {last - MAX_UNDO_BLOCKS - 1}"):
            store.rewind_to(last - MAX_UNDO_BLOCKS - 1)
        store.rewind_to(last - MAX_UNDO_BLOCKS)
        assert store.read_market().block == last - MAX_UNDO_BLOCKS
    assert rows(tmp_path / "store", "SELECT * FROM undo_pools") == []


@settings(max_examples=examples(7, full=30))
@given(st.lists(CHANGES, min_size=1, max_size=8), st.sets(st.integers(0, 5), min_size=1))
def test_past_pools_are_those_of_their_blocks(changes: list[Change], numbers: set[int]) -> None:
    keys = {pool(number).key for number in numbers}
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        for number, change in enumerate(changes, 1):
            write(store, number, change)
        seen = {time_s: past.pools for past in store.read_past_pools(keys) for time_s in past.times_s}
    expected = {}
    for number in range(len(changes), 0, -1):
        _, pools = apply_changes(changes[:number])
        if not keys <= pools.keys():
            break
        expected[number * 10] = {key: pools[key] for key in keys}
    assert seen == expected


def test_few_of_many_past_pools_are_read(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        for number in range(1, MAX_UNDO_BLOCKS + 10):
            write(store, number, Change(dict.fromkeys(range(6), number), {}))
        past = store.read_past_pools([pool(k).key for k in range(6)])
        assert 6 * len(past) <= MAX_PAST_ROWS
        assert past[0].times_s == ((MAX_UNDO_BLOCKS + 9) * 10,)
        for times_s, pools in past:
            assert set(pools.values()) == {pool(k, times_s[0] // 10, PAIRS[k]) for k in range(6)}


def write_half(store: Store) -> None:
    with store.write_block(2) as writer:
        writer.put_pools([pool(0, 6)])
        writer.put_metadata("half", True)
        raise ZeroDivisionError


def test_a_failed_block_leaves_the_store_unchanged(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        write(store, 1, Change({0: 5}, {}))
        before = store.read_market()
        with pytest.raises(ZeroDivisionError):
            write_half(store)
        assert store.read_market() == before
        assert store.read_metadata("half") is None
        assert [block.number for block in store.read_blocks()] == [1]
        write(store, 2, Change({0: 7}, {}))
        assert store.read_market().pools[pool(0).key] == pool(0, 7)


def test_a_reader_sees_the_last_whole_block_during_a_write(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store, reopen(tmp_path / "store") as reader:
        write(store, 1, Change({0: 5, 1: 5}, {}))
        with store.write_block(2) as writer:
            writer.put_pools([pool(0, 6), pool(1, 6, PAIRS[1])])
            assert tokens_and_pools(reader.read_market()) == apply_changes([Change({0: 5, 1: 5}, {})])
            assert reader.read_blocks()[0].number == 1
        assert tokens_and_pools(reader.read_market()) == apply_changes([Change({0: 6, 1: 6}, {})])


def test_blocks_come_in_order_and_the_newest_can_be_added_to(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        write(store, 5, Change({0: 5}, {}))
        write(store, 5, Change({1: 6}, {}))
        assert store.read_market().pools.keys() == {pool(0).key, pool(1).key}
        with pytest.raises(MarketError, match="block 4 does not follow 5, the store's latest block"):
            write(store, 4, Change({}, {}))
        with pytest.raises(MarketError, match="a different block 5: 0x5, not 0x6"), store.write_block(5, "0x6"):
            pass
        write(store, 9, Change({1: 7}, {}))
        store.rewind_to(5)
        assert store.read_market().pools == {pool(0).key: pool(0, 5), pool(1).key: pool(1, 6, PAIRS[1])}


def test_no_block_follows_a_market_that_was_not_synced(tmp_path: Path) -> None:
    with imported(tmp_path / "store", build_wide_market(50)) as store:
        with pytest.raises(MarketError, match="has a synthetic market, which cannot be synced"), store.write_block(2):
            pass
        assert store.read_market().provenance is Provenance.SYNTHETIC


def test_a_pool_needs_its_tokens_with_its_decimals(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        with pytest.raises(MarketError, match="the store does not have"), store.write_block(1) as writer:
            writer.put_pools([pool(0)])
        assert store.read_summary().block is None
        with store.write_block(1) as writer:
            writer.put_tokens([TOKENS[0], TOKENS[1]._replace(decimals=6)])
        with pytest.raises(MarketError, match="has with 6 decimals, not 18"), store.write_block(2) as writer:
            writer.put_pools([pool(0)])
        assert store.read_summary().pools == 0


def test_metadata_survives_a_rewind(tmp_path: Path) -> None:
    with create(tmp_path / "store") as store:
        write(store, 1, Change({0: 5}, {}))
        with store.write_block(2) as writer:
            writer.put_metadata("scanned", {"from": 10, "to": [1, 2]})
        store.rewind_to(1)
    with reopen(tmp_path / "store") as store:
        assert store.read_metadata("scanned") == {"from": 10, "to": [1, 2]}
        assert store.read_metadata("unknown") is None
