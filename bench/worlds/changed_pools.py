"""Markets whose pools contradict each other, as after large swaps before arbitrage."""

from __future__ import annotations

import random

from bench.optimum.simple_methods.exact_paths import paid
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool

PUSHED_SHARE = 0.2
MIN_PUSH, MAX_PUSH = 0.001, 0.05  # relative changes of a pool's price
_PUSH_BITS = 40  # relative accuracy of the push amount: bisection in powers of two
_DRAINED = (0.9, 0.9999)
"""The price drop of a drained pool: a full range then keeps 30 to 1% of a side."""


def drained_market(market: MarketState, seed: int, share: float) -> MarketState:
    """Return `market` after swaps in a share of its pools: in concentrated liquidity, they take most of one side;
    elsewhere, they change the price by up to 5%."""
    rng, pools = random.Random(f"drained {seed}"), dict(market.pools)
    for key in rng.sample(sorted(pools), int(len(pools) * share)):
        token_in, token_out = rng.sample(pools[key].tokens, 2)
        part = rng.uniform(*_DRAINED) if pools[key].family == "concentrated" else MAX_PUSH * rng.random()
        pools[key] = push_pool(pools[key], token_in, token_out, part)
    return market._replace(pools=pools)


def pushed_market(market: MarketState, seed: int, share: float = PUSHED_SHARE) -> MarketState:
    """Return `market` after a swap in each of a share of its pools, which changes the pool's price by 0.1 to 5%."""
    rng, pools = random.Random(f"pushed {seed}"), dict(market.pools)
    for key in rng.sample(sorted(pools), int(len(pools) * share)):
        token_in, token_out = rng.sample(pools[key].tokens, 2)
        part = MIN_PUSH * (MAX_PUSH / MIN_PUSH) ** rng.random()
        pools[key] = push_pool(pools[key], token_in, token_out, part)
    return market._replace(pools=pools)


def push_pool(pool: Pool, token_in: str, token_out: str, part: float) -> Pool:
    """Return the pool after the largest swap that lowers its rate by at most `part`; the pool itself if there is
    none."""
    least_rate = pool.curve(token_in, token_out).start_rate * (1.0 - part)
    pushed, amount, step = pool, 0, 1
    while step < 1 << 200 and _pushed(pool, token_in, token_out, step, least_rate):
        step <<= 1
    for _ in range(_PUSH_BITS):
        step >>= 1
        after = _pushed(pool, token_in, token_out, amount + step, least_rate) if step else None
        if after:
            pushed, amount = after, amount + step
    return pushed


def _pushed(pool: Pool, token_in: str, token_out: str, amount: int, least_rate: float) -> Pool | None:
    """Return the pool after a swap; None if it pays nothing or lowers the rate too far."""
    result = paid(pool, token_in, token_out, amount)
    if result is None:
        return pool if amount < 1 << 20 else None  # too small for an output does not mean too large a push
    return result[1] if result[1].curve(token_in, token_out).start_rate >= least_rate else None
