"""Measure searches that start from similar ones: CPU time and output against searches from scratch, in one process.

    python -m bench.speed.warm [--exact-output] [--sizes 1000,10000] [--orders 300] [--seed 7]
        [--work DIR]

Each random order is quoted once, then a similar one: with another amount on the same state, or with the same amount on
the next block, in which some pools have changed. A router with a memory quotes it in turn with a new router on the same
state, whose data that all orders share is built before. Orders of exact input are measured, or those of exact output.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from math import exp
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

from bench.optimum.cases import generated_case
from bench.running import BenchmarkFailed
from bench.speed.random_orders import RandomOrder, random_orders
from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.route_search import SearchResult
from swapcli.core.routing.search_memory import SearchMemory
from swapcli.quoting.open_market import open_market

_CHANGED_POOLS = 30
_MAX_PRICE_MOVE = 1e-4
"""A changed pool's price move, in logarithms: arbitrage keeps prices within the fees of the fair ones."""
_AMOUNTS = {"amount + 1%": 1.01, "amount + 10%": 1.1, "amount + 25%": 1.25, "amount - 20%": 0.8}
_NEXT_BLOCK = f"next block, {_CHANGED_POOLS} pools changed"


class Pair(NamedTuple):
    """One order: CPU milliseconds of a router with a memory and of a new one, and the former's lead in basis points."""

    warm_ms: float
    cold_ms: float
    lead_bps: float


class Chain:
    """A market whose pools change from block to block, around their initial prices."""

    def __init__(self, market: MarketState, seed: int) -> None:
        self._start, self.market, self._rng = market, market, random.Random(seed)
        self._moved: list[str] = []

    def add_block(self) -> frozenset[str]:
        """Change some pools, half of them back to their initial state, and return their keys."""
        back, self._moved = self._moved[: _CHANGED_POOLS // 2], self._moved[_CHANGED_POOLS // 2 :]
        others = sorted(self._start.pools.keys() - set(back) - set(self._moved))
        new = self._rng.sample(others, _CHANGED_POOLS - len(back))
        self._moved += new
        changed = {key: self._start.pools[key] for key in back} | {key: self._traded(key) for key in new}
        self.market = self.market._replace(pools={**self.market.pools, **changed})
        return frozenset(changed)

    def _traded(self, key: str) -> Pool:
        pool = self._start.pools[key]
        sold, bought = self._rng.sample(list(pool.tokens), 2)
        curve = pool.curve(sold, bought)
        move = _MAX_PRICE_MOVE * self._rng.random()
        amount = int(curve.trade_to_marginal_rate(curve.start_rate * exp(-move))[0])
        try:
            return pool.swap(sold, bought, max(amount, 1))[1]
        except PoolError:
            return pool


def measure(market: MarketState, orders: Sequence[RandomOrder], ratio: float, seed: int, *, blocks: bool) -> list[Pair]:
    """Return the pairs for orders that have a route. After it was quoted unchanged, each is quoted at `ratio` times its
    amount, on the next block if `blocks` is true."""
    chain, pairs = Chain(market, seed), list[Pair]()
    router = Router(market, memory=SearchMemory())
    router.index.warm()
    gc.collect()
    gc.freeze()
    for number, order in enumerate(orders):
        if _quote(router, order, 1.0)[1] is None:
            continue
        if blocks:
            changed = chain.add_block()
            router = router.with_changes(chain.market, changed)
            router.index.warm()
        new = Router(chain.market)
        new.index.warm()
        # Each goes first in turn, because the first one fills the pools' caches.
        turn = [router, new] if number % 2 else [new, router]
        measured = {id(each): _quote(each, order, ratio) for each in turn}
        (warm_ms, warm), (cold_ms, cold) = measured[id(router)], measured[id(new)]
        if warm and cold:
            if order.reverse:
                lead = (cold.best.amount_in - warm.best.amount_in) / cold.best.amount_in
            else:
                lead = (warm.best.net - cold.best.net) / cold.best.replay.amount_out
            pairs.append(Pair(warm_ms, cold_ms, lead * 1e4))
    return pairs


def _quote(router: Router, row: RandomOrder, ratio: float) -> tuple[float, SearchResult | None]:
    tokens = router.market.tokens
    order = Order(
        tokens[row.token_in],
        tokens[row.token_out],
        max(1, int(row.amount * ratio)),
        reverse=row.reverse,
        direct=row.direct,
        excluded_protocols=frozenset(row.excluded),
        max_hops=row.max_hops,
    )
    started_s = process_time()
    try:
        result = router.search(order, gas_price_wei=row.gas_price_wei, share_step=row.share_step)
        router.build_quote(order, result, gas_price_wei=row.gas_price_wei)
    except NoRoute:
        result = None
    return (process_time() - started_s) * 1e3, result


def main() -> int:
    """Measure and print the figures; return 1 if something needed is missing."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.warm", description="Measures warm starts.")
    parser.add_argument("--sizes", default="1000,10000", help="pools in the markets, with commas  [1000,10000]")
    parser.add_argument("--orders", type=int, default=300)
    parser.add_argument("--exact-output", action="store_true", help="measure the orders of exact output")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--work", type=Path, help="folder of markets  [temporary]")
    options = parser.parse_args()
    try:
        with ExitStack() as stack:
            folder = options.work or Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
            for pools in map(int, options.sizes.split(",")):
                case = generated_case(pools, options.seed, folder)
                document = case.market.read_bytes()
                market = open_market(case.network, find_network, document=document).market
                drawn = random_orders(json.loads(document), options.orders, options.seed)
                orders = [order for order in drawn if order.reverse == options.exact_output]
                for name, ratio in _AMOUNTS.items():
                    _print(pools, name, measure(market, orders, ratio, options.seed, blocks=False))
                _print(pools, _NEXT_BLOCK, measure(market, orders, 1.0, options.seed, blocks=True))
    except BenchmarkFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    return 0


def _print(pools: int, name: str, pairs: Sequence[Pair]) -> None:
    ratio = median(pair.cold_ms / pair.warm_ms for pair in pairs)
    total = sum(pair.cold_ms for pair in pairs) / sum(pair.warm_ms for pair in pairs)
    medians = " / ".join(
        f"{median(values):.1f}" for values in zip(*((p.warm_ms, p.cold_ms) for p in pairs), strict=True)
    )
    worst, behind = min(pair.lead_bps for pair in pairs), sum(pair.lead_bps < -0.01 for pair in pairs)
    print(
        f"{pools:,} pools, {name}: {len(pairs)} orders, median ms warm / cold {medians}; faster: median order"
        f" {ratio:.2f}, in all {total:.2f}; worst {worst:.4f} bps, {behind} behind by more than 0.01",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
