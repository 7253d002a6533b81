"""Figures of simple methods, without the code that measures them."""

from __future__ import annotations

from typing import NamedTuple

MIN_GAINS_BPS = (0.05, 1.0, 2.0)


class GainFigures(NamedTuple):
    """How many of the orders of a market gain more than each of `MIN_GAINS_BPS`, and the greatest gain.

    `worst` repeats the order of the greatest gain.
    """

    market: str
    gas_gwei: float
    orders: int
    above: tuple[int, ...]
    worst_bps: float
    worst: str

    @property
    def is_pushed(self) -> bool:
        """Return whether pools were pushed out of line."""
        return "pushed" in self.market
