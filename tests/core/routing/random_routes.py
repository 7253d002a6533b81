"""Random routes: any paths, pools and shares that a route may have."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from swapcli.core.model.market import MarketState
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap


def simple_paths(
    onward: Callable[[int], Iterable[int]], source: int, target: int, max_hops: int
) -> Iterator[list[int]]:
    """Every path without a token twice from `description` to `target`, by trying them all."""
    walk = [source]

    def search() -> Iterator[list[int]]:
        if walk[-1] == target:
            yield list(walk)
        elif len(walk) <= max_hops:
            for token in onward(walk[-1]):
                if token not in walk:
                    walk.append(token)
                    yield from search()
                    walk.pop()

    return search()


def parts_of(rng: random.Random, total: int, count: int) -> list[int]:
    """`count` positive whole numbers that sum to `total`."""
    cuts = [0, *sorted(rng.sample(range(1, total), count - 1)), total]
    return [high - low for low, high in pairwise(cuts)]


def random_route(
    rng: random.Random, market: MarketState, source: int = 0, target: int = 1, segments: int = 4
) -> Route | None:
    """An acyclic route of at most `segments` between two tokens of `market` by their numbers; None without a path.

    Segments may repeat paths, hops and pools in other proportions.
    """
    addresses = list(market.tokens)
    places = [source, *rng.sample([k for k in range(len(addresses)) if k not in (source, target)], len(addresses) - 2)]
    places.append(target)

    def pools(i: int, j: int) -> list[str]:
        return [key for key, pool in market.pools.items() if {addresses[i], addresses[j]} <= set(pool.tokens)]

    def onward(i: int) -> list[int]:
        return [j for j in places[places.index(i) + 1 :] if pools(i, j)]

    def hop(i: int, j: int) -> tuple[Swap, ...]:
        selected = rng.choices(pools(i, j), k=rng.randint(1, 3))
        shares = parts_of(rng, SHARES_PER_HOP, len(selected))
        return tuple(
            Swap(pool, addresses[i], addresses[j], share) for pool, share in zip(selected, shares, strict=True)
        )

    paths = list(simple_paths(onward, source, target, len(addresses)))
    if not paths:
        return None
    selected = rng.choices(paths, k=rng.randint(1, segments))
    segment_shares = parts_of(rng, SHARES_PER_ROUTE, len(selected))
    return Route(
        tuple(
            Segment(share, tuple(hop(i, j) for i, j in pairwise(path)))
            for share, path in zip(segment_shares, selected, strict=True)
        )
    )
