"""Spot prices for an order: what one unit of each token brings in the output token over the best single path.

At spot prices no pool has a profitable trade, which makes them a feasible starting point for the solver. Layered
relaxation from the output token finds them, one layer per hop.

The rate of a pool's first unit says nothing about the pool's depth: anyone can create a pool worth a millionth of a
cent at any price. Therefore the graph of an order has best rates for a slice of it; see `dust_filter`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from heapq import nlargest
from itertools import pairwise
from math import inf

from swapcli.core.routing.graph.best_paths import best_labels, relax_layers
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph, Prices

Slices = Mapping[int, float]
"""Base units of each token that have about the same value."""

_Label = tuple[float, int]
"""(value of a unit, next token on the path)."""

_VERIFY_ABOVE = 2.0
"""Multiple of a slice's reference value: a path that pays more is verified by selling the slice along it. Reference
values are only orders of magnitude, and such a path is likely to misprice a token."""
_MAX_FRONT = 16  # tokens extended per hop in a search for a path. Empirical
_RATE_TOLERANCE = 1e-2
"""Pools whose rate a slice lowers by less count with their spot rate, so that small orders of any size share prices."""


class SpotPrices:
    """`values[t]` is the value of a unit of token t in units of `target`, over at most `max_hops` hops.

    No path that can carry a slice of each of its tokens pays more for a unit.

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

        With `slices`, for which `graph` has the best rates, no path passes through tokens without a slice. None stands
        for infinitely small slices. No path passes through `avoided_tokens`.
        """
        self._graph, self.target, self._max_hops, self._avoided_tokens = graph, target, max_hops, avoided_tokens
        self.slices = slices
        self._path_to_core = frozenset(graph.path_to_core(target))
        self._excluded = avoided_tokens | {target}
        self.values: Prices = {target: 1.0}
        # The same in a list, which is faster: nothing is better for excluded tokens.
        self._best_values = [0.0] * len(graph.addresses)
        for t in self._excluded:
            self._best_values[t] = inf
        self._layers: list[dict[int, _Label]] = [{target: (1.0, target)}]
        for layer in relax_layers(self._layers[0], max_hops, self._extend):
            self._layers.append(layer)
        del self._best_values

    def _extend(self, front: Mapping[int, _Label], _: int) -> dict[int, _Label]:
        """Return the better labels that one more hop gives, and record their values."""
        values, best, slices = self.values, self._best_values, self.slices or {}
        max_slice_value = _VERIFY_ABOVE * slices[self.target] if slices else inf
        path_to_core, core_rate_in = self._path_to_core, self._graph.core_rate_in
        improved: dict[int, _Label] = {}
        for j, (value_j, _) in front.items():
            path_j: list[int] = []
            for i, rate in (self.rates_into(j) if j in path_to_core else core_rate_in[j]).items():
                value = value_j * rate
                if value > best[i]:
                    if value * slices.get(i, inf) > max_slice_value:
                        path_j = path_j or self.path(j)
                        value = self._verified_value(i, path_j, value)
                        if value <= best[i]:
                            continue
                    improved[i] = (value, j)
                    values[i] = best[i] = value
        return improved

    def _verified_value(self, i: int, path: list[int], value: float) -> float:
        """Return the value of a unit of i when a slice of it is sold for a token and along its `path`, or `value`."""
        slice_in = (self.slices or {}).get(i, 0.0)
        return min(value, self.sell_along(slice_in, [i, *path]) / slice_in) if slice_in else 0.0

    def rates_into(self, token: int) -> Mapping[int, float]:
        """Return the best rates into `token` from tokens that paths may pass through, and perhaps from others."""
        if token not in self._path_to_core:
            return self._graph.core_rate_in[token]
        core, path = self._graph.two_core, self._path_to_core
        return {i: rate for i, rate in self._graph.best_rate_in[token].items() if i in core or i in path}

    def sell_along(self, amount: float, path: list[int]) -> float:
        """Return what `amount` brings when the best pool of each hop on `path` sells all of it."""
        for i, j in pairwise(path):
            amount_in, amount = amount, 0.0
            for arc in self._graph.arcs_by_pair[i][j]:
                if amount_in * arc.rate <= amount:
                    break
                amount = max(amount, amount_out_for_all(arc, amount_in))
        return amount

    def best_output(self, source: int, amount: float, known: float) -> float:
        """Return about the most that `amount` of `source` brings when one pool per hop sells as much of it as it takes.

        At least `known`, which is what some path brings. Branch and bound: prices bound what the rest of a path pays.
        Each hop extends only the most valuable tokens.
        """
        path = self.path_to_priced(source)
        graph, target, hops_left, best_so_far = self._graph, self.target, self._max_hops - len(path) + 1, known
        if not path or hops_left < 0:
            return known
        amount = best_payment_along(graph, path, amount)
        if path[-1] == target:
            return max(known, amount)

        def extend(front: Mapping[int, float], best: Mapping[int, float], hop: int) -> dict[int, float]:
            nonlocal best_so_far
            values = self.values_within(hops_left - hop - 1)
            values_here = self.values_within(hops_left - hop)
            improved: dict[int, float] = {}
            for i in nlargest(_MAX_FRONT, front, key=lambda i: front[i] * values_here.get(i, 0.0)):
                amount_in, arcs = front[i], graph.arcs_by_pair[i]
                for j, rate in graph.best_rate_out[i].items() if i != target else ():
                    value = values.get(j)
                    if not value or amount_in * rate * value <= best_so_far:
                        continue
                    to_beat = max(best_so_far / value, best.get(j, 0.0), improved.get(j, 0.0))
                    amount_out = best_payment(arcs[j], amount_in) if amount_in * rate > to_beat else 0.0
                    if amount_out > to_beat:
                        improved[j] = amount_out
                        if j == target:
                            best_so_far = amount_out
            return improved

        best_labels({path[-1]: amount}, hops_left, extend)
        return best_so_far

    def is_dust(self, token: int, min_fraction: float) -> bool:
        """Return whether no path sells a slice of `token` for at least `min_fraction` of a slice of the target."""
        if self.slices is None or token == self.target:
            return False
        return self.value(token) * self.slices.get(token, 0.0) < min_fraction * self.slices[self.target]

    def allows(self, token: int) -> bool:
        """Return whether paths may pass through `token`."""
        return token not in self._excluded and (token in self._graph.two_core or token in self._path_to_core)

    def path(self, source: int) -> list[int]:
        """Return the tokens of the best path from `source` to the target, both included; empty if there is none."""
        path = self.path_to_priced(source)
        if not path or self._avoided_tokens.intersection(path[1:]):
            return []
        token = path.pop()
        hops = min(len(self._layers) - 1, self._max_hops - len(path))
        while token != self.target:
            while hops > 0 and token not in self._layers[hops]:
                hops -= 1
            if hops <= 0:
                return []
            path.append(token)
            token = self._layers[hops][token][1]
            hops -= 1
        path = _remove_loops([*path, token])
        return path if len(path) <= self._max_hops + 1 else []

    def path_to_priced(self, source: int) -> list[int]:
        """Return `source` and the tokens up to the nearest one with a value; empty if there is none."""
        path = self._graph.path_to_core(source)
        priced = [k for k, t in enumerate(path) if t in self.values]
        path = path[: priced[0] + 1] if priced else []
        return path if all(j in self._graph.best_rate_out[i] for i, j in pairwise(path)) else []

    @cached_property
    def hops_to_target(self) -> dict[int, int]:
        """The fewest hops to the target from each token that paths may pass through."""
        return {t: hops for hops in range(len(self._layers) - 1, -1, -1) for t in self._layers[hops]}

    def values_within(self, hops: int) -> Prices:
        """Return an upper bound on what a unit of each token in the core brings over at most `hops` hops."""
        return self._values_by_hops[min(hops, len(self._values_by_hops) - 1)]

    @cached_property
    def _values_by_hops(self) -> list[Prices]:
        values: list[Prices] = [{}]
        for layer in self._layers:
            values.append(values[-1] | {t: value for t, (value, _) in layer.items()})
        return values[1:]

    def value(self, token: int) -> float:
        """Return the value of a unit of `token`; 0.0 when no path leads to the target."""
        value = self.values.get(token)
        if value is not None:
            return value
        path = self.path(token)
        if not path:
            return 0.0
        value = 1.0
        for i, j in pairwise(path):
            value *= self._graph.best_rate_out[i][j] if self.slices is None or i in self.slices else 0.0
        return value


def best_payment(arcs: Iterable[Arc], amount_in: float) -> float:
    """Return what the best of the arcs of a pair pays; each takes no more than its capacity."""
    most = 0.0
    for arc in arcs:
        if amount_in * arc.rate <= most:
            break
        most = max(most, arc.curve.amount_out(amount_in))
    return most


def best_payment_along(graph: MarketGraph, path: list[int], amount: float) -> float:
    """Return what the best pool of each hop on `path` pays in turn; 0.0 for an empty path."""
    for i, j in pairwise(path):
        amount = best_payment(graph.arcs_by_pair[i][j], amount)
    return amount if path else 0.0


def amount_out_for_all(arc: Arc, amount_in: float) -> float:
    """Return what `arc` pays for `amount_in`; 0.0 beyond its capacity, since a router must sell all of it.

    A pool whose rate hardly falls takes all: its capacity takes longer to find than what it pays.
    """
    amount_out = arc.curve.amount_out(amount_in)
    return amount_out if is_at_spot_rate(arc, amount_in, amount_out) or amount_in <= arc.curve.capacity else 0.0


def is_at_spot_rate(arc: Arc, amount_in: float, amount_out: float) -> bool:
    """Return whether the rate of a trade of `arc` is about its spot rate."""
    return amount_out > arc.rate * amount_in * (1.0 - _RATE_TOLERANCE)


def _remove_loops(walk: list[int]) -> list[int]:
    """Return the walk without round trips, which arbitrage can make look profitable."""
    path: list[int] = []
    for token in walk:
        if token in path:
            del path[path.index(token) + 1 :]
        else:
            path.append(token)
    return path
