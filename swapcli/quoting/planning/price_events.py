"""The states of a route's pools in past blocks, from a node's events.

The events of most pools contain the price after a swap: concentrated pools emit the price, and pairs emit their
reserves. Other pools are read at the blocks in which they changed, if these are few enough. Events go back as far as
the node keeps them, even if it has no old state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from swapcli.core.errors import UpstreamError
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.skipped_pool import pass_request_errors
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import KINDS, topic_of
from swapcli.families.reading.pool_change_events import EVENTS
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.row import key_of_emitter, read_words
from swapcli.state.mined.swap_verification import SYNCS
from swapcli.state.mined.swapped_pools import emitters_of
from swapcli.state.rpc.log_scan import scan_logs
from swapcli.state.rpc.node import LogFilter, Node

_FIRST_BLOCKS: Final = 256
"""Number of blocks in the first range. Later ranges grow, as in `state.mined.recent_swaps`."""
_MANY: Final = 2_000
_NO_FIELDS: Final[Mapping[str, object]] = {}
ENOUGH: Final = 6_000
"""Number of events of a route that is enough to measure a refill. Reading more would take seconds."""


class PoolUpdate(NamedTuple):
    """A change of a pool. `fields` are the state fields in the event, and are empty if the pool has to be read.

    `log_index` is the event's position in the block. `transaction` is its transaction's hash, or empty if the node does
    not return it.
    """

    block: int
    log_index: int
    transaction: str
    key: str
    fields: Mapping[str, object]


class FoundUpdates(NamedTuple):
    """The changes of pools since `first_block`, in order. `problem` says what ended the search early, if anything
    did."""

    updates: tuple[PoolUpdate, ...]
    first_block: int
    problem: str = ""


class FollowedPool:
    """A pool whose changes are found through events: events about its reserves, otherwise about its swaps, otherwise
    about any change."""

    def __init__(self, ref: PoolRef, network: Network) -> None:
        row, events = KINDS[ref.kind], EVENTS[ref.kind]
        self.ref, self._emitters = ref._replace(last_read=None), emitters_of(ref, network)
        self._decoders = {topic_of(each): decode for each, decode in row.swaps.items()}
        topics = SYNCS & events.keys() or self._decoders.keys() or events.keys()
        self._keys = {topic: events.get(topic, key_of_emitter) for topic in topics}
        items = {item for key_of in self._keys.values() for item in key_of.bloom_items(ref.key, ref.address)}
        ids = tuple(items - {ref.address}) if all(key_of.is_in_topic for key_of in self._keys.values()) else ()
        self.filter = LogFilter(tuple(sorted(self._emitters)), tuple(sorted(topics)), 0, 0, ids)

    def read(self, log: Log) -> PoolUpdate | None:
        """Return the change that an event announces, or None if the event is malformed or not about the pool."""
        if log.address not in self._emitters or not log.topics or log.topics[0] not in self._keys:
            return None
        topic, fields = log.topics[0], _NO_FIELDS
        try:
            if self._keys[topic](log) != self.ref.key:
                return None
            if topic in SYNCS:
                fields = {"reserves": list(read_words(log, 2))}
            elif topic in self._decoders:
                fields = self._decoders[topic](log).state_after
        except Exception as error:
            pass_request_errors(error)
            return None
        return PoolUpdate(log.block_number, log.log_index, log.transaction, self.ref.key, fields)


def followed_pools(pools: Iterable[Pool], network: Network) -> list[FollowedPool]:
    """Return the pools whose changes are announced by events of known contracts."""
    found = []
    for pool in pools:
        try:
            ref = ref_of_pool(pool, network)
        except Exception as error:
            pass_request_errors(error)
            continue
        if ref and (KINDS[ref.kind].swaps or EVENTS[ref.kind]):
            is_vault_unknown = KINDS[ref.kind].is_in_vault and emitters_of(ref, network) == {ref.address}
            found += [] if is_vault_unknown else [FollowedPool(ref, network)]
    return found


def read_updates(
    node: Node, pools: Sequence[FollowedPool], first_block: int, last_block: int, may_continue: Callable[[], bool]
) -> FoundUpdates:
    """Return the changes of pools, read from the latest block backwards until there are enough or `first_block` is
    reached.

    The search ends early, with the problem in the result, if `may_continue` returns False or the node fails.
    """
    found: list[PoolUpdate] = []
    filters = _joined(each.filter for each in pools)
    last, width = last_block, _FIRST_BLOCKS
    while filters and last >= first_block and len(found) < ENOUGH:
        if not may_continue():
            return FoundUpdates(_ordered(found), last + 1, "the measurement has used all its requests")
        first = max(last - min(width, node.limits.log_blocks.size) + 1, first_block)
        try:
            logs = [log for each in filters for log in _read(node, each._replace(from_block=first, to_block=last))]
        except UpstreamError as error:
            return FoundUpdates(_ordered(found), last + 1, error.message)
        found += [update for log in logs for pool in pools if (update := pool.read(log))]
        last, width = first - 1, 2 * width if len(logs) < _MANY else width
    return FoundUpdates(_ordered(found), last + 1)


def _joined(filters: Iterable[LogFilter]) -> list[LogFilter]:
    """Merge filters with the same topics into one; the events stay the same."""
    joined: dict[tuple[tuple[str, ...], bool], LogFilter] = {}
    for each in filters:
        kind = each.topics, bool(each.ids)
        other = joined.get(kind, each)
        addresses = tuple(dict.fromkeys(other.addresses + each.addresses))
        joined[kind] = each._replace(addresses=addresses, ids=tuple(dict.fromkeys(other.ids + each.ids)))
    return [*joined.values()]


def _read(node: Node, query: LogFilter) -> Iterator[Log]:
    for scanned in scan_logs(node, query):
        yield from scanned.logs


def _ordered(updates: Iterable[PoolUpdate]) -> tuple[PoolUpdate, ...]:
    return tuple(sorted(updates, key=lambda each: each[:2]))
