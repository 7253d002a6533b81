"""Spot prices for an order: what one unit of each token brings in the output token over the best single path.

At spot prices no pool is worth a trade, so they are where the solver starts. They are found by rounds of relaxation
from the output token, one round a hop, so the hop limit holds and a market's arbitrage cycles do no harm.

The rate of a pool's first unit says nothing about how much it pays: anybody can put a pool worth a millionth of a cent
at any price. So a pool counts with what it pays for a slice of the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise

from swapcli.routing.graph.market_graph import Arc, MarketGraph

Values = dict[int, float]
Slices = Mapping[int, float]

_UNKNOWN = (0.0, -1)
_VERIFY_ABOVE = 2.0  # of a slice's value: that the slices of two tokens are worth so differently has to be proven
_RATE_TOLERANCE = 1e-2  # of a rate: pools that a slice moves by less count with the rate of their first unit


class SpotPrices:
    """`values[t]` is the value of a unit of t in units of `target`, over at most `max_hops` hops.

    No path that carries a slice of each token on its way pays more for a unit.

    Example: `SpotPrices(graph, usdc, 8).value(weth)`.
    """

    def __init__(
        self,
        graph: MarketGraph,
        target: int,
        max_hops: int,
        slices: Slices | None = None,
        avoided_tokens: frozenset[int] = frozenset(),
    ) -> None:
        """Price the tokens from `target` backwards.

        `slices` are base units by token, of about equal value, and of the target too: a pool counts with what it pays
        for a slice of the token that it takes, and no path passes through tokens without a slice. None stands for
        vanishing slices: pools count with the rates of their first units. No path passes through tokens to `avoid`.
        """
        self._graph, self.target, self._max_hops, self._avoided_tokens = graph, target, max_hops, avoided_tokens
        self.slices = slices
        self._allowed = (graph.two_core | set(graph.path_to_core(target))) - avoided_tokens - {target}
        self.values: Values = {target: 1.0}
        self._layers: list[dict[int, tuple[float, int]]] = [{target: (1.0, target)}]
        for _ in range(max_hops):
            found = self._relax(self._layers[-1])
            if not found:
                break
            self._layers.append(found)
            self.values.update({t: value for t, (value, _) in found.items()})

    def _relax(self, front: dict[int, tuple[float, int]]) -> dict[int, tuple[float, int]]:
        allowed, values, into = self._allowed, self.values, self._graph.best_rate_in
        found: dict[int, tuple[float, int]] = {}
        for j, (value_j, _) in front.items():
            for i, rate in into[j].items():
                value = value_j * rate
                if i in allowed and value > values.get(i, 0.0) and value > found.get(i, _UNKNOWN)[0]:
                    if self.slices is not None:
                        value = self._slice_value(i, j, value_j, max(values.get(i, 0.0), found.get(i, _UNKNOWN)[0]))
                    if value:
                        found[i] = (value, j)
        return found

    def _slice_value(self, i: int, j: int, value_j: float, threshold: float) -> float:
        """Return the value of a unit of i where a slice of it is sold for j; 0.0 where that is not above `beaten`."""
        rate = self.rate(i, j, threshold / value_j)
        if rate <= threshold / value_j:
            return 0.0
        value = value_j * rate
        slices = self.slices or {}
        if value * slices[i] > _VERIFY_ABOVE * slices[self.target]:
            value = min(value, self._sell_along(slices[i], [i, *self.path(j)]) / slices[i])
        return value if value > threshold else 0.0

    def _sell_along(self, amount: float, path: list[int]) -> float:
        """Return what a slice really brings, the best pool of each hop one after the other."""
        for i, j in pairwise(path):
            amount = max(amount_out_for_all(arc, amount) for arc in self._graph.arcs_by_pair[i][j])
        return amount

    def rate(self, token_in: int, token_out: int, min_rate: float = 0.0) -> float:
        """Return the best rate that a single pool offers for a slice of `token_in`, or `beaten` where none is above."""
        slice_in = self.slices.get(token_in, 0.0) if self.slices is not None else 0.0
        if self.slices is not None and not slice_in:
            return min_rate
        for arc in self._graph.arcs_by_pair[token_in].get(token_out, ()):
            if arc.rate <= min_rate:
                break
            min_rate = max(min_rate, _rate_for_slice(arc, slice_in))
        return min_rate

    def is_dust(self, token: int, min_fraction: float) -> bool:
        """Whether no path sells a slice of `token` for `part` of a slice of the target."""
        if self.slices is None or token == self.target:
            return False
        return self.value(token) * self.slices.get(token, 0.0) < min_fraction * self.slices[self.target]

    def allows(self, token: int) -> bool:
        """Whether paths may pass through `token`."""
        return token in self._allowed

    def path(self, source: int) -> list[int]:
        """Tokens of the best path from `source` to the target, both included; empty when there is none."""
        path = self.path_to_priced(source)
        if not path or self._avoided_tokens.intersection(path[1:]):
            return []
        token = path.pop()
        limit = min(len(self._layers) - 1, self._max_hops - len(path))
        while token != self.target:
            rounds = [k for k in range(limit, 0, -1) if token in self._layers[k]]
            if not rounds:
                return []
            path.append(token)
            limit = rounds[0] - 1
            token = self._layers[rounds[0]][token][1]
        path = _remove_loops([*path, token])
        return path if len(path) <= self._max_hops + 1 else []

    def path_to_priced(self, source: int) -> list[int]:
        """`source` and the tokens between it and the nearest one with a value, which ends it; empty without one."""
        way = self._graph.path_to_core(source)
        entries = [k for k, t in enumerate(way) if t in self.values]
        way = way[: entries[0] + 1] if entries else []
        return way if all(j in self._graph.best_rate_out[i] for i, j in pairwise(way)) else []

    @cached_property
    def hops_to_target(self) -> dict[int, int]:
        """The fewest hops to the target from each token that paths may pass through."""
        return {t: hops for hops in range(len(self._layers) - 1, -1, -1) for t in self._layers[hops]}

    def values_within(self, hops: int) -> Values:
        """What a unit of each token in the core can bring over at most `hops` hops: no path from any brings more."""
        return self._values_by_hops[min(hops, len(self._values_by_hops) - 1)]

    @cached_property
    def _values_by_hops(self) -> list[Values]:
        known: list[Values] = [{}]
        for found in self._layers:
            known.append(known[-1] | {t: value for t, (value, _) in found.items()})
        return known[1:]

    def value(self, token: int) -> float:
        """Value of a unit of `token`; 0.0 when no path leads to the target."""
        known = self.values.get(token)
        if known is not None:
            return known
        way = self.path(token)
        if not way:
            return 0.0
        value = 1.0
        for j, i in pairwise(way[::-1]):
            value *= self.rate(i, j)
        return value


def amount_out_for_all(arc: Arc, amount_in: float) -> float:
    """Return what `arc` pays for `amount_in`; 0.0 beyond its capacity, since a router must sell all that it holds."""
    return arc.curve.amount_out(amount_in) if amount_in <= arc.curve.capacity else 0.0


def _rate_for_slice(arc: Arc, amount_in: float) -> float:
    """Return the rate that `arc` offers for `amount_in`, or its first unit's where they are about the same."""
    if not amount_in:
        return arc.rate
    rate = amount_out_for_all(arc, amount_in) / amount_in
    return arc.rate if rate > arc.rate * (1.0 - _RATE_TOLERANCE) else rate


def _remove_loops(walk: list[int]) -> list[int]:
    """The walk with every round trip cut out: arbitrage can make one look profitable."""
    path: list[int] = []
    for token in walk:
        if token in path:
            del path[path.index(token) + 1 :]
        else:
            path.append(token)
    return path
