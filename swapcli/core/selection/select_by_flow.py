"""Select the pools that an order can use by an estimate of its flow. Amounts are in dollars, costs in log rates.

Each direction of a pool is an *offer*. Its `cost` is the loss of its first unit: minus the logarithm of the rate over
the ratio of the two tokens' prices. Its `depth` is the flow in dollars that raises the cost by one. If a pair's offers
are taken in order of cost until they carry a flow F, the last one has the *marginal cost* c with

    sum of depth * (c - cost of the offer) = F

1. No pair carries more than the whole order. Filled with the whole order, each pair shows the highest marginal cost it
   can have, and the cheapest path of such pairs an upper bound for the cost of the order's last unit. A pair is dropped
   if even the cheapest path over it costs more. For offers of constant depth this drops nothing that the order would
   use.
2. The solver of the routing core balances the order over the remaining pairs, each of them one arc. At the prices that
   it finds, an offer's *gain* is the surplus of its best trade: about what the order would lose without it. Those with
   the largest gains are selected, until the rest gain next to nothing together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import exp, inf, log
from operator import mul

from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.best_paths import best_labels
from swapcli.core.routing.graph.digraph import unreachable_within
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.solver.newton import minimize_dual
from swapcli.core.selection.ranking_reader import TokenPair

_BOUND_FACTOR = 1.2
"""A factor on the bound of step 1: real curves are not lines of constant depth."""
_MIN_BOUND_MARGIN = 1e-4
"""A margin added to the bound, for pairs that cost next to nothing: one basis point."""
_BALANCE_TOLERANCE, _MAX_RESIDUAL = 1e-3, 0.1
"""Tolerances of the solver.

At the first, its prices are accurate to a small part of `_LIKELY_MARGIN`. The second is the part of the order that may
be left over or missing anywhere: an order larger than the offers can carry leaves more.
"""
_MAX_SOLUTIONS, _SMALLER_FLOW = 3, 1.0 / 16.0
"""The maximum number of attempts to find a balance, each with a smaller flow."""
_MIN_FLOW_PART = 1e-10
"""A part of the deepest offer's flow: prices would not show a smaller flow, since floats resolve 1e-16."""
_LIKELY_MARGIN, _LIKELY_FACTOR, _MARGIN_GROWTH = 2e-5, 0.2, 3.0
"""The margin above their pair's marginal cost up to which offers are counted as well: a fifth of a basis point, plus a
part of the increase of the pair's cost, larger if it increases much. Empirical."""
_POSSIBLE_MARGIN, _POSSIBLE_WEIGHT = 1e-3, 1e-9
"""The same margin for offers that only fill up a small selection, and the weight of their gains. Empirical."""
_TOLERANCE, _WIDE_TOLERANCE = 1e-6, 1e-5
"""Parts of the order that the dropped offers may gain together: a hundredth of a basis point, or a tenth of one if more
than `_ENOUGH_POOLS` would be selected. Empirical: outputs differ by a small part of that."""
_MIN_POOLS, _ENOUGH_POOLS = 250, 400
"""The minimum number of pools: with fewer, none are worth dropping, and this many carry almost any order. Empirical."""
_DRAINED_RISE, _MIN_POOLS_IF_DRAINED = 0.3, 600
"""The increase of a pair's cost above which estimates do not hold.

Empirical: orders that sell many times a pool's reserves lose up to 0.05 basis points over fewer pools.
"""
_MAX_EXPONENT = 600.0
"""A limit that keeps prices, and their products with amounts, within the range of floats."""
_MAX_ROUNDING_LOSS = 2.0
"""The base units that one swap may lose to rounding."""


Offer = tuple[float, float, int]
"""`(cost, depth, pool id)`. Plain tuples, because there are thousands; they sort by cost."""

Offers = Mapping[TokenPair, Sequence[Offer]]


class _PairArc(Arc):
    """The offers of a pair as one arc of the solver, without a pool. One unit of each token is worth a dollar."""

    __slots__ = ("_costs", "_depths", "_ins", "_outs")

    def __init__(self, pair: TokenPair, offers: Sequence[Offer]) -> None:
        self.token_in, self.token_out = pair
        costs, depths, _ = zip(*offers, strict=True)
        self._costs = costs
        self._depths = list(accumulate(depths))
        self._ins = list(accumulate(map(mul, depths, costs)))
        self.rate = _exp(-costs[0])
        # The first offers are the cheapest: if their rate is within bounds, no later rate overflows.
        rates = [exp(-cost) for cost in costs] if costs[0] > -_MAX_EXPONENT else [_exp(-cost) for cost in costs]
        self._outs = list(accumulate(map(mul, depths, rates)))
        self.trade_to_marginal_rate = self._trade_to_marginal_rate
        self._depth = None

    def _trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Trade like `RateCurve.trade_to_marginal_rate`: each offer sells `depth` units while its rate falls by a
        factor of e."""
        cost = -log(rate)
        last = bisect_left(self._costs, cost) - 1
        if last < 0:
            return 0.0, 0.0, 0.0
        depth = self._depths[last]
        return depth * cost - self._ins[last], self._outs[last] - depth * rate, depth


class _CostLimits(NamedTuple):
    """How many offers of a pair to consider, and the costs up to which the order trades them, likely and possibly.

    `rise` is the difference between the pair's marginal cost and the mean cost of its offers.
    """

    offers: int
    likely: float
    possible: float
    rise: float


class _PairCosts(NamedTuple):
    """The marginal costs of pairs filled with the whole order, and the lowest costs before, in and after each pair."""

    counts: dict[TokenPair, int]
    full: dict[TokenPair, float]
    lowest: dict[TokenPair, float]
    before: dict[int, float]
    after: dict[int, float]
    bound: float

    def highest(self, pair: TokenPair) -> float:
        """Return the highest cost that an offer of the pair can have on a path within the bound."""
        return self.bound - self.before.get(pair[0], inf) - self.after.get(pair[1], inf)


def select_by_flow(
    offers: Offers,
    ends: TokenPair,
    flow: float,
    max_hops: int,
    limit: int,
    unit_prices: Mapping[int, float] | None = None,
) -> set[int]:
    """Return the IDs of at most `limit` pools for an order of `flow` dollars between `ends`.

    The offers of each pair are sorted. `unit_prices` are dollars per base unit, by token: an order of few units may
    lose a whole unit to rounding, so its flow is also estimated with such losses.
    """
    unreachable = unreachable_within(offers, ends, max_hops)
    offers = {pair: pair_offers for pair, pair_offers in offers.items() if pair not in unreachable}
    losses = {
        pair: _MAX_ROUNDING_LOSS * (unit_prices or {}).get(pair[1], 0.0) / flow for pair in offers if pair[1] != ends[1]
    }
    flow = max(flow, _MIN_FLOW_PART * max((pair_offers[0][1] for pair_offers in offers.values()), default=0.0))
    limits = _cost_limits(offers, ends, flow, max_hops)
    gains = _gains(offers, limits, flow)
    if any(losses.get(pair, 0.0) > _LIKELY_MARGIN and offers[pair][0][0] < limits[pair].likely for pair in limits):
        offers = {
            pair: [(cost + losses.get(pair, 0.0), depth, pool) for cost, depth, pool in pair_offers]
            for pair, pair_offers in offers.items()
        }
        for pool, gain in _gains(offers, _cost_limits(offers, ends, flow, max_hops), flow).items():
            gains[pool] = max(gain, gains.get(pool, 0.0))
    is_drained = any(each.rise > _DRAINED_RISE for each in limits.values())
    return _largest(gains, _MIN_POOLS_IF_DRAINED if is_drained else _MIN_POOLS, limit)


def _largest(gains: Mapping[int, float], min_count: int, max_count: int) -> set[int]:
    """Return the pools with the largest gains, without those whose total gain is negligible."""
    pools = sorted(gains, key=lambda pool: -gains[pool])[:max_count]
    left = sum(gains.values())
    for count, pool in enumerate(pools):
        if count >= min_count and left <= (_TOLERANCE if count < _ENOUGH_POOLS else _WIDE_TOLERANCE):
            return set(pools[:count])
        left -= gains[pool]
    return set(pools)


def _gains(offers: Offers, limits: Mapping[TokenPair, _CostLimits], flow: float) -> dict[int, float]:
    """Return the gains of pools for the order, as parts of its value, without pools that gain nothing."""
    gains: dict[int, float] = {}
    for pair, (count, likely, possible, _) in limits.items():
        for cost, depth, pool in offers[pair][:count]:
            if cost >= possible:
                break
            gain = _POSSIBLE_WEIGHT * _surplus(possible - cost, depth, flow)
            if cost < likely:
                gain += _surplus(likely - cost, depth, flow)
            if gain > gains.get(pool, 0.0):
                gains[pool] = gain
    return gains


def _surplus(advantage: float, depth: float, flow: float) -> float:
    """Return the surplus of an offer's best trade at a price this far above its cost, as a part of the order's
    value."""
    trade = depth * advantage
    if trade <= flow:
        return trade * advantage / (2.0 * flow)
    return advantage - flow / (2.0 * depth)


def _cost_limits(offers: Offers, ends: TokenPair, flow: float, max_hops: int) -> dict[TokenPair, _CostLimits]:
    """Return the limits of the pairs that the order may trade, from both steps.

    An order that is too large for its pairs gets the limits of a smaller one.
    """
    for _ in range(_MAX_SOLUTIONS):
        costs = _pair_costs(offers, ends, flow, max_hops)
        if costs.bound == inf:
            return {}
        usable = [pair for pair, lowest in costs.lowest.items() if lowest <= costs.highest(pair)]
        arcs = {pair: _PairArc(pair, offers[pair][: costs.counts[pair]]) for pair in usable}
        prices = _balanced_prices(arcs, costs, ends, flow, max_hops)
        if prices is not None:
            break
        flow *= _SMALLER_FLOW
    else:
        return {pair: _CostLimits(costs.counts[pair], costs.highest(pair), costs.highest(pair), inf) for pair in usable}
    limits = {}
    for (i, j), arc in arcs.items():
        cost = log(prices[j] / prices[i])
        trade, _, depth = arc.trade_to_marginal_rate(prices[i] / prices[j])
        rise = trade / depth if depth else 0.0
        possible = cost + _POSSIBLE_MARGIN + rise * (1.0 + _MARGIN_GROWTH * rise)
        if costs.lowest[i, j] < possible:
            likely = cost + _LIKELY_MARGIN + rise * (_LIKELY_FACTOR + _MARGIN_GROWTH * rise)
            limits[i, j] = _CostLimits(costs.counts[i, j], likely, possible, rise)
    unreachable = unreachable_within(limits, ends, max_hops)
    return {pair: limit for pair, limit in limits.items() if pair not in unreachable}


def _balanced_prices(
    arcs: Mapping[TokenPair, Arc], costs: _PairCosts, ends: TokenPair, flow: float, max_hops: int
) -> Prices | None:
    """Return the prices, in dollars of the target, at which the pairs carry the order; None if the solver fails."""
    max_after = _path_costs({(j, i): costs.full[i, j] for i, j in arcs}, ends[1], max_hops)
    room = costs.bound - costs.after[ends[0]]
    start = {token: _exp(-min(max_after.get(token, inf), costs.after[token] + room)) for pair in arcs for token in pair}
    solution = minimize_dual(list(arcs.values()), ends, flow, start, tolerance=_BALANCE_TOLERANCE)
    left = dict.fromkeys(solution.prices, 0.0) | {ends[0]: flow}
    for arc, amount_in, amount_out, _ in solution.trades:
        left[arc.token_in] -= amount_in
        left[arc.token_out] += amount_out
    del left[ends[1]]
    return solution.prices if max(map(abs, left.values())) <= _MAX_RESIDUAL * flow else None


def _exp(exponent: float) -> float:
    return exp(max(min(exponent, _MAX_EXPONENT), -_MAX_EXPONENT))


def _fill(offers: Sequence[Offer], flow: float) -> tuple[int, float]:
    """Return how many of the offers carry `flow`, and their marginal cost."""
    total_depth = weighted_cost = 0.0
    count = 0
    for cost, depth, _ in offers:
        if count and total_depth * cost - weighted_cost >= flow:
            break
        count += 1
        total_depth += depth
        weighted_cost += depth * cost
    return count, (weighted_cost + flow) / total_depth if total_depth > 0.0 else inf


def _pair_costs(offers: Offers, ends: TokenPair, flow: float, max_hops: int) -> _PairCosts:
    """Return the costs of pairs, and the bound of step 1 with its margin.

    `full` are the marginal costs of pairs that carry the whole flow, `lowest` the costs of their first units.
    """
    source, target = ends
    filled = {pair: _fill(pair_offers, flow) for pair, pair_offers in offers.items()}
    full = {pair: cost for pair, (_, cost) in filled.items()}
    lowest = {pair: pair_offers[0][0] for pair, pair_offers in offers.items()}
    reversed_lowest = {(token_out, token_in): cost for (token_in, token_out), cost in lowest.items()}
    bound = _path_costs(full, source, max_hops).get(target, inf)
    return _PairCosts(
        {pair: count for pair, (count, _) in filled.items()},
        full,
        lowest,
        _path_costs(lowest, source, max_hops),
        _path_costs(reversed_lowest, target, max_hops),
        bound + abs(bound) * (_BOUND_FACTOR - 1.0) + _MIN_BOUND_MARGIN,
    )


def _path_costs(pair_costs: Mapping[TokenPair, float], start: int, max_hops: int) -> dict[int, float]:
    """Return, for each token, the lowest cost of a path of at most `max_hops` pairs from `start`."""
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
