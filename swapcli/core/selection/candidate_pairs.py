"""The token pairs between which an order may trade."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf

from swapcli.core.records import NamedTuple
from swapcli.core.selection.ranking_reader import PoolLimit, RankingReader, TokenPair

_HUBS, _TOKENS_PER_END = 12, 16
"""The initial numbers of hubs and tokens.

They are doubled up to `_MAX_DOUBLINGS` times while the pairs have too few pools.
"""
_MAX_DOUBLINGS = 4  # to 192 hubs and 256 tokens per end
_DIRECT_LIMIT, _END_TO_HUB_LIMIT = PoolLimit(300, 50), PoolLimit(60, 30)
_CENTRAL_LIMIT, _OTHER_LIMIT = PoolLimit(20, 10), PoolLimit(6, 3)
"""The number of pools per pair, by its position.

Chosen so that quotes over 10,000 pools lose at most 0.1 bps in the median (see `bench/speed/store.py`).
"""


class CandidatePair(NamedTuple):
    """Two token IDs (the lower first), the number of pools between them, and how many of the pools to read."""

    low: int
    high: int
    pools: int
    limit: PoolLimit


def direct_pair(reader: RankingReader, ends: TokenPair) -> list[CandidatePair]:
    """Return the pair of the order's own tokens, if it has pools."""
    return [CandidatePair(*row, _DIRECT_LIMIT) for row in reader.pairs(ends)]


def candidate_pairs(reader: RankingReader, ends: TokenPair, min_pools: int) -> list[CandidatePair]:
    """Return the pairs among the order's tokens, hubs and tokens near the ends, with at least `min_pools` pools if
    possible."""
    for doubling in range(_MAX_DOUBLINGS + 1):
        hubs = reader.hubs(_HUBS << doubling)
        near_ends = (_tokens_near(reader, end, set(hubs), _TOKENS_PER_END << doubling) for end in ends)
        token_ids = set(ends).union(hubs, *near_ends)
        central = set(hubs[:_HUBS])
        pairs = [CandidatePair(*row, _pool_limit(row[0], row[1], ends, central)) for row in reader.pairs(token_ids)]
        if sum([min(pair.pools, pair.limit.deepest) for pair in pairs]) >= min_pools:
            break
    return pairs


def _tokens_near(reader: RankingReader, end: int, hubs: set[int], limit: int) -> list[int]:
    """Return the tokens through which most dollars can leave `end`, largest first: a widest-path search up to the
    hubs."""
    reached: dict[int, None] = {}
    heap: list[tuple[float, int]] = [(-inf, end)]
    while heap and len(reached) < limit:
        negative_width, token_id = heappop(heap)
        if token_id in reached or (token_id in hubs and token_id != end):
            continue
        reached[token_id] = None
        for other, throughput_usd in reader.neighbours(token_id, limit):
            heappush(heap, (max(negative_width, -throughput_usd), other))
    return list(reached)


def _pool_limit(low: int, high: int, ends: TokenPair, hubs: set[int]) -> PoolLimit:
    number_of_ends = (low in ends) + (high in ends)
    if number_of_ends == 2:
        return _DIRECT_LIMIT
    if number_of_ends == 1:
        return _END_TO_HUB_LIMIT if low in hubs or high in hubs else _CENTRAL_LIMIT
    return _CENTRAL_LIMIT if low in hubs and high in hubs else _OTHER_LIMIT
