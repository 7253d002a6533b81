"""The market for one order: its pools without dust, and the value of one unit of each token.

A pool is dust for an order if it pays next to nothing for a slice of the order, however good its rate for the first
unit. Anyone can create such a pool at any price, so dust pools must not set prices or guide the search. Reference
values convert a slice of the order into other tokens. Like dollar prices, they come from the deepest pools; only their
order of magnitude matters.

A token's spot price is the amount of the output token that one unit brings over the best single path. At spot prices,
no pool has a profitable trade, which makes them a feasible starting point for the solver. Spot prices are found by
layered relaxation from the output token, one layer per hop, at the best rates for a slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from heapq import nlargest
from itertools import chain, pairwise
from math import floor, inf, log

from swapcli.core.annotations import TypeVar
from swapcli.core.model.pool import RateCurve
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.best_paths import best_labels, relax_layers
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph, Prices

Slices = Mapping[int, float]
"""Amounts of each token, in base units, that have about the same value."""

_Label = tuple[float, int]
"""(value of a unit, next token on the path)."""

_VERIFY_ABOVE = 2.0
"""A multiple of a slice's reference value: a path that pays more is verified by selling the slice along it.

Reference values are only orders of magnitude, and such a path is likely to misprice a token.
"""
_MAX_FRONT = 16  # tokens extended per hop in the search for a path. Empirical
_RATE_TOLERANCE = 1e-2
"""The smallest decrease of a pool's rate by a slice that counts.

Below it, the spot rate is used, so that small orders of any size share prices.
"""

SLICE_FRACTION = 1e-3
"""The fraction of an order that is a slice.

Rounded down to a step, it is about the smallest flow of a detour that the search considers.
"""

_DUST_FRACTION = 0.1
"""A pool is dust if it pays less than this part of a slice's value.

A token is dust if no path sells it for as much. One order of magnitude, since reference values are no more accurate.
"""
_WELL_PAID_FRACTION = 0.5
"""The fraction of a slice's value from which a pool pays well. Such a pool is dust only if spot prices are far from
reference values. Empirical: few pools pay less."""

_SLICE_STEP = 16.0  # slices are rounded to powers of it, so that orders of similar size share prices. Empirical
_ROUNDING_MARGIN = 1.0 + 1e-9  # a rate above spot prices by less than this is a rounding error
_DRAINED_FRACTION = 0.25
"""The fraction of an order's value below which the best single path shows that the order drains its pools.

Its slices are then parts of the output. Empirical: with a tenth, some orders lose up to 5 basis points.
"""
_MAX_CACHED_SLICES = 24  # slice sizes, from dust to the largest orders; most share one graph
_MAX_CACHED_PRICES = 128  # entries by target, hop limit and slice; bounds the memory of a long-running service

_MAX_CHANGED_PAIRS_PER_TOKEN = 1.0  # beyond it, filtering the whole graph takes about as long. Empirical

_K = TypeVar("_K")
_V = TypeVar("_V")


class FilteredMarket(NamedTuple):
    """A graph without the pools that are dust for an order, and the spot prices for a slice of that order."""

    graph: MarketGraph
    spot: SpotPrices


class SliceMarket(NamedTuple):
    """The shared data of all orders with slices of one reference value.

    The best rates of the graph are for a slice, and the graph has no arcs that pay next to nothing for a slice.
    `is_whole` means that `graph` is the whole graph with spot rates. `weak_pairs` have an arc that does not pay well.
    `values` are the reference values. If `slices` is None, slices are infinitely small.
    """

    graph: MarketGraph
    slices: Slices | None
    weak_pairs: frozenset[TokenPair]
    values: Mapping[int, float]
    is_whole: bool


class FormerSliceMarket(NamedTuple):
    """The slice market of an earlier state, and the pairs of tokens whose arcs have changed since."""

    market: SliceMarket
    changed_pairs: frozenset[TokenPair]


class DustFilter:
    """A builder and cache of filtered markets, one for orders of similar size that buy the same token."""

    def __init__(
        self,
        graph: MarketGraph,
        reference_values: Callable[[], Mapping[int, float]],
        paid_slices: PaidSlices | None = None,
        former: Mapping[float, FormerSliceMarket] | None = None,
    ) -> None:
        """Filter `graph`. `reference_values` returns the value of a base unit by token, all in the same unit.

        `paid_slices` are shared by filters of the same arcs and reference values. `former` comes from the filter of an
        earlier state of the graph, and saves most of the work.
        """
        self.graph = graph
        self.paid_slices = PaidSlices() if paid_slices is None else paid_slices
        self._reference_values = reference_values
        self._former = dict(former or {})
        self._spot_prices: dict[tuple[int, int, float], SpotPrices] = {}
        self._slice_markets: dict[float, SliceMarket] = {}
        # Up to these slices, all arcs of a pair, or of the graph, pay well, and the best rate is a spot rate.
        self._slices_at_spot_rates: dict[TokenPair, float] = {}
        self._max_slice_at_spot_rates = 0.0
        self._filtered_markets: dict[tuple[int, int, float, bool], FilteredMarket] = {}

    @property
    def is_used(self) -> bool:
        """Whether an order has used the filter."""
        return bool(self._slice_markets)

    def former_for(self, changed_pairs: frozenset[TokenPair]) -> dict[float, FormerSliceMarket]:
        """Return the slice markets of this filter, for reuse by a filter whose graph has different arcs for
        `changed_pairs`."""
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
        enough = order_value * _DRAINED_FRACTION
        max_value_out = self._max_value_out(source, target, order_value)
        spot = self._slice_prices(target, max_hops, _slice_value(max_value_out))
        amount_out = best_payment_along(self.graph, spot.path(source), amount)
        # Another path matters only if it could change the size of the slices.
        if amount_out * values[target] < enough and _slice_value(amount_out * values[target]) < _slice_value(
            max_value_out
        ):
            amount_out = spot.best_output(source, amount, amount_out)
        value_out = amount_out * values[target]
        return self._market_at(source, target, max_hops, order_value if value_out >= enough else value_out)

    def token_value(self, token: int, target: int, amount: float, max_hops: int) -> float:
        """Return the value of a base unit of `token` in units of `target` when `amount` of it is sold."""
        return 1.0 if token == target else self.filtered_market(token, target, amount, max_hops).spot.value(token)

    def equivalent_amount(self, amount: int, token: int, other_token: int) -> int:
        """Return approximately how much of `other_token` is worth as much as `amount` of `token`; 1 if unknown."""
        values = self._reference_values()
        return (
            max(1, int(amount * values[token] / values[other_token]))
            if token in values and other_token in values
            else 1
        )

    def spot_prices(self, target: int, max_hops: int) -> SpotPrices:
        """Return the spot prices for infinitely small orders."""
        return self._slice_prices(target, max_hops, 0.0)

    def _market_at(self, source: int, target: int, max_hops: int, order_value: float) -> FilteredMarket:
        """Return the market for orders of about `order_value` in reference values; 0.0 means infinitely small."""
        slice_value = _slice_value(order_value)
        spot = self._slice_prices(target, max_hops, slice_value)
        # Otherwise only dust pools trade the source, or its reference value is wrong.
        is_filtered = not spot.is_dust(source, _DUST_FRACTION)
        key = (target, max_hops, slice_value, is_filtered)
        market = self._filtered_markets.get(key)
        if market is None:
            if is_filtered:
                market = FilteredMarket(drop_dust(self._slice_market(slice_value), spot), spot)
            else:
                rates = self._with_slice_rates(slice_value)
                market = FilteredMarket(self.graph, SpotPrices(rates, target, max_hops, spot.slices))
            self._filtered_markets[key] = market
            drop_oldest(self._filtered_markets, _MAX_CACHED_PRICES)
        return market

    def _slice_prices(self, target: int, max_hops: int, slice_value: float) -> SpotPrices:
        key = (target, max_hops, slice_value)
        spot = self._spot_prices.get(key)
        if spot is None:
            market = self._slice_market(slice_value)
            spot = SpotPrices(market.graph, target, max_hops, market.slices)
            self._spot_prices[key] = spot
            drop_oldest(self._spot_prices, _MAX_CACHED_PRICES)
        return spot

    def _slice_market(self, slice_value: float) -> SliceMarket:
        """Return the market of slices with that reference value; 0.0 means infinitely small ones."""
        found = self._slice_markets.pop(slice_value, None)
        if found is None:
            values = self._reference_values() if slice_value else {}
            former = self._former.pop(slice_value, None)
            found = (self._update(former, slice_value, values) if former else None) or self._filter(slice_value, values)
        self._slice_markets[slice_value] = found  # last, as the most recently used
        drop_oldest(self._slice_markets, _MAX_CACHED_SLICES)
        return found

    def _filter(self, slice_value: float, values: Mapping[int, float]) -> SliceMarket:
        """Return the market of slices with that reference value."""
        slices = _slices(values, slice_value)
        if slices is None or slice_value <= self._max_slice_at_spot_rates:
            return SliceMarket(self.graph, slices, frozenset(), values, is_whole=True)
        pairs = SlicePairs(self.paid_slices, slice_value, slices, values)
        replacements: dict[TokenPair, tuple[list[Arc], float]] = {}
        known = self._slices_at_spot_rates
        for i, row in enumerate(self.graph.arcs_by_pair):
            for j, arcs in row.items():
                pair = (i, j)
                if slice_value <= known.get(pair, 0.0):
                    continue
                paying, rate = pairs.select(pair, arcs)
                if rate != arcs[0].rate or paying is not arcs:
                    replacements[pair] = (paying, rate)
                elif pair not in pairs.weak:
                    known[pair] = slice_value
        if not replacements and not pairs.weak:
            self._max_slice_at_spot_rates = slice_value
            return SliceMarket(self.graph, slices, frozenset(), values, is_whole=True)
        graph = self.graph.with_arcs(replacements) if replacements else self.graph
        return SliceMarket(graph, slices, frozenset(pairs.weak), values, is_whole=False)

    def _with_slice_rates(self, slice_value: float) -> MarketGraph:
        """Return the whole graph with the best rates for slices, without pairs whose pools cannot take a whole
        slice."""
        slices = self._slice_market(slice_value).slices
        if slices is None or slice_value <= self._max_slice_at_spot_rates:
            return self.graph
        replacements: dict[TokenPair, tuple[list[Arc], float]] = {}
        for i, row in enumerate(self.graph.arcs_by_pair):
            slice_in = slices.get(i)
            for j, arcs in row.items():
                if slice_in and slice_value > self._slices_at_spot_rates.get((i, j), 0.0):
                    rate = max(_rate(arc, slice_in, arc.curve.amount_out(slice_in)) for arc in arcs)
                    if rate != arcs[0].rate:
                        replacements[i, j] = (arcs if rate else [], rate)
        return self.graph.with_arcs(replacements) if replacements else self.graph

    def _update(self, former: FormerSliceMarket, slice_value: float, values: Mapping[int, float]) -> SliceMarket | None:
        """Return the market of an earlier state, updated to the current one; None if too much has changed.

        Data that depends on changed pairs, or on tokens with a new reference value, is computed again.
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
        slices = _slices(values, slice_value)
        if slices is None:
            return SliceMarket(graph, None, frozenset(), values, is_whole=True)
        changed = SlicePairs(self.paid_slices, slice_value, slices, values)
        if before.is_whole and changed.are_at_spot_rates(graph, pairs):
            self._max_slice_at_spot_rates = max(self._max_slice_at_spot_rates, slice_value)
            return SliceMarket(graph, slices, frozenset(), values, is_whole=True)
        updated = before.graph.with_pairs_of(graph, pairs, changed.select)
        return SliceMarket(updated, slices, (before.weak_pairs - pairs).union(changed.weak), values, is_whole=False)

    def _max_value_out(self, source: int, target: int, order_value: float) -> float:
        """Return about the largest value that a single path can pay for an order that drains the pools at either end.

        For other orders, return their value. This avoids filtering the market for slices larger than any that will be
        used.
        """
        if _slice_value(order_value) <= self._max_slice_at_spot_rates:
            return order_value
        enough = order_value * _DRAINED_FRACTION
        first_hops = ((source, token) for token in self.graph.best_rate_out[source])
        last_hops = ((token, target) for token in self.graph.best_rate_in[target])
        max_value = min(self._max_value_over(hops, order_value, enough) for hops in (first_hops, last_hops))
        return max_value if max_value < enough else order_value

    def _max_value_over(self, hops: Iterable[TokenPair], value_in: float, enough: float) -> float:
        """Return the largest value that one pool of `hops` pays for `value_in`; the search may stop at `enough`."""
        values, max_value = self._reference_values(), 0.0
        for i, j in hops:
            unit_in, unit_out = values.get(i), values.get(j)
            if unit_in and unit_out:
                paid = best_payment(self.graph.arcs_by_pair[i][j], value_in / unit_in)
                max_value = max(max_value, paid * unit_out)
                if max_value >= enough:
                    break
        return max_value


class PaidSlices:
    """A record of the slices for which arcs pay enough. A pool that pays enough for one slice does so for any smaller
    slice.

    By the ID of an arc, `well_paid` has the largest slice that the arc is known to take whole for a good part of the
    slice's value, and `unpaid` the smallest slice for which the arc pays next to nothing.
    """

    def __init__(self) -> None:
        self.well_paid: dict[int, float] = {}
        self.unpaid: dict[int, float] = {}


class SlicePairs:
    """A selector of arcs for slices of one reference value. `weak` has the pairs that have an arc that does not pay
    well."""

    def __init__(
        self, paid_slices: PaidSlices, slice_value: float, slices: Slices, values: Mapping[int, float]
    ) -> None:
        self._paid_slices, self._slice_value, self._slices, self._values = paid_slices, slice_value, slices, values
        self.weak: dict[TokenPair, None] = {}

    def select(self, pair: TokenPair, arcs: list[Arc]) -> tuple[list[Arc], float]:
        """Return the arcs that pay enough for a slice, according to `pays_for_slice`, and the best rate for a slice.

        A pair without an arc that takes a whole slice is dropped. Tokens without a value have no slices, and keep their
        arcs and spot rates.
        """
        value_in, value_out = self._values.get(pair[0]), self._values.get(pair[1])
        if not value_in or not value_out:
            self.weak[pair] = None
            return arcs, arcs[0].rate if arcs else 0.0
        slice_value, slice_in = self._slice_value, self._slices[pair[0]]
        well_paid, unpaid = self._paid_slices.well_paid, self._paid_slices.unpaid
        rate_of_values = value_in / value_out
        min_paid = _DUST_FRACTION * slice_in * rate_of_values
        min_well_paid = _WELL_PAID_FRACTION * slice_in * rate_of_values
        paying, best_rate = [], 0.0
        for arc in arcs:
            number = id(arc)
            is_well_paid = slice_value <= well_paid.get(number, 0.0)
            if is_well_paid and arc.rate <= best_rate:
                paying.append(arc)
                continue
            if slice_value >= unpaid.get(number, inf):
                continue
            amount_out = arc.curve.amount_out(slice_in)
            rate = _rate(arc, slice_in, amount_out)
            if not is_well_paid:
                if rate and amount_out >= min_well_paid:
                    well_paid[number] = slice_value
                elif _pays(arc.curve, slice_in, amount_out, min_paid):
                    self.weak[pair] = None
                else:
                    unpaid[number] = slice_value
                    continue
            paying.append(arc)
            best_rate = max(best_rate, rate)
        if len(paying) == len(arcs) and best_rate:
            return arcs, best_rate
        return (paying, best_rate) if best_rate else ([], 0.0)

    def are_at_spot_rates(self, graph: MarketGraph, pairs: Iterable[TokenPair]) -> bool:
        """Return whether all arcs of `pairs` pay well, and the best rates for slices are spot rates."""
        rows = graph.arcs_by_pair
        at_spot_rates = all(
            self.select((i, j), rows[i][j]) == (rows[i][j], rows[i][j][0].rate) for i, j in pairs if j in rows[i]
        )
        return at_spot_rates and not self.weak


def _rate(arc: Arc, amount_in: float, amount_out: float) -> float:
    """Return the rate of a trade; 0.0 beyond the capacity of `arc`, since a router must sell all of its input.

    If it is close to the spot rate, the spot rate is returned, so that small orders of any size share prices.
    """
    if is_at_spot_rate(arc, amount_in, amount_out):
        return arc.rate
    return amount_out / amount_in if amount_in <= arc.curve.capacity else 0.0


def _slices(values: Mapping[int, float], slice_value: float) -> Slices | None:
    """Return the slices of that reference value; None if they are infinitely small."""
    return {token: max(slice_value / value, 1.0) for token, value in values.items()} if slice_value else None


def pays_for_slice(curve: RateCurve, amount_in: float, rate: float) -> bool:
    """Return whether a direction of a pool pays enough for a slice of an order; `rate` comes from reference values."""
    return _pays(curve, amount_in, curve.amount_out(amount_in), _DUST_FRACTION * amount_in * rate)


def _pays(curve: RateCurve, amount_in: float, amount_out: float, min_amount_out: float) -> bool:
    # A pool at a bad price that pays enough for the whole order may still be needed for its rest.
    return amount_out >= min_amount_out or curve.amount_out(amount_in / SLICE_FRACTION) >= min_amount_out


def drop_dust(market: SliceMarket, spot: SpotPrices) -> MarketGraph:
    """Return the graph of `market` without the dust arcs that offer more than spot prices."""
    slices, graph, values = spot.slices, market.graph, spot.values
    if slices is None:
        return graph
    target_slice = slices[spot.target]
    # A pool that pays well may still be dust if it buys a token that is worth much less than its reference value.
    poor = [j for j, value in values.items() if value * slices[j] * _WELL_PAID_FRACTION < _DUST_FRACTION * target_slice]
    pairs = chain(market.weak_pairs, ((i, j) for j in poor for i in spot.rates_into(j)))
    replacements: dict[TokenPair, tuple[list[Arc], float]] = {}
    for i, j in pairs:
        value_out, arcs = values.get(j), graph.arcs_by_pair[i].get(j)
        if not value_out or not arcs or not spot.allows(i):
            continue
        if arcs[0].rate * value_out > values.get(i, 0.0) * _ROUNDING_MARGIN:
            amount_in, min_amount_out = slices.get(i, 0.0), _DUST_FRACTION * target_slice / value_out
            paying = [arc for arc in arcs if amount_in and amount_out_for_all(arc, amount_in) >= min_amount_out]
            if len(paying) < len(arcs):
                replacements[i, j] = (paying, graph.best_rate_out[i][j])
    return graph.with_arcs(replacements) if replacements else graph


def _slice_value(order_value: float) -> float:
    """Return the value of a slice of an order: a part of its value, rounded down to a power of the step; 0.0 for
    nothing."""
    slice_value = order_value * SLICE_FRACTION
    return _SLICE_STEP ** floor(log(slice_value, _SLICE_STEP)) if slice_value > 0.0 else 0.0


def drop_oldest(cache: dict[_K, _V], max_entries: int) -> None:
    """Remove the oldest entries until `max_entries` are left."""
    while len(cache) > max_entries:
        del cache[next(iter(cache))]


class SpotPrices:
    """`values[t]` is the value of a unit of token t in units of `target`, over at most `max_hops` hops.

    No path whose pools can all take a slice pays more per unit.

    Example: `SpotPrices(graph, usdc, 8).value(weth)`.
    """

    def __init__(self, graph: MarketGraph, target: int, max_hops: int, slices: Slices | None = None) -> None:
        """Price the tokens from `target` backwards.

        With `slices`, for which `graph` has the best rates, no path passes through tokens without a slice. None means
        infinitely small slices.
        """
        self._graph, self.target, self._max_hops = graph, target, max_hops
        self.slices = slices
        self._path_to_core = frozenset(graph.path_to_core(target))
        self.values: Prices = {target: 1.0}
        # The same in a list, which is faster. For the target, nothing is better.
        self._best_values = [0.0] * len(graph.addresses)
        self._best_values[target] = inf
        self._layers: list[dict[int, _Label]] = [{target: (1.0, target)}]
        for layer in relax_layers(self._layers[0], max_hops, self._extend):
            self._layers.append(layer)
        del self._best_values

    def _extend(self, front: Mapping[int, _Label], _: int) -> dict[int, _Label]:
        """Return the labels that improve with one more hop, and record their values."""
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
        """Return the value of a unit of i when a slice of it is sold for a token and then along that token's `path`, or
        `value`."""
        slice_in = (self.slices or {}).get(i, 0.0)
        return min(value, self.sell_along(slice_in, [i, *path]) / slice_in) if slice_in else 0.0

    def rates_into(self, token: int) -> Mapping[int, float]:
        """Return the best rates into `token` from tokens that paths may pass through; the result may include other
        tokens."""
        if token not in self._path_to_core:
            return self._graph.core_rate_in[token]
        core, path = self._graph.two_core, self._path_to_core
        return {i: rate for i, rate in self._graph.best_rate_in[token].items() if i in core or i in path}

    def sell_along(self, amount: float, path: list[int]) -> float:
        """Return the output of `amount` if each hop on `path` sells its whole input in its best pool."""
        for i, j in pairwise(path):
            amount_in, amount = amount, 0.0
            for arc in self._graph.arcs_by_pair[i][j]:
                if amount_in * arc.rate <= amount:
                    break
                amount = max(amount, amount_out_for_all(arc, amount_in))
        return amount

    def best_output(self, source: int, amount: float, known: float) -> float:
        """Return approximately the largest output of `amount` of `source` when one pool per hop sells as much of it as
        possible.

        The result is at least `known`, the output of some path. This is branch and bound: prices bound the output of
        the rest of a path. Each hop extends only the most valuable tokens.
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
        return token != self.target and (token in self._graph.two_core or token in self._path_to_core)

    def path(self, source: int) -> list[int]:
        """Return the tokens of the best path from `source` to the target, both included; empty if there is none."""
        path = self.path_to_priced(source)
        if not path:
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
        """Return an upper bound on the output of a unit of each token in the core over at most `hops` hops."""
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
    """Return the output of the best arc of a pair; each arc takes no more than its capacity."""
    most = 0.0
    for arc in arcs:
        if amount_in * arc.rate <= most:
            break
        most = max(most, arc.curve.amount_out(amount_in))
    return most


def best_payment_along(graph: MarketGraph, path: list[int], amount: float) -> float:
    """Return the final output when the best pool of each hop on `path` trades in turn; 0.0 for an empty path."""
    for i, j in pairwise(path):
        amount = best_payment(graph.arcs_by_pair[i][j], amount)
    return amount if path else 0.0


def amount_out_for_all(arc: Arc, amount_in: float) -> float:
    """Return the output of `arc` for `amount_in`; 0.0 beyond its capacity, since a router must sell all of it.

    A pool whose rate hardly falls takes everything: its capacity takes longer to compute than its output.
    """
    amount_out = arc.curve.amount_out(amount_in)
    return amount_out if is_at_spot_rate(arc, amount_in, amount_out) or amount_in <= arc.curve.capacity else 0.0


def is_at_spot_rate(arc: Arc, amount_in: float, amount_out: float) -> bool:
    """Return whether the rate of a trade of `arc` is close to its spot rate."""
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
