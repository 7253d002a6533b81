"""Measure the loss of quotes that read only part of the pools, in markets with arbitrage and an old known state.

`python -m bench.parts` generates such markets, and compares live quotes, which read few pools, with quotes over
all pools in their present state. It prints the differences in basis points (above 0 the quote over all pools found
less), the number of pools read and the number of reads.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from math import exp
from random import Random
from statistics import median, quantiles
from typing import NamedTuple

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.sources.live_search import LiveSearch
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.pools import build_wide_market

_SEED = 5


class Scenario(NamedTuple):
    """The state of a random market. `noise` is the price error relative to the fees: above 1 there is arbitrage.

    `tokens` and `pools` are the standard deviations of the log price moves of tokens, and of pools beyond their
    tokens, since the state was read.
    """

    noise: float
    tokens: float
    pools: float


SCENARIOS = (
    Scenario(0.9, 0.0, 0.0),
    Scenario(0.9, 0.01, 3e-4),
    Scenario(0.9, 0.01, 3e-3),
    Scenario(4.0, 0.0, 0.0),
    Scenario(4.0, 0.01, 3e-3),
)


class Part(NamedTuple):
    """A live quote beside the quote over all pools."""

    bps: float
    pools: int
    reads: int


def after_trades(known: MarketState, scenario: Scenario) -> MarketState:
    """Return the market after trades that move tokens and pools as `scenario` describes."""
    rng = Random(_SEED)
    log_moves = {address: rng.gauss(0.0, scenario.tokens) for address in known.tokens}
    return known._replace(
        pools={key: _trade(rng, pool, log_moves, scenario.pools) for key, pool in known.pools.items()}
    )


def _trade(rng: Random, pool: Pool, log_moves: dict[str, float], by: float) -> Pool:
    sold, bought = pool.tokens[:2]
    growth = log_moves[sold] - log_moves[bought] + rng.gauss(0.0, by)
    if growth > 0.0:
        sold, bought = bought, sold
    curve = pool.curve(sold, bought)
    amount = int(curve.trade_to_marginal_rate(curve.start_rate * exp(-abs(growth)))[0])
    try:
        return pool.swap(sold, bought, amount)[1] if amount > 0 else pool
    except PoolError:
        return pool


def orders(market: MarketState, count: int) -> Iterator[Order]:
    """Return orders from a hundred-thousandth to twice the depth of the deepest pool of the token sold."""
    rng, depths = Random(_SEED), dict.fromkeys(market.tokens, 0.0)
    for pool in market.pools.values():
        for sold, bought in (pool.tokens[:2], pool.tokens[1::-1]):
            curve = pool.curve(sold, bought)
            depths[sold] = max(depths[sold], curve.trade_to_marginal_rate(curve.start_rate / 2.0)[0])
    tokens = list(market.tokens.values())
    while count:
        token_in, token_out = rng.sample(tokens, 2)
        amount = int(depths[token_in.address] * 10 ** rng.uniform(-5.0, 0.3))
        if amount > 10**6:
            count -= 1
            yield Order(token_in, token_out, amount)


def measure(pools: int, scenario: Scenario, count: int) -> list[Part]:
    """Return the parts of `count` orders that have a route."""
    known = build_wide_market(pools, noise=scenario.noise)
    present = after_trades(known, scenario)
    whole, source = SearchableMarket(present, SYSTEM_CLOCK), SearchableMarket(known, SYSTEM_CLOCK)
    parts: list[Part] = []
    for order in orders(known, count):
        read_counts: list[int] = []

        def read(keys: Sequence[str], read_counts: list[int] = read_counts) -> MarketState:
            read_counts.append(len(keys))
            return known._replace(pools={key: present.pools[key] for key in keys})

        request = QuoteRequest(order, ApiVersion.V2, gas_price_wei=0)
        try:
            best = whole.search(request).best.replay.amount_out
            found = LiveSearch(source, request, read).run().outcome.best.replay.amount_out
        except NoRoute:
            continue
        parts.append(Part((found / best - 1.0) * 1e4, read_counts[-1], len(read_counts)))
    return parts


def main(arguments: Sequence[str]) -> None:
    """Print a table of all scenarios."""
    parser = argparse.ArgumentParser(prog="python -m bench.parts", description=__doc__)
    parser.add_argument("--pools", type=int, default=1_200)
    parser.add_argument("--orders", type=int, default=40)
    options = parser.parse_args(arguments)
    figures_of = ["bps: least", "p5", "median", "p95", "most", "pools read: median", "most", "reads"]
    names = ["off, in fees", "tokens moved", "pools moved", *figures_of]
    print(f"| {' | '.join(names)} |")
    print(f"| {' | '.join(['---:'] * len(names))} |")
    for scenario in SCENARIOS:
        parts = measure(options.pools, scenario, options.orders)
        bps = [part.bps for part in parts]
        twentieths = quantiles(bps, n=20, method="inclusive")
        figures = (min(bps), twentieths[0], median(bps), twentieths[-1], max(bps))
        read = [part.pools for part in parts]
        reads = sum(part.reads for part in parts) / len(parts)
        columns = [f"{each:g}" for each in scenario] + [f"{each:.2f}" for each in figures]
        print(f"| {' | '.join(columns)} | {median(read):.0f} | {max(read)} | {reads:.2f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
