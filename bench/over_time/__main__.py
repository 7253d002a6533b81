"""`python -m bench.over_time [--orders 200] [--seed 1000]`: judge plans in simulated markets, and print the figures.

`--list` prints a line for each order. It takes a few minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from multiprocessing import Pool

from bench.over_time.judging import Judged, judge
from bench.over_time.scores import scores

_ORDERS, _SEED = 200, 1_000
"""The default orders and seed; the model's constants were chosen with seeds below 100."""
_ORDERS_WITHOUT_ARBITRAGE = 40


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the orders requested on a command line. Return 1 if a figure misses its threshold."""
    parser = argparse.ArgumentParser(prog="python -m bench.over_time", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--orders", type=int, default=_ORDERS, metavar="N", help=f"[{_ORDERS}]")
    parser.add_argument("--seed", type=int, default=_SEED, metavar="N", help=f"of the first order  [{_SEED}]")
    parser.add_argument("--list", action="store_true", help="print a line for each order")
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.orders)
    alone = seeds[: min(_ORDERS_WITHOUT_ARBITRAGE, len(seeds))]
    with Pool() as pool:
        judged = pool.map(judge, seeds, chunksize=1)
        without = pool.map(partial(judge, has_arbitrage=False), alone, chunksize=1)
    if options.list:
        for each in judged:
            print(_line(each))
    found = scores(judged, without)
    for score in found:
        print(score)
    return int(not all(score.is_met for score in found))


def _line(judged: Judged) -> str:
    """Return the plan and its result; costs are in basis points of the order's value."""
    cost, low, high = (each * 1e4 for each in judged.forecast)
    parts = judged.schedule.parts
    return (
        f"{judged.seed} {judged.world.name}, {judged.share:.1%} of the depth: {len(parts)} parts in"
        f" {parts[-1].start_s / 3600:.1f} h, refill {'unknown' if judged.schedule.extremes else 'measured'},"
        f" forecast {cost:.1f} [{low:.1f}, {high:.1f}], plan {judged.plan.cost * 1e4:.1f},"
        f" one swap {judged.one_shot.cost * 1e4:.1f}, equal parts {judged.equal.cost * 1e4:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
