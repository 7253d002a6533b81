"""Fills a store."""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.chain.discovery import Home, Listing, completed, find_listed, homes, lists_of
from swapcli.chain.loaders import load_pools
from swapcli.chain.multicall import View
from swapcli.chain.node import Head, Node
from swapcli.chain.place import Place
from swapcli.chain.tokens import load_tokens
from swapcli.engine.clock import Clock
from swapcli.engine.sync.wanted import Progress, Wanted
from swapcli.model.market import Market
from swapcli.model.pool import Pool
from swapcli.model.token import Token
from swapcli.store import Store

_PORTION = 500


def sync(store: Store, node: Node, wanted: Wanted, clock: Clock) -> Iterator[Progress]:
    """Fill a store with what is wanted, and bring it to the newest block; whoever stops goes on where it stopped.

    Each progress is one committed transaction. Raises `UpstreamError`, and `ConfigError` where another process is
    writing to the store.
    """
    del clock
    head = node.head()
    view = View(node, head.block, store.network.multicall)
    found, _ = homes(store.network, None if wanted.protocols is None else sorted(wanted.protocols))
    for home in found:
        if home.is_listed:
            yield from _listed(store, view, head, home)


def adopt(store: Store, node: Node, market: Market) -> Iterator[Progress]:
    """Fill an empty store with those pools of a market that are not invented, as the node tells them now.

    Raises as `sync`.
    """
    raise NotImplementedError


def _listed(store: Store, view: View, head: Head, home: Home) -> Iterator[Progress]:
    assert home.protocol is not None
    (listing,) = lists_of(view, [home])
    if not isinstance(listing, Listing):
        return
    count = listing.length
    for first in range(0, count, _PORTION):
        last = min(first + _PORTION, count)
        places = [each for each in find_listed(view, listing, first, last) if isinstance(each, Place)]
        _write(store, view, head, places)
        summary = store.summary()
        phase = f"{home.protocol.display_name} pairs"
        yield Progress(phase, last, count, head.block.number, summary.pools, summary.tokens)


def _write(store: Store, view: View, head: Head, places: list[Place]) -> None:
    addresses = list(dict.fromkeys(address for place in places for address in place.tokens))
    tokens = {token.address: token for token in load_tokens(view, addresses) if isinstance(token, Token)}
    whole = [each for place in places if isinstance(each := completed(place, tokens), Place)]
    with store.block(head.block.number, head.block.hash, head.block.timestamp) as writer:
        writer.put_tokens(tokens.values())
        writer.put_pools(pool for pool in load_pools(view, whole) if isinstance(pool, Pool))
        writer.describe(source=view.node.shown, gas_price_wei=head.gas_price_wei)
