"""The cursor of discovery outlives the process, is rewound with the store, and restarts if the filter requires it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.catalogue import find_network
from swapcli.families import KIND_NAMES
from swapcli.families.balancer.rows import BalancerV2Constants, BalancerV3Constants
from swapcli.families.curve.rows import MetapoolConstants
from swapcli.families.ekubo.rows import EkuboConstants
from swapcli.families.fluid.rows import FluidConstants
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.pool_ref import LastBins, LastTicks, PoolRef
from swapcli.families.row import FactoryConstants, InfinityConstants, PoolConstants, TickConstants
from swapcli.families.sampled.rows import SampledConstants
from swapcli.families.uniswap.rows import V4Constants
from swapcli.state.store import SkippedEntry, Store
from swapcli.state.sync import SyncFilter
from swapcli.state.sync.cursor import SyncCursor, read_cursor, resume_cursor, write_cursor
from swapcli.state.sync.skipped import parse_pool_refs, skipped_known_pool, skipped_pool
from tests.state.store.build import create, pool

NAMES = st.text("ab ", min_size=1, max_size=3)
SETS = st.none() | st.frozensets(NAMES, max_size=3)
FILTERS = st.builds(SyncFilter, SETS, SETS, st.sampled_from([0.0, 10.0, 1e6]), st.integers(0, 5))
POSITIONS = st.dictionaries(NAMES, st.integers(0, 10**9), max_size=3)
CURSORS = st.builds(
    SyncCursor,
    FILTERS,
    *(POSITIONS, POSITIONS, POSITIONS, st.text(max_size=5), st.dictionaries(NAMES, NAMES)),
    *(st.none() | NAMES, st.integers(0, 10**6), st.integers(0, 9), st.booleans(), st.booleans()),
)


def store_cursor(store: Store, cursor: SyncCursor, number: int = 1) -> None:
    with store.write_block(number, hex(number)) as writer:
        write_cursor(cursor, writer)


@given(CURSORS, CURSORS)
def test_a_cursor_is_stored_and_rewound_with_the_store(first: SyncCursor, second: SyncCursor) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        assert read_cursor(store) is None
        store_cursor(store, first)
        assert read_cursor(store) == first
        store_cursor(store, second, 2)
        assert read_cursor(store) == second
        store.rewind_to(1)
        assert read_cursor(store) == first


@given(CURSORS, FILTERS, st.integers(0, 10**6))
def test_a_changed_filter_rewinds_the_cursor_far_enough(last: SyncCursor, sync_filter: SyncFilter, block: int) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        store_cursor(store, last)
        cursor = resume_cursor(store, sync_filter, block)
        assert cursor.sync_filter == sync_filter
        assert not cursor.liquidity_filtered
        assert (cursor.event_gaps, cursor.event_error) == ({}, "")
        if sync_filter.tokens != last.sync_filter.tokens:
            assert (cursor.list_positions, cursor.event_blocks, cursor.factories_queried) == ({}, {}, False)
        if sync_filter.from_block < last.sync_filter.from_block:
            assert cursor.event_blocks == {}
        for name, position in cursor.list_positions.items():
            assert position == last.list_positions[name]
        for name, position in cursor.event_blocks.items():
            assert position == last.event_gaps.get(name, last.event_blocks.get(name))
        if sync_filter.min_liquidity_usd < last.sync_filter.min_liquidity_usd:
            assert cursor.recheck_key is not None, "pools that were too thin are checked again"


@given(CURSORS, st.integers(0, 2_000))
def test_an_unchanged_filter_continues_from_the_last_cursor(last: SyncCursor, later: int) -> None:
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        store_cursor(store, last)
        cursor = resume_cursor(store, last.sync_filter, last.last_recheck_block + later)
        assert (cursor.list_positions, cursor.factories_queried) == (last.list_positions, last.factories_queried)
        assert cursor.event_blocks == {**last.event_blocks, **last.event_gaps}
        is_due = last.recheck_key is None and later >= 1_000
        assert cursor.recheck_key == ("" if is_due else last.recheck_key)


def test_the_first_cursor_starts_empty_without_a_recheck(tmp_path: Path) -> None:
    sync_filter = SyncFilter(from_block=7)
    with create(tmp_path / "store") as store:
        assert resume_cursor(store, sync_filter, 99) == SyncCursor(sync_filter, last_recheck_block=99)


A, B, HOOK, POOL_ID = "0x" + "aa" * 20, "0x" + "bb" * 20, "0x" + "40" * 20, "0x" + "1" * 64


def pool_refs(kind: str) -> st.SearchStrategy[PoolRef]:
    record = KINDS[kind].constants
    return st.builds(
        PoolRef,
        *(st.just(A), st.just("v3"), st.just("concentrated"), st.just(kind), st.just((A, B))),
        *(st.sampled_from([(), (6, 18)]), st.integers(0, 10**6)),
        st.none() | st.from_type(record) if record else st.none(),
        st.sampled_from([None, LastTicks(-7, (1, 2)), LastBins(9)]),
    )


POOL_REFS = st.sampled_from(KIND_NAMES).flatmap(pool_refs)


@given(POOL_REFS)
def test_a_skipped_pool_ref_round_trips_without_its_ticks(ref: PoolRef) -> None:
    entry = skipped_pool(ref, "too thin")
    assert (entry.key, entry.reason) == (ref.key, "too thin")
    assert parse_pool_refs([entry, SkippedEntry("other", "futile")]) == [ref._replace(last_read=None)]


@pytest.mark.parametrize(
    ("kind", "shared", "named", "constants"),
    [
        (ContractKind.UNISWAP_V3, (60, "", False, "", None, [], ZERO_ADDRESS, False), [], TickConstants(60)),
        (
            ContractKind.UNISWAP_V4,
            (60, POOL_ID, True, "", None, [], HOOK, True),
            [],
            V4Constants(POOL_ID, 60, HOOK, is_native=True, has_dynamic_fee=True),
        ),
        (
            "infinity_bin",
            (10, POOL_ID, False, "", None, [], HOOK, True),
            [["parameters", f"0x{10 << 16:064x}"]],
            InfinityConstants(POOL_ID, 10 << 16, HOOK, is_native=False, has_dynamic_fee=True),
        ),
        (
            ContractKind.EKUBO,
            (354, POOL_ID, False, "", None, [], ZERO_ADDRESS, False),
            [["fee_x128", "1234"], ["extension", B]],
            EkuboConstants(POOL_ID, 354, 1234, B),
        ),
        (ContractKind.SOLIDLY, (0, "", False, B, None, [], ZERO_ADDRESS, False), [], FactoryConstants(B)),
        (
            "balancer_v2",
            (0, POOL_ID, False, B, None, [], ZERO_ADDRESS, False),
            [],
            BalancerV2Constants(B, POOL_ID),
        ),
        (
            "balancer_v3",
            (0, "", False, B, None, [], ZERO_ADDRESS, False),
            [["pool_tokens", f"{A},{B}"]],
            BalancerV3Constants(B, (A, B)),
        ),
        ("fluid_t1", (0, "", True, B, None, [], ZERO_ADDRESS, False), [], FluidConstants(B, is_native=True)),
        (
            "stableswap",
            (0, "", False, "", None, [], ZERO_ADDRESS, False),
            [["base_pool", B]],
            MetapoolConstants(B),
        ),
        (
            ContractKind.SAMPLED,
            (0, POOL_ID, False, "", None, [], ZERO_ADDRESS, False),
            [["fee", "7"]],
            SampledConstants(POOL_ID, (("fee", "7"),)),
        ),
    ],
)
def test_refs_of_the_first_form_are_still_read(
    kind: str, shared: Sequence[object], named: Sequence[object], constants: PoolConstants
) -> None:
    text = json.dumps([A, "some", "concentrated", kind, [A, B], [6, 18], 3_000, *shared, named])
    expected = PoolRef(A, "some", "concentrated", kind, (A, B), (6, 18), 3_000, constants)
    assert parse_pool_refs([SkippedEntry("key", "reason", text)]) == [expected]


def test_a_removed_pool_round_trips_as_a_pool_ref() -> None:
    removed = pool(3)
    (ref,) = parse_pool_refs([skipped_known_pool(removed, find_network("base"), "unreadable")])
    assert (ref.key, ref.tokens, ref.decimals, ref.fee_ppm) == (
        removed.key,
        removed.tokens,
        removed.decimals,
        removed.fee_ppm,
    )
