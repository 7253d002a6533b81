"""Figures of rivals, without the code that measures them."""

from __future__ import annotations

from typing import NamedTuple

MIN_GAINS_BPS = (0.05, 1.0, 2.0)
MIN_GAIN_USD = 0.01
"""A smaller gain does not count, whatever its share of the order."""


class GainFigures(NamedTuple):
    """How many of a market's orders gain more than each of `MIN_GAINS_BPS`, and the largest gain.

    `worst` describes the order with the largest gain. Gains of less than a cent do not count.
    """

    kind: str
    market: str
    gas_gwei: float
    orders: int
    above: tuple[int, ...]
    worst_bps: float
    worst: str
