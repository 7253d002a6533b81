"""The price of a route in past blocks, from a node's events."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import ChainReorganized, InvalidUpstreamResponse, UpstreamError
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.quoting.planning.price_events import FollowedPool, PoolUpdate, followed_pools, read_updates
from swapcli.quoting.planning.price_path import MeasureOrigin, PastPrices, PricePath
from swapcli.quoting.planning.route_price import RouteLeg, RoutePrice
from swapcli.quoting.verification.recent_verification import CountingNode, RequestLimits
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockHeader

if TYPE_CHECKING:
    from swapcli.core.model.pool import Pool
    from swapcli.quoting.quote_results import LocalQuote

_PROBED_BLOCKS: Final = 512
"""Number of blocks before the latest one over which the block time is measured."""
_MAX_DURATION_S: Final = 20.0
"""Time after which no more requests are sent. Chosen."""
_MAX_HEADERS: Final = 32
_TIME_ERROR_S: Final = 2.0
"""The times of blocks between two headers are interpolated if the time of the header in the middle differs by at most
this from the interpolation."""
_STATE_REQUESTS: Final = 3
"""Number of requests for a block at which pools are read: its header, the calls, and the proof."""
_LARGEST_CHANGE: Final = 0.05
"""If the events lead to a price further than this from the quoted price, they are wrong or incomplete."""


def read_past_prices(
    node: CountingNode,
    answer: LocalQuote,
    legs: Sequence[RouteLeg],
    hours: float,
    max_requests: int,
    on_progress: Callable[[str], object],
) -> PastPrices:
    """Return the price of the route with the given legs over the last `hours` before the block of its quote.

    Raises `UpstreamError`.
    """
    limits = RequestLimits(node, max_requests, _MAX_DURATION_S)
    head = node.read_head().block
    limits.begin()
    quoted = answer.state_source.block
    last = head if quoted is None or quoted >= head.number else _read_block(node, quoted)
    first = _first_block(node, last, hours)
    on_progress(f"measuring pools in blocks {first.number:,} to {last.number:,} with events from {node.redacted_url}")
    pools = {key: answer.pools[key] for key in dict.fromkeys(leg.pool for leg in legs)}
    followed = followed_pools(pools.values(), answer.network)
    found = read_updates(node, followed, first.number, last.number, lambda: not limits.problem())
    if found.first_block > last.number:
        raise UpstreamError(found.problem or "no block could be searched")
    if _read_block(node, last.number).hash != last.hash:
        raise ChainReorganized(f"block {last.number} was replaced while its events were read")
    times = _BlockTimes(node, _read_block(node, found.first_block), last)
    states = _read_states(node, answer, followed, found.updates, limits)
    lacking = {each.key for each in found.updates if not each.fields and (each.block, each.key) not in states}
    measured = {each.ref.key for each in followed} - lacking
    path, measured = _build_path(legs, pools, measured, found.updates, states, times)
    total = sum(leg.weight for leg in legs)
    return PastPrices(
        MeasureOrigin.NODE_EVENTS,
        node.redacted_url,
        path,
        sum(leg.weight for leg in legs if leg.pool in measured) / total,
        limits.sent,
        found.first_block,
        last.number,
        times.base_fee_wei,
        found.problem,
    )


def _first_block(node: CountingNode, last: BlockHeader, hours: float) -> BlockHeader:
    """Return the header of the first block to read, estimated from the times of the last blocks."""
    probe = _read_block(node, max(last.number - _PROBED_BLOCKS, 0))
    passed_s = last.timestamp - probe.timestamp
    if passed_s <= 0:
        raise InvalidUpstreamResponse(f"{node.redacted_url} returned blocks whose times do not increase")
    blocks = round(hours * 3_600 * (last.number - probe.number) / passed_s)
    return _read_block(node, max(last.number - blocks, 0))


def _read_states(
    node: CountingNode,
    answer: LocalQuote,
    followed: Sequence[FollowedPool],
    updates: Sequence[PoolUpdate],
    limits: RequestLimits,
) -> Mapping[tuple[int, str], Pool]:
    """Return the states of pools after blocks whose events lack them; none if that takes too many requests.

    Pools that also change without events are skipped.
    """
    changed: dict[int, list[str]] = {}
    for update in updates:
        if not update.fields and not answer.pools[update.key].changes_without_events:
            changed.setdefault(update.block, []).append(update.key)
    states: dict[tuple[int, str], Pool] = {}
    if not limits.allows(_STATE_REQUESTS * len(changed)):
        return states
    refs = {each.ref.key: each.ref for each in followed}
    try:
        for number, keys in changed.items():
            reader = MulticallReader(node, _read_block(node, number), answer.network.multicall)
            wanted = [*dict.fromkeys(keys)]
            for key, pool in zip(wanted, load_pools(reader, [refs[key] for key in wanted]), strict=True):
                if not isinstance(pool, SkippedItem):
                    states[number, key] = pool
            reader.verify_block()
    except UpstreamError:  # the node has no old states, for example
        return states
    return states


def _build_path(
    legs: Sequence[RouteLeg],
    pools: Mapping[str, Pool],
    measured: set[str],
    updates: Sequence[PoolUpdate],
    states: Mapping[tuple[int, str], Pool],
    times: _BlockTimes,
) -> tuple[PricePath, set[str]]:
    """Return the path of the price, and the keys of its pools: those whose last event leads to the quoted price."""
    price = RoutePrice([leg for leg in legs if leg.pool in measured], pools)
    times_s, log_prices = [times.at(times.first)], [0.0]
    # All changes in one transaction are one move; if the node does not name it, all changes in one block.
    for (block, _), group in groupby(updates, key=lambda each: (each.block, each.transaction)):
        for update in group:
            if update.key in measured and update.fields:
                price.follow_fields(update.key, update.fields)
            elif update.key in measured:
                price.follow_pool(states[block, update.key])
        times_s.append(times.at(block))
        log_prices.append(price.log_price)
    near = {key for key in measured if price.is_near(pools[key], _LARGEST_CHANGE)}
    if near != measured:
        return _build_path(legs, pools, near, updates, states, times)
    return PricePath(times_s, log_prices, times.at(times.last)), measured


class _BlockTimes:
    """The times of the blocks between two headers, from some headers between them."""

    def __init__(self, node: CountingNode, first: BlockHeader, last: BlockHeader) -> None:
        self.first, self.last = first.number, last.number
        self._headers = {each.number: each for each in (first, last)}
        parts = [(first, last)]
        while parts and len(self._headers) < _MAX_HEADERS:
            start, end = parts.pop(0)
            if end.number - start.number < 2:
                continue
            middle = _read_block(node, (start.number + end.number) // 2)
            if not start.timestamp <= middle.timestamp <= end.timestamp:
                raise InvalidUpstreamResponse(f"{node.redacted_url} returned blocks whose times do not increase")
            if abs(middle.timestamp - _between(start, end, middle.number)) > _TIME_ERROR_S:
                parts += [(start, middle), (middle, end)]
            self._headers[middle.number] = middle
        self._numbers = sorted(self._headers)

    @property
    def base_fee_wei(self) -> int | None:
        """The median base fee of the headers; None if they have none."""
        return int(median(each.base_fee_wei for each in self._headers.values())) or None

    def at(self, number: int) -> float:
        """Return the Unix time of a block."""
        place = bisect_right(self._numbers, number) - 1
        start = self._headers[self._numbers[place]]
        if start.number == number:
            return start.timestamp
        return _between(start, self._headers[self._numbers[place + 1]], number)


def _between(start: BlockHeader, end: BlockHeader, number: int) -> float:
    part = (number - start.number) / (end.number - start.number)
    return start.timestamp + part * (end.timestamp - start.timestamp)


def _read_block(node: CountingNode, number: int) -> BlockHeader:
    block = node.read_block(number)
    if block is None:
        raise UpstreamError(f"{node.redacted_url} does not have block {number}")
    return block
