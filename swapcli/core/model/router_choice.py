"""The router that a quote chose, and the reason."""

from __future__ import annotations

from swapcli.core.records import NamedTuple


class PassedRouter(NamedTuple):
    """A more trusted dialect that could not be chosen, with the reason as a clause."""

    dialect: str
    reason: str


class RouterChoice(NamedTuple):
    """The dialect of the chosen router, with the reason as a clause.

    `over` is the most trusted dialect that could execute the order. `gain_bps` is how much more the chosen router pays
    than the best route through `over`, after gas, in basis points of the output. Both are None if `over` is the chosen
    dialect. `passed` are more trusted dialects that could not be chosen.
    """

    dialect: str
    reason: str
    gain_bps: float | None = None
    over: str | None = None
    passed: tuple[PassedRouter, ...] = ()
