"""The pools that a route could want if the state were different from what is known."""

from __future__ import annotations

from heapq import nlargest

from swapcli.routing.dual import Prices
from swapcli.routing.graph import Arc
from swapcli.routing.problem import Banned
from swapcli.routing.search import Outcome
from swapcli.routing.spot_prices import SpotPrices

_STIR = 0.01
"""How far rates have rarely moved since: what a pool would trade within it shows what it could mean to a route."""

_NONE = (0.0, 0.0)


def pools_considered(outcome: Outcome, most: int) -> tuple[str, ...]:
    """Keys of the route's own pools, then of others by the worth of what they would trade if rates moved a little, then
    of those that miss the best rates by more, the nearest first. `most` at most, but the route's own are all there.
    """
    own = dict.fromkeys(step.pool for step in outcome.found.replay.steps)
    prices, problem = outcome.prices, outcome.problem
    merits: dict[str, tuple[float, float]] = {}
    for arc in problem.graph.arcs():
        key = arc.pool.key
        if key not in own:
            merit = (_worth(arc, prices), _nearness(arc, problem.spot)) if problem.usable(arc, Banned()) else _NONE
            merits[key] = max(merits.get(key, _NONE), merit)
    others = nlargest(max(most - len(own), 0), merits, key=lambda key: merits[key])
    return (*own, *others)


def _worth(arc: Arc, prices: Prices) -> float:
    """Of what it would trade at rates that are a little lower, in units of the target; 0 off the order's ways."""
    price_in, price_out = prices.get(arc.token_in), prices.get(arc.token_out)
    if not price_in or not price_out:
        return 0.0
    rate = price_in / price_out * (1.0 - _STIR)
    return arc.trade_to(rate)[0] * price_in if arc.rate > rate else 0.0


def _nearness(arc: Arc, spot: SpotPrices) -> float:
    """Its first unit's rate as a part of the best there is."""
    value_in = spot.value(arc.token_in)
    return arc.rate * spot.value(arc.token_out) / value_in if value_in else 0.0
