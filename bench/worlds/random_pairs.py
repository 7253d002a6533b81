"""Real states of a network, and random orders between any two of their tokens."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bench.optimum.real_market import read_document, read_plain
from swapcli.core.model.market import MarketState
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.open_market import open_market

MIN_USD, MAX_USD = 0.3, 3_000.0
_ANY_PART = 0.25


class PairOrder(NamedTuple):
    """An order between two tokens by address; `usd` is the value of the input at the market's prices."""

    token_in: str
    token_out: str
    amount: int
    usd: float


def read_market(file: Path) -> MarketState:
    """Return the market of a file, plain or compressed. Raises `BenchmarkFailed` if there is none."""
    name = read_document(file)["network"]["name"]
    return open_market(name, find_network, document=read_plain(file)).market


def random_pairs(market: MarketState, count: int, seed: int, max_usd: float = MAX_USD) -> list[PairOrder]:
    """Return `count` orders of $0.3 to `max_usd` between random tokens with dollar prices.

    Most tokens of a chain have pools with only one other token, so a route has no choice: only a quarter of the orders'
    tokens are drawn from all tokens, the others from those with several neighbours.
    """
    rng, units = random.Random(f"pairs {seed}"), dollar_units(market)
    neighbours: dict[str, set[str]] = {}
    for pool in market.pools.values():
        for token in pool.tokens:
            neighbours.setdefault(token, set()).update(pool.tokens)
    every = sorted(units)
    connected = [token for token in every if len(neighbours[token]) > 2]  # itself is one of them
    orders: list[PairOrder] = []
    while len(orders) < count:
        token_in, token_out = (rng.choice(every if rng.random() < _ANY_PART else connected) for _ in range(2))
        if token_in == token_out:
            continue
        usd = MIN_USD * (max_usd / MIN_USD) ** rng.random()
        amount = int(usd * units[token_in])
        if amount:
            orders.append(PairOrder(token_in, token_out, amount, usd))
    return orders


def dollar_units(market: MarketState) -> Mapping[str, float]:
    """Return the base units that a dollar buys, by address, for each priced token in the pools."""
    traded = {token for pool in market.pools.values() for token in pool.tokens}
    return {
        address: 10**token.decimals / token.price_usd
        for address, token in market.tokens.items()
        if address in traded and token.price_usd
    }
