"""How far a search has come outlives the process, goes back with the store, and begins anew where wishes ask for it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from swapcli.chain.pool_ref import ContractKind, PoolRef
from swapcli.engine.sync import Wanted
from swapcli.engine.sync.cursor import Search, begin, keep, search_of
from swapcli.engine.sync.skipped import left_at, left_pool, places_of
from swapcli.store import LeftOut, Store
from tests.store.build import create, pool

NAMES = st.text("ab ", min_size=1, max_size=3)
SETS = st.none() | st.frozensets(NAMES, max_size=3)
WISHES = st.builds(Wanted, SETS, SETS, st.sampled_from([0.0, 10.0, 1e6]), st.integers(0, 5))
PLACES = st.dictionaries(NAMES, st.integers(0, 10**9), max_size=3)
SEARCHES = st.builds(
    Search,
    WISHES,
    *(PLACES, PLACES, PLACES, st.text(max_size=5), st.dictionaries(NAMES, NAMES)),
    *(st.none() | NAMES, st.integers(0, 10**6), st.integers(0, 9), st.booleans(), st.booleans()),
)


def kept(store: Store, search: Search, number: int = 1) -> None:
    with store.block(number, hex(number)) as writer:
        keep(search, writer)


@given(SEARCHES, SEARCHES)
def test_a_search_is_found_as_it_was_kept_and_goes_back_with_the_store(first: Search, second: Search) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        assert search_of(store) is None
        kept(store, first)
        assert search_of(store) == first
        kept(store, second, 2)
        assert search_of(store) == second
        store.rewind_to(1)
        assert search_of(store) == first


@given(SEARCHES, WISHES, st.integers(0, 10**6))
def test_nothing_that_is_wanted_now_is_passed_over(last: Search, wanted: Wanted, block: int) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        kept(store, last)
        search = begin(store, wanted, block)
        assert search.wanted == wanted
        assert not search.is_judged
        assert (search.gaps, search.refusal) == ({}, "")
        if wanted.tokens != last.wanted.tokens:
            assert (search.lists, search.events, search.is_asked) == ({}, {}, False)
        if wanted.from_block < last.wanted.from_block:
            assert search.events == {}
        for name, place in search.lists.items():
            assert place == last.lists[name]
        for name, place in search.events.items():
            assert place == last.gaps.get(name, last.events.get(name))
        if wanted.min_liquidity_usd < last.wanted.min_liquidity_usd:
            assert search.again is not None, "what was too thin is looked at again"


@given(SEARCHES, st.integers(0, 2_000))
def test_the_same_wishes_go_on_where_the_last_ended(last: Search, later: int) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        kept(store, last)
        search = begin(store, last.wanted, last.looked_at + later)
        assert (search.lists, search.is_asked) == (last.lists, last.is_asked)
        assert search.events == {**last.events, **last.gaps}
        is_due = last.again is None and later >= 1_000
        assert search.again == ("" if is_due else last.again)


def test_a_first_search_begins_at_the_beginning_and_has_nothing_to_look_at_again(tmp_path: Path) -> None:
    wanted = Wanted(from_block=7)
    with create(tmp_path / "store") as store:
        assert begin(store, wanted, 99) == Search(wanted, looked_at=99)


A, B = "0x" + "aa" * 20, "0x" + "bb" * 20
FOUND = st.builds(
    PoolRef, st.just(A), st.just("v3"), st.just("concentrated"), st.sampled_from(ContractKind), st.just((A, B)),
    st.sampled_from([(), (6, 18)]), st.integers(0, 10**6), st.integers(0, 200), st.sampled_from(["", "0x" + "1" * 64]),
    st.booleans(), st.sampled_from(["", B]), st.none() | st.integers(-9, 9), st.sampled_from([(), (1, 2)]),
)  # fmt: skip


@given(FOUND)
def test_a_place_that_was_left_out_is_found_again_without_what_time_has_changed(place: PoolRef) -> None:
    left = left_at(place, "too thin")
    assert (left.key, left.reason) == (place.key, "too thin")
    assert places_of([left, LeftOut("other", "futile")]) == [place._replace(last_tick=None, known_ticks=())]


def test_a_pool_that_was_taken_out_is_found_where_it_was() -> None:
    taken = pool(3)
    (place,) = places_of([left_pool(taken, "unreadable")])
    assert (place.key, place.tokens, place.decimals, place.fee_ppm) == (
        taken.key,
        taken.tokens,
        taken.decimals,
        taken.fee_ppm,
    )
