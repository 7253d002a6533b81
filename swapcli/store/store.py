"""A network's market in a file that outlives the process.

One transaction a block: whenever the process ends, the file holds the last whole block. Whoever reads meanwhile sees
one whole block, too.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from swapcli.errors import ConfigError, MarketError
from swapcli.model.market import Market, Provenance
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.token import Token
from swapcli.model.transfer_behaviour import TransferBehaviour
from swapcli.store import undo_log
from swapcli.store.blocks import BlockMark
from swapcli.store.database import BUSY_TIMEOUT_MS, open_file, reading, writing
from swapcli.store.inventory import Register
from swapcli.store.network_record import Networks, begin, check_name, check_same, network_of
from swapcli.store.rows import POOL_COLUMNS, TOKEN_COLUMNS, PoolReader, Row, token_of
from swapcli.store.sqlite_errors import damaged, translated
from swapcli.store.summary import Summary, summarise
from swapcli.store.transfers import read_transfers, write_transfers
from swapcli.store.writer import BlockWriter, check_order

DEFAULT_NEIGHBOURHOOD = 1_100
"""Pools that one order is quoted over: what is left out costs less than a basis point, and reading more takes longer
than quoting."""

_TOKENS = f"SELECT {TOKEN_COLUMNS} FROM tokens"
_POOLS = f"SELECT {POOL_COLUMNS} FROM pools"


def open_store(path: str, networks: Networks, name: str | None = None) -> Store:
    """The store at `path`; `name` is the network that it has to be of, by name or chain id.

    Raises `ConfigError` where there is none, where it cannot be opened or is of another network, `MarketError` where it
    is damaged, no store at all, or of a newer program.
    """
    connection = open_file(path)
    try:
        with reading(connection, path):
            network = network_of(connection, path, networks)
        if name is not None:
            check_name(path, network, networks, name)
    except BaseException:
        connection.close()
        raise
    return Store(connection, path, network, networks)


def create_store(path: str, network: Network, networks: Networks) -> Store:
    """The store at `path`, made if there is none, of that network. Raises as `open_store`."""
    connection = open_file(path, create=True)
    try:
        with writing(connection, path):
            if connection.execute("SELECT count(*) FROM meta").fetchone() == (0,):
                is_described = begin(connection, network, networks)
                if is_described and network.wrapped_native:
                    BlockWriter(connection, None, {}).put_tokens([network.wrapped_native])
            held = connection.execute("SELECT network, chain_id FROM meta").fetchone()
        check_same(path, held, network.name, network.chain_id)
    except BaseException:
        connection.close()
        raise
    return Store(connection, path, network, networks)


class Store:
    """An open store; closed by `close` or at the end of a `with`. For one thread; others open their own."""

    def __init__(self, connection: sqlite3.Connection, path: str, network: Network, networks: Networks) -> None:
        self._connection, self.path, self.network, self._networks = connection, path, network, networks

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """No more use of it."""
        with translated(self.path):
            self._connection.close()

    # --- writing

    @contextmanager
    def block(
        self, number: int, block_hash: str | None = None, timestamp: int | None = None, *, anew: bool = False
    ) -> Iterator[BlockWriter]:
        """Write what a block changed: all of it, or, where the `with` ends in an error, nothing.

        Blocks come in order; some may be missing. The newest may be opened again to add to it. Raises `MarketError` for
        an older one, and where the store holds something else than a synced market. With `anew` it may be any block
        of another chain: all that is held has to be written anew, and nobody can go back behind it.
        """
        with writing(self._connection, self.path):
            self.check_can_follow()
            head, head_hash = self._one("SELECT head, hash FROM meta")
            if anew:
                undo_log.forget_all(self._connection)
                self._connection.execute("DELETE FROM token_transfers")
            else:
                check_order(head, head_hash, number, block_hash)
            mark = BlockMark(number, block_hash, timestamp)
            undo_log.remember(self._connection, mark)
            writer = BlockWriter(self._connection, mark, self._anchors)
            writer.describe(provenance=Provenance.SYNCED)
            yield writer
            writer.finish()
            self._move_to(writer.mark or mark)

    def check_can_follow(self) -> None:
        """Raises `MarketError` where the store holds something else than a synced market: no block can follow that."""
        with reading(self._connection, self.path):
            (provenance,) = self._one("SELECT provenance FROM meta")
            if provenance != Provenance.SYNCED and self._one("SELECT count(*) FROM pools") != (0,):
                raise MarketError(
                    f"the store {self.path} holds a {provenance} market, which no block can follow",
                    hint="sync into another store",
                    details={"store": self.path, "provenance": provenance},
                )

    def rewind_to(self, number: int) -> BlockMark:
        """Go back to that block, one of `blocks()`: every token and pool is as it was. Raises `MarketUnavailable`."""
        with writing(self._connection, self.path):
            mark = undo_log.check_remembered(undo_log.remembered(self._connection), number, self.path)
            writer = BlockWriter(self._connection, None, self._anchors)
            for key in undo_log.pools_to_undo(self._connection, number):
                writer.drop_pool(key)
            undo_log.restore_tokens(self._connection, number)
            undo_log.restore_notes(self._connection, number)
            restored = undo_log.restore_pools(self._connection, number)
            reader = PoolReader(self._numbered_tokens())
            for row in restored:
                writer.put_legs(row[0], reader.pool(row), [int(each) for each in row[5].split(",")])
            undo_log.forget_blocks(self._connection, number)
            writer.finish()
            self._move_to(mark)
            return mark

    def blocks(self) -> tuple[BlockMark, ...]:
        """The blocks that the store can go back to, newest first; the first is the one that it is at."""
        with reading(self._connection, self.path):
            return undo_log.remembered(self._connection)

    def write_market(self, market: Market) -> None:
        """Replace everything by `market`, whose network has to be the store's."""
        held = (self.network.name, str(self.network.chain_id))
        check_same(self.path, held, market.network.name, market.network.chain_id)
        with writing(self._connection, self.path):
            for table in ("meta", "tokens", "pools", "legs", "links", "notes", "left_out", "token_transfers"):
                self._connection.execute(f"DELETE FROM {table}")
            undo_log.forget_all(self._connection)
            begin(self._connection, market.network, self._networks)
            self.network = market.network
            writer = BlockWriter(self._connection, None, self._anchors)
            writer.describe(
                provenance=market.provenance,
                source=market.source,
                gas_price_wei=market.gas_price_wei,
                pinned=market.pinned,
            )
            writer.put_tokens(market.tokens.values())
            writer.put_pools(market.pools.values(), placeholder_pools=market.placeholder_pools, block=market.block)
            writer.put_transfers(market.transfers, block=market.block)
            writer.rank()
            if market.block is not None:
                undo_log.remember(self._connection, BlockMark(market.block, None, market.timestamp))
            self._connection.execute("UPDATE meta SET head = ?, timestamp = ?", (market.block, market.timestamp))

    def remember_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> bool:
        """Remember how tokens transfer, as was found at a block, unless another process is writing just now, or nobody
        may: returns whether that was possible. Waits for nobody."""
        self._connection.execute("PRAGMA busy_timeout = 0")
        try:
            with writing(self._connection, self.path):
                write_transfers(self._connection, behaviours, block)
        except ConfigError:
            return False
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        return True

    def rank(self) -> None:
        """Rank every token and pool anew; otherwise that happens as the store grows."""
        with writing(self._connection, self.path):
            BlockWriter(self._connection, None, self._anchors).rank()

    # --- reading

    @property
    def register(self) -> Register:
        """What whoever keeps the store up to date asks of it."""
        return Register(self._connection, self.path)

    @contextmanager
    def still(self) -> Iterator[None]:
        """All reads inside see one and the same block, whoever writes meanwhile."""
        with reading(self._connection, self.path):
            yield

    def read_market(self) -> Market:
        """All of it. Equal to what was written, if `networks` tell of the network what they told then."""
        with reading(self._connection, self.path):
            return self._all()

    def market_of(self, keys: Iterable[str]) -> Market:
        """The market with no more than these pools and their tokens; keys that are unknown are left out."""
        wanted = json.dumps(list(keys))
        with reading(self._connection, self.path):
            query = f"{_POOLS} WHERE key IN (SELECT value FROM json_each(?)) ORDER BY id"
            return self._part(self._connection.execute(query, (wanted,)).fetchall(), ())

    def neighbourhood(self, order: Order, limit: int = DEFAULT_NEIGHBOURHOOD) -> Market:
        """The market with what a quote for `order` can want, `limit` pools or a few more; all of a store that is small.

        Tokens that the store does not hold lead to a market without pools between them.
        """
        from swapcli.store.neighbourhood import choose_pools

        with reading(self._connection, self.path):
            (last,) = self._one("SELECT max(id) FROM pools")
            if (last or 0) <= limit:
                return self._all()
            ends, numbers = choose_pools(self._connection, order, self.network, limit)
            rows = self._connection.execute(f"{_POOLS} WHERE id IN ({','.join(map(str, sorted(numbers)))}) ORDER BY id")
            return self._part(rows.fetchall(), ends)

    def deepest(self, limit: int) -> Market:
        """The market with the `limit` pools in which most can be traded, and their tokens."""
        with reading(self._connection, self.path):
            chosen = "SELECT pool FROM legs GROUP BY pool ORDER BY sum(depth) DESC, pool LIMIT ?"
            return self._part(
                self._connection.execute(f"{_POOLS} WHERE id IN ({chosen}) ORDER BY id", (limit,)).fetchall(), ()
            )

    def tokens(self) -> dict[str, Token]:
        """All tokens by address."""
        with reading(self._connection, self.path):
            return {token.address: token for token in self._numbered_tokens().values()}

    def transfers(self, addresses: Iterable[str]) -> dict[str, TransferBehaviour]:
        """Return how those of the tokens transfer that were tried, by address."""
        with reading(self._connection, self.path):
            return self._transfers(addresses)

    def tokens_called(self, name: str) -> dict[str, Token]:
        """The tokens with that address or, in any letter case, that symbol, by address."""
        with reading(self._connection, self.path):
            rows = self._connection.execute(f"{_TOKENS} WHERE folded = ?1 OR address = ?1 ORDER BY id", (name.lower(),))
            return {row[1]: token_of(row) for row in rows}

    def note(self, name: str) -> object:
        """What `BlockWriter.put_note` remembered under that name; None where there is nothing."""
        with reading(self._connection, self.path):
            row = self._connection.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
            return json.loads(row[0]) if row else None

    def summary(self) -> Summary:
        """What the store holds, counted."""
        with reading(self._connection, self.path):
            return summarise(self._connection, self.path)

    # --- inside a transaction

    @property
    def _anchors(self) -> dict[str, float]:
        return dict.fromkeys(self.network.stablecoins, 1.0)

    def _one(self, query: str) -> Row:
        row: Row = self._connection.execute(query).fetchone()
        return row

    def _move_to(self, mark: BlockMark) -> None:
        self._connection.execute("UPDATE meta SET head = ?, hash = ?, timestamp = ?", mark)

    def _numbered_tokens(self) -> dict[int, Token]:
        return {row[0]: token_of(row) for row in self._connection.execute(f"{_TOKENS} ORDER BY id")}

    def _all(self) -> Market:
        return self._market(self._connection.execute(f"{_POOLS} ORDER BY id"), self._numbered_tokens())

    def _part(self, rows: list[Row], numbers: Iterable[int]) -> Market:
        wanted = {number for row in rows for number in str(row[5]).split(",") if number.isdecimal()}
        wanted.update(map(str, numbers))
        tokens = self._connection.execute(f"{_TOKENS} WHERE id IN ({','.join(sorted(wanted, key=int))}) ORDER BY id")
        return self._market(rows, {row[0]: token_of(row) for row in tokens})

    def _market(self, rows: Iterable[Row], tokens: Mapping[int, Token]) -> Market:
        provenance, gas_price_wei, source, head, timestamp, pinned = self._described()
        reader, pools, invented = PoolReader(tokens), {}, []
        for row in rows:
            pools[row[1]] = reader.pool(row)
            if row[9]:
                invented.append(row[1])
        return Market(
            network=self.network,
            tokens={token.address: token for token in tokens.values()},
            pools=pools,
            provenance=provenance,
            source=source,
            gas_price_wei=gas_price_wei,
            block=head,
            timestamp=timestamp,
            placeholder_pools=frozenset(invented),
            transfers=self._transfers([token.address for token in tokens.values()]),
            pinned=pinned,
        )

    def _transfers(self, addresses: Iterable[str]) -> dict[str, TransferBehaviour]:
        try:
            return read_transfers(self._connection, addresses)
        except (ValueError, TypeError) as error:
            raise damaged(self.path, "what it says of the transfers of tokens cannot be read") from error

    def _described(self) -> tuple[Provenance, int, str, int | None, int | None, bool | None]:
        columns = "provenance, gas_price_wei, source, head, timestamp, pinned"
        provenance, gas_price, source, head, timestamp, pinned = self._one(f"SELECT {columns} FROM meta")
        try:
            is_pinned = None if pinned is None else bool(pinned)
            return Provenance(provenance), int(gas_price), source, head, timestamp, is_pinned
        except (ValueError, TypeError) as error:
            raise damaged(self.path, "its description of the market cannot be read") from error
