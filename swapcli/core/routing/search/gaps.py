"""What may be missing from the best route so far, and what to try for it.

A search solves the order without limits, breaks the cycles of the flow, prunes pools that are not worth their gas,
rounds the flow to shares and replays the routes. Each step may lose something. The figures before and after it bound
the loss, and the loss says what to try: other orders of the tokens, single paths, or other shares. A gap that is not
worth a search costs nothing.
"""

from __future__ import annotations

from collections.abc import Set
from enum import Enum, auto

from swapcli.core.records import NamedTuple


class Attempt(Enum):
    """What a search may try after its first routes. Each builds on those before."""

    TOKEN_ORDERS = auto()
    SINGLE_PATHS = auto()
    SHARES = auto()


class Gaps(NamedTuple):
    """What the best route may lack, by cause, above what is worth an attempt, in base units of the target.

    `cycles`: the solution with cycles is worth more than the best one without. `paths`: a single path may pay more net
    of gas, as the prices say. `shares`: rounding has lost that from a solution, or the route costs as much gas.
    """

    cycles: float
    paths: float
    shares: float

    def next_attempt(self, made: Set[Attempt]) -> Attempt | None:
        """Return the first attempt that a gap calls for and that is not made yet; None if no gap is left."""
        called = zip(Attempt, self, strict=True)
        return next((attempt for attempt, gap in called if gap > 0.0 and attempt not in made), None)
