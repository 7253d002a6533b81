"""Add discovered pools to a store, with their tokens, in their state at one block. Unusable pools are recorded with a
reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from swapcli.core.model.token import Token
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef, with_decimals
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.store import BlockWriter, SkippedEntry, Store
from swapcli.state.sync.skipped import skipped_known_pool, skipped_pool
from swapcli.state.tokens import load_tokens

_BATCH_SIZE = 250
"""Pools in memory at a time: the states of concentrated pools can be large."""


def add_pools(
    store: Store, writer: BlockWriter, reader: MulticallReader, refs: Iterable[PoolRef], known: Mapping[str, Token]
) -> list[str]:
    """Read and store the pools in `refs` that are not stored yet, and return their keys.

    `known` are tokens that need not be read from the node. Raises `UpstreamError`.
    """
    refs_by_key = {ref.key: ref for ref in refs}
    existing = store.inventory.existing_keys(refs_by_key)
    new = [ref for key, ref in refs_by_key.items() if key not in existing]
    tokens = _read_tokens(store, writer, reader, new, known)
    readable: list[PoolRef] = []
    for ref in new:
        completed = with_decimals(ref, tokens)
        if isinstance(completed, SkippedItem):
            is_lost = not reader.contracts_without_output.isdisjoint(ref.tokens)
            writer.record_skipped([skipped_pool(ref, completed.reason, is_lost=is_lost)])
        else:
            readable.append(completed)
    added: list[str] = []
    loaded = zip(readable, load_pools(reader, readable), strict=True)
    while batch := list(islice(loaded, _BATCH_SIZE)):
        pools = [pool for _, pool in batch if not isinstance(pool, SkippedItem)]
        for ref, item in batch:
            if isinstance(item, SkippedItem):
                is_lost = ref.address in reader.contracts_without_output or reader.has_later_answers
                writer.record_skipped([skipped_pool(ref, item.reason, is_lost=is_lost)])
        writer.put_tokens(tokens[address] for address in dict.fromkeys(each for pool in pools for each in pool.tokens))
        writer.put_pools(pools)
        added += [pool.key for pool in pools]
    return added


def _read_tokens(
    store: Store, writer: BlockWriter, reader: MulticallReader, refs: Sequence[PoolRef], known: Mapping[str, Token]
) -> dict[str, Token]:
    """Return the pools' tokens by address: known ones, stored ones, then those read from the node."""
    addresses = dict.fromkeys(address for ref in refs for address in ref.tokens)
    tokens = {
        **{address: known[address] for address in addresses if address in known},
        **store.inventory.tokens(addresses),
    }
    for loaded in load_tokens(reader, [address for address in addresses if address not in tokens]):
        if isinstance(loaded, Token):
            tokens[loaded.address] = loaded
        else:
            writer.record_skipped([SkippedEntry(*loaded)])
    return tokens


def drop_illiquid(store: Store, writer: BlockWriter, depth_usd: float, keys: Sequence[str] | None = None) -> list[str]:
    """Remove the pools (among `keys` if given) whose depth is below `depth_usd`, and return their keys.

    Without `keys`, tokens that no remaining pool trades are also removed. Nothing is removed if the store has no
    stablecoin, because depths are then not in dollars.
    """
    if depth_usd <= 0.0 or not store.inventory.tokens(store.network.stablecoins):
        return []
    if keys is None:
        writer.rebuild_ranking()
    else:
        writer.update_ranking()
    illiquid = store.inventory.pools_below_depth(depth_usd, keys)
    reason = f"its liquidity is below ${depth_usd:,.0f}"
    for first in range(0, len(illiquid), _BATCH_SIZE):
        batch = illiquid[first : first + _BATCH_SIZE]
        pools = store.read_pools(batch).pools.values()
        writer.record_skipped([skipped_known_pool(pool, store.network, reason) for pool in pools])
        writer.remove_pools(batch)
    if keys is None and illiquid:
        writer.remove_unused_tokens(store.network.wrapped_native_address)
        writer.rebuild_ranking()
    return illiquid
