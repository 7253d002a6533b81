"""The newest swaps in given pools. Their events are read backwards from a block, in ranges small enough for the
node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from swapcli.core.errors import UpstreamError
from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import KINDS, topic_of
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.mined.swap_events import SwapEvent, find_swaps
from swapcli.state.mined.swapped_pools import emitters_of
from swapcli.state.rpc.log_scan import scan_logs
from swapcli.state.rpc.node import LogFilter, Node

FIRST_BLOCKS: Final = 64
"""Blocks of the first range: half of the 128 whose state nodes keep without an archive."""
_MAX_ADDRESSES: Final = 500  # addresses in one request for events; chosen
_MANY: Final = 2_000  # events after which the next range is not wider, as in `log_scan`


class FoundSwap(NamedTuple):
    """A swap in a pool, with its block. `transaction` is the transaction's hash, empty if the node does not return
    it."""

    event: SwapEvent
    ref: PoolRef
    block_number: int
    transaction: str


class RecentSwaps(NamedTuple):
    """The newest swaps in each protocol, newest first, and the lowest block searched for each protocol.

    The search for a protocol's swaps stops at the range in which enough of them were found. `problem` is the error that
    ended the search early, if any.
    """

    swaps: Mapping[str, tuple[FoundSwap, ...]]
    searched_from: Mapping[str, int]
    problem: UpstreamError | None


def find_recent_swaps(
    node: Node,
    network: Network,
    pools: Mapping[str, Sequence[PoolRef]],
    newest: int,
    count: int,
    may_continue: Callable[[], bool],
    lowest: int = 1,
) -> RecentSwaps:
    """Return the last `count` swaps in the pools of each protocol, up to the block `newest`.

    The search ends when enough swaps are found, at the block `lowest`, or when `may_continue` returns False. If the
    node fails, the search ends with that error as the `problem`.
    """
    found: dict[str, list[FoundSwap]] = {name: [] for name in pools}
    searched_from: dict[str, int] = {}
    last, width = newest, FIRST_BLOCKS
    while last >= lowest and may_continue():
        missing = {name: refs for name, refs in pools.items() if len(found[name]) < count}
        if not missing:
            break
        first = max(last - min(width, node.limits.log_blocks.size) + 1, lowest)
        try:
            logs = _read_swap_logs(node, network, missing, first, last)
        except UpstreamError as error:
            return RecentSwaps(_newest(found, count), searched_from, error)
        for swap in _find_in_pools(network, missing, logs):
            found[swap.ref.protocol].append(swap)
        searched_from.update(dict.fromkeys(missing, first))
        last = first - 1
        width = 2 * width if len(logs) < _MANY else width
    return RecentSwaps(_newest(found, count), searched_from, None)


def _newest(found: Mapping[str, Sequence[FoundSwap]], count: int) -> dict[str, tuple[FoundSwap, ...]]:
    return {name: tuple(swaps[:count]) for name, swaps in found.items()}


def _read_swap_logs(
    node: Node, network: Network, pools: Mapping[str, Sequence[PoolRef]], first: int, last: int
) -> list[Log]:
    """Return the events of swaps of these pools' contracts. Raises `UpstreamError`."""
    refs = [ref for refs in pools.values() for ref in refs]
    addresses = sorted({address for ref in refs for address in emitters_of(ref, network)})
    topics = tuple(sorted({topic for kind in {ref.kind for ref in refs} for topic in _swap_topics(kind)}))
    logs: dict[tuple[int, int], Log] = {}
    for start in range(0, len(addresses), _MAX_ADDRESSES):
        part = tuple(addresses[start : start + _MAX_ADDRESSES])
        for scanned in scan_logs(node, LogFilter(part, topics, first, last)):
            logs.update(((log.block_number, log.log_index), log) for log in scanned.logs)
    return [*logs.values()]


def _swap_topics(kind: str) -> Iterable[str]:
    return map(topic_of, KINDS[kind].swaps)


def _find_in_pools(
    network: Network, pools: Mapping[str, Sequence[PoolRef]], logs: Collection[Log]
) -> Iterator[FoundSwap]:
    """Yield the swaps in the pools, newest first. Events of other contracts are ignored."""
    by_key = {ref.key: ref for refs in pools.values() for ref in refs}
    by_block: defaultdict[int, list[Log]] = defaultdict(list)
    for log in logs:
        by_block[log.block_number].append(log)
    for number in sorted(by_block, reverse=True):
        transactions = {log.log_index: log.transaction for log in by_block[number]}
        for event in reversed(find_swaps(by_block[number])):
            ref = by_key.get(event.key)
            is_in_pool = ref and ref.kind in event.kinds and event.emitter in emitters_of(ref, network)
            if ref and is_in_pool and not event.moves_nothing:
                yield FoundSwap(event, ref, number, transactions[event.first_log])
