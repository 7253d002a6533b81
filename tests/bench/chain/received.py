"""Mined routes: what was received of what was quoted, and the gas that they used of what was estimated."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from tests.bench.running import BenchmarkFailed
from tests.chain.gas import TOLERANCE, estimate_of
from tests.chain.trader import open_trader

A_CHAIN = 100
"""Routes on each chain: it slows down as it grows."""


class Mined(NamedTuple):
    """A route that was carried out; amounts in base units of the token that was bought."""

    quoted: int
    received: int
    gas_used: int
    gas_estimate: int

    @property
    def is_exact(self) -> bool:
        """Was just as much received as was quoted?"""
        return self.received == self.quoted

    @property
    def gas_error(self) -> float:
        """How far the estimate is off, as a part of what was used."""
        return abs(self.gas_estimate / self.gas_used - 1)

    @property
    def is_gas_known(self) -> bool:
        """Is the estimate close enough?"""
        return self.gas_error <= TOLERANCE


def measure_received(routes: int) -> list[Mined]:
    """Random routes over pools of every family. Raises `Failed` where one is refused."""
    return [mined for first in range(0, routes, A_CHAIN) for mined in _carried_out(first, min(routes - first, A_CHAIN))]


def _carried_out(seed: int, routes: int) -> Iterator[Mined]:
    with open_trader() as trader:
        trader.warm_up()
        for trade in trader.trades(Random(f"bench {seed}"), routes):
            estimate, outcome = estimate_of(trader, trade), trader.execute(trade)
            if not outcome.receipt.succeeded:
                raise BenchmarkFailed(f"a {trade.kind} route was mined and reverted")
            yield Mined(trade.amount_due, outcome.received, outcome.receipt.gas_used, estimate)
