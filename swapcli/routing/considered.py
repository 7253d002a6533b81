"""The pools that a route could want if the state were a little different from what is known."""

from __future__ import annotations

from swapcli.routing.graph import Arc
from swapcli.routing.search import Outcome

_STIR = 0.01
"""How far rates may have moved since: a pool that would trade within it at the present prices could join a route."""


def pools_considered(outcome: Outcome, most: int) -> tuple[str, ...]:
    """Keys of the route's own pools, then of others by the worth of what they would trade, `most` at most.

    The route's own are all there, however many they are.
    """
    own = dict.fromkeys(step.pool for step in outcome.found.replay.steps)
    prices = outcome.prices
    worths: dict[str, float] = {}
    for arc in outcome.problem.arcs_between(prices):
        worth = _worth(arc, prices[arc.token_in], prices[arc.token_out])
        if worth > worths.get(arc.pool.key, 0.0) and arc.pool.key not in own:
            worths[arc.pool.key] = worth
    others = sorted(worths, key=lambda key: -worths[key])
    return (*own, *others[: max(most - len(own), 0)])


def _worth(arc: Arc, price_in: float, price_out: float) -> float:
    rate = price_in / price_out * (1.0 - _STIR)
    return arc.trade_to(rate)[0] * price_in if arc.rate > rate else 0.0
