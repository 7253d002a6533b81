"""Read the state of a network at one block: the pools, and the costs of a transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from swapcli.core.encoding.text import counted
from swapcli.core.errors import InvalidUpstreamResponse, RequestBudgetSpent, UpstreamError
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.quoter import Quoter, Sale
from swapcli.core.model.router_variant import DEFAULT_VARIANT
from swapcli.core.model.skipped_pool import SkippedPool
from swapcli.core.networks.l1_fee import L1FeeParams
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import CallContext, ContractCall, ReturnData
from swapcli.families.reading.l1_fee_params import read_l1_fee_params
from swapcli.families.reading.lockstep_reads import BatchRead, FaultyItem, SkippedItem, run_batched
from swapcli.families.reading.pool_readers import read_known_pool, read_pool
from swapcli.families.sampled.sampled import Sampled, sampled_pools
from swapcli.families.sampled.sampled_pools_reader import read_check, read_quotes, read_samples
from swapcli.families.uniswap.uniswap_v4_reader import ref_with_rule
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockHeader, ChainHead, Node
from swapcli.state.settler_registry import RegisteredRouter, read_registered_router

if TYPE_CHECKING:
    from swapcli.core.model.token import Token
    from swapcli.core.networks.token_facts import TokenFacts
    from swapcli.families.reading.pool_ref import PoolRef
    from swapcli.state.discovery.pair_lookup import Pair, PairQuery
    from swapcli.state.discovery.token_pools import LookedUpPools

Send: TypeAlias = Callable[[Sequence[ContractCall]], Sequence[ReturnData]]
_ReadValue: TypeAlias = "Pool | L1FeeParams | RegisteredRouter | TokenFacts | int | None"


class ReadState(NamedTuple):
    """The state that was read at the block of `head`. `known` are the pools as they were before they were read, and
    `pools` the same pools and perhaps more as they were read. `sales` are the sales that the protocols of sampled pools
    have quoted. All are by pool key.

    `registered_router` is as in `BlockSnapshot`. `answers` are the results of all calls, None if they were not stored.
    The block's hash is empty if it is unknown.
    """

    network: Network
    head: ChainHead
    known: Mapping[str, Pool]
    pools: Mapping[str, Pool | None]
    sales: Mapping[str, Sequence[Sale]] = {}
    registered_router: RegisteredRouter | None = None
    answers: Mapping[ContractCall, ReturnData] | None = None

    @classmethod
    def of_pools(
        cls, market: MarketState, pools: Mapping[str, Pool], sales: Mapping[str, Sequence[Sale]] | None = None
    ) -> ReadState:
        """Return the state of a market's pools, which was read earlier. The market must have a block number."""
        assert market.block is not None
        block = BlockHeader(market.block, "", "", market.timestamp or 0, 0)
        known = {key: pool for key, pool in pools.items() if not pool.is_wrapper}
        network = market.network
        router = network.routers.get(network.router_dialect)
        # The network as `Network.with_registered_router` leaves it, if the registry named the router in this state.
        is_registered = router is not None and router.registry is not None and router.address == network.router
        registered = RegisteredRouter(network.router) if is_registered else None
        head = ChainHead(block, market.gas_price_wei, tag=market.tag)
        return cls(market.network, head, known, known, sales or {}, registered)

    def read_again(self, node: Node, head: ChainHead) -> BlockSnapshot:
        """Read the same pools and quote the same sales from another node, at `head`. Return what that node reads.

        Raises `UpstreamError`.
        """
        again = BlockSnapshot(node, self.network, head, 0.0, self.head.tag)
        again.read(self.known.values())
        if self.sales:
            again.quote_sales(self.sales)
        return again


@dataclass
class BlockSnapshot:
    """The pools read at one block, by key; None, with a reason, for a pool that could not be read. `faulty` are the
    keys of the pools whose read failed because of a defect in the program.

    `tag` is the requested block tag, None for a past block. A node without pending state has returned its latest block.
    `registered_router` is the router of a dialect whose registry names it. `read_at_s` is the monotonic time at which
    the node returned the block. `is_pinned` is false once a node has responded from another block. `has_router_changed`
    means that the router's contract is not the one for which the network has a variant. `known` are the pools as they
    were before they were read, and `sales` the sales that protocols have quoted. `on_read` receives all calls before
    they are made, and `answers` their results, unless it is None. `has_read_costs` means that the other data a quote
    needs was read with the first pools, or could not be. `token_facts` are read from token contracts, by address.
    `ahead` are results that came with the block.
    """

    node: Node
    network: Network
    head: ChainHead
    read_at_s: float
    tag: BlockTag | None = BlockTag.LATEST
    pools: dict[str, Pool | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    faulty: set[str] = field(default_factory=set)
    l1_fee_params: L1FeeParams | None = None
    registered_router: RegisteredRouter | None = None
    is_pinned: bool = True
    has_router_changed: bool = False
    known: dict[str, Pool] = field(default_factory=dict)
    sales: dict[str, list[Sale]] = field(default_factory=dict)
    on_read: Callable[[Sequence[ContractCall]], object] | None = None
    answers: dict[ContractCall, ReturnData] | None = None
    has_read_costs: bool = False
    token_facts: dict[str, TokenFacts] = field(default_factory=dict)
    ahead: Mapping[ContractCall, ReturnData] = field(default_factory=dict)

    def read(self, pools: Iterable[Pool], tokens: Collection[str] = ()) -> None:
        """Read the pools and token facts that have not been read yet, all in the same batches of calls.

        Raises `UpstreamError`.
        """
        unread = [pool for pool in pools if pool.key not in self.pools]
        self.known.update((pool.key, pool) for pool in unread)
        reads = _pool_reads(unread, self.network)
        # Samples found while a rule did not hold, or before there was one, may now be computable.
        sampled = {pool.key: pool for pool in sampled_pools(unread)}
        by_rule = {key: ref for key, pool in sampled.items() if (ref := ref_with_rule(pool, self.network))}
        reads += [(key, read_pool(ref)) for key, ref in by_rule.items()]
        reads += self._sample_reads([pool for key, pool in sampled.items() if key not in by_rule])
        pool_count = len(reads)
        reads += self._cost_reads()
        reads += self._fact_reads(tokens)
        results = self._read(reads)
        self._update(reads[:pool_count], results)
        self._take_others(reads[pool_count:], results[pool_count:])
        # A reader returns a pool without samples if it cannot compute it, for example if a hook's rule fails.
        to_sample = sampled_pools(pool for key, _ in reads[:pool_count] if (pool := self.pools[key]))
        sample_reads = list(self._sample_reads([pool for pool in to_sample if not pool.has_samples]))
        if sample_reads:
            self._update(sample_reads, self._read(sample_reads))

    def _cost_reads(self) -> Iterator[tuple[str, BatchRead[_ReadValue]]]:
        """Yield the reads of the block's other data that a quote needs, once."""
        if self.has_read_costs:
            return
        self.has_read_costs = True
        yield from _cost_reads(self.network)

    def _fact_reads(self, tokens: Collection[str]) -> Iterator[tuple[str, BatchRead[_ReadValue]]]:
        """Yield the reads of token contracts' facts, once."""
        new = [address for address in tokens if address not in self.token_facts]
        yield from _fact_reads(new)

    def _take_others(self, reads: Sequence[tuple[str, object]], results: Sequence[_ReadValue | SkippedItem]) -> None:
        """Record the results other than pools."""
        for (key, _), value in zip(reads, results, strict=True):
            if isinstance(value, L1FeeParams):
                self.l1_fee_params = value
            elif isinstance(value, RegisteredRouter):
                self.registered_router = value
            elif value is not None and not isinstance(value, (Pool, SkippedItem, int)):
                self.token_facts[key] = value

    def find_pools(
        self,
        pairs: Sequence[Pair],
        known: Mapping[str, Token],
        *,
        queries: Mapping[str, Sequence[PairQuery]],
        refs: Sequence[PoolRef],
        reserve: int = 0,
    ) -> LookedUpPools:
        """Find the pools that trade `pairs` with `look_up_pools`, and then read them. Raises `UpstreamError`."""
        from swapcli.state.discovery.token_pools import look_up_pools

        reader = MulticallReader(self.node, self.head.block, self.network.multicall)
        tokens = dict.fromkeys(token for pair in pairs for token in pair if token in known)
        more = [*self._cost_reads(), *self._fact_reads(tokens)]
        found = look_up_pools(
            reader, self.network, pairs, known, queries=queries, refs=refs, more=more, reserve=reserve
        )
        self._take_others(more, found.more)
        self._verify(reader)
        self.known.update(found.pools)
        self.pools.update(found.pools)
        return found

    def read_token(self, address: str) -> Token | None:
        """Return the token at a canonical address; None if the contract there is not a token. Raises
        `UpstreamError`."""
        from swapcli.state.tokens import load_tokens

        reader = MulticallReader(self.node, self.head.block, self.network.multicall)
        found = next(load_tokens(reader, [address]))
        self._verify(reader)
        return None if isinstance(found, SkippedItem) else found

    def quote_sales(self, sales: Mapping[str, Sequence[Sale]]) -> None:
        """Add the quotes of sampled pools' protocols for `sales`, by pool key. Raises `UpstreamError`.

        A pool that does not quote all of its sales counts as a pool that could not be read.
        """
        reads: list[tuple[str, BatchRead[_ReadValue]]] = []
        for key, of_pool in sales.items():
            self.sales.setdefault(key, []).extend(of_pool)
        for pool in sampled_pools(pool for key in sales if (pool := self.pools.get(key))):
            quotes = read_quotes(pool, self._quoters[pool.protocol], sales[pool.key], self._call_context)
            reads.append((pool.key, quotes))
        self._update(reads, self._read(reads))

    def read_checks(self, sales: Mapping[str, Sale]) -> dict[str, int]:
        """Return the protocols' own quotes for one sale to each computed pool, by pool key; 0 for a sale that the
        protocol does not quote.

        Pools whose protocol cannot be queried are omitted. All pools are omitted unless the results are proven to
        belong to this block. Raises `UpstreamError`.
        """
        reads: list[tuple[str, BatchRead[_ReadValue]]] = [
            (key, read_check(pool, self._checks[pool.protocol], sale, self._call_context))
            for key, sale in sales.items()
            if (pool := self.pools.get(key)) and pool.protocol in self._checks
        ]
        results = self._read(reads) if reads else []
        if not self.is_pinned:
            return {}
        return {key: answer if isinstance(answer, int) else 0 for (key, _), answer in zip(reads, results, strict=True)}

    def _sample_reads(self, pools: Sequence[Sampled]) -> Iterator[tuple[str, BatchRead[_ReadValue]]]:
        for pool in pools:
            quoter = self._quoters.get(pool.protocol)
            if quoter:
                yield pool.key, read_samples(pool, quoter, self._call_context)
            else:
                self.pools[pool.key] = None
                self.reasons[pool.key] = f"the network's definition has no quote function for {pool.protocol}"

    @cached_property
    def _quoters(self) -> Mapping[str, Quoter]:
        from swapcli.core.networks.quoter_definitions import parse_quoters

        return parse_quoters(self.network)

    @cached_property
    def _checks(self) -> Mapping[str, Quoter]:
        from swapcli.core.networks.quoter_definitions import parse_checks

        return parse_checks(self.network) if self.network.quoters else {}

    @property
    def _call_context(self) -> CallContext:
        """The transaction's sender and gas price for calls: the router calls the pools.

        Nodes reject a price below the base fee, which a user may have chosen to rank routes.
        """
        price_wei = max(self.head.gas_price_wei, self.head.block.base_fee_wei or 0)
        return CallContext(self.network.router or ZERO_ADDRESS, price_wei)

    def _update(self, reads: Sequence[tuple[str, object]], results: Sequence[_ReadValue | SkippedItem]) -> None:
        """Record the pools that were read, and why others were not."""
        for (key, _), found in zip(reads, results, strict=False):
            self.pools[key] = _pool(found)
            if isinstance(found, SkippedItem):
                self.reasons[key] = found.reason
            if isinstance(found, FaultyItem):
                self.faulty.add(key)

    def with_router(self, network: Network) -> Network:
        """Return the network with the router that its registry names. Reads the registry if necessary.

        Raises `UpstreamError` if the registry cannot be read.
        """
        registry = network.read_registry if network.chooses_router else network.router_registry
        if registry is None:
            return network
        return network.with_registered_router(self.read_router(registry).address)

    def read_l1_gas(self, to: str, calldata: str) -> int:
        """Return the gas that an Arbitrum network adds for a transaction's data; 0 if it is unknown.

        If the node cannot provide it, the quote continues without this cost.
        """
        from swapcli.families.reading.l1_gas import decode_l1_gas, encode_l1_gas_call

        oracle = self.network.l1_gas_oracle
        if oracle is None:
            return 0
        call = encode_l1_gas_call(to, bytes.fromhex(calldata.removeprefix("0x")))
        with suppress(UpstreamError):
            return decode_l1_gas(self.node.call(oracle, call, self.head.block)) or 0
        return 0

    def read_router(self, registry: str) -> RegisteredRouter:
        """Return the router that a registry names. Reads the registry if necessary. Raises `UpstreamError`."""
        if self.registered_router is None:
            (result,) = self._read([(registry, read_registered_router(registry))])
            if not isinstance(result, RegisteredRouter):
                reason = f": {result.reason}" if isinstance(result, SkippedItem) else ""
                raise InvalidUpstreamResponse(
                    f"the registry {registry} of {self.network.name} lists no router{reason}",
                    details={"registry": registry},
                )
            self.registered_router = result
        return self.registered_router

    def _read(self, reads: Sequence[tuple[str, BatchRead[_ReadValue]]]) -> list[_ReadValue | SkippedItem]:
        reader = MulticallReader(self.node, self.head.block, self.network.multicall)
        call = self._with_ahead(reader.call) if self.ahead else reader.call
        results = run_batched(reads, call if self.on_read is None else self._reported(call))
        self._verify(reader)
        return results

    def _verify(self, reader: MulticallReader) -> None:
        try:
            self.is_pinned = reader.verify_block() and self.is_pinned
        except RequestBudgetSpent:
            self.is_pinned = False

    def _with_ahead(self, send: Send) -> Send:
        """Return a version of `send` that only sends calls whose results did not come with the block."""

        def call(calls: Sequence[ContractCall]) -> Sequence[ReturnData]:
            unknown = [each for each in calls if each not in self.ahead]
            found = iter(send(unknown) if unknown else ())
            return [self.ahead[each] if each in self.ahead else next(found) for each in calls]

        return call

    def _reported(self, send: Send) -> Send:
        def call(calls: Sequence[ContractCall]) -> Sequence[ReturnData]:
            if self.on_read is not None:
                self.on_read(calls)
            found = send(calls)
            if self.answers is not None:
                self.answers.update(zip(calls, found, strict=True))
            return found

        return call

    def read_state(self, keys: Iterable[str]) -> ReadState:
        """Return the state of the pools with `keys` that were read, so that another node can read the same pools."""
        known = {key: self.known[key] for key in keys if key in self.known}
        sales = {key: of_pool for key, of_pool in self.sales.items() if key in known}
        return ReadState(self.network, self.head, known, self.pools, sales, self.registered_router, self.answers)

    def market(self, known: MarketState, keys: Collection[str], *, has_gas_price: bool = False) -> MarketState:
        """Return `known` with only the pools in `keys`. The pools and the router are as they are at the block.

        The gas price of `known` stays if the node does not serve one and the order `has_gas_price`. Raises
        `UpstreamError`.
        """
        is_unknown = has_gas_price and isinstance(self.head.gas_price, UpstreamError)
        pools = {key: pool for key in keys if (pool := self.pools.get(key))}
        network = self.with_router(known.network) if self.registered_router else known.network
        network = network._replace(router_has_deadlines=self.network.router_has_deadlines)
        if self.has_router_changed:
            network = network._replace(router_variant=DEFAULT_VARIANT, router_code_hash=None)
        unread = f", {len(keys) - len(pools)} could not be read" if len(pools) < len(keys) else ""
        coverage = f"; {known.coverage}" if known.coverage else ""
        missing = f", no {self.tag} state" if self.tag is not self.head.tag else ""
        faulty = [known.pools[key] for key in keys if key in self.faulty] if self.faulty else ()
        return known._replace(
            network=network,
            pools=pools,
            provenance=Provenance.LIVE,
            source=f"{self.node.redacted_url}: {counted(len(pools), 'pool')} considered{unread}{missing}{coverage}",
            gas_price_wei=known.gas_price_wei if is_unknown else self.head.gas_price_wei,
            block=self.head.block.number,
            timestamp=self.head.block.timestamp,
            placeholder_pools=frozenset(),
            pinned=self.is_pinned,
            tag=self.head.tag,
            clock_offset_s=round(self.head.clock_offset_s),
            skipped_pools=tuple(SkippedPool(pool.key, pool.protocol, self.reasons[pool.key]) for pool in faulty),
        )


def first_calls(network: Network, pools: Iterable[Pool], tokens: Iterable[str]) -> list[ContractCall]:
    """Return the calls that `BlockSnapshot.read` makes first, except for calls that depend on the block."""
    calls: list[ContractCall] = []
    for _, read in (*_pool_reads(pools, network), *_cost_reads(network), *_fact_reads(tokens)):
        with suppress(Exception):  # the read of the snapshot then names the pool and the reason
            calls += next(read)
        read.close()
    return calls


def _pool_reads(pools: Iterable[Pool], network: Network) -> list[tuple[str, BatchRead[_ReadValue]]]:
    """Return the reads of computed pools."""
    computed = (pool for pool in pools if not pool.is_sampled)
    return [(pool.key, read) for pool in computed if (read := read_known_pool(pool, network))]


def _cost_reads(network: Network) -> Iterator[tuple[str, BatchRead[_ReadValue]]]:
    """Yield the reads of a block's other data that a quote needs; a registry's router is read with the pools."""
    registry = network.read_registry if network.chooses_router else network.router_registry
    if network.l1_fee_oracle:
        yield network.l1_fee_oracle, read_l1_fee_params(network.l1_fee_oracle)
    if registry:
        yield registry, read_registered_router(registry)


def _fact_reads(tokens: Iterable[str]) -> Iterator[tuple[str, BatchRead[_ReadValue]]]:
    """Yield the reads of token contracts' facts."""
    for address in tokens:
        from swapcli.state.tokens import read_token_facts  # most quotes have no new tokens

        yield address, read_token_facts(address)


def _pool(found: _ReadValue | SkippedItem) -> Pool | None:
    return found if isinstance(found, Pool) else None
