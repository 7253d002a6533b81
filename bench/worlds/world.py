"""Worlds: a market with orders. Real states with users' orders, and the same states changed or with other orders."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

from bench.optimum.cases import generated_case
from bench.optimum.real_market import market_name, read_orders
from bench.worlds.changed_pools import drained_market, pushed_market
from bench.worlds.random_pairs import dollar_units, random_pairs, read_market
from swapcli.core.model.market import MarketState
from swapcli.state.markets.format import render_market

RANDOM_MAX_USD = 100_000.0
_HUNDREDFOLD, _LEAST_USD = 100, 1e8
_LARGE = frozenset({"large", "huge"})
"""Sizes of slow orders on generated markets: they sell 3% and 20% of the depth."""
_PUSHED_SHARE = 0.3  # of the pools


class WorldOrder(NamedTuple):
    """An order by token addresses, for `amount` base units of `token_in`, or of `token_out` if `reverse`."""

    token_in: str
    token_out: str
    amount: int
    reverse: bool = False


class World(NamedTuple):
    """A market with orders; `kind` is one of `KINDS`, `name` also has the market and the seed."""

    kind: str
    name: str
    market: MarketState
    orders: tuple[WorldOrder, ...]

    @property
    def title(self) -> str:
        """Return the kind of its orders in words, and the size of a generated market."""
        if self.kind == "generated":
            return f"{len(self.market.pools):,} generated pools"
        return {"random": "random pairs", "pushed": "pushed state"}.get(self.kind, f"{self.kind} orders")

    def write_market(self, folder: Path) -> Path:
        """Write the market file, which any revision can read, and return it."""
        file = folder / f"world_{self.name.replace(' ', '_')}.json"
        file.write_text(render_market(self.market))
        return file


class _Source(NamedTuple):
    """The input for a world: a real market file, the maximum number of orders, and the seed of everything random."""

    file: Path
    most: int
    seed: int


def make_world(kind: str, file: Path, most: int, seed: int) -> World:
    """Return a world for a real market file, with at most this many of its orders. Raises `BenchmarkFailed`."""
    market, orders = _MAKERS[kind](_Source(file, most, seed))
    return World(kind, f"{kind} {market_name(file)} {seed}", market, orders)


def make_worlds(kinds: Sequence[str], file: Path, most: int, seed: int, folder: Path) -> Iterator[World]:
    """Yield worlds by kind, or by number of pools for generated markets, which are written into `folder`."""
    for kind in kinds:
        if kind.isdecimal():
            yield generated_world(int(kind), seed, most, folder)
        else:
            yield make_world(kind, file, most, seed)


def generated_world(pools: int, seed: int, most: int, folder: Path) -> World:
    """Return a generated market with at most this many of its large and huge orders; its files are in `folder`."""
    case = generated_case(pools, seed, folder)
    return World(
        "generated",
        f"generated {case.name}",
        read_market(case.market),
        _sample([_order(row) for row in case.read_order_rows() if row["size"] in _LARGE], most, seed),
    )


def _real(source: _Source) -> tuple[MarketState, tuple[WorldOrder, ...]]:
    orders = [_order(row) for row in read_orders(source.file)]
    return read_market(source.file), _sample(orders, source.most, source.seed)


def _random(source: _Source) -> tuple[MarketState, tuple[WorldOrder, ...]]:
    market = read_market(source.file)
    pairs = random_pairs(market, source.most, source.seed, RANDOM_MAX_USD)
    return market, tuple(WorldOrder(each.token_in, each.token_out, each.amount) for each in pairs)


def _pushed(source: _Source) -> tuple[MarketState, tuple[WorldOrder, ...]]:
    market, orders = _real(source)
    return pushed_market(market, source.seed, _PUSHED_SHARE), orders


def _drained(source: _Source) -> tuple[MarketState, tuple[WorldOrder, ...]]:
    market, orders = _real(source)
    return drained_market(market, source.seed, _PUSHED_SHARE), orders


def _hundredfold(source: _Source) -> tuple[MarketState, tuple[WorldOrder, ...]]:
    market = read_market(source.file)
    units = dollar_units(market)
    orders = [order._replace(amount=order.amount * _HUNDREDFOLD) for order in map(_order, read_orders(source.file))]
    large = [order for order in orders if order.amount > _LEAST_USD * units.get(order.token_in, inf)]
    return market, _sample(large, source.most, source.seed)


_MAKERS: Mapping[str, Callable[[_Source], tuple[MarketState, tuple[WorldOrder, ...]]]] = {
    "real": _real,
    "random": _random,
    "pushed": _pushed,
    "drained": _drained,
    "hundredfold": _hundredfold,
}
KINDS = tuple(_MAKERS)
"""Users' orders on a real state; random pairs; users' orders after a swap in each of a share of the pools pushed it out
of line or drained it; and a hundred times the amounts, for orders worth $100 million."""


def _sample(orders: Sequence[WorldOrder], most: int, seed: int) -> tuple[WorldOrder, ...]:
    """Return at most this many of the orders, in order."""
    chosen = sorted(random.Random(f"orders {seed}").sample(range(len(orders)), min(most, len(orders))))
    return tuple(orders[k] for k in chosen)


def _order(row: Mapping[str, object]) -> WorldOrder:
    return WorldOrder(str(row["token_in"]).lower(), str(row["token_out"]).lower(), int(str(row["amount_in"])))
