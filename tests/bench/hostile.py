"""What dust pools cost orders, and how long the slowest orders take.

`python -m tests.bench.hostile MARKET...` reads market files with their orders beside them, as `make bench` makes them,
and prints one JSON object a line. Ratios are of one run: each order is quoted with and without dust, in turn.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.load_market import open_market
from swapcli.engine.sources.in_memory import MarketSource
from swapcli.errors import NoRoute
from swapcli.model.api_version import ApiVersion
from swapcli.model.market import Market
from swapcli.model.order import Order
from swapcli.model.quote_request import QuoteRequest
from swapcli.networks.catalogue import network
from swapcli.routing import Router
from tests.bench.cases import orders_beside
from tests.routing.dust_pools import Worth, with_dust

_SEED = 5
_WORTH_USD = 1e-4
_FEW = 20
_LEAST_USD = 100.0  # orders worth less would find money in dust
_SOLVE_TIME_S = 2.0
_CERTIFIED = 10  # every so many orders: a proof takes many times as long as a route


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures of each market."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hostile", description="Measures hostile markets.")
    parser.add_argument("markets", nargs="+", type=Path, help="market files with orders beside them")
    parser.add_argument("--random", type=int, default=1_000, metavar="N", help="random orders that are timed  [1000]")
    given = parser.parse_args(arguments)
    for file in given.markets:
        for row in measure(file, given.random):
            print(json.dumps({"market": file.stem} | row), flush=True)


def measure(file: Path, timed: int) -> Iterator[dict[str, Any]]:
    """Yield what few and many dust pools cost the orders of a market, then the times of random orders."""
    document = file.read_bytes()
    market = open_market(json.loads(document)["network"]["name"], network, document=document).market
    listed = list(market.tokens.values())
    prices = zip(listed, Router(market).usd_prices(*listed), strict=True)
    worth = {each.address: max(1.0, _WORTH_USD / price * 10**each.decimals) for each, price in prices if price}
    orders = [each for each in _orders(file, market) if _usd(each, worth) >= _LEAST_USD]
    for count in (_FEW, len(market.pools)):
        yield _dusted(market, worth, orders, count)
    yield _slowest(market, worth, timed)


def _orders(file: Path, market: Market) -> list[Order]:
    rows = [json.loads(line) for line in orders_beside(file).read_text().splitlines() if line.strip()]
    tokens = market.tokens
    return [
        Order(tokens[row["token_in"].lower()], tokens[row["token_out"].lower()], int(row["amount_in"])) for row in rows
    ]


def _usd(order: Order, worth: Worth) -> float:
    held = worth.get(order.token_in.address)
    return order.amount / held * _WORTH_USD if held else 0.0


def _dusted(market: Market, worth: Worth, orders: Sequence[Order], count: int) -> dict[str, Any]:
    """Between tokens of the orders, hubs, hubs and others, and any two."""
    rng = random.Random(_SEED)
    pools_of = {address: sum(address in pool.tokens for pool in market.pools.values()) for address in worth}
    hubs = sorted(pools_of, key=lambda address: -pools_of[address])[:10]
    own = [(each.token_in.address, each.token_out.address) for each in orders if each.token_out.address in worth]
    kinds = [own, [(a, b) for a in hubs for b in hubs if a < b], [(a, b) for a in hubs for b in worth if a != b]]
    pairs = [rng.choice(kind) for kind in kinds for _ in range(count)]
    pairs += [(a, b) for a, b in (rng.sample(list(worth), 2) for _ in range(count))]
    dusted = with_dust(market, worth, pairs, count, _SEED)
    routers = Router(market), Router(dusted)
    gc.collect()
    gc.freeze()
    for each in orders:
        for router in routers:
            _timed(router, each)
    found = [[_timed(router, each, certify=k % _CERTIFIED == 0) for router in routers] for k, each in enumerate(orders)]
    losses = [(1 - dirty[0] / clean[0]) * 1e4 for clean, dirty in found if clean[0]]
    times = [[row[side][1] for k, row in enumerate(found) if k % _CERTIFIED] for side in (0, 1)]
    return {
        "dust_pools": len(dusted.pools) - len(market.pools),
        "orders": len(orders),
        "worse_by_more_than_a_tenth_of_a_bp": sum(loss > 0.1 for loss in losses),
        "worst_loss_bps": round(max(losses), 4),
        "best_gain_bps": round(-min(losses), 4),
        "time_ratio": round(sum(times[1]) / sum(times[0]), 3),
        "time_ratio_of_medians": round(median(times[1]) / median(times[0]), 3),
    }


def _timed(router: Router, order: Order, *, certify: bool = False) -> tuple[int, float]:
    started_s = time.process_time()
    try:
        amount_out = router.quote(order, gas_price_wei=0, certify=certify).amount_out
    except NoRoute:
        amount_out = 0
    return amount_out, time.process_time() - started_s


def _slowest(market: Market, worth: Worth, count: int) -> dict[str, Any]:
    """Orders of $1 to $100 million between any two tokens, with the time that a command gives a search."""
    rng, source = random.Random(_SEED), MarketSource(replace(market), SYSTEM_CLOCK)
    source.warm()
    seconds, unfinished, refused = [], 0, 0
    for _ in range(count):
        sold, bought = rng.sample(list(worth), 2)
        amount = max(1, int(worth[sold] / _WORTH_USD * 10 ** rng.uniform(0, 8)))
        order = Order(market.tokens[sold], market.tokens[bought], amount)
        started_s = time.perf_counter()
        try:
            answer = source.quote(QuoteRequest(order, ApiVersion.V1, gas_price_wei=0, solve_time_s=_SOLVE_TIME_S))
            unfinished += not answer.quote.is_search_complete
        except NoRoute:
            refused += 1
        seconds.append(time.perf_counter() - started_s)
    seconds.sort()
    return {
        "random_orders": count,
        "solve_time_s": _SOLVE_TIME_S,
        "median_s": round(median(seconds), 3),
        "p99_s": round(seconds[int(count * 0.99)], 3),
        "slowest_s": round(seconds[-1], 3),
        "out_of_time": unfinished,
        "no_route": refused,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
