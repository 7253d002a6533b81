"""Results of transfer probes outlast every reorganization of the chain."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from swapcli.errors import MarketError
from swapcli.model.transfer_behaviour import IRREGULAR, ORDINARY, SHARES, UNKNOWN, TransferBehaviour, TransferKind
from swapcli.store import Store
from tests.store.build import TOKENS, create, imported, pool, reopen
from tests.support.pools import build_market

TAXED = TransferBehaviour(TransferKind.FEE, 0, 20_000, 1)
A, B, C, D, *_ = (token.address for token in TOKENS)


def filled(path: Path) -> Store:
    """Pools 0 and 2 of tokens 0 and 1, pool 1 of 1 and 2: pool 2 is the deepest."""
    store = create(path)
    with store.write_block(10, "0x10") as writer:
        writer.put_tokens(TOKENS)
        writer.put_pools([pool(0, 10), pool(1, 5, (1, 2)), pool(2, 1_000)])
    return store


def test_what_was_found_is_in_every_market_that_holds_the_token(tmp_path: Path) -> None:
    with filled(tmp_path / "store") as store:
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


def test_a_chain_that_goes_back_leaves_it_and_another_chain_does_not(tmp_path: Path) -> None:
    with filled(tmp_path / "store") as store:
        with store.write_block(11, "0x11") as writer:
            writer.put_transfers({A: SHARES})
        store.rewind_to(10)
        assert store.read_market().transfers == {A: SHARES}
        with store.write_block(5, "0x5", reset=True):
            pass
        assert store.read_market().transfers == {}


def test_tokens_are_due_that_were_never_tried_then_those_that_were_tried_long_ago(tmp_path: Path) -> None:
    with filled(tmp_path / "store") as store:
        addresses = [token.address for token in TOKENS]
        assert store.inventory.tokens_to_probe(0, 100) == addresses
        with store.write_block(20, "0x20") as writer:
            writer.put_transfers({B: ORDINARY, C: UNKNOWN})
        with store.write_block(30, "0x30") as writer:
            writer.put_transfers({A: ORDINARY})
        untried = addresses[3:]
        assert store.inventory.tokens_to_probe(20, 100) == untried
        assert store.inventory.tokens_to_probe(21, 100) == [*untried, B, C]
        assert store.inventory.tokens_to_probe(31, 100) == [*untried, B, C, A]
        assert store.inventory.tokens_to_probe(31, len(untried) + 1) == [*untried, B]


def test_tokens_are_tried_in_their_deepest_pools_also_before_these_are_ranked(tmp_path: Path) -> None:
    with filled(tmp_path / "store") as store:
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


def test_marks_of_a_market_file_are_taken_over_and_replaced_with_it(tmp_path: Path) -> None:
    given = build_market([pool(0), pool(1, 5, (1, 2))], TOKENS)
    with imported(tmp_path / "store", replace(given, transfers={A: TAXED, C: IRREGULAR})) as store:
        assert store.read_market().transfers == {A: TAXED, C: IRREGULAR}
        store.write_market(given)
        assert store.read_market().transfers == {}


def test_remembering_beside_a_writer_waits_for_nobody(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with filled(path) as store:
        assert store.record_transfers({A: SHARES}, 12)
        begun, done = threading.Event(), threading.Event()

        def write() -> None:
            with reopen(path) as other, other.write_block(12, "0x12"):
                begun.set()
                done.wait(10)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert begun.wait(10)
            assert not store.record_transfers({B: TAXED}, 12)
        finally:
            done.set()
            writer.join()
        assert store.record_transfers({B: TAXED}, 12)
        assert store.read_market().transfers == {A: SHARES, B: TAXED}


def test_a_row_that_makes_no_sense_is_named(tmp_path: Path) -> None:
    with filled(tmp_path / "store") as store:
        assert store.record_transfers({A: SHARES}, 12)
    with closing(sqlite3.connect(tmp_path / "store")) as connection, connection:
        connection.execute("UPDATE token_transfers SET kind = 'odd'")
    with (
        reopen(tmp_path / "store") as store,
        pytest.raises(MarketError, match="records of token transfers cannot be read"),
    ):
        store.read_market()
