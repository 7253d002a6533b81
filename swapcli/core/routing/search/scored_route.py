"""A route that a search compares with others."""

from __future__ import annotations

from swapcli.core.model.quote import Route
from swapcli.core.records import NamedTuple
from swapcli.core.routing.replay import Replay


class ScoredRoute(NamedTuple):
    """A route with its exact replay. `net` is its output minus gas, in base units of the target.

    `rerouted` is the share, in hundredths of a percent, that only paths with too many hops could have carried.
    """

    route: Route
    amount_in: int
    replay: Replay
    gas_units: int
    net: float
    rerouted: int = 0
