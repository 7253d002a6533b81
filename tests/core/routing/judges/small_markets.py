"""Small markets with an order each: random ones, and parts of a large generated market, where pools fill up.

Pools have two tokens: the search uses a pool of more for one pair of them only, and brute force for several.
"""

from __future__ import annotations

import json
import random
from functools import cache
from typing import NamedTuple

from bench.optimum.gen_market import generate
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.networks.catalogue import find_network
from swapcli.state.markets.format import parse_market
from tests.support.pools import build_random_market

_POOLS, _SEED = 1_000, 4101  # of the market from which parts are cut
_DRAWS = 60  # of pools, until a part is large enough


class PartialMarket(NamedTuple):
    """A part of a market, two of its tokens, and about the amount of the first that drains the pools of one."""

    market: MarketState
    token_in: str
    token_out: str
    depth: float

    def order(self, part: float) -> Order:
        """Return an order of a part of the depth."""
        tokens = self.market.tokens
        return Order(tokens[self.token_in], tokens[self.token_out], max(1, int(self.depth * part)))


class _Generated(NamedTuple):
    market: MarketState
    reserves: dict[str, dict[str, int]]
    """Of each pool by key: the units of its tokens."""
    keys_by_token: dict[str, list[str]]


@cache
def _generated() -> _Generated:
    document = generate(_POOLS, _SEED).document
    market = parse_market(json.dumps(document), networks=find_network).market
    reserves = {
        pool["address"]: dict(zip(pool["tokens"], map(int, pool["reserves"]), strict=True))
        for pool in document["pools"]
    }
    keys_by_token: dict[str, list[str]] = {}
    for key, amounts in reserves.items():
        for token in amounts:
            keys_by_token.setdefault(token, []).append(key)
    return _Generated(market, reserves, keys_by_token)


def cut_market(rng: random.Random, pools: int) -> PartialMarket | None:
    """Return up to `pools` connected pools over about half as many tokens; None if an order would be dust."""
    market, reserves, keys_by_token = _generated()
    keys = dict[str, None]()
    tokens = {rng.choice(sorted(keys_by_token))}
    for _ in range(_DRAWS):
        key = rng.choice(keys_by_token[rng.choice(sorted(tokens))])
        if len(keys) < pools and len(tokens.union(reserves[key])) <= max(3, pools // 2 + 1):
            keys[key] = None
            tokens.update(reserves[key])
    token_in, token_out = rng.sample(sorted(tokens), 2)
    depths = [
        sum(reserves[key].get(token, 0) for key in keys) / 10 ** market.tokens[token].decimals * _price(market, token)
        for token in (token_in, token_out)
    ]
    depth = min(depths) / _price(market, token_in) * 10 ** market.tokens[token_in].decimals
    part = market._replace(pools={key: market.pools[key] for key in keys})
    return PartialMarket(part, token_in, token_out, depth) if depth >= 1.0 else None


def _price(market: MarketState, token: str) -> float:
    price = market.tokens[token].price_usd
    assert price, "generated tokens have prices"
    return price


def random_order(rng: random.Random) -> tuple[MarketState, Order]:
    """Return a market of four to six pools of two tokens, often out of line, and an order of any size for it."""
    market = build_random_market(
        rng.randrange(10**6),
        tokens=rng.randint(3, 5),
        pools=rng.randint(4, 6),
        noise=rng.choice((0.8, 3.0, 10.0)),
    )
    sold, bought = rng.sample(sorted(market.tokens), 2)
    return market, Order(market.tokens[sold], market.tokens[bought], int(10 ** rng.uniform(18, 24)))


def small_orders(rng: random.Random, count: int) -> list[tuple[MarketState, Order]]:
    """Return orders on markets of at most six pools: on cut and on random ones in turn."""
    found: list[tuple[MarketState, Order]] = []
    while len(found) < count:
        if len(found) % 2:
            found.append(random_order(rng))
            continue
        part = cut_market(rng, rng.randint(3, 6))
        if part:
            found.append((part.market, part.order(10 ** rng.uniform(-3.0, 0.7))))
    return found
