"""Play a world: arbitrageurs, other traders, and the parts of an order, in exact swaps of the pools' families."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from bench.over_time.worlds import BUY, SELL, Event, World, market_of
from swapcli.core.errors import PoolError
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import HUNDREDTHS, Quote
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router

Pools = dict[str, Pool]


class Sold(NamedTuple):
    """The output of an order's parts, and their external value at their times, in base units."""

    received: int
    value: float


def mid_price(pool: Pool, token_in: str, token_out: str) -> float:
    """Return a pool's price without its fee: the mean of both directions."""
    return sqrt(pool.curve(token_in, token_out).start_rate / pool.curve(token_out, token_in).start_rate)


def play(world: World, pools: Pools, events: Iterable[Event], after: Callable[[Event], object]) -> None:
    """Let the traders of `events` change `pools` in place, and call `after` after each change."""
    for event in events:
        if event.size is None:
            changed = _arbitrage(world, pools[event.pool], event.usd)
        else:
            changed = _trade(world, pools, event, event.size)
        if changed is not None:
            pools[changed.key] = changed
            after(event._replace(pool=changed.key))


def sell(world: World, pools: Mapping[str, Pool], events: Sequence[Event], parts: Sequence[tuple[float, int]]) -> Sold:
    """Sell parts (seconds, base units), each on the best route at its time, while the world continues."""
    now, received, value, begun = dict(pools), 0, 0.0, 0
    start_s = events[0].at_s
    for at_s, amount in parts:
        past = begun
        while past < len(events) and events[past].at_s <= start_s + at_s:
            past += 1
        play(world, now, events[begun:past], lambda _: None)
        begun = past
        quote = best_quote(now, amount)
        now |= replay(now, quote.route, amount).pools_after
        received += quote.amount_out
        usd = events[max(past - 1, 0)].usd
        value += amount * usd[SELL] / usd[BUY]
    return Sold(received, value)


def best_quote(pools: Mapping[str, Pool], amount: int) -> Quote:
    """Return the best route for an amount of the sold token."""
    market = market_of(pools)
    order = Order(market.tokens[SELL], market.tokens[BUY], amount)
    return Router(market).quote(order, share_step=HUNDREDTHS)


def _arbitrage(world: World, pool: Pool, usd: Mapping[str, float]) -> Pool | None:
    """Return the pool after the most profitable trade against the external price; None if none pays for its gas."""
    for token_in, token_out in (pool.tokens, pool.tokens[::-1]):
        curve, fair = pool.curve(token_in, token_out), usd[token_in] / usd[token_out]
        if curve.start_rate > fair:
            amount, paid, _ = curve.trade_to_marginal_rate(fair)
            if amount >= 1.0 and (paid * usd[token_out] - amount * usd[token_in]) / 1e18 > world.gas_usd:
                return _swapped(pool, token_in, token_out, int(amount))
    return None


def _trade(world: World, pools: Pools, event: Event, size: float) -> Pool | None:
    """Return the pool with the best price for a trader, among those with the same tokens, after the trade."""
    tokens = pools[event.pool].tokens
    token_in, token_out = tokens if size > 0.0 else tokens[::-1]
    amount = int(world.depths[event.pool] * abs(size) / event.usd[token_in] * 1e18)
    rivals = (pool for pool in pools.values() if pool.tokens == tokens)
    best = max(rivals, key=lambda pool: pool.curve(token_in, token_out).start_rate)
    return _swapped(best, token_in, token_out, amount)


def _swapped(pool: Pool, token_in: str, token_out: str, amount: int) -> Pool | None:
    try:
        return pool.swap(token_in, token_out, amount)[1]
    except PoolError:
        return None
