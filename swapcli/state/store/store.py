"""A network's market in a file.

Each block is written in one transaction. Readers always see a complete block, and so does the next process if this one
is killed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from swapcli.core.errors import ConfigError, InputOutputError, MarketError
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.swappable_tokens import swappable_pool_counts
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.core.records import NamedTuple
from swapcli.state.store import undo_log
from swapcli.state.store.block_writer import BlockWriter, check_block_order
from swapcli.state.store.database import BUSY_TIMEOUT_MS, open_connection, read_transaction, write_transaction
from swapcli.state.store.disk_outage import open_copy, write_changes
from swapcli.state.store.known_pools import Inventory
from swapcli.state.store.network_record import (
    NetworkLookup,
    check_network_name,
    check_same_network,
    insert_network,
    read_network,
)
from swapcli.state.store.rows import POOL_COLUMNS, TOKEN_COLUMNS, PoolRowParser, Row, parse_token
from swapcli.state.store.sqlite_errors import damaged_store, translate_errors
from swapcli.state.store.stored_block_header import StoredBlock
from swapcli.state.store.summary import StoreSummary, summarize_store
from swapcli.state.store.transfers import read_transfers, write_transfers

if TYPE_CHECKING:
    from swapcli.core.model.past_pools import PastPools
    from swapcli.core.model.pool import Pool

MAX_CANDIDATE_POOLS, MAX_CANDIDATE_POOLS_OF_MANY = 600, 420
"""The number of pools over which one order is quoted; the second number is for a store of at least `_MANY_POOLS`. A
transaction has room for about 400 swaps. With 500 pools out of 10,000, large orders would lose up to a fifth of a basis
point. With 450 out of 100,000, huge orders find routes too long for any transaction, and the search for a shorter one
takes five times as long."""
_MANY_POOLS = 50_000
_WHOLE_FACTOR = 2
"""Stores with up to this multiple of these pools are read whole: selecting pools takes as long as reading that many."""

_SELECT_TOKENS = f"SELECT {TOKEN_COLUMNS} FROM tokens"
_MAX_SAMPLED_POOLS = 64
"""Sampled pools of one order: a live quote reads fewer."""
_SELECT_POOLS = f"SELECT {POOL_COLUMNS} FROM pools"


def open_store(path: str, networks: NetworkLookup, name: str | None = None) -> Store:
    """Open the store at `path`. `name`, if given, is the name or chain id of the network that it must contain.

    Raises `ConfigError` if there is no store, or if it cannot be opened or has another network. Raises `MarketError` if
    it is damaged, not a store, or written by a newer program.
    """
    connection = open_connection(path)
    try:
        with read_transaction(connection, path):
            network = read_network(connection, path, networks)
        if name is not None:
            check_network_name(path, network, networks, name)
    except BaseException:
        connection.close()
        raise
    return Store(connection, path, network, networks)


def create_store(path: str, network: Network, networks: NetworkLookup) -> Store:
    """Open the store of `network` at `path`, and create it if there is none. Raises the same errors as `open_store`."""
    connection = open_connection(path, create=True)
    try:
        with write_transaction(connection, path):
            if connection.execute("SELECT count(*) FROM meta").fetchone() == (0,):
                is_described = insert_network(connection, network, networks)
                if is_described and network.wrapped_native:
                    BlockWriter(connection, None, {}).put_tokens([network.wrapped_native])
            stored = connection.execute("SELECT network, chain_id FROM meta").fetchone()
        check_same_network(path, stored, network.name, network.chain_id)
    except BaseException:
        connection.close()
        raise
    return Store(connection, path, network, networks)


class _LeftDisk(NamedTuple):
    """The disk state that `Store.leave_disk` left: the connection stays open, so that readers find the files they
    need."""

    connection: sqlite3.Connection
    path: str
    head: StoredBlock | None


class Store:
    """An open store, usable as a context manager. Use it in one thread only; other threads must open the file
    themselves.

    >>> with open_store("base.sqlite", network) as store:
    ...     market = store.read_candidates(order)
    """

    def __init__(self, connection: sqlite3.Connection, path: str, network: Network, networks: NetworkLookup) -> None:
        self._connection, self.path, self.network, self._networks = connection, path, network, networks
        self._left: _LeftDisk | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with translate_errors(self.path):
            self._connection.close()
            if self._left is not None:
                self._left.connection.close()

    # --- disk outages

    @property
    def has_left_disk(self) -> bool:
        """Whether `leave_disk` was called and later changes have not been written to the disk yet."""
        return self._left is not None

    def leave_disk(self, copy_path: str) -> None:
        """Copy everything to `copy_path`, which becomes the store's `path`, and continue in the copy.

        Raises `InputOutputError` and `ConfigError` if the store cannot be read, or if the copy cannot be written.
        """
        with translate_errors(self.path):
            copy = open_copy(self._connection, copy_path)
            self._left = _LeftDisk(self._connection, self.path, self.inventory.head())
        self._connection, self.path = copy, copy_path

    def return_to_disk(self) -> None:
        """Write all changes since `leave_disk` to the disk, and continue there. Raises the same errors as
        `write_block`.

        The caller must remove the copy once no process reads it any more.
        """
        assert self._left is not None
        left, path, head = self._left
        with translate_errors(path):
            write_changes(self._connection, path, head)
        disk = open_connection(path)  # the previous connection may be read-only
        copy, self._connection, self.path, self._left = self._connection, disk, path, None
        copy.close()
        left.close()

    # --- writing

    @contextmanager
    def write_block(
        self, number: int, block_hash: str | None = None, timestamp: int | None = None, *, reset: bool = False
    ) -> Iterator[BlockWriter]:
        """Write the changes made in one block: all of them, or none if the context raises an error.

        Block numbers must increase, with or without gaps. The latest block may be opened again to add changes. Raises
        `MarketError` for an older block, or if the store's market was not synced. With `reset`, any block is accepted,
        also of another chain. The caller must then write all state again, and the store cannot rewind past that block.
        """
        with write_transaction(self._connection, self.path):
            self.check_can_append()
            head, head_hash = self._row("SELECT head, hash FROM meta")
            if reset:
                undo_log.clear(self._connection)
                self._connection.execute("DELETE FROM token_transfers")
            else:
                check_block_order(head, head_hash, number, block_hash)
            block = StoredBlock(number, block_hash, timestamp)
            undo_log.add_block(self._connection, block)
            writer = BlockWriter(self._connection, block, self._anchors)
            writer.update_description(provenance=Provenance.SYNCED)
            yield writer
            writer.update_ranking()
            self._set_head(writer.block or block)

    def check_can_append(self) -> None:
        """Raise `MarketError` if the store's market was not synced, because no block can be added to it."""
        with read_transaction(self._connection, self.path):
            (provenance,) = self._row("SELECT provenance FROM meta")
            if provenance != Provenance.SYNCED and self._row("SELECT count(*) FROM pools") != (0,):
                raise MarketError(
                    f"the store {self.path} has a {provenance} market, which cannot be synced",
                    hint="sync into a different store",
                    details={"store": self.path, "provenance": provenance},
                )

    def rewind_to(self, number: int) -> StoredBlock:
        """Restore every token and pool as it was at block `number`, which must be in `read_blocks()`. Raises
        `MarketUnavailable` if it is not."""
        with write_transaction(self._connection, self.path):
            block = undo_log.require_block(undo_log.read_blocks(self._connection), number, self.path)
            writer = BlockWriter(self._connection, None, self._anchors)
            for key in undo_log.keys_changed_after(self._connection, number):
                writer.delete_pool(key)
            undo_log.restore_tokens(self._connection, number)
            undo_log.restore_metadata(self._connection, number)
            restored = undo_log.restore_pools(self._connection, number)
            parser = PoolRowParser(self._tokens_by_id())
            for row in restored:
                writer.put_legs(row[0], parser.parse(row), [int(token_id) for token_id in row[5].split(",")])
            undo_log.delete_blocks_after(self._connection, number)
            writer.update_ranking()
            self._set_head(block)
            return block

    def read_blocks(self) -> tuple[StoredBlock, ...]:
        """Return the blocks to which the store can rewind, newest first. The first is the current block."""
        with read_transaction(self._connection, self.path):
            return undo_log.read_blocks(self._connection)

    def write_market(self, market: MarketState) -> None:
        """Replace the store's contents with `market`, which must belong to the same network."""
        stored = (self.network.name, str(self.network.chain_id))
        check_same_network(self.path, stored, market.network.name, market.network.chain_id)
        with write_transaction(self._connection, self.path):
            for table in ("meta", "tokens", "pools", "legs", "links", "notes", "left_out", "token_transfers"):
                self._connection.execute(f"DELETE FROM {table}")
            undo_log.clear(self._connection)
            insert_network(self._connection, market.network, self._networks)
            self.network = market.network
            writer = BlockWriter(self._connection, None, self._anchors)
            writer.update_description(
                provenance=market.provenance,
                source=market.source,
                gas_price_wei=market.gas_price_wei,
                pinned=market.pinned,
            )
            writer.put_tokens(market.tokens.values())
            writer.put_pools(market.pools.values(), placeholder_pools=market.placeholder_pools, block=market.block)
            writer.put_transfers(market.transfers, block=market.block)
            writer.rebuild_ranking()
            if market.block is not None:
                undo_log.add_block(self._connection, StoredBlock(market.block, None, market.timestamp))
            self._connection.execute("UPDATE meta SET head = ?, timestamp = ?", (market.block, market.timestamp))

    def record_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> bool:
        """Record the transfer behaviour of tokens, as probed at a block, without waiting for other processes.

        Return False if another process is writing, or if the file is not writable.
        """
        self._connection.execute("PRAGMA busy_timeout = 0")
        try:
            with write_transaction(self._connection, self.path):
                write_transfers(self._connection, behaviours, block)
        except (ConfigError, InputOutputError):
            return False
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        return True

    def rebuild_ranking(self) -> None:
        """Rank every token and pool now. Without this call, they are all ranked only after the store has grown a
        lot."""
        with write_transaction(self._connection, self.path):
            BlockWriter(self._connection, None, self._anchors).rebuild_ranking()

    # --- reading

    @property
    def inventory(self) -> Inventory:
        """Queries for the code that keeps the store up to date."""
        return Inventory(self._connection, self.path)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Make all reads in the context see the same block, even if another process writes."""
        with read_transaction(self._connection, self.path):
            yield

    def read_past_pools(self, keys: Collection[str]) -> tuple[PastPools, ...]:
        """Return the states of pools at the blocks of `read_blocks`, newest first. If there are many states, some are
        omitted.

        Return an empty tuple if one of the pools is not stored.
        """
        from swapcli.state.store.past_states import read_past_states

        with read_transaction(self._connection, self.path):
            return read_past_states(self._connection, undo_log.read_blocks(self._connection), keys, self._parse_rows)

    def _parse_rows(self, rows: Sequence[Row]) -> list[Pool]:
        ids = sorted(_token_ids_of(rows), key=int)
        tokens = self._connection.execute(f"{_SELECT_TOKENS} WHERE id IN ({','.join(ids)})")
        parser = PoolRowParser({row[0]: parse_token(row) for row in tokens})
        return [parser.parse(row) for row in rows]

    def read_market(self) -> MarketState:
        """Read the whole market. It equals the market that was written, if `networks` still defines the network in the
        same way."""
        with read_transaction(self._connection, self.path):
            return self._read_all()

    def read_pools(self, keys: Iterable[str]) -> MarketState:
        """Read the market with only the pools with `keys`, and their tokens. Unknown keys are ignored."""
        with read_transaction(self._connection, self.path):
            query = f"{_SELECT_POOLS} WHERE key IN (SELECT value FROM json_each(?)) ORDER BY id"
            return self._read_part(self._connection.execute(query, (json.dumps(list(keys)),)).fetchall(), ())

    def read_candidates(self, order: Order, limit: int | None = None) -> MarketState:
        """Read the market with the pools that a quote for `order` can use: about `limit` pools, or all pools if the
        store is small.

        The default `limit` is the number of pools that a route can use. If one of the order's tokens is not in the
        store, the market has no pools between the two.
        """
        from swapcli.core.selection.select_pools import select_pools
        from swapcli.state.store.ranking_queries import RankingQueries

        with read_transaction(self._connection, self.path):
            (last_id,) = self._row("SELECT max(id) FROM pools")
            pools = last_id or 0
            limit = limit or (MAX_CANDIDATE_POOLS if pools < _MANY_POOLS else MAX_CANDIDATE_POOLS_OF_MANY)
            if pools <= _WHOLE_FACTOR * limit:
                return self._read_all()
            queries = RankingQueries(self._connection, order.excluded_protocols)
            token_ids, pool_ids = select_pools(queries, order, self.network, limit)
            rows = self._pool_rows(pool_ids)
            sampled = self._sampled_pools(token_ids, rows) - pool_ids
            return self._read_part(sorted(rows + self._pool_rows(sampled)) if sampled else rows, token_ids)

    def _pool_rows(self, pool_ids: Iterable[int]) -> list[Row]:
        ids = ",".join(map(str, sorted(pool_ids)))
        return self._connection.execute(f"{_SELECT_POOLS} WHERE id IN ({ids}) ORDER BY id").fetchall()

    def _sampled_pools(self, token_ids: Iterable[int], rows: Iterable[Row]) -> set[int]:
        """Return the ids of sampled pools between main tokens, or `token_ids`, and the tokens of the pools in `rows`.

        The ranking cannot select them, because it does not know their rates.
        """
        main = ",".join(map(str, {*token_ids, *self._token_ids(self.network.stablecoins)}))
        tokens = ",".join(_token_ids_of(rows))
        pairs = f"low IN ({main}) AND high IN ({tokens})", f"low IN ({tokens}) AND high IN ({main})"
        # Without the name of the index, SQLite reads all pools of each pair.
        parts = (
            f"SELECT pool FROM legs INDEXED BY legs_by_up WHERE {pair} AND up IS NULL AND down IS NULL"
            for pair in pairs
        )
        query = f"{' UNION '.join(parts)} LIMIT {_MAX_SAMPLED_POOLS}"
        return {pool for (pool,) in self._connection.execute(query)}

    def find_pools(self, tokens: Collection[str], limit: int | None) -> tuple[list[str], int]:
        """Return the keys of the `limit` deepest pools that trade all of `tokens` (addresses), and the total number of
        pools that do."""
        with read_transaction(self._connection, self.path):
            ids = self._token_ids(tokens)
            if len(ids) < len(set(tokens)):
                return [], 0
            having = " AND ".join(f"',' || tokens || ',' LIKE '%,{token_id},%'" for token_id in ids) or "1"
            (count,) = self._row(f"SELECT count(*) FROM pools WHERE {having}")
            depth = "(SELECT coalesce(sum(depth), 0.0) FROM legs WHERE pool = id)"
            query = f"SELECT key FROM pools WHERE {having} ORDER BY {depth} DESC, id LIMIT ?"
            rows = self._connection.execute(query, (-1 if limit is None else limit,))
            return [key for (key,) in rows], count

    def read_priced(self, tokens: Iterable[str], keys: Iterable[str] = ()) -> MarketState:
        """Read the market with the pools that determine the prices of `tokens` (addresses), and the pools with
        `keys`."""
        from swapcli.core.selection.select_pools import pricing_pools
        from swapcli.state.store.ranking_queries import RankingQueries

        with read_transaction(self._connection, self.path):
            queries, token_ids = RankingQueries(self._connection, ()), self._token_ids(tokens)
            ids = ",".join({str(pool) for token_id in token_ids for pool in pricing_pools(queries, token_id)})
            query = f"{_SELECT_POOLS} WHERE id IN ({ids}) OR key IN (SELECT value FROM json_each(?)) ORDER BY id"
            return self._read_part(self._connection.execute(query, (json.dumps(list(keys)),)).fetchall(), token_ids)

    def read_deepest(self, limit: int) -> MarketState:
        """Read the market with the `limit` deepest pools and their tokens."""
        with read_transaction(self._connection, self.path):
            deepest = "SELECT pool FROM legs GROUP BY pool ORDER BY sum(depth) DESC, pool LIMIT ?"
            rows = self._connection.execute(f"{_SELECT_POOLS} WHERE id IN ({deepest}) ORDER BY id", (limit,))
            return self._read_part(rows.fetchall(), ())

    def read_tokens(self) -> dict[str, Token]:
        """Return all tokens by address."""
        with read_transaction(self._connection, self.path):
            return {token.address: token for token in self._tokens_by_id().values()}

    def read_transfers(self, addresses: Iterable[str]) -> dict[str, TransferBehaviour]:
        """Return the transfer behaviour of each token that was probed, by address."""
        with read_transaction(self._connection, self.path):
            return self._transfers(addresses)

    def find_tokens(self, name: str) -> dict[str, Token]:
        """Return the tokens whose address or symbol is `name` (case-insensitive), by address."""
        with read_transaction(self._connection, self.path):
            query = f"{_SELECT_TOKENS} WHERE folded = ?1 OR address = ?1 ORDER BY id"
            return {row[1]: parse_token(row) for row in self._connection.execute(query, (name.lower(),))}

    def tokens_at(self, addresses: Iterable[str]) -> dict[str, Token]:
        """Return the tokens with these addresses, by address."""
        with read_transaction(self._connection, self.path):
            query = f"{_SELECT_TOKENS} WHERE address IN (SELECT value FROM json_each(?))"
            return {row[1]: parse_token(row) for row in self._connection.execute(query, (json.dumps([*addresses]),))}

    def read_metadata(self, name: str) -> object:
        """Return the value that `BlockWriter.put_metadata` stored under `name`; None if there is none."""
        with read_transaction(self._connection, self.path):
            row = self._connection.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
            return json.loads(row[0]) if row else None

    def read_summary(self) -> StoreSummary:
        """Return counts of the store's contents."""
        with read_transaction(self._connection, self.path):
            counts = swappable_pool_counts(self.network, self.inventory.pool_counts_by_token())
            return summarize_store(self._connection, self.path, len(counts))

    # --- inside a transaction

    @property
    def _anchors(self) -> dict[str, float]:
        return dict.fromkeys(self.network.stablecoins, 1.0)

    def _row(self, query: str) -> Row:
        row: Row = self._connection.execute(query).fetchone()
        return row

    def _set_head(self, block: StoredBlock) -> None:
        self._connection.execute("UPDATE meta SET head = ?, hash = ?, timestamp = ?", block)

    def _token_ids(self, addresses: Iterable[str]) -> list[int]:
        query = "SELECT id FROM tokens WHERE address IN (SELECT value FROM json_each(?))"
        return [token_id for (token_id,) in self._connection.execute(query, (json.dumps(list(addresses)),))]

    def _tokens_by_id(self) -> dict[int, Token]:
        return {row[0]: parse_token(row) for row in self._connection.execute(f"{_SELECT_TOKENS} ORDER BY id")}

    def _read_all(self) -> MarketState:
        return self._market(self._connection.execute(f"{_SELECT_POOLS} ORDER BY id"), self._tokens_by_id())

    def _read_part(self, rows: list[Row], token_ids: Iterable[int]) -> MarketState:
        """Return the market with the pools in the rows, their tokens, and those of `token_ids`."""
        ids = sorted(_token_ids_of(rows).union(map(str, token_ids)), key=int)
        tokens = self._connection.execute(f"{_SELECT_TOKENS} WHERE id IN ({','.join(ids)}) ORDER BY id")
        return self._market(rows, {row[0]: parse_token(row) for row in tokens})

    def _market(self, rows: Iterable[Row], tokens: Mapping[int, Token]) -> MarketState:
        provenance, gas_price_wei, source, head, timestamp, pinned = self._description()
        parser, pools, placeholders = PoolRowParser(tokens), {}, []
        for row in rows:
            pools[row[1]] = parser.parse(row)
            if row[9]:
                placeholders.append(row[1])
        return MarketState(
            network=self.network,
            tokens={token.address: token for token in tokens.values()},
            pools=pools,
            provenance=provenance,
            source=source,
            gas_price_wei=gas_price_wei,
            block=head,
            timestamp=timestamp,
            placeholder_pools=frozenset(placeholders),
            transfers=self._transfers([token.address for token in tokens.values()]),
            pinned=pinned,
        )

    def _transfers(self, addresses: Iterable[str]) -> dict[str, TransferBehaviour]:
        try:
            return read_transfers(self._connection, addresses)
        except (ValueError, TypeError) as error:
            raise damaged_store(self.path, "its token transfer records cannot be read") from error

    def _description(self) -> tuple[Provenance, int, str, int | None, int | None, bool | None]:
        columns = "provenance, gas_price_wei, source, head, timestamp, pinned"
        provenance, gas_price, source, head, timestamp, pinned = self._row(f"SELECT {columns} FROM meta")
        try:
            is_pinned = None if pinned is None else bool(pinned)
            return Provenance(provenance), int(gas_price), source, head, timestamp, is_pinned
        except (ValueError, TypeError) as error:
            raise damaged_store(self.path, "its market description cannot be read") from error


def _token_ids_of(rows: Iterable[Row]) -> set[str]:
    """Return the ids of pools' tokens, as they are in the rows."""
    lists = {str(row[5]) for row in rows}
    return {token_id for each in lists for token_id in each.split(",") if token_id.isdecimal()}
