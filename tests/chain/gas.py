"""What the router's gas is made of: `python -m tests.chain.gas [SEEDS]` measures mined routes, fits, and prints.

A route's gas is the sum of a base, of each swap by the family of its pool, and of what sets routes apart beside their
swaps. Errors are relative, and so is what the fit minimises. The figures are gas used, after refunds; a limit must
leave room for those, which are at most a fifth: used / 0.8. Pools have been used before, in every direction.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import mul
from random import Random
from typing import NamedTuple

from swapcli.model.payload import SwapType
from swapcli.pools.concentrated import Concentrated
from tests.chain.anvil import running_anvil
from tests.chain.reading import read_market
from tests.chain.trading import Desk, Trade
from tests.chain.world import World

ROUTES_A_SEED = 100
TOLERANCE = 0.1

FITTED: Mapping[str, int] = {
    "base": 90_300,
    "constant_product": 59_900,
    "constant_product solidly": 117_100,
    "solidly_stable": 123_200,
    "concentrated": 68_800,
    "stableswap": 90_200,
    "weighted": 87_700,
    "tick crossed": 37_400,
    "pool used again": -39_400,
    "token between": 10_000,
    "native in": -1_400,
    "native out": 13_800,
}
"""Of 2,000 routes. The pool of `stableswap` is modelled; the others are the published bytecode."""


class Sample(NamedTuple):
    """A mined route: how often it has each term of `FITTED`, and its gas."""

    terms: Mapping[str, int]
    gas_used: int

    def error(self, constants: Mapping[str, float]) -> float:
        """How far the estimate is off, as a part of what was used."""
        return sum(constants[name] * count for name, count in self.terms.items()) / self.gas_used - 1


def measure(seed: int, routes: int = ROUTES_A_SEED) -> Iterator[Sample]:
    """Random routes on a fresh node."""
    with running_anvil() as chain:
        world = World(chain)
        desk = Desk(world, chain, read_market(world))
        desk.endow()
        desk.warm_up()
        for trade in desk.trades(Random(f"gas {seed}"), routes):
            terms = terms_of(desk, trade)
            yield Sample(terms, desk.carry_out(trade).receipt.gas_used)


def terms_of(desk: Desk, trade: Trade) -> Mapping[str, int]:
    """To be asked before the trade is carried out."""
    steps, after = trade.replay.steps, trade.replay.pools_after
    before = desk.pools_of(trade)
    swap_type = trade.payload.call.route.swap_type
    terms = Counter(_family(desk, step.pool) for step in steps)
    terms["base"] = 1
    terms["tick crossed"] = sum(
        abs(_position(before[key]) - _position(pool)) for key, pool in after.items() if isinstance(pool, Concentrated)
    )
    terms["pool used again"] = len(steps) - len(before)
    terms["token between"] = len({token for step in steps for token in (step.token_in, step.token_out)}) - 2
    terms["native in"] = int(swap_type is SwapType.NATIVE_TO_TOKEN)
    terms["native out"] = int(swap_type is SwapType.TOKEN_TO_NATIVE)
    return terms


def _family(desk: Desk, key: str) -> str:
    pool = desk.market.pools[key]
    return f"{pool.family} solidly" if pool.state().get("variant") == "solidly" else pool.family


def _position(pool: object) -> int:
    assert isinstance(pool, Concentrated)
    return bisect_right(pool.ladder.ticks, pool.tick)


def fit(samples: Sequence[Sample]) -> dict[str, float]:
    """The constants with the least sum of squared relative errors: the normal equations, eliminated."""
    names = list(FITTED)
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


def share_within(samples: Sequence[Sample], constants: Mapping[str, float]) -> float:
    """Of the routes, those that are estimated to a tenth."""
    return sum(abs(sample.error(constants)) <= TOLERANCE for sample in samples) / len(samples)


def main(seeds: int) -> None:
    samples = [sample for seed in range(seeds) for sample in measure(seed)]
    # What is shown must hold for routes that were not fitted to. Four kinds of routes take turns.
    fitted, fresh = ([each for k, each in enumerate(samples) if k // 4 % 2 == half] for half in (0, 1))
    constants = fit(fitted)
    for name, value in constants.items():
        print(f"{name:26}{value:10,.0f}{FITTED[name]:10,}")
    errors = sorted(abs(sample.error(constants)) for sample in fresh)
    print(f"{len(samples)} routes; of those not fitted {share_within(fresh, constants):.1%} within {TOLERANCE:.0%},")
    print(f"95 % within {errors[int(len(errors) * 0.95)]:.1%}, the worst {errors[-1]:.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
