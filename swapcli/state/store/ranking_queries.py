"""The queries that `selection` makes to a store's ranking."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from heapq import heappush, heappushpop, nlargest

from swapcli.core.selection.depth_ranking import MIN_PRICE
from swapcli.core.selection.ranking_reader import LegRow, PoolLimit, RankedToken

_MAX_NEIGHBOURS = 200
"""Neighbours of a token to compare, deepest first: a hub has thousands."""


class RankingQueries:
    """A `RankingReader` for an open store. Pools of `excluded` protocols are omitted."""

    def __init__(self, connection: sqlite3.Connection, excluded: Iterable[str]) -> None:
        self._connection, self._excluded = connection, tuple(excluded)
        self._tokens: dict[int, RankedToken] = {}
        allowed = f" AND protocol NOT IN ({', '.join('?' * len(self._excluded))})" if self._excluded else ""
        self._select_legs = f"SELECT pool, up, down, in_low, in_high FROM legs WHERE low = ? AND high = ?{allowed}"

    def token_id(self, address: str | None) -> int | None:
        """Same as `RankingReader.token_id`."""
        row = self._connection.execute("SELECT id FROM tokens WHERE address = ?", (address,)).fetchone()
        return row[0] if row else None

    def token(self, token_id: int) -> RankedToken:
        """Same as `RankingReader.token`."""
        token = self._tokens.get(token_id)
        if token is None:
            query = "SELECT coalesce(worth, ?), transit, via FROM tokens WHERE id = ?"
            row = self._connection.execute(query, (MIN_PRICE, token_id)).fetchone()
            token = self._tokens[token_id] = RankedToken(*row) if row else RankedToken(MIN_PRICE, 0.0, None)
        return token

    def hubs(self, limit: int) -> list[int]:
        """Same as `RankingReader.hubs`."""
        query = "SELECT id FROM tokens WHERE transit > 0 ORDER BY transit DESC, id LIMIT ?"
        return [token_id for (token_id,) in self._connection.execute(query, (limit,))]

    def neighbours(self, token_id: int, limit: int) -> list[tuple[int, float]]:
        """Same as `RankingReader.neighbours`."""
        rows = self._connection.execute(
            "SELECT other, depth, min(depth, transit) FROM links JOIN tokens ON id = other WHERE token = ? "
            "ORDER BY depth DESC LIMIT ?",
            (token_id, _MAX_NEIGHBOURS),
        )
        found: list[tuple[int, float]] = []
        widths: list[float] = []
        for other, depth, width in rows:
            # No width exceeds the depth, which falls from row to row: once none of the rest can be better, reading
            # stops.
            if len(widths) == limit and depth <= widths[0]:
                break
            found.append((other, width))
            (heappush if len(widths) < limit else heappushpop)(widths, width)
        return nlargest(limit, found, key=lambda row: row[1])

    def pairs(self, token_ids: Iterable[int]) -> list[tuple[int, int, int]]:
        """Same as `RankingReader.pairs`."""
        ids = ",".join(map(str, sorted(token_ids)))
        return self._connection.execute(
            f"SELECT token, other, pools FROM links WHERE token IN ({ids}) AND other IN ({ids}) AND token < other"
        ).fetchall()

    def legs(self, low: int, high: int, limit: PoolLimit, directions: Iterable[str]) -> list[LegRow]:
        """Same as `RankingReader.legs`."""
        deepest = self._top_legs(low, high, "depth", limit.deepest)
        if len(deepest) < limit.deepest:
            return deepest
        best = [leg for column in directions for leg in self._top_legs(low, high, column, limit.best_rate)]
        return list(dict.fromkeys(deepest + best))

    def deepest_pools(self, low: int, high: int, limit: int) -> list[int]:
        """Same as `RankingReader.deepest_pools`."""
        query = "SELECT pool FROM legs WHERE low = ? AND high = ? ORDER BY depth DESC LIMIT ?"
        pools = [pool for (pool,) in self._connection.execute(query, (low, high, limit))]
        return pools + [leg[0] for leg in self._top_legs(low, high, "depth", limit)] if self._excluded else pools

    def _top_legs(self, low: int, high: int, column: str, limit: int) -> list[LegRow]:
        query = f"{self._select_legs} ORDER BY {column} DESC LIMIT ?"
        return self._connection.execute(query, (low, high, *self._excluded, limit)).fetchall()
