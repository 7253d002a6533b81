"""Stores of small markets for the tests of the store."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from swapcli.errors import UnknownNetwork
from swapcli.model.market import Market
from swapcli.model.network import Network
from swapcli.model.pool import Pool
from swapcli.model.token import Token
from swapcli.store import Store, create_store, open_store
from tests.routing.build import UNIT, concentrated, constant_product, market, token

TOKENS = [token(number) for number in range(6)]
NETWORK = market([], TOKENS).network


def only(network: Network) -> Callable[[str], Network]:
    """A catalogue of that one network, by name or chain id."""

    def networks(name: str) -> Network:
        if name in (network.name, str(network.chain_id)):
            return network
        raise UnknownNetwork(f'no network "{name}"')

    return networks


def create(path: Path, network: Network = NETWORK) -> Store:
    """A store of `network`, which its catalogue knows."""
    return create_store(str(path), network, only(network))


def reopen(path: Path, network: Network = NETWORK) -> Store:
    """The store that was created there."""
    return open_store(str(path), only(network), network.name)


def pool(number: int, reserve: int = 10**6, ends: tuple[int, int] = (0, 1)) -> Pool:
    """Pool `number`, of two of `TOKENS`; `reserve` tells its state."""
    return constant_product(number, TOKENS[ends[0]], TOKENS[ends[1]], reserve * UNIT, reserve * UNIT)


def imported(path: Path, given: Market) -> Store:
    """A new store of a market."""
    store = create(path, given.network)
    store.write_market(given)
    return store


def wide_market(count: int, seed: int = 1, noise: float = 1.0) -> Market:
    """`count` pools over a fifth as many tokens: a few hubs, many tokens beside them, prices off by up to `noise` times
    the fee: above 1 there is arbitrage.

    Token 0 is the wrapped native one, token 1 the dollar.
    """
    rng = random.Random(seed)
    tokens = [token(0), token(1, 6), *(token(number, rng.choice((6, 8, 18, 18))) for number in range(2, count // 5))]
    prices = [2500.0, 1.0, *(10 ** rng.uniform(-3, 4) for _ in tokens[2:])]
    pools = [_wide_pool(rng, number, tokens, prices, noise) for number in range(count)]
    return market(pools, tokens)


def _wide_pool(rng: random.Random, number: int, tokens: Sequence[Token], prices: Sequence[float], noise: float) -> Pool:
    hubs = 5
    i = rng.randrange(hubs)
    others = [k for k in (rng.randrange(len(tokens)), 0, 1) if k != i]
    j = number if hubs <= number < len(tokens) else rng.choice(others)
    worth, fee_ppm = 1e4 * rng.random() ** -0.9, rng.choice((500, 3000, 10000))
    off = 1.0 + noise * rng.uniform(-1, 1) * fee_ppm / 1e6
    amounts = [worth / prices[k] * 10 ** tokens[k].decimals for k in (i, j)]
    if rng.random() < 0.3:
        first, second = sorted((i, j), key=lambda k: tokens[k].address)
        price = prices[first] / prices[second] * 10.0 ** (tokens[second].decimals - tokens[first].decimals) * off
        liquidity = int((amounts[0] * amounts[1]) ** 0.5 * rng.uniform(2, 20))
        return concentrated(number, tokens[i], tokens[j], liquidity, price, rng.choice((600, 6000)), fee_ppm)
    return constant_product(number, tokens[i], tokens[j], int(amounts[0]), int(amounts[1] * off), fee_ppm)


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    """What a connection of its own reads."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def is_sound(path: Path) -> bool:
    """Does SQLite find nothing wrong, and do legs and links agree with the pools?"""
    whole = rows(path, "PRAGMA integrity_check") == [("ok",)]
    strays = rows(path, "SELECT pool FROM legs WHERE pool NOT IN (SELECT id FROM pools)")
    joined = "SELECT low, high, count(*), round(sum(depth)) FROM legs GROUP BY low, high ORDER BY low, high"
    linked = "SELECT token, other, pools, round(depth) FROM links WHERE token < other ORDER BY token, other"
    mirrored = "SELECT other, token, pools, round(depth) FROM links WHERE token > other ORDER BY other, token"
    return whole and not strays and rows(path, joined) == rows(path, linked) == rows(path, mirrored)
