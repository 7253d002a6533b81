"""The price impact of a route, measured on its own pools: how much less each unit is paid for than in a small order.

No price in USD is needed, and no pool outside the route counts. A pool in it shifts the figure only as far as it can
pay: one whose reserves are worth a thousandth of the order, by 2% at most (a thousandth over `PROBE_SHARE`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapcli.model.pool import Pool, RateCurve
from swapcli.model.route import RATE_SCALE, SHARES_PER_ROUTE, Route
from swapcli.routing.replay import FlatSwap, flatten

PROBE_SHARE = 0.05
"""The part of the order that the whole is compared with: small beside it, and large beside pools of next to nothing."""

_Curves = dict[tuple[str, str, str], RateCurve]


def route_impact(pools: Mapping[str, Pool], route: Route, amount_in: int, amount_out: int) -> float | None:
    """Return the part of the output that the order's size costs, from 0.0 to 1.0; fees of the pools are not in it.

    The probe takes the whole route, or the best of its segments alone. For one constant-product pool the figure is
    exact: `amount_in / (reserve_in + amount_in)`, with the fee taken from `amount_in`. None where a probe is paid
    nothing. `pools` are in the state before the swap.
    """
    curves: _Curves = {}
    swaps = flatten(route)
    probe = amount_in * PROBE_SHARE
    alone = (flatten(Route((segment._replace(percent=SHARES_PER_ROUTE),))) for segment in route.segments)
    candidates = [swaps, *alone] if len(route.segments) > 1 else [swaps]
    best = max(_amount_out(pools, curves, each, probe) for each in candidates)
    if best <= 0.0:
        return None
    token_out = swaps[-1].token_out
    # Each of the last swaps rounds down by less than a unit, which is no price impact.
    paid = amount_out + sum(swap.token_out == token_out for swap in swaps)
    lost = 1.0 - paid * PROBE_SHARE / best
    return min(max(lost / (1.0 - PROBE_SHARE), 0.0), 1.0)


def _amount_out(pools: Mapping[str, Pool], curves: _Curves, swaps: Sequence[FlatSwap], amount_in: float) -> float:
    """What a list of swaps pays for a small amount, in floats."""
    balances = {swaps[0].token_in: amount_in}
    for swap in swaps:
        key = (swap.pool, swap.token_in, swap.token_out)
        curve = curves.get(key)
        if curve is None:
            curve = curves[key] = pools[swap.pool].curve(swap.token_in, swap.token_out)
        spend = balances[swap.token_in] * swap.rate / RATE_SCALE
        balances[swap.token_in] -= spend
        balances[swap.token_out] = balances.get(swap.token_out, 0.0) + curve.amount_out(spend)
    return balances[swaps[-1].token_out]
