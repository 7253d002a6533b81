"""Of many pools, those that an order can want: chosen by a sketch of its flow, in dollars and logarithms of rates.

Each direction of a pool is an *offer*: its `edge` is the logarithm of its first rate over the ratio of the two tokens'
worths (below 0: what it takes), and `depth` the dollars that lower it by one. Taken best first until they carry a flow
F, the offers of a pair end at the edge where

    sum of depth * (edge of the offer - that edge) = F                                    ("filled")

1. No pair carries more than the whole order. Filled with it, a pair shows the worst that it can cost, and the best path
   of such pairs the worst that the last unit of the order can cost. An offer for which even the best path around it
   costs more is never used, and what remains up to there is its *room*. This loses nothing, but for `depth` being a
   straight line where a pool is a curve.
2. The order is spread over the remaining pairs in proportion to what they and their ways on can carry, from both ends.
   Pairs are filled again with what reaches them, twice over, and the offers that would then trade most are taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from math import inf
from typing import NamedTuple

Link = tuple[int, int]
"""A token that is sold, and the one that it is sold for."""

_MARGIN = 1.2  # on the cost of the last unit: curves are no lines
_LEAST_MARGIN = 1e-4
_SPARE = 2.0  # times the flow that a pair seems to get
_LEAST_SHARE = 0.02  # of the order, that every pair is prepared for
_ROUNDS = 4


class Offer(NamedTuple):
    """One direction of a pool; see above."""

    pool: int
    edge: float
    depth: float


class _Way(NamedTuple):
    """The offers of a pair that can be wanted, the best first, with their rooms; and what they carry, at most."""

    offers: list[Offer]
    rooms: list[float]
    carries: float


Offers = Mapping[Link, Sequence[Offer]]


def choose(offers: Offers, ends: Link, flow: float, max_hops: int, limit: int) -> set[int]:
    """At most `limit` pools for an order of `flow` dollars between `ends`. `offers` stand best edge first."""
    ways = _wanted(offers, ends, flow, max_hops)
    forth = _spread(ways, ends, flow, {link: link for link in ways})
    back = _spread(ways, ends[::-1], flow, {(j, i): (i, j) for i, j in ways})
    merit: dict[int, float] = {}
    for link, way in ways.items():
        reaching = min(flow, max(_SPARE * forth[link], _SPARE * back[link], _LEAST_SHARE * flow))
        taken, edge = _fill(way.offers, reaching)
        for offer, room in zip(way.offers[:taken], way.rooms, strict=False):
            trade = min(offer.depth * room, offer.depth * (offer.edge - edge), reaching)
            merit[offer.pool] = max(merit.get(offer.pool, 0.0), trade)
    return set(nlargest(limit, merit, key=lambda pool: merit[pool]))


def _fill(offers: Sequence[Offer], flow: float) -> tuple[int, float]:
    """How many of the offers are needed to carry `flow`, and the edge at which they do."""
    depth = weighted = 0.0
    taken = 0
    for offer in offers:
        if taken and weighted - depth * offer.edge >= flow:
            break
        taken += 1
        depth += offer.depth
        weighted += offer.depth * offer.edge
    return taken, (weighted - flow) / depth if depth > 0.0 else -inf


def _wanted(offers: Offers, ends: Link, flow: float, max_hops: int) -> dict[Link, _Way]:
    """The pairs with the offers that the order can reach before it is carried out: step 1."""
    source, target = ends
    filled = {link: _fill(of_link, flow) for link, of_link in offers.items()}
    best = {link: -of_link[0].edge for link, of_link in offers.items()}
    before = _costs(best, source, max_hops)
    after = _costs({(j, i): cost for (i, j), cost in best.items()}, target, max_hops)
    worst = _costs({link: -edge for link, (_, edge) in filled.items()}, source, max_hops).get(target, inf)
    most = worst + abs(worst) * (_MARGIN - 1.0) + _LEAST_MARGIN
    ways: dict[Link, _Way] = {}
    for link, (taken, _) in filled.items():
        spare = most - before.get(link[0], inf) - after.get(link[1], inf)
        wanted = [offer for offer in offers[link][:taken] if spare + offer.edge >= 0.0]
        if wanted:
            rooms = [spare + offer.edge for offer in wanted]
            carries = sum(offer.depth * room for offer, room in zip(wanted, rooms, strict=True))
            ways[link] = _Way(wanted, rooms, min(flow, carries))
    return ways


def _costs(links: Mapping[Link, float], start: int, max_hops: int) -> dict[int, float]:
    """The least cost of a path of at most `max_hops` links from `start`, for each token."""
    out: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for (i, j), cost in links.items():
        out[i].append((j, cost))
    costs = front = {start: 0.0}
    for _ in range(max_hops):
        found: dict[int, float] = {}
        for i, so_far in front.items():
            for j, cost in out[i]:
                total = so_far + cost
                if total < costs.get(j, inf) and total < found.get(j, inf):
                    found[j] = total
        costs, front = costs | found, found
    return costs


def _spread(ways: Mapping[Link, _Way], ends: Link, flow: float, links: Mapping[Link, Link]) -> Mapping[Link, float]:
    """What about reaches each pair when `flow` is poured in at the first end; `links` names the pairs as they are
    walked from there."""
    start, end = ends
    out: dict[int, list[tuple[int, float, Link]]] = defaultdict(list)
    for (i, j), link in links.items():
        out[i].append((j, ways[link].carries, link))
    beyond = _beyond(out, end, flow)
    reached: dict[Link, float] = defaultdict(float)
    poured = {start: flow}
    for _ in range(_ROUNDS):
        arriving: dict[int, float] = defaultdict(float)
        for i, amount in poured.items():
            shares = [(j, min(carries, beyond.get(j, 0.0)), link) for j, carries, link in out[i]]
            whole = sum(share for _, share, _ in shares)
            for j, share, link in shares if whole > 0.0 else ():
                part = amount * share / whole
                reached[link] += part
                if j != end:
                    arriving[j] += part
        poured = arriving
    return reached


def _beyond(out: Mapping[int, Iterable[tuple[int, float, Link]]], end: int, flow: float) -> dict[int, float]:
    """What can get from each token to the end, about."""
    beyond = {end: inf}
    for _ in range(_ROUNDS - 1):
        found = {
            i: min(flow, sum(min(carries, beyond.get(j, 0.0)) for j, carries, _ in ways)) for i, ways in out.items()
        }
        beyond = found | {end: inf}
    return beyond
