"""Discover pools that a store does not have yet, in batches. Each batch begins where the previous one ended.

The lists of factories come first, then events of pool creation, then pools that were skipped earlier. With a token
filter, factories are first queried for pairs of its tokens. After that, lists and events only provide pools that are
created later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from swapcli.core.errors import InvalidUpstreamResponse, UpstreamRejected, UpstreamTimeout
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Network
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.sampled.sampled_discovery import find_sampled_pools
from swapcli.state.discovery.pair_lookup import count_pairs, count_queries, find_pair_pools
from swapcli.state.discovery.pool_discovery import (
    FactoryPools,
    creation_filter,
    find_factories,
    read_created_pools,
    read_listed_pools,
    read_pool_lists,
)
from swapcli.state.rpc.log_scan import find_first_available_block, scan_first_range
from swapcli.state.rpc.log_verification import MAX_HEADERS, find_missing_logs, find_withheld_block
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import LogFilter, Node
from swapcli.state.rpc.refusals import Refusal, refusal_of
from swapcli.state.store import SkippedEntry, Store
from swapcli.state.sync.cursor import SyncCursor
from swapcli.state.sync.skipped import parse_pool_refs

_MAX_RANGES: Final = 8
"""Block ranges of events in one batch."""
_MAX_QUERIED_TOKENS: Final = 64
"""The number of pairs grows with the square of the tokens; up to this limit, they take about 200 requests at most."""
_CALLS_PER_POOL: Final = 16
"""Calls to look up pairs in one batch, per pool that it may contain: about as many as reading a pool takes."""
_CALLS_PER_LISTED_POOL: Final = 4
"""Calls for an entry of a list, two tokens, and whether the pool is stable."""
_REQUESTS_PER_RANGE: Final = 2
"""Requests for the events, and for the block to which they must belong."""
_SAMPLED_LIST: Final = "sampled pools"
_SAMPLED_BLOCKS: Final = 1_000
"""Blocks between two reads of the lists of sampled pools, which grow by a few entries a month."""
_USUAL_RANGE: Final = 10_000
"""Blocks per event query that public nodes commonly allow."""


class Stage(NamedTuple):
    """The progress of discovery, for display: `done` out of `total`, which is None if it is unknown."""

    phase: str
    done: int
    total: int | None


@dataclass
class Discovery:
    """A batch of discovered pools, some of whose tokens have no decimals yet. `tokens` need not be read from the node.

    `cursor` is the position after this batch. `skipped` are entries that cannot be stored. `is_complete` is true if
    nothing more can be discovered at the reader's block. `stage` describes the progress; it is None if there was
    nothing to do.
    """

    cursor: SyncCursor
    pool_refs: list[PoolRef] = field(default_factory=list)
    skipped: list[SkippedEntry] = field(default_factory=list)
    tokens: Mapping[str, Token] = field(default_factory=dict)
    stage: Stage | None = None
    is_complete: bool = False


class _EventsWithheld(UpstreamRejected):
    """A node omits events from its response."""


class _Source(NamedTuple):
    """A factory to read, and the key of its positions in the cursor. Additional protocols of a factory have another
    key."""

    name: str
    factory: Factory

    @property
    def title(self) -> str:
        """The factory's name, for people."""
        protocols = self.factory.all_protocols
        return protocols[0].display_name if protocols else self.factory.address


def discover(store: Store, reader: MulticallReader, cursor: SyncCursor, size: int) -> Discovery:
    """Return the next batch of about `size` pools, starting at `cursor`. Raises `UpstreamError`."""
    return _BatchDiscovery(store, reader, Discovery(cursor), size).run()


class _BatchDiscovery:
    """Fills one `Discovery`. `_room` is the number of pools that still fit."""

    def __init__(self, store: Store, reader: MulticallReader, discovery: Discovery, size: int) -> None:
        self._store, self._reader, self._discovery, self._room = store, reader, discovery, size
        self._without_output_before = frozenset(reader.contracts_without_output)
        sources = _sources(store.network, discovery.cursor.sync_filter.protocols_on(store.network))
        self._event_only = [source for source in sources if not source.factory.is_enumerable]
        enumerable = [source for source in sources if source.factory.is_enumerable]
        lists = read_pool_lists(reader, [source.factory for source in enumerable]) if enumerable else []
        self._enumerable = list(zip(enumerable, lists, strict=True))

    def run(self) -> Discovery:
        """Run each stage; a stage returns whether it is complete at this block."""
        self._check_output()
        stages = (
            self._query_pairs,
            self._read_lists,
            self._read_events,
            self._read_sampled,
            self._recheck_lost,
            self._recheck_skipped,
        )
        self._discovery.is_complete = all(stage() for stage in stages)
        self._check_output()
        return self._discovery

    def _factories(self) -> dict[str, Factory]:
        sources = (*(source for source, _ in self._enumerable), *self._event_only)
        return {source.factory.address: source.factory for source in sources}

    def _check_output(self) -> None:
        """Raise `InvalidUpstreamResponse` if a contract that must exist returned nothing.

        Such a contract is a factory that has responded before, or a pool listed by a factory.
        """
        known = {name.split()[0] for name, length in self._discovery.cursor.list_positions.items() if length}
        unproven = self._factories().keys() - known
        missing = sorted(self._reader.contracts_without_output - unproven - self._without_output_before)
        if missing:
            raise InvalidUpstreamResponse(
                f"{self._reader.node.redacted_url} returns nothing for {missing[0]}, which must exist: nothing was "
                "stored",
                hint="try again, or set a different node",
                details={"contract": missing[0], "block": self._reader.block},
            )

    def _query_pairs(self) -> bool:
        """Query all factories for the next pairs of the filter's tokens, unless finding all pools takes fewer requests.

        A factory that is new in the catalogue since the last query is a reason to query again.

        Lists and events of factories that responded then continue from the block of the first query.
        """
        cursor = self._discovery.cursor
        tokens, reads_events = cursor.sync_filter.tokens, cursor.sync_filter.from_block > 0
        if tokens is None or (cursor.factories_queried and not self._has_new_sources(reads_events)):
            return True
        if not self._pairs_take_less(tokens):
            return True
        if self._room <= 0:
            return False
        factories, wrapped = self._factories(), self._store.network.wrapped_native_address
        first, total = cursor.pair_position, count_pairs(tokens, wrapped)
        last = min(first + max(self._room * _CALLS_PER_POOL // max(count_queries(factories.values()), 1), 1), total)
        items = list(find_pair_pools(self._reader, list(factories.values()), tokens, wrapped, first, last))
        not_queryable = {
            item.key: item.reason for item in items if isinstance(item, SkippedItem) and item.key in factories
        }
        self._take(item for item in items if item.key not in not_queryable)
        lengths = {source.name: pools.length for source, pools in self._enumerable if isinstance(pools, FactoryPools)}
        queryable = [source.name for source, _ in self._enumerable if source.factory.address not in not_queryable]
        positions = {name: lengths.get(name, 0) for name in queryable} | dict(cursor.list_positions)
        if first > 0:  # the list of a factory that can no longer be queried has to be read from the beginning
            positions |= {source.name: 0 for source, _ in self._enumerable if source.name not in queryable}
        else:
            positions = {source.name: 0 for source, _ in self._enumerable} | positions
        blocks = {} if reads_events else {source.name: self._reader.block + 1 for source in self._event_only}
        unqueried = {
            address: reason
            for address, reason in not_queryable.items()
            if not (reads_events or factories[address].is_enumerable)
        }
        self._move(
            list_positions=positions,
            event_blocks={**blocks, **cursor.event_blocks},
            unqueried_factories={**cursor.unqueried_factories, **unqueried} if first else unqueried,
            pair_position=last if last < total else 0,
            factories_queried=last >= total,
        )
        self._set_stage(f"pairs of {len(tokens)} tokens", last, total)
        return last >= total

    def _has_new_sources(self, reads_events: bool) -> bool:
        """Return whether the cursor has no position for one of the factories to query for pairs."""
        cursor = self._discovery.cursor
        known = cursor.list_positions.keys() | cursor.event_blocks.keys()
        queried = [source for source, _ in self._enumerable] + ([] if reads_events else self._event_only)
        return any(source.name not in known for source in queried)

    def _pairs_take_less(self, tokens: Collection[str]) -> bool:
        """Return whether to look up token pairs: always for few tokens, otherwise by the estimated requests.

        The alternative is to read the lists and the creation events of all pools.
        """
        cursor, limits = self._discovery.cursor, self._reader.node.limits
        if len(tokens) <= _MAX_QUERIED_TOKENS or cursor.pair_position:
            return True
        calls_per_request = limits.aggregate_calls.size
        pairs = count_pairs(tokens, self._store.network.wrapped_native_address)
        pair_requests = pairs * count_queries(self._factories().values()) / calls_per_request
        listed = sum(
            max(pools.length - cursor.list_positions.get(source.name, 0), 0)
            for source, pools in self._enumerable
            if isinstance(pools, FactoryPools)
        )
        start = cursor.sync_filter.from_block
        first = min(
            (cursor.event_blocks.get(each.name, start) for each in self._event_only), default=self._reader.block
        )
        event_requests = _REQUESTS_PER_RANGE * (self._reader.block - first) / min(limits.log_blocks.size, _USUAL_RANGE)
        return pair_requests <= listed * _CALLS_PER_LISTED_POOL / calls_per_request + event_requests

    def _read_lists(self) -> bool:
        for source, pools in self._enumerable:
            if isinstance(pools, SkippedItem):
                self._discovery.skipped.append(SkippedEntry(*pools))
                continue
            first = self._discovery.cursor.list_positions.get(source.name, 0)
            if first >= pools.length:
                continue
            if self._room <= 0:
                return False
            last = min(first + self._room, pools.length)
            self._room -= last - first
            self._take(read_listed_pools(self._reader, pools, first, last))
            self._move(list_positions={**self._discovery.cursor.list_positions, source.name: last})
            self._set_stage(f"{source.title} pairs", last, pools.length)
            if last < pools.length:
                return False
        return True

    def _read_events(self) -> bool:
        """Read creation events. Factories at the same block share a query."""
        if not self._event_only:
            return True
        head, start = self._reader.block, self._discovery.cursor.sync_filter.from_block
        for number in range(_MAX_RANGES):
            next_blocks = {
                source.name: self._discovery.cursor.event_blocks.get(source.name, start) for source in self._event_only
            }
            first = min(next_blocks.values())
            if first > head:
                return True
            if self._room <= 0:
                return False
            group = [source for source in self._event_only if next_blocks[source.name] == first]
            last = min([head, *(block - 1 for block in next_blocks.values() if block > first)])
            query = creation_filter([source.factory for source in group], first, last)
            assert query, "event-only factories emit creation events"
            if (number == 0 and self._node_has_no_logs(query)) or not self._read_range(group, query):
                return True
            self._set_stage("creation events", max(first - start, 0), head - start + 1)
        return False

    def _node_has_no_logs(self, query: LogFilter) -> bool:
        """Return whether a node that returned no events in the last sync still returns none, with a single request."""
        if not self._discovery.cursor.event_error:
            return False
        head = self._reader.block
        return find_first_available_block(self._reader.node, query._replace(from_block=head, to_block=head)) > head

    def _read_range(self, group: list[_Source], query: LogFilter) -> bool:
        """Read as many blocks, from the query's first one on, as the node returns at once. Return False if it returns
        none."""
        cursor, names = self._discovery.cursor, [source.name for source in group]
        try:
            scanned = scan_first_range(self._reader.node, query, at=self._reader.at, verify=self._verify_logs)
        except (UpstreamRejected, UpstreamTimeout) as error:
            if refusal_of(error) is Refusal.RATE:
                raise
            if isinstance(error, _EventsWithheld):
                available = query.to_block + 1
            else:
                available = find_first_available_block(self._reader.node, query)
            blocks = dict.fromkeys(names, available) if available <= query.to_block else {}
            self._move(
                event_blocks={**cursor.event_blocks, **blocks},
                event_gaps={**dict.fromkeys(names, query.from_block), **cursor.event_gaps},
                event_error=error.message,
            )
            return bool(blocks)
        wrapped = self._store.network.wrapped_native_address
        factories = {source.factory.address: source.factory for source in group}
        self._room -= len(scanned.logs)
        announcers = {address: each for address, each in factories.items() if each.kind == ContractKind.SAMPLED}
        others = {address: each for address, each in factories.items() if address not in announcers}
        self._take(read_created_pools(self._reader, others, scanned.logs, wrapped))
        self._take_unproven(read_created_pools(self._reader, announcers, scanned.logs, wrapped))
        gaps = {name: gap for name, gap in cursor.event_gaps.items() if name not in names or gap < query.from_block}
        self._move(
            event_blocks={**cursor.event_blocks, **dict.fromkeys(names, scanned.last + 1)},
            event_gaps=gaps,
            event_error=cursor.event_error if gaps else "",
        )
        return True

    def _verify_logs(self, node: Node, query: LogFilter, logs: Sequence[Log]) -> None:
        """Raise `_EventsWithheld` if a node omits events from its response."""
        withheld = find_withheld_block(node, self._reader.block)
        if query.to_block - query.from_block < MAX_HEADERS:
            emitters = dict.fromkeys(query.addresses, query.topics)
            blooms = node.read_blooms(query.from_block, query.to_block)
            missing = find_missing_logs(node, query.from_block, blooms, emitters, logs)
            if missing is None or missing:
                withheld = query.to_block
        if withheld is not None:
            raise _EventsWithheld(f"{node.redacted_url} omits events that its block headers announce")

    def _read_sampled(self) -> bool:
        """Take the pools listed by protocols that quote them, once every several blocks."""
        cursor, block = self._discovery.cursor, self._reader.block
        if not self._store.network.quoters or block < cursor.list_positions.get(_SAMPLED_LIST, 0):
            return True
        network = self._store.network
        self._take_unproven(find_sampled_pools(self._reader, network, cursor.sync_filter.protocols_on(network)))
        self._move(list_positions={**cursor.list_positions, _SAMPLED_LIST: block + _SAMPLED_BLOCKS})
        return True

    def _recheck_lost(self) -> bool:
        """Take pools that were stored earlier, or that their factory lists."""
        after = self._discovery.cursor.lost_recheck_key
        if after is None:
            return True
        if self._room <= 0:
            return False
        lost = self._store.inventory.lost_after(after, self._room)
        self._room -= len(lost)
        self._take(parse_pool_refs(lost))
        is_complete = self._room > 0
        self._move(lost_recheck_key=None if is_complete else lost[-1].key)
        if lost:
            self._set_stage("pools lost earlier", len(lost), None)
        return is_complete

    def _recheck_skipped(self) -> bool:
        """Take pools that were skipped earlier."""
        after = self._discovery.cursor.recheck_key
        if after is None:
            return True
        if self._room <= 0:
            return False
        entries = self._store.inventory.skipped_after(after, self._room)
        self._take(parse_pool_refs(entries))
        if len(entries) < self._room:
            self._move(recheck_key=None, last_recheck_block=self._reader.block)
            return True
        self._move(recheck_key=entries[-1].key)
        self._set_stage("pools skipped earlier", len(entries), None)
        return False

    def _take(self, items: Iterable[PoolRef | SkippedItem]) -> None:
        """Add the pools that match the filter, and the skipped items."""
        for item in items:
            if isinstance(item, SkippedItem):
                self._discovery.skipped.append(SkippedEntry(*item))
            elif self._discovery.cursor.sync_filter.admits(item):
                self._discovery.pool_refs.append(item)

    def _take_unproven(self, items: Iterable[PoolRef | SkippedItem]) -> None:
        """Take items that are read from contracts in a definition, whose existence is not proven."""
        earlier = frozenset(self._reader.contracts_without_output)
        self._take(items)
        self._without_output_before |= self._reader.contracts_without_output - earlier

    def _move(self, **changes: Any) -> None:
        self._discovery.cursor = replace(self._discovery.cursor, **changes)

    def _set_stage(self, phase: str, done: int, total: int | None) -> None:
        self._discovery.stage = Stage(phase, done, total)


def _sources(network: Network, protocols: frozenset[str] | None) -> list[_Source]:
    sources = []
    for factory in find_factories(network)[0]:
        names = {protocol.amm_name for protocol in factory.all_protocols}
        names = names if protocols is None else names & protocols
        if names:
            sources.append(_Source(_source_name(factory, names), factory))
    return sources


def _source_name(factory: Factory, protocols: Collection[str]) -> str:
    """Return the key of a factory's positions: its address and protocols.

    Earlier versions skipped pools with hooks, whose events must be read again: those of Uniswap V4 have another key.
    """
    words = (factory.address, *sorted(protocols), *(["hooks"] if factory.kind == ContractKind.UNISWAP_V4 else []))
    return " ".join(words)
