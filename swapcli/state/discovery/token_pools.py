"""Find the pools of a few tokens for one quote, with their state, in few round trips.

Like a sync with named tokens, it queries each factory for the pairs (`pair_lookup`). For other factories, it reads
short lists, searches Curve's long lists, and reads creation events if the chain is short enough for one query. It names
the remaining factories, whose pools only a sync finds. Everything is read at the reader's block. When a node's requests
are spent, the look-up ends early with the pools found so far, and the next one continues there.
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
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, in_lockstep, run_batched
from swapcli.families.reading.pool_readers import pool_reader, read_pool
from swapcli.families.reading.pool_ref import PoolRef, with_decimals
from swapcli.state.discovery.pair_lookup import (
    Pair,
    PairPools,
    PairQuery,
    can_be_queried,
    can_be_searched,
    currencies_of,
    pair_reads,
    read_pools_in_list,
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
"""Entries of a list that are read for a quote; each takes a few calls. Chosen."""
_MIN_TOKENS: Final = 2
"""Minimum number of a pool's tokens among those looked up: with fewer, no route leads through it."""


@dataclass
class LookedUpPools:
    """The results of a look-up, by address or key. `tokens` are described by their contracts.

    `pairs` were looked up completely. `refs` are pools that were found but not read, because the node's requests were
    spent. `queries` are the functions of factories, for later look-ups. `left_out` names the protocols whose pools were
    not looked up. `more` has the results of the additional reads, and `without_code` the addresses at which there is no
    contract.
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
    """Return all pairs among `tokens`, as canonical addresses in the order in which pools list their tokens."""
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
    reserve: int = 0,
) -> LookedUpPools:
    """Find the pools that trade one of `pairs`, and read their state. Also read the pools in `refs`, which were found
    earlier.

    `known` are the tokens that need not be read, by address. `queries` are the result of an earlier look-up. The reads
    in `more` share the rounds. If the number of requests is limited, `reserve` requests are left for the caller. Raises
    `UpstreamError`, but not for spent requests, and `ConfigError` for an invalid definition.
    """
    return _TokenPoolLookup(reader, network, pairs, known, queries or {}, refs, reserve).run(more)


class _Lookup(NamedTuple):
    """A read that finds pools: those of a `pair`, or any pools if that is None."""

    key: str
    pair: Pair | None
    find: PairPools


class _TokenPoolLookup:
    def __init__(
        self,
        reader: MulticallReader,
        network: Network,
        pairs: Sequence[Pair],
        known: Mapping[str, Token],
        queries: Mapping[str, Sequence[PairQuery]],
        refs: Sequence[PoolRef],
        reserve: int,
    ) -> None:
        self._reserve, self._settled = reserve, set[int]()
        self._reader, self._network, self._pairs, self._known, self._refs = reader, network, pairs, known, refs
        self._tokens = {token for pair in pairs for token in pair}
        self._found = LookedUpPools(queries={address: tuple(each) for address, each in queries.items()})

    def run(self, more: Sequence[tuple[str, BatchRead[Any]]]) -> LookedUpPools:
        found = self._found
        factories = find_factories(self._network)[0] if self._pairs else []
        try:
            lists, searched = self._read_functions(factories)
            logs = self._read_events([each for each in factories if not _can_be_read(each)])
        except RequestBudgetSpent:
            return found
        lookups = [*self._pair_lookups(factories, searched), *self._list_lookups(lists, logs)]
        reads = [(ref.key, self._load_found(ref)) for ref in self._refs]
        reads += [(each.key, self._loaded(number, each.find)) for number, each in enumerate(lookups)]
        try:
            results: list[Any] = run_batched([*reads, *more], self._send)
        except RequestBudgetSpent as error:
            results = [SkippedItem(key, error.message) for key, _ in (*reads, *more)]
        found.more = results[len(reads) :]
        for result in results[: len(reads)]:
            for pool in () if isinstance(result, SkippedItem) else result:
                if isinstance(pool, Pool):
                    found.pools[pool.key] = pool
        self._mark_pairs(lookups)
        return found

    def _send(self, calls: Sequence[ContractCall]) -> Sequence[ReturnData]:
        """Make calls, as long as more requests are left than the quote itself needs."""
        if self._is_spent:
            raise RequestBudgetSpent("the request limit leaves no requests for looking up pools")
        return self._reader.call(calls)

    @property
    def _is_spent(self) -> bool:
        node = self._reader.node
        return isinstance(node, BudgetedNode) and node.requests_left <= self._reserve

    def _read_functions(self, factories: Sequence[Factory]) -> tuple[list[FactoryPools], list[Factory]]:
        """Find out how to query each factory, and read the lengths of the others' lists, in one round.

        Returns the short lists, and the factories whose long lists are searched.
        """
        queried = [each for each in factories if can_be_queried(each) and each.address not in self._found.queries]
        listed = [each for each in factories if not can_be_queried(each) and each.is_enumerable]
        reads: list[tuple[str, BatchRead[Sequence[PairQuery] | FactoryPools]]]
        reads = [(each.address, read_queries(each, self._pairs[0])) for each in queried]
        reads += [(each.address, read_list_length(each)) for each in listed]
        results = run_batched(reads, self._send)
        lists, searched = [], []
        self._find_missing_code(
            each for each, result in zip([*queried, *listed], results, strict=True) if isinstance(result, SkippedItem)
        )
        for factory, result in zip([*queried, *listed], results, strict=True):
            if isinstance(result, FactoryPools) and result.length <= _MAX_LISTED:
                lists.append(result)
            elif isinstance(result, FactoryPools) and can_be_searched(factory):
                searched.append(factory)
            elif isinstance(result, (FactoryPools, SkippedItem)):
                self._leave_out(factory)
            else:
                self._found.queries[factory.address] = tuple(result)
        return lists, searched

    def _find_missing_code(self, factories: Iterable[Factory]) -> None:
        """Note which of the factories that do not respond have no code."""
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

    def _pair_lookups(self, factories: Sequence[Factory], searched: Sequence[Factory]) -> Iterator[_Lookup]:
        by_address = {each.address: each for each in factories}
        # The remembered queries contain the fees and the functions; everything else may have changed with the
        # definition.
        queries = [
            query._replace(factory=by_address[address]._replace(fee_ppm=query.factory.fee_ppm))
            for address, each in self._found.queries.items()
            if address in by_address
            for query in each
        ]
        for pair in self._pairs:
            for key, read in pair_reads(queries, list(currencies_of([pair], self._network.wrapped_native_address))):
                yield _Lookup(key, pair, read)
            for factory in searched:
                yield _Lookup(f"{factory.address} {' '.join(pair)}", pair, _search(factory, pair))

    def _list_lookups(self, lists: Sequence[FactoryPools], logs: Sequence[tuple[Factory, Log]]) -> Iterator[_Lookup]:
        for listing in lists:
            for n in range(listing.length):
                yield _Lookup(f"{listing.factory.address} {n}", None, _alone(read_list_entry(listing, n)))
        wrapped = self._network.wrapped_native_address
        for factory, log in logs:
            key = f"event {log.log_index} of block {log.block_number}"
            yield _Lookup(key, None, _alone(read_created_pool(factory, log, wrapped)))

    def _loaded(self, number: int, find: PairPools) -> BatchRead[list[Pool | SkippedItem]]:
        """Read the pools found by the look-up with this number, each in a separate read."""
        refs = yield from find
        self._settled.add(number)
        new = []
        for ref in refs:
            is_known = ref.key in self._found.refs or ref.key in self._found.pools  # found by another of its pairs
            if not is_known and len(self._tokens.intersection(ref.tokens)) >= _MIN_TOKENS:
                self._found.refs[ref.key] = ref
                new.append(ref)
        return (yield from in_lockstep([(ref.key, self._load(ref)) for ref in new]))

    def _load_found(self, ref: PoolRef) -> BatchRead[list[Pool | SkippedItem]]:
        self._found.refs[ref.key] = ref
        return [(yield from self._load(ref))]

    def _load(self, ref: PoolRef) -> BatchRead[Pool]:
        """Read a pool, after reading those of its tokens that are not known."""
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
        self._found.refs.pop(ref.key, None)
        return pool

    def _mark_pairs(self, lookups: Sequence[_Lookup]) -> None:
        """Note the pairs that were looked up. A pool that cannot be read is forgotten, unless requests ran out."""
        found = self._found
        found.pairs = {*self._pairs}
        if not self._is_spent:
            found.refs = {}
            return
        for number, lookup in enumerate(lookups):
            if number not in self._settled:
                found.pairs -= {*self._pairs} if lookup.pair is None else {lookup.pair}


def _alone(read: BatchRead[PoolRef]) -> PairPools:
    return [(yield from read)]


def _search(factory: Factory, pair: Pair) -> PairPools:
    """Return a Curve factory's pools for two tokens."""
    addresses = yield from read_pools_in_list(factory, pair)
    reader = pool_reader(factory.kind)
    found = yield from in_lockstep([(each, reader.read_constants(factory, each)) for each in addresses])
    return [each for each in found if isinstance(each, PoolRef)]


def _can_be_read(factory: Factory) -> bool:
    """Return whether a factory's pools can be found without events."""
    return can_be_queried(factory) or factory.is_enumerable
