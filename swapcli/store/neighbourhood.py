"""Which pools a quote reads: a bounded number of rows, however many pools there are.

The tokens are the two of the order, the *hubs* through which most can pass, and around each end the tokens over which
most of it can leave: its deepest neighbours, and where they are thin theirs, up to the hubs. Of each pair of them the
deepest pools and those with the best rates are candidates: as many tokens are taken as it needs for enough of these.
`choice` takes of the candidates what the order can want.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush, nlargest
from math import inf, log
from typing import Any, NamedTuple

from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.selection.pool_choice import Link, Offer, choose

_HUBS, _AROUND_AN_END = 12, 16  # at first; twice as many, and again, where they have too few pools
_DOUBLINGS = 4
_CANDIDATES = 1.0  # times as many as are wanted
_LOOKED_AT = 200  # of an end's neighbours, the deepest first
_SLACK, _REVERSE_SLACK = 1.5, 3.0  # times the order's worth: worths are about right, and an input may exceed its output
_WAY_TO_THE_DOLLAR = 6
_PRICING_POOLS = 3


class _Cap(NamedTuple):
    """How many pools of a pair are looked at: the deepest, and those with the best rate in each direction."""

    deepest: int
    dearest: int


class _Link(NamedTuple):
    """Two tokens, the lower first, how many pools join them, and how many of these are looked at."""

    low: int
    high: int
    pools: int
    cap: _Cap


_BETWEEN_ENDS, _END_TO_HUB, _CENTRAL, _OTHER = _Cap(300, 50), _Cap(60, 30), _Cap(20, 10), _Cap(6, 3)


class _Node(NamedTuple):
    """What the ranking knows of a token; `via` leads towards the dollar."""

    worth: float
    transit: float
    via: int | None


def choose_pools(
    connection: sqlite3.Connection, order: Order, network: Network, limit: int
) -> tuple[list[int], set[int]]:
    """Ids of the tokens that matter for prices (the order's first), and of the pools to read.

    `limit` bounds the pools to trade with; a few more may come that only tell prices.
    """
    query = _Query(connection, order.excluded_protocols)
    ends = [query.number(network.to_wrapped(token.address)) for token in (order.token_in, order.token_out)]
    wrapped = query.number(network.wrapped_native_address)
    known = list(dict.fromkeys(number for number in (*ends, wrapped) if number is not None))
    if None in ends or ends[0] == ends[1]:
        return known, set()
    source, target = known[:2]
    wanted = _traded(query, order, (source, target), limit)
    return known, wanted | {pool for number in known for pool in _pricing(query, number)}


def _traded(query: _Query, order: Order, ends: Link, limit: int) -> set[int]:
    counted, slack = (ends[1], _REVERSE_SLACK) if order.reverse else (ends[0], _SLACK)
    flow = order.amount * query.node(counted).worth * slack
    if flow <= 0.0:
        return set()
    links = [query.link(*ends)] if order.direct else _links(query, ends, _CANDIDATES * limit)
    offers = dict(_offers(query, [link for link in links if link], ends))
    units = {token: query.node(token).worth for link in offers for token in link}
    return choose(offers, ends, flow, 1 if order.direct else order.max_hops, limit, units)


def _links(query: _Query, ends: Link, candidates: float) -> list[_Link]:
    """The pairs of the tokens that matter, of which there are more where their pools are few."""
    for doubling in range(_DOUBLINGS + 1):
        hubs = query.hubs(_HUBS << doubling)
        tokens = set(ends).union(hubs, *(_around(query, end, set(hubs), _AROUND_AN_END << doubling) for end in ends))
        central = set(hubs[:_HUBS])
        links = [_Link(*row, _cap(*row[:2], ends, central)) for row in query.links(tokens)]
        if sum([min(link.pools, link.cap.deepest) for link in links]) >= candidates:
            break
    return links


def _around(query: _Query, end: int, hubs: set[int], count: int) -> list[int]:
    """The tokens over which most can leave `end`, the widest first, up to the hubs."""
    found: dict[int, None] = {}
    heap: list[tuple[float, int]] = [(-inf, end)]
    while heap and len(found) < count:
        width, token = heappop(heap)
        if token in found or (token in hubs and token != end):
            continue
        found[token] = None
        for other, through in query.neighbours(token, count):
            heappush(heap, (max(width, -through), other))
    return list(found)


def _offers(query: _Query, links: Iterable[_Link], ends: Link) -> Iterator[tuple[Link, list[Offer]]]:
    """The candidates by direction, sorted: none into the source or out of the target."""
    source, target = ends
    for low, high, _, cap in links:
        up, down = low != target and high != source, high != target and low != source
        legs = query.legs(low, high, cap, [*["up"] * up, *["down"] * down])
        worth_low, worth_high = query.node(low).worth, query.node(high).worth
        edge = log(worth_high) - log(worth_low)
        if up and (found := [(-edge - leg[1], leg[3] * worth_low, leg[0]) for leg in legs if leg[1] is not None]):
            yield (low, high), sorted(found)
        if down and (found := [(edge - leg[2], leg[4] * worth_high, leg[0]) for leg in legs if leg[2] is not None]):
            yield (high, low), sorted(found)


def _cap(low: int, high: int, ends: Link, hubs: set[int]) -> _Cap:
    count = (low in ends) + (high in ends)
    if count == 2:
        return _BETWEEN_ENDS
    if count:
        return _END_TO_HUB if low in hubs or high in hubs else _CENTRAL
    return _CENTRAL if low in hubs and high in hubs else _OTHER


def _pricing(query: _Query, number: int) -> Iterator[int]:
    """The deepest pools on the widest way from a token to the dollar: by them its price is told, and that of gas."""
    for _ in range(_WAY_TO_THE_DOLLAR):
        via = query.node(number).via
        if via is None:
            return
        yield from query.deepest(min(number, via), max(number, via), _PRICING_POOLS)
        number = via


_Leg = tuple[int, Any, Any, float, float]
"""`pool, up, down, in_low, in_high` of the table; many are read for an order, so that they stay plain."""


class _Query:
    """Asks the tables of the ranking, without the pools of some protocols."""

    def __init__(self, connection: sqlite3.Connection, excluded: Iterable[str]) -> None:
        self._connection, self._excluded = connection, tuple(excluded)
        self._nodes: dict[int, _Node] = {}
        allowed = f" AND protocol NOT IN ({', '.join('?' * len(self._excluded))})" if self._excluded else ""
        self._legs = f"SELECT pool, up, down, in_low, in_high FROM legs WHERE low = ? AND high = ?{allowed}"

    def number(self, address: str | None) -> int | None:
        """The id of a token."""
        row = self._connection.execute("SELECT id FROM tokens WHERE address = ?", (address,)).fetchone()
        return row[0] if row else None

    def node(self, number: int) -> _Node:
        """What the ranking knows of a token. One that nothing tells the worth of has a tiny one."""
        node = self._nodes.get(number)
        if node is None:
            query = "SELECT coalesce(worth, 1e-150), transit, via FROM tokens WHERE id = ?"
            row = self._connection.execute(query, (number,)).fetchone()
            node = self._nodes[number] = _Node(*row) if row else _Node(1e-150, 0.0, None)
        return node

    def hubs(self, count: int) -> list[int]:
        """The tokens through which most can pass."""
        query = "SELECT id FROM tokens WHERE transit > 0 ORDER BY transit DESC, id LIMIT ?"
        return [number for (number,) in self._connection.execute(query, (count,))]

    def neighbours(self, token: int, count: int) -> list[tuple[int, float]]:
        """The neighbours to which most can pass and from there on, with how much."""
        rows = self._connection.execute(
            "SELECT other, min(depth, transit) FROM links JOIN tokens ON id = other WHERE token = ? "
            "ORDER BY depth DESC LIMIT ?",
            (token, _LOOKED_AT),
        ).fetchall()
        return nlargest(count, rows, key=lambda row: row[1])

    def link(self, one: int, other: int) -> _Link | None:
        """The pair of two tokens, as the ends of an order; None where no pool joins them."""
        found = self.links({one, other})
        return _Link(*found[0], _BETWEEN_ENDS) if found else None

    def links(self, tokens: set[int]) -> list[tuple[int, int, int]]:
        """The pairs among the tokens that pools join, each once, the lower first, and the number of their pools."""
        among = ",".join(map(str, sorted(tokens)))
        return self._connection.execute(
            f"SELECT token, other, pools FROM links WHERE token IN ({among}) AND other IN ({among}) AND token < other"
        ).fetchall()

    def legs(self, low: int, high: int, cap: _Cap, ways: Iterable[str]) -> list[_Leg]:
        """The pools of a pair worth looking at, each once; `ways` are the directions that count, up and down."""
        deepest = self._best(low, high, "depth", cap.deepest)
        if len(deepest) < cap.deepest:
            return deepest
        dearest = [leg for column in ways for leg in self._best(low, high, column, cap.dearest)]
        return list(dict.fromkeys(deepest + dearest))

    def deepest(self, low: int, high: int, count: int) -> list[int]:
        """The deepest pools of a pair, among all and among those of the protocols that are not excluded."""
        query = "SELECT pool FROM legs WHERE low = ? AND high = ? ORDER BY depth DESC LIMIT ?"
        pools = [pool for (pool,) in self._connection.execute(query, (low, high, count))]
        return pools + [leg[0] for leg in self._best(low, high, "depth", count)] if self._excluded else pools

    def _best(self, low: int, high: int, column: str, count: int) -> list[_Leg]:
        query = f"{self._legs} ORDER BY {column} DESC LIMIT ?"
        return self._connection.execute(query, (low, high, *self._excluded, count)).fetchall()
