"""The data shared by all orders on one market: its graphs, prices in USD, and broken pools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property

from swapcli.core.annotations import TYPE_CHECKING, TypeVar
from swapcli.core.errors import Cancelled, InvalidInput, MarketError, NoRoute, UpstreamError
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.routing.cancellation import SearchTimeUp
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph
from swapcli.core.routing.graph.order_market import DustFilter, FormerSliceMarket, PaidSlices, drop_oldest
from swapcli.core.routing.graph.usd_prices import mid_rate_pools, reference_values, round_values, usd_price_paths
from swapcli.core.routing.graph.widest_path_prices import PathPrice
from swapcli.core.routing.replay import PoolFault

if TYPE_CHECKING:
    from swapcli.core.model.price_basis import PriceBasis
    from swapcli.core.model.skipped_pool import SkippedPool

_T = TypeVar("_T")

_MAX_CACHED_FILTERS = 8  # sets of excluded protocols; bounds the memory of a long-running service


class MarketIndex:
    """The graphs and prices of a market, built on demand and reused.

    Example: `MarketIndex(market).usd_prices(weth)`.
    """

    def __init__(self, market: MarketState) -> None:
        self.market = market
        self._dust_filters: dict[frozenset[str], DustFilter] = {}
        self._broken_pools: dict[str, SkippedPool] = {}
        self._watch: Callable[[Iterable[Arc]], None] | None = None

    def with_changes(self, market: MarketState, changed: Set[str]) -> MarketIndex:
        """Return the index of `market`, which differs from this index's market only in the pools in `changed`."""
        index = MarketIndex(market)
        if self._broken_pools:
            index._broken_pools = {key: each for key, each in self._broken_pools.items() if key not in changed}
        filters = self._dust_filters.copy()
        dust_filter = filters.pop(frozenset(), None)
        addresses = tuple(market.tokens)
        if dust_filter and addresses[: len(dust_filter.graph.addresses)] == dust_filter.graph.addresses:
            before, after = (_pools_with_keys(each, changed) for each in (self.market, market))
            try:
                graph = dust_filter.graph.with_changes(before, after, addresses)
            except Exception as error:  # a changed pool can break only its own curve: the first order detects it
                from swapcli.core.model.skipped_pool import pass_request_errors

                pass_request_errors(error)
                return index
            pairs = graph.pairs_of((*before, *after))
            index._dust_filters[frozenset()] = index._new_dust_filter(graph, former=dust_filter.former_for(pairs))
            if graph.addresses == dust_filter.graph.addresses:
                index._take_over(filters, pairs)
        return index

    def _take_over(self, filters: Mapping[frozenset[str], DustFilter], changed_pairs: frozenset[TokenPair]) -> None:
        """Reuse the `filters` of an earlier state, by excluded protocols, that orders on it used."""
        whole = self.dust_filter()
        for excluded, former in filters.items():
            if former.is_used:
                graph = former.graph.with_pairs_of(whole.graph, changed_pairs, _without(excluded))
                slices = former.former_for(changed_pairs)
                self._dust_filters[excluded] = self._new_dust_filter(graph, whole.paid_slices, slices)
        self._dust_filters[frozenset()] = self._dust_filters.pop(frozenset())

    def warm(self) -> None:
        """Build the data that all orders share before the first order."""
        graph = self.graph()
        _ = graph.core_rate_out, graph.core_rate_in, self._reference_values

    def graph(self, excluded: frozenset[str] = frozenset()) -> MarketGraph:
        """Return the graph of the market without the excluded protocols and the skipped pools."""
        return self.dust_filter(excluded).graph

    @cached_property
    def protocols(self) -> frozenset[str]:
        """The protocols of the market's pools."""
        return frozenset([pool.protocol for pool in self.market.pools.values()])

    def dust_filter(self, excluded: frozenset[str] = frozenset()) -> DustFilter:
        """Return the dust filter for orders that exclude the `excluded` protocols."""
        if excluded:
            excluded &= self.protocols  # the others need no market of their own
        dust_filter = self._dust_filters.get(excluded)
        if dust_filter is None:
            if excluded:
                whole = self.dust_filter()
                graph = whole.graph.with_pools(lambda pool: pool.protocol not in excluded)
                dust_filter = self._new_dust_filter(graph, whole.paid_slices)
                # The whole market stays the newest entry, because the others are derived from it.
                self._dust_filters[frozenset()] = self._dust_filters.pop(frozenset())
            else:
                dust_filter = self._new_dust_filter(self.without_broken_pools(self._new_graph))
            self._dust_filters[excluded] = dust_filter
            drop_oldest(self._dust_filters, _MAX_CACHED_FILTERS)
        return dust_filter

    def usd_prices(self, *tokens: Token) -> tuple[float | None, ...]:
        """Return the USD price of one whole unit of each token; None for a token without a price."""
        index = self.graph().token_index
        prices = (self._usd.get(index.get(token.address, -1)) for token in tokens)
        return tuple(p and p * 10**token.decimals for p, token in zip(prices, tokens, strict=True))

    def price_basis(self, token: Token) -> PriceBasis | None:
        """Return the USD price of a token with its basis; None if the pools determine no price."""
        from swapcli.core.model.price_basis import PriceBasis

        def basis() -> PriceBasis | None:
            graph = self.graph()
            number = graph.token_index.get(token.address, -1)
            found = self._usd_paths.get(number)
            if found is None:
                return None
            path, pools = [number], []
            while (parent := self._usd_paths[path[-1]].parent) is not None:
                pools.append(mid_rate_pools(graph, path[-1], parent))
                path.append(parent)
            tokens = tuple(graph.addresses[each] for each in path)
            return PriceBasis(found.price * 10**token.decimals, found.width, tokens, tuple(pools))

        return self.without_broken_pools(basis)

    @property
    def broken_pools(self) -> Mapping[str, SkippedPool]:
        """The pools, by key, that are skipped because their state or code breaks a computation."""
        return self._broken_pools

    @cached_property
    def pools(self) -> Mapping[str, Pool]:
        """The market's pools, by key, that are not skipped."""
        pools, broken = self.market.pools, self._broken_pools
        return {key: pool for key, pool in pools.items() if key not in broken} if broken else pools

    def skip(self, broken: Iterable[SkippedPool]) -> None:
        """Exclude these pools from now on, and list them in quotes as skipped, even if the market does not contain
        them."""
        self._broken_pools = self._broken_pools | {each.key: each for each in broken}
        self._forget_graphs()

    def without_broken_pools(self, compute: Callable[[], _T]) -> _T:
        """Return the result of `compute`. If a pool's state or code breaks it, skip that pool from now on and repeat.

        If further pools break it, they are skipped too. Raises the error of `compute` if no pool is found to cause it.
        """
        while True:
            known = self._broken_pools
            try:
                return compute()
            except Exception as error:
                if not _may_be_of_pool(error):
                    raise
                if self._broken_pools == known:  # otherwise part of the computation has found one, and needs a retry
                    broken = self._find_broken_pools(compute, error)
                    if not broken:
                        raise
                    self.skip(broken)

    def _find_broken_pools(self, compute: Callable[[], object], error: Exception) -> Sequence[SkippedPool]:
        """Return the pools that fail at some rates and amounts, or otherwise those that fail within `compute`."""
        from swapcli.core.model.skipped_pool import SkippedPool
        from swapcli.core.routing.broken_pools import CurveWatch, broken_pools

        found = list(broken_pools(self.pools.values()))
        if isinstance(error, PoolFault) and (pool := self.pools.get(error.key)):
            found.append(SkippedPool(error.key, pool.protocol, error.reason))
        if not found:
            watch = CurveWatch()
            self._forget_graphs()
            self._watch = watch.add_to
            try:
                compute()
            except Exception as repeated:
                if not _may_be_of_pool(repeated):
                    raise
                found = list(watch.broken.values())
            finally:
                self._watch = None
                self._forget_graphs()
        return found

    def _forget_graphs(self) -> None:
        self._dust_filters.clear()
        for name in ("pools", "_usd", "_usd_paths", "_reference_values"):
            vars(self).pop(name, None)

    def _new_graph(self) -> MarketGraph:
        graph = MarketGraph(self.pools.values(), self.market.tokens)
        if self._watch is not None:
            self._watch(graph.arcs())
        return graph

    def _new_dust_filter(
        self,
        graph: MarketGraph,
        paid_slices: PaidSlices | None = None,
        former: Mapping[float, FormerSliceMarket] | None = None,
    ) -> DustFilter:
        return DustFilter(graph, lambda: self._reference_values, paid_slices, former)

    @cached_property
    def _reference_values(self) -> dict[int, float]:
        return round_values(reference_values(self.graph(), self._usd))

    @cached_property
    def _usd(self) -> dict[int, float]:
        """USD per base unit by token number."""
        return {token: path.price for token, path in self._usd_paths.items()}

    @cached_property
    def _usd_paths(self) -> dict[int, PathPrice]:
        """USD per base unit by token number, with the paths of the prices."""

        def compute() -> dict[int, PathPrice]:
            graph = self.graph()
            return usd_price_paths(graph, self._anchors(graph))

        return self.without_broken_pools(compute)

    def _anchors(self, graph: MarketGraph) -> dict[int, float]:
        """Return USD per base unit of the tokens from which all other prices are derived."""
        tokens = self.market.tokens
        stablecoins = [a for a in self.market.network.stablecoins if a in tokens]
        per_token = dict.fromkeys(stablecoins, 1.0) or {
            a: t.price_usd for a, t in tokens.items() if t.price_usd is not None and t.price_usd > 0.0
        }
        return {graph.token_index[a]: price / 10 ** tokens[a].decimals for a, price in per_token.items()}


def _may_be_of_pool(error: Exception) -> bool:
    """Return whether a pool may have broken a computation, rather than the order, its caller or its time limit."""
    if isinstance(error, MarketError):  # the state after a swap is invalid
        return True
    return not isinstance(error, (NoRoute, InvalidInput, UpstreamError, Cancelled, SearchTimeUp, MemoryError))


def _without(protocols: Set[str]) -> Callable[[TokenPair, list[Arc]], tuple[list[Arc], float]]:
    """Return the function that selects the arcs of a pair outside `protocols`, with their best rate."""

    def select(_: TokenPair, arcs: list[Arc]) -> tuple[list[Arc], float]:
        selected = [arc for arc in arcs if arc.pool.protocol not in protocols]
        return selected, selected[0].rate if selected else 0.0

    return select


def _pools_with_keys(market: MarketState, keys: Iterable[str]) -> list[Pool]:
    return [market.pools[key] for key in keys if key in market.pools]
