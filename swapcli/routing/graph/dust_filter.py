"""The market without dust: pools that pay next to nothing for an order of a given size, however good their spot rates.

A pool is dust to an order if it pays next to nothing for a slice of it. Anyone can create such a pool at any price, so
that none may set a price or lead the search.

Reference values convert a slice of the order into other tokens. They come from the deepest pools, as dollar prices do;
only their order of magnitude matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from math import floor, inf, log
from typing import TypeVar

from swapcli.model.pool import RateCurve
from swapcli.records import NamedTuple
from swapcli.routing.graph.digraph import TokenPair
from swapcli.routing.graph.market_graph import Arc, MarketGraph
from swapcli.routing.graph.spot_prices import Slices, SpotPrices, amount_out_for_all

SLICE_FRACTION = 1e-3
"""A slice is this part of an order. Rounded down to a step, it is about the least flow of a detour that the search
considers."""

_DUST_FRACTION = 0.1
"""A pool that pays less than this part of a slice's value is dust, and so is a token that no path sells for as much.
One order of magnitude: reference values are no more accurate."""

_SLICE_STEP = 16.0  # slices are rounded to powers of it, so that orders of similar size share prices. Empirical
_ROUNDING_MARGIN = 1.0 + 1e-9  # a rate above spot prices by less is a rounding error
_LARGE_SLICE_FRACTION = 0.1  # of an order: where small pools cannot pay, it leads over larger ones
_DRAINED_FRACTION = 0.1  # of an order's value: where no path pays more, slices are parts of what is paid
_MAX_CACHED_GRAPHS = 12  # one per size of slice: twelve cover a factor of 16^12, from dust to the largest orders
_MAX_CACHED_PRICES = 128  # entries by target, hop limit and slice; bounds the memory of a long-running service

_MAX_CHANGED_PAIRS_PER_TOKEN = 1.0  # beyond it, filtering the whole graph takes about as long. Empirical

_K = TypeVar("_K")
_V = TypeVar("_V")


class FilteredMarket(NamedTuple):
    """A graph without the dust for an order, and the spot prices for a slice of that order."""

    graph: MarketGraph
    spot: SpotPrices


class SliceMarket(NamedTuple):
    """What all orders with slices of one reference value share: the graph without arcs that pay next to nothing for
    them, the slices, a cache of the rates for them, and the reference values; None for infinitely small slices."""

    graph: MarketGraph
    slices: Slices | None
    rates: dict[TokenPair, float]
    values: Mapping[int, float]


class FormerSliceMarket(NamedTuple):
    """That of former state, and the pairs of tokens whose arcs have changed since."""

    market: SliceMarket
    changed_pairs: frozenset[TokenPair]


class DustFilter:
    """Builds and caches the filtered markets of orders of similar size into the same token."""

    def __init__(
        self,
        graph: MarketGraph,
        reference_values: Callable[[], Mapping[int, float]],
        paid_slices: PaidSlices | None = None,
        former: Mapping[float, FormerSliceMarket] | None = None,
    ) -> None:
        """Filter `graph`. `reference_values` returns the value of a base unit by token, all in the same unit.

        `paid_slices` are shared by filters of the same arcs and reference values. `former` comes from the filter of a
        former state of the graph, and saves most of the work.
        """
        self.graph = graph
        self.paid_slices = PaidSlices() if paid_slices is None else paid_slices
        self._reference_values = reference_values
        self._former = dict(former or {})
        self._spot_prices: dict[tuple[int, int, float], SpotPrices] = {}
        self._slice_markets: dict[float, SliceMarket] = {}
        self._filtered_markets: dict[tuple[int, int, float, bool], FilteredMarket] = {}

    @property
    def is_used(self) -> bool:
        """Whether an order has used the filter."""
        return bool(self._slice_markets)

    def former_for(self, changed_pairs: frozenset[TokenPair]) -> dict[float, FormerSliceMarket]:
        """Return what this filter knows for one whose graph has other arcs for `changed_pairs`."""
        # `copy` is atomic: other threads may be adding to these caches.
        known = {value: (former.market, former.changed_pairs) for value, former in self._former.copy().items()}
        known |= {value: (market, frozenset()) for value, market in self._slice_markets.copy().items()}
        max_pairs = _MAX_CHANGED_PAIRS_PER_TOKEN * len(self.graph.addresses)
        former = {value: FormerSliceMarket(market, pairs | changed_pairs) for value, (market, pairs) in known.items()}
        return {value: each for value, each in former.items() if len(each.changed_pairs) <= max_pairs}

    def filtered_market(self, source: int, target: int, amount: float, max_hops: int) -> FilteredMarket:
        """Return the market for an order that sells `amount` base units of `source` for `target`."""
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
        """Return the value of a base unit of `token` in units of `target` when `amount` of it is sold."""
        return 1.0 if token == target else self.filtered_market(token, target, amount, max_hops).spot.value(token)

    def equivalent_amount(self, amount: int, token: int, other_token: int) -> int:
        """Return about how much of `other_token` has the value of `amount` of `token`; 1 where unknown."""
        values = self._reference_values()
        return (
            max(1, int(amount * values[token] / values[other_token]))
            if token in values and other_token in values
            else 1
        )

    def spot_prices(self, target: int, max_hops: int) -> SpotPrices:
        """Return the spot prices of infinitely small orders."""
        return self._slice_prices(target, max_hops, 0.0)

    def _market_at(self, source: int, target: int, max_hops: int, order_value: float) -> FilteredMarket:
        """Return the market for orders of about `order_value` in reference values; 0.0 stands for infinitely small."""
        slice_value = _round_to_step(order_value * SLICE_FRACTION)
        spot = self._slice_prices(target, max_hops, slice_value)
        # Else only dust pools trade the source, or its reference value is wrong.
        is_filtered = not spot.is_dust(source, _DUST_FRACTION)
        key = (target, max_hops, slice_value, is_filtered)
        market = self._filtered_markets.get(key)
        if market is None:
            if is_filtered:
                market = FilteredMarket(drop_dust(self._slice_market(slice_value).graph, spot), spot)
            else:
                market = FilteredMarket(self.graph, SpotPrices(self.graph, target, max_hops, spot.slices))
            self._filtered_markets[key] = market
            drop_oldest(self._filtered_markets, _MAX_CACHED_PRICES)
        return market

    def _slice_prices(self, target: int, max_hops: int, slice_value: float) -> SpotPrices:
        key = (target, max_hops, slice_value)
        spot = self._spot_prices.get(key)
        if spot is None:
            market = self._slice_market(slice_value)
            spot = SpotPrices(market.graph, target, max_hops, market.slices, known_rates=market.rates)
            self._spot_prices[key] = spot
            drop_oldest(self._spot_prices, _MAX_CACHED_PRICES)
        return spot

    def _slice_market(self, slice_value: float) -> SliceMarket:
        """Return the market of slices of that reference value; 0.0 stands for infinitely small ones."""
        found = self._slice_markets.get(slice_value)
        if found is None:
            values = self._reference_values() if slice_value else {}
            former = self._former.pop(slice_value, None)
            found = self._update(former, slice_value, values) if former else None
            if found is None:
                graph = _drop_low_paying(self.graph, values, slice_value, self.paid_slices)
                found = SliceMarket(graph, _slices(values, slice_value), {}, values)
            self._slice_markets[slice_value] = found
            drop_oldest(self._slice_markets, _MAX_CACHED_GRAPHS)
        return found

    def _update(self, former: FormerSliceMarket, slice_value: float, values: Mapping[int, float]) -> SliceMarket | None:
        """Return the market of former state as it is now; None if too much has changed.

        What depends on the arcs of changed pairs, and on tokens with another reference value, is computed again.
        """
        graph, before = self.graph, former.market
        if graph.addresses != before.graph.addresses or not graph.has_core_of(before.graph):
            return None
        tokens = {token for token, _ in values.items() ^ before.values.items()}
        pairs = former.changed_pairs.union(
            ((token, other) for token in tokens for other in graph.best_rate_out[token]),
            ((other, token) for token in tokens for other in graph.best_rate_in[token]),
        )
        if len(pairs) > _MAX_CHANGED_PAIRS_PER_TOKEN * len(graph.addresses):
            return None
        pays = partial(_pays_at, values, slice_value, self.paid_slices)
        rates = before.rates.copy()
        for pair in pairs:
            rates.pop(pair, None)
        return SliceMarket(before.graph.with_pairs_of(graph, pairs, pays), _slices(values, slice_value), rates, values)

    def _best_output_along(self, path: list[int], amount: float) -> float:
        """Return what the best pool of each hop on `path` pays in turn; a pool takes no more than its capacity."""
        for i, j in pairwise(path):
            amount_in, amount = amount, 0.0
            for arc in self.graph.arcs_by_pair[i][j]:
                if amount_in * arc.rate <= amount:
                    break
                amount = max(amount, arc.curve.amount_out(amount_in))
        return amount if path else 0.0


class PaidSlices:
    """Knows for which slices arcs pay enough, from those tried: a pool that pays for one pays for any smaller one."""

    def __init__(self) -> None:
        self._paid: dict[int, float] = {}
        self._unpaid: dict[int, float] = {}

    def pays(self, arc: Arc, slice_value: float, value_in: float, value_out: float) -> bool:
        """Return whether `arc` pays enough for a slice, as `pays_for_slice`, at the reference values of its tokens."""
        number = id(arc)
        if slice_value <= self._paid.get(number, 0.0):
            return True
        if slice_value >= self._unpaid.get(number, inf):
            return False
        pays = pays_for_slice(arc.curve, max(slice_value / value_in, 1.0), value_in / value_out)
        (self._paid if pays else self._unpaid)[number] = slice_value
        return pays


def _slices(values: Mapping[int, float], slice_value: float) -> Slices | None:
    """Return the slices of that reference value; None if they are infinitely small."""
    return {token: max(slice_value / value, 1.0) for token, value in values.items()} if slice_value else None


def _drop_low_paying(
    graph: MarketGraph, values: Mapping[int, float], slice_value: float, paid_slices: PaidSlices
) -> MarketGraph:
    """Return `graph` without the arcs that pay next to nothing for a slice; tokens without a value keep theirs."""
    replacements: dict[TokenPair, tuple[list[Arc], float]] = {}
    for i, row in enumerate(graph.arcs_by_pair):
        value_in = values.get(i)
        if not value_in:
            continue
        for j, arcs in row.items():
            value_out = values.get(j)
            if not value_out:
                continue
            paying = [arc for arc in arcs if paid_slices.pays(arc, slice_value, value_in, value_out)]
            if len(paying) < len(arcs):
                replacements[i, j] = (paying, paying[0].rate if paying else 0.0)
    return graph.with_arcs(replacements) if replacements else graph


def _pays_at(values: Mapping[int, float], slice_value: float, paid_slices: PaidSlices, arc: Arc) -> bool:
    """Return whether `_drop_low_paying` leaves `arc`."""
    value_in, value_out = values.get(arc.token_in), values.get(arc.token_out)
    return not value_in or not value_out or paid_slices.pays(arc, slice_value, value_in, value_out)


def pays_for_slice(curve: RateCurve, amount_in: float, rate: float) -> bool:
    """Return whether a direction of a pool pays enough for a slice of an order; `rate` is that of reference values."""
    min_amount_out = _DUST_FRACTION * amount_in * rate
    # A pool at a bad price that pays enough for the whole order may still have to take its rest.
    return (
        curve.amount_out(amount_in) >= min_amount_out or curve.amount_out(amount_in / SLICE_FRACTION) >= min_amount_out
    )


def drop_dust(graph: MarketGraph, spot: SpotPrices) -> MarketGraph:
    """Return `graph` without the dust arcs that offer more than spot prices.

    The best rates of such pairs become those for a slice.
    """
    if spot.slices is None:
        return graph
    replacements: dict[tuple[int, int], tuple[list[Arc], float]] = {}
    for j, value_out in spot.values.items():
        min_amount_out = _DUST_FRACTION * spot.slices[spot.target] / value_out
        for i, rate in spot.rates_into(j).items():
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
    """Round down to a power of the step; leave 0.0."""
    return _SLICE_STEP ** floor(log(value, _SLICE_STEP)) if value > 0.0 else 0.0


def drop_oldest(cache: dict[_K, _V], max_entries: int) -> None:
    """Remove the oldest entries until `max_entries` are left."""
    while len(cache) > max_entries:
        del cache[next(iter(cache))]
