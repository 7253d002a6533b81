"""Find pools whose contracts emit events that are unknown for their kind, as forks of a protocol may do.

Swaps in these pools would go unnoticed, because the event query lists only known events. So each step also requests all
events of a hundred contracts, in turn, since the last time they were checked. Pools with only unknown events are read.
Checking all pools takes one step per hundred pools. Pools that change without any event are left to the sample of
`refresh_pools`, which reads each pool within an hour.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from swapcli.core.errors import UpstreamRejected, UpstreamTimeout
from swapcli.families.reading.pool_change_events import known_topics
from swapcli.state.rpc.log_scan import scan_logs
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import LogFilter
from swapcli.state.rpc.nodes_by_kind import nodes_of_kind
from swapcli.state.rpc.refusals import Refusal, refusal_of
from swapcli.state.store import BlockWriter, Store

MAX_CONTRACTS: Final = 100
"""Contracts in one query for events, as in `refresh_pools`: the round over N pools takes N / 100 steps, rounded up."""
_MAX_BLOCKS: Final = 1_000
"""Blocks to look back. This is less than a round only if more than 100,000 pools are followed block by block."""
_MAX_RANGES: Final = 4
_POSITION_KEY: Final = "unknown events"


def find_unknown_events(store: Store, writer: BlockWriter, reader: MulticallReader, stored_block: int) -> list[str]:
    """Check the next pools, and return those that have emitted only unknown events since their last check.

    `stored_block` is the block of the store before this step. If the node rejects the query, the result is empty.
    """
    position = store.read_metadata(_POSITION_KEY)
    after, begun, last_begun = position if isinstance(position, list) else (0, stored_block, stored_block)
    head = reader.block
    if not after:
        begun, last_begun = head, begun
    batch = store.inventory.own_contracts_after(after, MAX_CONTRACTS)
    is_last = len(batch) < MAX_CONTRACTS
    writer.put_metadata(_POSITION_KEY, [0 if is_last else batch[-1][0], begun, last_begun])
    known = {address: known_topics(family, store.network.kind) for _, address, family in batch}
    addresses = tuple(address for address, topics in known.items() if topics)
    first = max(min(last_begun, stored_block) + 1, head - _MAX_BLOCKS + 1)
    if not nodes_of_kind(store.network.kind).return_unnamed_events or not addresses or first > head:
        return []
    return _only_unknown(reader, LogFilter(addresses, (), first, head), known)


def has_known_event(store: Store, reader: MulticallReader, address: str, family: str, first: int) -> bool:
    """Return whether a pool has emitted an event of its kind since block `first`. Return true if the node does not
    return its events."""
    topics = known_topics(family, store.network.kind)
    first = max(first, reader.block - _MAX_BLOCKS + 1)
    if not topics:
        return True
    query = LogFilter((address,), tuple(sorted(topics)), first, reader.block)
    try:
        return any(scanned.logs for scanned in scan_logs(reader.node, query, at=reader.at))
    except (UpstreamRejected, UpstreamTimeout) as error:
        if refusal_of(error) is Refusal.RATE:
            raise
        return True


def _only_unknown(reader: MulticallReader, query: LogFilter, known: dict[str, frozenset[str]]) -> list[str]:
    with_known, with_unknown = set[str](), dict[str, None]()
    try:
        for scanned in islice(scan_logs(reader.node, query, at=reader.at), _MAX_RANGES):
            for log in scanned.logs:
                if log.topics and log.topics[0] in known.get(log.address, ()):
                    with_known.add(log.address)
                elif log.address in known:
                    with_unknown[log.address] = None
    except (UpstreamRejected, UpstreamTimeout) as error:
        if refusal_of(error) is Refusal.RATE:
            raise
    return [address for address in with_unknown if address not in with_known]
