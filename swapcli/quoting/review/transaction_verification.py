"""Reads a mined transaction, and its swaps' pools at the parent block, and compares the swaps with their quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from swapcli.core.errors import (
    ChainReorganized,
    InvalidInput,
    InvalidUpstreamResponse,
    SwapcliError,
    UpstreamRejected,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.payload.checks.swap_verification import (
    KnownPool,
    NetSwap,
    Outcome,
    VerifiedSwap,
    find_net_swap,
    verify_swaps,
)
from swapcli.quoting.quote_results import QuoteResult
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.pool_source import PoolSource
from swapcli.quoting.sources.quote_source import QuoteSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.readers import load_pools, pool_reader, ref_of_pool
from swapcli.state.readers.contract_kinds import KINDS, ContractKind
from swapcli.state.readers.factory import Factory
from swapcli.state.readers.pool_ref import PoolRef, with_decimals
from swapcli.state.readers.swap_events import SwapEvent, find_swaps
from swapcli.state.readers.uniswap.uniswap_v2 import read_tokens, token_calls
from swapcli.state.rpc.block_view import BlockView
from swapcli.state.rpc.call_encoding import encode_call, read_address
from swapcli.state.rpc.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.state.rpc.multicall import BlockReader
from swapcli.state.rpc.node import BlockHeader, ContractCall, LogFilter
from swapcli.state.rpc.receipt import Receipt, ReceiptNode
from swapcli.state.tokens import load_tokens

_is_hash = re.compile(r"0x[0-9a-fA-F]{64}").fullmatch
_FACTORY: Final = "factory()"

OpenAtBlock = Callable[[BlockHeader, int], QuoteSource]
"""Opens the source that quotes on a block with a gas price in wei."""


class BestRoute(NamedTuple):
    """What the best route would have paid at the parent block; `problem` says why there is no quote."""

    quote: QuoteResult | None
    problem: str = ""


class Verification(NamedTuple):
    """The swaps of a transaction with their quotes. `tokens` are those of the swaps, by address.

    `net` is what they sold and bought in total, None if that is no single swap; then `best` is None as well.
    """

    network: Network
    transaction: str
    block: BlockHeader
    parent: BlockHeader
    swaps: tuple[VerifiedSwap, ...]
    tokens: Mapping[str, Token]
    net: NetSwap | None
    best: BestRoute | None

    def count(self, outcome: Outcome) -> int:
        """Return how many swaps have this outcome."""
        return sum(swap.outcome is outcome for swap in self.swaps)

    @property
    def better_bps(self) -> float | None:
        """By how many hundredths of a percent the best route pays more than the transaction did; None if unknown."""
        if self.net is None or self.best is None or self.best.quote is None:
            return None
        return (self.best.quote.result.output_amount / self.net.amount_out - 1.0) * 10_000


def quote_at_block(known: PoolSource, node: ReceiptNode) -> OpenAtBlock:
    """Return what opens sources of quotes on the blocks of a node, which begin with the `known` pools."""

    def open_at_block(block: BlockHeader, gas_price_wei: int) -> QuoteSource:
        return LiveSource(known, BlockView(node, block, gas_price_wei), SYSTEM_CLOCK)

    return open_at_block


def verify_transaction(
    node: ReceiptNode, known: PoolSource, transaction: str, open_at_block: OpenAtBlock
) -> Verification:
    """Quote every swap of a mined transaction on the state just before it.

    `known` are pools that need not be found by their contracts. Raises `InvalidInput` for a transaction that the chain
    does not have or that has no swaps, and `UpstreamError`, also if the node no longer has the state.
    """
    network = known.network
    if not _is_hash(transaction):
        raise InvalidInput("the hash of a transaction is 0x and 64 hex digits", details={"transaction": transaction})
    node.read_head()  # checks the chain
    receipt = _read_receipt(node, transaction)
    events = [event for event in find_swaps(receipt.logs) if not _is_other_vault(event, known)]
    if not events:
        raise InvalidInput(f"{transaction} has no swap in a pool of a known kind", details={"transaction": transaction})
    block, parent = _read_blocks(node, receipt)
    reader = BlockReader(node, parent, network.multicall)
    with _needs_archive_node(parent):
        pools, reasons, tokens = _PoolFinder(reader, known).read(events)
        pair_tokens = _read_pair_tokens(reader, [event for event in events if event.key not in pools])
    emitters = {address for each in pools.values() for address in each.emitters} | {each.emitter for each in events}
    logs = node.read_logs(LogFilter(tuple(sorted(emitters)), (), block.number, block.number))
    by_index = {log.log_index: log for log in (*logs, *receipt.logs)}
    last = events[-1].last_log
    before = [log for index, log in by_index.items() if index <= last]
    own = frozenset(log.log_index for log in receipt.logs)
    starts = {event.first_log for event in events}
    swaps = tuple(swap for swap in verify_swaps(pools, reasons, before, own) if swap.event.first_log in starts)
    net = find_net_swap(_paid_amounts(swap, pair_tokens) for swap in swaps)
    best = _find_best_route(open_at_block, parent, receipt, net) if net else None
    tokens = {**tokens, **_read_missing_tokens(reader, tokens, pair_tokens)}
    return Verification(network, transaction.lower(), block, parent, swaps, tokens, net, best)


def _read_receipt(node: ReceiptNode, transaction: str) -> Receipt:
    receipt = node.read_receipt(transaction)
    if receipt is None:
        raise InvalidInput(
            f"{node.redacted_url} knows no mined transaction {transaction}",
            hint="it may be of another network, still pending, or older than what the node stores",
            details={"transaction": transaction},
        )
    if not receipt.succeeded:
        raise InvalidInput(f"{transaction} reverted: it swapped nothing", details={"transaction": transaction})
    return receipt


def _read_blocks(node: ReceiptNode, receipt: Receipt) -> tuple[BlockHeader, BlockHeader]:
    """Return the block of a transaction and its parent. Raises `ChainReorganized` if the node has others."""
    number = receipt.block_number
    block, parent = node.read_block(number), node.read_block(number - 1)
    if block is None or parent is None:
        raise InvalidUpstreamResponse(f"{node.redacted_url} does not have block {number}, or the one before it")
    if (block.hash, block.parent_hash) != (receipt.block_hash, parent.hash):
        raise ChainReorganized(
            f"{node.redacted_url} no longer has block {number} as it was: the chain was reorganized",
            hint="try again",
            details={"block": number},
        )
    return block, parent


def _is_other_vault(event: SwapEvent, known: PoolSource) -> bool:
    """Return whether an event is of an ERC-4626 vault that is not known to trade: there are many of them."""
    return event.kinds == (ContractKind.VAULT,) and event.key not in _known_pools(known, [event.key])


def _known_pools(known: PoolSource, keys: Collection[str]) -> Mapping[str, Pool]:
    return known.source_with(keys).market.pools


@contextmanager
def _needs_archive_node(parent: BlockHeader) -> Iterator[None]:
    """Say of a refusal to read old state that another kind of node is needed."""
    try:
        yield
    except UpstreamRejected as error:
        error.hint = (
            f"the state of block {parent.number} may be too old for this node: set an archive node with --rpc-url"
        )
        raise


class _PoolFinder:
    """Finds and reads the pools of swaps: known ones, and those whose contract names a factory of the catalogue."""

    def __init__(self, reader: BlockReader, known: PoolSource) -> None:
        self._reader, self._known, self._network = reader, known, known.network
        self._reasons: dict[str, str] = {}

    def read(self, events: Sequence[SwapEvent]) -> tuple[dict[str, KnownPool], dict[str, str], dict[str, Token]]:
        """Return the pools by key, why others could not be read, and their tokens."""
        by_key = {event.key: event for event in events}
        refs = self._known_refs(by_key)
        refs += self._found_refs([event for key, event in by_key.items() if key not in {ref.key for ref in refs}])
        tokens = self._read_tokens(refs)
        completed = []
        for ref in refs:
            complete = with_decimals(ref, tokens)
            if isinstance(complete, SkippedItem):
                self._reasons[ref.key] = complete.reason
            else:
                completed.append(complete)
        pools = {}
        for ref, pool in zip(completed, load_pools(self._reader, completed), strict=True):
            if isinstance(pool, SkippedItem):
                self._reasons[ref.key] = f"its pool cannot be read at block {self._reader.block}: {pool.reason}"
            else:
                pools[ref.key] = KnownPool(pool, ref.kind, self._emitters(pool, ref))
        self._reader.verify_block()
        return pools, self._reasons, tokens

    def _known_refs(self, events: Mapping[str, SwapEvent]) -> list[PoolRef]:
        """Return the references of known pools, without what their last read found: it was at another block."""
        refs = [ref_of_pool(pool, self._network) for pool in _known_pools(self._known, [*events]).values()]
        return [ref._replace(last_read=None) for ref in refs if ref and ref.key in events]

    def _found_refs(self, events: Sequence[SwapEvent]) -> list[PoolRef]:
        """Return references of pools that have contracts of their own, by the factory that they name."""
        factories: dict[str, list[Factory]] = {}
        for factory in find_factories(self._network)[0]:
            factories.setdefault(factory.address, []).append(factory)
        own = [event for event in events if event.key == event.emitter]
        for event in events:
            if event.key != event.emitter:
                self._reasons[event.key] = "its pool is not known: only the store or the market can name it"
        found = run_batched([(event.key, _find_ref(event, factories)) for event in own], self._reader.call)
        refs = []
        for ref in found:
            if isinstance(ref, SkippedItem):
                self._reasons[ref.key] = ref.reason
            else:
                refs.append(ref)
        return refs

    def _read_tokens(self, refs: Sequence[PoolRef]) -> dict[str, Token]:
        addresses = dict.fromkeys(address for ref in refs for address in ref.tokens)
        return {token.address: token for token in load_tokens(self._reader, [*addresses]) if isinstance(token, Token)}

    def _emitters(self, pool: Pool, ref: PoolRef) -> frozenset[str]:
        """Return the pool's contract, the vault that emits its events, and a pool that it shares its state with."""
        found = {ref.address, pool.address}
        traits = KINDS[ref.kind]
        if traits.is_in_vault:
            for deployment in self._network.deployments:
                if ref.protocol in deployment.protocols:
                    found |= {deployment.addresses[role] for role in traits.roles if role in deployment.addresses}
        if pool.shared_state:
            found.add(pool.shared_state.address)
        return frozenset(found)


def _find_ref(event: SwapEvent, factories: Mapping[str, Sequence[Factory]]) -> BatchRead[PoolRef]:
    """Read the reference of a pool in two rounds, through the factory that its contract names."""
    (answer,) = yield [ContractCall(event.emitter, encode_call(_FACTORY), may_revert=True)]
    if not answer:
        raise InvalidInput("its pool is not known, and names no factory")
    address = read_address(answer, _FACTORY)
    fitting = [factory for factory in factories.get(address, ()) if factory.kind in event.kinds]
    if not fitting:
        raise InvalidInput(f"the factory {address} of its pool is not in the catalogue")
    return (yield from pool_reader(fitting[0].kind).read_constants(fitting[0], event.key))


def _read_pair_tokens(reader: BlockReader, events: Sequence[SwapEvent]) -> dict[str, tuple[str, str]]:
    """Return the tokens of pools that are not known, by key, as far as their contracts name them."""
    keys = dict.fromkeys(event.key for event in events if event.key == event.emitter)
    found = run_batched([(key, _read_pair(key)) for key in keys], reader.call)
    return {key: each for key, each in zip(keys, found, strict=True) if not isinstance(each, SkippedItem)}


def _read_pair(pool: str) -> BatchRead[tuple[str, str]]:
    answers = yield [call._replace(may_revert=True) for call in token_calls(pool)]
    return read_tokens(answers)


def _read_missing_tokens(
    reader: BlockReader, known: Mapping[str, Token], pairs: Mapping[str, tuple[str, str]]
) -> dict[str, Token]:
    missing = dict.fromkeys(address for pair in pairs.values() for address in pair if address not in known)
    return {token.address: token for token in load_tokens(reader, [*missing]) if isinstance(token, Token)}


def _paid_amounts(swap: VerifiedSwap, pairs: Mapping[str, tuple[str, str]]) -> tuple[str | None, str | None, int, int]:
    """Return what a swap sold and bought, also in a pool that is not known."""
    amounts = swap.event.amounts
    tokens = [swap.token_in, swap.token_out]
    if swap.pool is None:
        pair = pairs.get(swap.event.key)
        for side, token in enumerate((amounts.sold, amounts.bought)):
            if isinstance(token, str):
                tokens[side] = token
            elif pair and token < len(pair):
                tokens[side] = pair[token]
    return tokens[0], tokens[1], amounts.amount_in, amounts.amount_out


def _find_best_route(open_at_block: OpenAtBlock, parent: BlockHeader, receipt: Receipt, net: NetSwap) -> BestRoute:
    """Quote the net swap at the parent block, at the gas price that the transaction paid."""
    try:
        source = open_at_block(parent, receipt.gas_price_wei)
        order = Order(source.token(net.token_in), source.token(net.token_out), net.amount_in)
        return BestRoute(source.quote(QuoteRequest(order, ApiVersion.V2)))
    except SwapcliError as error:
        return BestRoute(None, error.message)
