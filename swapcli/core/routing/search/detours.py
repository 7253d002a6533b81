"""Find detours over tokens outside the solved subgraph that pay at the solution's prices.

This is the pricing step of column generation: a token outside the solved subgraph has a negative reduced cost if it can
be bought below the price at which it can be sold, over at most k hops (Desrosiers, Lubbecke, A primer in column
generation, 2005). The flow of a detour is estimated from the depth of its pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from heapq import heappush, heappushpop
from math import exp, inf, log, sqrt

from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.best_paths import relax_layers
from swapcli.core.routing.graph.market_graph import MarketGraph, Prices

_MIN_PRICE_GAP = 1e-7  # a thousandth of a basis point: a smaller gain is a rounding error of the solution's prices
MIN_DETOUR_FRACTION = 5e-4
"""The smallest flow of a detour, as a part of the order's value: half of the smallest share that rounding to percents
preserves."""
MAX_OUTSIDE = 3  # consecutive outside tokens on one detour. Empirical: longer detours gained nothing
_BISECTIONS = 12  # of the log price between buyers and sellers: to 1/4096 of the gap, enough to rank detours
_UNREACHABLE = _ALL = 1 << 30


class Detour(NamedTuple):
    """An outside token with a detour that pays: a start price, the estimated gain, and the outside tokens on its path.

    `depth` ranks detours of equal gain: it is the gain of an infinitely large order.
    """

    price: float
    gain: float
    depth: float
    outside_path: tuple[int, ...]


class Detours(NamedTuple):
    """The profitable detours by outside token, and the largest gain of any path outside, as a fraction of the path's
    price."""

    by_token: dict[int, Detour]
    max_gain: float


class HopBudget(NamedTuple):
    """The distances, in hops, that limit detours.

    The limits are the distances of the inside tokens from the source and to the target, the maximum length of a path,
    and the distances of all tokens to the target over the whole market.
    """

    inside_from_source: Mapping[int, int]
    inside_to_target: Mapping[int, int]
    max_hops: int
    hops_to_target: Mapping[int, int]

    def may_exceed(self, outside_tokens: int) -> bool:
        """Return whether a path over `outside_tokens` outside tokens may be too long."""
        hops_in = max(self.inside_from_source.values(), default=0)
        hops_out = max(self.inside_to_target.values(), default=0)
        return hops_in + outside_tokens + 1 + hops_out > self.max_hops


class DetourSearch:
    """A search for detours that pay at the `prices` of the inside tokens. Short detours come first; longer detours
    extend their costs.

    `endpoints` are (source, target), `order_value` the value of the input. The search omits detours whose estimated
    flow is less than `min_fraction` of the order, and detours that make every path exceed `budget`. No outside token
    can be sold for more than its entry in `max_values`, and without an entry it cannot be sold; None means no limits.

    Example: `DetourSearch(graph, prices, (source, target), order_value).find(1, 6).by_token`.
    """

    def __init__(
        self,
        graph: MarketGraph,
        prices: Prices,
        endpoints: tuple[int, int],
        order_value: float,
        budget: HopBudget | None = None,
        min_fraction: float = MIN_DETOUR_FRACTION,
        max_values: Prices | None = None,
    ) -> None:
        self._graph, self._prices, self._endpoints = graph, prices, endpoints
        self._order_value, self._min_flow = order_value, min_fraction * order_value
        source, target = endpoints
        from_source = self._to_target = None
        if budget and budget.may_exceed(MAX_OUTSIDE):
            near = dict.fromkeys(graph.best_rate_out[source], 1)
            from_source = _HopLimit(budget.inside_from_source, budget.hops_to_target, _UNREACHABLE, budget.max_hops)
            self._to_target = _HopLimit(budget.inside_to_target, near, 2, budget.max_hops)
        self._costs = _LowestCosts(graph.core_rate_out, prices, target, from_source, max_values)
        self._values: _Offers = {}  # when sold for inside tokens directly
        self._valued: set[int] = set()

    def find(self, max_outside: int, count: int = _ALL) -> Detours:
        """Return at least the `count` best detours, over at most `max_outside` outside tokens from each end.

        Tokens are tried by value over cost, which bounds the gain unless an outside neighbour has a better offer. Costs
        cover whole detours, so that the two ends of a long detour meet where the detour is sold for an inside token.
        """
        costs = self._costs.over(2 * max_outside - 1)
        new = costs.keys() - self._valued
        self._valued |= new
        self._values |= self._highest_values(1, new)
        values = self._values
        if not any(values[x][0] > costs[x][0] * (1.0 + _MIN_PRICE_GAP) for x in values):
            return Detours({}, 0.0)
        if max_outside > 1:
            values = self._highest_values(max_outside, costs.keys())
        return self._detours(costs, values, count)

    def _highest_values(self, max_outside: int, tokens: Set[int]) -> _Offers:
        buying = {t: price for t, price in self._prices.items() if t != self._endpoints[0]}
        return _highest_values(self._graph.core_rate_in, buying, self._prices, max_outside, self._to_target, tokens)

    def _detours(self, costs: _Offers, values: _Offers, count: int) -> Detours:
        """Return the best detours over tokens that cost less than they are worth and carry enough."""
        graph, prices, order_value, min_flow = self._graph, self._prices, self._order_value, self._min_flow
        inside: _Offers = {t: (price, -1, 0) for t, price in prices.items()}
        all_costs, all_values = inside | costs, inside | values
        ratios = {x: value / costs[x][0] for x, (value, _, _) in values.items() if x in costs}
        paying = sorted((x for x, ratio in ratios.items() if ratio > 1.0 + _MIN_PRICE_GAP), key=lambda x: -ratios[x])
        found: dict[int, Detour] = {}
        best_gains: list[float] = []  # a heap
        for x in paying:
            gain_limit = order_value * min(1.0, log(ratios[x]))
            if len(best_gains) >= count and gain_limit < best_gains[0]:
                break
            selling, buying = _sellers_and_buyers(graph, x, all_costs, all_values, self._endpoints)
            price, flow, gain, depth = _flow_through(selling, buying, order_value, min_flow)
            if flow > min_flow:
                path = _outside_path(x, costs, prices) + _outside_path(x, values, prices)
                found[x] = Detour(price, gain, depth, path)
                (heappush if len(best_gains) < count else heappushpop)(best_gains, gain)
        max_gain = ratios[paying[0]] - 1.0 if paying else 0.0
        return Detours(found | _intermediate_detours(graph, found, costs, values, prices), max_gain)


def _outside_path(x: int, offers: _Offers, prices: Prices) -> tuple[int, ...]:
    """Return the outside tokens on the path of the offer for `x`; one round of the cycle if arbitrage makes the path a
    cycle."""
    path: list[int] = []
    t = offers[x][1]
    while t not in prices and t != x and t not in path:
        path.append(t)
        t = offers[t][1]
    return tuple(path)


def _intermediate_detours(
    graph: MarketGraph, found: Mapping[int, Detour], costs: _Offers, values: _Offers, prices: Prices
) -> dict[int, Detour]:
    """Return the outside tokens on the paths of `found` detours that gain nothing on their own.

    On a long path, the token next to the inside may have no value of its own yet, or no cost: it gets the value or cost
    of the next or previous token on the path.
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
    """A limit on the length of paths from one endpoint to the other over outside tokens.

    `hops` are the distances from the first endpoint to the inside tokens, `min_hops_ahead` the minimum distances from
    outside tokens to the other endpoint (`default_hops_ahead` for tokens not listed), and `max_hops` limits their sum.
    """

    hops: Mapping[int, int]
    min_hops_ahead: Mapping[int, int]
    default_hops_ahead: int
    max_hops: int


_Offer = tuple[float, int, int]
"""(price of a token, the neighbour that offers it or -1 for a token inside, number of hops)."""

_Offers = dict[int, _Offer]
"""The offers by token."""

_NO_OFFER = (0.0, -1, 0)
_NO_FLOW = (0.0, 0.0, 0.0, 0.0)

_Side = list[tuple[float, float]]
"""(logarithm of the price at which trading starts, value traded per unit of it) for each neighbour."""


def _sellers_and_buyers(
    graph: MarketGraph, x: int, costs: _Offers, values: _Offers, endpoints: tuple[int, int]
) -> tuple[_Side, _Side]:
    """Return the neighbours that sell x and those that buy it, except those whose own offer comes from x.

    A neighbour that would do both, which is arbitrage in itself, stays on the side with the better price.
    """
    source, target = endpoints
    sold_at = {
        i: costs[i][0] / rate
        for i, rate in graph.best_rate_in[x].items()
        if i in costs and i != target and costs[i][1] != x
    }
    bought_at = {
        k: values[k][0] * rate
        for k, rate in graph.best_rate_out[x].items()
        if k in values and k != source and values[k][1] != x
    }
    # Only neighbours between the cheapest seller and the best buyer trade.
    lowest, highest = min(sold_at.values(), default=inf), max(bought_at.values(), default=0.0)
    selling = {i: (log(price), costs[i][0] * graph.pair_depth(i, x)) for i, price in sold_at.items() if price < highest}
    buying = {k: (log(price), price * graph.pair_depth(x, k)) for k, price in bought_at.items() if price > lowest}
    _resolve_two_sided(selling, buying, {t for t in selling.keys() & buying.keys() if costs[t][1] < 0})
    return list(selling.values()), list(buying.values())


def _resolve_two_sided(
    selling: dict[int, tuple[float, float]], buying: dict[int, tuple[float, float]], inside: Iterable[int]
) -> None:
    """Keep inside neighbours that would both sell and buy x, at a profit, only on the side with the better price."""
    both = [t for t in inside if buying[t][0] > selling[t][0]]
    worse = []
    for t in both:
        cheapest = min((start for k, (start, _) in selling.items() if k != t), default=inf)
        dearest = max((start for k, (start, _) in buying.items() if k != t), default=-inf)
        worse.append(buying if dearest - selling[t][0] > buying[t][0] - cheapest else selling)
    for t, side in zip(both, worse, strict=True):
        del side[t]


def _flow_through(
    selling: _Side, buying: _Side, max_value: float, min_value: float
) -> tuple[float, float, float, float]:
    """Return (price, value, gain, unlimited gain) of the flow through x when its supply meets its demand.

    `max_value` limits the value of the flow; the last figure is the gain without that limit. Flows of at most
    `min_value` are skipped. Bisection stays inline because it needs supply and demand at its last point, and runs for
    every outside token.
    """
    if not selling or not buying:
        return _NO_FLOW
    low, high = min(selling)[0], max(buying)[0]
    gap = high - low
    if min(_supply(selling, high), _demand(buying, low)) <= min_value:
        return _NO_FLOW
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        sold, bought = _supply(selling, middle), _demand(buying, middle)
        low, high = (low, middle) if sold > bought else (middle, high)
    flow = min(sold, bought)
    return exp(middle), min(flow, max_value), min(flow, max_value) * min(1.0, gap), flow * gap


def _supply(side: _Side, price: float) -> float:
    """Return the amount that neighbours sell at the logarithm of a price."""
    return sum([depth * (price - start) for start, depth in side if start < price])


def _demand(side: _Side, price: float) -> float:
    """Return the amount that neighbours buy at the logarithm of a price."""
    return sum([depth * (start - price) for start, depth in side if start > price])


class _LowestCosts:
    """The lowest costs of buying outside tokens with inside ones, over a growing number of outside tokens.

    Tokens that cost at least their possible worth are omitted: at a small order's prices, these are almost all tokens.
    """

    def __init__(
        self,
        rates_out: list[dict[int, float]],
        prices: Prices,
        target: int,
        limit: _HopLimit | None,
        max_values: Prices | None,
    ) -> None:
        self._rates_out, self._prices, self._limit = rates_out, prices, limit
        self._costs: _Offers = {}
        # Per token: the cost that an offer must be below.
        self._ceilings = dict(max_values) if max_values is not None else {}
        self._default_ceiling = inf if max_values is None else 0.0
        inside = {t: price for t, price in prices.items() if t != target}
        self._layers = relax_layers(_front(inside, limit), _UNREACHABLE, self._extend)
        self._outside = 0

    def over(self, max_outside: int) -> _Offers:
        """Return the costs over at most `max_outside` outside tokens; a later call changes them."""
        while self._outside < max_outside and next(self._layers, None):
            self._outside += 1
        return self._costs

    def _extend(self, front: Mapping[int, _Offer], _: int) -> _Offers:
        costs, ceilings, default, limit = self._costs, self._ceilings, self._default_ceiling, self._limit
        rates_out, prices = self._rates_out, self._prices
        improved: _Offers = {}
        for i, (price, before, hops) in front.items():
            for x, rate in rates_out[i].items():
                cost = price / rate
                if cost >= ceilings.get(x, default) or x in prices or x == before:
                    continue
                if limit and hops + limit.min_hops_ahead.get(x, limit.default_hops_ahead) > limit.max_hops:
                    continue
                ceilings[x] = cost
                costs[x] = (cost, i, hops)
                improved[x] = (cost, i, hops + 1)
        return improved


def _highest_values(
    rates_in: list[dict[int, float]],
    inside: Mapping[int, float],
    prices: Prices,
    max_outside: int,
    limit: _HopLimit | None,
    tokens: Set[int],
) -> _Offers:
    """Return the highest value of selling each of `tokens` for the `inside` ones, over at most `max_outside` tokens."""
    values: _Offers = {}

    def extend(front: Mapping[int, _Offer], _: int) -> _Offers:
        improved: _Offers = {}
        for i, (price, before, hops) in front.items():
            rates = rates_in[i]
            for x in tokens if len(tokens) < len(rates) else rates:
                if x not in rates or x not in tokens or x in prices or x == before:
                    continue
                value = price * rates[x]
                if value <= values.get(x, _NO_OFFER)[0]:
                    continue
                if limit and hops + limit.min_hops_ahead.get(x, limit.default_hops_ahead) > limit.max_hops:
                    continue
                values[x] = (value, i, hops)
                improved[x] = (value, i, hops + 1)
        return improved

    for _ in relax_layers(_front(inside, limit), max_outside, extend):
        pass  # `extend` records the values as it finds them
    return values


def _front(inside: Mapping[int, float], limit: _HopLimit | None) -> _Offers:
    """Return the offers of the inside tokens, from which other offers spread, with the number of hops for the next
    ones."""
    return {t: (price, -1, limit.hops.get(t, 0) + 1 if limit else 0) for t, price in inside.items()}
