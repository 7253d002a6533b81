"""Results of transfer probes outlast every reorganization of the chain."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from swapcli.core.errors import MarketError
from swapcli.core.model.transfer_behaviour import IRREGULAR, ORDINARY, SHARES, UNKNOWN, TransferBehaviour, TransferKind
from swapcli.state.store import Store
from tests.state.store.build import TOKENS, create, imported, pool, reopen
from tests.support.pools import build_market

TAXED = TransferBehaviour(TransferKind.FEE, 0, 20_000, 1)
A, B, C, D, *_ = (token.address for token in TOKENS)


def create_filled(path: Path) -> Store:
    """Create a store with pools 0 and 2 of tokens 0 and 1, and pool 1 of tokens 1 and 2; pool 2 is the deepest."""
    store = create(path)
    with store.write_block(10, "0x10") as writer:
        writer.put_tokens(TOKENS)
        writer.put_pools([pool(0, 10), pool(1, 5, (1, 2)), pool(2, 1_000)])
    return store


def test_probe_results_are_part_of_every_market_read(tmp_path: Path) -> None:
    with create_filled(tmp_path / "store") as store:
        with store.write_block(11, "0x11") as writer:
            writer.put_transfers({A: ORDINARY, B: TAXED, C: UNKNOWN})
        assert store.read_market().transfers == {A: ORDINARY, B: TAXED, C: UNKNOWN}
        assert store.read_pools([pool(1, 5, (1, 2)).key]).transfers == {B: TAXED, C: UNKNOWN}
        assert store.read_deepest(1).transfers == {A: ORDINARY, B: TAXED}
        assert store.read_summary().transfers == {
            TransferKind.UNKNOWN: len(TOKENS) - 2,
            TransferKind.ORDINARY: 1,
            TransferKind.FEE: 1,
        }


def test_a_rewind_keeps_transfers_and_a_reset_drops_them(tmp_path: Path) -> None:
    with create_filled(tmp_path / "store") as store:
        with store.write_block(11, "0x11") as writer:
            writer.put_transfers({A: SHARES})
        store.rewind_to(10)
        assert store.read_market().transfers == {A: SHARES}
        with store.write_block(5, "0x5", reset=True):
            pass
        assert store.read_market().transfers == {}


def test_unprobed_tokens_are_due_first_then_the_oldest_probes(tmp_path: Path) -> None:
    with create_filled(tmp_path / "store") as store:
        addresses = [token.address for token in TOKENS]
        assert store.inventory.tokens_to_probe(0, 100) == addresses
        with store.write_block(20, "0x20") as writer:
            writer.put_transfers({B: ORDINARY, C: UNKNOWN})
        with store.write_block(30, "0x30") as writer:
            writer.put_transfers({A: ORDINARY})
        unprobed = addresses[3:]
        assert store.inventory.tokens_to_probe(20, 100) == unprobed
        assert store.inventory.tokens_to_probe(21, 100) == [*unprobed, B, C]
        assert store.inventory.tokens_to_probe(31, 100) == [*unprobed, B, C, A]
        assert store.inventory.tokens_to_probe(31, len(unprobed) + 1) == [*unprobed, B]


def test_deepest_pools_of_a_token_include_unranked_ones(tmp_path: Path) -> None:
    with create_filled(tmp_path / "store") as store:
        keys = [pool(number).key for number in range(4)]
        assert store.inventory.deepest_pools([A], 1) == [keys[2]]
        assert store.inventory.deepest_pools([A], 3) == [keys[2], keys[0]]
        assert store.inventory.deepest_pools([C, A], 1) == [keys[1], keys[2]]
        assert store.inventory.deepest_pools([D], 3) == []
        with store.write_block(11, "0x11") as writer:
            writer.put_pools([pool(3, 7, (0, 3))])
            assert store.inventory.deepest_pools([D], 3) == []
            assert store.inventory.deepest_pools([D], 3, [keys[3]]) == [keys[3]]
        assert store.inventory.deepest_pools([D], 3) == [keys[3]]


def test_an_import_replaces_the_transfers_of_the_store(tmp_path: Path) -> None:
    market = build_market([pool(0), pool(1, 5, (1, 2))], TOKENS)
    with imported(tmp_path / "store", market._replace(transfers={A: TAXED, C: IRREGULAR})) as store:
        assert store.read_market().transfers == {A: TAXED, C: IRREGULAR}
        store.write_market(market)
        assert store.read_market().transfers == {}


def test_recording_transfers_never_waits_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with create_filled(path) as store:
        assert store.record_transfers({A: SHARES}, 12)
        is_writing, may_end = threading.Event(), threading.Event()

        def write() -> None:
            with reopen(path) as other, other.write_block(12, "0x12"):
                is_writing.set()
                may_end.wait(10)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert is_writing.wait(10)
            assert not store.record_transfers({B: TAXED}, 12)
        finally:
            may_end.set()
            writer.join()
        assert store.record_transfers({B: TAXED}, 12)
        assert store.read_market().transfers == {A: SHARES, B: TAXED}


def test_an_invalid_transfer_row_is_reported(tmp_path: Path) -> None:
    with create_filled(tmp_path / "store") as store:
        assert store.record_transfers({A: SHARES}, 12)
    with closing(sqlite3.connect(tmp_path / "store")) as connection, connection:
        connection.execute("UPDATE token_transfers SET kind = 'odd'")
    with (
        reopen(tmp_path / "store") as store,
        pytest.raises(MarketError, match="token transfer records cannot be read"),
    ):
        store.read_market()
