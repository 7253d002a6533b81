"""Puts pools that were found into a store, with their tokens, as they are at one block; whatever cannot be used is
left out with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from swapcli.chain.batch_read import SkippedItem
from swapcli.chain.loaders import load_pools
from swapcli.chain.multicall import BlockReader
from swapcli.chain.pool_discovery import with_decimals
from swapcli.chain.pool_ref import PoolRef
from swapcli.chain.tokens import load_tokens
from swapcli.engine.sync.skipped import left_at, left_pool
from swapcli.model.token import Token
from swapcli.store import BlockWriter, LeftOut, Store

_PORTION = 250


def add_pools(
    store: Store, writer: BlockWriter, view: BlockReader, places: Iterable[PoolRef], known: Mapping[str, Token]
) -> list[str]:
    """The keys of the pools that were added: of places that are not held yet. `known` are tokens that need no asking.

    Raises `UpstreamError`.
    """
    of_key = {place.key: place for place in places}
    held = store.register.held(of_key)
    new = [place for key, place in of_key.items() if key not in held]
    tokens = _tokens_of(store, writer, view, new, known)
    whole: list[PoolRef] = []
    for place in new:
        done = with_decimals(place, tokens)
        if isinstance(done, SkippedItem):
            is_lost = not view.contracts_without_output.isdisjoint(place.tokens)
            writer.leave_out([left_at(place, done.reason, is_lost=is_lost)])
        else:
            whole.append(done)
    added: list[str] = []
    read = zip(whole, load_pools(view, whole), strict=True)
    while portion := list(islice(read, _PORTION)):
        pools = [pool for _, pool in portion if not isinstance(pool, SkippedItem)]
        writer.leave_out(
            left_at(
                place, pool.reason, is_lost=place.address in view.contracts_without_output or view.has_later_answers
            )
            for place, pool in portion
            if isinstance(pool, SkippedItem)
        )
        writer.put_tokens(tokens[address] for address in dict.fromkeys(each for pool in pools for each in pool.tokens))
        writer.put_pools(pools)
        added += [pool.key for pool in pools]
    return added


def _tokens_of(
    store: Store, writer: BlockWriter, view: BlockReader, places: Sequence[PoolRef], known: Mapping[str, Token]
) -> dict[str, Token]:
    addresses = dict.fromkeys(address for place in places for address in place.tokens)
    tokens = {
        **{address: known[address] for address in addresses if address in known},
        **store.register.tokens(addresses),
    }
    for each in load_tokens(view, [address for address in addresses if address not in tokens]):
        if isinstance(each, Token):
            tokens[each.address] = each
        else:
            writer.leave_out([LeftOut(*each)])
    return tokens


def take_out_thin(store: Store, writer: BlockWriter, depth_usd: float, among: Sequence[str] | None = None) -> list[str]:
    """Take out pools (of these) that are less deep, and tell which; of all pools, also the tokens that no other holds.

    Where the store knows no dollar, no pool is thin.
    """
    if depth_usd <= 0.0 or not store.register.tokens(store.network.stablecoins):
        return []
    if among is None:
        writer.rank()
    else:
        writer.finish()
    thin = store.register.thinner_than(depth_usd, among)
    for first in range(0, len(thin), _PORTION):
        portion = thin[first : first + _PORTION]
        pools = store.market_of(portion).pools.values()
        writer.leave_out([left_pool(pool, f"less than {depth_usd:,.0f} dollars deep") for pool in pools])
        writer.remove(portion)
    if among is None and thin:
        writer.drop_idle_tokens(store.network.wrapped_native_address)
        writer.rank()
    return thin
