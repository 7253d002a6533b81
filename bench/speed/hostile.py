"""Measure the cost of dust pools, and how long the slowest orders take.

`python -m bench.speed.hostile MARKET...` reads market files with their orders beside them, as `make bench` writes them,
and prints the section "Hostile markets"; with `--out bench/HISTORY.md` it replaces that section there. Ratios are of
one run: each order is quoted with and without dust, in turn.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.optimum.real_market import read_document, read_orders
from bench.report.circumstances import Clock
from bench.report.files import publish
from bench.report.thresholds import MAX_DUST_LOSS_BPS, MAX_SOLVE_S
from bench.speed.hostile_section import MIN_ORDER_USD, DustFigures, HostileFigures, SolveTimes, hostile_section
from swapcli.core.errors import NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.router import Router
from swapcli.quoting.open_market import open_market
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.core.routing.dust_pools import DustAmounts, with_dust

_SEED = 5
_DUST_USD = 1e-4
_FEW = 20
_CERTIFY_EVERY = 10  # orders: a certificate takes many times as long as a route


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the section, or replace it in a page."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.hostile", description="Measures hostile markets.")
    parser.add_argument("markets", nargs="+", type=Path, help="market files with orders beside them")
    parser.add_argument("--random", type=int, default=1_000, metavar="N", help="number of timed random orders  [1000]")
    parser.add_argument("--out", type=Path, help="the history to write the section into  [stdout]")
    options = parser.parse_args(arguments)
    clock = Clock()
    section = hostile_section([measure(file, options.random) for file in options.markets])
    publish(section, options.out, clock.stop("python -m bench.speed.hostile"))


def measure(file: Path, random_orders: int) -> HostileFigures:
    """Measure a market with a few dust pools, with as many as it has pools, and the times of random orders."""
    document = read_document(file)
    name, text = document["network"]["name"], json.dumps(document).encode()
    market = open_market(name, find_network, document=text).market
    tokens = list(market.tokens.values())
    prices = zip(tokens, Router(market).index.usd_prices(*tokens), strict=True)
    units = {token.address: max(1.0, _DUST_USD / price * 10**token.decimals) for token, price in prices if price}
    orders = [order for order in _orders(file, market) if _usd(order, units) >= MIN_ORDER_USD]
    dust = tuple(_measure_dust(market, units, orders, count) for count in (_FEW, len(market.pools)))
    return HostileFigures(file.stem, dust, _measure_times(market, units, random_orders))


def _orders(file: Path, market: MarketState) -> list[Order]:
    rows = read_orders(file)
    tokens = market.tokens
    return [
        Order(tokens[row["token_in"].lower()], tokens[row["token_out"].lower()], int(row["amount_in"])) for row in rows
    ]


def _usd(order: Order, units: DustAmounts) -> float:
    dust_amount = units.get(order.token_in.address)
    return order.amount / dust_amount * _DUST_USD if dust_amount else 0.0


def _measure_dust(market: MarketState, units: DustAmounts, orders: Sequence[Order], count: int) -> DustFigures:
    """Add `count` dust pools each between tokens of the orders, between hubs, between hubs and other tokens, and
    between any two tokens."""
    rng = random.Random(_SEED)
    pools_of = {address: sum(address in pool.tokens for pool in market.pools.values()) for address in units}
    hubs = sorted(pools_of, key=lambda address: -pools_of[address])[:10]
    own = [(each.token_in.address, each.token_out.address) for each in orders if each.token_out.address in units]
    kinds = [own, [(a, b) for a in hubs for b in hubs if a < b], [(a, b) for a in hubs for b in units if a != b]]
    pairs = [rng.choice(kind) for kind in kinds for _ in range(count)]
    pairs += [(a, b) for a, b in (rng.sample(list(units), 2) for _ in range(count))]
    dusted = with_dust(market, units, pairs, count, _SEED)
    routers = Router(market), Router(dusted)
    gc.collect()
    gc.freeze()
    for each in orders:
        for router in routers:
            _timed(router, each)
    found = [
        [_timed(router, each, certify=k % _CERTIFY_EVERY == 0) for router in routers] for k, each in enumerate(orders)
    ]
    losses = [(1 - dirty[0] / clean[0]) * 1e4 for clean, dirty in found if clean[0]]
    times = [[row[side][1] for k, row in enumerate(found) if k % _CERTIFY_EVERY] for side in (0, 1)]
    return DustFigures(
        dust_pools=len(dusted.pools) - len(market.pools),
        orders=len(orders),
        worse_orders=sum(loss > MAX_DUST_LOSS_BPS for loss in losses),
        worst_loss_bps=max(losses),
        best_gain_bps=-min(losses),
        time_ratio=sum(times[1]) / sum(times[0]),
        median_time_ratio=median(times[1]) / median(times[0]),
    )


def _timed(router: Router, order: Order, *, certify: bool = False) -> tuple[int, float]:
    started_s = time.process_time()
    try:
        amount_out = router.quote(order, gas_price_wei=0, certify=certify).amount_out
    except NoRoute:
        amount_out = 0
    return amount_out, time.process_time() - started_s


def _measure_times(market: MarketState, units: DustAmounts, count: int) -> SolveTimes:
    """Time orders of $1 to $100 million between any two tokens, with a command's search time."""
    rng, source = random.Random(_SEED), InMemorySource(market._replace(), SYSTEM_CLOCK)
    source.searchable.router.index.warm()
    seconds, unfinished, refused = [], 0, 0
    for _ in range(count):
        sold, bought = rng.sample(list(units), 2)
        amount = max(1, int(units[sold] / _DUST_USD * 10 ** rng.uniform(0, 8)))
        order = Order(market.tokens[sold], market.tokens[bought], amount)
        started_s = time.perf_counter()
        try:
            answer = source.quote(QuoteRequest(order, ApiVersion.V1, gas_price_wei=0, solve_time_s=MAX_SOLVE_S))
            unfinished += not answer.quote.is_search_complete
        except NoRoute:
            refused += 1
        seconds.append(time.perf_counter() - started_s)
    seconds.sort()
    return SolveTimes(count, median(seconds), seconds[int(count * 0.99)], seconds[-1], unfinished, refused)


if __name__ == "__main__":
    main(sys.argv[1:])
