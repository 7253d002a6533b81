"""The market at the scale of an order: without pools that are dust to it, however good their rates.

A pool is dust to an order if it pays next to nothing for a slice of it. Anybody can create such a pool at any price, so
none of them may set a price or lead the search.

Reference values convert a slice of the order into other tokens. They come from the deepest pools, as dollar prices do,
and only their order of magnitude matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import floor, log
from typing import NamedTuple, TypeVar

from swapcli.routing.graph.market_graph import Arc, Graph
from swapcli.routing.graph.spot_prices import SpotPrices, amount_out

SLICE = 1e-3
"""Of an order. Rounded down to a step it is about what a detour must carry to be worth a look."""

_DUST = 0.1
"""Of a slice: a pool that pays less for one is dust, and so is a token of which no path sells a slice for as much."""

_STEP = 16.0  # between slices that are told apart: orders of about one size share their prices
_ABOVE = 1.0 + 1e-9
_LARGE_SLICE = 0.1  # of an order: what small pools cannot pay shows over larger ones
_DRAINED = 0.1  # of an order's worth: where no path pays more, slices are of what is paid
_KEPT_GRAPHS = 8  # by slice
_KEPT = 128  # prices by target, limit of hops and slice

_K = TypeVar("_K")
_V = TypeVar("_V")


class ScaledMarket(NamedTuple):
    """A graph without what is dust to an order, and the spot prices of a slice of that order."""

    graph: Graph
    spot: SpotPrices


class OrderScales:
    """Gives each order its scaled market, and keeps them for orders of about the same size into the same token."""

    def __init__(self, graph: Graph, reference_values: Callable[[], Mapping[int, float]]) -> None:
        """`reference_values` gives the value of a base unit by token, all in the same unit."""
        self.graph = graph
        self._reference_values = reference_values
        self._prices: dict[tuple[int, int, float], SpotPrices] = {}
        self._paying_graphs: dict[float, Graph] = {}
        self._scaled: dict[tuple[int, int, float], ScaledMarket] = {}

    def scaled(self, source: int, target: int, amount: float, max_hops: int) -> ScaledMarket:
        """Return the market at the scale of an order that sells `amount` base units of `source` for `target`."""
        values = self._reference_values()
        if source not in values or target not in values:
            return self._at(source, target, max_hops, 0.0)
        worth = amount * values[source]
        paid = 0.0
        for part in (SLICE, _LARGE_SLICE):
            path = self._spot(target, max_hops, _rounded(worth * part)).path(source)
            paid = max(paid, self._path_output(path, amount) * values[target])
            if paid >= worth * _DRAINED:
                return self._at(source, target, max_hops, worth)
        return self._at(source, target, max_hops, paid)

    def value(self, token: int, target: int, amount: float, max_hops: int) -> float:
        """Return what a base unit of `token` is worth in units of `target` where `amount` of it is sold."""
        return 1.0 if token == target else self.scaled(token, target, amount, max_hops).spot.value(token)

    def equal_amount(self, amount: int, token: int, other: int) -> int:
        """Return about how much of `other` is worth as much as `amount` of `token`; 1 where nobody knows."""
        values = self._reference_values()
        return max(1, int(amount * values[token] / values[other])) if token in values and other in values else 1

    def spot(self, target: int, max_hops: int) -> SpotPrices:
        """Return the spot prices of vanishing orders."""
        return self._spot(target, max_hops, 0.0)

    def _at(self, source: int, target: int, max_hops: int, worth: float) -> ScaledMarket:
        """Return the market at the scale of orders that are worth about `worth` in reference values; of vanishing ones
        where that is 0.0."""
        slice_worth = _rounded(worth * SLICE)
        spot = self._spot(target, max_hops, slice_worth)
        if spot.is_dust(source, _DUST):
            # Its own pools are all that there is, or its reference value is wrong.
            return ScaledMarket(self.graph, SpotPrices(self.graph, target, max_hops, spot.slices))
        key = (target, max_hops, slice_worth)
        scaled = self._scaled.get(key)
        if scaled is None:
            scaled = self._scaled[key] = ScaledMarket(without_dust(self._paying(slice_worth), spot), spot)
            drop_oldest(self._scaled, _KEPT)
        return scaled

    def _spot(self, target: int, max_hops: int, slice_worth: float) -> SpotPrices:
        key = (target, max_hops, slice_worth)
        spot = self._prices.get(key)
        if spot is None:
            slices = None
            if slice_worth:
                slices = {token: max(slice_worth / value, 1.0) for token, value in self._reference_values().items()}
            spot = self._prices[key] = SpotPrices(self._paying(slice_worth), target, max_hops, slices)
            drop_oldest(self._prices, _KEPT)
        return spot

    def _paying(self, slice_worth: float) -> Graph:
        """Return the graph without the directions of pools that pay less than dust for a slice at reference values."""
        graph = self._paying_graphs.get(slice_worth)
        if graph is None:
            values = self._reference_values() if slice_worth else {}
            graph = self._paying_graphs[slice_worth] = _that_pay(self.graph, values, slice_worth)
            drop_oldest(self._paying_graphs, _KEPT_GRAPHS)
        return graph

    def _path_output(self, path: list[int], amount: float) -> float:
        """Return what the best pool of each hop pays one after the other; a pool takes no more than its capacity."""
        for i, j in pairwise(path):
            amount = max(arc.curve.amount_out(amount) for arc in self.graph.pairs[i][j])
        return amount if path else 0.0


def _that_pay(graph: Graph, values: Mapping[int, float], slice_worth: float) -> Graph:
    """Return `graph` without the arcs that pay less than dust for a slice; tokens without a value keep theirs."""
    narrowed: dict[tuple[int, int], tuple[list[Arc], float]] = {}
    for i, row in enumerate(graph.pairs):
        value_in = values.get(i)
        if not value_in:
            continue
        amount_in = max(slice_worth / value_in, 1.0)
        for j, arcs in row.items():
            value_out = values.get(j)
            if not value_out:
                continue
            least = _DUST * amount_in * value_in / value_out
            paying = [
                arc
                for arc in arcs
                # At a bad price, a pool that pays enough for the whole order can still be the one that takes the rest.
                if arc.curve.amount_out(amount_in) >= least or arc.curve.amount_out(amount_in / SLICE) >= least
            ]
            if len(paying) < len(arcs):
                narrowed[i, j] = (paying, paying[0].rate if paying else 0.0)
    return graph.narrowed(narrowed) if narrowed else graph


def without_dust(graph: Graph, spot: SpotPrices) -> Graph:
    """Return `graph` without the directions of pools that are dust, as far as they offer more than spot prices.

    The best rates of such pairs are then those of a slice.
    """
    if spot.slices is None:
        return graph
    narrowed: dict[tuple[int, int], tuple[list[Arc], float]] = {}
    for j, value_out in spot.values.items():
        least = _DUST * spot.slices[spot.target] / value_out
        for i, rate in graph.best_into[j].items():
            if rate * value_out > spot.values.get(i, 0.0) * _ABOVE and spot.allows(i):
                amount_in = spot.slices.get(i, 0.0)
                arcs = [arc for arc in graph.pairs[i][j] if amount_in and amount_out(arc, amount_in) >= least]
                narrowed[i, j] = (arcs, spot.rate(i, j))
    return graph.narrowed(narrowed) if narrowed else graph


def _rounded(worth: float) -> float:
    """Round down to a power of the step; 0.0 stays."""
    return _STEP ** floor(log(worth, _STEP)) if worth > 0.0 else 0.0


def drop_oldest(cache: dict[_K, _V], keep: int) -> None:
    """Drop the entries that were added first until `keep` are left."""
    while len(cache) > keep:
        del cache[next(iter(cache))]
