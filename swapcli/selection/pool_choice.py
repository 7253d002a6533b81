"""Of many pools, those that an order can want: chosen by a sketch of its flow, in dollars and logarithms of rates.

Each direction of a pool is an *offer*: its `cost` is what the first unit loses, as minus the logarithm of the rate over
the ratio of the two tokens' worths, and `depth` the dollars that raise it by one. Taken cheapest first until they carry
a flow F, the offers of a pair end at the cost where

    sum of depth * (that cost - cost of the offer) = F                                    ("filled")

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
_UNITS_LOST = 2.0  # by the rounding of one swap, at most about


Offer = tuple[float, float, int]
"""`cost`, `depth` and the pool's id; there are so many that they stay plain. They sort cheapest first."""


class _Way(NamedTuple):
    """The offers of a pair that can be wanted, cheapest first, with their rooms; and what they carry, at most."""

    offers: list[Offer]
    rooms: list[float]
    carries: float


Offers = Mapping[Link, Sequence[Offer]]


def choose(
    offers: Offers, ends: Link, flow: float, max_hops: int, limit: int, units: Mapping[int, float] | None = None
) -> set[int]:
    """At most `limit` pools for an order of `flow` dollars between `ends`. Of each pair, `offers` stand sorted.

    `units` are the worths of one unit of the tokens: an order that moves few of them may lose one to rounding.
    """
    ways = _wanted(offers, ends, flow, max_hops, units or {})
    forth = _spread(ways, ends, flow, {link: link for link in ways})
    back = _spread(ways, ends[::-1], flow, {(j, i): (i, j) for i, j in ways})
    merit: dict[int, float] = {}
    for link, way in ways.items():
        reaching = min(flow, max(_SPARE * forth[link], _SPARE * back[link], _LEAST_SHARE * flow))
        taken, last = _fill(way.offers, reaching)
        for (cost, depth, pool), room in zip(way.offers[:taken], way.rooms, strict=False):
            trade = min(depth * min(room, last - cost), reaching)
            if trade > merit.get(pool, -inf):
                merit[pool] = trade
    return set(nlargest(limit, merit, key=lambda pool: merit[pool]))


def _fill(offers: Sequence[Offer], flow: float) -> tuple[int, float]:
    """How many of the offers are needed to carry `flow`, and the cost at which they do."""
    whole = weighted = 0.0
    taken = 0
    for cost, depth, _ in offers:
        if taken and whole * cost - weighted >= flow:
            break
        taken += 1
        whole += depth
        weighted += depth * cost
    return taken, (weighted + flow) / whole if whole > 0.0 else inf


def _wanted(offers: Offers, ends: Link, flow: float, max_hops: int, units: Mapping[int, float]) -> dict[Link, _Way]:
    """The pairs with the offers that the order can reach before it is carried out: step 1."""
    source, target = ends
    filled = {link: _fill(of_link, flow) for link, of_link in offers.items()}
    least = {link: of_link[0][0] for link, of_link in offers.items()}
    before = _costs(least, source, max_hops)
    after = _costs({(j, i): cost for (i, j), cost in least.items()}, target, max_hops)
    whole = {link: last + _UNITS_LOST * units.get(link[1], 0.0) / flow for link, (_, last) in filled.items()}
    worst = _costs(whole, source, max_hops).get(target, inf)
    most = worst + abs(worst) * (_MARGIN - 1.0) + _LEAST_MARGIN
    ways: dict[Link, _Way] = {}
    for link, (taken, _) in filled.items():
        spare = most - before.get(link[0], inf) - after.get(link[1], inf)
        if spare >= least[link]:
            wanted = [offer for offer in offers[link][:taken] if offer[0] <= spare]
            rooms = [spare - cost for cost, _, _ in wanted]
            carries = sum([depth * room for (_, depth, _), room in zip(wanted, rooms, strict=True)])
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
            whole = sum([share for _, share, _ in shares])
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
            i: min(flow, sum([min(carries, beyond.get(j, 0.0)) for j, carries, _ in ways])) for i, ways in out.items()
        }
        beyond = found | {end: inf}
    return beyond
