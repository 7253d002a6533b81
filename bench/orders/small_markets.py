"""Compare quotes on markets of at most six pools with brute force.

    python -m bench.orders.small_markets [--orders 1500] [--seed 1] [--processes 1]

Markets are parts of a generated one and random ones of every family, in turn; orders are from dust to draining. Gas is
free for half of them, and costs 20 gwei for the others. A brute force that is ahead by 0.05 bps and two base units
counts.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from multiprocessing import get_context
from typing import NamedTuple

from swapcli.core.model.quote import HUNDREDTHS
from swapcli.core.routing.router import Router

_GAS_GWEI = (0, 20)
_WEI_A_GWEI = 10**9
_TOLERATED, _TOLERATED_UNITS = 5e-6, 2
_CHUNK = 10  # orders drawn with one seed


class Judged(NamedTuple):
    """An order by its chunk and number, and how far brute force is ahead in basis points: 0 within the tolerance."""

    chunk: str
    number: int
    ahead_bps: float


def judge_chunk(number: int, seed: int) -> list[Judged]:
    """Return the verdicts on the orders of one chunk."""
    from tests.core.routing.judges.brute_force import brute_force
    from tests.core.routing.judges.quoted import gas_unit_value, net_output, quote_or_none
    from tests.core.routing.judges.small_markets import small_orders

    name, found = f"small {seed} {number}", []
    for k, (market, order) in enumerate(small_orders(random.Random(name), _CHUNK)):
        router, gas_price_wei = Router(market), _GAS_GWEI[k // 2 % 2] * _WEI_A_GWEI
        value = gas_unit_value(router, order, gas_price_wei)
        ours = net_output(quote_or_none(router, order, gas_price_wei, HUNDREDTHS), value)
        enough = ours + _TOLERATED * abs(ours) + _TOLERATED_UNITS
        best = brute_force(market, order, value, sufficient=enough)
        lead = best.route.net - ours if best and best.route and best.route.net > enough else 0.0
        found.append(Judged(name, k, lead / (abs(ours) or abs(lead) or 1.0) * 1e4))
    return found


def judge_small_markets(orders: int, seed: int, processes: int = 1) -> Iterator[Judged]:
    """Yield the verdicts on approximately this many orders."""
    judge, numbers = partial(judge_chunk, seed=seed), range(-(-orders // _CHUNK))
    if processes == 1:
        yield from chain.from_iterable(map(judge, numbers))
        return
    with get_context("fork").Pool(processes) as pool:
        yield from chain.from_iterable(pool.imap(judge, numbers))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the orders for which brute force is ahead."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.orders.small_markets", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--orders", type=int, default=1_500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    options = parser.parse_args(arguments)
    count = ahead = 0
    for each in judge_small_markets(options.orders, options.seed, options.processes):
        count += 1
        if each.ahead_bps:
            ahead += 1
            print(f"  order {each.number} of {each.chunk}: {each.ahead_bps:.3f} bps", flush=True)
    print(f"{count} orders, brute force is ahead of {ahead}")


if __name__ == "__main__":
    main()
