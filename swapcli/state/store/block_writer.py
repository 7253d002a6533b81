"""Write tokens and pools, and save their previous rows in the undo log."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

from swapcli.core.errors import MarketError
from swapcli.core.model.market import Provenance
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.core.selection.depth_ranking import pool_legs
from swapcli.state.store import ranking_updates, undo_log
from swapcli.state.store.known_pools import SkippedEntry
from swapcli.state.store.rows import POOL_FIELDS, TOKEN_FIELDS, pool_row, require_token_ids, token_row
from swapcli.state.store.stored_block_header import StoredBlock
from swapcli.state.store.transfers import write_transfers

_RERANK_GROWTH, _RERANK_MIN_POOLS = 1.25, 200
"""A store that has grown by this factor and this number of pools since its last full ranking is fully ranked again."""

Anchors = Mapping[str, float]
"""Dollars per whole token, by address."""


class BlockWriter:
    """Changes a store within one transaction. Call `update_ranking` last to bring the ranking up to date.

    `block` is the block being written; None if the changes cannot be undone.
    """

    def __init__(self, connection: sqlite3.Connection, block: StoredBlock | None, anchors: Anchors) -> None:
        self._connection, self.block, self._anchors = connection, block, anchors
        self._at = block and block.number
        self._changed_pairs: set[ranking_updates.IdPair] = set()

    def renumber(self, block: StoredBlock) -> None:
        """Assign all changes so far to a later block. The writer must have a block."""
        assert self.block
        undo_log.renumber_block(self._connection, self.block.number, block)
        self.block, self._at = block, block.number

    def put_tokens(self, tokens: Iterable[Token]) -> None:
        """Insert tokens, and update stored tokens that differ."""
        for token in tokens:
            stored = self._token(token.address)
            if stored and stored[1] == token:
                continue
            undo_log.save_token(self._connection, self._at, token.address)
            if stored:
                self._connection.execute(
                    "UPDATE tokens SET symbol = ?, name = ?, decimals = ?, price_usd = ?, folded = ? WHERE id = ?",
                    (*token_row(stored[0], token)[2:], stored[0]),
                )
            else:
                placeholders, row = ", ".join("?" * TOKEN_FIELDS), token_row(self._next_id("tokens"), token)
                self._connection.execute(f"INSERT INTO tokens VALUES ({placeholders}, NULL, NULL, NULL, 0.0)", row)

    def put_pools(
        self, pools: Iterable[Pool], *, placeholder_pools: frozenset[str] = frozenset(), block: int | None = None
    ) -> None:
        """Insert pools, and update the state of stored pools. Raises `MarketError` if one of their tokens is not
        stored.

        `placeholder_pools` are the keys of pools with made-up addresses. `block` is the block of their state if the
        writer has none.
        """
        tokens: dict[str, tuple[int, Token]] = {}
        for pool in pools:
            for address in pool.tokens:
                if address not in tokens and (stored := self._token(address)):
                    tokens[address] = stored
            token_ids = require_token_ids(pool, tokens)
            undo_log.save_pool(self._connection, self._at, pool.key)
            pool_id = self._delete_legs(pool.key) or self._next_id("pools")
            columns = ", ".join("?" * POOL_FIELDS)
            at = block if self._at is None else self._at
            row = pool_row(pool_id, pool, token_ids, at, pool.key in placeholder_pools)
            self._connection.execute(f"INSERT OR REPLACE INTO pools VALUES ({columns})", row)
            self.put_legs(pool_id, pool, token_ids)
            self._mark_unannounced(pool)

    def put_legs(self, pool_id: int, pool: Pool, token_ids: list[int]) -> None:
        """Insert the legs of a pool that has none yet."""
        legs = list(pool_legs(pool_id, pool, token_ids))
        ranking_updates.insert_legs(self._connection, legs)
        self._changed_pairs.update((leg.low, leg.high) for leg in legs)

    def _mark_unannounced(self, pool: Pool) -> None:
        """Record whether a pool must be read at every block."""
        if pool.changes_without_events:
            self._connection.execute("INSERT OR IGNORE INTO unannounced VALUES (?)", (pool.key,))
        else:
            self._connection.execute("DELETE FROM unannounced WHERE key = ?", (pool.key,))

    def mark_unexplained(self, keys: Iterable[str]) -> None:
        """Record pools that changed without an event of their kind. From now on, they are read at every block.

        Rewinding keeps these records, because the pools' contracts do not change.
        """
        self._connection.executemany(
            "INSERT OR IGNORE INTO unexplained VALUES (?, ?)", [(key, self._at) for key in keys]
        )

    def remove_pools(self, keys: Iterable[str]) -> None:
        """Remove pools; unknown keys are ignored."""
        for key in keys:
            undo_log.save_pool(self._connection, self._at, key)
            self.delete_pool(key)

    def delete_pool(self, key: str) -> None:
        """Remove a pool without saving its row."""
        self._delete_legs(key)
        self._connection.execute("DELETE FROM pools WHERE key = ?", (key,))

    def remove_unused_tokens(self, keep: str | None) -> None:
        """Remove the tokens that no pool trades, except the token at the address `keep`.

        The ranking reflects the removal only after `rebuild_ranking`.
        """
        rows = self._connection.execute("SELECT DISTINCT tokens FROM pools")
        used = {int(token_id) for (token_ids,) in rows for token_id in token_ids.split(",")}
        tokens = self._connection.execute("SELECT id, address FROM tokens").fetchall()
        for token_id, address in tokens:
            if token_id not in used and address != keep:
                undo_log.save_token(self._connection, self._at, address)
                self._connection.execute("DELETE FROM tokens WHERE address = ?", (address,))

    def record_skipped(self, entries: Iterable[SkippedEntry]) -> None:
        """Record pools and tokens that are not stored. Rewinding keeps these records. A record is ignored while its
        pool is stored.

        A lost pool stays lost, even if a later entry has a different reason.
        """
        self._connection.executemany(
            "INSERT INTO left_out (key, reason, place, is_lost) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
            " reason = excluded.reason, place = excluded.place, is_lost = max(is_lost, excluded.is_lost)",
            entries,
        )

    def put_transfers(self, behaviours: Mapping[str, TransferBehaviour], *, block: int | None = None) -> None:
        """Record the transfer behaviour of tokens, by address. `block` is the block of the probe if the writer has
        none."""
        write_transfers(self._connection, behaviours, block if self._at is None else self._at)

    def put_metadata(self, name: str, value: object, *, undoable: bool = False) -> None:
        """Store a JSON value by name. If the entry is `undoable`, rewinding restores the value that it had at the
        earlier block."""
        if undoable:
            undo_log.save_metadata(self._connection, self._at, name)
        self._connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, json.dumps(value)))

    def update_description(
        self,
        *,
        provenance: Provenance | None = None,
        source: str | None = None,
        gas_price_wei: int | None = None,
        pinned: bool | None = None,
    ) -> None:
        """Update the description of the state's source, and the gas price. None leaves a value unchanged."""
        self._connection.execute(
            "UPDATE meta SET provenance = coalesce(?, provenance), source = coalesce(?, source), "
            "gas_price_wei = coalesce(?, gas_price_wei), pinned = coalesce(?, pinned)",
            (provenance, source, None if gas_price_wei is None else str(gas_price_wei), pinned),
        )

    def update_ranking(self) -> None:
        """Update the ranking of the changed pairs, or rank everything if the store has grown much. Call this last."""
        if not self._changed_pairs:
            return
        pools, ranked = self._connection.execute(
            "SELECT (SELECT count(*) FROM pools), ranked_pools FROM meta"
        ).fetchone()
        if pools > ranked * _RERANK_GROWTH + _RERANK_MIN_POOLS or not ranked:
            self.rebuild_ranking()
        else:
            ranking_updates.update(self._connection, self._changed_pairs)

    def rebuild_ranking(self) -> None:
        """Rank every token and pool."""
        ranking_updates.rebuild(self._connection, self._anchor_prices())

    def _anchor_prices(self) -> dict[int, float]:
        """Return dollars per base unit by token id, for the stablecoins, or reference prices if there are none."""
        rows = self._connection.execute("SELECT id, address, decimals, price_usd FROM tokens").fetchall()
        prices = {token_id: self._anchors[address] for token_id, address, _, _ in rows if address in self._anchors}
        prices = prices or {token_id: price for token_id, _, _, price in rows if price}
        decimals = {token_id: count for token_id, _, count, _ in rows}
        return {token_id: price / 10 ** decimals[token_id] for token_id, price in prices.items()}

    def _token(self, address: str) -> tuple[int, Token] | None:
        row = self._connection.execute(
            "SELECT id, address, symbol, name, decimals, price_usd FROM tokens WHERE address = ?", (address,)
        ).fetchone()
        return (row[0], Token(*row[1:])) if row else None

    def _next_id(self, table: str) -> int:
        (last,) = self._connection.execute(f"SELECT max(id) FROM {table}").fetchone()
        return (last or 0) + 1

    def _delete_legs(self, key: str) -> int | None:
        """Delete the legs of a pool, and return its id; None if there is no such pool."""
        row = self._connection.execute("SELECT id FROM pools WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        pairs = self._connection.execute("SELECT low, high FROM legs WHERE pool = ?", row).fetchall()
        self._changed_pairs.update(pairs)
        self._connection.execute("DELETE FROM legs WHERE pool = ?", row)
        pool_id: int = row[0]
        return pool_id


def check_block_order(head: int | None, head_hash: str | None, number: int, block_hash: str | None) -> None:
    """Raise `MarketError` unless the block follows the store's latest block, or is that block."""
    if head is None or number > head or (number == head and block_hash == head_hash):
        return
    if number == head:
        raise MarketError(f"the store has a different block {number}: {head_hash}, not {block_hash}")
    raise MarketError(f"block {number} does not follow {head}, the store's latest block")
