"""The cursor of discovery outlives the process, is rewound with the store, and restarts if the filter requires it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from swapcli.chain.pool_ref import ContractKind, PoolRef
from swapcli.engine.sync import SyncFilter
from swapcli.engine.sync.cursor import SyncCursor, begin_cursor, read_cursor, write_cursor
from swapcli.engine.sync.skipped import parse_pool_refs, skipped_known_pool, skipped_pool
from swapcli.store import SkippedEntry, Store
from tests.store.build import create, pool

NAMES = st.text("ab ", min_size=1, max_size=3)
SETS = st.none() | st.frozensets(NAMES, max_size=3)
FILTERS = st.builds(SyncFilter, SETS, SETS, st.sampled_from([0.0, 10.0, 1e6]), st.integers(0, 5))
PLACES = st.dictionaries(NAMES, st.integers(0, 10**9), max_size=3)
SEARCHES = st.builds(
    SyncCursor,
    FILTERS,
    *(PLACES, PLACES, PLACES, st.text(max_size=5), st.dictionaries(NAMES, NAMES)),
    *(st.none() | NAMES, st.integers(0, 10**6), st.integers(0, 9), st.booleans(), st.booleans()),
)


def stored(store: Store, search: SyncCursor, number: int = 1) -> None:
    with store.write_block(number, hex(number)) as writer:
        write_cursor(search, writer)


@given(SEARCHES, SEARCHES)
def test_a_search_is_found_as_it_was_kept_and_goes_back_with_the_store(first: SyncCursor, second: SyncCursor) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        assert read_cursor(store) is None
        stored(store, first)
        assert read_cursor(store) == first
        stored(store, second, 2)
        assert read_cursor(store) == second
        store.rewind_to(1)
        assert read_cursor(store) == first


@given(SEARCHES, FILTERS, st.integers(0, 10**6))
def test_nothing_that_is_wanted_now_is_passed_over(last: SyncCursor, sync_filter: SyncFilter, block: int) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        stored(store, last)
        search = begin_cursor(store, sync_filter, block)
        assert search.sync_filter == sync_filter
        assert not search.liquidity_filtered
        assert (search.event_gaps, search.event_error) == ({}, "")
        if sync_filter.tokens != last.sync_filter.tokens:
            assert (search.list_positions, search.event_blocks, search.factories_queried) == ({}, {}, False)
        if sync_filter.from_block < last.sync_filter.from_block:
            assert search.event_blocks == {}
        for name, place in search.list_positions.items():
            assert place == last.list_positions[name]
        for name, place in search.event_blocks.items():
            assert place == last.event_gaps.get(name, last.event_blocks.get(name))
        if sync_filter.min_liquidity_usd < last.sync_filter.min_liquidity_usd:
            assert search.recheck_key is not None, "what was too thin is looked at again"


@given(SEARCHES, st.integers(0, 2_000))
def test_the_same_wishes_go_on_where_the_last_ended(last: SyncCursor, later: int) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        stored(store, last)
        search = begin_cursor(store, last.sync_filter, last.last_recheck_block + later)
        assert (search.list_positions, search.factories_queried) == (last.list_positions, last.factories_queried)
        assert search.event_blocks == {**last.event_blocks, **last.event_gaps}
        is_due = last.recheck_key is None and later >= 1_000
        assert search.recheck_key == ("" if is_due else last.recheck_key)


def test_a_first_search_begins_at_the_beginning_and_has_nothing_to_look_at_again(tmp_path: Path) -> None:
    sync_filter = SyncFilter(from_block=7)
    with create(tmp_path / "store") as store:
        assert begin_cursor(store, sync_filter, 99) == SyncCursor(sync_filter, last_recheck_block=99)


A, B = "0x" + "aa" * 20, "0x" + "bb" * 20
FOUND = st.builds(
    PoolRef, st.just(A), st.just("v3"), st.just("concentrated"), st.sampled_from(ContractKind), st.just((A, B)),
    st.sampled_from([(), (6, 18)]), st.integers(0, 10**6), st.integers(0, 200), st.sampled_from(["", "0x" + "1" * 64]),
    st.booleans(), st.sampled_from(["", B]), st.none() | st.integers(-9, 9), st.sampled_from([(), (1, 2)]),
)  # fmt: skip


@given(FOUND)
def test_a_place_that_was_left_out_is_found_again_without_what_time_has_changed(place: PoolRef) -> None:
    left = skipped_pool(place, "too thin")
    assert (left.key, left.reason) == (place.key, "too thin")
    assert parse_pool_refs([left, SkippedEntry("other", "futile")]) == [place._replace(last_tick=None, known_ticks=())]


def test_a_pool_that_was_taken_out_is_found_where_it_was() -> None:
    taken = pool(3)
    (place,) = parse_pool_refs([skipped_known_pool(taken, "unreadable")])
    assert (place.key, place.tokens, place.decimals, place.fee_ppm) == (
        taken.key,
        taken.tokens,
        taken.decimals,
        taken.fee_ppm,
    )
