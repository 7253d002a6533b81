"""The best route with one pool per hop: what a router without splitting would find, and the floor of every quote."""

from __future__ import annotations

from collections.abc import Iterable

from swapcli.model.route import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.routing.graph import Arc, Graph


def best_single_path(arcs: Iterable[Arc], source: int, target: int, amount: float, max_hops: int) -> list[Arc]:
    """The path over `arcs` that delivers most for `amount`, at most `max_hops` long; empty when there is none.

    One round of relaxation a hop: a pool's output grows with its input, so only the best amount per token matters.
    Amounts are whole units, so that a token with few decimals is charged for what it rounds away.
    """
    leaving: dict[int, list[Arc]] = {}
    for arc in arcs:
        leaving.setdefault(arc.token_in, []).append(arc)
    best: dict[int, tuple[float, tuple[Arc, ...]]] = {source: (amount, ())}
    front = dict(best)
    for _ in range(max_hops):
        found: dict[int, tuple[float, tuple[Arc, ...]]] = {}
        for token, (held, path) in front.items():
            visited = {arc.token_in for arc in path}
            for arc in leaving.get(token, ()):
                j = arc.token_out
                beaten = max(found.get(j, (0.0,))[0], best.get(j, (0.0,))[0])
                if held * arc.rate <= beaten or j in visited or held > arc.curve.capacity:
                    continue
                got = float(int(arc.curve.amount_out(held)))
                if got > beaten:
                    found[j] = (got, (*path, arc))
        if not found:
            break
        best.update(found)
        front = {t: entry for t, entry in found.items() if t != target}
    return list(best[target][1]) if target in best else []


def single_route(graph: Graph, path: list[Arc]) -> Route:
    """The route of one segment over `path`."""
    hops = tuple(
        (Swap(arc.pool.key, graph.addresses[arc.token_in], graph.addresses[arc.token_out], SHARES_PER_HOP),)
        for arc in path
    )
    return Route((Segment(SHARES_PER_ROUTE, hops),))
