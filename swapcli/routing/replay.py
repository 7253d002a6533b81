"""Executes a route in integers, as the router contract does.

The router holds the input and works through a flat list of swaps; each spends `floor(balance * rate / 1_000_000)` of
its current balance of the swap's input token. The list merges the segments: for every token that is spent, a pool's
weight is the sum of segment percent times hop share, tokens come in flow order, and each rate is relative to what the
earlier swaps of the token left. What the replay delivers is the only amount ever shown or encoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from swapcli.errors import InvalidRoute, PoolError, SwapReverts
from swapcli.model.pool import Pool
from swapcli.model.route import RATE_SCALE, SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Step


class FlatSwap(NamedTuple):
    """One entry of the router's list, before amounts are known."""

    pool: str
    token_in: str
    token_out: str
    rate: int


class Replay(NamedTuple):
    """`steps` with their amounts, and the touched pools afterwards by key."""

    steps: tuple[Step, ...]
    amount_out: int
    pools_after: Mapping[str, Pool]


def flatten(route: Route) -> tuple[FlatSwap, ...]:
    """The router's list for `route`. Raises `InvalidRoute`."""
    _check_shares(route)
    weights: dict[str, dict[tuple[str, str], int]] = {}
    sources: dict[str, set[str]] = {}
    order: dict[str, None] = {}
    for segment in route.segments:
        for hop in segment.hops:
            for swap in hop:
                order.setdefault(swap.token_in)
                order.setdefault(swap.token_out)
                sources.setdefault(swap.token_out, set()).add(swap.token_in)
                spent = weights.setdefault(swap.token_in, {})
                key = (swap.pool, swap.token_out)
                spent[key] = spent.get(key, 0) + segment.percent * swap.share
    tokens = _in_flow_order([t for t in order if t in weights], sources)
    return tuple(swap for token in tokens for swap in _rates(token, weights[token]))


def _check_shares(route: Route) -> None:
    if sum(segment.percent for segment in route.segments) != SHARES_PER_ROUTE:
        raise InvalidRoute("the shares of the segments do not sum to 100 %")
    for segment in route.segments:
        if segment.percent <= 0 or not segment.hops:
            raise InvalidRoute("a segment has no share or no hops")
        for hop in segment.hops:
            if not hop or any(swap.share <= 0 for swap in hop) or sum(swap.share for swap in hop) != SHARES_PER_HOP:
                raise InvalidRoute("the shares of the pools in one hop do not sum to 100 %")


def _in_flow_order(tokens: list[str], sources: Mapping[str, set[str]]) -> list[str]:
    """Everything that flows into a token before what leaves it; first seen first among those that are ready."""
    ordered: list[str] = []
    waiting = list(tokens)
    while waiting:
        ready = next((t for t in waiting if not sources.get(t, set()) & set(waiting)), None)
        if ready is None:
            raise InvalidRoute("the hops of the route form a cycle")
        waiting.remove(ready)
        ordered.append(ready)
    return ordered


def _rates(token: str, weights: Mapping[tuple[str, str], int]) -> Sequence[FlatSwap]:
    left = sum(weights.values())
    swaps = []
    for (pool, token_out), weight in weights.items():
        swaps.append(FlatSwap(pool, token, token_out, RATE_SCALE * weight // left))
        left -= weight
    return swaps


def replay(pools: Mapping[str, Pool], route: Route, amount_in: int) -> Replay:
    """Run `route` on `pools` (by key) with `amount_in` base units of its first token.

    Raises `InvalidRoute` for an unknown pool or one that does not hold the tokens, and `PoolError` where a swap would
    revert, spend nothing or leave input behind.
    """
    swaps = flatten(route)
    balances = {swaps[0].token_in: amount_in}
    touched: dict[str, Pool] = {}
    steps: list[Step] = []
    for swap in swaps:
        pool = touched.get(swap.pool) or _pool(pools, swap)
        spend = balances.get(swap.token_in, 0) * swap.rate // RATE_SCALE
        if spend <= 0:
            raise SwapReverts("the share is too small to spend anything", details={"pool": swap.pool})
        amount_out, touched[swap.pool] = _swap(pool, swap, spend)
        balances[swap.token_in] -= spend
        balances[swap.token_out] = balances.get(swap.token_out, 0) + amount_out
        steps.append(Step(swap.pool, swap.token_in, swap.token_out, swap.rate, spend, amount_out))
    target = route.segments[0].hops[-1][0].token_out
    delivered = balances.pop(target)
    if any(balances.values()):
        raise InvalidRoute("the route leaves tokens in the router")
    return Replay(tuple(steps), delivered, touched)


def _swap(pool: Pool, swap: FlatSwap, amount_in: int) -> tuple[int, Pool]:
    try:
        return pool.swap(swap.token_in, swap.token_out, amount_in)
    except PoolError as error:
        error.details.setdefault("pool", swap.pool)
        raise


def _pool(pools: Mapping[str, Pool], swap: FlatSwap) -> Pool:
    pool = pools.get(swap.pool)
    if pool is None:
        raise InvalidRoute(f"the route uses pool {swap.pool}, which the market does not have")
    if swap.token_in not in pool.tokens or swap.token_out not in pool.tokens or swap.token_in == swap.token_out:
        raise InvalidRoute(f"pool {swap.pool} does not hold {swap.token_in} and {swap.token_out}")
    return pool
