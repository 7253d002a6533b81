"""Select the sampled pools that are useful for an order, and remove implausible ones from a market."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf
from typing import Final

from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.core.model.skipped_pool import pass_request_errors
from swapcli.core.networks.quoter_definitions import quoted_protocols
from swapcli.quoting.sources.market_prices import unit_prices
from swapcli.quoting.sources.searchable_market import SearchableMarket

_MAX_GAIN: Final = 2.0
"""A pool that pays more than this multiple of what other pools indicate for a small amount is not believed."""


def without_pools(searchable: SearchableMarket, keys: Collection[str]) -> SearchableMarket:
    """Return the searchable market without the pools with `keys`."""
    pools = {key: pool for key, pool in searchable.market.pools.items() if key not in keys}
    return searchable.with_market(searchable.market._replace(pools=pools))


def sampled_keys(market: MarketState) -> list[str]:
    """Return the keys of the sampled pools in a market."""
    return [key for key, pool in market.pools.items() if pool.is_sampled]


def has_samples(market: MarketState) -> bool:
    """Return whether a market has a quotable sampled pool."""
    return any(pool.has_samples for pool in market.pools.values())


def useful_sampled_pools(market: MarketState, order_tokens: Collection[str], tokens: Collection[str]) -> list[str]:
    """Return the keys of the sampled pools that trade only `tokens`, starting with the pools that trade the most of
    `order_tokens`.

    Within each group, pools are in the order of their protocols in the network's definition. The last protocols are
    those whose pools anyone may create.
    """
    places = {name: place for place, name in enumerate(quoted_protocols(market.network))}
    useful = [
        (-len(set(order_tokens).intersection(pool.tokens)), places.get(pool.protocol, len(places)), key)
        for key, pool in market.pools.items()
        if pool.is_sampled and set(pool.tokens).issubset(tokens)
    ]
    return [key for _, _, key in sorted(useful, key=lambda entry: entry[:2])]


def without_wrong_prices(searchable: SearchableMarket) -> SearchableMarket:
    """Return the searchable market without sampled pools whose prices are implausible, far better than all other pools
    indicate."""
    market = searchable.market
    if not has_samples(market):
        return searchable
    prices = unit_prices(without_pools(searchable, sampled_keys(market)))
    wrong = [key for key, pool in market.pools.items() if pool.is_sampled and _is_wrong(pool, prices)]
    return without_pools(searchable, wrong) if wrong else searchable


def _is_wrong(pool: Pool, prices: Mapping[str, float]) -> bool:
    for token_in, token_out in (pool.tokens, pool.tokens[::-1]):
        value_in, value_out = prices.get(token_in), prices.get(token_out)
        if value_in and value_out and _start_rate(pool, token_in, token_out) * value_out > _MAX_GAIN * value_in:
            return True
    return False


def _start_rate(pool: Pool, token_in: str, token_out: str) -> float:
    """Return the rate of the first unit; infinity, which is never believed, if the samples break the computation."""
    try:
        return pool.curve(token_in, token_out).start_rate
    except Exception as error:
        pass_request_errors(error)
        return inf
