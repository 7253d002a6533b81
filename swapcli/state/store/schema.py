"""The tables, defined by numbered migrations. A file's `user_version` is the number of migrations applied to it.

| table | content |
|---|---|
| `meta` | one row: the market without tokens and pools; `head` is the latest block, `pinned` is as in `MarketState` |
| `tokens`, `pools` | as in a market file, in its order; a pool's `tokens` are ids, `state` the fields of its family; |
|        | `invented` marks pools with placeholder addresses |
| `blocks` | the latest blocks, oldest first, to which the store can rewind |
| `undo_pools`, `undo_tokens` | the previous rows of what each block changed; `id` is NULL if there was none |
| `undo_notes` | likewise; `value` is NULL if there was none |
| `notes` | metadata: JSON by name, for the code that fills the store |
| `left_out` | skipped pools and tokens with the reason; `place` is the reference to read a pool again, `is_lost` |
|        | marks pools that were stored before or are listed by their factory: every sync reads them again |
| `legs` | `depth_ranking.Leg` for each pool and pair of its tokens; `depth` is its thinner side in dollars |
| `links` | the pairs of tokens with pools, in both directions, with their total depth |
| `unannounced` | the keys of pools whose state can change without an event; of removed pools as well |
| `unexplained` | the keys of pools that changed while their logs held no event of their kind, and the block; they are |
|        | read at every block like those in `unannounced` |
| `token_transfers` | how a token transfers, and the block of the probe; 'unknown' if the probe failed |

`tokens` also has the ranking: `worth` is the price in dollars per base unit, `width` the depth of the thinnest pair on
the widest path from a dollar token, `via` the token before it on that path, `transit` the throughput in dollars. Column
names are older than the terms in the code. They stay, because renaming them would rewrite every store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from swapcli.core.errors import MarketError

APPLICATION_ID = 0x53574150
"""Distinguishes a store from other SQLite files: "SWAP" in ASCII."""

_POOL = """
    id INTEGER {id}, key TEXT NOT NULL {key}, address TEXT, protocol TEXT, family TEXT, tokens TEXT, fee_ppm INTEGER,
    state TEXT, block INTEGER, invented INTEGER
"""
_TOKEN = """
    id INTEGER {id}, address TEXT NOT NULL {key}, symbol TEXT, name TEXT, decimals INTEGER, price_usd REAL, folded TEXT
"""
_FIRST = f"""
CREATE TABLE meta (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1), network TEXT NOT NULL, chain_id TEXT NOT NULL,
    description TEXT NOT NULL, provenance TEXT NOT NULL, source TEXT NOT NULL, gas_price_wei TEXT NOT NULL,
    head INTEGER, hash TEXT, timestamp INTEGER, ranked_pools INTEGER NOT NULL
);
CREATE TABLE tokens (
    {_TOKEN.format(id="PRIMARY KEY", key="UNIQUE")}, worth REAL, width REAL, via INTEGER, transit REAL
);
CREATE INDEX tokens_by_symbol ON tokens (folded);
CREATE INDEX tokens_by_transit ON tokens (transit DESC);
CREATE TABLE pools ({_POOL.format(id="PRIMARY KEY", key="UNIQUE")});
CREATE TABLE blocks (number INTEGER PRIMARY KEY, hash TEXT, timestamp INTEGER);
CREATE TABLE undo_pools (
    at INTEGER NOT NULL, {_POOL.format(id="", key="")}, PRIMARY KEY (at, key)
) WITHOUT ROWID;
CREATE TABLE undo_tokens (
    at INTEGER NOT NULL, {_TOKEN.format(id="", key="")}, PRIMARY KEY (at, address)
) WITHOUT ROWID;
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE legs (
    low INTEGER NOT NULL, high INTEGER NOT NULL, pool INTEGER NOT NULL, protocol TEXT NOT NULL,
    up REAL, down REAL, in_low REAL NOT NULL, in_high REAL NOT NULL, depth REAL NOT NULL,
    PRIMARY KEY (low, high, pool)
) WITHOUT ROWID;
CREATE INDEX legs_by_pool ON legs (pool);
CREATE INDEX legs_by_depth ON legs (low, high, depth DESC);
CREATE INDEX legs_by_up ON legs (low, high, up DESC);
CREATE INDEX legs_by_down ON legs (low, high, down DESC);
CREATE TABLE links (
    token INTEGER NOT NULL, other INTEGER NOT NULL, depth REAL NOT NULL, pools INTEGER NOT NULL,
    PRIMARY KEY (token, other)
) WITHOUT ROWID;
CREATE INDEX links_by_depth ON links (token, depth DESC);
"""
_SECOND = """
CREATE TABLE undo_notes (at INTEGER NOT NULL, name TEXT NOT NULL, value TEXT, PRIMARY KEY (at, name)) WITHOUT ROWID;
CREATE TABLE left_out (key TEXT PRIMARY KEY, reason TEXT NOT NULL, place TEXT) WITHOUT ROWID;
CREATE INDEX pools_by_protocol ON pools (protocol, id);
"""

_THIRD = """
CREATE TABLE token_transfers (
    address TEXT PRIMARY KEY, kind TEXT NOT NULL, buy_fee_ppm INTEGER NOT NULL, sell_fee_ppm INTEGER NOT NULL,
    transfer_fee_ppm INTEGER NOT NULL, block INTEGER
) WITHOUT ROWID;
ALTER TABLE meta ADD COLUMN pinned INTEGER;
ALTER TABLE left_out ADD COLUMN is_lost INTEGER NOT NULL DEFAULT 0;
UPDATE left_out SET is_lost = 1 WHERE reason LIKE '%: the contract returns 0 bytes%';
CREATE INDEX left_out_lost ON left_out (key) WHERE is_lost;
"""

_FOURTH = """
CREATE TABLE unannounced (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX pools_by_family ON pools (protocol, family);
"""

_FIFTH = """
CREATE TABLE unexplained (key TEXT PRIMARY KEY, block INTEGER) WITHOUT ROWID;
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH)
"""Never change or remove a migration: existing files have been through it."""


def version_of(connection: sqlite3.Connection) -> int:
    """Return the number of migrations applied to the file."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def migrate(connection: sqlite3.Connection, path: str, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Migrate the file to the newest version, with one transaction per migration. Raises `MarketError` if the file is
    newer."""
    check_version(connection, path, migrations)
    while version_of(connection) < len(migrations):
        connection.execute("BEGIN IMMEDIATE")
        try:
            _step(connection, migrations)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def check_version(connection: sqlite3.Connection, path: str, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Raise `MarketError` if a newer program wrote the file."""
    version = version_of(connection)
    if version > len(migrations):
        raise MarketError(
            f"a newer swapcli wrote the store {path}: its layout is version {version}, and this swapcli supports "
            f"{len(migrations)}",
            hint="update swapcli, or use a different store",
            details={"store": path, "version": version, "known": len(migrations)},
        )


def _step(connection: sqlite3.Connection, migrations: Sequence[str]) -> None:
    # Read again inside the transaction: another process may have migrated the file first.
    version = version_of(connection)
    if version >= len(migrations):
        return
    for statement in migrations[version].split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version + 1}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
