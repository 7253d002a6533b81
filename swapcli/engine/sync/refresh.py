"""Brings the pools that a store holds to a newer block: what events tell of is read anew, all where there are none.

A sample of what no event has touched is read, too, so large that every pool is read again within an hour. Where one of
it has changed nevertheless, as where a factory has set another fee, all pools of its protocol are read.

Pools of which no event was told, although the header of a block holds one that could be theirs, are read again as well:
some nodes leave events out. Where that proves true and not all headers can show it, all pools are read.

What a node no longer tells of pools is believed only of a few: a step that would lose many is refused.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from math import ceil
from typing import Final, NamedTuple

from swapcli.chain.batch_read import SkippedItem
from swapcli.chain.loaders import load_pools
from swapcli.chain.log_scan import scan_logs
from swapcli.chain.log_verification import MAX_HEADERS, find_withheld_block
from swapcli.chain.logs_bloom import is_selective
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import BlockHeader, LogFilter
from swapcli.chain.pool_discovery import find_factories
from swapcli.chain.pool_events import change_topics, changed_pool, emits_events, find_possible_changes
from swapcli.chain.pool_ref import ContractKind, PoolRef, ref_of_pool
from swapcli.engine.sync.skipped import left_at, places_of
from swapcli.errors import BlockMismatch, InvalidUpstreamResponse, UpstreamRejected, UpstreamTimeout
from swapcli.pools import FAMILIES
from swapcli.store import BlockWriter, LeftOut, Store

_SAMPLE: Final = 8
_SAMPLED: Final = "sampled"
_SAMPLED_LOST: Final = "sampled of the lost"
_ROUND_S: Final = 3_600
"""Within which every pool is read again."""
_LONGEST_GAP_S: Final = 600
"""After a longer pause no more is sampled than after this one: a sixth of the pools."""
_MOST_COMPARED: Final = 1 << 20
"""Pools times headers that are compared in one step, which takes about a second."""
_MANY_COMPARED: Final = 20_000
"""Pools of which the bits in a filter are kept in memory. Networks with more of them have filters that are too full."""
_MOST_HINTED: Final = 64
"""Pools of one step that headers may hint at. Where there are more of them, and more than one in 50, hints are worth
nothing, and the sample has to do."""
_MOST_SETTLING: Final = 8
"""Rounds of reading again what has changed in the meantime, of which each is shorter than the one before."""
_FEW_LOST: Final = 5
_LOST_SHARE: Final = 0.01
_PORTION: Final = 500
_FEW_CONTRACTS: Final = 100
_MANY_POOLS: Final = 1_000
_REST_BLOCKS: Final = 100
_READ_WHOLE: Final = "read whole:"
_FEW_RANGES: Final = 16
_POOLS_PER_RANGE: Final = 100
"""Reading some hundred pools costs about as much as one range of events: beyond that all pools are read instead."""


class Refreshed(NamedTuple):
    """Keys of pools, as in `Advance`; `revived` are places of pools left out earlier that events tell of."""

    touched: list[str]
    removed: list[str]
    drifted: list[str]
    revived: list[PoolRef]


class Refresher:
    """Of one store, inside the transaction of `block`, which `view` shows.

    Raises `InvalidUpstreamResponse` where the node tells nothing of a contract that answered before, and, unless
    `may_lose`, where more than 5 pools and more than 1 % of them, or all of several, can no longer be read.
    """

    def __init__(
        self, store: Store, writer: BlockWriter, view: BlockReader, block: BlockHeader, *, may_lose: bool = False
    ) -> None:
        self._store, self._writer, self._view, self._block = store, writer, view, block
        self._register = store.register
        self._protocols = store.register.protocols()
        self._count, self._lost, self._may_lose = store.register.counts()[0], 0, may_lose

    def read_all(self) -> Refreshed:
        """Every pool, whatever has become of it."""
        done = Refreshed([], [], [], [])
        self._read(self._keys(), done.touched, done.removed)
        return done

    def read_since(self, block: int) -> Refreshed:
        """What has changed after that block."""
        told = self._told_since(block, self._block.number)
        if told is None or find_withheld_block(self._view.node, self._block.number) is not None:
            return self.read_all()
        done = Refreshed([], [], [], places_of([*self._register.left_out_of(told), *self._sample_of_lost()]))
        touched = dict.fromkeys([*self._register.held(told), *self._silent_keys()])
        self._read(touched, done.touched, done.removed)
        silent, is_complete = self._hinted_since(block, touched.keys())
        self._read(silent, done.drifted, done.removed)
        if done.drifted and not is_complete:
            rest = self.read_all()
            return Refreshed(done.touched, [*done.removed, *rest.removed], [*done.drifted, *rest.touched], done.revived)
        self._read_sample({*touched, *silent}, done)
        return done

    def _hinted_since(self, block: int, touched: Container[str]) -> tuple[list[str], bool]:
        """Return other pools that may have changed after that block by its headers, and whether these show all that
        have."""
        most = min(MAX_HEADERS, _MOST_COMPARED // max(self._count, 1)) if self._count <= _MANY_COMPARED else 0
        first = max(block + 1, self._block.number - most + 1)
        if first > self._block.number:
            return [], False
        filled = [bloom for bloom in self._view.node.blooms(first, self._block.number) if bloom]
        telling = [bloom for bloom in filled if is_selective(bloom)]
        places = list(self._register.places()) if telling else []
        keys = list(
            dict.fromkeys(
                key for bloom in telling for key in find_possible_changes(bloom, places) if key not in touched
            )
        )
        is_worthless = len(keys) > max(_MOST_HINTED, self._count // 50)
        is_complete = first == block + 1 and len(telling) == len(filled) and not is_worthless
        return [] if is_worthless else keys, is_complete

    def settle(self, view: BlockReader) -> tuple[BlockHeader, list[str]]:
        """Bring what `view` has read from later blocks to one later block. Return that, and which pools changed by it.

        What has changed since the view's block is read again until nothing changes while it is read. Raises
        `BlockMismatch` where that does not come to an end.
        """
        node, start = self._view.node, self._view.block
        self._protocols = self._register.protocols()
        label, read_at, changed = max(view.answering_blocks), dict[str, int](), list[str]()
        for _ in range(_MOST_SETTLING):
            told = self._told_since(start, label)
            block = node.block(label)
            if told is None or block is None:
                break
            held = self._register.held(told)
            stale = [key for key in held if told[key] > read_at.get(key, start)]
            stale += [key for key in self._silent_keys() if label > read_at.get(key, start)]
            if not stale:
                return block, changed
            self._view = BlockReader(node, label, self._store.network.multicall, allow_later_blocks=True)
            self._read(stale, changed, [])
            read_at.update(dict.fromkeys(stale, min(self._view.answering_blocks, default=label)))
            label = max(self._view.answering_blocks, default=label)
        raise BlockMismatch(
            f"{node.shown} answers from later blocks than it is asked about, and pools change faster than it is read",
            hint="try again, or set another node",
            details={"block": start, "answered": label},
        )

    def _silent_keys(self) -> list[str]:
        """Return the pools of whose changes no events tell."""
        return [key for name, family in self._protocols.items() if not emits_events(family) for key in self._keys(name)]

    def _told_since(self, block: int, last: int) -> dict[str, int] | None:
        """Return the pools of which events tell, some unknown, with the last block of such an event; None where reading
        all pools is the better way."""
        query = self._query(block + 1, last)
        if not query.topics:
            return {}
        most = max(_FEW_RANGES, self._register.counts()[0] // _POOLS_PER_RANGE)
        told: dict[str, int] = {}
        try:
            for part in islice(scan_logs(self._view.node, query), most):
                told.update({key: log.block_number for log in part.logs if (key := changed_pool(log))})
                if part.last == query.to_block:
                    return told
        except (UpstreamRejected, UpstreamTimeout):
            pass
        return None

    def _query(self, first: int, last: int) -> LogFilter:
        """For the changes of what is held, and of what was left out; by their contracts where these are few enough."""
        contracts = self._register.contracts(_FEW_CONTRACTS)
        left = places_of(self._register.left_out("", _FEW_CONTRACTS))
        found, _ = find_factories(self._store.network)
        families = {*self._protocols.values(), *(place.family for place in left)}
        is_known = "weighted" not in families or any(home.kind is ContractKind.WEIGHTED for home in found)
        emitters: list[str] = []
        if contracts is not None and len(contracts) + len(left) <= _FEW_CONTRACTS and is_known:
            emitters = [*contracts, *(place.address for place in left), *(home.address for home in found)]
        topics = change_topics(FAMILIES if len(left) == _FEW_CONTRACTS else sorted(families))
        return LogFilter(tuple(dict.fromkeys(emitters)), topics, first, last)

    def _read_sample(self, touched: Iterable[str], done: Refreshed) -> None:
        sample = self._sample()
        drifted: list[str] = []
        self._read([key for key in sample if key not in touched], drifted, done.removed)
        for name in {pool.protocol for pool in self._store.market_of(drifted).pools.values()}:
            if self._may_read_whole(name):
                self._read(self._keys(name), drifted, done.removed)
        done.drifted.extend(drifted)

    def _may_read_whole(self, protocol: str) -> bool:
        """Of some protocols fees change all the time, by themselves: where pools are many, only now and then."""
        if len(self._register.pools(0, _MANY_POOLS, protocol)) < _MANY_POOLS:
            return True
        note, block = f"{_READ_WHOLE} {protocol}", self._view.block
        last = self._store.note(note)
        if isinstance(last, int) and 0 <= block - last < _REST_BLOCKS:
            return False
        self._writer.put_note(note, block)
        return True

    def _sample(self) -> list[str]:
        """Return pools at equal distances, since those of one protocol lie together; each time the ones after the last.

        As many as it takes to have read all of them within an hour.
        """
        note = self._store.note(_SAMPLED)
        start, last_s = note if isinstance(note, list) else (0, self._block.timestamp)
        passed_s = min(max(self._block.timestamp - last_s, 0), _LONGEST_GAP_S)
        stride = self._register.last_pool() // _SAMPLE + 1
        depth = min(max(ceil(stride * passed_s / _ROUND_S), 1), stride)
        start %= stride
        self._writer.put_note(_SAMPLED, [start + depth, self._block.timestamp])
        over = max(start + depth - stride, 0)
        spans = [(start, depth - over), *([(0, over)] if over else [])]
        chosen = [
            self._register.pools(lane + first, count).values()
            for first, count in spans
            for lane in range(0, _SAMPLE * stride, stride)
        ]
        return list(dict.fromkeys(key for keys in chosen for key in keys))

    def _sample_of_lost(self) -> list[LeftOut]:
        """Return a few of the pools that were lost, each time the ones after the last."""
        note = self._store.note(_SAMPLED_LOST)
        after = note if isinstance(note, str) else ""
        lost = self._register.lost(after, _SAMPLE)
        if lost or after:
            self._writer.put_note(_SAMPLED_LOST, lost[-1].key if len(lost) == _SAMPLE else "")
        return lost

    def _keys(self, protocol: str | None = None) -> Iterator[str]:
        after = 0
        while portion := self._register.pools(after, _PORTION, protocol):
            yield from portion.values()
            after = max(portion)

    def _read(self, keys: Iterable[str], changed: list[str], removed: list[str]) -> None:
        waiting = iter(keys)
        while portion := list(islice(waiting, _PORTION)):
            self._read_portion(portion, changed, removed)

    def _read_portion(self, keys: Sequence[str], changed: list[str], removed: list[str]) -> None:
        held = self._store.market_of(keys).pools
        places = [place for pool in held.values() if (place := ref_of_pool(pool))]
        for place, pool in zip(places, load_pools(self._view, places), strict=True):
            if isinstance(pool, SkippedItem):
                self._lose(place, pool)
                removed.append(place.key)
            elif pool != held[place.key]:
                self._writer.put_pools([pool])
                changed.append(place.key)

    def _lose(self, place: PoolRef, why: SkippedItem) -> None:
        """Take out a pool that can no longer be read. Raises `InvalidUpstreamResponse` where that is not to be
        believed."""
        shown = self._view.node.shown
        if place.address in self._view.contracts_without_output:
            raise InvalidUpstreamResponse(
                f"{shown} answers with nothing for {place.address}, which has answered before: nothing is stored",
                hint="try again, or set another node",
                details={"pool": place.key, "block": self._view.block},
            )
        if self._view.has_later_answers:
            raise BlockMismatch(
                f"{shown} answered from several blocks, so that {place.key} could not be read",
                hint="try again, or set another node",
                details={"pool": place.key, "block": self._view.block},
            )
        self._lost += 1
        is_much = self._lost > max(_FEW_LOST, self._count * _LOST_SHARE) or self._lost == self._count > 1
        if is_much and not self._may_lose:
            raise InvalidUpstreamResponse(
                f"{shown} no longer tells the state of {self._lost} or more of {self._count:,} pools"
                f" ({why.reason}): nothing is stored",
                hint="try again, or set another node; swapcli sync --accept-losses takes such pools out",
                details={"lost": self._lost, "pools": self._count, "block": self._view.block},
            )
        self._writer.leave_out([left_at(place, why.reason, is_lost=True)])
        self._writer.remove([place.key])
