"""Stores of small markets for the tests of the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from swapcli.core.errors import UnknownNetwork
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.state.store import Store, create_store, open_store
from tests.support.pools import UNIT, build_constant_product, build_market, build_token

TOKENS = [build_token(number) for number in range(6)]
NETWORK = build_market([], TOKENS).network


def only(network: Network) -> Callable[[str], Network]:
    """Return a catalogue of that one network, by name or chain id."""

    def networks(name: str) -> Network:
        if name in (network.name, str(network.chain_id)):
            return network
        raise UnknownNetwork(f'no network "{name}"')

    return networks


def create(path: Path, network: Network = NETWORK) -> Store:
    """Create a store of `network`, which its catalogue knows."""
    return create_store(str(path), network, only(network))


def reopen(path: Path, network: Network = NETWORK) -> Store:
    """Open the store that was created there."""
    return open_store(str(path), only(network), network.name)


def pool(number: int, reserve: int = 10**6, ends: tuple[int, int] = (0, 1)) -> Pool:
    """Return pool `number`, of two of `TOKENS`; `reserve` sets its state."""
    return build_constant_product(number, TOKENS[ends[0]], TOKENS[ends[1]], reserve * UNIT, reserve * UNIT)


def imported(path: Path, market: MarketState) -> Store:
    """Create a store with a market."""
    store = create(path, market.network)
    store.write_market(market)
    return store


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    """Return what a separate connection reads."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def is_sound(path: Path) -> bool:
    """Return whether SQLite finds no error, and legs and links agree with the pools."""
    whole = rows(path, "PRAGMA integrity_check") == [("ok",)]
    strays = rows(path, "SELECT pool FROM legs WHERE pool NOT IN (SELECT id FROM pools)")
    joined = "SELECT low, high, count(*), round(sum(depth)) FROM legs GROUP BY low, high ORDER BY low, high"
    linked = "SELECT token, other, pools, round(depth) FROM links WHERE token < other ORDER BY token, other"
    mirrored = "SELECT other, token, pools, round(depth) FROM links WHERE token > other ORDER BY other, token"
    return whole and not strays and rows(path, joined) == rows(path, linked) == rows(path, mirrored)
