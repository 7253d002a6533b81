"""Select the pools that an order can use by an estimate of its flow. Amounts are in dollars, costs in log rates.

Each direction of a pool is an *offer*. Its `cost` is the loss of its first unit: minus the logarithm of the rate over
the ratio of the two tokens' prices. Its `depth` is the flow in dollars that raises the cost by one. If a pair's offers
are taken cheapest first until they carry a flow F, they end at the *marginal cost* c with

    sum of depth * (c - cost of the offer) = F

1. No pair carries more than the whole order. Filled with the whole order, each pair shows the highest marginal cost it
   can have, and the cheapest path of such pairs an upper bound for the cost of the order's last unit. An offer is
   dropped if even the cheapest path through it costs more; its *slack* is what remains up to the bound. For offers of
   constant depth this drops nothing that the order would use.
2. The order is spread over the remaining pairs, in proportion to what they and the paths beyond them can carry, once
   from the source and once from the target. Each pair is filled again, with twice the flow that reaches it, and the
   offers that then trade most are selected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from math import inf

from swapcli.records import NamedTuple
from swapcli.routing.graph.best_paths import best_labels
from swapcli.selection.ranking_reader import TokenPair

_BOUND_FACTOR = 1.2
"""On the bound of step 1: real curves are not lines of constant depth."""
_MIN_BOUND_MARGIN = 1e-4
"""Added to the bound, for pairs that cost next to nothing: a basis point."""
_FLOW_FACTOR = 2.0
"""On the flow that is estimated to reach a pair."""
_MIN_FLOW_SHARE = 0.02
"""Share of the order for which every pair is prepared."""
_SPREAD_ROUNDS = 4
"""Hops over which the flow is spread: nearly all flow takes at most four."""
_MAX_ROUNDING_LOSS = 2.0
"""Base units that one swap may lose to rounding."""


Offer = tuple[float, float, int]
"""`(cost, depth, pool id)`. Plain tuples, as there are thousands; they sort cheapest first."""

Offers = Mapping[TokenPair, Sequence[Offer]]


class _UsableOffers(NamedTuple):
    """The offers of a pair that pass step 1, cheapest first, their slacks, and the flow that they can carry."""

    offers: list[Offer]
    slacks: list[float]
    capacity: float


def select_by_flow(
    offers: Offers,
    ends: TokenPair,
    flow: float,
    max_hops: int,
    limit: int,
    unit_prices: Mapping[int, float] | None = None,
) -> set[int]:
    """Return the ids of at most `limit` pools for an order of `flow` dollars between `ends`.

    The offers of each pair are sorted. `unit_prices` are dollars per base unit by token: an order of few units may lose
    one to rounding.
    """
    pairs = _usable_offers(offers, ends, flow, max_hops, unit_prices or {})
    from_source = _spread_flow(pairs, ends, flow, {pair: pair for pair in pairs})
    from_target = _spread_flow(pairs, ends[::-1], flow, {(j, i): (i, j) for i, j in pairs})
    largest_trade: dict[int, float] = {}
    for pair, usable in pairs.items():
        estimate = max(_FLOW_FACTOR * from_source[pair], _FLOW_FACTOR * from_target[pair], _MIN_FLOW_SHARE * flow)
        pair_flow = min(flow, estimate)
        count, marginal_cost = _fill(usable.offers, pair_flow)
        for (cost, depth, pool), slack in zip(usable.offers[:count], usable.slacks, strict=False):
            trade = min(depth * min(slack, marginal_cost - cost), pair_flow)
            if trade > largest_trade.get(pool, -inf):
                largest_trade[pool] = trade
    return set(nlargest(limit, largest_trade, key=lambda pool: largest_trade[pool]))


def _fill(offers: Sequence[Offer], flow: float) -> tuple[int, float]:
    """Return how many of the offers carry `flow`, and the marginal cost at which they do."""
    total_depth = weighted_cost = 0.0
    count = 0
    for cost, depth, _ in offers:
        if count and total_depth * cost - weighted_cost >= flow:
            break
        count += 1
        total_depth += depth
        weighted_cost += depth * cost
    return count, (weighted_cost + flow) / total_depth if total_depth > 0.0 else inf


def _usable_offers(
    offers: Offers, ends: TokenPair, flow: float, max_hops: int, unit_prices: Mapping[int, float]
) -> dict[TokenPair, _UsableOffers]:
    """Return the offers that the order can reach before its last unit is traded: step 1."""
    source, target = ends
    filled = {pair: _fill(pair_offers, flow) for pair, pair_offers in offers.items()}
    min_costs = {pair: pair_offers[0][0] for pair, pair_offers in offers.items()}
    cost_before = _path_costs(min_costs, source, max_hops)
    cost_after = _path_costs({(j, i): cost for (i, j), cost in min_costs.items()}, target, max_hops)
    max_costs = {
        pair: marginal_cost + _MAX_ROUNDING_LOSS * unit_prices.get(pair[1], 0.0) / flow
        for pair, (_, marginal_cost) in filled.items()
    }
    bound = _path_costs(max_costs, source, max_hops).get(target, inf)
    bound = bound + abs(bound) * (_BOUND_FACTOR - 1.0) + _MIN_BOUND_MARGIN
    usable: dict[TokenPair, _UsableOffers] = {}
    for pair, (count, _) in filled.items():
        max_cost = bound - cost_before.get(pair[0], inf) - cost_after.get(pair[1], inf)
        if max_cost >= min_costs[pair]:
            usable_offers = [offer for offer in offers[pair][:count] if offer[0] <= max_cost]
            slacks = [max_cost - cost for cost, _, _ in usable_offers]
            capacity = sum([depth * slack for (_, depth, _), slack in zip(usable_offers, slacks, strict=True)])
            usable[pair] = _UsableOffers(usable_offers, slacks, min(flow, capacity))
    return usable


def _path_costs(pair_costs: Mapping[TokenPair, float], start: int, max_hops: int) -> dict[int, float]:
    """Return for each token the lowest cost of a path of at most `max_hops` pairs from `start`."""
    out: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for (i, j), cost in pair_costs.items():
        out[i].append((j, cost))

    def extend(front: Mapping[int, float], best: Mapping[int, float], _: int) -> dict[int, float]:
        improved: dict[int, float] = {}
        for i, cost_to_i in front.items():
            for j, cost in out[i]:
                total = cost_to_i + cost
                if total < best.get(j, inf) and total < improved.get(j, inf):
                    improved[j] = total
        return improved

    return best_labels({start: 0.0}, max_hops, extend)


def _spread_flow(
    pairs: Mapping[TokenPair, _UsableOffers], ends: TokenPair, flow: float, directed: Mapping[TokenPair, TokenPair]
) -> Mapping[TokenPair, float]:
    """Return about how much of `flow` reaches each pair if all of it starts at the first end.

    The keys of `directed` are the pairs in the direction of the walk, the values the keys of `pairs`.
    """
    start, end = ends
    out: dict[int, list[tuple[int, float, TokenPair]]] = defaultdict(list)
    for (i, j), pair in directed.items():
        out[i].append((j, pairs[pair].capacity, pair))
    capacity_to_end = _capacities_to(out, end, flow)
    reached: dict[TokenPair, float] = defaultdict(float)
    amounts = {start: flow}
    for _ in range(_SPREAD_ROUNDS):
        arriving: dict[int, float] = defaultdict(float)
        for i, amount in amounts.items():
            weights = [(j, min(capacity, capacity_to_end.get(j, 0.0)), pair) for j, capacity, pair in out[i]]
            total = sum([weight for _, weight, _ in weights])
            for j, weight, pair in weights if total > 0.0 else ():
                part = amount * weight / total
                reached[pair] += part
                if j != end:
                    arriving[j] += part
        amounts = arriving
    return reached


def _capacities_to(
    out: Mapping[int, Iterable[tuple[int, float, TokenPair]]], end: int, flow: float
) -> dict[int, float]:
    """Return about how much can flow from each token to `end`."""
    capacities = {end: inf}
    for _ in range(_SPREAD_ROUNDS - 1):
        updated = {
            i: min(flow, sum([min(capacity, capacities.get(j, 0.0)) for j, capacity, _ in pairs]))
            for i, pairs in out.items()
        }
        capacities = updated | {end: inf}
    return capacities
