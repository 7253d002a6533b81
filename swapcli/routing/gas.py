"""Gas estimates: a transaction's base, plus what each pool says of its own swap.

The base and the pools' figures are fitted to executions of a plain router with the public ABI (least squares over 17
routes, at most 7.5 % off); families that were only measured through routers of their own are rougher.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from swapcli.model.pool import Pool

BASE_GAS = 64_800


def route_gas(before: Mapping[str, Pool], after: Mapping[str, Pool]) -> int:
    """Gas units of a whole transaction that led the pools of a route from `before` to `after`, both by key."""
    return BASE_GAS + swaps_gas((before[key], pool) for key, pool in after.items())


def swaps_gas(swaps: Iterable[tuple[Pool, Pool]]) -> int:
    """Gas units of the swaps alone, as (pool before, pool afterwards)."""
    return sum(pool.gas_units(after) for pool, after in swaps)
