"""Real states of a network, also with pools pushed out of line, and random orders between any two of their tokens."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bench.optimum.real_market import read_document, read_plain
from bench.optimum.simple_methods.exact_paths import paid
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.open_market import open_market

MIN_USD, MAX_USD = 0.3, 3_000.0
PUSHED_PART = 0.2
MIN_PUSH, MAX_PUSH = 0.001, 0.05  # relative changes of a pool's price
_ANY_PART = 0.25
_PUSH_BITS = 40  # of the amount that pushes a pool: bisection in steps of a power of two


class PairOrder(NamedTuple):
    """An order between two tokens by address; `usd` is what the input is worth by the market's prices."""

    token_in: str
    token_out: str
    amount: int
    usd: float


def read_market(file: Path) -> MarketState:
    """Return the market of a file, plain or compressed. Raises `BenchmarkFailed` if there is none."""
    name = read_document(file)["network"]["name"]
    return open_market(name, find_network, document=read_plain(file)).market


def pushed_market(market: MarketState, seed: int) -> MarketState:
    """Return `market` after a swap in each of a fifth of its pools, which changes its price by 0.1 to 5%."""
    rng, pools = random.Random(f"pushed {seed}"), dict(market.pools)
    for key in rng.sample(sorted(pools), int(len(pools) * PUSHED_PART)):
        token_in, token_out = rng.sample(pools[key].tokens, 2)
        part = MIN_PUSH * (MAX_PUSH / MIN_PUSH) ** rng.random()
        pools[key] = push_pool(pools[key], token_in, token_out, part)
    return market._replace(pools=pools)


def push_pool(pool: Pool, token_in: str, token_out: str, part: float) -> Pool:
    """Return the pool after the largest swap that lowers its rate by at most `part`; itself if none does."""
    least_rate = pool.curve(token_in, token_out).start_rate * (1.0 - part)
    pushed, amount, step = pool, 0, 1
    while step < 1 << 200 and _pushed(pool, token_in, token_out, step, least_rate):
        step <<= 1
    for _ in range(_PUSH_BITS):
        step >>= 1
        after = _pushed(pool, token_in, token_out, amount + step, least_rate) if step else None
        if after:
            pushed, amount = after, amount + step
    return pushed


def _pushed(pool: Pool, token_in: str, token_out: str, amount: int, least_rate: float) -> Pool | None:
    """Return the pool after a swap; None if it pays nothing or lowers the rate too far."""
    result = paid(pool, token_in, token_out, amount)
    if result is None:
        return pool if amount < 1 << 20 else None  # too little for an output is no push too far
    return result[1] if result[1].curve(token_in, token_out).start_rate >= least_rate else None


def random_pairs(market: MarketState, count: int, seed: int, max_usd: float = MAX_USD) -> list[PairOrder]:
    """Return `count` orders of $0.3 to `max_usd` between random tokens with dollar prices.

    Most tokens of a chain have pools with one other token only, where a route has no choice: only a quarter of the
    ends of orders are drawn from all tokens, the others from those with several neighbours.
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
    """Return the base units that a dollar buys, by address of each token that pools hold and that has a price."""
    traded = {token for pool in market.pools.values() for token in pool.tokens}
    return {
        address: 10**token.decimals / token.price_usd
        for address, token in market.tokens.items()
        if address in traded and token.price_usd
    }
