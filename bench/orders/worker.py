"""Quote orders in a process of its own, with the `swapcli` that its PYTHONPATH names: this revision's or another's.

    python -P bench/orders/worker.py MARKET_FILE

reads lines of JSON from standard input, `[gas price in wei, [[token in, token out, amount, is reverse], ...]]`. It
prints the rows of the orders of each line as one line of JSON: [CPU milliseconds, amount in, amount out, gas units,
dollars of a wei, dollars of a base unit of the amount that was to be found]; all but the time are 0 without a route. It
imports nothing of the benchmark, because a checkout of another revision has another one.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

try:
    from swapcli.core.errors import SwapcliError
    from swapcli.core.model.order import Order
    from swapcli.core.networks.catalogue import find_network
    from swapcli.core.routing.router import Router
    from swapcli.quoting.open_market import open_market
except ImportError:  # revisions before `swapcli.core`
    from swapcli.engine.open_market import open_market  # type: ignore[import-not-found, no-redef]
    from swapcli.model.order import Order  # type: ignore[import-not-found, no-redef]
    from swapcli.networks.catalogue import find_network  # type: ignore[import-not-found, no-redef]
    from swapcli.routing.router import Router  # type: ignore[import-not-found, no-redef]

    from swapcli.errors import SwapcliError  # type: ignore[import-not-found, no-redef]

_GC_THRESHOLDS = (5_000, 10, 50)
"""Those of commands that run for long: full collections of a large market's graph are rare."""


def main(market_file: str) -> None:
    """Answer the lines of standard input."""
    document = Path(market_file).read_bytes()
    market = open_market(json.loads(document)["network"]["name"], find_network, document=document).market
    router = Router(market)
    getattr(router, "index", router).warm()
    # As the command does before a batch: the collector need not scan the market.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    print("ready", flush=True)
    for line in sys.stdin:
        gas_price_wei, orders = json.loads(line)
        print(json.dumps([_quote(router, order, gas_price_wei) for order in orders]), flush=True)


def _quote(router: Router, row: list[Any], gas_price_wei: int) -> tuple[float, int, int, int, float, float]:
    token_in, token_out, amount, reverse = row
    tokens = router.market.tokens
    order = Order(tokens[token_in], tokens[token_out], amount, reverse)
    started = process_time()
    try:
        quote = router.quote(order, gas_price_wei=gas_price_wei)
    except SwapcliError:
        return (process_time() - started) * 1e3, 0, 0, 0, 0.0, 0.0
    ms = (process_time() - started) * 1e3
    price, token = (quote.price_in_usd, order.token_in) if reverse else (quote.price_out_usd, order.token_out)
    unit_usd = (price or 0.0) / 10**token.decimals
    return ms, quote.amount_in, quote.amount_out, quote.gas_units, quote.wei_usd or 0.0, unit_usd


if __name__ == "__main__":
    main(sys.argv[1])
