"""Select the pools that a quote reads. For a market of any size, the number of rows read is bounded.

The tokens are the order's two tokens, the *hubs* with the largest throughput, and near each of the two tokens the ones
through which most of the order can be traded. For each pair of these tokens, the deepest pools and the pools with the
best rates are candidates; `select_by_flow` keeps the pools that the order can use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log

from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.selection.candidate_pairs import CandidatePair, candidate_pairs, direct_pair
from swapcli.core.selection.ranking_reader import RankingReader, TokenPair
from swapcli.core.selection.select_by_flow import Offer, select_by_flow

_FLOW_MARGIN, _EXACT_OUTPUT_MARGIN = 1.2, 3.0
"""Factors on the order's value.

Ranked prices are approximate, and an exact output may cost more than its value. With a larger factor, pools that end up
trading little displace those that trade more.
"""
_MAX_PRICING_HOPS = 6  # on the way to a dollar token
_PRICING_POOLS_PER_HOP = 3


def select_pools(reader: RankingReader, order: Order, network: Network, limit: int) -> tuple[list[int], set[int]]:
    """Return the IDs of the tokens that quotes price (the order's first), and of the pools to read.

    `limit` bounds the pools to trade with. A few more are added only for dollar prices.
    """
    source, target = (reader.token_id(network.to_wrapped(token.address)) for token in (order.token_in, order.token_out))
    priced = (source, target, reader.token_id(network.wrapped_native_address))
    token_ids = list(dict.fromkeys(token_id for token_id in priced if token_id is not None))
    if source is None or target is None or source == target:
        return token_ids, set()
    pools = _pools_to_trade(reader, order, (source, target), limit)
    return token_ids, pools.union(*(pricing_pools(reader, token_id) for token_id in token_ids))


def _pools_to_trade(reader: RankingReader, order: Order, ends: TokenPair, limit: int) -> set[int]:
    source, target = ends
    counted, margin = (target, _EXACT_OUTPUT_MARGIN) if order.reverse else (source, _FLOW_MARGIN)
    flow_usd = order.amount * reader.token(counted).price_usd * margin
    if flow_usd <= 0.0:
        return set()
    pairs = direct_pair(reader, ends) if order.direct else candidate_pairs(reader, ends, limit)
    offers = dict(_offers(reader, pairs, ends))
    unit_prices = {token_id: reader.token(token_id).price_usd for pair in offers for token_id in pair}
    return select_by_flow(offers, ends, flow_usd, 1 if order.direct else order.max_hops, limit, unit_prices)


def _offers(
    reader: RankingReader, pairs: Iterable[CandidatePair], ends: TokenPair
) -> Iterator[tuple[TokenPair, list[Offer]]]:
    """Yield the offers of each direction, cheapest first; none into the source or out of the target."""
    source, target = ends
    for low, high, _, limit in pairs:
        sells_low, sells_high = low != target and high != source, high != target and low != source
        legs = reader.legs(low, high, limit, [*["up"] * sells_low, *["down"] * sells_high])
        price_low, price_high = reader.token(low).price_usd, reader.token(high).price_usd
        log_price_ratio = log(price_high) - log(price_low)
        if sells_low:
            offers = [
                (-log_price_ratio - up, amount * price_low, pool) for pool, up, _, amount, _ in legs if up is not None
            ]
            if offers:
                yield (low, high), sorted(offers)
        if sells_high:
            offers = [
                (log_price_ratio - down, amount * price_high, pool)
                for pool, _, down, _, amount in legs
                if down is not None
            ]
            if offers:
                yield (high, low), sorted(offers)


def pricing_pools(reader: RankingReader, token_id: int) -> Iterator[int]:
    """Yield the ids of the deepest pools along the widest path to a dollar token. These pools price tokens and gas."""
    for _ in range(_MAX_PRICING_HOPS):
        parent = reader.token(token_id).parent
        if parent is None:
            return
        yield from reader.deepest_pools(min(token_id, parent), max(token_id, parent), _PRICING_POOLS_PER_HOP)
        token_id = parent
