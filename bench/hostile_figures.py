"""Figures of hostile markets, without the code that measures them."""

from __future__ import annotations

from typing import NamedTuple

MIN_ORDER_USD = 100.0
"""A smaller order would find money in dust."""


class DustFigures(NamedTuple):
    """Orders of a market with dust pools, compared with the same orders without. Ratios are of CPU time."""

    dust_pools: int
    orders: int
    worse_orders: int
    worst_loss_bps: float
    best_gain_bps: float
    time_ratio: float
    median_time_ratio: float


class SolveTimes(NamedTuple):
    """Wall times of random orders; `out_of_time` counts those whose search was cut short."""

    orders: int
    median_s: float
    p99_s: float
    slowest_s: float
    out_of_time: int
    no_route: int


class HostileFigures(NamedTuple):
    """What was measured on one market."""

    name: str
    dust: tuple[DustFigures, ...]
    times: SolveTimes
