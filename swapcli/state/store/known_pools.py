"""Queries for the stored and the skipped pools, for the code that keeps a store up to date.

While a block is being written, the queries see its changes so far.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator

from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.state.store.database import read_transaction
from swapcli.state.store.documents import PoolDocument, read_pool_documents, read_token_documents, tokens_changed_since
from swapcli.state.store.rows import TOKEN_COLUMNS, Row, parse_token
from swapcli.state.store.stored_block_header import StoredBlock
from swapcli.state.store.transfers import deepest_pools, tokens_to_probe


class SkippedEntry(NamedTuple):
    """A pool or token that is not stored. `pool_ref` is the reference with which to read it again; None if it is never
    read again.

    `is_lost` marks a pool that was stored before, or that its factory lists. Every sync tries to read lost pools again.
    """

    key: str
    reason: str
    pool_ref: str | None = None
    is_lost: bool = False


class Inventory:
    """Queries for the contents of an open store."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection, self._path = connection, path

    def head(self) -> StoredBlock | None:
        """Return the store's latest block, or None if it has none. While a block is being written, return the block
        before it."""
        ((number, block_hash, timestamp),) = self._rows("SELECT head, hash, timestamp FROM meta")
        return None if number is None else StoredBlock(number, block_hash, timestamp)

    def changed_since(self, block: StoredBlock) -> frozenset[str] | None:
        """Return the keys of the pools that were added, changed or removed at `block` or later.

        Return None if the block is not in the store, or no longer in its undo log.
        """
        if not self._rows("SELECT 1 FROM blocks WHERE number IS ?1 AND hash IS ?2 AND timestamp IS ?3", *block):
            return None
        return frozenset(
            key for (key,) in self._rows("SELECT DISTINCT key FROM undo_pools WHERE at >= ?1", block.number)
        )

    def count_pools_and_tokens(self) -> tuple[int, int]:
        """Return the numbers of pools and tokens."""
        ((pools, tokens),) = self._rows("SELECT (SELECT count(*) FROM pools), (SELECT count(*) FROM tokens)")
        return pools, tokens

    def has_pools(self) -> bool:
        """Return whether there are any pools, without counting them."""
        return bool(self._rows("SELECT 1 FROM pools LIMIT 1"))

    def families_by_protocol(self) -> dict[str, frozenset[str]]:
        """Return the pool families of each protocol that has stored pools."""
        families: dict[str, set[str]] = {}
        for protocol, family in self._rows("SELECT DISTINCT protocol, family FROM pools"):
            families.setdefault(protocol, set()).add(family)
        return {protocol: frozenset(each) for protocol, each in families.items()}

    def unannounced_keys(self) -> list[str]:
        """Return the keys of the pools whose state can change without a known event, sorted."""
        query = (
            "SELECT key FROM (SELECT key FROM unannounced UNION SELECT key FROM unexplained)"
            " WHERE key IN (SELECT key FROM pools) ORDER BY key"
        )
        return [key for (key,) in self._rows(query)]

    def unexplained_pools(self) -> dict[str, str]:
        """Return the pools that changed without an event of their kind, as protocols by pool key."""
        query = "SELECT key, protocol FROM pools WHERE key IN (SELECT key FROM unexplained) ORDER BY key"
        return dict(self._rows(query))

    def pool_counts_by_token(self) -> dict[str, int]:
        """Return the number of pools that trade each token, by address, without parsing the pools."""
        counts = Counter(
            token_id for (token_ids,) in self._rows("SELECT tokens FROM pools") for token_id in token_ids.split(",")
        )
        return {address: counts[str(token_id)] for token_id, address in self._rows("SELECT id, address FROM tokens")}

    def pool_keys_after(self, after: int, limit: int, protocol: str | None = None) -> dict[int, str]:
        """Return the next `limit` pools (of `protocol` if given) whose ids are above `after`, as keys by id, in id
        order. Ids never change."""
        where, values = ("", ()) if protocol is None else ("AND protocol = ?3", (protocol,))
        query = f"SELECT id, key FROM pools WHERE id > ?1 {where} ORDER BY id LIMIT ?2"
        return dict(self._rows(query, after, limit, *values))

    def pool_contracts(self) -> Iterator[tuple[str, str, str]]:
        """Yield the key, contract address and family of every pool."""
        yield from self._rows("SELECT key, address, family FROM pools")

    def own_contracts_after(self, after: int, limit: int) -> list[tuple[int, str, str]]:
        """Return the id, address and family of the next `limit` pools with ids above `after` that have a contract of
        their own."""
        query = "SELECT id, key, family FROM pools WHERE id > ?1 AND key = address ORDER BY id LIMIT ?2"
        return [(pool_id, key, family) for pool_id, key, family in self._rows(query, after, limit)]

    def last_pool_id(self) -> int:
        """Return the highest pool id; 0 if there are none."""
        ((pool_id,),) = self._rows("SELECT coalesce(max(id), 0) FROM pools")
        return int(pool_id)

    def existing_keys(self, keys: Iterable[str]) -> set[str]:
        """Return the keys among `keys` whose pools are stored."""
        rows = self._rows("SELECT key FROM pools WHERE key IN (SELECT value FROM json_each(?1))", _json_list(keys))
        return {key for (key,) in rows}

    def contract_addresses(self, limit: int) -> list[str] | None:
        """Return the contract addresses of all pools, each once; None if there are more than `limit`."""
        rows = self._rows("SELECT DISTINCT address FROM pools LIMIT ?1", limit + 1)
        return None if len(rows) > limit else [address for (address,) in rows]

    def tokens(self, addresses: Iterable[str]) -> dict[str, Token]:
        """Return the tokens among `addresses` that are stored, by address."""
        query = f"SELECT {TOKEN_COLUMNS} FROM tokens WHERE address IN (SELECT value FROM json_each(?1))"
        return {row[1]: parse_token(row) for row in self._rows(query, _json_list(addresses))}

    def pools_below_depth(self, depth_usd: float, keys: Iterable[str] | None = None) -> list[str]:
        """Return the keys of the pools (among `keys` if given) whose ranked depth is below `depth_usd`.

        A pool without a token of known price has the depth 0. The depth of sampled pools is unknown, so they are never
        returned.
        """
        depth = "(SELECT coalesce(sum(depth), 0.0) FROM legs WHERE pool = id)"
        query = f"SELECT key FROM pools WHERE {depth} < ?1 AND family <> 'sampled'"
        if keys is None:
            return [key for (key,) in self._rows(query, depth_usd)]
        among = f"{query} AND key IN (SELECT value FROM json_each(?2))"
        return [key for (key,) in self._rows(among, depth_usd, _json_list(keys))]

    def tokens_to_probe(self, probed_before: int, limit: int) -> list[str]:
        """Same as `transfers.tokens_to_probe`."""
        with read_transaction(self._connection, self._path):
            return tokens_to_probe(self._connection, probed_before, limit)

    def deepest_pools(self, tokens: Iterable[str], limit: int, new: Iterable[str] = ()) -> list[str]:
        """Same as `transfers.deepest_pools`."""
        with read_transaction(self._connection, self._path):
            return deepest_pools(self._connection, tokens, limit, new)

    def skipped_after(self, after: str, limit: int) -> list[SkippedEntry]:
        """Return the next `limit` skipped pools with keys above `after` that can be read again, in key order."""
        query = f"{_SELECT_SKIPPED} AND place NOTNULL AND key > ?1 ORDER BY key LIMIT ?2"
        return [SkippedEntry(*row) for row in self._rows(query, after, limit)]

    def lost_after(self, after: str, limit: int) -> list[SkippedEntry]:
        """Return the next `limit` lost pools with keys above `after`, in key order."""
        query = f"{_SELECT_SKIPPED} AND is_lost AND place NOTNULL AND key > ?1 ORDER BY key LIMIT ?2"
        return [SkippedEntry(*row) for row in self._rows(query, after, limit)]

    def skipped_among(self, keys: Iterable[str]) -> list[SkippedEntry]:
        """Return the skipped pools among `keys` that can be read again."""
        query = f"{_SELECT_SKIPPED} AND place NOTNULL AND key IN (SELECT value FROM json_each(?1)) ORDER BY key"
        return [SkippedEntry(*row) for row in self._rows(query, _json_list(keys))]

    def skip_reason(self, key: str) -> str | None:
        """Return why the pool or token with the key was skipped; None if it was not skipped."""
        rows = self._rows(f"{_SELECT_SKIPPED} AND key = ?1", key)
        return SkippedEntry(*rows[0]).reason if rows else None

    def all_skipped(self) -> Iterator[SkippedEntry]:
        """Yield every skipped pool and token, in key order."""
        after = ""
        while rows := self._rows(f"{_SELECT_SKIPPED} AND key > ?1 ORDER BY key LIMIT 1000", after):
            yield from (SkippedEntry(*row) for row in rows)
            after = rows[-1][0]

    def pool_documents(self, keys: Iterable[str] | None = None) -> dict[str, PoolDocument]:
        """Same as `documents.read_pool_documents`."""
        with read_transaction(self._connection, self._path):
            return read_pool_documents(self._connection, keys)

    def token_documents(self, addresses: Iterable[str] | None = None) -> dict[str, bytes]:
        """Same as `documents.read_token_documents`."""
        with read_transaction(self._connection, self._path):
            return read_token_documents(self._connection, addresses)

    def tokens_changed_since(self, block: int) -> set[str]:
        """Same as `documents.tokens_changed_since`."""
        with read_transaction(self._connection, self._path):
            return tokens_changed_since(self._connection, block)

    def _rows(self, query: str, *values: object) -> list[Row]:
        with read_transaction(self._connection, self._path):
            return self._connection.execute(query, values).fetchall()


_SELECT_SKIPPED = (
    "SELECT key, reason, place, is_lost FROM left_out WHERE key NOT IN (SELECT key FROM pools)"
    " AND key NOT IN (SELECT address FROM tokens)"
)


def _json_list(values: Iterable[str]) -> str:
    return json.dumps(list(values))
