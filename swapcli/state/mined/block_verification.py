"""Verify the swaps in one block by reading their pools at the parent block, and quoting each swap on the state just
before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import Log
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.mined.swap_events import SwapEvent
from swapcli.state.mined.swap_verification import VerifiedSwap, verify_swaps
from swapcli.state.mined.swapped_pools import SwappedPools, read_swapped_pools
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import LogFilter


class VerifiedBlock(NamedTuple):
    """The swaps in one block, in order, and the data about their pools at the parent block."""

    swaps: tuple[VerifiedSwap, ...]
    read: SwappedPools


def verify_in_block(
    reader: MulticallReader,
    network: Network,
    known: Mapping[str, Pool],
    events: Sequence[SwapEvent],
    *,
    refs: Sequence[PoolRef] = (),
    logs: Iterable[Log] = (),
) -> VerifiedBlock:
    """Quote the swaps in the block after the reader's, each on the state just before it.

    `known` and `refs` are as in `read_swapped_pools`. `logs` are events in the block that are already known. Raises
    `UpstreamError`, also if the node no longer has the state.
    """
    block = reader.block + 1
    read = read_swapped_pools(reader, network, known, events, refs)
    emitters = {address for each in read.pools.values() for address in each.emitters}
    emitters |= {event.emitter for event in events}
    found = reader.node.read_logs(LogFilter(tuple(sorted(emitters)), (), block, block))
    last = max(event.last_log for event in events)
    before = {log.log_index: log for log in (*found, *logs) if log.log_index <= last}
    starts = frozenset(event.first_log for event in events)
    return VerifiedBlock(tuple(verify_swaps(read.pools, read.reasons, [*before.values()], starts)), read)
