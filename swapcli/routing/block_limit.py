"""Routes for networks with small blocks: if the best route takes more gas than a block has, a smaller one is found.

Searches with a higher value of gas use fewer pools. The value is raised until a route fits; then the lowest value that
still gives one is approached, since the true value of gas has not changed.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Final

from swapcli.errors import NoRoute
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.routing.competing_routes import is_better
from swapcli.routing.gas import BASE_GAS, fits_block
from swapcli.routing.search.route_search import ScoredRoute, SearchResult

_FIRST_SHARE: Final = 1e-6
"""The part of the output that the gas of a transaction is worth at the first raised value of gas. A pool that gains
less is the first to go."""
_STEP: Final = 4.0
"""Factor between two values of gas: ten steps lead from the first share to all of the output."""
_BISECTIONS: Final = 3
"""They leave a factor of 1.2 between a value whose route does not fit and the one that is used."""

SearchWithGasValue = Callable[[float], SearchResult | None]


def fit_into_block(order: Order, found: SearchResult, network: Network, search: SearchWithGasValue) -> SearchResult:
    """Return `found` if a transaction with its route fits a block of the network, else the best result that fits.

    `search` searches with another value of a unit of gas, in base units of the output. Raises `NoRoute` if no route
    fits.
    """
    limit, true_value = network.block_gas_limit, found.problem.spec.gas_value
    if limit is None or fits_block(found.best.gas_units, limit):
        return found
    fitting: SearchResult | None = None
    single = found.best_single_path
    # The single path of an order in reverse has the input of the best route, which may be too little for it.
    if single and not order.reverse and fits_block(single.gas_units, limit):
        fitting = found._replace(best=single)

    def try_value(gas_value: float) -> bool:
        nonlocal fitting
        result = search(gas_value)
        if result is None or not fits_block(result.best.gas_units, limit):
            return False
        result = _with_gas_value(result, true_value)
        if fitting is None or is_better(order, result.best, fitting.best):
            fitting = result
        return True

    low = max(true_value, found.best.replay.amount_out * _FIRST_SHARE / found.best.gas_units)
    high, highest = low * _STEP, found.best.replay.amount_out * _STEP / BASE_GAS
    while not try_value(high) and high < highest:
        low, high = high, high * _STEP
    for _ in range(_BISECTIONS):
        middle = sqrt(low * high)
        low, high = (low, middle) if try_value(middle) else (middle, high)
    if fitting is None:
        raise NoRoute(
            f"no route fits a block of {network.name}, which has {limit:,} gas",
            hint=f"trade less; if your account uses bigger blocks, set networks.{network.name}.block_gas_limit",
            details={"block_gas_limit": limit},
        )
    return fitting


def _with_gas_value(result: SearchResult, gas_value: float) -> SearchResult:
    """Return a result of a search with another value of gas as if it had been found with this one."""
    spec = result.problem.spec._replace(gas_value=gas_value)
    single = result.best_single_path
    return result._replace(
        problem=result.problem._replace(spec=spec),
        best=_net_of_gas(result.best, gas_value),
        best_single_path=single and _net_of_gas(single, gas_value),
    )


def _net_of_gas(route: ScoredRoute, gas_value: float) -> ScoredRoute:
    return route._replace(net=route.replay.amount_out - route.gas_units * gas_value)
