"""Fills a store, and brings it to the newest block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from swapcli.chain.log_scan import FIRST_SPAN
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import Node
from swapcli.chain.pool_ref import ref_of_pool
from swapcli.engine.clock import Clock
from swapcli.engine.sync.advance import Hunt, Step, take_step
from swapcli.engine.sync.chain_position import Footing
from swapcli.engine.sync.cursor import NOTHING, Search, begin, search_of
from swapcli.engine.sync.discover import Found, Stage, find_more
from swapcli.engine.sync.sync_filter import Progress, Wanted
from swapcli.errors import ConfigError, StaleNode
from swapcli.model.market import Market
from swapcli.store import Store

_PORTION = 500
_SMALLEST_PORTION, _LEAST_PORTION, _MOST_PORTION = 10, 50, 2_000
_SHORT_S, _LONG_S = 0.5, 2.0
"""A portion is what a kill costs, and what progress waits for."""


def sync(
    store: Store, node: Node, wanted: Wanted, clock: Clock, *, portion: int = _PORTION, may_lose: bool = False
) -> Iterator[Progress]:
    """Fill a store with what is wanted, and bring it to the newest block; whoever stops goes on where it stopped.

    Each progress is one committed transaction, the first of about `portion` pools. Pools that are held already stay,
    wanted or not; with `may_lose` it takes out however many of them the node no longer tells. Raises `UpstreamError`,
    and `ConfigError` where another process is writing to the store.
    """
    size, span, has_begun, hunts = portion, FIRST_SPAN, False, 0

    def hunt(view: BlockReader, footing: Footing) -> Found:
        nonlocal size, hunts
        hunts += 1
        if hunts > 1:  # a shorter step rather fits between two blocks, or two turns of the chain
            size = max(size // 2, min(size, _SMALLEST_PORTION))
        is_begun = has_begun and footing.rewound_to is None
        search = search_of(store) if is_begun else begin(store, wanted, view.block)
        if search is None or search.wanted != wanted:
            raise _disturbed(store)
        return find_more(store, view, search.anew() if footing.is_lost else search, size, span)

    is_all = False
    while not is_all:
        started_s, hunts = clock.monotonic_s(), 0
        step = _taken(store, node, hunt, may_lose)
        has_begun, span, is_all = True, step.found.span, step.found.is_all
        took_s = clock.monotonic_s() - started_s
        if took_s > _LONG_S:
            size = max(size // 2, min(size, _LEAST_PORTION))
        elif took_s < _SHORT_S:
            size = min(2 * size, _MOST_PORTION)
        yield _progress(store, step)


def adopt(store: Store, node: Node, market: Market, *, portion: int = _PORTION) -> Iterator[Progress]:
    """Fill an empty store with those pools of a market that are not invented, as the node tells them now.

    Whoever stops goes on where it stopped, with the same market. Raises as `sync`, and `ConfigError` for a store that
    something else has filled.
    """
    search = search_of(store)
    if store.register.counts()[0] if search is None else search.wanted != NOTHING:
        raise ConfigError(
            f"the store {store.path} holds another market already",
            hint="name another file",
            details={"store": store.path},
        )
    places = [
        place
        for key, pool in market.pools.items()
        if key not in market.placeholder_pools and (place := ref_of_pool(pool))
    ]

    def hunt(view: BlockReader, footing: Footing) -> Found:
        del view, footing
        search = search_of(store) or Search(NOTHING, is_judged=True)
        last = min(search.adopted + portion, len(places))
        return Found(
            replace(search, adopted=last),
            places[search.adopted : last],
            tokens=market.tokens,
            stage=Stage("pools of the market", last, len(places)),
            is_all=last == len(places),
        )

    is_all = False
    while not is_all:
        step = _taken(store, node, hunt)
        is_all = step.found.is_all
        yield _progress(store, step)


def _taken(store: Store, node: Node, hunt: Hunt, may_lose: bool = False) -> Step:
    step = take_step(store, node, hunt, at_rest=True, may_lose=may_lose)
    if step is None:
        raise StaleNode(
            f"{node.shown} is behind the store {store.path}",
            hint="wait until the node has caught up, or set another node",
        )
    return step


def _progress(store: Store, step: Step) -> Progress:
    number = step.advance.block.number
    phase, done, total = step.found.stage or Stage("blocks", number, number)
    pools, tokens = store.register.counts()
    return Progress(phase, done, total, number, pools, tokens)


def _disturbed(store: Store) -> ConfigError:
    return ConfigError(
        f"another process has begun to sync something else into the store {store.path}",
        hint="wait until that one has finished, or name another file",
        details={"store": store.path},
    )
