"""Keep a store's ranking columns and tables up to date. `depth_ranking` does the computation, and SQL the aggregation.

SQL sums depths and mid rates over the pools of a pair, because reading every leg of 100,000 pools into Python for each
block would take seconds. Prices are computed in Python, by the same search that quotes use. A test compares the two.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from swapcli.core.selection.depth_ranking import Leg, MidRate, PathPrice, price_new_tokens, price_tokens

IdPair = tuple[int, int]
"""The ids of two tokens, the lower one first."""

_LOG_MID_RATE = "(coalesce(up, -down) - coalesce(down, -up)) / 2"
"""The fees of the two directions cancel. A leg in one direction has that rate."""


def _depth_usd(low: str, high: str, in_low: str, in_high: str) -> str:
    """Return SQL for a leg's depth: its thinner side in dollars, or the other side if one has no price or liquidity."""
    low_side = f"coalesce({in_low} * (SELECT worth FROM tokens WHERE id = {low}), 0.0)"
    high_side = f"coalesce({in_high} * (SELECT worth FROM tokens WHERE id = {high}), 0.0)"
    return (
        f"CASE WHEN {low_side} > 0 AND {high_side} > 0 THEN min({low_side}, {high_side})"
        f" ELSE max({low_side}, {high_side}) END"
    )


_UPDATE_DEPTH = f"UPDATE legs SET depth = {_depth_usd('low', 'high', 'in_low', 'in_high')}"
_UPDATE_THROUGHPUT = """
UPDATE tokens SET transit = min(coalesce(width, 0.0), coalesce(
    (SELECT depth FROM links WHERE token = tokens.id ORDER BY depth DESC LIMIT 1 OFFSET 1), 0.0))
"""


def insert_legs(connection: sqlite3.Connection, legs: Iterable[Leg]) -> None:
    """Insert legs, with their depth at the current prices."""
    depth = _depth_usd("?1", "?2", "?7", "?8")
    connection.executemany(f"INSERT INTO legs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, {depth})", legs)


def rebuild(connection: sqlite3.Connection, anchors: Mapping[int, float]) -> None:
    """Rank every token and pool. `anchors` are prices in dollars per base unit, by token id."""
    prices = price_tokens(_mid_rates(connection), anchors)
    connection.execute("UPDATE tokens SET worth = NULL, width = NULL, via = NULL")
    _write_prices(connection, prices)
    connection.execute(_UPDATE_DEPTH)
    connection.execute("DELETE FROM links")
    for token, other in (("low", "high"), ("high", "low")):
        connection.execute(
            f"INSERT INTO links SELECT {token}, {other}, sum(depth), count(*) FROM legs GROUP BY {token}, {other}"
        )
    connection.execute(_UPDATE_THROUGHPUT)
    connection.execute("UPDATE meta SET ranked_pools = (SELECT count(*) FROM pools)")


def update(connection: sqlite3.Connection, pairs: set[IdPair]) -> None:
    """Update the ranking after the legs of `pairs` have changed. Tokens that already have a price keep it."""
    _price_new_tokens(connection, pairs)
    for low, high in pairs:
        depth, count = connection.execute(
            "SELECT sum(depth), count(*) FROM legs WHERE low = ? AND high = ?", (low, high)
        ).fetchone()
        for token, other in ((low, high), (high, low)):
            if count:
                connection.execute("INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?)", (token, other, depth, count))
            else:
                connection.execute("DELETE FROM links WHERE token = ? AND other = ?", (token, other))
    token_ids = {token for pair in pairs for token in pair}
    connection.executemany(f"{_UPDATE_THROUGHPUT} WHERE id = ?", [(token,) for token in token_ids])


def _mid_rates(connection: sqlite3.Connection) -> dict[int, dict[int, MidRate]]:
    """Return the depth-weighted mid rate and the depth of every pair, in both directions."""
    mid_rates: dict[int, dict[int, MidRate]] = {}
    rows = connection.execute(
        f"SELECT low, high, sum(in_low * {_LOG_MID_RATE}) / sum(in_low), "
        "sum(in_low), sum(in_high) FROM legs WHERE in_low > 0 AND in_high > 0 GROUP BY low, high"
    )
    for low, high, log_rate, in_low, in_high in rows:
        mid_rates.setdefault(low, {})[high] = (log_rate, in_low)
        mid_rates.setdefault(high, {})[low] = (-log_rate, in_high)
    return mid_rates


def _price_new_tokens(connection: sqlite3.Connection, pairs: set[IdPair]) -> None:
    """Price the tokens of `pairs` that have no price, and update the depth of their legs."""
    ids = ",".join(str(token) for token in {token for pair in pairs for token in pair})
    rows = connection.execute(f"SELECT id, worth, width, via FROM tokens WHERE id IN ({ids})").fetchall()
    known = {token: PathPrice(price, width, parent) for token, price, width, parent in rows if price is not None}
    affected = [pair for pair in pairs if not known.keys() >= set(pair)]
    query = f"SELECT low, high, {_LOG_MID_RATE}, in_low, in_high FROM legs WHERE low = ? AND high = ?"
    query += " AND (up NOTNULL OR down NOTNULL)"
    prices = price_new_tokens([row for pair in affected for row in connection.execute(query, pair)], known)
    _write_prices(connection, prices)
    priced = [pair for pair in affected if not prices.keys().isdisjoint(pair)]
    connection.executemany(f"{_UPDATE_DEPTH} WHERE low = ? AND high = ?", priced)


def _write_prices(connection: sqlite3.Connection, prices: Mapping[int, PathPrice]) -> None:
    rows = ((path.price, path.width, path.parent, token) for token, path in prices.items())
    connection.executemany("UPDATE tokens SET worth = ?, width = ?, via = ? WHERE id = ?", rows)
