"""Quote orders in a process of its own, with the `swapcli` that its PYTHONPATH names: this revision's or another's.

    python -P bench/speed/tail_worker.py MARKET_FILE ORDERS_FILE

reads lines `START STOP` from standard input, quotes these orders and prints their [CPU milliseconds, amount in, amount
out, gas units] as one line of JSON; the amounts of an order without a route are 0. It imports nothing of the
benchmark, because a checkout of another revision has another one.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

from swapcli.core.errors import NoRoute
from swapcli.core.model.order import Order
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.router import Router
from swapcli.faces.garbage_collection import enable_garbage_collection
from swapcli.quoting.open_market import open_market


def main(market_file: str, orders_file: str) -> None:
    """Answer the lines of standard input."""
    market = open_market("synthetic", find_network, document=Path(market_file).read_bytes()).market
    rows = json.loads(Path(orders_file).read_text())
    router = Router(market)
    router.index.warm()
    # As the command does before a batch: the collector need not scan the market.
    gc.collect()
    gc.disable()
    enable_garbage_collection()
    print("ready", flush=True)
    for line in sys.stdin:
        start, stop = map(int, line.split())
        print(json.dumps([_quote(router, row) for row in rows[start:stop]]), flush=True)


def _quote(router: Router, row: dict[str, Any]) -> tuple[float, int, int, int]:
    tokens = router.market.tokens
    order = Order(
        tokens[row["token_in"]],
        tokens[row["token_out"]],
        row["amount"],
        row["reverse"],
        row["direct"],
        frozenset(row["excluded"]),
        row["max_hops"],
    )
    started = process_time()
    try:
        result = router.search(order, gas_price_wei=row["gas_price_wei"], share_step=row["share_step"])
        quote = router.build_quote(order, result, gas_price_wei=row["gas_price_wei"])
    except NoRoute:
        return (process_time() - started) * 1e3, 0, 0, 0
    return (process_time() - started) * 1e3, quote.amount_in, quote.amount_out, quote.gas_units


if __name__ == "__main__":
    main(*sys.argv[1:])
