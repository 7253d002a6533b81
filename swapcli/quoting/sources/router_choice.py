"""Choose the router for a quote: the most trusted router whose output after gas is within `MAX_LOSS_BPS` of the best.

The route is searched only once, over all pools. If a more trusted router can execute that route, as is usual, the route
is only replayed in the way in which that router executes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from swapcli.core.errors import NoRoute, RequestBudgetSpent, SwapcliError
from swapcli.core.model.network import FIBROUS, Network
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.router_choice import RouterChoice
from swapcli.core.model.router_execution import RouterGas
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.units import BPS
from swapcli.core.records import NamedTuple
from swapcli.core.routing.gas import gas_of_terms, route_gas
from swapcli.core.routing.replay import replay
from swapcli.payload.dialects import check_executable, execution_of, router_dialect
from swapcli.payload.payloads import pools_for
from swapcli.payload.router_trust import TRUST_OF, available_dialects, known_dialects, published_dialects
from swapcli.quoting.sources.searchable_market import SearchableMarket

if TYPE_CHECKING:
    from swapcli.core.routing.router import SearchResult

MAX_LOSS_BPS: Final = 0.1
"""How much less a more trusted router may pay, in basis points of the output; chosen."""


ExecutedRoute: TypeAlias = "tuple[SearchableMarket, SearchResult]"
"""An outcome as executed by the router of its market."""
Search = Callable[[SearchableMarket, QuoteRequest], ExecutedRoute]
"""Searches a market for its router, and may read pools that are not yet in the market.

Raises `NoRoute`, and `UpstreamError`.
"""


class ChosenRoute(NamedTuple):
    """The route for the chosen router."""

    searched: SearchableMarket
    outcome: SearchResult
    choice: RouterChoice


def choose_route(
    request: QuoteRequest, found: ExecutedRoute, searches: Sequence[Search], *, needs_permit: bool = False
) -> ChosenRoute:
    """Return the route of the most trusted router that loses at most `MAX_LOSS_BPS` to the best one.

    `found` is the best outcome over all pools, and its market's network lists the routers. If a router cannot execute
    this route, `searches` are called one after another until one finds a route that is good enough. With
    `needs_permit`, only routers that accept permits are considered, if there are any.
    """
    return _Choice(request, found, searches, needs_permit=needs_permit).choose()


def choose_wrapping(network: Network) -> tuple[Network, RouterChoice]:
    """Return the network with the most trusted router, for wrapping or unwrapping, where every router pays the same."""
    names, passed = available_dialects(network)
    return network.for_dialect(names[0]), RouterChoice(names[0], _reason(names[0], network), passed=passed)


def choose_for_route(
    read: SearchableMarket, result: RouteResult, *, needs_permit: bool = False
) -> tuple[SearchableMarket, RouterChoice]:
    """Return the market with the router that is to execute an earlier route, and the choice of the router.

    The choice is the router for which the route was found, if it is still available. Otherwise, it is the most trusted
    router that pays at most `MAX_LOSS_BPS` less than the best; gas is about the same for all routers. `needs_permit` is
    as in `choose_route`.
    """
    available, passed = available_dialects(read.network)
    names = _paying(available, read.network, result.integrator, needs_permit=needs_permit)
    amounts: dict[str, int] = {}
    markets: dict[str, SearchableMarket] = {}
    for name in names:
        market = SearchableMarket(read.market._replace(network=read.network.for_dialect(name)), read.clock)
        with suppress(SwapcliError):  # this router does not execute the route as it is
            check_executable(result.pool_keys, market.market)
            pools = pools_for(result, market.executable)
            amounts[name] = replay(pools, result.route, result.input_amount, market.execution).amount_out
            markets[name] = market
    least = max(amounts.values(), default=0) * (1.0 - MAX_LOSS_BPS / BPS)
    name = next((each for each in names if amounts.get(each, -1) >= least), names[-1])
    if result.dialect in amounts:
        name = result.dialect
    choice = RouterChoice(name, _reason(name, read.network), passed=passed)
    return markets.get(name) or read, choice


class _Choice:
    """The choice for one order. `_values` are the outputs of each dialect's route after gas, in base units. For an
    exact output, they are the inputs as negative numbers."""

    def __init__(
        self, request: QuoteRequest, found: ExecutedRoute, searches: Sequence[Search], *, needs_permit: bool
    ) -> None:
        self._request, self._searches = request, searches
        self._read, self._best = found
        self._network = self._read.network
        names, self._passed = available_dialects(self._network)
        self._names = _paying(names, self._network, request.integrator, needs_permit=needs_permit)
        self._routes: dict[str, ExecutedRoute] = {}
        self._values: dict[str, float] = {}
        self._evaluated: set[str] = set()
        self._searched_pools: list[frozenset[str]] = []
        routes = self._best.best, self._best.best_single_path, self._best.unlimited
        self._route_pools = {step.pool for each in routes if each for step in each.replay.steps}
        # The gas of the Fibrous API's router is unknown. It is counted like that of the most trusted router, because
        # any other figure would be a guess that decides small orders.
        self._common_gas = execution_of(self._network.for_dialect(self._names[0])).gas

    def choose(self) -> ChosenRoute:
        """Return the chosen route."""
        self._execute(FIBROUS)
        for name in self._names:
            self._evaluate(name)
            if name in self._values and self._is_best(name):
                return self._chosen(name)
        return self._chosen(FIBROUS)  # no router can execute the order, which building its payload reports

    def _evaluate(self, name: str) -> None:
        """Find the output of a dialect's router: by the best route, or by another route if that may be good enough."""
        if name in self._evaluated:
            return
        self._evaluated.add(name)
        if name not in self._values:
            self._execute(name)
        value, ceiling = self._values.get(name), self._ceiling(name)
        best = max(self._values.values(), default=ceiling)
        loses = value is None or self._loss_bps(value, ceiling) > MAX_LOSS_BPS  # not because of gas
        if loses and self._loss_bps(ceiling, best) <= MAX_LOSS_BPS:
            self._search_for(name)

    def _is_best(self, name: str) -> bool:
        """Return whether no dialect pays over `MAX_LOSS_BPS` more, after evaluating those that might."""
        for other in self._names:
            if self._loss_bps(self._values[name], self._ceiling(other)) > MAX_LOSS_BPS:
                self._evaluate(other)
        return self._loss_bps(self._values[name], max(self._values.values())) <= MAX_LOSS_BPS

    def _execute(self, name: str) -> None:
        """Record the route as executed by a dialect's router, if the router can execute it."""
        if name == FIBROUS:
            if self._is_published_route():
                self._record(name, self._read, self._best)
            return
        keys = None if self._request.certify else self._route_pools  # a proof may find a better route
        executing = self._read.executing(self._network.for_dialect(name), keys)
        again = executing.execute_again(self._request, self._best)
        if again is not None:
            self._record(name, executing, again)

    def _search_for(self, name: str) -> None:
        """Record the best route over the pools that a dialect's router executes."""
        request, network = self._request, self._network.for_dialect(name)
        if name == FIBROUS:
            excluded = request.order.excluded_protocols | self._network.extended_protocols
            request = request._replace(order=request.order._replace(excluded_protocols=excluded))
        searchable = SearchableMarket(self._read.market._replace(network=network), self._read.clock)
        keys = frozenset(searchable.executable.pools)
        if any(keys <= known for known in self._searched_pools):
            return  # a dialect that executes these pools and more has already lost
        self._searched_pools.append(keys)
        for search in self._searches:
            with suppress(NoRoute, RequestBudgetSpent):
                self._record(name, *search(searchable, request))
                if self._loss_bps(self._values[name], max(self._values.values())) <= MAX_LOSS_BPS:
                    return

    def _record(self, name: str, searched: SearchableMarket, outcome: SearchResult) -> None:
        """Record a route of a dialect, unless it has a better one."""
        value = self._value(searched, outcome, self._gas_of(name))
        if name not in self._values or value > self._values[name]:
            self._values[name], self._routes[name] = value, (searched, outcome)

    def _ceiling(self, name: str) -> float:
        """Return the value of a dialect's route if its router could execute the best route."""
        return self._value(self._read, self._best, self._gas_of(name))

    def _gas_of(self, name: str) -> RouterGas:
        """Return the gas of a dialect's router, as counted in the choice."""
        return execution_of(self._network.for_dialect(name)).gas if TRUST_OF[name].has_known_gas else self._common_gas

    def _value(self, searched: SearchableMarket, outcome: SearchResult, gas: RouterGas) -> float:
        order, best = self._request.order, outcome.best
        if order.reverse:
            return -float(best.amount_in)
        pools, steps = searched.executable.pools, best.replay.steps
        swap_type = SwapType.of(order.token_in.address, order.token_out.address)
        pays_integrator = self._request.integrator is not None
        units = route_gas(pools, best.replay, gas)
        units += gas_of_terms(pools, steps, swap_type, gas, pays_integrator=pays_integrator)
        return best.replay.amount_out - units * outcome.problem.spec.gas_value

    def _loss_bps(self, value: float, best: float) -> float:
        """Return by how much a value is below another, in basis points of the route's amount."""
        found = self._best.best
        amount = found.amount_in if self._request.order.reverse else found.replay.amount_out
        return BPS * (best - value) / amount if amount else 0.0

    def _is_published_route(self) -> bool:
        """Return whether all protocols of the route are in the interface, whose router executes no others."""
        if FIBROUS not in known_dialects(self._network):
            return False
        extended, pools = self._network.extended_protocols, self._read.market.pools
        return all(pools[step.pool].protocol not in extended for step in self._best.best.replay.steps)

    def _chosen(self, name: str) -> ChosenRoute:
        searched, outcome = self._routes.get(name, (self._read, self._best))
        gain_bps, over = None, None
        trusted = next((each for each in self._names if each in self._values), None)
        if trusted is not None and trusted != name:
            over, gain_bps = trusted, round(self._loss_bps(self._values[trusted], self._values[name]), 4)
        choice = RouterChoice(name, _reason(name, self._network), gain_bps, over, self._passed)
        if searched.network.chooses_router:
            searched = searched.executing(self._network.for_dialect(name))
        return ChosenRoute(searched, outcome, choice)


def _paying(
    names: Sequence[str], network: Network, integrator: Integrator | None, *, needs_permit: bool
) -> Sequence[str]:
    """Return the dialects whose calls can pay the integrator, and include a permit if `needs_permit`.

    If there are none, return the Fibrous API's router, whose payload raises the error.
    """
    if integrator is None and not needs_permit:
        return names
    found = []
    for name in names:
        dialect = router_dialect(network.for_dialect(name))
        pays = integrator is None or (dialect.pays_surplus if integrator.surplus_bps else dialect.pays_integrators)
        if pays and not (needs_permit and dialect.permit_kind is None):
            found.append(name)
    return found or [FIBROUS]


def _reason(name: str, network: Network) -> str:
    """Return why a dialect was chosen, as clauses."""
    reason = TRUST_OF[name].reason
    if name == FIBROUS and not any(published_dialects(network)):
        as_of = f" (as of {network.facts_date})" if network.facts_date else ""
        reason += f"; no published router is known on {network.name}{as_of}"
    return reason
