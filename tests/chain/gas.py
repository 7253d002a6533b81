"""A model of the router's gas: `python -m tests.chain.gas [SEEDS]` measures mined routes, fits, and prints.

A route's gas is the sum of a base, of each swap by the family of its pool, and of what sets routes apart beside their
swaps. Errors are relative, and so is what the fit minimises. Pools have been used before, in every direction.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import mul
from random import Random
from typing import NamedTuple

from swapcli.core.model.router_execution import OWN_ROUTER_GAS
from swapcli.core.model.swap_type import SwapType
from swapcli.core.routing.gas import gas_of_terms, route_gas
from swapcli.families.balancer.weighted import Weighted
from swapcli.families.curve.stableswap import StableSwap
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.families.uniswap.concentrated import CROSSING_GAS, Concentrated
from swapcli.families.uniswap.constant_product import SOLIDLY_GAS, ConstantProduct
from swapcli.payload.dialects import execution_of
from tests.chain.market_reader import GAS_PRICE_WEI
from tests.chain.trader import Trade, Trader, open_trader

ROUTES_A_SEED = 100
TOLERANCE = 0.1

IN_USE: Mapping[str, int] = {
    "base": OWN_ROUTER_GAS.base,
    "constant_product": ConstantProduct.swap_gas,
    "constant_product solidly": SOLIDLY_GAS,
    "solidly_stable": SolidlyStable.swap_gas,
    "concentrated": Concentrated.swap_gas,
    "stableswap": StableSwap.swap_gas,
    "weighted": Weighted.swap_gas,
    "tick crossed": CROSSING_GAS,
    "pool used again": OWN_ROUTER_GAS.repeated_swap,
    "token between": OWN_ROUTER_GAS.token_between,
    "native in": OWN_ROUTER_GAS.native_in,
    "native out": OWN_ROUTER_GAS.native_out,
    "integrator": OWN_ROUTER_GAS.integrator,
}
"""What the program estimates with. The pool of `stableswap` is modelled here; the others are the published bytecode."""


class Sample(NamedTuple):
    """A mined route: how often it has each term of `IN_USE`, its gas, and what the program estimated."""

    terms: Mapping[str, int]
    gas_used: int
    estimate: int

    @property
    def error(self) -> float:
        """How far the program's estimate is off, as a part of what was used."""
        return self.estimate / self.gas_used - 1

    def with_constants(self, constants: Mapping[str, float]) -> Sample:
        """The same, estimated with other constants."""
        return self._replace(estimate=round(sum(constants[name] * count for name, count in self.terms.items())))


def measure(trader: Trader, seed: int, routes: int = ROUTES_A_SEED) -> Iterator[Sample]:
    """Execute random routes and yield their gas."""
    trader.warm_up()
    for trade in trader.trades(Random(f"gas {seed}"), routes):
        terms, estimate = terms_of(trader, trade), estimate_of(trader, trade)
        yield Sample(terms, trader.execute(trade).receipt.gas_used, estimate)


def estimate_of(trader: Trader, trade: Trade) -> int:
    """Return the gas in the answer of a quoted route; estimate that of a posted one in the same way."""
    if trade.kind == "posted":
        router = execution_of(trader.market.network).gas
        pools, steps, swap_type = trader.pools_of(trade), trade.replay.steps, trade.result.swap_type
        of_terms = gas_of_terms(pools, steps, swap_type, router, pays_integrator=trade.result.integrator is not None)
        return route_gas(pools, trade.replay, router) + of_terms
    result = trade.result
    return (result.gas_cost_wei or 0) // GAS_PRICE_WEI if result.gas_units is None else result.gas_units


def terms_of(trader: Trader, trade: Trade) -> Mapping[str, int]:
    """Count the terms of a trade that has not been executed yet."""
    steps, after = trade.replay.steps, trade.replay.pools_after
    before = trader.pools_of(trade)
    swap_type = trade.payload.call.route.swap_type
    terms = Counter(_family(trader, step.pool) for step in steps)
    terms["base"] = 1
    terms["tick crossed"] = sum(
        abs(_position(before[key]) - _position(pool)) for key, pool in after.items() if isinstance(pool, Concentrated)
    )
    terms["pool used again"] = len(steps) - len(before)
    terms["token between"] = len({token for step in steps for token in (step.token_in, step.token_out)}) - 2
    terms["native in"] = int(swap_type is SwapType.NATIVE_TO_TOKEN)
    terms["integrator"] = int(trade.result.integrator is not None)
    terms["native out"] = int(swap_type is SwapType.TOKEN_TO_NATIVE)
    return terms


def _family(trader: Trader, key: str) -> str:
    pool = trader.market.pools[key]
    return f"{pool.family} solidly" if pool.state().get("variant") == "solidly" else pool.family


def _position(pool: object) -> int:
    assert isinstance(pool, Concentrated)
    return bisect_right(pool.tick_list.ticks, pool.tick)


def fit(samples: Sequence[Sample]) -> dict[str, float]:
    """The constants with the least sum of squared relative errors: the normal equations, eliminated."""
    names = list(IN_USE)
    rows = [[sample.terms.get(name, 0) / sample.gas_used for name in names] for sample in samples]
    n = len(names)
    columns = list(zip(*rows, strict=True))
    ones = [1.0] * len(rows)
    matrix = [[sum(map(mul, columns[i], other)) for other in (*columns, ones)] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for k in range(n):
            if k != i:
                factor = matrix[k][i] / matrix[i][i]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i], strict=True)]
    return {name: matrix[i][n] / matrix[i][i] for i, name in enumerate(names)}


def share_within(samples: Sequence[Sample]) -> float:
    """Return the share of routes whose estimate is within `TOLERANCE`."""
    return sum(abs(sample.error) <= TOLERANCE for sample in samples) / len(samples)


def main(seeds: int) -> None:
    samples: list[Sample] = []
    for seed in range(seeds):
        with open_trader() as trader:
            samples += measure(trader, seed)
    # Fit on one half and report on the other. The four kinds of routes alternate, so both halves have each kind.
    fitted, fresh = ([each for k, each in enumerate(samples) if k // 4 % 2 == half] for half in (0, 1))
    constants = fit(fitted)
    for name, value in constants.items():
        print(f"{name:26}{value:10,.0f}{IN_USE[name]:10,}")
    for name, judged in (("fit", [each.with_constants(constants) for each in fresh]), ("in use", fresh)):
        errors = sorted(abs(sample.error) for sample in judged)
        print(f"{name}: {share_within(judged):.1%} of {len(judged)} routes within {TOLERANCE:.0%},")
        print(f"95% within {errors[int(len(errors) * 0.95)]:.1%}, the worst {errors[-1]:.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
