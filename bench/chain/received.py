"""Mined routes: received and quoted amounts, used and estimated gas."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from bench.running import BenchmarkFailed
from tests.chain.gas import TOLERANCE, estimate_of
from tests.chain.trader import open_trader

ROUTES_PER_CHAIN = 100
"""The number of routes on each chain: a chain slows down as it grows."""


class Mined(NamedTuple):
    """A mined route; amounts in base units of the bought token."""

    quoted: int
    received: int
    gas_used: int
    gas_estimate: int

    @property
    def is_exact(self) -> bool:
        """Whether the received amount equals the quoted one."""
        return self.received == self.quoted

    @property
    def gas_error(self) -> float:
        """The error of the estimate as a fraction of the used gas."""
        return abs(self.gas_estimate / self.gas_used - 1)

    @property
    def is_gas_known(self) -> bool:
        """Whether the estimate is within the tolerance."""
        return self.gas_error <= TOLERANCE


def measure_received(routes: int) -> list[Mined]:
    """Mine random routes over pools of every family. Raises `BenchmarkFailed` if one reverts."""
    return [
        mined
        for first in range(0, routes, ROUTES_PER_CHAIN)
        for mined in _mine(first, min(routes - first, ROUTES_PER_CHAIN))
    ]


def _mine(seed: int, routes: int) -> Iterator[Mined]:
    with open_trader() as trader:
        trader.warm_up()
        for trade in trader.trades(Random(f"bench {seed}"), routes):
            estimate, outcome = estimate_of(trader, trade), trader.execute(trade)
            if not outcome.receipt.succeeded:
                raise BenchmarkFailed(f"a {trade.kind} route was mined and reverted")
            yield Mined(trade.amount_due, outcome.received, outcome.receipt.gas_used, estimate)
