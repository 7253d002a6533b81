"""Figures of contradictions, without the code that measures them."""

from __future__ import annotations

from typing import NamedTuple


class ContradictionFigures(NamedTuple):
    """Of one kind: the comparisons, those above the bar, of them those by more than a base unit and by more than 1 bps.

    `worst` repeats the case of the greatest loss; it is empty if there is none.
    """

    kind: str
    bar_bps: float
    compared: int
    above: int
    above_by_units: int
    above_1_bps: int
    worst_bps: float
    worst: str
