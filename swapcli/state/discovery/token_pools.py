"""Find the pools of a few tokens for one quote, with their state, in few round trips.

As a sync with named tokens does, it asks each factory for the pairs (`pair_lookup`). Of factories that cannot be asked
so, it reads short lists, and the creation events of a chain that is short enough for one query. Longer ones are left to
a sync, and are named. Everything is of the reader's block. A node whose requests are spent ends it early: what was
found counts, and the next look-up continues there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

from swapcli.core.errors import RequestBudgetSpent, UpstreamError
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.calls import Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, in_lockstep, run_batched
from swapcli.families.reading.pool_readers import read_pool
from swapcli.families.reading.pool_ref import PoolRef, with_decimals
from swapcli.state.discovery.pair_lookup import (
    Pair,
    PairPools,
    PairQuery,
    can_be_queried,
    currencies_of,
    pair_reads,
    read_queries,
)
from swapcli.state.discovery.pool_discovery import (
    FactoryPools,
    creation_filter,
    find_factories,
    read_created_pool,
    read_list_entry,
    read_list_length,
)
from swapcli.state.rpc.log_scan import scan_first_range
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BudgetedNode, StateOverrideNode
from swapcli.state.tokens import read_token

_MAX_LISTED: Final = 200
"""Entries of a list that are read for a quote; each takes some calls. Chosen."""
_MIN_TOKENS: Final = 2
"""Of a pool, among those that are looked up: with fewer, no route leads through it."""


@dataclass
class LookedUpPools:
    """What a look-up has found. All is by address or key, and `tokens` are those that the chain describes.

    `pairs` are those that were looked up completely. `refs` are pools that were found and not read: the node's requests
    were spent. `queries` are the functions of factories, for later look-ups. `left_out` are the names of the protocols
    whose pools were not looked for. `more` are the results of further reads, and `without_code` the
    addresses of contracts that do not exist.
    """

    pools: dict[str, Pool] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    pairs: set[Pair] = field(default_factory=set)
    refs: dict[str, PoolRef] = field(default_factory=dict)
    queries: dict[str, tuple[PairQuery, ...]] = field(default_factory=dict)
    left_out: dict[str, None] = field(default_factory=dict)
    more: list[Any] = field(default_factory=list)
    without_code: dict[str, None] = field(default_factory=dict)


def pairs_among(tokens: Collection[str]) -> list[Pair]:
    """Return all pairs of tokens, by canonical address, in the order in which pools have them."""
    return list(combinations(sorted({*tokens} - {ZERO_ADDRESS}), 2))


def look_up_pools(
    reader: MulticallReader,
    network: Network,
    pairs: Sequence[Pair],
    known: Mapping[str, Token],
    *,
    queries: Mapping[str, Sequence[PairQuery]] | None = None,
    refs: Sequence[PoolRef] = (),
    more: Sequence[tuple[str, BatchRead[Any]]] = (),
) -> LookedUpPools:
    """Find the pools that trade one of these `pairs`, and read them and `refs`, which were found before.

    `known` are tokens by address that need not be read, and `queries` what an earlier look-up returned. The reads of
    `more` share the rounds. Raises `UpstreamError`, but not for spent requests, and `ConfigError` for an invalid
    definition.
    """
    return _TokenPoolLookup(reader, network, pairs, known, queries or {}, refs).run(more)


class _TokenPoolLookup:
    def __init__(
        self,
        reader: MulticallReader,
        network: Network,
        pairs: Sequence[Pair],
        known: Mapping[str, Token],
        queries: Mapping[str, Sequence[PairQuery]],
        refs: Sequence[PoolRef],
    ) -> None:
        self._reader, self._network, self._pairs, self._known, self._refs = reader, network, pairs, known, refs
        self._tokens = {token for pair in pairs for token in pair}
        self._found = LookedUpPools(queries={address: tuple(each) for address, each in queries.items()})

    def run(self, more: Sequence[tuple[str, BatchRead[Any]]]) -> LookedUpPools:
        found = self._found
        factories = find_factories(self._network)[0] if self._pairs else []
        try:
            lists = self._read_functions(factories)
            logs = self._read_events([each for each in factories if not _can_be_read(each)])
        except RequestBudgetSpent:
            return found
        reads = [(ref.key, self._load_all(ref)) for ref in self._refs]
        reads += self._pair_reads(factories)
        reads += [
            (f"{listing.factory.address} {n}", self._listed(listing, n))
            for listing in lists
            for n in range(listing.length)
        ]
        reads += [
            (f"event {log.log_index} of {log.block_number}", self._created(factory, log)) for factory, log in logs
        ]
        try:
            all_results: list[Any] = run_batched([*reads, *more], self._reader.call)
        except RequestBudgetSpent as error:
            all_results = [SkippedItem(key, error.message) for key, _ in (*reads, *more)]
        results, found.more = all_results[: len(reads)], all_results[len(reads) :]
        for result in results:
            for pool in () if isinstance(result, SkippedItem) else result:
                if isinstance(pool, Pool):
                    found.pools[pool.key] = pool
        self._mark_pairs(reads, results)
        return found

    def _read_functions(self, factories: Sequence[Factory]) -> list[FactoryPools]:
        """Find out how each factory is asked, and read the lengths of the lists of others, in one round."""
        queried = [each for each in factories if can_be_queried(each) and each.address not in self._found.queries]
        listed = [each for each in factories if not can_be_queried(each) and each.is_enumerable]
        reads: list[tuple[str, BatchRead[Sequence[PairQuery] | FactoryPools]]]
        reads = [(each.address, read_queries(each, self._pairs[0])) for each in queried]
        reads += [(each.address, read_list_length(each)) for each in listed]
        results = run_batched(reads, self._reader.call)
        lists = []
        self._find_missing_code(
            each for each, result in zip([*queried, *listed], results, strict=True) if isinstance(result, SkippedItem)
        )
        for factory, result in zip([*queried, *listed], results, strict=True):
            if isinstance(result, FactoryPools) and result.length <= _MAX_LISTED:
                lists.append(result)
            elif isinstance(result, (FactoryPools, SkippedItem)):
                self._leave_out(factory)
            else:
                self._found.queries[factory.address] = tuple(result)
        return lists

    def _find_missing_code(self, factories: Iterable[Factory]) -> None:
        """Take note of those of the factories, which do not answer, that have no code."""
        node = self._reader.node
        addresses = [factory.address for factory in factories]
        if self._reader.multicall_is_missing and self._network.multicall:
            addresses.append(self._network.multicall)
        if not isinstance(node, StateOverrideNode):
            return
        for address in addresses:
            if not node.read_account(address, self._reader.at).code:
                self._found.without_code[address] = None

    def _read_events(self, factories: Sequence[Factory]) -> list[tuple[Factory, Log]]:
        """Return the creation events of factories, each with its factory, if the chain is short."""
        query = creation_filter(factories, 0, self._reader.block)
        if query is None:
            return []
        node = self._reader.node
        logs: Sequence[Log] | None = None
        if self._reader.block < node.limits.log_blocks.size:
            try:
                scanned = scan_first_range(node, query, at=self._reader.at)
                logs = scanned.logs if scanned.last == self._reader.block else None
            except RequestBudgetSpent:
                raise
            except UpstreamError:
                logs = None
        if logs is None or len(logs) > _MAX_LISTED:
            for factory in factories:
                self._leave_out(factory)
            return []
        by_address = {factory.address: factory for factory in factories}
        return [(by_address[log.address], log) for log in logs if log.address in by_address]

    def _leave_out(self, factory: Factory) -> None:
        self._found.left_out.update(dict.fromkeys(protocol.display_name for protocol in factory.all_protocols))

    def _pair_reads(self, factories: Sequence[Factory]) -> Iterator[tuple[str, BatchRead[list[Pool | SkippedItem]]]]:
        by_address = {each.address: each for each in factories}
        # What is remembered has the fees and the functions; everything else may have changed with the definition.
        queries = [
            query._replace(factory=by_address[address]._replace(fee_ppm=query.factory.fee_ppm))
            for address, each in self._found.queries.items()
            if address in by_address
            for query in each
        ]
        currencies = list(currencies_of(self._pairs, self._network.wrapped_native_address))
        for key, read in pair_reads(queries, currencies):
            yield key, self._loaded(read)

    def _loaded(self, read: PairPools) -> BatchRead[list[Pool | SkippedItem]]:
        """Read the pools that a read finds, each apart from the others."""
        refs = yield from read
        self._found.refs.update((ref.key, ref) for ref in refs)
        return (yield from in_lockstep([(ref.key, self._load(ref)) for ref in refs]))

    def _load_all(self, ref: PoolRef) -> BatchRead[list[Pool | SkippedItem]]:
        self._found.refs[ref.key] = ref
        return [(yield from self._load(ref))]

    def _listed(self, listing: FactoryPools, number: int) -> BatchRead[list[Pool | SkippedItem]]:
        return (yield from self._wanted((yield from read_list_entry(listing, number))))

    def _created(self, factory: Factory, log: Log) -> BatchRead[list[Pool | SkippedItem]]:
        ref = yield from read_created_pool(factory, log, self._network.wrapped_native_address)
        return (yield from self._wanted(ref))

    def _wanted(self, ref: PoolRef) -> BatchRead[list[Pool | SkippedItem]]:
        if len(self._tokens.intersection(ref.tokens)) < _MIN_TOKENS:
            return []
        return (yield from self._load_all(ref))

    def _load(self, ref: PoolRef) -> BatchRead[Pool]:
        """Read a pool, and before it those of its tokens that are not known."""
        tokens = {address: self._known[address] for address in ref.tokens if address in self._known}
        missing = [address for address in ref.tokens if address not in tokens]
        if missing:
            described = yield from in_lockstep([(address, read_token(address)) for address in missing])
            tokens |= {token.address: token for token in described if isinstance(token, Token)}
        completed = with_decimals(ref, tokens)
        if isinstance(completed, SkippedItem):
            raise invalid_response(*completed)
        pool = yield from read_pool(completed)
        self._found.tokens.update((address, tokens[address]) for address in missing)
        del self._found.refs[ref.key]
        return pool

    def _mark_pairs(
        self, reads: Sequence[tuple[str, object]], results: Sequence[Sequence[Pool | SkippedItem] | SkippedItem]
    ) -> None:
        """Take note of the pairs that were looked up. A pool that cannot be read is forgotten, unless requests lack."""
        node = self._reader.node
        found = self._found
        if not isinstance(node, BudgetedNode) or node.requests_left > 0:
            found.pairs, found.refs = {*self._pairs}, {}
            return
        unread: set[Pair] = set()
        for (key, _), result in zip(reads, results, strict=True):
            if isinstance(result, SkippedItem) and result.key not in found.refs:
                tokens = [self._network.to_wrapped(each) for each in key.split()[1:]]
                named = tuple(sorted(tokens)) if len(tokens) == _MIN_TOKENS else ()
                unread |= {pair for pair in self._pairs if pair == named} if named else {*self._pairs}
        found.pairs = {*self._pairs} - unread


def _can_be_read(factory: Factory) -> bool:
    """Return whether the pools of a factory are found without events."""
    return can_be_queried(factory) or factory.is_enumerable
