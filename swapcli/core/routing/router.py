"""Quotes orders on one market: the entry point of the routing core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property, partial
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, TypeVar

from swapcli.core.errors import Cancelled, SameToken, UnknownToken
from swapcli.core.model.execution import RATES, Execution
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.pool import CURVE_ERRORS, Pool
from swapcli.core.model.price_basis import PriceBasis
from swapcli.core.model.quote import WHOLE_PERCENTS, Certificate, Quote
from swapcli.core.model.token import Token
from swapcli.core.routing.cancellation import CancelCheck, SearchTimeUp, no_cancellation
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph
from swapcli.core.routing.graph.order_market import DustFilter, FormerSliceMarket, PaidSlices, SpotPrices, drop_oldest
from swapcli.core.routing.graph.usd_prices import mid_rate_pools, reference_values, round_values, usd_price_paths
from swapcli.core.routing.graph.widest_path_prices import PathPrice
from swapcli.core.routing.search.problem import RoutingProblem, SwapSpec
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search.scored_route import ScoredRoute

if TYPE_CHECKING:
    from swapcli.core.routing.competing_routes import KnownRoute
    from swapcli.core.routing.exact_output import Shortfall
    from swapcli.core.routing.route_limits import FitsCalldata
    from swapcli.core.routing.search_memory import SearchMemory
    from swapcli.core.routing.unused_pool_gains import PoolGains

_T = TypeVar("_T")

_MAX_CACHED_FILTERS = 8  # sets of excluded protocols; bounds the memory of a long-running service
_MAX_UNITS = 2.0**256  # no token has more base units
_SPOT_PRICE_HOLDS = 0.95  # of a spot price is paid for an amount: gas weighs pools roughly, by the gas of a swap


class Router:
    """Quotes orders on one market, and caches what they share: the graph, and spot prices by output token and size.

    `execution` is how the router contract executes routes. `fits_calldata` says whether one transaction can carry the
    calldata for some steps in pools by key; None if it always can. With a `memory`, searches start from those of
    similar orders, on former states too; see `search_memory`. It may be set at any time.

    Example: `Router(market).quote(Order(weth, usdc, 10**18)).amount_out`.
    """

    def __init__(
        self,
        market: MarketState,
        execution: Execution = RATES,
        fits_calldata: FitsCalldata | None = None,
        memory: SearchMemory | None = None,
    ) -> None:
        self.market = market
        self._execution = execution
        self._fits_calldata = fits_calldata
        self.memory = memory
        self._dust_filters: dict[frozenset[str], DustFilter] = {}
        self._broken_pools: frozenset[str] = frozenset()
        self._watch: Callable[[Iterable[Arc]], None] | None = None

    def with_changes(self, market: MarketState, changed: Set[str]) -> Router:
        """Return a router for `market`, which differs from the present one only in the pools with keys in `changed`."""
        router = Router(market, self._execution, self._fits_calldata, self.memory)
        router._broken_pools = self._broken_pools - changed
        filters = self._dust_filters.copy()
        dust_filter = filters.pop(frozenset(), None)
        addresses = tuple(market.tokens)
        if dust_filter and addresses[: len(dust_filter.graph.addresses)] == dust_filter.graph.addresses:
            before, after = (_pools_with_keys(each, changed) for each in (self.market, market))
            try:
                graph = dust_filter.graph.with_changes(before, after, addresses)
            except CURVE_ERRORS:  # a changed pool breaks its own curve: the first order finds it
                return router
            pairs = graph.pairs_of((*before, *after))
            router._dust_filters[frozenset()] = router._new_dust_filter(graph, former=dust_filter.former_for(pairs))
            if graph.addresses == dust_filter.graph.addresses:
                router._take_over(filters, pairs)
        return router

    def _take_over(self, filters: Mapping[frozenset[str], DustFilter], changed_pairs: frozenset[TokenPair]) -> None:
        """Take over the `filters` of former state, by excluded protocols, that orders on it used."""
        whole = self._dust_filter(frozenset())
        for excluded, former in filters.items():
            if former.is_used:
                graph = former.graph.with_pairs_of(whole.graph, changed_pairs, _without(excluded))
                slices = former.former_for(changed_pairs)
                self._dust_filters[excluded] = self._new_dust_filter(graph, whole.paid_slices, slices)
        self._dust_filters[frozenset()] = self._dust_filters.pop(frozenset())

    def warm(self) -> None:
        """Build the data that all orders share, before the first one."""
        graph = self._graph(frozenset())
        _ = graph.core_rate_out, graph.core_rate_in, self._reference_values

    def quote(
        self,
        order: Order,
        *,
        gas_price_wei: int | None = None,
        certify: bool = False,
        is_cancelled: Callable[[], bool] | None = None,
        is_time_up: Callable[[], bool] | None = None,
        share_step: int = WHOLE_PERCENTS,
    ) -> Quote:
        """Return the best route for `order` with exact amounts; `time_s` is left at 0.

        `gas_price_wei` overrides the market's; 0 ranks routes by gross output. The shares of segments are multiples of
        `share_step`, in hundredths of a percent. `is_cancelled` and `is_time_up` are called about every millisecond.
        Once the first returns True, `Cancelled` is raised. Once the second does, the best route so far is returned and
        marked, or `NoRoute` raised if there is none. Raises `NoRoute`, `SameToken`, `UnknownToken`.
        """
        result = self.search(
            order,
            gas_price_wei=gas_price_wei,
            is_cancelled=is_cancelled,
            is_time_up=is_time_up,
            share_step=share_step,
        )
        return self.build_quote(order, result, gas_price_wei=gas_price_wei, certify=certify)

    def search(
        self,
        order: Order,
        *,
        gas_price_wei: int | None = None,
        is_cancelled: Callable[[], bool] | None = None,
        is_time_up: Callable[[], bool] | None = None,
        known_routes: Iterable[KnownRoute] = (),
        share_step: int = WHOLE_PERCENTS,
    ) -> SearchResult:
        """Return the result of a search for the best route, for `build_quote` and `pool_gains`. Raises as `quote`.

        `known_routes` were found on other state: the result is no worse than any of them on this one.
        """
        check, gas_price_wei = _build_check(is_cancelled, is_time_up), self._gas_price(gas_price_wei)

        def search() -> SearchResult:
            graph = self._graph(order.excluded_protocols)
            with suppress(SearchTimeUp):
                return self._search(order, graph, gas_price_wei, check, known_routes, share_step)
            from swapcli.core.routing.no_route import search_timed_out

            raise search_timed_out(order)

        return self._without_broken_pools(search)

    def replay_again(self, result: SearchResult) -> SearchResult | None:
        """Return a result whose routes were found on other states of the pools with their amounts on these.

        None if a pool of the best route rejects its amount or is not in the market. Raises nothing.
        """
        search = RouteSearch(result.problem, self.market.pools, self._execution)
        best, single = (
            search.score_route(found.route, found.amount_in) if found and _has_pools(found, search.pools) else None
            for found in (result.best, result.best_single_path)
        )
        return result._replace(best=best, best_single_path=single) if best else None

    def build_quote(
        self, order: Order, result: SearchResult, *, gas_price_wei: int | None = None, certify: bool = False
    ) -> Quote:
        """Build the quote of a search result for `order` on this market. Raises nothing."""

        def build() -> Quote:
            certificate = _certificate(self._graph(order.excluded_protocols), result) if certify else None
            return self._quote(order, result, self._gas_price(gas_price_wei), certificate)

        return self._without_broken_pools(build)

    def pool_gains(
        self, order: Order, result: SearchResult, known_pools: Set[str], margin: float, *, all_paths: bool = False
    ) -> PoolGains:
        """Return what pools outside `known_pools` could add to the result; see `unused_pool_gains.pool_gains`.

        The result may be of another market with the same tokens.
        """
        from swapcli.core.routing.unused_pool_gains import pool_gains

        def gains() -> PoolGains:
            graph = self._graph(order.excluded_protocols)
            return pool_gains(graph, result, known_pools, margin, all_paths=all_paths)

        return self._without_broken_pools(gains)

    def closest_pools(self, order: Order, result: SearchResult, known_pools: Set[str], limit: int) -> tuple[str, ...]:
        """Return the keys of at most `limit` pools outside `known_pools` with rates closest to the best."""
        from swapcli.core.routing.unused_pool_gains import closest_pools

        def closest() -> tuple[str, ...]:
            return closest_pools(self._graph(order.excluded_protocols), result, known_pools, limit)

        return self._without_broken_pools(closest)

    @property
    def broken_pools(self) -> frozenset[str]:
        """The keys of the pools that were left out because their state breaks a computation."""
        return self._broken_pools

    def _without_broken_pools(self, compute: Callable[[], _T]) -> _T:
        """Return what `compute` does. If a pool's state breaks it, leave that pool out from now on and repeat it.

        Another pool may break what follows. Raise what `compute` does if no pool is found that breaks it.
        """
        while True:
            known = self._broken_pools
            try:
                return compute()
            except CURVE_ERRORS:
                if self._broken_pools == known:  # otherwise a part of the computation has found one, and needs a retry
                    broken = self._find_broken_pools(compute)
                    if not broken:
                        raise
                    self.leave_out(broken)

    def _find_broken_pools(self, compute: Callable[[], object]) -> frozenset[str]:
        """Return the keys of pools that fail for some rates and amounts, or else for those that `compute` meets."""
        from swapcli.core.routing.broken_pools import CurveWatch, broken_pools

        found = broken_pools(self.market.pools.values()) - self._broken_pools
        if not found:
            watch = CurveWatch()
            self._forget_graphs()
            self._watch = watch.add_to
            try:
                compute()
            except CURVE_ERRORS:
                found = frozenset(watch.broken)
            finally:
                self._watch = None
                self._forget_graphs()
        return found

    def leave_out(self, broken: frozenset[str]) -> None:
        """Quote without these pools from now on, and name them in quotes, even where the market does not have them."""
        self._broken_pools |= broken
        if not broken.isdisjoint(self.market.pools):
            self._forget_graphs()

    def _forget_graphs(self) -> None:
        self._dust_filters.clear()
        for name in ("_usd", "_usd_paths", "_reference_values"):
            vars(self).pop(name, None)

    def _gas_price(self, gas_price_wei: int | None) -> int:
        return self.market.gas_price_wei if gas_price_wei is None else gas_price_wei

    def deepest_anchor_pools(self, addresses: Iterable[str]) -> tuple[str, ...]:
        """Return the keys of the deepest pool of each of these tokens with each stablecoin and the wrapped native."""
        network, tokens = self.market.network, tuple(addresses)
        wrapped = (network.wrapped_native.address,) if network.wrapped_native else ()

        def deepest() -> tuple[str, ...]:
            graph = self._graph(frozenset())
            index = graph.token_index
            anchors = [index[address] for address in (*network.stablecoins, *wrapped) if address in index]
            pairs = [graph.arcs_by_pair[index[a]].get(anchor, ()) for a in tokens if a in index for anchor in anchors]
            return tuple(dict.fromkeys(max(arcs, key=lambda arc: arc.depth).pool.key for arcs in pairs if arcs))

        return self._without_broken_pools(deepest)

    def _search(
        self,
        order: Order,
        graph: MarketGraph,
        gas_price_wei: int,
        check: CancelCheck,
        known_routes: Iterable[KnownRoute],
        share_step: int,
    ) -> SearchResult:
        source, target = _token_number(graph, order.token_in), _token_number(graph, order.token_out)
        if source == target:
            raise SameToken()
        max_hops = 1 if order.direct else order.max_hops
        dust_filter = self._dust_filter(order.excluded_protocols)
        first = dust_filter.equivalent_amount(order.amount, target, source) if order.reverse else order.amount
        first_market = dust_filter.filtered_market(source, target, float(first), max_hops)
        spot = first_market.spot
        path = spot.path(source) or dust_filter.spot_prices(target, max_hops).path(source)
        if not path:
            from swapcli.core.routing.no_route import tokens_not_connected

            raise tokens_not_connected(order, graph)
        gas_value = self._evm_gas_price(gas_price_wei) * self._native_value(dust_filter, spot, max_hops, gas_price_wei)

        def search_for(amount: int, gas_value: float = gas_value, check: CancelCheck = check) -> RouteSearch:
            market = first_market
            if amount != first:
                market = dust_filter.filtered_market(source, target, float(amount), max_hops)
            router_gas = self._execution.gas
            spec = SwapSpec(source, target, amount, max_hops, gas_value, check, share_step, router_gas)
            return RouteSearch(RoutingProblem(market.graph, market.spot, spec), self.market.pools, self._execution)

        def find_best(gas_value: float) -> SearchResult | Shortfall | None:
            search = partial(search_for, gas_value=gas_value)
            if order.reverse:
                return _for_output(search, order.amount, first)
            return search(order.amount).run() or self._search_unfiltered(search(order.amount).problem, graph)

        def search_from_start() -> SearchResult | Shortfall | None:
            with suppress(SearchTimeUp):
                _check_liquidity(order, graph, path, max_hops, check)
            return find_best(gas_value)

        known = self.memory.search(order, search_for, first) if self.memory is not None else None
        answer = known or search_from_start()
        if self.memory is not None and isinstance(answer, SearchResult) and not known:
            self.memory.remember(order, answer)
        if known_routes:
            from swapcli.core.routing.competing_routes import best_of

            result = answer if isinstance(answer, SearchResult) else None
            # Known routes are evaluated also after the time is up: they may be all that was found.
            search_known = partial(search_for, check=_without_time_limit(check))
            answer = best_of(order, result, known_routes, search_known) or answer
        if isinstance(answer, SearchResult):
            is_limited = self.market.network.block_gas_limit is not None or self._fits_calldata is not None
            return self._fit(order, answer, find_best) if is_limited else answer
        from swapcli.core.routing.no_route import no_route_found, search_timed_out

        # Not held by a variable: the error and this frame would keep each other until a garbage collection.
        with suppress(SearchTimeUp):
            raise no_route_found(order, graph, (source, target), max_hops, check, answer.amount_out if answer else 0)
        raise search_timed_out(order)

    def _fit(
        self, order: Order, found: SearchResult, find_best: Callable[[float], SearchResult | Shortfall | None]
    ) -> SearchResult:
        """Return a result whose route fits one transaction. Raises `NoRoute` if none does."""
        from swapcli.core.routing.route_limits import RouteLimits, fit_into_transaction

        def search(gas_value: float) -> SearchResult | None:
            result = find_best(gas_value)
            return result if isinstance(result, SearchResult) else None

        limits = RouteLimits(self.market, self._fits_calldata)
        return fit_into_transaction(order, found, limits, search)

    def _search_unfiltered(self, problem: RoutingProblem, graph: MarketGraph) -> SearchResult | None:
        """Search the whole `graph` for an order that found no route in its filtered market."""
        if graph is problem.graph:
            return None
        return RouteSearch(problem._replace(graph=graph), self.market.pools, self._execution).run()

    def _graph(self, excluded: frozenset[str]) -> MarketGraph:
        return self._dust_filter(excluded).graph

    def _dust_filter(self, excluded: frozenset[str]) -> DustFilter:
        dust_filter = self._dust_filters.get(excluded)
        if dust_filter is None:
            if excluded:
                whole = self._dust_filter(frozenset())
                graph = whole.graph.with_pools(lambda pool: pool.protocol not in excluded)
                dust_filter = self._new_dust_filter(graph, whole.paid_slices)
                # The whole market stays the newest entry, because the others come from it.
                self._dust_filters[frozenset()] = self._dust_filters.pop(frozenset())
            else:
                dust_filter = self._new_dust_filter(self._without_broken_pools(self._new_graph))
            self._dust_filters[excluded] = dust_filter
            drop_oldest(self._dust_filters, _MAX_CACHED_FILTERS)
        return dust_filter

    def _new_graph(self) -> MarketGraph:
        pools = (pool for key, pool in self.market.pools.items() if key not in self._broken_pools)
        graph = MarketGraph(pools, self.market.tokens)
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
        return round_values(reference_values(self._graph(frozenset()), self._usd))

    def _evm_gas_price(self, gas_price_wei: int) -> int:
        """Return what the network charges for as much as one unit of gas in an EVM, the unit of `Pool.gas_units`."""
        return gas_price_wei * self.market.network.gas_units_per_evm_gas

    def _native_value(self, dust_filter: DustFilter, spot: SpotPrices, max_hops: int, gas_price_wei: int) -> float:
        """Return the value of one wei of the native token in base units of the output token; 0.0 where unknown.

        It is the value at about the size of a transaction's gas: that of the order's spot prices, if they hold for it.
        """
        native = self.market.network.wrapped_native or self.market.network.native
        number = dust_filter.graph.token_index.get(native.address)
        if number is None or not gas_price_wei:
            return 0.0
        amount = float(self._evm_gas_price(gas_price_wei) * self._execution.gas.base)
        value = spot.value(number)
        if value and spot.sell_along(amount, spot.path(number)) >= value * amount * _SPOT_PRICE_HOLDS:
            return value
        return dust_filter.token_value(number, spot.target, amount, max_hops)

    def _quote(self, order: Order, result: SearchResult, gas_price_wei: int, certificate: Certificate | None) -> Quote:
        best, single = result.best, result.best_single_path
        gas_scale = self.market.network.gas_units_per_evm_gas
        native = self.market.network.wrapped_native or self.market.network.native
        price_in, price_out, price_native = self.usd_prices(order.token_in, order.token_out, native)
        value_in = _value_usd(best.amount_in, order.token_in, price_in)
        value_out = _value_usd(best.replay.amount_out, order.token_out, price_out)
        return Quote(
            order=order,
            route=best.route,
            steps=best.replay.steps,
            amount_in=best.amount_in,
            amount_out=best.replay.amount_out,
            gas_units=best.gas_units * gas_scale,
            gas_price_wei=gas_price_wei,
            wei_usd=None if price_native is None else price_native / 10**native.decimals,
            price_in_usd=price_in,
            price_out_usd=price_out,
            price_impact=_price_impact(value_in, value_out),
            best_single_path_out=single.replay.amount_out if single else None,
            time_s=0.0,
            certificate=certificate,
            is_search_complete=result.is_complete,
            best_single_path_gas_units=single.gas_units * gas_scale if single else None,
            sampled_pools=best.replay.sampled_pools,
            estimated_pools=best.replay.estimated_pools,
            broken_pools=tuple(sorted(self._broken_pools)),
        )

    def usd_prices(self, *tokens: Token) -> tuple[float | None, ...]:
        """Return USD per whole token, None where no pool gives a price."""
        index = self._graph(frozenset()).token_index
        prices = (self._usd.get(index.get(token.address, -1)) for token in tokens)
        return tuple(p and p * 10**token.decimals for p, token in zip(prices, tokens, strict=True))

    def price_basis(self, token: Token) -> PriceBasis | None:
        """Return the USD price of a token with what it is based on; None where no pool gives a price."""

        def basis() -> PriceBasis | None:
            graph = self._graph(frozenset())
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

        return self._without_broken_pools(basis)

    @cached_property
    def _usd(self) -> dict[int, float]:
        """USD per base unit by token number."""
        return {token: path.price for token, path in self._usd_paths.items()}

    @cached_property
    def _usd_paths(self) -> dict[int, PathPrice]:
        """The same with the paths that give the prices."""

        def compute() -> dict[int, PathPrice]:
            graph = self._graph(frozenset())
            return usd_price_paths(graph, self._anchors(graph))

        return self._without_broken_pools(compute)

    def _anchors(self, graph: MarketGraph) -> dict[int, float]:
        """Return USD per base unit of the tokens that all other prices start from."""
        tokens = self.market.tokens
        stablecoins = [a for a in self.market.network.stablecoins if a in tokens]
        per_token = dict.fromkeys(stablecoins, 1.0) or {
            a: t.price_usd for a, t in tokens.items() if t.price_usd is not None and t.price_usd > 0.0
        }
        return {graph.token_index[a]: price / 10 ** tokens[a].decimals for a, price in per_token.items()}


def _without(protocols: Set[str]) -> Callable[[TokenPair, list[Arc]], tuple[list[Arc], float]]:
    """Return the function that selects those arcs of a pair that are of none of `protocols`, with the best rate."""

    def select(_: TokenPair, arcs: list[Arc]) -> tuple[list[Arc], float]:
        selected = [arc for arc in arcs if arc.pool.protocol not in protocols]
        return selected, selected[0].rate if selected else 0.0

    return select


def _has_pools(found: ScoredRoute, pools: Mapping[str, Pool]) -> bool:
    return all(step.pool in pools for step in found.replay.steps)


def _pools_with_keys(market: MarketState, keys: Iterable[str]) -> list[Pool]:
    return [market.pools[key] for key in keys if key in market.pools]


def _build_check(is_cancelled: Callable[[], bool] | None, is_time_up: Callable[[], bool] | None) -> CancelCheck:
    """Return the check that long work calls: it raises `Cancelled` or `SearchTimeUp`."""
    if is_cancelled is None and is_time_up is None:
        return no_cancellation

    def check() -> None:
        if is_cancelled is not None and is_cancelled():
            raise Cancelled("the quote was cancelled")
        if is_time_up is not None and is_time_up():
            raise SearchTimeUp

    return check


def _without_time_limit(check: CancelCheck) -> CancelCheck:
    """Return the check that still stops cancelled work."""

    def cancelled() -> None:
        with suppress(SearchTimeUp):
            check()

    return cancelled


def _value_usd(amount: int, token: Token, price_usd: float | None) -> float | None:
    return amount / 10**token.decimals * price_usd if price_usd is not None else None


def _price_impact(sold_usd: float | None, bought_usd: float | None) -> float | None:
    """Return the part of the value at mid prices that is lost, pool fees included; None where a price is unknown."""
    if not sold_usd or bought_usd is None:
        return None
    return 1.0 - bought_usd / sold_usd


def _for_output(
    search_for: Callable[[int], RouteSearch], amount_out: int, first: int
) -> SearchResult | Shortfall | None:
    from swapcli.core.routing.exact_output import route_for_output

    return route_for_output(search_for, amount_out, first)


def _certificate(graph: MarketGraph, result: SearchResult) -> Certificate:
    from swapcli.core.routing.certificate import build_certificate

    spec = result.problem.spec._replace(check=no_cancellation)  # the time limit of a search does not apply to its proof
    result = result._replace(problem=result.problem._replace(spec=spec))
    problem, best = result.problem, result.best
    order = (*problem.spec.endpoints, float(best.amount_in))

    used = {(step.pool, graph.token_index[step.token_in]) for step in best.replay.steps}

    def usable(arc: Arc) -> bool:
        return problem.is_usable(arc, result.exclusions) or (arc.pool.key, arc.token_in) in used

    return build_certificate(graph, problem.graph, result.bounding_prices(), order, best.replay.amount_out, usable)


def _check_liquidity(order: Order, graph: MarketGraph, path: Sequence[int], max_hops: int, check: CancelCheck) -> None:
    """Raise `NoRoute` if the order is larger than all the liquidity between its tokens, which `path` joins."""
    if _looks_feasible(graph, path, order):
        return
    from swapcli.core.routing.no_route import exceeds_liquidity

    error = exceeds_liquidity(order, graph, (path[0], path[-1]), max_hops, check)
    if error:
        raise error


def _looks_feasible(graph: MarketGraph, path: Sequence[int], order: Order) -> bool:
    """Return whether one pool per hop of `path` takes the input, or can pay the output of an order in reverse.

    A cheap test, so that only orders that are large for their pools need the bound on all liquidity.
    """
    amount = inf if order.reverse else float(order.amount)
    for i, j in pairwise(path):
        curves = (arc.curve for arc in graph.arcs_by_pair[i][j])
        if order.reverse:
            amount = max(curve.amount_out(min(amount, curve.capacity, _MAX_UNITS)) for curve in curves)
        else:
            curve = next((curve for curve in curves if curve.capacity >= amount), None)
            amount = curve.amount_out(amount) if curve else 0.0
    return amount > (order.amount if order.reverse else 0.0)


def _token_number(graph: MarketGraph, token: Token) -> int:
    number = graph.token_index.get(token.address)
    if number is None:
        raise UnknownToken(f"the market has no token {token.symbol or token.address} ({token.address})")
    return number
