"""Measure the price impact of a route on its own pools: how much the order's size lowers the price of each unit.

The measurement needs no USD prices and no pool outside the route. Each pool is weighted by its part of the order, so a
tiny pool hardly matters. A mispriced pool stands out against the route's other large segments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import RATE_SCALE, SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.records import NamedTuple
from swapcli.core.routing.replay import FlatSwap, flatten

PROBE_SHARE = 0.05
"""The fraction of a pool's or segment's amount whose output gives the price of a small order.

It is small enough to move no price much, and large enough to round to few units; smaller parts of a route do not
represent its price.
"""


def route_impact(pools: Mapping[str, Pool], route: Route, amount_in: int, amount_out: int) -> float | None:
    """Return the part of the output that is lost to the order's size, from 0.0 to 1.0, without pool fees; None if
    unknown.

    For one constant-product pool it is exact: `amount_in / (reserve_in + amount_in)`, with the fee taken from
    `amount_in`. `pools` are in the state before the swap. The impact is unknown if a probe pays nothing.
    """
    swaps = flatten(route)
    flow = _probe_flow(pools, swaps, float(amount_in))
    probes = [
        _probe_flow(pools, flatten(Route((_main_part(segment),))), amount_in * PROBE_SHARE).amount_out
        for segment in route.segments
        if segment.share >= SHARES_PER_ROUTE * PROBE_SHARE
    ]
    best = max(probes, default=0.0)
    if flow.impact is None or best <= 0.0:
        return None
    # Each of the last swaps rounds down by less than one unit, which is not a price impact.
    paid = amount_out + sum(swap.token_out == swaps[-1].token_out for swap in swaps)
    beside_others = (1.0 - paid * PROBE_SHARE / best) / (1.0 - PROBE_SHARE)
    return min(max(flow.impact, beside_others, 0.0), 1.0)


def _main_part(segment: Segment) -> Segment:
    """Return the segment as a whole route, without pools that get only a small part of a hop."""
    return Segment(SHARES_PER_ROUTE, tuple(_main_pools(hop) for hop in segment.hops))


def _main_pools(hop: tuple[Swap, ...]) -> tuple[Swap, ...]:
    largest, *others = sorted(hop, key=lambda swap: -swap.share)
    large = [swap for swap in others if swap.share >= SHARES_PER_HOP * PROBE_SHARE]
    return (largest._replace(share=SHARES_PER_HOP - sum(swap.share for swap in large)), *large)


class _ProbedFlow(NamedTuple):
    """The output of a list of swaps in floats, and its price impact; None if a probe pays nothing."""

    amount_out: float
    impact: float | None


def _probe_flow(pools: Mapping[str, Pool], swaps: Sequence[FlatSwap], amount_in: float) -> _ProbedFlow:
    source, target = swaps[0].token_in, swaps[-1].token_out
    balances = {source: amount_in}
    parts = {source: 1.0}  # of the order that each token carries
    unimpaired = {source: 1.0}  # those parts after the price impact of each swap
    for swap in swaps:
        share = swap.rate / RATE_SCALE
        amount, part, unimpaired_part = (ledger[swap.token_in] * share for ledger in (balances, parts, unimpaired))
        curve = pools[swap.pool].curve(swap.token_in, swap.token_out)
        paid, probed = curve.amount_out(amount), curve.amount_out(amount * PROBE_SHARE)
        if probed <= 0.0 < amount:
            return _ProbedFlow(0.0, None)
        impact = (1.0 - paid * PROBE_SHARE / probed) / (1.0 - PROBE_SHARE) if amount else 0.0
        for ledger, removed, added in (
            (balances, amount, paid),
            (parts, part, part),
            (unimpaired, unimpaired_part, unimpaired_part * min(max(1.0 - impact, 0.0), 1.0)),
        ):
            ledger[swap.token_in] -= removed
            ledger[swap.token_out] = ledger.get(swap.token_out, 0.0) + added
    return _ProbedFlow(balances[target], 1.0 - unimpaired[target] / parts[target] if parts[target] else None)
