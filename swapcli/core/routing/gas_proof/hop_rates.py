"""The rates of hops without prices: as low as possible without adding to a bound.

At the rate of its first unit, a pool gains nothing. At a slightly lower rate it gains no more than its gas, since the
order can sell it only a limited amount, so this adds nothing to a bound, either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from swapcli.core.annotations import Final
from swapcli.core.routing.gas_proof.gas_dual import PricedArc, least_rate
from swapcli.core.routing.gas_proof.simple_paths import SimplePaths
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Prices
from swapcli.core.routing.search.problem import RoutingProblem

VALUE_MARGIN: Final = 1.0 + 1e-11
"""A margin on products of rates: more than the float errors on any path."""
GAS_PART: Final = 1.0 - 1e-9
"""The fraction of a pool's gas that it may gain above the rate of its hop."""
_SPOT_MARGIN: Final = 1.0 + 1e-12  # of rates, beyond their float error
_VALUE_ROOM: Final = 1.02  # of prices: values that paths may initially have beyond the prices. Empirical
_ROUNDS: Final = 4  # in which values raise rates, and rates raise values. Empirical


class HopRates:
    """The rates of the hops of a market.

    `spot` are the rates of the first units. `listed` are the rates that differ from `spot` or are near the best paths.
    `near` are the rates of hops that may be on a simple path with a product of at least `least_product`; paths over
    other hops do not affect the bound. A unit of a token is worth at most `values` on any path.
    """

    def __init__(
        self,
        problem: RoutingProblem,
        arcs: Sequence[PricedArc],
        by_pair: Mapping[TokenPair, Sequence[int]],
        prices: Prices,
        least_product: float,
    ) -> None:
        """Set the rates. A pool may gain its gas, converted at the value of its output.

        The best walk bounds that value, and depends on the rates: rates rise until no value does.
        """
        spec, graph = problem.spec, problem.graph
        self._endpoints, self._max_hops, self.least_product = spec.endpoints, spec.max_hops, least_product
        self._arcs, self._by_pair = arcs, by_pair
        self.spot = {pair: max(map(self._spot_rate, numbers)) for pair, numbers in by_pair.items()}
        inner = graph.tokens_between(spec.endpoints)
        rates = {(i, j): rate for (i, j), rate in self.spot.items() if i in inner and j in inner}
        values = {token: price * _VALUE_ROOM for token, price in prices.items()}
        changed = [(i, j) for (i, j), rate in rates.items() if rate * prices[j] > prices[i]]
        for number in range(_ROUNDS if spec.gas_value > 0.0 else 0):
            rates |= self._rates_beyond_gas(changed, values)
            near = self._on_best_walks(rates)
            raised = {token: value for token in values if (value := self._ahead.value(token)) > values[token]}
            values |= raised
            changed = [(i, j) for i, j in near if number == 0 or j in raised]
            if not changed:
                break
        self.values: Mapping[int, float] = {**values, spec.target: 1.0}
        self.listed, self.near = rates, self._on_best_walks(rates)

    def value_elsewhere(self, hop: TokenPair, rate: float) -> float:
        """Return the highest value, on paths that do not affect the bound, of a unit paid out by a hop with rate
        `rate`."""
        reached = self._behind.value(hop[0]) * rate
        return self.least_product / reached if reached else self._ahead.value(hop[1])

    def values_at(self, rates: Mapping[TokenPair, float]) -> Mapping[int, float]:
        """Return `values` for different rates. Some of `rates` may be above the rates of hops without prices."""
        if all(rate <= self.listed.get(hop, rate) for hop, rate in rates.items()):
            return self.values
        walks = SimplePaths({**self.listed, **rates}, self._endpoints[1], self._max_hops)
        return {token: max(value, walks.value(token)) for token, value in self.values.items()}

    def _on_best_walks(self, rates: Mapping[TokenPair, float]) -> dict[TokenPair, float]:
        """Return the rates of hops that may be on a path whose product reaches the least product."""
        (source, target), least = self._endpoints, self.least_product
        self._ahead = ahead = SimplePaths(rates, target, self._max_hops)
        self._behind = behind = SimplePaths({(j, i): rate for (i, j), rate in rates.items()}, source, self._max_hops)
        return {(i, j): r for (i, j), r in rates.items() if behind.value(i) * r * ahead.value(j) >= least}

    def _rates_beyond_gas(self, hops: Iterable[TokenPair], values: Mapping[int, float]) -> dict[TokenPair, float]:
        return {
            hop: max(self._rate_beyond_gas(number, values[hop[1]]) for number in self._by_pair[hop]) for hop in hops
        }

    def _rate_beyond_gas(self, number: int, value: float) -> float:
        """Return a rate above which an arc gains no more than its gas, at the value of its output."""
        each = self._arcs[number]
        if each.arc.rounding is not None:
            return self._spot_rate(number)
        return min(least_rate(each, each.gas * GAS_PART / (value * VALUE_MARGIN)), each.arc.rate) * _SPOT_MARGIN

    def _spot_rate(self, number: int) -> float:
        arc = self._arcs[number].arc
        return arc.rate * _SPOT_MARGIN * (1.0 + arc.rounding.part if arc.rounding else 1.0)
