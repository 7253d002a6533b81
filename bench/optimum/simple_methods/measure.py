"""Compare our routes for many orders with the methods' results, in one process or two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from bench.optimum.real_market import market_name
from bench.optimum.simple_methods.compare import DEFAULT_METHODS, PEER, Compared, Found, compare
from bench.optimum.simple_methods.figures import MIN_GAIN_USD, MIN_GAINS_BPS, GainFigures
from bench.optimum.simple_methods.peer_routes import route_with_peer
from bench.worlds.random_pairs import PairOrder, dollar_units
from bench.worlds.world import WorldOrder, make_world
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote import HUNDREDTHS, Route
from swapcli.core.routing.router import Router

EVALUATIONS = 3_000
_GAS_GWEI = (0.0, 0.01, 1.0)
_GAS_BY_KIND = {"real": _GAS_GWEI, "random": _GAS_GWEI, "pushed": _GAS_GWEI, "hundredfold": (0.0,)}
"""Gas prices by kind of world; no gas price matters for an order of $100 million."""
_RIVALS = ("path", "fill256", "climb", "fill_climb")
_FEW_EVALUATIONS = 1_000
"""A third of what the command takes by default, so that twice as many orders fit into the time."""


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
    peer: Sequence[Route | None]

    def compare(self, number: int) -> Compared:
        methods, evaluations, share_step, _ = self.settings
        peer = self.peer[number] if self.peer else None
        return compare(self.router, self.orders[number], self.gas_gwei, methods, evaluations, share_step, peer)


_TASKS: list[_Task] = []
"""The current task comes last; processes inherit it by forking."""


def _compare(number: int) -> Compared:
    return _TASKS[-1].compare(number)


def compare_all(
    market: MarketState,
    orders: Sequence[PairOrder],
    gas_gwei: float,
    settings: Settings,
    peer: Sequence[Route | None] = (),
) -> Iterator[Compared]:
    """Yield the comparison of each order, in their order; with the peer's route of each, if there are any."""
    router = Router(market)
    router.index.warm()
    _TASKS.append(_Task(router, orders, gas_gwei, settings, peer))
    try:
        if settings.processes == 1:
            yield from map(_compare, range(len(orders)))
            return
        with get_context("fork").Pool(settings.processes) as pool:
            yield from pool.imap(_compare, range(len(orders)), chunksize=4)
    finally:
        _TASKS.pop()


def measure_rivals(orders: int, markets: Sequence[Path], seed: int, folder: Path) -> list[GainFigures]:
    """Return the figures of simple methods and the peer on worlds of real states. Raises `BenchmarkFailed`."""
    found = []
    for kind, prices in _GAS_BY_KIND.items():
        for file in markets:
            world = make_world(kind, file, orders, seed)
            pairs = [_pair(order, dollar_units(world.market)) for order in world.orders]
            peer = route_with_peer(world, file, pairs, HUNDREDTHS, folder)
            for gas_gwei in prices:
                rows = list(compare_all(world.market, pairs, gas_gwei, Settings(_RIVALS, _FEW_EVALUATIONS), peer))
                found.append(gain_figures(rows, (*_RIVALS, PEER), kind, market_name(file)))
    return found


def _pair(order: WorldOrder, units: Mapping[str, float]) -> PairOrder:
    usd = order.amount / units[order.token_in] if order.token_in in units else 0.0
    return PairOrder(order.token_in, order.token_out, order.amount, usd)


def gain_figures(rows: Sequence[Compared], methods: Sequence[str], kind: str, market: str) -> GainFigures:
    """Return how often the best of `methods` gains, and the order with the greatest gain."""
    gains = [
        (found.gain_bps, k)
        for k, row in enumerate(rows)
        if (found := best_of(row, methods)) and found.gain_usd > MIN_GAIN_USD
    ]
    counts = tuple(sum(gain > bps for gain, _ in gains) for bps in MIN_GAINS_BPS)
    worst_bps, number = max(gains, default=(0.0, 0))
    return GainFigures(kind, market, rows[0].gas_gwei, len(rows), counts, worst_bps, describe(rows[number]))


def best_of(compared: Compared, methods: Sequence[str]) -> Found | None:
    """Return the best that `methods` found; None if they found no route."""
    found = [each for each in compared.found if each.method in methods]
    return max(found, key=lambda each: each.gain_bps, default=None)


def describe(row: Compared) -> str:
    """Return the order in the form that `--pair` accepts, with its value."""
    order = row.order
    return f"${order.usd:.2f}: --pair {order.token_in},{order.token_out},{order.amount} --gas {row.gas_gwei:g}"
