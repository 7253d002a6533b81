"""Quotes orders on one market: the front of the routing core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from swapcli.errors import Cancelled, SameToken, UnknownToken
from swapcli.model.market import Market
from swapcli.model.order import Order
from swapcli.model.pool import Pool
from swapcli.model.route import Certificate, Quote
from swapcli.model.token import Token
from swapcli.routing.gas import BASE_GAS
from swapcli.routing.graph.dust_filter import OrderScales, drop_oldest
from swapcli.routing.graph.market_graph import Arc, Graph
from swapcli.routing.graph.usd_prices import reference_values, usd_prices
from swapcli.routing.search.problem import Problem, SearchTimeUp, Task
from swapcli.routing.search.route_search import Outcome, Search
from swapcli.routing.solver.newton import Check, unwatched

if TYPE_CHECKING:
    from swapcli.routing.exact_output import Shortfall

if TYPE_CHECKING:
    from swapcli.routing.candidate_pools import Bids
    from swapcli.routing.known_routes import Candidate

_KEPT_GRAPHS = 8
_MAX_UNITS = 2.0**256


class Router:
    """Keeps what is the same for many orders on a state: the graph, and spot prices by output token and size.

    Example: `Router(market).quote(Order(weth, usdc, 10**18)).amount_out`.
    """

    def __init__(self, market: Market) -> None:
        self.market = market
        self._scales: dict[frozenset[str], OrderScales] = {}

    def moved(self, market: Market, changed: Set[str]) -> Router:
        """The router once its market has become `market`, which differs in the pools with the keys `changed` alone."""
        router, scales = Router(market), self._scales.get(frozenset())
        addresses = tuple(market.tokens)
        if scales and addresses[: len(scales.graph.addresses)] == scales.graph.addresses:
            before, after = (_chosen(each, changed) for each in (self.market, market))
            router._scales[frozenset()] = router._new_scales(scales.graph.moved(before, after, addresses))
        return router

    def warm(self) -> None:
        """Build what all orders share, ahead of the first one."""
        graph = self._graph(frozenset())
        _ = graph.core_best, graph.core_best_into, self._reference_values

    def quote(
        self,
        order: Order,
        *,
        gas_price_wei: int | None = None,
        certify: bool = False,
        is_cancelled: Callable[[], bool] | None = None,
        is_time_up: Callable[[], bool] | None = None,
    ) -> Quote:
        """The best route for `order` with exact amounts; `time_s` is left at 0.

        `gas_price_wei` overrides the market's; 0 ranks by gross output. `is_cancelled` is asked every millisecond or
        so; once it says yes, `Cancelled` is raised. Once `is_time_up` says yes, the best route found so far is
        returned and marked, or `NoRoute` raised where there is none. Raises `NoRoute`, `SameToken`, `UnknownToken`.
        """
        outcome = self.search(order, gas_price_wei=gas_price_wei, is_cancelled=is_cancelled, is_time_up=is_time_up)
        return self.quote_of(order, outcome, gas_price_wei=gas_price_wei, certify=certify)

    def search(
        self,
        order: Order,
        *,
        gas_price_wei: int | None = None,
        is_cancelled: Callable[[], bool] | None = None,
        is_time_up: Callable[[], bool] | None = None,
        candidates: Iterable[Candidate] = (),
    ) -> Outcome:
        """Return what a search for the best route ended with, for `quote_of` and `bids`. Raises as `quote`.

        `candidates` are routes that were found on other state: the outcome is no worse than any of them on this one.
        """
        graph = self._graph(order.excluded_protocols)
        return self._outcome(order, graph, self._gas_price(gas_price_wei), _check(is_cancelled, is_time_up), candidates)

    def quote_of(
        self, order: Order, outcome: Outcome, *, gas_price_wei: int | None = None, certify: bool = False
    ) -> Quote:
        """Return the quote that the outcome of a search for `order` on this market makes. Raises nothing."""
        certificate = _certificate(self._graph(order.excluded_protocols), outcome) if certify else None
        return self._quote(order, outcome, self._gas_price(gas_price_wei), certificate)

    def bids(self, order: Order, outcome: Outcome, taken: Set[str], margin: float, *, whole: bool = False) -> Bids:
        """Return what this market's pools beside those `taken` could add to the outcome; see `considered.bids`.

        The outcome may be of another market that knows the same tokens.
        """
        from swapcli.routing.candidate_pools import bids

        return bids(self._graph(order.excluded_protocols), outcome, taken, margin, whole=whole)

    def nearest(self, order: Order, outcome: Outcome, taken: Set[str], limit: int) -> tuple[str, ...]:
        """Return the keys of this market's pools beside those `taken` that miss the best rates by least."""
        from swapcli.routing.candidate_pools import nearest

        return nearest(self._graph(order.excluded_protocols), outcome, taken, limit)

    def _gas_price(self, gas_price_wei: int | None) -> int:
        return self.market.gas_price_wei if gas_price_wei is None else gas_price_wei

    def pricing(self, addresses: Iterable[str]) -> tuple[str, ...]:
        """Keys of the deepest pool of each of these tokens with each that prices begin at, as far as there are."""
        graph, network = self._graph(frozenset()), self.market.network
        wrapped = (network.wrapped_native.address,) if network.wrapped_native else ()
        index = graph.token_index
        anchors = [index[address] for address in (*network.stablecoins, *wrapped) if address in index]
        pairs = [graph.pairs[index[a]].get(anchor, ()) for a in addresses if a in index for anchor in anchors]
        return tuple(dict.fromkeys(max(arcs, key=lambda arc: arc.depth).pool.key for arcs in pairs if arcs))

    def _outcome(
        self, order: Order, graph: Graph, gas_price_wei: int, check: Check, candidates: Iterable[Candidate]
    ) -> Outcome:
        source, target = _number(graph, order.token_in), _number(graph, order.token_out)
        if source == target:
            raise SameToken()
        max_hops = 1 if order.direct else order.max_hops
        scales = self._scales_without(order.excluded_protocols)
        gas_value = gas_price_wei * self._native_value(scales, target, max_hops, gas_price_wei)

        def search_for(amount: int) -> Search:
            scaled = scales.scaled(source, target, float(amount), max_hops)
            task = Task(source, target, amount, max_hops, gas_value, check)
            return Search(Problem(scaled.graph, scaled.spot, task), self.market.pools)

        path = scales.spot(target, max_hops).path(source)
        if not path:
            from swapcli.routing.no_route import not_joined

            raise not_joined(order, graph)
        with suppress(SearchTimeUp):
            _check_liquidity(order, graph, path, max_hops, check)
        found: Outcome | Shortfall | None
        if order.reverse:
            found = _for_output(search_for, order.amount, scales.equal_amount(order.amount, target, source))
        else:
            found = search_for(order.amount).best() or self._searched_whole(search_for(order.amount).problem, graph)
        if candidates:
            from swapcli.routing.known_routes import with_candidates

            outcome = found if isinstance(found, Outcome) else None
            found = with_candidates(order, outcome, candidates, search_for) or found
        if isinstance(found, Outcome):
            return found
        from swapcli.routing.no_route import not_found, not_found_in_time

        try:
            refused = not_found(order, graph, (source, target), max_hops, check, found.amount_out if found else 0)
        except SearchTimeUp:
            refused = not_found_in_time(order)
        raise refused

    def _searched_whole(self, problem: Problem, graph: Graph) -> Outcome | None:
        """Search the whole `graph` for an order that found no route in its scaled market."""
        return Search(problem._replace(graph=graph), self.market.pools).best() if graph is not problem.graph else None

    def _graph(self, excluded: frozenset[str]) -> Graph:
        return self._scales_without(excluded).graph

    def _scales_without(self, excluded: frozenset[str]) -> OrderScales:
        scales = self._scales.get(excluded)
        if scales is None:
            pools = (pool for pool in self.market.pools.values() if pool.protocol not in excluded)
            scales = self._scales[excluded] = self._new_scales(Graph(pools, self.market.tokens))
            drop_oldest(self._scales, _KEPT_GRAPHS)
        return scales

    def _new_scales(self, graph: Graph) -> OrderScales:
        return OrderScales(graph, lambda: self._reference_values)

    @cached_property
    def _reference_values(self) -> dict[int, float]:
        return reference_values(self._graph(frozenset()), self._usd)

    def _native_value(self, scales: OrderScales, target: int, max_hops: int, gas_price_wei: int) -> float:
        """Return the worth of one wei of the native token in base units of the output token, at about the size of a
        transaction's gas; 0.0 where no path tells."""
        wrapped = self.market.network.wrapped_native
        number = scales.graph.token_index.get(wrapped.address) if wrapped else None
        if number is None or not gas_price_wei:
            return 0.0
        return scales.value(number, target, float(gas_price_wei * BASE_GAS), max_hops)

    def _quote(self, order: Order, outcome: Outcome, gas_price_wei: int, certificate: Certificate | None) -> Quote:
        found, single = outcome.found, outcome.single
        native = self.market.network.wrapped_native or self.market.network.native
        price_in, price_out, price_native = self.usd_prices(order.token_in, order.token_out, native)
        sold = _worth(found.amount_in, order.token_in, price_in)
        bought = _worth(found.replay.amount_out, order.token_out, price_out)
        return Quote(
            order=order,
            route=found.route,
            steps=found.replay.steps,
            amount_in=found.amount_in,
            amount_out=found.replay.amount_out,
            gas_units=found.gas_units,
            gas_price_wei=gas_price_wei,
            wei_usd=None if price_native is None else price_native / 10**native.decimals,
            price_in_usd=price_in,
            price_out_usd=price_out,
            price_impact=_price_impact(sold, bought),
            best_single_path_out=single.replay.amount_out if single else None,
            time_s=0.0,
            certificate=certificate,
            is_search_complete=outcome.is_complete,
        )

    def usd_prices(self, *tokens: Token) -> tuple[float | None, ...]:
        """USD per whole token, None where no pool tells."""
        index = self._graph(frozenset()).token_index
        prices = (self._usd.get(index.get(token.address, -1)) for token in tokens)
        return tuple(p and p * 10**token.decimals for p, token in zip(prices, tokens, strict=True))

    @cached_property
    def _usd(self) -> dict[int, float]:
        """USD per base unit by token number."""
        graph = self._graph(frozenset())
        return usd_prices(graph, self._anchors(graph))

    def _anchors(self, graph: Graph) -> dict[int, float]:
        """USD per base unit of the tokens that all other prices start from."""
        tokens = self.market.tokens
        stablecoins = [a for a in self.market.network.stablecoins if a in tokens]
        per_token = dict.fromkeys(stablecoins, 1.0) or {
            a: t.price_usd for a, t in tokens.items() if t.price_usd is not None and t.price_usd > 0.0
        }
        return {graph.token_index[a]: price / 10 ** tokens[a].decimals for a, price in per_token.items()}


def _chosen(market: Market, keys: Iterable[str]) -> list[Pool]:
    return [market.pools[key] for key in keys if key in market.pools]


def _check(is_cancelled: Callable[[], bool] | None, is_time_up: Callable[[], bool] | None) -> Check:
    """Return what long work calls: it raises `Cancelled` or `SearchTimeUp`."""
    if is_cancelled is None and is_time_up is None:
        return unwatched

    def check() -> None:
        if is_cancelled is not None and is_cancelled():
            raise Cancelled("nobody waits for this quote any more")
        if is_time_up is not None and is_time_up():
            raise SearchTimeUp

    return check


def _worth(amount: int, token: Token, price_usd: float | None) -> float | None:
    return amount / 10**token.decimals * price_usd if price_usd is not None else None


def _price_impact(sold_usd: float | None, bought_usd: float | None) -> float | None:
    """The part of the worth at mid prices that is lost, pool fees included; None where a price is unknown."""
    if not sold_usd or bought_usd is None:
        return None
    return 1.0 - bought_usd / sold_usd


def _for_output(search_for: Callable[[int], Search], amount_out: int, first: int) -> Outcome | Shortfall | None:
    from swapcli.routing.exact_output import route_for_output

    return route_for_output(search_for, amount_out, first)


def _certificate(graph: Graph, outcome: Outcome) -> Certificate:
    from swapcli.routing.certificate import certificate_for

    task = outcome.problem.task._replace(check=unwatched)  # the time of a search does not bound its proof
    outcome = outcome._replace(problem=outcome.problem._replace(task=task))
    problem, found = outcome.problem, outcome.found
    order = (*problem.task.ends, float(found.amount_in))

    used = {(step.pool, graph.token_index[step.token_in]) for step in found.replay.steps}

    def usable(arc: Arc) -> bool:
        return problem.usable(arc, outcome.banned) or (arc.pool.key, arc.token_in) in used

    return certificate_for(graph, problem.graph, outcome.bounding_prices(), order, found.replay.amount_out, usable)


def _check_liquidity(order: Order, graph: Graph, path: Sequence[int], max_hops: int, check: Check) -> None:
    """Raise `NoRoute` if the order is larger than all the liquidity between its tokens, which `path` joins."""
    if _looks_feasible(graph, path, order):
        return
    from swapcli.routing.no_route import beyond_liquidity

    refused = beyond_liquidity(order, graph, (path[0], path[-1]), max_hops, check)
    if refused:
        raise refused


def _looks_feasible(graph: Graph, path: Sequence[int], order: Order) -> bool:
    """Whether one pool per hop along the tokens of `path` takes what is sold, or can pay what is wanted.

    A quick look, so that only orders that are large for their pools are held against all the liquidity there is.
    """
    held = inf if order.reverse else float(order.amount)
    for i, j in pairwise(path):
        curves = (arc.curve for arc in graph.pairs[i][j])
        if order.reverse:
            held = max(curve.amount_out(min(held, curve.capacity, _MAX_UNITS)) for curve in curves)
        else:
            curve = next((curve for curve in curves if curve.capacity >= held), None)
            held = curve.amount_out(held) if curve else 0.0
    return held > (order.amount if order.reverse else 0.0)


def _number(graph: Graph, token: Token) -> int:
    number = graph.token_index.get(token.address)
    if number is None:
        raise UnknownToken(f"the market has no token {token.symbol or token.address} ({token.address})")
    return number
