"""The possible gains over the best route so far, and the refinements that may reach them.

A search solves the order without limits, breaks the cycles of the flow, prunes pools that do not pay for their gas,
rounds the flow to shares and replays the routes. Each step may lose some output. The figures before and after a step
bound its loss, and the step decides what to try: other token orders, single paths or other shares. If no gap is worth
a search, none runs.
"""

from __future__ import annotations

from collections.abc import Set
from enum import Enum, auto

from swapcli.core.records import NamedTuple


class Refinement(Enum):
    """A refinement that a search may try after its first routes. Each refinement builds on the results of the previous
    ones."""

    TOKEN_ORDERS = auto()
    SINGLE_PATHS = auto()
    SHARES = auto()


class Gaps(NamedTuple):
    """The possible gains over the best route, by cause, beyond the smallest gain worth a search, in base units of the
    target.

    `cycles`: how much more the solution with cycles is worth than the best one without. `paths`: how much more a single
    path may pay net of gas, by the bound at the solution's prices. `shares`: the rounding loss, or the route's gas if
    that is more.
    """

    cycles: float
    paths: float
    shares: float

    def next_refinement(self, tried: Set[Refinement]) -> Refinement | None:
        """Return the first refinement that has a gap and has not been tried; None if there is none."""
        by_gap = zip(Refinement, self, strict=True)
        return next((refinement for refinement, gap in by_gap if gap > 0.0 and refinement not in tried), None)
