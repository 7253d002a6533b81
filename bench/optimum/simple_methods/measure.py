"""Compare our routes of many orders with what the methods find, in one process or two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from bench.optimum.real_market import market_name
from bench.optimum.simple_methods.compare import DEFAULT_METHODS, Compared, Found, compare
from bench.optimum.simple_methods.figures import MIN_GAINS_BPS, GainFigures
from bench.worlds.changed_pools import pushed_market
from bench.worlds.random_pairs import PairOrder, random_pairs, read_market
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote import HUNDREDTHS
from swapcli.core.routing.router import Router

EVALUATIONS = 3_000
_GAS_GWEI = (0.0, 0.01)


class Settings(NamedTuple):
    """The methods that compete, the replays of a climb, and the step of shares in hundredths of a percent."""

    methods: Sequence[str] = DEFAULT_METHODS
    evaluations: int = EVALUATIONS
    share_step: int = HUNDREDTHS
    processes: int = 1


class _Task(NamedTuple):
    router: Router
    orders: Sequence[PairOrder]
    gas_gwei: float
    settings: Settings

    def compare(self, number: int) -> Compared:
        methods, evaluations, share_step, _ = self.settings
        return compare(self.router, self.orders[number], self.gas_gwei, methods, evaluations, share_step)


_TASKS: list[_Task] = []
"""The present task comes last; processes inherit it by a fork."""


def _compare(number: int) -> Compared:
    return _TASKS[-1].compare(number)


def compare_all(
    market: MarketState, orders: Sequence[PairOrder], gas_gwei: float, settings: Settings
) -> Iterator[Compared]:
    """Yield the comparison of each order, in their order."""
    router = Router(market)
    router.index.warm()
    _TASKS.append(_Task(router, orders, gas_gwei, settings))
    try:
        if settings.processes == 1:
            yield from map(_compare, range(len(orders)))
            return
        with get_context("fork").Pool(settings.processes) as pool:
            yield from pool.imap(_compare, range(len(orders)), chunksize=4)
    finally:
        _TASKS.pop()


def measure_simple_methods(orders: int, markets: Sequence[Path], seed: int) -> list[GainFigures]:
    """Return the figures of real states, as they are and pushed out of line. Raises `BenchmarkFailed`."""
    found = []
    for file in markets:
        market, name = read_market(file), market_name(file)
        for state, shown in ((market, name), (pushed_market(market, seed), f"{name}, pushed")):
            pairs = random_pairs(state, orders, seed)
            for gas_gwei in _GAS_GWEI:
                rows = list(compare_all(state, pairs, gas_gwei, Settings()))
                found.append(gain_figures(rows, DEFAULT_METHODS, shown))
    return found


def gain_figures(rows: Sequence[Compared], methods: Sequence[str], name: str) -> GainFigures:
    """Return how often the best of `methods` gains, and the order with the greatest gain."""
    gains = [(found.gain_bps, k) for k, row in enumerate(rows) if (found := best_of(row, methods))]
    counts = tuple(sum(gain > bps for gain, _ in gains) for bps in MIN_GAINS_BPS)
    worst_bps, number = max(gains, default=(0.0, 0))
    return GainFigures(name, rows[0].gas_gwei, len(rows), counts, worst_bps, describe(rows[number]))


def best_of(compared: Compared, methods: Sequence[str]) -> Found | None:
    """Return the best that `methods` found; None if they found no route."""
    found = [each for each in compared.found if each.method in methods]
    return max(found, key=lambda each: each.gain_bps, default=None)


def describe(row: Compared) -> str:
    """Return the order as `--pair` takes it, with its value."""
    order = row.order
    return f"${order.usd:.2f}: --pair {order.token_in},{order.token_out},{order.amount} --gas {row.gas_gwei:g}"
