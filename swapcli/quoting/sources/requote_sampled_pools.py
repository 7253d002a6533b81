"""Query the protocols of a route's sampled pools for quotes of the route's amounts, so that every amount is exact.

Routes are found on samples. A path has at most one sampled pool, so no input depends on the output of another sampled
pool, and one round trip quotes all of them at the block of the samples. If a protocol pays less than its samples
promised, another route may be better. The search then continues without that pool, for a few rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import InvalidRoute, NoRoute, PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.quoter import Sale
from swapcli.core.model.route_result import RouteResult
from swapcli.core.routing.competing_routes import is_better
from swapcli.core.routing.replay import replay
from swapcli.payload.payloads import pools_for
from swapcli.quoting.sources.sampled_markets import has_samples, sampled_keys, without_pools
from swapcli.quoting.sources.searchable_market import SearchableMarket

if TYPE_CHECKING:
    from swapcli.core.routing.replay import Replay
    from swapcli.core.routing.router import ScoredRoute, SearchResult

_MAX_ROUNDS: Final = 3
"""Rounds for one quote. The last search uses no sampled pool, so its route needs none."""
_SHORTFALL: Final = 1e-5
"""A fraction of an output, a tenth of a basis point: a smaller shortfall below the samples does not exclude a pool."""

QuoteSales = Callable[[Mapping[str, Sequence[Sale]]], Mapping[str, Pool | None]]
"""Returns the sampled pools with these keys, with their protocols' quotes for these sales; None for a pool whose
protocol does not quote them."""


class SampledAmounts:
    """The exact amounts in sampled pools for one order. `quote_sales` queries the protocols.

    Example: `searchable, outcome = SampledAmounts(request, quote_sales).settle(searchable, outcome)`.
    """

    def __init__(self, request: QuoteRequest, quote_sales: QuoteSales) -> None:
        self._request, self._quote_sales = request, quote_sales

    def settle(self, searchable: SearchableMarket, outcome: SearchResult) -> tuple[SearchableMarket, SearchResult]:
        """Return the best outcome whose amounts the protocols have quoted, and its searchable market.

        Raises `NoRoute` if a protocol does not quote an amount and no other route is left, and `UpstreamError`.
        """
        for remaining_rounds in reversed(range(_MAX_ROUNDS)):
            sales = _sales_to_quote(searchable.market.pools, outcome)
            if not sales:
                break
            promised = outcome
            searchable = searchable.with_market(_with_pools(searchable.market, self._quote_sales(sales)))
            quoted = self._quoted(searchable, outcome)
            if quoted and self._is_as_promised(quoted.best, promised.best):
                outcome = quoted
                continue
            excluded = _short_pools(promised.best, quoted.best if quoted else None, searchable.market.pools)
            others = without_pools(searchable, excluded if remaining_rounds else sampled_keys(searchable.market))
            found = self._search(others, required=quoted is None)
            if found and (quoted is None or is_better(self._request.order, found.best, quoted.best)):
                searchable, outcome = others, found
            elif quoted:
                outcome = quoted
        return searchable, outcome

    def _quoted(self, searchable: SearchableMarket, outcome: SearchResult) -> SearchResult | None:
        """Return the outcome with the amounts quoted by the protocols; None if it no longer fills the order."""
        quoted, order = searchable.replay_again(self._request, outcome), self._request.order
        is_short = quoted is not None and order.reverse and quoted.best.replay.amount_out < order.amount
        return None if is_short else quoted

    def _is_as_promised(self, quoted: ScoredRoute, promised: ScoredRoute) -> bool:
        if self._request.order.reverse:
            return True
        return quoted.net >= promised.net - _SHORTFALL * promised.replay.amount_out

    def _search(self, searchable: SearchableMarket, *, required: bool) -> SearchResult | None:
        try:
            return searchable.search(self._request)
        except NoRoute:
            if required:
                raise
            return None


def _sales_to_quote(pools: Mapping[str, Pool], outcome: SearchResult) -> dict[str, list[Sale]]:
    """Return the sales whose outputs are estimates, by pool key: those of the route and of the best single path.

    The compared price must be as exact as the quoted one.
    """
    sales: dict[str, list[Sale]] = {}
    for found in (outcome.best, outcome.best_single_path):
        for key, of_route in _sales_of(pools, found.replay).items() if found else ():
            sales.setdefault(key, []).extend(of_route)
    return {key: list(dict.fromkeys(each)) for key, each in sales.items()}


def _sales_of(pools: Mapping[str, Pool], replay: Replay) -> dict[str, list[Sale]]:
    """Return a route's sales whose outputs are estimates."""
    estimated = [step for step in replay.steps if step.pool in replay.estimated_pools]
    return {step.pool: [Sale(step.token_in == pools[step.pool].tokens[0], step.amount_in)] for step in estimated}


def _short_pools(promised: ScoredRoute, quoted: ScoredRoute | None, pools: Mapping[str, Pool]) -> list[str]:
    """Return the keys of the sampled pools of a route that pay less than promised; all of them if none does."""
    sampled = promised.replay.sampled_pools
    if quoted is None:
        return [key for key in sampled if key not in pools] or list(sampled)
    outputs = {step.pool: step.amount_out for step in quoted.replay.steps}
    short = [
        step.pool
        for step in promised.replay.steps
        if step.pool in sampled and outputs[step.pool] < step.amount_out * (1.0 - _SHORTFALL)
    ]
    return short or list(sampled)


def _with_pools(market: MarketState, changed: Mapping[str, Pool | None]) -> MarketState:
    pools = {key: changed.get(key, pool) for key, pool in market.pools.items()}
    return market._replace(pools={key: pool for key, pool in pools.items() if pool})


def with_quoted_amounts(searchable: SearchableMarket, result: RouteResult, quote_sales: QuoteSales) -> SearchableMarket:
    """Return the searchable market with the protocols' quotes for the amounts that a route sells to sampled pools.

    A route that cannot be replayed is left unchanged, and the payload builder rejects it. Raises `UpstreamError`.
    """
    if not has_samples(searchable.market):
        return searchable
    try:
        pools = pools_for(result, searchable.executable)
        done = replay(pools, result.route, result.input_amount, searchable.execution)
        sales = _sales_of(searchable.market.pools, done)
    except (InvalidRoute, PoolError):
        return searchable
    return searchable.with_market(_with_pools(searchable.market, quote_sales(sales))) if sales else searchable
