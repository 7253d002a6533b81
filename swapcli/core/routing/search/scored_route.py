"""A route that a search compares with others, with its score: the exact output after gas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Route
from swapcli.core.model.router_execution import Execution
from swapcli.core.records import NamedTuple
from swapcli.core.routing.gas import route_gas
from swapcli.core.routing.replay import Replay, check_pools, execute, flatten
from swapcli.core.routing.search.problem import SwapSpec


class ScoredRoute(NamedTuple):
    """A route with its exact replay. `net` is its output minus gas, in base units of the target.

    `rerouted` is the share, in hundredths of a percent, that would have needed paths with too many hops.
    """

    route: Route
    amount_in: int
    replay: Replay
    gas_units: int
    net: float
    rerouted: int = 0


class RouteScorer:
    """A scorer that replays each route of one order once, on `pools` (by key) and with `execution`.

    Example: `RouteScorer(spec, market.pools, RATES).score(route, spec.amount).net`.
    """

    def __init__(self, spec: SwapSpec, pools: Mapping[str, Pool], execution: Execution) -> None:
        self.spec, self.pools, self.execution = spec, pools, execution
        self._scored: dict[tuple[Route, int], ScoredRoute] = {}  # several candidates often round to the same route

    def score(self, route: Route, amount_in: int) -> ScoredRoute:
        """Return `route` with its exact amounts for `amount_in`.

        Raises `PoolError` if a pool rejects its amount, and `PoolFault` if the code of a pool fails.
        """
        scored = self._scored.get((route, amount_in))
        if scored is None:
            swaps = flatten(route, self.execution)
            check_pools(self.pools, swaps)
            scored = self.score_replay(route, amount_in, execute(self.pools, swaps, amount_in, self.execution))
            self._scored[route, amount_in] = scored
        return scored

    def score_if_accepted(self, route: Route, amount_in: int) -> ScoredRoute | None:
        """Return `route` with its exact amounts for `amount_in`; None if a pool rejects its amount.

        Raises `PoolFault` in the same case as `score`.
        """
        try:
            return self.score(route, amount_in)
        except PoolError:
            return None

    def score_replay(self, route: Route, amount_in: int, done: Replay) -> ScoredRoute:
        """Return `route` with its gas and `done`, the replay of `route` for `amount_in`."""
        gas = route_gas(self.pools, done, self.spec.router_gas)
        return ScoredRoute(route, amount_in, done, gas, done.amount_out - gas * self.spec.gas_value)

    def crossed_gas(self, found: ScoredRoute) -> dict[str, int]:
        """Return the gas of each pool of a route beyond the gas of the pool's smallest swap: mostly that of the ticks
        crossed."""
        pools, after = self.pools, found.replay.pools_after
        return {key: pools[key].gas_units(pool) - pools[key].gas_units(pools[key]) for key, pool in after.items()}

    def known(self, amount_in: int) -> Iterator[ScoredRoute]:
        """Yield the routes that were scored for `amount_in`."""
        return (scored for scored in self._scored.values() if scored.amount_in == amount_in)
