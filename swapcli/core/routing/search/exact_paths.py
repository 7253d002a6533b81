"""Find the best paths with one pool per hop by exact swaps: the last resort if no path can fill the order according to
the curves.

A curve is a float model of a pool. If an order drains the pool or is only a few base units, the pool itself may still
take an amount that the curve does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swapcli.core.errors import PoolError
from swapcli.core.model.quote import Route
from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import CancelCheck
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph
from swapcli.core.routing.replay import swap_exactly
from swapcli.core.routing.search.single_path import single_route

_KEPT: Final = 3  # ways to hold a token: the best one may have passed tokens that the rest of the path needs. Empirical
_MAX_SWAPS: Final = 4_000  # in total: some 20 ms
_CAPACITY_ERROR: Final = 1.01  # of curves, for orders that are not tiny. An overfilled pool crosses all its ticks
_TINY: Final = 1_000  # base units: curves may be off by more than this


class _Held(NamedTuple):
    """An amount of a token in base units, and the path by which it was obtained."""

    amount: int
    path: tuple[Arc, ...]


def exact_paths(
    graph: MarketGraph, endpoints: TokenPair, amount: int, max_hops: int, check: CancelCheck
) -> Iterator[Route]:
    """Yield single-path routes that the pools accept between `endpoints` (source, target), the best one per number of
    hops."""
    source, target = endpoints
    front: dict[int, list[_Held]] = {source: [_Held(amount, ())]}
    swaps_left = _MAX_SWAPS
    for _ in range(max_hops):
        reached: dict[int, list[_Held]] = {}
        for token, ways in front.items():
            check()
            for held in ways:
                for arc in _onward(graph, token, held, source):
                    swaps_left -= 1
                    amount_out = _pay(graph, arc, held.amount)
                    if amount_out:
                        reached.setdefault(arc.token_out, []).append(_Held(amount_out, (*held.path, arc)))
                if swaps_left <= 0:
                    break
        found = max(reached.pop(target, ()), key=lambda each: each.amount, default=None)
        if found:
            yield single_route(graph, list(found.path))
        if swaps_left <= 0:
            return
        front = {token: _selected(ways) for token, ways in reached.items()}


def _selected(ways: list[_Held]) -> list[_Held]:
    """Return the ways that yield most of a token, and the one that yields least: a full pool may take only that."""
    ways.sort(key=lambda each: -each.amount)
    return [*ways[:_KEPT], *ways[_KEPT:][-1:]]


def _onward(graph: MarketGraph, token: int, held: _Held, source: int) -> Iterator[Arc]:
    """Yield the arcs to tokens and through pools that are not yet on the path."""
    passed = {source, *(arc.token_out for arc in held.path)}
    used = {arc.pool.key for arc in held.path}
    for token_out, arcs in graph.arcs_by_pair[token].items():
        if token_out not in passed:
            yield from (arc for arc in arcs if arc.pool.key not in used)


def _pay(graph: MarketGraph, arc: Arc, amount_in: int) -> int:
    if amount_in > _TINY and amount_in > _CAPACITY_ERROR * arc.curve.capacity:
        return 0
    try:
        return swap_exactly(arc.pool, graph.addresses[arc.token_in], graph.addresses[arc.token_out], amount_in)[0]
    except PoolError:
        return 0
