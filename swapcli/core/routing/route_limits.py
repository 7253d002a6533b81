"""Keep routes within limits: if the best route is too large, find a smaller one.

A transaction is limited by the gas of a block, on networks with small blocks, and by the size of its calldata, for
routers that need much of it. An order may limit the pools of its route, too. Searches with a higher value of gas use
fewer pools. The value is raised until a route fits, and then lowered towards the lowest value whose route still fits,
since the true value of gas has not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import Final

from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.records import NamedTuple
from swapcli.core.routing.gas import fits_block
from swapcli.core.routing.search.route_search import SearchResult
from swapcli.core.routing.search.scored_route import ScoredRoute

_FIRST_SHARE: Final = 1e-6
"""The fraction of the output that the gas of a transaction is worth at the first raised value of gas.

Pools that gain less go first.
"""
_STEP: Final = 4.0
"""The factor between two values of gas: ten steps lead from the first share to the whole output."""
_BISECTIONS: Final = 3
"""The number of bisections: they leave a factor of 1.2 between a value whose route does not fit and the value used."""

SearchWithGasValue = Callable[[float], SearchResult | None]
FitsCalldata = Callable[[Sequence[Step], Mapping[str, Pool]], bool]
"""Returns whether one transaction can carry the calldata for steps in pools, by key."""


class RouteLimits(NamedTuple):
    """The limits of one transaction on a market's network, and the order's limit on pools.

    Without `fits_calldata`, calldata has no size limit.
    """

    market: MarketState
    order: Order
    fits_calldata: FitsCalldata | None = None

    def allow(self, route: ScoredRoute) -> bool:
        """Return whether the route is within all limits."""
        fits = self.fits_calldata
        fits_transaction = self._fits_block(route) and (fits is None or fits(route.replay.steps, self.market.pools))
        return fits_transaction and self._has_few_pools(route)

    def error(self, route: ScoredRoute) -> NoRoute:
        """Return the error for an order whose smallest route, `route`, does not fit."""
        network = self.market.network
        name, gas_limit = network.name, network.block_gas_limit
        if not self._has_few_pools(route):
            return NoRoute(f"no route uses {self._allowed_pools()}", hint="trade less, or allow more pools")
        if self._fits_block(route):
            return NoRoute(
                f"no route fits in one transaction: its calldata for the router {network.router_dialect} of {name} "
                "is too"
                " large",
                hint="trade less, or allow fewer hops",
            )
        return NoRoute(
            f"no route fits in a block of {name}, whose gas limit is {gas_limit:,}",
            hint=f"sell less; if your account uses larger blocks, set networks.{name}.block_gas_limit",
            details={"block_gas_limit": gas_limit},
        )

    def _allowed_pools(self) -> str:
        if self.order.single_path:
            return "a single path with one pool per hop"
        return "a single pool" if self.order.max_pools == 1 else f"at most {self.order.max_pools} pools"

    def _has_few_pools(self, route: ScoredRoute) -> bool:
        segments, max_pools = route.route.segments, self.order.max_pools
        if self.order.single_path and (len(segments) > 1 or any(len(hop) > 1 for hop in segments[0].hops)):
            return False
        return max_pools is None or len({step.pool for step in route.replay.steps}) <= max_pools

    def _fits_block(self, route: ScoredRoute) -> bool:
        network = self.market.network
        limit = network.block_gas_limit
        return limit is None or fits_block(route.gas_units, limit // network.gas_units_per_evm_gas)


def fit_into_limits(found: SearchResult, limits: RouteLimits, search: SearchWithGasValue) -> SearchResult:
    """Return `found` if its route is within the limits, otherwise the best result that fits.

    `search` searches with a different value of a unit of gas, in base units of the output. Raises `NoRoute` if no route
    fits.
    """
    order = limits.order
    if limits.allow(found.best):
        return found
    from swapcli.core.routing.competing_routes import is_better  # hardly any route exceeds a limit

    true_value, smallest = found.problem.spec.gas_value, found.best
    fitting: SearchResult | None = None
    single = found.best_single_path
    # The single path of a reverse order has the input of the best route, which may be too little for the path.
    if single and not order.reverse and limits.allow(single):
        fitting = found._replace(best=single)

    def try_value(gas_value: float) -> bool:
        nonlocal fitting, smallest
        result = search(gas_value)
        if result is None:
            return False
        if not limits.allow(result.best):
            smallest = result.best
            return False
        result = _with_gas_value(result, true_value)
        if fitting is None or is_better(order, result.best, fitting.best):
            fitting = result
        return True

    low = max(true_value, found.best.replay.amount_out * _FIRST_SHARE / found.best.gas_units)
    high, highest = low * _STEP, found.best.replay.amount_out * _STEP / found.problem.spec.router_gas.base
    while not try_value(high) and high < highest:
        low, high = high, high * _STEP
    for _ in range(_BISECTIONS):
        middle = sqrt(low * high)
        low, high = (low, middle) if try_value(middle) else (middle, high)
    if fitting is None:
        raise limits.error(smallest)
    return fitting


def _with_gas_value(result: SearchResult, gas_value: float) -> SearchResult:
    """Return the result of a search with a different gas value as if it had been found with this one."""
    spec = result.problem.spec._replace(gas_value=gas_value)
    single = result.best_single_path
    return result._replace(
        problem=result.problem._replace(spec=spec),
        best=_after_gas(result.best, gas_value),
        best_single_path=single and _after_gas(single, gas_value),
    )


def _after_gas(route: ScoredRoute, gas_value: float) -> ScoredRoute:
    return route._replace(net=route.replay.amount_out - route.gas_units * gas_value)
