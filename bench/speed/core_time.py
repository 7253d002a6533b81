"""Time the core: a router on a loaded market, in a separate process.

python -m bench.speed.core_time CASE_FOLDER NAME NETWORK EXCLUDED PASSES

prints the milliseconds of every order, one list a pass; an order without a route counts with the time of the search.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter

from bench.optimum.cases import Case
from bench.running import run
from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.router import Router
from swapcli.quoting.open_market import open_market


def time_in_core(case: Case, passes: int) -> list[list[float]]:
    """Return milliseconds by pass and order, measured in a fresh process. Raises `BenchmarkFailed`."""
    names = [str(case.folder), case.name, case.network, ",".join(case.excluded)]
    printed = run([sys.executable, "-m", "bench.speed.core_time", *names, str(passes)])
    times: list[list[float]] = json.loads(printed)
    return times


def measure(market: MarketState, orders: Sequence[Order], passes: int) -> list[list[float]]:
    """Return milliseconds by pass and order on one router."""
    router = Router(market)
    # As in the command before a batch: the collector need not scan the market.
    gc.collect()
    gc.freeze()
    return [[_time(router, order) for order in orders] for _ in range(passes)]


def _time(router: Router, order: Order) -> float:
    started = perf_counter()
    with suppress(NoRoute):
        router.quote(order, gas_price_wei=0)
    return (perf_counter() - started) * 1e3


def read_orders(case: Case, market: MarketState) -> list[Order]:
    """Return the case's orders, with the tokens of its market."""
    tokens, excluded = market.tokens, frozenset(case.excluded)
    return [
        Order(tokens[o.token_in.lower()], tokens[o.token_out.lower()], o.amount_in, excluded_protocols=excluded)
        for o in case.read_orders()
    ]


def main(arguments: Sequence[str]) -> None:
    """Print the times of one case."""
    folder, name, network_name, excluded, passes = arguments
    case = Case(name, Path(folder), network_name, tuple(filter(None, excluded.split(","))))
    market = open_market(case.network, find_network, document=case.market.read_bytes()).market
    print(json.dumps(measure(market, read_orders(case, market), int(passes))))


if __name__ == "__main__":
    main(sys.argv[1:])
