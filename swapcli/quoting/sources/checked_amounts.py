"""Confirm the amounts in a found route by querying the protocols of its pools.

For sampled pools, the protocols quote the route's exact amounts (`requote_sampled_pools`). Computed pools are checked
if their protocol also quotes. For the route's first sale in a pool, the contract must quote exactly the computed
output. If it does not, the program's maths differs from the contract's, and no pool of the protocol is used any more.
If a contract only rejects the sale, only that pool is omitted, and only for this order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.quoter import Sale
from swapcli.core.networks.quoter_definitions import checked_protocols
from swapcli.core.records import NamedTuple
from swapcli.quoting.quote_results import Contradiction
from swapcli.quoting.sources.requote_sampled_pools import QuoteSales, SampledAmounts
from swapcli.quoting.sources.sampled_markets import without_pools
from swapcli.quoting.sources.searchable_market import SearchableMarket

if TYPE_CHECKING:
    from swapcli.core.model.quote import Step
    from swapcli.core.routing.router import SearchResult

ReadChecks = Callable[[Mapping[str, Sale]], Mapping[str, int]]
"""Returns the protocols' quotes for a sale in each of these pools, 0 for a rejected sale; empty if protocols cannot be
queried.
"""


class SettledAmounts(NamedTuple):
    """A search result with its market, and the contradictions for which protocols or pools were omitted."""

    searched: SearchableMarket
    outcome: SearchResult
    contradictions: tuple[Contradiction, ...] = ()


def settle_amounts(
    request: QuoteRequest,
    searched: SearchableMarket,
    outcome: SearchResult,
    quote_sales: QuoteSales,
    read_checks: ReadChecks,
) -> SettledAmounts:
    """Return the best outcome whose amounts have been quoted or confirmed by the protocols that can be queried.

    Sends no request if the route has no such pools. Raises `NoRoute` if a contradiction leaves no other route, and
    `UpstreamError`.
    """
    sampled = SampledAmounts(request, quote_sales)
    searched, outcome = sampled.settle(searched, outcome)
    contradictions: list[Contradiction] = []
    while found := _contradictions(searched.market.pools, outcome, searched, read_checks):
        contradictions += found
        refusing = {each.pool for each in found if not each.quoted}
        others = without_protocols(searched, {each.protocol for each in found if each.quoted})
        others = without_pools(others, refusing) if refusing else others
        searched, outcome = sampled.settle(others, others.search(request))
    return SettledAmounts(searched, outcome, tuple(contradictions))


def without_protocols(searchable: SearchableMarket, protocols: Collection[str]) -> SearchableMarket:
    """Return `searchable` without the pools of `protocols`, or the same object if it has no such pools."""
    if not protocols:
        return searchable
    keys = {key for key, pool in searchable.market.pools.items() if pool.protocol in protocols}
    return without_pools(searchable, keys) if keys else searchable


def _contradictions(
    pools: Mapping[str, Pool], outcome: SearchResult, searched: SearchableMarket, read_checks: ReadChecks
) -> list[Contradiction]:
    """Return the contradictions of the pools of a route."""
    checked = checked_protocols(searched.network)
    steps: dict[str, Step] = {}
    for step in outcome.best.replay.steps:
        if step.pool in pools and pools[step.pool].protocol in checked:
            steps.setdefault(step.pool, step)  # the quote is for the pool at the block, before any swap
    if not steps:
        return []
    sales = {key: Sale(step.token_in == pools[key].tokens[0], step.amount_in) for key, step in steps.items()}
    return [
        Contradiction(pools[key].protocol, key, steps[key].amount_in, steps[key].amount_out, quoted)
        for key, quoted in read_checks(sales).items()
        if quoted != steps[key].amount_out
    ]
