"""Measure the proof net of gas: the gap it leaves, and its cost.

python -m bench.optimum.net_proof [--orders 100] [--seed 1] [--gas-gwei 1] [--market FILE] [--json FILE]

quotes real orders of a real state, or with --random random pairs of up to $3,000, and proves each.
The gap is in basis points of the output net of gas; times are ratios to the search of the same order in the same run.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.optimum.real_market import REAL_MARKET, market_name, read_orders
from bench.report.figures import p95
from bench.running import BenchmarkFailed
from bench.worlds.random_pairs import random_pairs, read_market
from swapcli.core.errors import SwapcliError
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import HUNDREDTHS
from swapcli.core.routing.router import Router

WEI_A_GWEI = 10**9


class Proof(NamedTuple):
    """The proof for one order, and its cost after a search of `search_s`."""

    gap_bps: float
    is_complete: bool
    search_s: float
    proof_s: float


def real_orders(market: MarketState, file: Path, count: int, seed: int) -> list[Order]:
    """Return a sample of the orders next to a market file."""
    lines = read_orders(file)
    random.Random(f"proof {seed}").shuffle(lines)
    pairs = [(line["token_in"].lower(), line["token_out"].lower(), int(line["amount_in"])) for line in lines]
    known = [(a, b, amount) for a, b, amount in pairs if a in market.tokens and b in market.tokens]
    return [Order(market.tokens[a], market.tokens[b], amount) for a, b, amount in known[:count]]


def prove(router: Router, orders: Sequence[Order], gas_price_wei: int) -> Iterator[Proof]:
    """Yield the proofs for orders whose route is worth more than its gas."""
    from swapcli.core.routing.gas_proof.proof import prove_net_output

    for order in orders:
        try:
            router.search(order, gas_price_wei=gas_price_wei, share_step=HUNDREDTHS)  # fills the caches of the market
            started = time.perf_counter()
            found = router.search(order, gas_price_wei=gas_price_wei, share_step=HUNDREDTHS)
        except SwapcliError:
            continue
        searched = time.perf_counter()
        best, index = found.best, found.problem.graph.token_index
        if best.net <= 0.0:
            continue
        hops = {(index[step.token_in], index[step.token_out]) for step in best.replay.steps}
        proof = prove_net_output(found.problem, found.prices, best.amount_in, best.net, hops)
        bound = proof.against(found.problem, best.net)
        yield Proof(bound.gap_bps, bound.is_complete, searched - started, time.perf_counter() - searched)


def table(proofs: Sequence[Proof]) -> list[str]:
    """Return the lines of a table of the figures."""
    gaps, ratios = sorted(each.gap_bps for each in proofs), sorted(each.proof_s / each.search_s for each in proofs)
    times = sorted(each.proof_s for each in proofs)
    complete = sum(each.is_complete for each in proofs)
    return [
        f"  gap, bps          p50 {median(gaps):.4f}  p95 {p95(gaps):.3f}  worst {gaps[-1]:.3f}",
        f"  time to a search  p50 {median(ratios):.1f} x  p95 {p95(ratios):.1f} x",
        f"  time, s           p50 {median(times):.3f}  p95 {p95(times):.3f}",
        f"  {complete} of {len(proofs)} complete",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.optimum.net_proof", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--orders", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gas-gwei", type=float, default=1.0)
    parser.add_argument("--random", action="store_true", help="random pairs instead of real orders")
    parser.add_argument("--market", type=Path, default=REAL_MARKET, help="a real state  [the committed one]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each proof, one a line")
    options = parser.parse_args(arguments)
    file = options.market
    try:
        market = read_market(file)
    except BenchmarkFailed as error:
        sys.exit(f"bench: {error}")
    if options.random:
        pairs = random_pairs(market, options.orders, options.seed)
        orders = [Order(market.tokens[each.token_in], market.tokens[each.token_out], each.amount) for each in pairs]
    else:
        orders = real_orders(market, file, options.orders, options.seed)
    proofs = list(prove(Router(market), orders, int(options.gas_gwei * WEI_A_GWEI)))
    if options.json:
        options.json.write_text("".join(f"{json.dumps(each._asdict())}\n" for each in proofs))
    kind = "random pairs" if options.random else "real orders"
    print(
        f"{market_name(file)}, {len(proofs)} {kind}, seed {options.seed}, {options.gas_gwei:g} gwei; proof net of gas"
    )
    print("\n".join(table(proofs)))


if __name__ == "__main__":
    main()
