"""The flow of an order: trades grouped to hops on an acyclic graph of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from swapcli.routing.graph.digraph import TokenPair, topological_order
from swapcli.routing.graph.market_graph import Arc, Prices
from swapcli.routing.solver.hop import Hop
from swapcli.routing.solver.newton import Solution, Trade


def trades_by_pair(trades: Iterable[Trade]) -> dict[TokenPair, list[Trade]]:
    """Trades of the same two tokens together."""
    links: dict[TokenPair, list[Trade]] = {}
    for trade in trades:
        links.setdefault((trade.arc.token_in, trade.arc.token_out), []).append(trade)
    return links


def flow_values(solution: Solution) -> dict[TokenPair, float]:
    """What flows through each hop, as the value of its input in units of the output token."""
    prices = solution.prices
    values: dict[TokenPair, float] = {}
    for trade in solution.trades:
        link = (trade.arc.token_in, trade.arc.token_out)
        values[link] = values.get(link, 0.0) + prices[link[0]] * trade.amount_in
    return values


def value_in(trade: Trade, prices: Prices) -> float:
    """Value of what a trade sells."""
    return prices[trade.arc.token_in] * trade.amount_in


def value_out(trade: Trade, prices: Prices) -> float:
    """Value of what a trade buys: it tells more where an order floods the pools and its own token is worth little."""
    return prices[trade.arc.token_out] * trade.amount_out


def arcs_reusing_a_pool(
    trades: Iterable[Trade], prices: Prices, trade_value: Callable[[Trade, Prices], float] = value_in
) -> set[int]:
    """Ids of arcs whose pool trades more in another direction: its state would change under the other trade."""
    strongest: dict[str, tuple[float, int]] = {}
    weaker: set[int] = set()
    for trade in trades:
        use = (trade_value(trade, prices), id(trade.arc))
        other = strongest.get(trade.arc.pool.key)
        strongest[trade.arc.pool.key] = use if other is None else max(use, other)
        if other is not None:
            weaker.add(min(use, other)[1])
    return weaker


class Flow(NamedTuple):
    """Hops in flow order, the share of the order that each carries, and the amount of a token that one share is worth.

    `shares[h]` sums to 1 over the hops that leave the source; `unit[t]` is base units of t per whole order.
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
    """The flow `values` run forward through the pools. Hops that carry less than `least_share` are left out.

    `nearby` are the arcs of each link that a hop may use; the best split over them is found anew.
    """
    source, target = endpoints
    values = _drop_disconnected(values, source, target, min_share)
    order = topological_order(values) or []
    leaving: dict[int, list[TokenPair]] = {}
    for link in values:
        leaving.setdefault(link[0], []).append(link)
    balances, share = {source: amount}, {source: 1.0}
    flow = Flow(endpoints, [], [], {})
    for token in order:
        total = sum(values[link] for link in leaving.get(token, ()))
        flow.amount_per_share[token] = balances[token] / share[token]
        for link in leaving.get(token, ()):
            part = values[link] / total
            hop = Hop(usable_arcs[link], prices[link[0]] / prices[link[1]])
            got = hop.amount_out(min(balances[token] * part, hop.capacity))
            balances[link[1]] = balances.get(link[1], 0.0) + got
            share[link[1]] = share.get(link[1], 0.0) + share[token] * part
            flow.hops.append(hop)
            flow.shares.append(share[token] * part)
    return flow


def _drop_disconnected(
    values: Mapping[TokenPair, float], source: int, target: int, min_share: float
) -> dict[TokenPair, float]:
    """Hops on paths from source to target, without those below `least_share` of the order."""
    total = sum(v for (i, _), v in values.items() if i == source)
    kept = {link: v for link, v in values.items() if v >= min_share * total}
    while True:
        starts, ends = {i for i, _ in kept} | {target}, {j for _, j in kept} | {source}
        smaller = {link: v for link, v in kept.items() if link[0] in ends and link[1] in starts}
        if len(smaller) == len(kept):
            return kept
        kept = smaller
