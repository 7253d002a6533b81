"""Execute a route as the published router does, in integers, from the document of its result.

Shares of segments that sell a token in the same pool for the same token are merged. A token is sold after all swaps
that buy it; each swap takes a share of the router's remaining balance, in millionths rounded down, and the last one
takes all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from bench.optimum.exact_pools import EXACT_FAMILIES, ExactPool, PoolExhausted

_WHOLE = 10_000  # hundredths of a percent
_MILLION = 10**6

Pools = Mapping[str, Mapping[str, Any]]
"""The pools of a market file by address in lower case."""


class WrongRoute(Exception):
    """A route that no router can execute, or whose figures contradict each other."""


class Unsupported(Exception):
    """A pool of the route belongs to a family that cannot be replayed here."""


class Step(NamedTuple):
    """A swap that sells `rate` millionths of the router's balance of `token_in`."""

    pool: str
    token_in: str
    token_out: str
    rate: int


def pools_of(document: Mapping[str, Any]) -> Pools:
    """Return the pools of a market document by address."""
    return {pool["address"].lower(): pool for pool in document["pools"]}


def replay(pools: Pools, result: Mapping[str, Any], order: Mapping[str, Any]) -> int:
    """Return the output of a result's route for an order. Raises `WrongRoute` and `Unsupported`."""
    sold, bought = order["token_in"].lower(), order["token_out"].lower()
    held, used = {sold: int(order["amount_in"])}, dict[str, ExactPool]()
    for step in steps_of(result):
        amount = held.get(step.token_in, 0) * step.rate // _MILLION
        if amount <= 0:
            raise WrongRoute(f"the swap in {step.pool} spends nothing")
        pool = _open(pools, step, used)
        try:
            paid = pool.swap(step.token_in, amount)
        except PoolExhausted as error:
            raise WrongRoute(f"{step.pool}: {error}") from error
        held[step.token_in] -= amount
        held[step.token_out] = held.get(step.token_out, 0) + paid
    amount_out = held.pop(bought, 0)
    if any(held.values()):
        raise WrongRoute(f"tokens left in the router: { {token: left for token, left in held.items() if left} }")
    return amount_out


def _open(pools: Pools, step: Step, used: dict[str, ExactPool]) -> ExactPool:
    pool = pools.get(step.pool)
    if pool is None:
        raise WrongRoute(f"the market has no pool {step.pool}")
    if not {step.token_in, step.token_out} <= {token.lower() for token in pool["tokens"]}:
        raise WrongRoute(f"{step.pool} does not hold both tokens of its swap")
    if pool["family"] not in EXACT_FAMILIES:
        raise Unsupported(f"{step.pool} is of the family {pool['family']}")
    if step.pool not in used:
        used[step.pool] = EXACT_FAMILIES[pool["family"]](pool)
    return used[step.pool]


def steps_of(result: Mapping[str, Any]) -> Iterator[Step]:
    """Yield the swaps of a route in execution order. Raises `WrongRoute`."""
    weights = _weights(result["route"])
    brought_by: dict[str, set[str]] = {}
    for token, swaps in weights.items():
        for _, bought in swaps:
            brought_by.setdefault(bought, set()).add(token)
    tokens = [token for token in _tokens(result["route"]) if token in weights]
    done: set[str] = set()
    while tokens:
        ready = [each for each in tokens if brought_by.get(each, set()) <= done]
        if not ready:
            raise WrongRoute("the hops form a cycle")
        token = ready[0]
        tokens.remove(token)
        done.add(token)
        left = sum(weights[token].values())
        for (pool, bought), weight in weights[token].items():
            yield Step(pool, token, bought, _MILLION * weight // left)
            left -= weight


def _tokens(segments: list[dict[str, Any]]) -> list[str]:
    """Return the tokens of a route in order of first appearance."""
    swaps = (swap for segment in segments for hop in segment["swaps"] for swap in hop)
    ends = (swap[key].lower() for swap in swaps for key in ("fromTokenAddress", "toTokenAddress"))
    return list(dict.fromkeys(ends))


def _weights(segments: list[dict[str, Any]]) -> dict[str, dict[tuple[str, str], int]]:
    """Return the weight of each pool by sold token, and by pool and bought token. Raises `WrongRoute`."""
    weights: dict[str, dict[tuple[str, str], int]] = {}
    total = 0
    for segment in segments:
        share = _share(segment)
        total += share
        for hop in segment["swaps"]:
            if sum(_share(swap) for swap in hop) != _WHOLE:
                raise WrongRoute("the shares of a hop do not sum to 100%")
            for swap in hop:
                key = swap["poolAddress"].lower(), swap["toTokenAddress"].lower()
                of_token = weights.setdefault(swap["fromTokenAddress"].lower(), {})
                of_token[key] = of_token.get(key, 0) + share * _share(swap)
    if total != _WHOLE:
        raise WrongRoute("the shares of the segments do not sum to 100%")
    return weights


def _share(part: Mapping[str, Any]) -> int:
    """Return a positive share in hundredths of a percent. Raises `WrongRoute`."""
    text = str(part["percent"])
    try:
        share = Decimal(text.removesuffix("%")) * 100
    except InvalidOperation:
        share = Decimal(0)
    if not text.endswith("%") or share <= 0 or share != int(share):
        raise WrongRoute(f"{text} is no share in hundredths of a percent")
    return int(share)
