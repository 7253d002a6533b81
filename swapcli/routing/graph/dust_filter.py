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

from swapcli.routing.graph.market_graph import Arc, MarketGraph
from swapcli.routing.graph.spot_prices import SpotPrices, amount_out_for_all

SLICE_FRACTION = 1e-3
"""Of an order. Rounded down to a step it is about what a detour must carry to be worth a look."""

_DUST_FRACTION = 0.1
"""Of a slice: a pool that pays less for one is dust, and so is a token of which no path sells a slice for as much."""

_SLICE_STEP = 16.0  # between slices that are told apart: orders of about one size share their prices
_ROUNDING_MARGIN = 1.0 + 1e-9
_LARGE_SLICE_FRACTION = 0.1  # of an order: what small pools cannot pay shows over larger ones
_DRAINED_FRACTION = 0.1  # of an order's worth: where no path pays more, slices are of what is paid
_MAX_CACHED_GRAPHS = 8  # by slice
_MAX_CACHED_PRICES = 128  # prices by target, limit of hops and slice

_K = TypeVar("_K")
_V = TypeVar("_V")


class FilteredMarket(NamedTuple):
    """A graph without what is dust to an order, and the spot prices of a slice of that order."""

    graph: MarketGraph
    spot: SpotPrices


class DustFilter:
    """Gives each order its scaled market, and keeps them for orders of about the same size into the same token."""

    def __init__(self, graph: MarketGraph, reference_values: Callable[[], Mapping[int, float]]) -> None:
        """`reference_values` gives the value of a base unit by token, all in the same unit."""
        self.graph = graph
        self._reference_values = reference_values
        self._spot_prices: dict[tuple[int, int, float], SpotPrices] = {}
        self._graphs: dict[float, MarketGraph] = {}
        self._filtered_markets: dict[tuple[int, int, float], FilteredMarket] = {}

    def filtered_market(self, source: int, target: int, amount: float, max_hops: int) -> FilteredMarket:
        """Return the market at the scale of an order that sells `amount` base units of `source` for `target`."""
        values = self._reference_values()
        if source not in values or target not in values:
            return self._market_at(source, target, max_hops, 0.0)
        order_value = amount * values[source]
        value_out = 0.0
        for part in (SLICE_FRACTION, _LARGE_SLICE_FRACTION):
            path = self._slice_prices(target, max_hops, _round_to_step(order_value * part)).path(source)
            value_out = max(value_out, self._best_output_along(path, amount) * values[target])
            if value_out >= order_value * _DRAINED_FRACTION:
                return self._market_at(source, target, max_hops, order_value)
        return self._market_at(source, target, max_hops, value_out)

    def token_value(self, token: int, target: int, amount: float, max_hops: int) -> float:
        """Return what a base unit of `token` is worth in units of `target` where `amount` of it is sold."""
        return 1.0 if token == target else self.filtered_market(token, target, amount, max_hops).spot.value(token)

    def equivalent_amount(self, amount: int, token: int, other_token: int) -> int:
        """Return about how much of `other` is worth as much as `amount` of `token`; 1 where nobody knows."""
        values = self._reference_values()
        return (
            max(1, int(amount * values[token] / values[other_token]))
            if token in values and other_token in values
            else 1
        )

    def spot_prices(self, target: int, max_hops: int) -> SpotPrices:
        """Return the spot prices of vanishing orders."""
        return self._slice_prices(target, max_hops, 0.0)

    def _market_at(self, source: int, target: int, max_hops: int, order_value: float) -> FilteredMarket:
        """Return the market at the scale of orders that are worth about `worth` in reference values; of vanishing ones
        where that is 0.0."""
        slice_value = _round_to_step(order_value * SLICE_FRACTION)
        spot = self._slice_prices(target, max_hops, slice_value)
        if spot.is_dust(source, _DUST_FRACTION):
            # Its own pools are all that there is, or its reference value is wrong.
            return FilteredMarket(self.graph, SpotPrices(self.graph, target, max_hops, spot.slices))
        key = (target, max_hops, slice_value)
        market = self._filtered_markets.get(key)
        if market is None:
            market = self._filtered_markets[key] = FilteredMarket(
                drop_dust(self._graph_for_slice(slice_value), spot), spot
            )
            drop_oldest(self._filtered_markets, _MAX_CACHED_PRICES)
        return market

    def _slice_prices(self, target: int, max_hops: int, slice_value: float) -> SpotPrices:
        key = (target, max_hops, slice_value)
        spot = self._spot_prices.get(key)
        if spot is None:
            slices = None
            if slice_value:
                slices = {token: max(slice_value / value, 1.0) for token, value in self._reference_values().items()}
            spot = self._spot_prices[key] = SpotPrices(self._graph_for_slice(slice_value), target, max_hops, slices)
            drop_oldest(self._spot_prices, _MAX_CACHED_PRICES)
        return spot

    def _graph_for_slice(self, slice_value: float) -> MarketGraph:
        """Return the graph without the directions of pools that pay less than dust for a slice at reference values."""
        graph = self._graphs.get(slice_value)
        if graph is None:
            values = self._reference_values() if slice_value else {}
            graph = self._graphs[slice_value] = _drop_low_paying(self.graph, values, slice_value)
            drop_oldest(self._graphs, _MAX_CACHED_GRAPHS)
        return graph

    def _best_output_along(self, path: list[int], amount: float) -> float:
        """Return what the best pool of each hop pays one after the other; a pool takes no more than its capacity."""
        for i, j in pairwise(path):
            amount = max(arc.curve.amount_out(amount) for arc in self.graph.arcs_by_pair[i][j])
        return amount if path else 0.0


def _drop_low_paying(graph: MarketGraph, values: Mapping[int, float], slice_value: float) -> MarketGraph:
    """Return `graph` without the arcs that pay less than dust for a slice; tokens without a value keep theirs."""
    replacements: dict[tuple[int, int], tuple[list[Arc], float]] = {}
    for i, row in enumerate(graph.arcs_by_pair):
        value_in = values.get(i)
        if not value_in:
            continue
        amount_in = max(slice_value / value_in, 1.0)
        for j, arcs in row.items():
            value_out = values.get(j)
            if not value_out:
                continue
            min_amount_out = _DUST_FRACTION * amount_in * value_in / value_out
            paying = [
                arc
                for arc in arcs
                # At a bad price, a pool that pays enough for the whole order can still be the one that takes the rest.
                if arc.curve.amount_out(amount_in) >= min_amount_out
                or arc.curve.amount_out(amount_in / SLICE_FRACTION) >= min_amount_out
            ]
            if len(paying) < len(arcs):
                replacements[i, j] = (paying, paying[0].rate if paying else 0.0)
    return graph.with_arcs(replacements) if replacements else graph


def drop_dust(graph: MarketGraph, spot: SpotPrices) -> MarketGraph:
    """Return `graph` without the directions of pools that are dust, as far as they offer more than spot prices.

    The best rates of such pairs are then those of a slice.
    """
    if spot.slices is None:
        return graph
    replacements: dict[tuple[int, int], tuple[list[Arc], float]] = {}
    for j, value_out in spot.values.items():
        min_amount_out = _DUST_FRACTION * spot.slices[spot.target] / value_out
        for i, rate in graph.best_rate_in[j].items():
            if rate * value_out > spot.values.get(i, 0.0) * _ROUNDING_MARGIN and spot.allows(i):
                amount_in = spot.slices.get(i, 0.0)
                arcs = [
                    arc
                    for arc in graph.arcs_by_pair[i][j]
                    if amount_in and amount_out_for_all(arc, amount_in) >= min_amount_out
                ]
                replacements[i, j] = (arcs, spot.rate(i, j))
    return graph.with_arcs(replacements) if replacements else graph


def _round_to_step(value: float) -> float:
    """Round down to a power of the step; 0.0 stays."""
    return _SLICE_STEP ** floor(log(value, _SLICE_STEP)) if value > 0.0 else 0.0


def drop_oldest(cache: dict[_K, _V], max_entries: int) -> None:
    """Drop the entries that were added first until `keep` are left."""
    while len(cache) > max_entries:
        del cache[next(iter(cache))]
