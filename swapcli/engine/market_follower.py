"""Keeps what a service quotes on at the newest block: a store that is followed, and its deepest pools in memory.

The store is the one that `swapcli sync` fills; where there is none, one in a temporary folder, whose pools are those of
a market. Others may write to the store at the same time: what they wrote is taken over. A keeper, with all that it
opens, belongs to one thread; the sources that it gives belong to whoever takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from swapcli.chain.node import Node
from swapcli.engine.clock import Clock
from swapcli.engine.sources.in_memory import MarketSource
from swapcli.engine.sync import Progress, adopt, follow
from swapcli.errors import ConfigError, MarketError, MarketUnavailable
from swapcli.model.market import Market, Provenance
from swapcli.model.network import Network
from swapcli.model.pool import Pool
from swapcli.model.swap_terms import DEFAULT_ROUTE_TTL_S
from swapcli.model.token import Token
from swapcli.store import BlockMark, Store, create_store, open_store

MOST_POOLS = 5_000
"""Pools in memory. Quotes over more take long, and what is left out is thin."""
CHOSEN_ANEW_S = 300.0
"""How long the choice of the deepest pools holds."""


class Kept(NamedTuple):
    """What is to be kept of a network: the pools of the store at a path, or those of a market.

    Without a node, what others write to the store is taken over; a market needs one.
    """

    network: Network
    networks: Callable[[str], Network]
    pools: Path | Callable[[], Market]
    node: Node | None


@contextmanager
def open_keeper(
    kept: Kept,
    clock: Clock,
    told: Callable[[Progress], object],
    *,
    route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
    most_pools: int = MOST_POOLS,
) -> Iterator[Keeper]:
    """A keeper whose store has been filled; `told` hears how far that is. Raises `UpstreamError`, `ConfigError`,
    `MarketError`."""
    with ExitStack() as stack:
        store = _followable(kept, stack)
        if store is None:
            store = stack.enter_context(_private_store(kept))
            assert kept.node is not None
            for progress in adopt(store, kept.node, _begun_with(kept, most_pools)):
                told(progress)
        yield Keeper(store, kept.node, clock, route_ttl_s=route_ttl_s, most_pools=most_pools)


def _followable(kept: Kept, stack: ExitStack) -> Store | None:
    """The store, where there is one that blocks can follow, or nobody who could tell of blocks."""
    if not isinstance(kept.pools, Path):
        return None
    store = stack.enter_context(open_store(str(kept.pools), kept.networks, kept.network.name))
    return store if kept.node is None or store.market_of(()).provenance is Provenance.SYNCED else None


def _begun_with(kept: Kept, most_pools: int) -> Market:
    """The pools of a market, whatever their state."""
    if not isinstance(kept.pools, Path):
        return kept.pools()
    with open_store(str(kept.pools), kept.networks, kept.network.name) as store:
        return store.deepest(most_pools)


@contextmanager
def _private_store(kept: Kept) -> Iterator[Store]:
    with (
        TemporaryDirectory(prefix="swapcli-", ignore_cleanup_errors=True) as folder,
        create_store(str(Path(folder, "private.sqlite")), kept.network, kept.networks) as store,
    ):
        yield store


class _Held(NamedTuple):
    """What was given last, the block that it is at, and when its pools were chosen."""

    source: MarketSource
    head: BlockMark | None
    chosen_s: float


class Keeper:
    """What it gives is one whole block each."""

    def __init__(self, store: Store, node: Node | None, clock: Clock, *, route_ttl_s: int, most_pools: int) -> None:
        self._store, self._node, self._clock = store, node, clock
        self._route_ttl_s, self._most_pools = route_ttl_s, most_pools
        self._held: _Held | None = None

    def read(self) -> MarketSource:
        """What the store holds, however old. Raises `MarketError`, and `MarketUnavailable` where that is nothing."""
        with self._store.still():
            head, market = self._store.register.head(), self._store.deepest(self._most_pools)
        if not market.pools:
            raise MarketUnavailable(f"there are no pools of {market.network.name} to quote on yet")
        source = MarketSource(market, self._clock, route_ttl_s=self._route_ttl_s)
        return self._hold(source, head, self._clock.monotonic_s())

    def advance(self) -> MarketSource | None:
        """What the store holds once it is at the newest block; None where that is what was given before.

        Raises `UpstreamError`, `ConfigError`, `MarketError`.
        """
        held = self._held
        if held is None:
            return self.read()
        self._follow(held)
        with self._store.still():
            head = self._store.register.head()
            if head == held.head:
                return None
            changed = self._changed_since(held)
            part = None if changed is None else self._store.market_of(changed)
        if changed is None or part is None:
            return self.read()
        market = _replaced(held.source.market, part, changed, self._most_pools)
        return self._hold(held.source.moved(market, changed), head, held.chosen_s)

    def _follow(self, held: _Held) -> None:
        if self._node is None:
            return
        try:
            follow(self._store, self._node)
        except (ConfigError, MarketError):
            # Another process was faster, or is at it: what it wrote is as good.
            if self._store.register.head() == held.head:
                raise

    def _changed_since(self, held: _Held) -> frozenset[str] | None:
        """The pools to be read anew; None for all."""
        if held.head is None or self._clock.monotonic_s() - held.chosen_s > CHOSEN_ANEW_S:
            return None
        return self._store.register.changed_since(held.head)

    def _hold(self, source: MarketSource, head: BlockMark | None, chosen_s: float) -> MarketSource:
        source.warm()
        self._held = _Held(source, head, chosen_s)
        return source


def _replaced(held: Market, part: Market, changed: frozenset[str], most_pools: int) -> Market:
    """`held` at the block of `part`, which holds what is left of the pools that changed. A new pool is taken while
    there is room."""
    pools = {key: pool for key, pool in held.pools.items() if key not in changed or key in part.pools}
    for key, pool in part.pools.items():
        if key in pools or len(pools) < most_pools:
            pools[key] = pool
    return replace(
        part,
        pools=pools,
        tokens=_tokens(held, part, pools),
        placeholder_pools=held.placeholder_pools - changed,
        transfers={**held.transfers, **part.transfers},
    )


def _tokens(held: Market, part: Market, pools: Mapping[str, Pool]) -> Mapping[str, Token]:
    new = {address for key in part.pools if key in pools for address in pools[key].tokens} - held.tokens.keys()
    return {**held.tokens, **{address: part.tokens[address] for address in new}} if new else held.tokens
