"""Worlds: a market with orders. Real states with users' orders, and the same states changed, or with other orders."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from bench.optimum.cases import generated_case
from bench.optimum.real_market import market_name, read_orders
from bench.worlds.changed_pools import drained_market, pushed_market
from bench.worlds.random_pairs import random_pairs, read_market
from swapcli.core.model.market import MarketState
from swapcli.state.markets.format import render_market

RANDOM_MAX_USD = 100_000.0
_LARGE_FACTOR = 100
_PUSHED_SHARE = 0.3  # of the pools


class WorldOrder(NamedTuple):
    """An order by token addresses: of `amount` base units of `token_in`, or of `token_out` if `reverse`."""

    token_in: str
    token_out: str
    amount: int
    reverse: bool = False


class World(NamedTuple):
    """A market with orders; `kind` is one of `KINDS`, `name` also tells the market and the seed."""

    kind: str
    name: str
    market: MarketState
    orders: tuple[WorldOrder, ...]

    def write_market(self, folder: Path) -> Path:
        """Write the market file, which any revision can read, and return it."""
        file = folder / f"world_{self.name.replace(' ', '_')}.json"
        file.write_text(render_market(self.market))
        return file


class _Source(NamedTuple):
    """What a world is made from: a real market file, the number of orders, and the seed of whatever is random."""

    file: Path
    count: int
    seed: int


def make_world(kind: str, file: Path, count: int, seed: int) -> World:
    """Return a world of a real market file with at most `count` orders. Raises `BenchmarkFailed`."""
    market, orders = _MAKERS[kind](_Source(file, count, seed))
    return World(kind, f"{kind} {market_name(file)} {seed}", market, orders)


def generated_world(pools: int, seed: int, count: int, folder: Path) -> World:
    """Return a generated market with at most `count` of its orders, whose files are written into `folder`."""
    case = generated_case(pools, seed, folder)
    return World(
        "generated",
        f"generated {case.name}",
        read_market(case.market),
        _sample(case.read_order_rows(), count, seed),
    )


def _real(source: _Source) -> tuple[MarketState, tuple[WorldOrder, ...]]:
    return read_market(source.file), _sample(read_orders(source.file), source.count, source.seed)


def _random(source: _Source) -> tuple[MarketState, tuple[WorldOrder, ...]]:
    market = read_market(source.file)
    pairs = random_pairs(market, source.count, source.seed, RANDOM_MAX_USD)
    return market, tuple(WorldOrder(each.token_in, each.token_out, each.amount) for each in pairs)


def _pushed(source: _Source) -> tuple[MarketState, tuple[WorldOrder, ...]]:
    market, orders = _real(source)
    return pushed_market(market, source.seed, _PUSHED_SHARE), orders


def _drained(source: _Source) -> tuple[MarketState, tuple[WorldOrder, ...]]:
    market, orders = _real(source)
    return drained_market(market, source.seed, _PUSHED_SHARE), orders


def _large(source: _Source) -> tuple[MarketState, tuple[WorldOrder, ...]]:
    market, orders = _real(source)
    return market, tuple(order._replace(amount=order.amount * _LARGE_FACTOR) for order in orders)


_MAKERS: Mapping[str, Callable[[_Source], tuple[MarketState, tuple[WorldOrder, ...]]]] = {
    "real": _real,
    "random": _random,
    "pushed": _pushed,
    "drained": _drained,
    "large": _large,
}
KINDS = tuple(_MAKERS)
"""Users' orders on a real state; random pairs; users' orders after a share of the pools was pushed out of line by a
swap each, or drained; and a hundred times the amounts."""


def _sample(rows: list[dict[str, object]], count: int, seed: int) -> tuple[WorldOrder, ...]:
    """Return at most `count` of the orders of a file, in their order."""
    chosen = sorted(random.Random(f"orders {seed}").sample(range(len(rows)), min(count, len(rows))))
    return tuple(_order(rows[k]) for k in chosen)


def _order(row: Mapping[str, object]) -> WorldOrder:
    return WorldOrder(str(row["token_in"]).lower(), str(row["token_out"]).lower(), int(str(row["amount_in"])))
