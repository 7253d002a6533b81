"""Which pools a store holds and which were left out: what whoever keeps it up to date has to know.

While a block is written, all of this tells what has been written so far.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from swapcli.model.token import Token
from swapcli.store.blocks import BlockMark
from swapcli.store.database import reading
from swapcli.store.rows import TOKEN_COLUMNS, Row, token_of
from swapcli.store.transfers import deepest_pools, tokens_to_try


class LeftOut(NamedTuple):
    """A pool or token that is not held. `place` is what its writer needs to look again, None where that is futile.

    `is_lost` marks a pool that was held, or that its factory vouches for: every run looks at it again.
    """

    key: str
    reason: str
    place: str | None = None
    is_lost: bool = False


class Register:
    """Of an open store, and as long as it is open."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection, self._path = connection, path

    def head(self) -> BlockMark | None:
        """The block that the store is at, None where it is at none. While a block is written, that before it."""
        ((number, block_hash, timestamp),) = self._rows("SELECT head, hash, timestamp FROM meta")
        return None if number is None else BlockMark(number, block_hash, timestamp)

    def changed_since(self, mark: BlockMark) -> frozenset[str] | None:
        """The keys of the pools that this block, or one after it, added, changed or took out; None where the store does
        not come from that block, or has forgotten it."""
        if not self._rows("SELECT 1 FROM blocks WHERE number IS ?1 AND hash IS ?2 AND timestamp IS ?3", *mark):
            return None
        return frozenset(
            key for (key,) in self._rows("SELECT DISTINCT key FROM undo_pools WHERE at >= ?1", mark.number)
        )

    def counts(self) -> tuple[int, int]:
        """How many pools and tokens there are."""
        ((pools, tokens),) = self._rows("SELECT (SELECT count(*) FROM pools), (SELECT count(*) FROM tokens)")
        return pools, tokens

    def protocols(self) -> dict[str, str]:
        """The protocols of the pools, with their families: each has but one."""
        family = "(SELECT family FROM pools WHERE protocol = each.protocol LIMIT 1)"
        return dict(self._rows(f"SELECT protocol, {family} FROM (SELECT DISTINCT protocol FROM pools) AS each"))

    def pools_by_token(self) -> dict[str, int]:
        """In how many pools each token is, by address; no pool is parsed."""
        counts = Counter(
            number for (numbers,) in self._rows("SELECT tokens FROM pools") for number in numbers.split(",")
        )
        return {address: counts[str(number)] for number, address in self._rows("SELECT id, address FROM tokens")}

    def pools(self, after: int, limit: int, protocol: str | None = None) -> dict[int, str]:
        """The next `limit` pools (of a protocol) behind the number `after`: keys by number, which never changes."""
        where, values = ("", ()) if protocol is None else ("AND protocol = ?3", (protocol,))
        query = f"SELECT id, key FROM pools WHERE id > ?1 {where} ORDER BY id LIMIT ?2"
        return dict(self._rows(query, after, limit, *values))

    def places(self) -> Iterator[tuple[str, str, str]]:
        """Return the key, the contract and the family of every pool."""
        yield from self._rows("SELECT key, address, family FROM pools")

    def last_pool(self) -> int:
        """The highest number of a pool, 0 where there are none."""
        ((number,),) = self._rows("SELECT coalesce(max(id), 0) FROM pools")
        return int(number)

    def held(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys whose pools are held."""
        found = self._rows("SELECT key FROM pools WHERE key IN (SELECT value FROM json_each(?1))", _listed(keys))
        return {key for (key,) in found}

    def contracts(self, limit: int) -> list[str] | None:
        """Where the pools are, each contract once; None where there are more than `limit`."""
        rows = self._rows("SELECT DISTINCT address FROM pools LIMIT ?1", limit + 1)
        return None if len(rows) > limit else [address for (address,) in rows]

    def tokens(self, addresses: Iterable[str]) -> dict[str, Token]:
        """Those of the tokens that are held, by address."""
        query = f"SELECT {TOKEN_COLUMNS} FROM tokens WHERE address IN (SELECT value FROM json_each(?1))"
        return {row[1]: token_of(row) for row in self._rows(query, _listed(addresses))}

    def thinner_than(self, depth_usd: float, keys: Iterable[str] | None = None) -> list[str]:
        """The pools (of these) in which less can be traded, by the ranking; all have none where no dollar is held."""
        depth = "(SELECT coalesce(sum(depth), 0.0) FROM legs WHERE pool = id)"
        query = f"SELECT key FROM pools WHERE {depth} < ?1"
        if keys is None:
            return [key for (key,) in self._rows(query, depth_usd)]
        among = f"{query} AND key IN (SELECT value FROM json_each(?2))"
        return [key for (key,) in self._rows(among, depth_usd, _listed(keys))]

    def tokens_to_try(self, tried_before: int, limit: int) -> list[str]:
        """As `transfers.tokens_to_try`."""
        with reading(self._connection, self._path):
            return tokens_to_try(self._connection, tried_before, limit)

    def deepest_pools(self, tokens: Iterable[str], limit: int, new: Iterable[str] = ()) -> list[str]:
        """As `transfers.deepest_pools`."""
        with reading(self._connection, self._path):
            return deepest_pools(self._connection, tokens, limit, new)

    def left_out(self, after: str, limit: int) -> list[LeftOut]:
        """The next `limit` that can be looked at again behind the key `after`, in the order of their keys."""
        query = f"{_LEFT_OUT} AND place NOTNULL AND key > ?1 ORDER BY key LIMIT ?2"
        return [LeftOut(*row) for row in self._rows(query, after, limit)]

    def lost(self, after: str, limit: int) -> list[LeftOut]:
        """Return the next `limit` lost pools behind the key `after`, in the order of their keys."""
        query = f"{_LEFT_OUT} AND is_lost AND place NOTNULL AND key > ?1 ORDER BY key LIMIT ?2"
        return [LeftOut(*row) for row in self._rows(query, after, limit)]

    def left_out_of(self, keys: Iterable[str]) -> list[LeftOut]:
        """Those of the keys that were left out and can be looked at again."""
        query = f"{_LEFT_OUT} AND place NOTNULL AND key IN (SELECT value FROM json_each(?1)) ORDER BY key"
        return [LeftOut(*row) for row in self._rows(query, _listed(keys))]

    def all_left_out(self) -> Iterator[LeftOut]:
        """Everything that is left out, in the order of its keys."""
        after = ""
        while rows := self._rows(f"{_LEFT_OUT} AND key > ?1 ORDER BY key LIMIT 1000", after):
            yield from (LeftOut(*row) for row in rows)
            after = rows[-1][0]

    def _rows(self, query: str, *values: object) -> list[Row]:
        with reading(self._connection, self._path):
            return self._connection.execute(query, values).fetchall()


_LEFT_OUT = (
    "SELECT key, reason, place, is_lost FROM left_out WHERE key NOT IN (SELECT key FROM pools)"
    " AND key NOT IN (SELECT address FROM tokens)"
)


def _listed(keys: Iterable[str]) -> str:
    return json.dumps(list(keys))
