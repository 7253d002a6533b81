"""The tokens and arcs that an order is solved over: started small, grown by what the solution's prices call for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import exp, inf, log, sqrt
from typing import NamedTuple

from swapcli.routing.graph.digraph import unreachable_within
from swapcli.routing.graph.market_graph import Arc, MarketGraph, Prices

_MIN_PRICE_GAP = 1e-7
_MIN_DETOUR_FRACTION = 5e-4
_BISECTIONS = 12
_UNREACHABLE = 1 << 30


def arcs_between(graph: MarketGraph, tokens: Collection[int], endpoints: tuple[int, int], max_hops: int) -> list[Arc]:
    """Arcs between `tokens` on paths of at most `max_hops` hops: none into the source or out of the target."""
    pairs, (source, target) = graph.arcs_by_pair, endpoints
    links = [(i, j) for i in tokens if i != target for j in tokens if j != source and j in pairs[i]]
    unreachable = unreachable_within(links, endpoints, max_hops)
    return [arc for i, j in links if (i, j) not in unreachable for arc in pairs[i][j]]


class Detour(NamedTuple):
    """A token through which a detour pays: a price to start from, about what it gains, the outside tokens on its way.

    `depth` tells those that gain alike apart: what they would gain if the order were endless.
    """

    price: float
    gain: float
    depth: float
    outside_path: tuple[int, ...]


class HopBudget(NamedTuple):
    """How far the inside tokens are from the source and from the target, how long a path may be, and how far any token
    is from the target over the whole market, all in hops."""

    inside_from_source: Mapping[int, int]
    inside_to_target: Mapping[int, int]
    max_hops: int
    hops_to_target: Mapping[int, int]

    def may_exceed(self, outside_tokens: int) -> bool:
        """Whether a path over so many outside tokens may be too long."""
        hops_in, hops_out = (
            max(self.inside_from_source.values(), default=0),
            max(self.inside_to_target.values(), default=0),
        )
        return hops_in + outside_tokens + 1 + hops_out > self.max_hops


def profitable_detours(
    graph: MarketGraph,
    prices: Prices,
    endpoints: tuple[int, int],
    order_value: float,
    max_outside: int,
    budget: HopBudget | None = None,
) -> dict[int, Detour]:
    """Tokens outside `prices` on detours that pay at them, over at most `outside` such tokens.

    `ends` are the order's tokens, `order_value` is what flows in. A detour whose estimated flow could not be told from
    nothing in whole percents is left out, and so is one that makes every path too long for `reach`.
    """
    costs, values = _costs_and_values(
        graph, prices, endpoints, max_outside, budget if budget and budget.may_exceed(max_outside) else None
    )
    inside: _Offers = {t: (price, -1, 0) for t, price in prices.items()}
    all_costs, all_values = inside | costs, inside | values
    found: dict[int, Detour] = {}
    for x, (cost, _, _) in costs.items():
        if x in values and values[x][0] > cost * (1.0 + _MIN_PRICE_GAP):
            price, flow, gain, depth = _flow_through(
                *_sellers_and_buyers(graph, x, all_costs, all_values, endpoints), order_value
            )
            if flow > _MIN_DETOUR_FRACTION * order_value:
                found[x] = Detour(
                    price, gain, depth, _outside_path(x, costs, prices) + _outside_path(x, values, prices)
                )
    return found | _intermediate_detours(graph, found, costs, values, prices)


def _outside_path(x: int, offers: _Offers, prices: Prices) -> tuple[int, ...]:
    """The outside tokens over which `x` has its offer; where arbitrage leads it in a circle, one round of it."""
    path: list[int] = []
    t = offers[x][1]
    while t not in prices and t != x and t not in path:
        path.append(t)
        t = offers[t][1]
    return tuple(path)


def _intermediate_detours(
    graph: MarketGraph, found: Mapping[int, Detour], costs: _Offers, values: _Offers, prices: Prices
) -> dict[int, Detour]:
    """Outside tokens that the found detours lead over though they gain nothing alone.

    Of a long way the near end may have no value of its own yet, and the far end no cost: there they are those of the
    token that the way leads to or comes from.
    """
    added: dict[int, Detour] = {}
    for x in found:
        value, after = values[x][0], x
        for t in _outside_path(x, costs, prices):
            value = max(values.get(t, _NO_OFFER)[0], graph.best_rate_out[t][after] * value)
            added.setdefault(t, Detour(sqrt(costs[t][0] * value), 0.0, 0.0, ()))
            after = t
        cost, before = costs[x][0], x
        for t in _outside_path(x, values, prices):
            cost = min(costs[t][0] if t in costs else inf, cost / graph.best_rate_out[before][t])
            added.setdefault(t, Detour(sqrt(cost * values[t][0]), 0.0, 0.0, ()))
            before = t
    return {t: detour for t, detour in added.items() if t not in found}


class _HopLimit(NamedTuple):
    """Hops from an end to the tokens inside, at least how many more there are from a token outside to the other end
    (`default_hops_ahead`, where nothing is said of the token), and how many there may be in all."""

    hops: Mapping[int, int]
    min_hops_ahead: Mapping[int, int]
    default_hops_ahead: int
    max_hops: int


_Offers = dict[int, tuple[float, int, int]]
"""Per token a price, the neighbour at which it is had (-1 for a token inside), and how many hops that takes."""

_NO_OFFER = (0.0, -1, 0)
_NO_FLOW = (0.0, 0.0, 0.0, 0.0)

_Side = list[tuple[float, float]]
"""(logarithm of the price at which a neighbour starts to trade, value traded per unit of it) for each neighbour."""


def _sellers_and_buyers(
    graph: MarketGraph, x: int, costs: _Offers, values: _Offers, endpoints: tuple[int, int]
) -> tuple[_Side, _Side]:
    """Who sells x and who buys it, without those whose own offer comes from x.

    A neighbour that would do both, an arbitrage of its own, does only what its prices are better for.
    """
    source, target = endpoints
    selling: dict[int, tuple[float, float]] = {}
    buying: dict[int, tuple[float, float]] = {}
    nobody = (0.0, x, 0)
    for i, rate in graph.best_rate_in[x].items():
        price, via, _ = costs.get(i, nobody)
        if via != x and i != target:
            selling[i] = log(price / rate), price * graph.pair_depth(i, x)
    for k, rate in graph.best_rate_out[x].items():
        price, via, _ = values.get(k, nobody)
        if via != x and k != source:
            buying[k] = log(price * rate), price * rate * graph.pair_depth(x, k)
    _resolve_two_sided(selling, buying, {t for t in selling.keys() & buying.keys() if costs[t][1] < 0})
    return list(selling.values()), list(buying.values())


def _resolve_two_sided(
    selling: dict[int, tuple[float, float]], buying: dict[int, tuple[float, float]], inside: Iterable[int]
) -> None:
    """Leave those `inside` that buy dearer than they sell on the side where they do better with the others."""
    both = [t for t in inside if buying[t][0] > selling[t][0]]
    worse = []
    for t in both:
        cheapest = min((start for k, (start, _) in selling.items() if k != t), default=inf)
        dearest = max((start for k, (start, _) in buying.items() if k != t), default=-inf)
        worse.append(buying if dearest - selling[t][0] > buying[t][0] - cheapest else selling)
    for t, side in zip(both, worse, strict=True):
        del side[t]


def _flow_through(selling: _Side, buying: _Side, max_value: float) -> tuple[float, float, float, float]:
    """The price at which as much of x is sold as bought, the value that flows there, about what it gains, and what it
    would gain if `most` were no limit."""
    if not selling or not buying:
        return _NO_FLOW
    low, high = min(selling)[0], max(buying)[0]
    gap = high - low
    if min(_supply(selling, high), _demand(buying, low)) <= _MIN_DETOUR_FRACTION * max_value:
        return _NO_FLOW
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        sold, bought = _supply(selling, middle), _demand(buying, middle)
        low, high = (low, middle) if sold > bought else (middle, high)
    flow = min(sold, bought)
    return exp(middle), min(flow, max_value), min(flow, max_value) * min(1.0, gap), flow * gap


def _supply(side: _Side, price: float) -> float:
    """What neighbours sell at the logarithm of a price."""
    return sum([depth * (price - start) for start, depth in side if start < price])


def _demand(side: _Side, price: float) -> float:
    """What neighbours buy at the logarithm of a price."""
    return sum([depth * (start - price) for start, depth in side if start > price])


def _costs_and_values(
    graph: MarketGraph, prices: Prices, endpoints: tuple[int, int], max_outside: int, budget: HopBudget | None
) -> tuple[_Offers, _Offers]:
    """What outside tokens cost, and what they bring, over at most `outside` of them and on paths within `reach`."""
    source, target = endpoints
    selling = {t: price for t, price in prices.items() if t != target}
    buying = {t: price for t, price in prices.items() if t != source}
    into, out = graph.core_rate_out, graph.core_rate_in
    if budget is None:
        return _cheapest_offers(into, selling, prices, max_outside), _best_bids(out, buying, prices, max_outside)
    near = dict.fromkeys(graph.best_rate_out[source], 1)
    costs = _cheapest_offers(
        into,
        selling,
        prices,
        max_outside,
        _HopLimit(budget.inside_from_source, budget.hops_to_target, _UNREACHABLE, budget.max_hops),
    )
    values = _best_bids(out, buying, prices, max_outside, _HopLimit(budget.inside_to_target, near, 2, budget.max_hops))
    return costs, values


def _cheapest_offers(
    rates: list[dict[int, float]],
    inside: Mapping[int, float],
    prices: Prices,
    max_outside: int,
    limit: _HopLimit | None = None,
) -> _Offers:
    """The least price at which each outside token is had for the `inside` ones, over `outside` tokens at most."""
    costs: _Offers = {}
    front = {t: (price, limit.hops.get(t, 0) + 1 if limit else 0) for t, price in inside.items()}
    for _ in range(max_outside):
        found: dict[int, tuple[float, int]] = {}
        for i, (price, hops) in front.items():
            before = costs.get(i, _NO_OFFER)[1]
            for x, rate in rates[i].items():
                cost = price / rate
                if x in prices or x == before:
                    continue
                if limit and hops + limit.min_hops_ahead.get(x, limit.default_hops_ahead) > limit.max_hops:
                    continue
                if x not in costs or cost < costs[x][0]:
                    costs[x] = (cost, i, hops)
                    found[x] = (cost, hops + 1)
        front = found
    return costs


def _best_bids(
    rates: list[dict[int, float]],
    inside: Mapping[int, float],
    prices: Prices,
    max_outside: int,
    limit: _HopLimit | None = None,
) -> _Offers:
    """The best price that each outside token brings in terms of the `inside` ones, over `outside` tokens at most."""
    values: _Offers = {}
    front = {t: (price, limit.hops.get(t, 0) + 1 if limit else 0) for t, price in inside.items()}
    for _ in range(max_outside):
        found: dict[int, tuple[float, int]] = {}
        for k, (price, hops) in front.items():
            after = values.get(k, _NO_OFFER)[1]
            for x, rate in rates[k].items():
                value = price * rate
                if x in prices or x == after:
                    continue
                if limit and hops + limit.min_hops_ahead.get(x, limit.default_hops_ahead) > limit.max_hops:
                    continue
                if x not in values or value > values[x][0]:
                    values[x] = (value, k, hops)
                    found[x] = (value, hops + 1)
        front = found
    return values
