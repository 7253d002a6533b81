"""The choice of the router of a quote among those that can carry its order."""

from __future__ import annotations

from swapcli.core.records import NamedTuple


class PassedRouter(NamedTuple):
    """A dialect that a choice has passed over, and why, as a clause."""

    dialect: str
    reason: str


class RouterChoice(NamedTuple):
    """The dialect of the router that a quote has chosen, and why, as a clause.

    `gain_bps` is how much more it pays net of gas than the best route by `over`, the most trusted dialect that could
    have carried the order, in basis points of the output; both are None if that is the chosen one, or carries no route.
    `passed` are more trusted dialects that were not available.
    """

    dialect: str
    reason: str
    gain_bps: float | None = None
    over: str | None = None
    passed: tuple[PassedRouter, ...] = ()
