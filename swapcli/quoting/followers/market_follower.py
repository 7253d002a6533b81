"""Keep the markets of a service at the latest block: follow a store, and keep its deepest pools in memory.

The store is the one that `swapcli sync` fills. If there is none, a store in memory is filled with a market's pools.
While a store's disk is not writable, a copy of the store in memory follows the chain. Other processes may write to the
store at the same time, and their blocks are read too. Use a follower, and everything it opens, from one thread. The
sources it returns may be used from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from swapcli.core.errors import ConfigError, MarketError, MarketUnavailable, UpstreamError
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.swap_terms import DEFAULT_ROUTE_TTL_S
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.families.sampled.sampled import sampled_pools
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.token_checks import TokenChecks, compare_listed_tokens
from swapcli.state.clock import Clock
from swapcli.state.rpc.head_source import HeadSource
from swapcli.state.rpc.node import ChainHead, KnowsTime, Node
from swapcli.state.snapshot_reader import BlockSnapshot
from swapcli.state.store import IN_MEMORY, Store, StoredBlock, create_store, open_store
from swapcli.state.sync import ChainFollower, DiskReport, Progress, import_pools

MAX_POOLS = 5_000
"""Maximum number of pools in memory. Quotes over more pools take long, and the other pools are illiquid."""
MAX_SAMPLED_POOLS = 32
"""Maximum number of pools to sample at each block. Each needs one node call, which contains fifty quotes."""
RESELECT_AFTER_S = 300.0
"""Time after which the deepest pools are selected again."""


class FollowedStore(NamedTuple):
    """A network's store, and the node that it follows. Without a node, only other processes write to the store.

    `heads` tells when to look for a new block, and None means polling. If the store `is_read_only`, a `StoreWriter` in
    another process writes the blocks. A read-only store may not exist yet, and its node is used only to name the router
    and to sample pools.
    """

    network: Network
    networks: Callable[[str], Network]
    path: Path
    node: Node | None
    heads: HeadSource | None = None
    is_read_only: bool = False


class FollowedMarket(NamedTuple):
    """A market whose pools are read from a node into a store of this process. `heads` is the same as in
    `FollowedStore`."""

    network: Network
    networks: Callable[[str], Network]
    load: Callable[[], MarketState]
    node: Node
    heads: HeadSource | None = None


Followed = FollowedStore | FollowedMarket


@contextmanager
def open_follower(
    followed: Followed,
    clock: Clock,
    on_progress: Callable[[Progress], object],
    *,
    on_disk: DiskReport = lambda *_: None,
    route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
    max_pools: int = MAX_POOLS,
) -> Iterator[MarketFollower]:
    """Open a follower when its store has been filled. Until then, `on_progress` is called.

    `on_disk` receives errors from writing the store.

    Raises `UpstreamError`, `ConfigError`, `MarketError`.
    """
    with ExitStack() as stack:
        path = find_own_store(followed)
        if path is None:
            store = stack.enter_context(create_store(IN_MEMORY, followed.network, followed.networks))
            _fill_private_store(followed, store, on_progress, max_pools)
        else:
            store = stack.enter_context(open_store(str(path), followed.networks, followed.network.name))
        is_reader = isinstance(followed, FollowedStore) and followed.is_read_only
        chain = None if is_reader or followed.node is None else ChainFollower(store, followed.node, on_disk)
        times = followed.heads if chain is None else followed.node
        yield MarketFollower(
            store,
            followed.node,
            clock,
            chain=chain,
            route_ttl_s=route_ttl_s,
            max_pools=max_pools,
            times=times if isinstance(times, KnowsTime) else None,
        )


@contextmanager
def open_store_writer(
    followed: Followed,
    path: Path,
    copy_path: Path,
    on_progress: Callable[[Progress], object],
    on_disk: DiskReport,
    *,
    max_pools: int = MAX_POOLS,
) -> Iterator[StoreWriter]:
    """Open the writer of the store at `path`. This is the market's own store, or a private store, which exists only
    once it has been filled.

    While the disk is not writable, the store is at `copy_path`. Raises the same errors as `open_follower`.
    """
    assert followed.node is not None
    if not (isinstance(followed, FollowedStore) and path == followed.path) and not path.exists():
        part = path.with_suffix(".part")
        with create_store(str(part), followed.network, followed.networks) as store:
            _fill_private_store(followed, store, on_progress, max_pools)
        part.replace(path)
    with open_store(str(path), followed.networks, followed.network.name) as store:
        if copy_path.exists():  # left over from a killed writer
            store.leave_disk(str(copy_path))
        yield StoreWriter(store, ChainFollower(store, followed.node, on_disk, str(copy_path)))


def find_own_store(followed: Followed) -> Path | None:
    """Return the store that can follow the node, or None if a private store has to be created.

    Raises `ConfigError` and `MarketError`.
    """
    if not isinstance(followed, FollowedStore):
        return None
    if followed.node is None or followed.is_read_only:
        return followed.path
    with open_store(str(followed.path), followed.networks, followed.network.name) as store:
        # An imported market has no block after which to follow the chain.
        return followed.path if store.read_pools(()).provenance is Provenance.SYNCED else None


def read_stored_market(followed: FollowedStore, max_pools: int = MAX_POOLS) -> MarketState:
    """Return the market of the store's deepest pools, in the stored state. Raises `ConfigError` and `MarketError`."""
    with open_store(str(followed.path), followed.networks, followed.network.name) as store:
        return store.read_deepest(max_pools)


def _fill_private_store(
    followed: Followed, store: Store, on_progress: Callable[[Progress], object], max_pools: int
) -> None:
    """Fill a store with a market's pools, as read from the node. An interrupted call is resumed."""
    assert followed.node is not None
    market = read_stored_market(followed, max_pools) if isinstance(followed, FollowedStore) else followed.load()
    wrong = compare_listed_tokens(
        followed.node, followed.network, TokenChecks(followed.network), market.tokens.values()
    )
    if wrong:
        pools = {key: pool for key, pool in market.pools.items() if wrong.isdisjoint(pool.tokens)}
        market = market._replace(pools=pools)
    for progress in import_pools(store, followed.node, market):
        on_progress(progress)


class StoreWriter:
    """A writer that updates a store to its node's latest block, for followers in other processes."""

    def __init__(self, store: Store, chain: ChainFollower) -> None:
        self._store, self._chain = store, chain
        self._head: StoredBlock | None = None

    @property
    def path(self) -> str:
        """The path of the store, or of its copy in memory."""
        return self._store.path

    def read(self) -> StoredBlock | None:
        """Return the store's block. Raises `MarketError`."""
        self._head = self._store.inventory.head()
        return self._head

    def advance(self) -> StoredBlock | None:
        """Update the store to the latest block and return it, or None if it has not changed since the last call.

        Raises `UpstreamError`, `ConfigError`, `MarketError`.
        """
        before = self._head
        _follow(self._store, self._chain, before)
        head = self.read()
        return None if head == before else head


def _follow(store: Store, chain: ChainFollower, head: StoredBlock | None) -> None:
    """Bring a store to the latest block. `head` is the head last read from it."""
    try:
        chain.follow()
    except (ConfigError, MarketError):
        # Another process may have written the block first; that block is just as good.
        if store.inventory.head() == head:
            raise


class _Latest(NamedTuple):
    """The source returned last, its block, and the time at which its pools were selected.

    `has_router` is false if the registry of the network's router has not been read."""

    source: InMemorySource
    head: StoredBlock | None
    selected_s: float
    has_router: bool


class MarketFollower:
    """A follower of a store. It returns sources of quotes, each at one complete block.

    `chain` updates the store to new blocks. Without it, another process does. `times` detects a wrong clock.
    """

    def __init__(
        self,
        store: Store,
        node: Node | None,
        clock: Clock,
        *,
        chain: ChainFollower | None,
        route_ttl_s: int,
        max_pools: int,
        times: KnowsTime | None = None,
    ) -> None:
        self._store, self._node, self._clock, self._times = store, node, clock, times
        self._chain, self._route_ttl_s, self._max_pools = chain, route_ttl_s, max_pools
        self._latest: _Latest | None = None

    def read(self) -> InMemorySource:
        """Return the store's market, regardless of its age. Raises `MarketError`, and `MarketUnavailable` if it has no
        pools."""
        head, market = self._read_deepest()
        has_router = True
        try:
            market = self._with_router(market)
        except UpstreamError:  # quotes need no router, which `advance` reads later
            has_router = False
        market = self._with_clock(market)
        return self._set_latest(_Latest(self._new_source(market), head, self._clock.monotonic_s(), has_router))

    def advance(self) -> InMemorySource | None:
        """Update the store to the latest block and return its market, or None if it has not changed since the last
        call.

        Raises `UpstreamError`, `ConfigError`, `MarketError`.
        """
        latest = self._latest
        if latest is None:
            return self.read()
        if self._chain is not None:
            _follow(self._store, self._chain, latest.head)
        with self._store.snapshot():
            head = self._store.inventory.head()
            if head == latest.head and latest.has_router:
                return None
            changed = self._changed_since(latest)
            part = None if changed is None else self._store.read_pools(changed)
        if changed is None or part is None:
            head, market = self._read_deepest()
            market = self._with_clock(self._with_samples(self._with_router(market), head))
            source, selected_s = self._new_source(market), self._clock.monotonic_s()
        else:
            market = self._with_router(_with_changes(latest.source.market, part, changed, self._max_pools))
            market = self._with_clock(self._with_samples(market, head))
            changed |= frozenset(key for key, pool in market.pools.items() if pool.is_sampled)
            source, selected_s = latest.source.with_changes(market, changed), latest.selected_s
        return self._set_latest(_Latest(source, head, selected_s, has_router=True))

    def _with_clock(self, market: MarketState) -> MarketState:
        """Return the market with the clock error that nodes have revealed."""
        return market._replace(clock_offset_s=round(self._times.clock_offset_s)) if self._times else market

    def _read_deepest(self) -> tuple[StoredBlock | None, MarketState]:
        with self._store.snapshot():
            head, market = self._store.inventory.head(), self._store.read_deepest(self._max_pools)
        if not market.pools:
            raise MarketUnavailable(f"no pools of {market.network.name} have been read yet")
        return head, market

    def _with_router(self, market: MarketState) -> MarketState:
        """Return the market with the router that the network's registry, if any, names at the latest block."""
        if self._node is None or market.network.router_registry is None:
            return market
        snapshot = BlockSnapshot(self._node, market.network, self._node.read_head(), self._clock.monotonic_s())
        return market._replace(network=snapshot.with_router(market.network))

    def _with_samples(self, market: MarketState, head: StoredBlock | None) -> MarketState:
        """Return the market with samples of the first of its sampled pools at its block; the others cannot trade.

        If the node cannot sample them, none of them can trade.
        """
        pools = sampled_pools(market.pools.values())
        if not pools:
            return market
        found: Mapping[str, Pool | None] = {}
        if self._node is not None and head is not None:
            try:
                block = self._node.read_block(head.number)
                if block is not None and block.hash == head.hash:
                    chain_head = ChainHead(block, market.gas_price_wei)
                    snapshot = BlockSnapshot(self._node, market.network, chain_head, self._clock.monotonic_s())
                    snapshot.read(pools[:MAX_SAMPLED_POOLS])
                    found = snapshot.pools
            except UpstreamError:
                pass
        sampled = {pool.key: found.get(pool.key) or pool.without_samples() for pool in pools}
        return market._replace(pools={key: sampled.get(key, pool) for key, pool in market.pools.items()})

    def _new_source(self, market: MarketState) -> InMemorySource:
        return InMemorySource(market, self._clock, route_ttl_s=self._route_ttl_s)

    def _changed_since(self, latest: _Latest) -> frozenset[str] | None:
        """Return the keys of the pools to read; None for all."""
        if latest.head is None or self._clock.monotonic_s() - latest.selected_s > RESELECT_AFTER_S:
            return None
        return self._store.inventory.changed_since(latest.head)

    def _set_latest(self, latest: _Latest) -> InMemorySource:
        latest.source.searchable.router.index.warm()
        self._latest = latest
        return latest.source


def _with_changes(market: MarketState, part: MarketState, changed: frozenset[str], max_pools: int) -> MarketState:
    """Return `market` at the block of `part`, which contains those `changed` pools that still exist.

    A new pool is added if there is room.
    """
    pools = {key: pool for key, pool in market.pools.items() if key not in changed or key in part.pools}
    for key, pool in part.pools.items():
        if key in pools or len(pools) < max_pools:
            pools[key] = pool
    return part._replace(
        pools=pools,
        tokens=_with_new_tokens(market, part, pools),
        placeholder_pools=market.placeholder_pools - changed,
        transfers={**market.transfers, **part.transfers},
    )


def _with_new_tokens(market: MarketState, part: MarketState, pools: Mapping[str, Pool]) -> Mapping[str, Token]:
    new = {address for key in part.pools if key in pools for address in pools[key].tokens} - market.tokens.keys()
    return {**market.tokens, **{address: part.tokens[address] for address in new}} if new else market.tokens
