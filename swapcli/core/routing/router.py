"""Quote orders on one market: the entry point of the routing core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import pairwise
from math import inf

from swapcli.core.annotations import TYPE_CHECKING
from swapcli.core.errors import Cancelled, InvalidAmount, NoRoute, SameToken, UnknownToken
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import NO_PROOF_BPS, WHOLE_PERCENTS, Certificate, Quote
from swapcli.core.model.router_execution import RATES, Execution
from swapcli.core.model.token import Token
from swapcli.core.routing.cancellation import CancelCheck, SearchTimeUp, no_cancellation, without_time_limit
from swapcli.core.routing.gas import value_of_wei
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph
from swapcli.core.routing.graph.order_market import DustFilter
from swapcli.core.routing.market_index import MarketIndex
from swapcli.core.routing.replay import PoolFault

if TYPE_CHECKING:
    from swapcli.core.model.proof import ProofWitness
    from swapcli.core.routing.certificate import OutputProof
    from swapcli.core.routing.competing_routes import KnownRoute
    from swapcli.core.routing.exact_output import Run, Shortfall
    from swapcli.core.routing.gas_proof.proof import NetProof
    from swapcli.core.routing.route_limits import FitsCalldata
    from swapcli.core.routing.search.route_search import RouteSearch
    from swapcli.core.routing.search.route_search import SearchResult as SearchResult
    from swapcli.core.routing.search.scored_route import RouteScorer
    from swapcli.core.routing.search.scored_route import ScoredRoute as ScoredRoute
    from swapcli.core.routing.search_memory import SearchMemory

_MAX_UNITS = 2.0**256  # no token has more base units


class Router:
    """The quoter for one market. `index` has the shared data: graphs, and prices by output token and size.

    `execution` is how the router contract executes routes. `fits_calldata` returns whether the calldata for the given
    steps and pools (by key) fits one transaction; it is None if calldata always fits. With a `memory`, searches start
    from the results for similar orders, also on earlier states; see `search_memory`. The memory may be set at any time.

    Example: `Router(market).quote(Order(weth, usdc, 10**18)).amount_out`.
    """

    def __init__(
        self,
        market: MarketState,
        execution: Execution = RATES,
        fits_calldata: FitsCalldata | None = None,
        memory: SearchMemory | None = None,
    ) -> None:
        self.index = MarketIndex(market)
        self.market = market
        self._execution = execution
        self._fits_calldata = fits_calldata
        self._executed: Mapping[str, Pool] | None = None
        self.memory = memory

    @property
    def _pools(self) -> Mapping[str, Pool]:
        """The pools used to execute routes."""
        pools, executed = self.index.pools, self._executed
        return pools if executed is None else {key: executed[key] for key in pools if key in executed}

    def executing(self, market: MarketState, execution: Execution, fits_calldata: FitsCalldata | None) -> Router:
        """Return a router whose routes use the pools of `market`, a subset of this router's market, with this
        `execution`.

        The new router shares the index, so its prices and proofs cover all pools of this router.
        """
        router = Router(market, execution, fits_calldata, self.memory)
        router.index, router._executed = self.index, market.pools
        return router

    def execute_again(self, order: Order, result: SearchResult) -> SearchResult | None:
        """Return a result found with a different `execution`, with its route executed as in this router; None if that
        fails.

        Any other route in the result stays unchanged if this router cannot execute it.
        """
        from swapcli.core.routing.route_limits import RouteLimits
        from swapcli.core.routing.search.scored_route import RouteScorer

        spec = result.problem.spec._replace(router_gas=self._execution.gas)
        scorer = RouteScorer(spec, self._pools, self._execution)
        try:
            best = _execute_again(scorer, order, result.best)
            if best is None or not RouteLimits(self.market, order, self._fits_calldata).allow(best):
                return None
            others = [
                each and (_execute_again(scorer, order, each) or each)
                for each in (result.best_single_path, result.unlimited)
            ]
        except PoolFault:
            return None
        problem = result.problem._replace(spec=spec)
        return result._replace(problem=problem, best=best, best_single_path=others[0], unlimited=others[1])

    def with_changes(self, market: MarketState, changed: Set[str]) -> Router:
        """Return a router for `market`, which differs from this router's market only in the pools in `changed`."""
        router = Router(market, self._execution, self._fits_calldata, self.memory)
        router.index = self.index.with_changes(market, changed)
        return router

    def warm(self) -> None:
        """Build the data that all orders share, and load the search module, before the first order or a fork."""
        from swapcli.core.routing.search import route_search

        del route_search
        self.index.warm()

    def without_memory(self) -> Router:
        """Return a router that shares the index but has no memory: each search starts from scratch."""
        from copy import copy

        router = copy(self)
        router.memory = None
        return router

    def quote(
        self,
        order: Order,
        *,
        gas_price_wei: int | None = None,
        certify: bool = False,
        proof: bool = False,
        is_cancelled: Callable[[], bool] | None = None,
        is_time_up: Callable[[], bool] | None = None,
        share_step: int = WHOLE_PERCENTS,
    ) -> Quote:
        """Return the best route for `order` with exact amounts; `time_s` stays 0.

        With `certify`, the quote has a certificate, and with `proof` also the witness from which `Proof.of` makes a
        document. `gas_price_wei` overrides the market's; 0 ranks routes by gross output. The shares of segments are
        multiples of `share_step`, in hundredths of a percent. `is_cancelled` and `is_time_up` are called about every
        millisecond. Once `is_cancelled` returns True, `Cancelled` is raised. Once `is_time_up` returns True, the best
        route so far is returned and marked as incomplete, or `NoRoute` is raised if there is none. Raises `NoRoute`,
        `SameToken`, `UnknownToken`, `InvalidAmount`.
        """
        result = self.search(
            order,
            gas_price_wei=gas_price_wei,
            is_cancelled=is_cancelled,
            is_time_up=is_time_up,
            share_step=share_step,
        )
        return self.build_quote(order, result, gas_price_wei=gas_price_wei, certify=certify, proof=proof)

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
        """Return the result of a search for the best route, for `build_quote` and `pool_gains`. Raises the errors of
        `quote`.

        `known_routes` were found on other states. On this state, the result is at least as good as each of them.
        """
        if not isinstance(order.amount, int) or order.amount <= 0:
            problem = f"an order's amount must be a positive integer in base units, not {order.amount!r}"
            token = order.token_out if order.reverse else order.token_in
            raise InvalidAmount(problem, hint=f"one {token.symbol} is {10**token.decimals}")
        check, gas_price_wei = _build_check(is_cancelled, is_time_up), self._gas_price(gas_price_wei)

        def search() -> SearchResult:
            graph = self.index.graph(order.excluded_protocols)
            try:
                with suppress(SearchTimeUp):
                    return self._search(order, graph, gas_price_wei, check, known_routes, share_step)
            except NoRoute as error:
                from swapcli.core.routing.no_route import add_extended_protocols

                add_extended_protocols(error, order, self.index)
                raise
            from swapcli.core.routing.no_route import search_timed_out

            raise search_timed_out(order)

        return self.index.without_broken_pools(search)

    def replay_again(self, result: SearchResult) -> SearchResult | None:
        """Replay the routes of a result from other states of the pools. Return the result with the amounts on the
        current states.

        Return None if a pool of the best route rejects its amount, fails, or is not in the market. Raises nothing.
        """
        from swapcli.core.routing.search.scored_route import RouteScorer

        scorer = RouteScorer(result.problem.spec, self._pools, self._execution)
        try:
            best, single, unlimited = (
                scorer.score_if_accepted(found.route, found.amount_in)
                if found and _has_pools(found, scorer.pools)
                else None
                for found in (result.best, result.best_single_path, result.unlimited)
            )
        except PoolFault:
            return None
        return result._replace(best=best, best_single_path=single, unlimited=unlimited) if best else None

    def build_quote(
        self,
        order: Order,
        result: SearchResult,
        *,
        gas_price_wei: int | None = None,
        certify: bool = False,
        proof: bool = False,
    ) -> Quote:
        """Build the quote of a search result for `order` on this market. Raises nothing."""

        def build() -> Quote:
            if not certify and not proof:
                return self._quote(order, result, self._gas_price(gas_price_wei), None)
            found, certificate, witness = self._certify(order, result, keeps_witness=proof)
            return self._quote(order, found, self._gas_price(gas_price_wei), certificate)._replace(witness=witness)

        return self.index.without_broken_pools(build)

    def _certify(
        self, order: Order, result: SearchResult, *, keeps_witness: bool
    ) -> tuple[SearchResult, Certificate, ProofWitness | None]:
        """Return the certificate of a result and its witness. The result has a better route if the proof found one."""
        spec = result.problem.spec._replace(check=no_cancellation)  # a search's time limit does not apply to its proof
        result = result._replace(problem=result.problem._replace(spec=spec))
        net = _prove_net_output(result) if result.best.net > 0.0 else None
        if net is not None and not order.reverse:
            result = self._improve(order, result, net)
        graph = self.index.graph(order.excluded_protocols)
        output = _prove_output(graph, result)
        certificate = output.certificate
        if net is not None:
            certificate = certificate._replace(after_gas=net.against(result.problem, result.best.net))
        if not keeps_witness:
            return result, certificate, None
        if certificate.after_gas is not None and certificate.after_gas.gap_bps >= NO_PROOF_BPS:
            net = None  # such a bound is shown as none, also in the proof
        from swapcli.core.routing.witness import build_witness

        return result, certificate, build_witness(graph, result, output, net)

    def _improve(self, order: Order, result: SearchResult, proof: NetProof) -> SearchResult:
        """Return the result with the best route over pools that a proof has chosen, if that route is better and
        allowed."""
        from swapcli.core.routing.route_limits import RouteLimits
        from swapcli.core.routing.search.route_search import RouteSearch

        pools = self._pools
        search = RouteSearch(result.problem, pools, self._execution)
        limits = RouteLimits(self.market, order, self._fits_calldata)
        for choice in proof.choices:
            arcs = [arc for arc in choice.arcs if arc.pool.key in pools]  # it had more if one has failed since
            better = search.best_route_over(arcs, choice.prices) if arcs else None
            if better and better.net > result.best.net and limits.allow(better):
                result = result._replace(best=better)
        return result

    def _gas_price(self, gas_price_wei: int | None) -> int:
        return self.market.gas_price_wei if gas_price_wei is None else gas_price_wei

    def _search(
        self,
        order: Order,
        graph: MarketGraph,
        gas_price_wei: int,
        check: CancelCheck,
        known_routes: Iterable[KnownRoute],
        share_step: int,
    ) -> SearchResult:
        # Loaded by the first search, so that importing the core takes less.
        from swapcli.core.routing.search.problem import RoutingProblem, SwapSpec
        from swapcli.core.routing.search.route_search import RouteSearch, SearchResult

        source, target = _token_number(graph, order.token_in), _token_number(graph, order.token_out)
        if source == target:
            raise SameToken()
        max_hops = 1 if order.direct else order.max_hops
        dust_filter = self.index.dust_filter(order.excluded_protocols)
        first = dust_filter.equivalent_amount(order.amount, target, source) if order.reverse else order.amount
        first_market = dust_filter.filtered_market(source, target, float(first), max_hops)
        spot = first_market.spot
        path = spot.path(source) or dust_filter.spot_prices(target, max_hops).path(source)
        if not path:
            from swapcli.core.routing.no_route import tokens_not_connected

            raise tokens_not_connected(order, graph, self.market.network)
        wei_value = value_of_wei(
            self.market.network,
            order.token_out,
            self.index.usd_prices,
            lambda: self._path_value(dust_filter, target, max_hops, gas_price_wei),
        )
        gas_value = self._evm_gas_price(gas_price_wei) * wei_value.amount if wei_value else 0.0

        (price_out,) = self.index.usd_prices(order.token_out)
        cent = 0.01 / price_out * 10.0**order.token_out.decimals if price_out else 0.0

        def search_for(amount: int, gas_value: float = gas_value, check: CancelCheck = check) -> RouteSearch:
            market = first_market
            if amount != first:
                market = dust_filter.filtered_market(source, target, float(amount), max_hops)
            router_gas = self._execution.gas
            spec = SwapSpec(source, target, amount, max_hops, gas_value, check, share_step, router_gas, cent, wei_value)
            return RouteSearch(RoutingProblem(market.graph, market.spot, spec), self._pools, self._execution)

        def find_best(gas_value: float) -> SearchResult | Shortfall | None:
            search = partial(search_for, gas_value=gas_value)
            if order.reverse:
                return _for_output(search, order.amount, first, partial(self._run, graph=graph))
            return self._run(search(order.amount), graph)

        def search_from_start() -> SearchResult | Shortfall | None:
            with suppress(SearchTimeUp):
                _check_liquidity(order, graph, path, max_hops, check)
            return find_best(gas_value)

        known = self.memory.search(order, search_for, first) if self.memory is not None else None
        answer = known or search_from_start()
        if self.memory is not None and isinstance(answer, SearchResult) and not known:
            self.memory.remember(order, answer)
        if known_routes:
            # They are also evaluated once the time is up: they may be the only routes found.
            answer = _best_with_known(order, answer, known_routes, partial(search_for, check=without_time_limit(check)))
        if not isinstance(answer, SearchResult) and not order.reverse:
            answer = self._last_resort(order, graph, (source, target), search_for) or answer
        if isinstance(answer, SearchResult):
            return self._fit(order, answer, find_best)
        from swapcli.core.routing.no_route import no_route_found, search_timed_out

        # Not stored in a variable: otherwise the error and this frame would reference each other until a garbage
        # collection.
        with suppress(SearchTimeUp):
            raise no_route_found(order, graph, (source, target), max_hops, check, answer.amount_out if answer else 0)
        raise search_timed_out(order)

    @staticmethod
    def _last_resort(
        order: Order, graph: MarketGraph, endpoints: TokenPair, search_for: Callable[[int], RouteSearch]
    ) -> SearchResult | None:
        """Return the best single path by exact swaps, for orders that no path can take according to the curves; None if
        there is none."""
        from swapcli.core.routing.competing_routes import KnownRoute, best_of
        from swapcli.core.routing.search.exact_paths import exact_paths

        spec = search_for(order.amount).spec
        routes = exact_paths(graph, endpoints, order.amount, spec.max_hops, spec.check)
        return best_of(order, None, (KnownRoute(route, order.amount) for route in routes), search_for)

    def _fit(
        self, order: Order, found: SearchResult, find_best: Callable[[float], SearchResult | Shortfall | None]
    ) -> SearchResult:
        """Return a result whose route fits one transaction and has only as many pools as allowed.

        Raises `NoRoute` if there is none.
        """
        has_limit = self.market.network.block_gas_limit is not None or self._fits_calldata is not None
        if not (has_limit or order.limits_pools):
            return found
        from swapcli.core.routing.route_limits import RouteLimits, fit_into_limits
        from swapcli.core.routing.search.route_search import SearchResult

        def search(gas_value: float) -> SearchResult | None:
            result = find_best(gas_value)
            return result if isinstance(result, SearchResult) else None

        fitting = fit_into_limits(found, RouteLimits(self.market, order, self._fits_calldata), search)
        return fitting._replace(unlimited=found.best) if order.limits_pools else fitting

    def _run(self, search: RouteSearch, graph: MarketGraph) -> SearchResult | None:
        """Return the result of a search, which continues over the whole `graph` if the order drains the market."""
        found = search.run()
        if found and not found.drains_market:
            return found
        from swapcli.core.routing.search.drained_market import search_drained_market

        return search_drained_market(search.problem, graph, self._pools, self._execution, found)

    def _evm_gas_price(self, gas_price_wei: int) -> int:
        """Return the network's charge for the equivalent of one unit of EVM gas, the unit of `Pool.gas_units`."""
        return gas_price_wei * self.market.network.gas_units_per_evm_gas

    def _path_value(self, dust_filter: DustFilter, target: int, max_hops: int, gas_price_wei: int) -> float:
        """Return the output of the best path from the native token for one wei, in base units of the output token.

        The path sells about the gas cost of a transaction. The result is 0.0 without a path, or if gas costs nothing.
        """
        network = self.market.network
        native = dust_filter.graph.token_index.get(network.to_wrapped_token(network.native).address)
        if native is None or not gas_price_wei:
            return 0.0
        amount = float(self._evm_gas_price(gas_price_wei) * self._execution.gas.base)
        return dust_filter.token_value(native, target, amount, max_hops)

    def _quote(self, order: Order, result: SearchResult, gas_price_wei: int, certificate: Certificate | None) -> Quote:
        best, single = result.best, result.best_single_path
        gas_scale = self.market.network.gas_units_per_evm_gas
        native = self.market.network.to_wrapped_token(self.market.network.native)
        price_in, price_out, price_native = self.index.usd_prices(order.token_in, order.token_out, native)
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
            broken_pools=tuple(sorted(self.index.broken_pools.values())),
            unlimited_amount=_traded_amount(order, result.unlimited) if result.unlimited else None,
            wei_value=result.problem.spec.wei_value,
        )


def _best_with_known(
    order: Order,
    answer: SearchResult | Shortfall | None,
    known_routes: Iterable[KnownRoute],
    search_for: Callable[[int], RouteSearch],
) -> SearchResult | Shortfall | None:
    """Return the better of a search's result and the known routes."""
    from swapcli.core.routing.competing_routes import best_of
    from swapcli.core.routing.search.route_search import SearchResult

    result = answer if isinstance(answer, SearchResult) else None
    return best_of(order, result, known_routes, search_for) or answer


def _traded_amount(order: Order, route: ScoredRoute) -> int:
    """Return the amount that depends on the route: the output, or the input of an order for an exact output."""
    return route.amount_in if order.reverse else route.replay.amount_out


def _execute_again(scorer: RouteScorer, order: Order, found: ScoredRoute) -> ScoredRoute | None:
    """Return a route as the scorer executes it: for its input, or for the smallest input that pays the requested
    output."""
    if not _has_pools(found, scorer.pools):
        return None
    if not order.reverse:
        return scorer.score_if_accepted(found.route, found.amount_in)
    from swapcli.core.routing.least_input import least_input

    least = least_input(scorer, found.route, order.amount, found.amount_in)
    return scorer.score_replay(found.route, *least) if least else None


def _has_pools(found: ScoredRoute, pools: Mapping[str, Pool]) -> bool:
    return all(step.pool in pools for step in found.replay.steps)


def _build_check(is_cancelled: Callable[[], bool] | None, is_time_up: Callable[[], bool] | None) -> CancelCheck:
    """Return the check that long work calls; it raises `Cancelled` or `SearchTimeUp`."""
    if is_cancelled is None and is_time_up is None:
        return no_cancellation

    def check() -> None:
        if is_cancelled is not None and is_cancelled():
            raise Cancelled("the quote was cancelled")
        if is_time_up is not None and is_time_up():
            raise SearchTimeUp

    return check


def _value_usd(amount: int, token: Token, price_usd: float | None) -> float | None:
    return amount / 10**token.decimals * price_usd if price_usd is not None else None


def _price_impact(sold_usd: float | None, bought_usd: float | None) -> float | None:
    """Return the part of the value at mid prices that is lost, pool fees included; None if a price is unknown."""
    if not sold_usd or bought_usd is None:
        return None
    return 1.0 - bought_usd / sold_usd


def _for_output(
    search_for: Callable[[int], RouteSearch], amount_out: int, first: int, run: Run
) -> SearchResult | Shortfall | None:
    from swapcli.core.routing.exact_output import route_for_output

    return route_for_output(search_for, amount_out, first, run)


def _prove_output(graph: MarketGraph, result: SearchResult) -> OutputProof:
    from swapcli.core.routing.certificate import bounding_prices, prove_output
    from swapcli.core.routing.search.problem import Exclusions

    problem, best = result.problem, result.best
    order = (*problem.spec.endpoints, best.amount_in)

    used = {(step.pool, graph.token_index[step.token_in]) for step in best.replay.steps}

    def usable(arc: Arc) -> bool:
        # Without the exclusions by which the search broke cycles: other routes without cycles may use those arcs.
        return problem.is_usable(arc, Exclusions()) or (arc.pool.key, arc.token_in) in used

    prices = bounding_prices(problem, result.prices, result.exclusions)
    return prove_output(graph, problem.graph, prices, order, best.replay.amount_out, usable)


def _prove_net_output(result: SearchResult) -> NetProof:
    from swapcli.core.routing.gas_proof.proof import prove_net_output

    best, index = result.best, result.problem.graph.token_index
    hops = {(index[step.token_in], index[step.token_out]) for step in best.replay.steps}
    return prove_net_output(result.problem, result.prices, best.amount_in, best.net, hops)


def _check_liquidity(order: Order, graph: MarketGraph, path: Sequence[int], max_hops: int, check: CancelCheck) -> None:
    """Raise `NoRoute` if the order is larger than all the liquidity between its tokens, which `path` connects."""
    if _looks_feasible(graph, path, order):
        return
    from swapcli.core.routing.no_route import exceeds_liquidity

    error = exceeds_liquidity(order, graph, (path[0], path[-1]), max_hops, check)
    if error:
        raise error


def _looks_feasible(graph: MarketGraph, path: Sequence[int], order: Order) -> bool:
    """Return whether one pool per hop of `path` takes the input, or can pay the output of a reverse order.

    This test is cheap, so that only orders that are large for their pools need the bound on all liquidity.
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
        hint = "use its wrapped token: Network.to_wrapped_token" if token.address == ZERO_ADDRESS else None
        raise UnknownToken(f"the market has no token {token.symbol or token.address} ({token.address})", hint=hint)
    return number
