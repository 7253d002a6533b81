"""Routes that no solver would find: any split over any pools, as long as a router could carry it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from swapcli.core.errors import InvalidRoute
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.routing.replay import flatten

MAX_SEGMENTS = 8
MAX_HOPS = 4
MAX_POOLS_PER_HOP = 3
TRIES = 40
"""Then a route has as many segments as were found."""


def random_route(
    rng: Random, pools: Mapping[str, Pool], token_in: str, token_out: str, *, max_segments: int = MAX_SEGMENTS
) -> Route:
    """Up to eight segments of up to four hops over up to three pools each."""
    segment_count = rng.randint(1, max_segments)
    paths: list[tuple[tuple[Swap, ...], ...]] = []
    for _ in range(TRIES):
        if len(paths) == segment_count:
            break
        path = _random_path(rng, pools, token_in, token_out)
        if path and _joins([*paths, path]):
            paths.append(path)
    if not paths:
        paths = [_direct(rng, pools, token_in, token_out)]
    segment_shares = random_parts(rng, SHARES_PER_ROUTE, len(paths))
    return Route(tuple(Segment(share, hops) for share, hops in zip(segment_shares, paths, strict=True)))


def random_parts(rng: Random, whole: int, count: int) -> list[int]:
    """`count` positive numbers that sum to `whole`."""
    cuts = sorted(rng.sample(range(1, whole), count - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, whole], strict=True)]


def _random_path(
    rng: Random, pools: Mapping[str, Pool], token_in: str, token_out: str
) -> tuple[tuple[Swap, ...], ...] | None:
    """A walk that ends at the output, or None where it strays."""
    tokens = [token_in]
    hops = []
    for left in range(rng.randint(1, MAX_HOPS), 0, -1):
        here = tokens[-1]
        near = {token for pool in pools.values() if here in pool.tokens for token in pool.tokens} - set(tokens)
        target = token_out if left == 1 else rng.choice(sorted(near - {token_out}) or [token_out])
        if target not in near:
            return None
        hops.append(_random_hop(rng, pools, here, target))
        tokens.append(target)
        if target == token_out:
            return tuple(hops)
    return None


def _direct(rng: Random, pools: Mapping[str, Pool], token_in: str, token_out: str) -> tuple[tuple[Swap, ...], ...]:
    while True:
        path = _random_path(rng, pools, token_in, token_out)
        if path:
            return path


def _random_hop(rng: Random, pools: Mapping[str, Pool], token_in: str, token_out: str) -> tuple[Swap, ...]:
    keys = sorted(pool.key for pool in pools.values() if token_in in pool.tokens and token_out in pool.tokens)
    selected = rng.sample(keys, rng.randint(1, min(len(keys), MAX_POOLS_PER_HOP)))
    shares = random_parts(rng, SHARES_PER_HOP, len(selected))
    return tuple(Swap(key, token_in, token_out, share) for key, share in zip(selected, shares, strict=True))


def _joins(paths: Sequence[tuple[tuple[Swap, ...], ...]]) -> bool:
    """Do they flow together without a cycle?"""
    segment_shares = [SHARES_PER_ROUTE - len(paths) + 1] + [1] * (len(paths) - 1)
    try:
        flatten(Route(tuple(Segment(share, hops) for share, hops in zip(segment_shares, paths, strict=True))))
    except InvalidRoute:
        return False
    return True
