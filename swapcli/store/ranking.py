"""Which tokens and pools are deep, in dollars: what a quote reads is chosen by it, and no amount ever depends on it.

Worth starts at the network's dollar stablecoins (where it has none, at the reference prices that came with its tokens)
and spreads over the deepest pairs first, at the pairs' mid rates. The *width* of a token is the thinnest pair on its
way from there, so pools among worthless tokens do not look deep, however much of them they hold. What can pass through
a token is its *transit*: the depth of its second deepest pair, within its width.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from math import exp, isfinite, log
from typing import NamedTuple

from swapcli.model.pool import Pool

_STEP = 0.02  # of the rate: depth is measured over so much, as the first unit alone can lie in a very thin range
_LEAST, _MOST = 1e-150, 1e150
_ANCHOR_WIDTH = 1e300
_TINY = 1e-6  # dollars: the width that is given to what no anchor reaches


Pair = tuple[int, int]
"""The ids of two tokens, the lower first."""

_MID = "(coalesce(up, -down) - coalesce(down, -up)) / 2"
"""Logarithm of the rate between those of the two directions, whose fees cancel; of one where there is only one."""


class Leg(NamedTuple):
    """Two tokens of a pool; see `schema`."""

    low: int
    high: int
    pool: int
    protocol: str
    up: float | None
    down: float | None
    in_low: float
    in_high: float


def legs_of(number: int, pool: Pool, token_numbers: list[int]) -> Iterator[Leg]:
    """A leg for each pair of tokens that the pool can trade in one direction at least."""
    of = dict(zip(token_numbers, pool.tokens, strict=True))
    for low in of:
        for high in of:
            if low < high:
                up, in_low = _direction(pool, of[low], of[high])
                down, in_high = _direction(pool, of[high], of[low])
                if up is not None or down is not None:
                    yield Leg(low, high, number, pool.protocol, up, down, in_low, in_high)


def _direction(pool: Pool, token_in: str, token_out: str) -> tuple[float | None, float]:
    """Logarithm of the rate of the first unit, and the input units that move it by one.

    A pool so far out of balance that floats fail it is kept, but no order is led there.
    """
    try:
        curve = pool.curve(token_in, token_out)
        rate = curve.start_rate
        amount_in = curve.trade_to_marginal_rate(rate * (1.0 - _STEP))[0] / _STEP if _LEAST < rate < _MOST else 0.0
    except (ArithmeticError, ValueError):
        return None, 0.0
    if not _LEAST < rate < _MOST:
        return None, 0.0
    return log(rate), min(amount_in, _MOST) if isfinite(amount_in) else _MOST


def insert_legs(connection: sqlite3.Connection, legs: Iterable[Leg]) -> None:
    """Add legs, with the depth that the worth of their tokens gives them."""
    depth = _depth_at("?1", "?2", "?7", "?8")
    connection.executemany(f"INSERT INTO legs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, {depth})", legs)


def _depth_at(low: str, high: str, in_low: str, in_high: str) -> str:
    """SQL for the thinner side in dollars; of one side alone where the other has no worth or no liquidity."""
    low_side = f"coalesce({in_low} * (SELECT worth FROM tokens WHERE id = {low}), 0.0)"
    high_side = f"coalesce({in_high} * (SELECT worth FROM tokens WHERE id = {high}), 0.0)"
    return (
        f"CASE WHEN {low_side} > 0 AND {high_side} > 0 THEN min({low_side}, {high_side})"
        f" ELSE max({low_side}, {high_side}) END"
    )


_AGAIN = f"UPDATE legs SET depth = {_depth_at('low', 'high', 'in_low', 'in_high')}"
_TRANSIT = """
UPDATE tokens SET transit = min(coalesce(width, 0.0), coalesce(
    (SELECT depth FROM links WHERE token = tokens.id ORDER BY depth DESC LIMIT 1 OFFSET 1), 0.0))
"""


def rank_all(connection: sqlite3.Connection, anchors: Mapping[int, float]) -> None:
    """Rank everything anew; `anchors` are dollars per base unit by token id."""
    found = _spread(_pairs(connection), anchors)
    connection.execute("UPDATE tokens SET worth = NULL, width = NULL, via = NULL")
    rows = ((worth, width, via, token) for token, (worth, width, via) in found.items())
    connection.executemany("UPDATE tokens SET worth = ?, width = ?, via = ? WHERE id = ?", rows)
    connection.execute(_AGAIN)
    connection.execute("DELETE FROM links")
    for token, other in (("low", "high"), ("high", "low")):
        connection.execute(
            f"INSERT INTO links SELECT {token}, {other}, sum(depth), count(*) FROM legs GROUP BY {token}, {other}"
        )
    connection.execute(_TRANSIT)
    connection.execute("UPDATE meta SET ranked_pools = (SELECT count(*) FROM pools)")


def rank_touched(connection: sqlite3.Connection, pairs: Iterable[Pair]) -> None:
    """Bring the ranking up to date where the legs of some pairs, (low, high), have changed."""
    pairs = set(pairs)
    tokens = {token for pair in pairs for token in pair}
    _appraise(connection, pairs)
    for low, high in pairs:
        depth, count = connection.execute(
            "SELECT sum(depth), count(*) FROM legs WHERE low = ? AND high = ?", (low, high)
        ).fetchone()
        for token, other in ((low, high), (high, low)):
            if count:
                connection.execute("INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?)", (token, other, depth, count))
            else:
                connection.execute("DELETE FROM links WHERE token = ? AND other = ?", (token, other))
    connection.executemany(f"{_TRANSIT} WHERE id = ?", [(token,) for token in tokens])


_Mid = tuple[float, float]
"""Logarithm of the mid rate, in units of the other token per unit of this one, and the depth in units of this one."""


def _pairs(connection: sqlite3.Connection) -> dict[int, dict[int, _Mid]]:
    pairs: dict[int, dict[int, _Mid]] = {}
    grouped = connection.execute(
        f"SELECT low, high, sum(in_low * {_MID}) / sum(in_low), "
        "sum(in_low), sum(in_high) FROM legs WHERE in_low > 0 AND in_high > 0 GROUP BY low, high"
    )
    for low, high, mid, in_low, in_high in grouped:
        pairs.setdefault(low, {})[high] = (mid, in_low)
        pairs.setdefault(high, {})[low] = (-mid, in_high)
    return pairs


def _spread(
    pairs: Mapping[int, Mapping[int, _Mid]], anchors: Mapping[int, float]
) -> dict[int, tuple[float, float, int | None]]:
    """(worth, width, via) of every token that a pool holds. What no anchor reaches gets a worth of its own, too small
    to matter beside a dollar."""
    found: dict[int, tuple[float, float, int | None]] = {}
    _spread_from([(-_ANCHOR_WIDTH, t, _bounded(worth), None) for t, worth in sorted(anchors.items())], pairs, found)
    for token in sorted(pairs, key=lambda token: -len(pairs[token])):
        if token not in found:
            deepest = max(depth for _, depth in pairs[token].values())
            _spread_from([(-_TINY, token, _bounded(_TINY / deepest), None)], pairs, found)
    return found


def _spread_from(
    heap: list[tuple[float, int, float, int | None]],
    pairs: Mapping[int, Mapping[int, _Mid]],
    found: dict[int, tuple[float, float, int | None]],
) -> None:
    while heap:
        width, token, worth, via = heappop(heap)
        if token in found:
            continue
        found[token] = (worth, -width, via)
        for other, (mid, depth) in pairs.get(token, {}).items():
            if other not in found:
                heappush(heap, (max(width, -depth * worth), other, _times(worth, -mid), token))


def _times(worth: float, logarithm: float) -> float:
    return _bounded(exp(max(min(log(worth) + logarithm, log(_MOST)), log(_LEAST))))


def _bounded(worth: float) -> float:
    """Within what products and quotients of floats bear."""
    return max(min(worth, _MOST), _LEAST)


def _appraise(connection: sqlite3.Connection, pairs: Iterable[Pair]) -> None:
    """Give the tokens of new pairs a worth that have none yet, from the deepest pool beside a token that has one."""
    of: dict[int, set[Pair]] = {}
    for pair in pairs:
        for token in pair:
            of.setdefault(token, set()).add(pair)
    numbers = ",".join(map(str, of))
    rows = connection.execute(f"SELECT id FROM tokens WHERE worth IS NULL AND id IN ({numbers})")
    unknown = {token for (token,) in rows.fetchall()}
    for token in sorted(unknown):
        _appraise_one(connection, token, of, unknown)


def _appraise_one(connection: sqlite3.Connection, token: int, of: Mapping[int, set[Pair]], unknown: set[int]) -> None:
    """One token, and then whatever unknown ones it joins."""
    best = max((offer for pair in of[token] for offer in _offers(connection, token, pair)), default=None)
    if token not in unknown or best is None:
        return
    unknown.discard(token)
    connection.execute("UPDATE tokens SET width = ?, worth = ?, via = ? WHERE id = ?", (*best, token))
    connection.executemany(f"{_AGAIN} WHERE low = ? AND high = ?", of[token])
    for other in {other for pair in of[token] for other in pair} & unknown:
        _appraise_one(connection, other, of, unknown)


def _offers(connection: sqlite3.Connection, token: int, pair: Pair) -> Iterator[tuple[float, float, int]]:
    """(width, worth, via) by each pool of the pair, if the other token has a worth."""
    other, sign = ("high", 1) if token == pair[0] else ("low", -1)
    rows = connection.execute(
        f"SELECT {_MID}, in_{other}, {other}, worth, width FROM legs JOIN tokens ON id = {other} "
        f"WHERE low = ? AND high = ? AND worth IS NOT NULL",
        pair,
    )
    for mid, depth, number, worth, width in rows:
        yield min(width, depth * worth), _times(worth, sign * mid), number
