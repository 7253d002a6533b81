"""Keep a market in memory at the latest block of a feed, without a node or a store.

The documents of all pools stay in memory in their published form. The deepest pools are parsed and quoted. Others are
parsed when an order or a route needs them. An entry is applied only if the market's hash equals the entry's base hash,
and the result has the entry's resulting hash. Otherwise the market stays unchanged until a snapshot or a later entry
can be applied. Quoting stops when the market is too old.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from heapq import nlargest
from random import SystemRandom
from threading import Condition, Event
from typing import Final

from swapcli.core.errors import MarketError, MarketUnavailable, UpstreamError
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.core.records import NamedTuple
from swapcli.quoting.followers.market_follower import (
    MAX_POOLS,
    RESELECT_AFTER_S,
    Followed,
    MarketFollower,
    open_follower,
)
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import Clock
from swapcli.state.feed.counters import FeedCounters
from swapcli.state.feed.feed_stream import START, FeedReader, SnapshotVersion, StreamEntry, is_before
from swapcli.state.feed.token_index import TokenIndex, tokens_of
from swapcli.state.markets.feed_format import (
    MAX_ENTRY_BYTES,
    MAX_SNAPSHOT_BYTES,
    FeedEntry,
    FeedMarket,
    InvalidFeed,
    MarketHeader,
    decode_entry,
)
from swapcli.state.markets.fields import MarketFields
from swapcli.state.markets.pools_field import PoolParser
from swapcli.state.markets.tokens_field import parse_tokens, parse_transfers
from swapcli.state.rpc.head_source import FollowMode
from swapcli.state.sync import DiskReport, Progress

_WAIT_S: Final = 1.0
"""Time to wait for an entry before the latest id is checked, because the server may have lost its data."""
_PAUSE_S: Final = (0.5, 1.0)
"""Pause between attempts to reach the server. Each attempt costs little, and the market ages meanwhile. The pause is
random so that replicas do not all load the snapshot at once."""
_RANDOM: Final = SystemRandom()
"""A separate generator, because the state of the `random` module's functions belongs to the program that imports
swapcli."""
_EXTENSION_WAIT_S: Final = 1.0
"""Time that an order waits for the market at a block that is being read."""
_EXTENSION_HOPS: Final = 2
"""Maximum number of hops from a token of the order to the deepest pools. With more hops, most of the amount is lost."""
_POOLS_OF_TOKEN: Final = 20
_MAX_EXTENDED: Final = 16
"""Maximum number of sources with extra pools for each block, which limits their memory."""
_BATCH: Final = 16
"""Maximum number of entries per server response, which limits its size."""


class FollowedFeed:
    """The feed of a network. It is also the `HeadSource` that wakes its follower."""

    poll_s = _WAIT_S
    mode = FollowMode.FEED
    problem = None
    hint = None

    def __init__(self, network: Network, reader: FeedReader, max_pools: int = MAX_POOLS) -> None:
        self.network, self.reader, self.max_pools, self.counters = network, reader, max_pools, FeedCounters()
        self._received: list[StreamEntry] = []
        self._stopped = Event()
        self.last_id = START
        self._loaded: FeedFollower | None = None

    def load(self, clock: Clock, route_ttl_s: int) -> None:
        """Load the market now, so that processes forked later share its memory. Raises `UpstreamError`.

        No connection stays open. If there is no market yet, each forked process tries again.
        """
        follower = FeedFollower(self, clock, route_ttl_s=route_ttl_s)
        try:
            if follower.advance() is not None:
                follower.index_tokens()
                self._loaded = follower
        finally:
            self.reader.close()

    def open(self, clock: Clock, route_ttl_s: int) -> FeedFollower:
        """Return a follower with the loaded market, or without one if `load` has found none or an earlier call has
        taken it."""
        follower, self._loaded = self._loaded, None
        return follower or FeedFollower(self, clock, route_ttl_s=route_ttl_s)

    @property
    def heads(self) -> FollowedFeed:
        """This feed, as its follower's source of heads."""
        return self

    def wait(self, pause_s: float, reached: int | None = None) -> None:
        """Same as `HeadSource.wait`. A failure is raised when the entries are read."""
        del reached
        if self._stopped.is_set():
            return
        if pause_s > self.poll_s:
            self._stopped.wait(_RANDOM.uniform(*_PAUSE_S))
            return
        if not self._received:
            try:
                self._received = self.reader.read_entries(self.last_id, _BATCH, pause_s)
            except UpstreamError:
                self._stopped.wait(_WAIT_S / 10)

    def take_entries(self) -> list[StreamEntry]:
        """Return the next entries after `last_id`, starting with those received by `wait`. Raises `UpstreamError`."""
        received, self._received = self._received, []
        return received or self.reader.read_entries(self.last_id, _BATCH)

    def discard_entries(self) -> None:
        """Forget the entries that `wait` has received, because `last_id` has changed."""
        self._received = []

    def stop(self) -> None:
        """Same as `HeadSource.stop`."""
        self._stopped.set()

    def close(self) -> None:
        """Same as `HeadSource.close`."""
        self.reader.close()


AnyFollowed = Followed | FollowedFeed


@contextmanager
def open_any_follower(
    followed: AnyFollowed,
    clock: Clock,
    on_progress: Callable[[Progress], object],
    on_disk: DiskReport,
    *,
    route_ttl_s: int,
) -> Iterator[MarketFollower | FeedFollower]:
    """Open the follower of a feed, or of a store or market with `market_follower.open_follower`."""
    if isinstance(followed, FollowedFeed):
        yield followed.open(clock, route_ttl_s)
        return
    with open_follower(followed, clock, on_progress, on_disk=on_disk, route_ttl_s=route_ttl_s) as follower:
        yield follower


class _Parsed(NamedTuple):
    """The quoted pools, their tokens, and how these transfer."""

    pools: dict[str, Pool]
    tokens: dict[str, Token]
    transfers: dict[str, TransferBehaviour]


class FeedFollower:
    """A follower of a feed. It returns sources of quotes, each at one complete block of the feed.

    From other threads, call only `extended_source`.
    """

    def __init__(self, feed: FollowedFeed, clock: Clock, *, route_ttl_s: int) -> None:
        self._feed, self._clock, self._route_ttl_s = feed, clock, route_ttl_s
        self._counters = feed.counters
        self._changing = Condition()
        """Held while documents change; notified when the source reaches their block."""
        self._index: TokenIndex | None = None
        self._extended: dict[frozenset[str], InMemorySource] = {}
        self._market = FeedMarket()
        self._changed_tokens: set[str] = set()
        self._changed_pools: set[str] = set()
        self._is_behind = True
        """Whether no entry can be applied until a snapshot is loaded."""
        self._tried_snapshot: SnapshotVersion | None = None
        self._rejection: str | None = None
        """Why the last snapshot that was tried cannot be used."""
        self._parsed = _Parsed({}, {}, {})
        self._source: InMemorySource | None = None
        self._source_header: MarketHeader | None = None
        self._selected_s = 0.0

    @property
    def counters(self) -> FeedCounters:
        """The counts of the feed's events."""
        return self._counters

    def read(self) -> InMemorySource:
        """Return the latest market. Raises `UpstreamError`, and `MarketUnavailable` if nothing has been published."""
        source = self.advance() or self._source
        if source is None:
            name, server = self._feed.network.name, self._feed.reader.server.shown
            if self._rejection is not None:
                raise MarketUnavailable(f"the feed of {name} at {server} cannot be used: {self._rejection}")
            raise MarketUnavailable(
                f"no block has been published yet for {name} at {server}",
                hint=f"swapcli sync {name} --watch --publish writes the feed",
            )
        return source

    def advance(self) -> InMemorySource | None:
        """Apply all available entries and return the market, or None if the market has not changed since the last call.

        Raises `UpstreamError` and `MarketError`.
        """
        if self._is_behind and not self._load_snapshot():
            self._feed.reader.request_snapshot()
        while self._market.header is not None:
            entries = self._feed.take_entries()
            with self._changing:
                for entry in entries:
                    self._feed.last_id = entry.id
                    self._apply(entry)
            if self._is_behind:
                self._load_snapshot()
            if not entries:
                self._check_newest()
                break
        header = self._market.header
        if header is None or header is self._source_header:
            return None
        source = self._build_source(header)
        with self._changing:
            self._source, self._source_header, self._extended = source, header, {}
            self._changing.notify_all()
        return source

    def index_tokens(self) -> None:
        """Build the token index now, so that the first call of `extended_source` does not have to."""
        self._index = self._index or TokenIndex(self._market.pools)

    def extended_source(self, tokens: Iterable[str], keys: Iterable[str]) -> InMemorySource | None:
        """Return the latest source, extended by all pools that trade `tokens` (addresses) and by the pools in `keys`.

        Returns None if the source already has every one of these pools that is in the feed. Any thread may call this.
        Raises `MarketUnavailable` until the market has been read, and `InvalidFeed`.
        """
        tokens, keys = list(tokens), list(keys)
        source = self._source
        if source is None or not self._lacks(source, tokens, keys):
            return None
        with self._changing:
            if not self._changing.wait_for(lambda: self._source_header is self._market.header, _EXTENSION_WAIT_S):
                raise MarketUnavailable(f"the pools of {self._feed.network.name} are being read")
            source = self._source
            assert source is not None
            missing = self._missing_pools(source.market, tokens, keys)
            if not missing or missing in self._extended:
                return self._extended.get(missing)
            market = self._with_pools(source.market, missing)
        extended = source.with_changes(market, missing)
        with self._changing:
            if self._source is source and len(self._extended) < _MAX_EXTENDED:
                self._extended[missing] = extended
        return extended

    def _lacks(self, source: InMemorySource, tokens: Iterable[str], keys: Iterable[str]) -> bool:
        known, all_known = source.market, self._market
        return any(each not in known.tokens and each in all_known.tokens for each in tokens) or any(
            key not in known.pools and key in all_known.pools for key in keys
        )

    def _missing_pools(self, market: MarketState, tokens: Iterable[str], keys: Iterable[str]) -> frozenset[str]:
        """Return the pools to add to the market: `keys`, those of new tokens, and those of the tokens that these
        add."""
        self.index_tokens()
        assert self._index is not None
        depths = self._market.depths
        missing = {key for key in keys if key in depths and key not in market.pools}
        new, reached = {token for token in tokens if token not in market.tokens}, set[str]()
        for _ in range(_EXTENSION_HOPS):
            reached |= new
            found = set[str]()
            for token in new:
                candidates = (key for key in self._index.keys(token) if key not in market.pools)
                found.update(nlargest(_POOLS_OF_TOKEN, candidates, key=depths.__getitem__))
            missing |= found
            new = {each for key in found for each in tokens_of(self._market.pools[key])}
            new -= market.tokens.keys() | reached
        return frozenset(missing)

    def _with_pools(self, market: MarketState, keys: Iterable[str]) -> MarketState:
        documents = [self._load(self._market.pools[key]) for key in keys]
        new_tokens, transfers = self._read_tokens(_token_addresses(documents) - market.tokens.keys())
        tokens = {**market.tokens, **new_tokens}
        found, _ = PoolParser(self._feed.network, tokens).read(documents, skip_bad_pools=True)
        return market._replace(
            pools={**market.pools, **found}, tokens=tokens, transfers={**market.transfers, **transfers}
        )

    # --- documents

    def _apply(self, received: StreamEntry) -> None:
        """Apply an entry, or count why it cannot be applied."""
        try:
            entry = self._decode(received.data, MAX_ENTRY_BYTES)
        except InvalidFeed:
            self._counters.rejected += 1  # the next entry's base shows whether it was needed
            return
        state_hash = self._market.state_hash
        if entry.base == state_hash:
            if not self._market.matches(entry):
                self._counters.mismatches += 1
                self._is_behind = True
                return
            self._update(entry)
            self._counters.entries += 1
            self._counters.reorganizations += entry.rewound_to is not None
            self._is_behind = False
        elif entry.state_hash != state_hash and not self._is_behind:
            self._counters.gaps += 1
            self._is_behind = True

    def _load_snapshot(self) -> bool:
        """Load the snapshot unless it is the one tried last. Return whether the market changed."""
        version = self._feed.reader.read_snapshot_version()
        if version is None or version == self._tried_snapshot:
            return False
        snapshot = self._feed.reader.read_snapshot()
        if snapshot is None:
            return False
        self._tried_snapshot, self._rejection = version, None
        try:
            entry = self._decode(snapshot.data, MAX_SNAPSHOT_BYTES)
        except InvalidFeed as error:
            self._counters.rejected += 1
            self._rejection = error.problem
            return False
        market = FeedMarket()
        if entry.base is not None or not market.matches(entry):
            self._counters.mismatches += 1
            return False
        market.update(entry.header, entry.changes)
        for changed, old, new in (
            (self._changed_tokens, self._market.tokens, market.tokens),
            (self._changed_pools, self._market.pools, market.pools),
        ):
            changed.update(key for key, document in new.items() if old.get(key) != document)
            changed.update(old.keys() - new.keys())
        with self._changing:
            self._market, self._is_behind, self._index = market, False, None
        self._feed.last_id = snapshot.id
        self._feed.discard_entries()
        self._counters.snapshots += 1
        return True

    def _check_newest(self) -> None:
        """Detect that the newest entry is missing, or that the server has lost its data and restarted at smaller
        ids."""
        reader, last_id = self._feed.reader, self._feed.last_id
        newest = reader.read_newest()
        if newest is None:
            return
        if is_before(newest.id, last_id):
            self._tried_snapshot = None
        elif self._is_behind or newest.state_hash == self._market.state_hash or reader.read_entries(last_id, 1):
            return  # it is known to be missing, or it is not
        self._counters.gaps += 1
        self._is_behind = True
        self._feed.last_id = newest.id
        self._load_snapshot()

    def _decode(self, data: bytes | None, max_bytes: int) -> FeedEntry:
        if data is None:
            raise InvalidFeed("it has no data")
        entry, network = decode_entry(data, max_bytes), self._feed.network
        if (entry.header.network, entry.header.chain_id) != (network.name, network.chain_id):
            raise InvalidFeed(f"it is for {entry.header.network} with chain ID {entry.header.chain_id}")
        return entry

    def _update(self, entry: FeedEntry) -> None:
        if self._index is not None:
            self._index.update(self._market.pools, entry.changes.pools)
        self._market.update(entry.header, entry.changes)
        self._changed_tokens.update(entry.changes.tokens)
        self._changed_pools.update(entry.changes.pools)

    # --- pools

    def _build_source(self, header: MarketHeader) -> InMemorySource:
        now_s, source = self._clock.monotonic_s(), self._source
        is_new_selection = source is None or now_s - self._selected_s > RESELECT_AFTER_S
        keys = self._select(is_new_selection=is_new_selection)
        changed = self._parse(keys)
        market = self._market_state(header)
        if source is None:
            source = InMemorySource(market, self._clock, route_ttl_s=self._route_ttl_s)
        else:
            source = source.with_changes(market, changed)
        source.searchable.router.index.warm()
        if is_new_selection:
            self._selected_s = now_s
        self._changed_tokens, self._changed_pools = set(), set()
        return source

    def _select(self, *, is_new_selection: bool) -> Set[str]:
        """Return the keys of the pools to quote: the deepest pools, or those of the last selection plus new ones."""
        depths = self._market.depths
        if len(depths) <= self._feed.max_pools:
            return depths.keys()
        if is_new_selection:
            return set(nlargest(self._feed.max_pools, depths, key=depths.__getitem__))
        keys = {key for key in self._parsed.pools if key in depths}
        room = self._feed.max_pools - len(keys)
        return keys.union([key for key in self._changed_pools if key in depths and key not in keys][:room])

    def _parse(self, keys: Set[str]) -> Set[str]:
        """Parse the changes of the pools to quote. Return the keys of pools that were added, changed or removed."""
        known = self._parsed
        tokens, transfers = self._read_tokens(self._changed_tokens & known.tokens.keys())
        rescaled = {address for address, token in tokens.items() if token.decimals != known.tokens[address].decimals}
        stale = {key for key in keys if key not in known.pools or key in self._changed_pools}
        if rescaled:
            stale.update(key for key in keys if key in known.pools and not rescaled.isdisjoint(known.pools[key].tokens))
        documents = [self._load(self._market.pools[key]) for key in stale]
        new_tokens, new_transfers = self._read_tokens(_token_addresses(documents) - known.tokens.keys())
        old_transfers = {each: value for each, value in known.transfers.items() if each not in self._changed_tokens}
        tokens, transfers = known.tokens | tokens | new_tokens, old_transfers | transfers | new_transfers
        found, skipped = PoolParser(self._feed.network, tokens).read(documents, skip_bad_pools=True)
        self._counters.rejected += len(skipped)
        pools = {key: pool for key, pool in known.pools.items() if key in keys and key not in stale}
        pools.update((key, pool) for key, pool in found.items() if key in stale)
        used = {address for pool in pools.values() for address in pool.tokens}
        self._parsed = _Parsed(
            pools,
            {address: token for address, token in tokens.items() if address in used},
            {address: behaviour for address, behaviour in transfers.items() if address in used},
        )
        return stale | (known.pools.keys() - pools.keys())

    def _load(self, document: bytes) -> object:
        try:
            return json.loads(document)
        except ValueError:
            return None  # which the parser rejects

    def _read_tokens(self, addresses: Iterable[str]) -> tuple[dict[str, Token], dict[str, TransferBehaviour]]:
        """Return those of the tokens that are in the feed, and how they transfer. Raises `InvalidFeed`."""
        documents = [self._load(self._market.tokens[each]) for each in addresses if each in self._market.tokens]
        fields, kind = MarketFields({"tokens": documents}), self._feed.network.kind
        try:
            return parse_tokens(fields, kind), parse_transfers(fields, kind)
        except MarketError as error:
            raise InvalidFeed(error.message) from None

    def _market_state(self, header: MarketHeader) -> MarketState:
        return MarketState(
            network=self._feed.network,
            tokens=self._parsed.tokens,
            pools=self._parsed.pools,
            provenance=Provenance.SYNCED,
            source=f"the feed at {self._feed.reader.server.shown}, read from {header.source}",
            gas_price_wei=header.gas_price_wei,
            block=header.block,
            timestamp=header.timestamp,
            transfers=self._parsed.transfers,
            pinned=header.pinned,
        )


def _token_addresses(documents: Iterable[object]) -> set[str]:
    """Return the tokens of pools, spelled as in the pools' documents."""
    listed = [document.get("tokens") for document in documents if isinstance(document, Mapping)]
    return {address for each in listed if isinstance(each, list) for address in each if isinstance(address, str)}
