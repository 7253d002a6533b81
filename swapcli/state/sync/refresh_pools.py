"""Bring a store's pools to a newer block. Only pools named by events are read, or all pools if the node returns no
events.

Each step also reads a sample of the other pools, large enough to read every pool within an hour. If a pool in the
sample has changed without an event, for example because a factory set a new fee, all pools of its protocol are read.

Some nodes omit events. Pools without an event are therefore read as well if a block header's bloom filter contains an
event that could be theirs. If such a pool has changed and the headers cannot show all such pools, all pools are read.

A pool that changed without an event of its kind in its logs has a version that the program does not know. It is read at
every block from then on. `pools_with_unknown_events` finds pools that emit different events, the sample finds the
others.

A step that would lose many pools is rejected, because it is more likely that the node is wrong.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil
from typing import Final

from swapcli.core.errors import (
    BlockMismatch,
    ChainReorganized,
    InvalidUpstreamResponse,
    UpstreamRejected,
    UpstreamTimeout,
)
from swapcli.core.model.pool import Pool
from swapcli.core.model.skipped_pool import SkippedPool
from swapcli.core.records import NamedTuple
from swapcli.families import families_in_use
from swapcli.families.reading.build_pool import PAUSED
from swapcli.families.reading.calls import Log
from swapcli.families.reading.lockstep_reads import FaultyItem, SkippedItem
from swapcli.families.reading.logs_bloom import is_selective
from swapcli.families.reading.pool_change_events import (
    change_topics,
    changed_pool,
    emits_events,
    find_possible_changes,
    vault_kinds,
)
from swapcli.families.reading.pool_readers import load_reads, read_known_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.rpc.log_scan import scan_logs
from swapcli.state.rpc.log_verification import MAX_HEADERS, find_withheld_block
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockHeader, LogFilter, Node
from swapcli.state.rpc.refusals import Refusal, refusal_of
from swapcli.state.store import BlockWriter, SkippedEntry, Store
from swapcli.state.sync.pools_with_unknown_events import find_unknown_events, has_known_event
from swapcli.state.sync.skipped import parse_pool_refs, skipped_known_pool

_SAMPLE_LANES: Final = 8
"""Positions in the table of pools at which a sample reads."""
_SAMPLE_KEY: Final = "sampled"
_LOST_SAMPLE_KEY: Final = "sampled of the lost"
_SAMPLE_PERIOD_S: Final = 3_600
"""Time within which every pool is read once."""
_MAX_SAMPLED_GAP_S: Final = 600
"""A longer pause is sampled like this one: a sixth of the pools."""
_MAX_BLOOM_CHECKS: Final = 1 << 20
"""Pools times headers to compare in one step, which takes about a second."""
_MAX_BLOOM_POOLS: Final = 20_000
"""Number of pools whose bloom filter bits are cached. On networks with more pools, the filters are full anyway."""
_MAX_BLOOM_MATCHES: Final = 64
"""Matches to read in one step. More matches, and more than one pool in 50, show that the filters are too full."""
_MAX_SETTLING_ROUNDS: Final = 8
"""Rounds of reading what has changed in the meantime. Each round is shorter than the previous one."""
_CONFIRMING_ROUNDS: Final = 3
_MAX_UNCONFIRMED: Final = 500
"""Rounds, and pools per round, that are read again because only the block's number is known, not its hash. A longer
read, or a node that gets new blocks faster, relies on the final chain's events. These do not name a pool that only a
replaced block changed."""
_MAX_LOST: Final = 5
_MAX_LOST_SHARE: Final = 0.01
_BATCH_SIZE: Final = 500  # pools of one step; chosen
_MAX_LOG_ADDRESSES: Final = 100
"""Contracts in one query for events; nodes reject much longer lists."""
_MANY_POOLS: Final = 1_000
_FULL_READ_INTERVAL: Final = 100
"""Blocks between two reads of all pools of a protocol with many pools."""
_FULL_READ_KEY: Final = "read whole:"
_PAIR_FAMILIES: Final = frozenset({ConstantProduct.family, SolidlyStable.family})
_MIN_RANGES: Final = 16
_POOLS_PER_RANGE: Final = 100
"""Reading a hundred pools costs about as much as one range of events. Beyond that, all pools are read instead."""


class Refreshed(NamedTuple):
    """Keys of pools, as in `Advance`. `retry` are references to skipped pools that events name.

    `unexplained` are the pools in `changed_without_event` whose logs contain no event of their kind.
    """

    changed: list[str]
    removed: list[str]
    changed_without_event: list[str]
    retry: list[PoolRef]
    unexplained: list[str]


class Refresher:
    """Refreshes one store inside the transaction of `block`. `reader` reads the state at that block.

    Raises `InvalidUpstreamResponse` if a contract that has responded before returns nothing. Unless `accept_losses` is
    true, also raises it if too many pools can no longer be read: more than 5 pools and more than 1% of them, or all of
    several. `faults` are the pools whose reader failed because of a defect in the program, which says nothing about the
    node.
    """

    def __init__(
        self,
        store: Store,
        writer: BlockWriter,
        reader: MulticallReader,
        block: BlockHeader,
        *,
        accept_losses: bool = False,
    ) -> None:
        self._store, self._writer, self._reader, self._block = store, writer, reader, block
        self._inventory = store.inventory
        self._families = store.inventory.families_by_protocol()
        self._pool_count = store.inventory.count_pools_and_tokens()[0]
        self._lost_count, self._accept_losses = 0, accept_losses
        self._read_keys: set[str] = set()
        self.faults: list[SkippedPool] = []

    def read_all(self) -> Refreshed:
        """Read every pool."""
        refreshed = Refreshed([], [], [], [], [])
        self._read(self._all_keys(), refreshed.changed, refreshed.removed)
        return refreshed

    def read_since(self, block: int) -> Refreshed:
        """Read all pools that have changed since `block`."""
        with_events = self._find_changed(block, self._block.number)
        if with_events is None or find_withheld_block(self._reader.node, self._block.number) is not None:
            return self.read_all()
        skipped = [*self._inventory.skipped_among(with_events), *self._sample_lost()]
        refreshed = Refreshed([], [], [], parse_pool_refs(skipped), [])
        suspects = find_unknown_events(self._store, self._writer, self._reader, block)
        named = dict.fromkeys([*self._inventory.existing_keys(with_events), *self._keys_without_events()])
        self._read(named, refreshed.changed, refreshed.removed)
        matches, matches_are_complete = self._find_bloom_matches(block, named.keys())
        self._read(matches, refreshed.changed_without_event, refreshed.removed)
        if refreshed.changed_without_event and not matches_are_complete:
            rest = self.read_all()
            return Refreshed(
                refreshed.changed,
                [*refreshed.removed, *rest.removed],
                [*refreshed.changed_without_event, *rest.changed],
                refreshed.retry,
                refreshed.unexplained,
            )
        self._read_suspects([key for key in suspects if key not in named], refreshed)
        self._read_sample({*named, *matches, *suspects}, refreshed, block)
        return refreshed

    def _read_suspects(self, suspects: Sequence[str], refreshed: Refreshed) -> None:
        """Read pools with unknown events, and mark those that have changed."""
        changed: list[str] = []
        self._read(suspects, changed, refreshed.removed)
        self._mark_unexplained(changed, refreshed)

    def _mark_unexplained(self, keys: Sequence[str], refreshed: Refreshed) -> None:
        self._writer.mark_unexplained(keys)
        refreshed.unexplained.extend(keys)
        refreshed.changed_without_event.extend(keys)

    def _find_bloom_matches(self, block: int, named: Container[str]) -> tuple[list[str], bool]:
        """Return other pools that, judging by the headers, may have changed after that block.

        Also return whether the headers show every changed pool.
        """
        max_headers = 0
        if self._pool_count <= _MAX_BLOOM_POOLS:
            max_headers = min(MAX_HEADERS, _MAX_BLOOM_CHECKS // max(self._pool_count, 1))
        first = max(block + 1, self._block.number - max_headers + 1)
        if first > self._block.number:
            return [], False
        non_empty = [bloom for bloom in self._reader.node.read_blooms(first, self._block.number) if bloom]
        selective = [bloom for bloom in non_empty if is_selective(bloom)]
        contracts = list(self._inventory.pool_contracts()) if selective else []
        matches = (key for bloom in selective for key in find_possible_changes(bloom, contracts))
        keys = list(dict.fromkeys(key for key in matches if key not in named))
        if len(keys) > max(_MAX_BLOOM_MATCHES, self._pool_count // 50):
            return [], False
        return keys, first == block + 1 and len(selective) == len(non_empty)

    def settle(self, added: Iterable[str]) -> tuple[BlockHeader, list[str]]:
        """Bring all data to one block, including data read from later blocks than requested, and the pools that the
        step has `added`.

        Return that block, and the pools that changed. Pools that changed after the requested block are read again until
        no pool changes in the meantime. Data that was read before the block's header was known is treated in the same
        way, because another block with that number may have replaced it. Raises `BlockMismatch` if pools keep changing,
        and `ChainReorganized`.
        """
        node, start = self._reader.node, self._reader.block
        headers = [self._block]
        self._families = self._inventory.families_by_protocol()
        latest = max(self._reader.answering_blocks)
        read_at: dict[str, int] = {}
        changed: list[str] = []
        unconfirmed = {*self._read_keys, *added}
        for done in range(_MAX_SETTLING_ROUNDS):
            with_events = self._find_changed(start, latest)
            block = node.read_block(latest)
            if with_events is None or block is None:
                break
            existing = self._inventory.existing_keys(with_events)
            stale = {key for key in existing if with_events[key] > read_at.get(key, start)}
            stale.update(key for key in self._keys_without_events() if latest > read_at.get(key, start))
            if done < _CONFIRMING_ROUNDS and len(unconfirmed) <= _MAX_UNCONFIRMED:
                stale |= unconfirmed
            if not stale:
                for header in headers:
                    check_on_chain(node, header)
                return block, changed
            headers.append(block)
            self._reader = MulticallReader(node, block, self._store.network.multicall, allow_later_blocks=True)
            self._read(sorted(stale), changed, [])
            read_at.update(dict.fromkeys(stale, min(self._reader.answering_blocks, default=latest)))
            unconfirmed = stale if self._reader.has_later_answers else set()
            latest = max(self._reader.answering_blocks, default=latest)
        raise BlockMismatch(
            f"{node.redacted_url} responds with later blocks than requested, and pools change faster than swapcli "
            "can read them",
            hint="try again, or set a different node",
            details={"block": start, "answered": latest},
        )

    def _keys_without_events(self) -> list[str]:
        """Return the pools that can change without an event, and those in families that emit none."""
        kind = self._store.network.kind
        silent = [
            name
            for name, families in self._families.items()
            if not all(emits_events(family, kind) for family in families)
        ]
        keys = (key for protocol in silent for key in self._all_keys(protocol))
        return list(dict.fromkeys((*self._inventory.unannounced_keys(), *keys)))

    def _find_changed(self, block: int, last: int) -> dict[str, int] | None:
        """Return the pools named by events, some of them unknown, with the block of the last event.

        None if reading all pools is faster, or if the node does not return the events.
        """
        query = self._event_filter(block + 1, last)
        if not query.topics:
            return {}
        max_ranges = max(_MIN_RANGES, self._inventory.count_pools_and_tokens()[0] // _POOLS_PER_RANGE)
        changed: dict[str, int] = {}
        try:
            scan = scan_logs(self._reader.node, query, at=self._reader.at, verify=self._verify_node)
            for scanned in islice(scan, max_ranges):
                changed.update({key: log.block_number for log in scanned.logs if (key := changed_pool(log))})
                if scanned.last == query.to_block:
                    return changed
        except (UpstreamRejected, UpstreamTimeout) as error:
            if refusal_of(error) is Refusal.RATE:
                raise
        return None

    def _verify_node(self, node: Node, query: LogFilter, logs: Sequence[Log]) -> None:
        """Raise `UpstreamRejected` if a node omits events from its responses."""
        del query, logs
        if find_withheld_block(node, self._block.number) is not None:
            raise UpstreamRejected(f"{node.redacted_url} omits events that its block headers announce")

    def _event_filter(self, first: int, last: int) -> LogFilter:
        """Return the filter for changes of stored and skipped pools, by contract if there are few enough.

        Without contracts, events of all contracts match. If there may be more skipped pools than were read, the filter
        has the topics of all families.
        """
        contracts = self._inventory.contract_addresses(_MAX_LOG_ADDRESSES)
        skipped = parse_pool_refs(self._inventory.skipped_after("", _MAX_LOG_ADDRESSES))
        may_skip_more = len(skipped) == _MAX_LOG_ADDRESSES
        factories, _ = find_factories(self._store.network)
        families = {ref.family for ref in skipped}.union(*self._families.values())
        # Only the network's definition has the address of a vault that emits its pools' events.
        kind = self._store.network.kind
        emitters_are_known = vault_kinds(families, kind) <= {factory.kind for factory in factories}
        # `contract_addresses` returns None if there are more than the limit.
        are_few = contracts is not None and len(contracts) + len(skipped) <= _MAX_LOG_ADDRESSES
        emitters: list[str] = []
        if contracts is not None and are_few and emitters_are_known:
            emitters = [*contracts, *(ref.address for ref in skipped), *(factory.address for factory in factories)]
        topics = change_topics(families_in_use() if may_skip_more else sorted(families), kind)
        return LogFilter(tuple(dict.fromkeys(emitters)), topics, first, last)

    def _read_sample(self, already_read: Container[str], refreshed: Refreshed, block: int) -> None:
        sample = [key for key in self._next_sample() if key not in already_read]
        before = self._store.read_pools(sample).pools
        changed: list[str] = []
        self._read(sample, changed, refreshed.removed)
        unexplained = self._without_known_event(before, changed, block)
        self._mark_unexplained(unexplained, refreshed)
        for protocol in {pool.protocol for pool in self._store.read_pools(changed).pools.values()}:
            if self._may_read_protocol(protocol):
                self._read(self._all_keys(protocol), changed, refreshed.removed)
        refreshed.changed_without_event.extend(key for key in changed if key not in unexplained)

    def _without_known_event(self, before: Mapping[str, Pool], changed: Sequence[str], block: int) -> list[str]:
        """Return those of the changed pools whose logs contain no event of their kind within the sample's period.

        A factory's change of a pair's fee does not count, because it does not make the pair a different version.
        """
        after = self._store.read_pools(changed).pools
        first = self._block.number - round(_SAMPLE_PERIOD_S / (self._store.network.block_time_s or 1.0))
        return [
            key
            for key, pool in after.items()
            if key == pool.address
            and not (pool.family in _PAIR_FAMILIES and _differ_in_fee_only(before[key], pool))
            and not has_known_event(self._store, self._reader, key, pool.family, min(block + 1, first))
        ]

    def _may_read_protocol(self, protocol: str) -> bool:
        """Return whether to read all pools of a protocol; if there are many, only once every several blocks.

        The fees of some protocols change continuously.
        """
        if len(self._inventory.pool_keys_after(0, _MANY_POOLS, protocol)) < _MANY_POOLS:
            return True
        name, block = f"{_FULL_READ_KEY} {protocol}", self._reader.block
        last = self._store.read_metadata(name)
        if isinstance(last, int) and 0 <= block - last < _FULL_READ_INTERVAL:
            return False
        self._writer.put_metadata(name, block)
        return True

    def _next_sample(self) -> list[str]:
        """Return the next sample: runs of pools at equal distances, because pools of one protocol have adjacent ids.

        Its size ensures that all pools are read within the sample period.
        """
        stored = self._store.read_metadata(_SAMPLE_KEY)
        start, last_s = stored if isinstance(stored, list) else (0, self._block.timestamp)
        elapsed_s = min(max(self._block.timestamp - last_s, 0), _MAX_SAMPLED_GAP_S)
        stride = self._inventory.last_pool_id() // _SAMPLE_LANES + 1
        length = min(max(ceil(stride * elapsed_s / _SAMPLE_PERIOD_S), 1), stride)
        start %= stride
        self._writer.put_metadata(_SAMPLE_KEY, [start + length, self._block.timestamp])
        wrapped = max(start + length - stride, 0)
        spans = [(start, length - wrapped), *([(0, wrapped)] if wrapped else [])]
        runs = [
            self._inventory.pool_keys_after(lane + first, count).values()
            for first, count in spans
            for lane in range(0, _SAMPLE_LANES * stride, stride)
        ]
        return list(dict.fromkeys(key for run in runs for key in run))

    def _sample_lost(self) -> list[SkippedEntry]:
        """Return a sample of the lost pools, each time the ones after the last sample."""
        stored = self._store.read_metadata(_LOST_SAMPLE_KEY)
        after = stored if isinstance(stored, str) else ""
        lost = self._inventory.lost_after(after, _SAMPLE_LANES)
        if lost or after:
            self._writer.put_metadata(_LOST_SAMPLE_KEY, lost[-1].key if len(lost) == _SAMPLE_LANES else "")
        return lost

    def _all_keys(self, protocol: str | None = None) -> Iterator[str]:
        after = 0
        while batch := self._inventory.pool_keys_after(after, _BATCH_SIZE, protocol):
            yield from batch.values()
            after = max(batch)

    def _read(self, keys: Iterable[str], changed: list[str], removed: list[str]) -> None:
        """Read pools and write those that differ; append their keys to `changed`, and those of lost pools to
        `removed`."""
        remaining = iter(keys)
        while batch := list(islice(remaining, _BATCH_SIZE)):
            self._read_batch(batch, changed, removed)

    def _read_batch(self, keys: Sequence[str], changed: list[str], removed: list[str]) -> None:
        stored = self._store.read_pools(keys).pools
        self._read_keys.update(stored)
        known = ((pool, read_known_pool(pool, self._store.network)) for pool in stored.values())
        reads = [(pool.key, read) for pool, read in known if read is not None]
        for (key, _), pool in zip(reads, load_reads(self._reader, reads), strict=True):
            if isinstance(pool, SkippedItem):
                self._remove_lost(stored[key], pool)
                removed.append(key)
            elif pool != stored[key]:
                self._writer.put_pools([pool])
                changed.append(key)

    def _remove_lost(self, pool: Pool, item: SkippedItem) -> None:
        """Remove a pool that can no longer be read. Raises `InvalidUpstreamResponse` if the node must be wrong."""
        shown, reason = self._reader.node.redacted_url, item.reason
        if pool.address in self._reader.contracts_without_output:
            raise InvalidUpstreamResponse(
                f"{shown} returns nothing for {pool.address}, which it returned before: nothing was stored",
                hint="try again, or set a different node",
                details={"pool": pool.key, "block": self._reader.block},
            )
        if self._reader.has_later_answers:
            raise BlockMismatch(
                f"{shown} responded with several blocks, so {pool.key} could not be read",
                hint="try again, or set a different node",
                details={"pool": pool.key, "block": self._reader.block},
            )
        is_fault = isinstance(item, FaultyItem)
        if is_fault:
            self.faults.append(SkippedPool(pool.key, pool.protocol, reason))
        self._lost_count += not is_fault and PAUSED not in reason  # whose errors say why there are many
        lost_all = self._lost_count == self._pool_count > 1
        lost_many = self._lost_count > max(_MAX_LOST, self._pool_count * _MAX_LOST_SHARE)
        if (lost_many or lost_all) and not self._accept_losses:
            raise InvalidUpstreamResponse(
                f"{shown} no longer returns the state of {self._lost_count} or more of {self._pool_count:,} pools"
                f" ({reason}): nothing was stored",
                hint="try again, or set a different node; swapcli sync --accept-losses removes such pools",
                details={"lost": self._lost_count, "pools": self._pool_count, "block": self._reader.block},
            )
        self._writer.record_skipped([skipped_known_pool(pool, self._store.network, reason)._replace(is_lost=True)])
        self._writer.remove_pools([pool.key])


def _differ_in_fee_only(before: Pool, after: Pool) -> bool:
    states = [{name: value for name, value in pool.state().items() if name != "swap_fee"} for pool in (before, after)]
    return states[0] == states[1]


def check_on_chain(node: Node, block: BlockHeader) -> None:
    """Raise `ChainReorganized` unless the block is still on the node's chain."""
    current = node.read_block(block.number)
    if current is None or current.hash != block.hash:
        raise ChainReorganized(
            f"the chain of {node.redacted_url} was reorganized while block {block.number} was read",
            hint="try again",
            details={"block": block.number},
        )
