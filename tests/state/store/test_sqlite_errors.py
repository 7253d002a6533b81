"""Every error of a store or its file is one sentence, and no error loses data."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

import pytest

from swapcli.core.errors import ConfigError, InputOutputError, InvalidPoolState, MarketError, SwapcliError
from swapcli.core.model.order import Order
from swapcli.state.store import Store, create_store, open_store
from swapcli.state.store.database import open_connection
from swapcli.state.store.schema import MIGRATIONS, migrate, version_of
from tests.state.store.build import NETWORK, TOKENS, create, imported, is_sound, only, pool, reopen, rows
from tests.support.pools import build_wide_market

UNPRIVILEGED_USER = 65_534


def create_filled(path: Path, pools: int = 40) -> Store:
    """Create a store with one block."""
    store = create(path)
    with store.write_block(1, "0x1", 1) as writer:
        writer.put_tokens(TOKENS)
        writer.put_pools([pool(number, ends=(number % 2, 2 + number % 3)) for number in range(pools)])
    return store


def test_reading_creates_no_store(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no store at"):
        reopen(tmp_path / "store")
    assert [*tmp_path.iterdir()] == []


def test_a_store_is_not_created_at_a_folder_or_in_a_missing_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a folder"):
        create(tmp_path)
    with pytest.raises(ConfigError, match="cannot be opened"):
        create(tmp_path / "missing" / "store")


def test_a_file_that_is_no_database_is_refused_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(b"Dear diary, " * 500)
    for use in (create, reopen):
        with pytest.raises(MarketError, match="is not a swapcli store"):
            use(path)
    assert path.read_bytes() == b"Dear diary, " * 500


def test_the_database_of_another_program_is_refused_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE diary (entry TEXT)")
    connection.close()
    before = path.read_bytes()
    for use in (create, reopen):
        with pytest.raises(MarketError, match="is not a swapcli store"):
            use(path)
    assert path.read_bytes() == before


def test_an_empty_file_can_become_a_store_but_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.touch()
    with pytest.raises(ConfigError, match="is empty: the command that created it was interrupted"):
        reopen(path)
    create(path).close()
    assert reopen(path).read_market().network == NETWORK


def test_a_store_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store"
    create_filled(path).close()
    rows(path, "PRAGMA user_version = 99")
    for use in (create, reopen):
        with pytest.raises(MarketError, match="a newer swapcli wrote the store"):
            use(path)


def test_migrations_run_once_each_and_keep_the_content(tmp_path: Path) -> None:
    path = tmp_path / "store"
    create_filled(path).close()
    before = reopen(path).read_market()
    connection = open_connection(str(path))
    more = (*MIGRATIONS, "CREATE TABLE later (x)", "INSERT INTO later VALUES (1); INSERT INTO later VALUES (2)")
    for _ in range(2):
        migrate(connection, str(path), more)
        assert version_of(connection) == len(more)
    connection.close()
    assert rows(path, "SELECT x FROM later") == [(1,), (2,)]
    rows(path, f"PRAGMA user_version = {len(MIGRATIONS)}")
    assert reopen(path).read_market() == before


def test_a_failed_migration_leaves_the_layout_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "store"
    create_filled(path).close()
    connection = open_connection(str(path))
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, str(path), (*MIGRATIONS, "CREATE TABLE later (x); INSERT INTO nothing VALUES (1)"))
    assert version_of(connection) == len(MIGRATIONS)
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'later'").fetchone() == (0,)
    connection.close()


def test_a_store_of_another_network_or_chain_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store"
    create_filled(path).close()
    other, fork = NETWORK._replace(name="other", chain_id=2), NETWORK._replace(chain_id=3)
    with pytest.raises(ConfigError, match='is for "test", not for "other"'):
        create(path, other)
    with pytest.raises(ConfigError, match="is for test with chain ID 1, not with 3"):
        create(path, fork)
    with pytest.raises(ConfigError, match="is for test with chain ID 1, not with 3"):
        reopen(path, fork)
    with pytest.raises(ConfigError, match='is for "test", not for "other"'):
        open_store(str(path), only(NETWORK), "other")
    for name in ("test", "1"):
        open_store(str(path), only(NETWORK), name).close()
    with create(path) as store, pytest.raises(ConfigError, match='is for "test", not for "other"'):
        store.write_market(store.read_market()._replace(network=other))


@contextmanager
def as_unprivileged_user() -> Iterator[None]:
    """Run as another user, since root may write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(UNPRIVILEGED_USER)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    folder = Path(mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_store_in_a_read_only_folder_can_be_read(public_folder: Path) -> None:
    path = public_folder / "store"
    create_filled(path).close()
    path.chmod(0o444)
    public_folder.chmod(0o555)
    with as_unprivileged_user():
        with reopen(path) as store:
            assert len(store.read_market().pools) == 40
            assert store.read_summary().pools == 40
            with pytest.raises(ConfigError, match="it or its folder is not writable"), store.write_block(2):
                pass
        with pytest.raises(ConfigError, match="cannot be"):
            create(path)
        with pytest.raises(ConfigError, match="cannot be opened"):
            create(public_folder / "new")


def test_an_unreadable_store_is_a_config_error(public_folder: Path) -> None:
    path = public_folder / "store"
    create_filled(path).close()
    path.chmod(0)
    with as_unprivileged_user(), pytest.raises(ConfigError, match="cannot be opened"):
        reopen(path)


def test_a_full_disk_loses_only_the_block_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "store"
    store = create_filled(path)
    before = store.read_market()
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(InputOutputError, match="no space is left"), store.write_block(2) as writer:
        writer.put_pools([pool(1_000 + number) for number in range(2_000)])
    assert store.read_market() == before
    with pytest.raises(InputOutputError, match="no space is left"):
        store.write_market(before._replace(pools={p.key: p for p in map(pool, range(3_000))}))
    assert store.read_market() == before
    store._connection.execute("PRAGMA max_page_count = 1000000")
    with store.write_block(2) as writer:
        writer.put_pools([pool(1_000 + number) for number in range(2_000)])
    assert store.read_summary().pools == 2_040
    store.close()
    assert is_sound(path)


def test_two_writers_take_turns_or_one_reports_the_other(tmp_path: Path) -> None:
    with create_filled(tmp_path / "store") as store, reopen(tmp_path / "store") as other:
        other._connection.execute("PRAGMA busy_timeout = 20")
        with store.write_block(2):
            with pytest.raises(ConfigError, match="another process is writing to it"), other.write_block(2):
                pass
            assert other.read_summary().block == (1, "0x1", 1)
        with other.write_block(3):
            pass
        assert store.read_summary().block == (3, None, None)


def test_an_invalid_row_is_reported_with_its_pool(tmp_path: Path) -> None:
    path = tmp_path / "store"
    for damage in ("state = '{}'", "state = 'oops'", "state = '[]'", "tokens = '1,99'", "family = 'x'", "state = NULL"):
        create_filled(path).close()
        rows_changed = sqlite3.connect(path)
        rows_changed.execute(f"UPDATE pools SET {damage} WHERE id = 3")
        rows_changed.commit()
        rows_changed.close()
        with reopen(path) as store, pytest.raises(InvalidPoolState) as caught:
            store.read_market()
        assert caught.value.pool == pool(2).key
        path.unlink()


def test_damaged_bytes_are_reported_or_harmless(tmp_path: Path) -> None:
    market = build_wide_market(60)
    imported(tmp_path / "whole", market).close()
    whole, rng = (tmp_path / "whole").read_bytes(), random.Random(8)
    refused: list[str] = []
    for number in range(60):
        path = tmp_path / f"damaged{number}"
        damaged = bytearray(whole)
        for _ in range(rng.choice((1, 20, 400))):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged[: rng.choice((len(damaged), rng.randrange(len(damaged))))])
        try:
            read_and_write_all(path)
        except SwapcliError as error:
            refused.append(error.message)
        path.unlink()
    assert len(refused) > 20
    assert not any("\n" in message for message in refused)


def read_and_write_all(path: Path) -> None:
    """Read and write all content of a store; raises only `SwapcliError`."""
    market = build_wide_market(60)
    with open_store(str(path), only(market.network)) as store:
        tokens = list(market.tokens.values())
        for use in (
            store.read_summary, store.read_market, store.read_blocks, store.rebuild_ranking,
            lambda: store.read_candidates(Order(tokens[0], tokens[1], 10**18), limit=20),
            lambda: store.write_market(market),
        ):  # fmt: skip
            with suppress(MarketError):
                use()
        store.read_market()


def test_special_characters_of_urls_are_allowed_in_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a store?mode=memory#%41 é"
    create_filled(path).close()
    assert path.is_file()
    with create_store(str(path), NETWORK, only(NETWORK)) as store:
        assert store.read_summary().pools == 40


def test_pools_removed_for_empty_return_data_are_lost_ones(tmp_path: Path) -> None:
    path = tmp_path / "store"
    create_filled(path).close()
    connection = open_connection(str(path))
    for change in ("DROP INDEX left_out_lost", "ALTER TABLE left_out DROP COLUMN is_lost"):
        connection.execute(change)
    connection.execute("ALTER TABLE meta DROP COLUMN pinned")
    for change in (
        *("DROP TABLE token_transfers", "DROP TABLE unannounced", "DROP TABLE unexplained"),
        "DROP INDEX pools_by_family",
    ):
        connection.execute(change)
    reasons = {
        "0xa1": "getReserves(): the contract returns 0 bytes where 64 are the least",
        "0xa2": "getReserves(): the contract reverts",
    }
    connection.executemany("INSERT INTO left_out VALUES (?, ?, '[]')", reasons.items())
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with reopen(path) as store:
        assert [left.key for left in store.inventory.lost_after("", 9)] == ["0xa1"]
        assert store.read_market().pinned is None
