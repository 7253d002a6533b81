"""The price impact of a route, measured on its own pools: how much less each unit is paid for than in a small order.

No price in USD is needed, and no pool outside the route counts. Each pool counts by the part of the order that it
carries, so that one of next to nothing shifts the figure by next to nothing, whatever it pays for its first units. A
pool off the market shows beside the route's other large segments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from swapcli.model.pool import Pool
from swapcli.model.route import RATE_SCALE, SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.routing.replay import FlatSwap, flatten

PROBE_SHARE = 0.05
"""The part of what a pool or a segment is paid that the whole is compared with. Smaller parts of a route are no measure
of the rest."""


def route_impact(pools: Mapping[str, Pool], route: Route, amount_in: int, amount_out: int) -> float | None:
    """Return the part of the output that the order's size costs, from 0.0 to 1.0; fees of the pools are not in it.

    For one constant-product pool the figure is exact: `amount_in / (reserve_in + amount_in)`, with the fee taken from
    `amount_in`. None where a pool is paid for nothing. `pools` are in the state before the swap.
    """
    swaps = flatten(route)
    flow = _probe_flow(pools, swaps, float(amount_in))
    probes = [
        _probe_flow(pools, flatten(Route((_main_part(segment),))), amount_in * PROBE_SHARE).amount_out
        for segment in route.segments
        if segment.percent >= SHARES_PER_ROUTE * PROBE_SHARE
    ]
    best = max(probes, default=0.0)
    if flow.impact is None or best <= 0.0:
        return None
    # Each of the last swaps rounds down by less than a unit, which is no price impact.
    paid = amount_out + sum(swap.token_out == swaps[-1].token_out for swap in swaps)
    beside_others = (1.0 - paid * PROBE_SHARE / best) / (1.0 - PROBE_SHARE)
    return min(max(flow.impact, beside_others, 0.0), 1.0)


def _main_part(segment: Segment) -> Segment:
    """The segment as the whole of a route, without the pools that get little of a hop."""
    return Segment(SHARES_PER_ROUTE, tuple(_main_pools(hop) for hop in segment.hops))


def _main_pools(hop: tuple[Swap, ...]) -> tuple[Swap, ...]:
    largest, *others = sorted(hop, key=lambda swap: -swap.share)
    kept = [swap for swap in others if swap.share >= SHARES_PER_HOP * PROBE_SHARE]
    return (largest._replace(share=SHARES_PER_HOP - sum(swap.share for swap in kept)), *kept)


class _ProbedFlow(NamedTuple):
    """What a list of swaps pays in floats, and the part of the order that the size of its swaps costs, None where a
    probe is paid nothing."""

    amount_out: float
    impact: float | None


def _probe_flow(pools: Mapping[str, Pool], swaps: Sequence[FlatSwap], amount_in: float) -> _ProbedFlow:
    source, target = swaps[0].token_in, swaps[-1].token_out
    balances = {source: amount_in}
    parts = {source: 1.0}  # of the order that each token carries
    kept = {source: 1.0}  # what is left of those parts after the impact of each swap
    for swap in swaps:
        share = swap.rate / RATE_SCALE
        spend, part, left = (held[swap.token_in] * share for held in (balances, parts, kept))
        curve = pools[swap.pool].curve(swap.token_in, swap.token_out)
        paid, probed = curve.amount_out(spend), curve.amount_out(spend * PROBE_SHARE)
        if probed <= 0.0 < spend:
            return _ProbedFlow(0.0, None)
        lost = (1.0 - paid * PROBE_SHARE / probed) / (1.0 - PROBE_SHARE) if spend else 0.0
        for held, taken, added in (
            (balances, spend, paid),
            (parts, part, part),
            (kept, left, left * min(max(1.0 - lost, 0.0), 1.0)),
        ):
            held[swap.token_in] -= taken
            held[swap.token_out] = held.get(swap.token_out, 0.0) + added
    return _ProbedFlow(balances[target], 1.0 - kept[target] / parts[target] if parts[target] else None)
