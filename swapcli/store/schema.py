"""The tables, as numbered migrations; a file's `user_version` counts those that it has been through.

| table | holds |
|---|---|
| `meta` | the market but for its tokens and pools: one row; `head` is the newest block |
| `tokens`, `pools` | as in a market file, in its order; a pool's `tokens` are ids, `state` the family's fields |
| `blocks` | the newest blocks, oldest first, to which the store can go back |
| `undo_pools`, `undo_tokens` | of each, the rows that it changed as they were before; `id` NULL where there was none |
| `undo_notes` | likewise, `value` NULL where there was none |
| `notes` | what whoever fills the store wants to find again |
| `left_out` | pools and tokens that are not held, and why; `place` is what it takes to look again |
| `legs` | for each pool and pair of its tokens, `low` < `high`: logarithm of the rate of the first unit each way |
|        | (`up` sells `low`), base units that move it by one, and `depth`: the thinner side of these in dollars |
| `links` | the pairs that pools join, both ways round, with their whole depth |
| `token_transfers` | how a token's transfers turned out, and at which block they were tried; 'unknown': it refused |

`tokens` also tell what `ranking` knows: `worth` in dollars per base unit, `width` of the widest way from the dollar,
the token `via` which it leads, and `transit`, what can pass through.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from swapcli.errors import MarketError

APPLICATION_ID = 0x53574150
"""Tells a store from other SQLite files: "SWAP"."""

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
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, _SECOND, _THIRD)
"""Only ever added to: files that have been through the earlier ones are out there."""


def version_of(connection: sqlite3.Connection) -> int:
    """How many migrations the file has been through."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def migrate(connection: sqlite3.Connection, path: str, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring the file to the newest version, a transaction a step. Raises `MarketError` where it is newer."""
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
    """Raises `MarketError` where a newer program wrote the file."""
    version = version_of(connection)
    if version > len(migrations):
        raise MarketError(
            f"the store {path} was written by a newer swapcli: its layout is number {version}, "
            f"and this program knows {len(migrations)}",
            hint="update swapcli, or use another store",
            details={"store": path, "version": version, "known": len(migrations)},
        )


def _step(connection: sqlite3.Connection, migrations: Sequence[str]) -> None:
    # Asked again inside the transaction: another process may have been faster.
    version = version_of(connection)
    if version >= len(migrations):
        return
    for statement in migrations[version].split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version + 1}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
