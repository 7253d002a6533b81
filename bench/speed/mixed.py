"""Quote random orders on a market of all families and on one of two, and print the gap, the time and the accuracy.

python -m bench.speed.mixed [--pools 1000] [--orders 100] [--seed 1]

The accuracy of a swap is its exact output over that of the pool's curve, which the solver uses.
"""

from __future__ import annotations

import argparse
import gc
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from statistics import median
from time import process_time
from typing import NamedTuple

from bench.speed.mixed_market import mixed_market, plain_market, random_orders
from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import Quote
from swapcli.core.routing.router import Router

_MIN_AMOUNT = 10**5
"""Smaller amounts in base units are meaningless: inputs, fees and outputs are rounded to whole units."""


class SwapAccuracy(NamedTuple):
    """One swap of a quote: the exact output divided by the curve's."""

    family: str
    pool: str
    amount_in: int
    ratio: float


def accuracies(market: MarketState, quote: Quote) -> Iterator[SwapAccuracy]:
    """Yield the accuracy of each swap whose pool the quote uses once."""
    used = [step.pool for step in quote.steps]
    for step in quote.steps:
        if used.count(step.pool) == 1 and step.amount_in:
            pool = market.pools[step.pool]
            expected = pool.curve(step.token_in, step.token_out).amount_out(float(step.amount_in))
            if min(step.amount_in, expected) >= _MIN_AMOUNT:
                yield SwapAccuracy(pool.family, pool.key, step.amount_in, step.amount_out / expected)


def quote_all(market: MarketState, orders: Sequence[Order], passes: int) -> tuple[list[Quote], list[float]]:
    """Return the certified quotes, and each order's milliseconds without a certificate, the minimum over the passes."""
    router = Router(market)
    router.index.warm()
    gc.collect()
    gc.freeze()
    times = [min(_time_ms(router, order) for _ in range(passes)) for order in orders]
    quotes = []
    for order in orders:
        with suppress(NoRoute):
            quotes.append(router.quote(order, gas_price_wei=0, certify=True))
    gc.unfreeze()
    return quotes, times


def _time_ms(router: Router, order: Order) -> float:
    started = process_time()
    with suppress(NoRoute):
        router.quote(order, gas_price_wei=0)
    return (process_time() - started) * 1e3


def percentile(values: Sequence[float], part: float) -> float:
    """Return the smallest value that is not exceeded by at least `part` of the values."""
    return sorted(values)[max(0, -int(-len(values) * part // 1) - 1)]


def main() -> None:
    """Print the figures of both markets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pools", type=int, default=1000)
    parser.add_argument("--orders", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    for name, build in (("constant product and concentrated", plain_market), ("all families", mixed_market)):
        market = build(options.pools, options.seed)
        orders = random_orders(market, options.orders, options.seed)
        quotes, times = quote_all(market, orders, options.passes)
        gaps = [quote.certificate.gap_bps for quote in quotes if quote.certificate]
        print(f"{name}: {len(quotes)} of {len(orders)} routed")
        print(f"  certified gap, bps: median {median(gaps):.4f}, p95 {percentile(gaps, 0.95):.3f}, max {max(gaps):.3f}")
        print(f"  milliseconds: median {median(times):.2f}, p95 {percentile(times, 0.95):.2f}, max {max(times):.2f}")
        print_accuracy([each for quote in quotes for each in accuracies(market, quote)])


def print_accuracy(swaps: Sequence[SwapAccuracy]) -> None:
    """Print the range of the accuracy of each family, and the least accurate swap."""
    by_family = defaultdict(list)
    for swap in swaps:
        by_family[swap.family].append(swap)
    for name, found in sorted(by_family.items()):
        worst, best = min(found, key=lambda each: each.ratio), max(found, key=lambda each: each.ratio)
        print(f"  {name:26} {len(found):5} swaps, exact / curve {worst.ratio:.9f} to {best.ratio:.9f}")
        if worst.ratio < 0.999:
            print(f"    pool {worst.pool}, amount {worst.amount_in}")


if __name__ == "__main__":
    main()
