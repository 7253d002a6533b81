"""Quote orders in a separate process, with the `swapcli` on its PYTHONPATH: this revision's or another's.

python -P bench/orders/worker.py MARKET_FILE

reads lines of JSON from standard input, `[gas price in wei, [[token in, token out, amount, is reverse], ...]]`. It
prints the rows of the orders of each line as one line of JSON: [CPU milliseconds, amount in, amount out, gas units,
dollars of a wei, dollars of a base unit of the amount that was to be found]; all but the time are 0 without a route. It
imports nothing from the benchmark, because another revision's checkout has a different one.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

_CORE, _OPENING = "swapcli.core", "swapcli.quoting"
if find_spec(_CORE) is None:  # revisions before that package
    _CORE, _OPENING = "swapcli", "swapcli.engine"
SwapcliError = import_module(f"{_CORE}.errors").SwapcliError
Order = import_module(f"{_CORE}.model.order").Order
Router = import_module(f"{_CORE}.routing.router").Router
find_network = import_module(f"{_CORE}.networks.catalogue").find_network
open_market = import_module(f"{_OPENING}.open_market").open_market

_GC_THRESHOLDS = (5_000, 10, 50)
"""The thresholds of long-running commands: full collections of a large market's graph are rare."""


def main(market_file: str) -> None:
    """Process the lines of standard input."""
    document = Path(market_file).read_bytes()
    market = open_market(json.loads(document)["network"]["name"], find_network, document=document).market
    router = Router(market)
    getattr(router, "index", router).warm()
    # As in the command before a batch: the collector need not scan the market.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    print("ready", flush=True)
    for line in sys.stdin:
        gas_price_wei, orders = json.loads(line)
        print(json.dumps([quote(router, order, gas_price_wei) for order in orders]), flush=True)


def quote(router: Any, values: Sequence[Any], gas_price_wei: int) -> tuple[float, int, int, int, float, float]:
    """Return the row of an order: token in, token out, amount, and whether it is exact-output."""
    token_in, token_out, amount, reverse = values
    tokens = router.market.tokens
    order = Order(tokens[token_in], tokens[token_out], amount, reverse)
    started = process_time()
    try:
        found = router.quote(order, gas_price_wei=gas_price_wei)
    except SwapcliError:
        return (process_time() - started) * 1e3, 0, 0, 0, 0.0, 0.0
    ms = (process_time() - started) * 1e3
    price, token = (found.price_in_usd, order.token_in) if reverse else (found.price_out_usd, order.token_out)
    unit_usd = (price or 0.0) / 10**token.decimals
    return ms, found.amount_in, found.amount_out, found.gas_units, found.wei_usd or 0.0, unit_usd


if __name__ == "__main__":
    main(sys.argv[1])
