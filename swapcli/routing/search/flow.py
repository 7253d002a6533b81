"""The flow of an order: trades grouped to hops on an acyclic graph of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from swapcli.routing.graph.market_graph import Arc
from swapcli.routing.solver.dual import Prices
from swapcli.routing.solver.hop import Hop
from swapcli.routing.solver.newton import Solution, Trade

TokenPair = tuple[int, int]
"""(token in, token out) of a hop."""


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


def topological_order(links: Iterable[TokenPair]) -> list[int] | None:
    """Tokens so that every hop leads forward; None when the hops form a cycle."""
    onward: dict[int, list[int]] = {}
    open_inflows: dict[int, int] = {}
    for i, j in links:
        onward.setdefault(i, []).append(j)
        open_inflows[j] = open_inflows.get(j, 0) + 1
        open_inflows.setdefault(i, 0)
    ready = [t for t, n in open_inflows.items() if n == 0]
    order: list[int] = []
    while ready:
        token = ready.pop()
        order.append(token)
        for j in onward.get(token, ()):
            open_inflows[j] -= 1
            if open_inflows[j] == 0:
                ready.append(j)
    return order if len(order) == len(open_inflows) else None


def _drop_acyclic_ends(values: Mapping[TokenPair, float]) -> dict[TokenPair, float]:
    """What is left after peeling off the hops that cannot lie on a cycle."""
    remaining = dict(values)
    while True:
        starts, ends = {i for i, _ in remaining}, {j for _, j in remaining}
        kept = {link: v for link, v in remaining.items() if link[0] in ends and link[1] in starts}
        if len(kept) == len(remaining):
            return kept
        remaining = kept


def feedback_arcs(values: Mapping[TokenPair, float]) -> set[TokenPair]:
    """Hops without which the flow is acyclic: the weaker of two opposite ones, then the weakest of each cycle left."""
    breakers = {link for link, v in values.items() if v < values.get(link[::-1], 0.0)}
    remaining = _drop_acyclic_ends({link: v for link, v in values.items() if link not in breakers})
    while remaining:
        onward = {i: (i, j) for i, j in remaining}
        walk = [next(iter(onward))]
        while walk[-1] not in walk[:-1]:
            walk.append(onward[walk[-1]][1])
        ring = walk[walk.index(walk[-1]) :]
        weakest = min(pairwise(ring), key=lambda link: remaining[link])
        breakers.add(weakest)
        remaining = _drop_acyclic_ends({link: v for link, v in remaining.items() if link != weakest})
    return breakers


def unreachable_within(links: Iterable[TokenPair], endpoints: tuple[int, int], max_hops: int) -> set[TokenPair]:
    """Those of `links` that no path of at most `max_hops` of them leads over from end to end."""
    known = list(links)
    from_source = hop_distances(known, endpoints[0])
    to_target = hop_distances([(j, i) for i, j in known], endpoints[1])
    far = max_hops + 1
    return {(i, j) for i, j in known if from_source.get(i, far) + 1 + to_target.get(j, far) > max_hops}


def longest_path(links: Iterable[TokenPair]) -> list[TokenPair]:
    """A path of the acyclic `links` with the most hops."""
    known = list(links)
    longest: dict[int, list[TokenPair]] = {}
    for token in topological_order(known) or []:
        so_far = longest.get(token, [])
        for link in known:
            if link[0] == token and len(so_far) >= len(longest.get(link[1], [])):
                longest[link[1]] = [*so_far, link]
    return max(longest.values(), key=len, default=[])


def hop_distances(links: Iterable[TokenPair], start: int) -> dict[int, int]:
    """Hops from `start` to each token that `links` lead to."""
    onward: dict[int, list[int]] = {}
    for i, j in links:
        onward.setdefault(i, []).append(j)
    distance, front = {start: 0}, [start]
    while front:
        reached = [j for i in front for j in onward.get(i, ()) if j not in distance]
        distance.update(dict.fromkeys(reached, distance[front[0]] + 1))
        front = list(dict.fromkeys(reached))
    return distance


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
