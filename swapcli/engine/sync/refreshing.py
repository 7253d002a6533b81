"""Brings the pools that a store holds to a newer block: what events tell of is read anew, all where there are none.

A sample of what no event has touched is read, too. Where one of it has changed nevertheless, as where a factory has set
another fee, all pools of its protocol are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from swapcli.chain.changes import changed_pool, is_told, topics_of
from swapcli.chain.discovery import homes
from swapcli.chain.loaders import load_pools
from swapcli.chain.logs import scan
from swapcli.chain.multicall import View
from swapcli.chain.node import LogQuery
from swapcli.chain.place import Kind, Place, place_of
from swapcli.chain.rounds import Skipped
from swapcli.engine.sync.left_out import left_at, places_of
from swapcli.errors import UpstreamRefused, UpstreamTimeout
from swapcli.pools import FAMILIES
from swapcli.store import BlockWriter, Store

_SAMPLE: Final = 8
_SAMPLED: Final = "sampled"
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
    revived: list[Place]


class Refresher:
    """Of one store, inside the transaction of the block that `view` shows."""

    def __init__(self, store: Store, writer: BlockWriter, view: View) -> None:
        self._store, self._writer, self._view = store, writer, view
        self._register = store.register
        self._protocols = store.register.protocols()

    def read_all(self) -> Refreshed:
        """Every pool, whatever has become of it."""
        done = Refreshed([], [], [], [])
        self._read(self._keys(), done.touched, done.removed)
        return done

    def read_since(self, block: int) -> Refreshed:
        """What has changed after that block."""
        told = self._told_since(block)
        if told is None:
            return self.read_all()
        done = Refreshed([], [], [], places_of(self._register.left_out_of(told)))
        silent = [name for name, family in self._protocols.items() if not is_told(family)]
        touched = dict.fromkeys(self._register.held(told))
        touched.update(dict.fromkeys(key for name in silent for key in self._keys(name)))
        self._read(touched, done.touched, done.removed)
        self._read_sample(touched.keys(), done)
        return done

    def _told_since(self, block: int) -> set[str] | None:
        """The pools of which events tell, some unknown; None where reading all pools is the better way."""
        query = self._query(block + 1)
        if not query.topics:
            return set()
        most = max(_FEW_RANGES, self._register.counts()[0] // _POOLS_PER_RANGE)
        told: set[str] = set()
        try:
            for part in islice(scan(self._view.node, query), most):
                told.update(key for log in part.logs if (key := changed_pool(log)))
                if part.last == query.last:
                    return told
        except (UpstreamRefused, UpstreamTimeout):
            pass
        return None

    def _query(self, first: int) -> LogQuery:
        """For the changes of what is held, and of what was left out; by their contracts where these are few enough."""
        contracts = self._register.contracts(_FEW_CONTRACTS)
        left = places_of(self._register.left_out("", _FEW_CONTRACTS))
        found, _ = homes(self._store.network)
        families = {*self._protocols.values(), *(place.family for place in left)}
        is_known = "weighted" not in families or any(home.kind is Kind.WEIGHTED for home in found)
        emitters: list[str] = []
        if contracts is not None and len(contracts) + len(left) <= _FEW_CONTRACTS and is_known:
            emitters = [*contracts, *(place.address for place in left), *(home.address for home in found)]
        topics = topics_of(FAMILIES if len(left) == _FEW_CONTRACTS else sorted(families))
        return LogQuery(tuple(dict.fromkeys(emitters)), topics, first, self._view.block)

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
        """Pools at equal distances, since those of one protocol lie together; each time the ones after the last."""
        stride = self._register.last_pool() // _SAMPLE + 1
        note = self._store.note(_SAMPLED)
        start = note % stride if isinstance(note, int) else 0
        self._writer.put_note(_SAMPLED, start + 1)
        chosen = [self._register.pools(after, 1).values() for after in range(start, _SAMPLE * stride, stride)]
        return list(dict.fromkeys(key for keys in chosen for key in keys))

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
        places = [place for pool in held.values() if (place := place_of(pool))]
        for place, pool in zip(places, load_pools(self._view, places), strict=True):
            if isinstance(pool, Skipped):
                self._writer.leave_out([left_at(place, pool.reason)])
                self._writer.remove([place.key])
                removed.append(place.key)
            elif pool != held[place.key]:
                self._writer.put_pools([pool])
                changed.append(place.key)
