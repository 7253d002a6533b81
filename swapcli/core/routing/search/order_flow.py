"""The flow of an order: the trades of a solution, grouped into hops between tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import TokenPair, topological_order
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.solver.newton import Solution, Trade
from swapcli.core.routing.solver.parallel_pools import Hop


def trades_by_pair(trades: Iterable[Trade]) -> dict[TokenPair, list[Trade]]:
    """Return the trades by token pair."""
    groups: dict[TokenPair, list[Trade]] = {}
    for trade in trades:
        groups.setdefault((trade.arc.token_in, trade.arc.token_out), []).append(trade)
    return groups


def flow_values(solution: Solution) -> dict[TokenPair, float]:
    """Return the flow through each hop, as the value of its input in units of the order's output token."""
    prices = solution.prices
    values: dict[TokenPair, float] = {}
    for trade in solution.trades:
        pair = (trade.arc.token_in, trade.arc.token_out)
        values[pair] = values.get(pair, 0.0) + prices[pair[0]] * trade.amount_in
    return values


def arcs_reusing_a_pool(trades: Iterable[Trade], prices: Prices) -> set[int]:
    """Return the IDs of arcs with a pool that trades more in another direction.

    Solutions treat directions as independent, but in execution the first trade moves the pool's price for the second.
    """
    strongest: dict[str, tuple[tuple[float, int, int], int]] = {}
    weaker: set[int] = set()
    for trade in trades:
        arc = trade.arc
        use = ((prices[arc.token_in] * trade.amount_in, arc.token_in, arc.token_out), id(arc))
        other = strongest.get(arc.pool.key)
        strongest[arc.pool.key] = use if other is None else max(use, other)
        if other is not None:
            weaker.add(min(use, other)[1])
    return weaker


class Flow(NamedTuple):
    """Hops in topological order, with the share of the order that each carries.

    `shares[h]` sums to 1 over the hops that leave the source; `amount_per_share[t]` is the number of base units of
    token t that carry the whole order.
    """

    endpoints: tuple[int, int]
    hops: list[Hop]
    shares: list[float]
    amount_per_share: dict[int, float]


def continuous_flow(
    values: Mapping[TokenPair, float],
    usable_arcs: Mapping[TokenPair, list[Arc]],
    endpoints: tuple[int, int],
    amount: float,
    prices: Prices,
    min_share: float,
) -> Flow:
    """Return the flow of the order when it runs forward through the pools in proportion to `values`.

    Each hop splits its input over its `usable_arcs` optimally. Hops that carry less than `min_share` of the order are
    omitted.
    """
    source, target = endpoints
    values = _drop_disconnected(values, source, target, min_share)
    order = topological_order(values) or []
    leaving: dict[int, list[TokenPair]] = {}
    for pair in values:
        leaving.setdefault(pair[0], []).append(pair)
    balances, share = {source: amount}, {source: 1.0}
    flow = Flow(endpoints, [], [], {})
    for token in order:
        total = sum(values[pair] for pair in leaving.get(token, ()))
        flow.amount_per_share[token] = balances[token] / share[token]
        for pair in leaving.get(token, ()):
            part = values[pair] / total
            hop = Hop(usable_arcs[pair], prices[pair[0]] / prices[pair[1]])
            amount_out = hop.amount_out(min(balances[token] * part, hop.capacity))
            balances[pair[1]] = balances.get(pair[1], 0.0) + amount_out
            share[pair[1]] = share.get(pair[1], 0.0) + share[token] * part
            flow.hops.append(hop)
            flow.shares.append(share[token] * part)
    return flow


def _drop_disconnected(
    values: Mapping[TokenPair, float], source: int, target: int, min_share: float
) -> dict[TokenPair, float]:
    """Remove hops below `min_share` of the order, then those on no path from source to target."""
    total = sum(value for (i, _), value in values.items() if i == source)
    remaining = {pair: value for pair, value in values.items() if value >= min_share * total}
    while True:
        starts, ends = {i for i, _ in remaining} | {target}, {j for _, j in remaining} | {source}
        smaller = {pair: value for pair, value in remaining.items() if pair[0] in ends and pair[1] in starts}
        if len(smaller) == len(remaining):
            return remaining
        remaining = smaller
