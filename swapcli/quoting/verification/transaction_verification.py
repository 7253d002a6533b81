"""Read a mined transaction, and the pools of its swaps at the parent block, and compare the swaps with their quotes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from swapcli.core.errors import (
    ChainReorganized,
    InvalidInput,
    InvalidUpstreamResponse,
    SwapcliError,
    SwapDiffers,
    UpstreamError,
    UpstreamRejected,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.interface.quote_fields import render_swap_token
from swapcli.quoting.quote_results import QuoteResult
from swapcli.quoting.sources.freshness import archive_hint
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.quote_source import PoolSource, QuoteSource
from swapcli.state.agreements_file import Agreement
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.mined.block_verification import verify_in_block
from swapcli.state.mined.swap_events import SwapEvent, find_swaps
from swapcli.state.mined.swap_verification import (
    NetSwap,
    Outcome,
    VerifiedSwap,
    find_net_swap,
)
from swapcli.state.mined.swapped_pools import read_missing_tokens, read_pair_tokens
from swapcli.state.rpc.block_view import view_block
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockHeader
from swapcli.state.rpc.receipt import Receipt, ReceiptNode, not_mined

if TYPE_CHECKING:
    from swapcli.interface.document_types import (
        BestRouteJson,
        NetSwapJson,
        SwapTokenJson,
        VerificationJson,
        VerifiedSwapJson,
    )

_is_hash = re.compile(r"0x[0-9a-fA-F]{64}").fullmatch

OpenAtBlock = Callable[[BlockHeader, int], QuoteSource]
"""Opens the source that quotes at a block with a gas price in wei."""


def check_transaction_hash(text: str) -> None:
    """Raise `InvalidInput` if `text` is not a valid transaction hash."""
    if _is_hash(text):
        return
    digits = text.lower().removeprefix("0x")
    hint = "copy it from the transaction's page in an explorer"
    if re.fullmatch(r"[0-9a-f]*", digits):
        is_address = len(digits) == 40
        hint = "that is an address; " + hint if is_address else f"this has {len(digits)} digits; {hint}"
        if len(digits) == 64:
            hint = f"write 0x in front: 0x{digits}"
    raise InvalidInput("a transaction hash consists of 0x and 64 hex digits", hint=hint, details={"transaction": text})


class BestRoute(NamedTuple):
    """The output of the best route at the parent block. `problem` says why there is none."""

    quote: QuoteResult | None
    problem: str = ""


class Verification(NamedTuple):
    """The swaps in a transaction with their quotes. `tokens` are the tokens in the swaps, by address.

    `net` is the net swap of all swaps together. It is None if they do not add up to a single swap, and then `best` is
    None as well. The transaction used `gas_used` units of gas at `gas_price_wei`.
    """

    network: Network
    transaction: str
    block: BlockHeader
    parent: BlockHeader
    swaps: tuple[VerifiedSwap, ...]
    tokens: Mapping[str, Token]
    net: NetSwap | None
    best: BestRoute | None
    gas_used: int = 0
    gas_price_wei: int = 0

    @own_document
    def document(self) -> VerificationJson:
        """Return the JSON that `swapcli verify` prints."""
        return {
            "network": self.network.name,
            "transaction": self.transaction,
            "block": self.block.number,
            "stateBlock": self.parent.number,
            "equal": self.count(Outcome.EQUAL),
            "different": self.count(Outcome.DIFFERENT),
            "notExplained": self.count(Outcome.NOT_EXPLAINED),
            "swaps": [swap_document(self.network, self.tokens, swap) for swap in self.swaps],
            "netSwap": _net_document(self),
            "bestRoute": _best_document(self),
        }

    def check(self) -> None:
        """Raise `SwapDiffers` if a swap paid a different amount than its quote, and `UpstreamError` if no swap could be
        quoted."""
        different = self.count(Outcome.DIFFERENT)
        if different:
            raise SwapDiffers(
                f"{different} of {len(self.swaps)} swaps of {self.transaction} paid a different amount than their "
                "quotes",
                details={"transaction": self.transaction, "different": different},
            )
        if self.count(Outcome.EQUAL) == 0:
            reason = next((swap.reason for swap in self.swaps), "")
            raise UpstreamError(
                f"none of {len(self.swaps)} swaps of {self.transaction} could be explained: {reason}",
                details={"transaction": self.transaction},
            )

    def count(self, outcome: Outcome) -> int:
        """Return the number of swaps with `outcome`."""
        return sum(swap.outcome is outcome for swap in self.swaps)

    def agreements(self) -> dict[str, Agreement]:
        """Return the number of swaps that matched their quotes, by protocol. Protocols with a swap that differed are
        omitted."""
        counts = {
            outcome: Counter(swap.pool.protocol for swap in self.swaps if swap.pool and swap.outcome is outcome)
            for outcome in (Outcome.EQUAL, Outcome.DIFFERENT)
        }
        equal = {name: n for name, n in counts[Outcome.EQUAL].items() if name not in counts[Outcome.DIFFERENT]}
        return {name: Agreement(self.block.number, self.block.timestamp, count) for name, count in equal.items()}

    @property
    def better_bps(self) -> float | None:
        """How many basis points more the best route pays than the transaction; None if unknown."""
        if self.net is None or self.best is None or self.best.quote is None:
            return None
        return (self.best.quote.result.output_amount / self.net.amount_out - 1.0) * 10_000


def quote_at_block(known: PoolSource, node: ReceiptNode) -> OpenAtBlock:
    """Return a function that opens sources which quote at the node's blocks, starting from the `known` pools."""

    def open_at_block(block: BlockHeader, gas_price_wei: int) -> QuoteSource:
        return LiveSource(known, view_block(node, block, gas_price_wei), SYSTEM_CLOCK, tag=None)

    return open_at_block


def verify_transaction(
    node: ReceiptNode, known: PoolSource, transaction: str, open_at_block: OpenAtBlock
) -> Verification:
    """Quote every swap in a mined transaction on the state just before it.

    `known` provides pools that need not be looked up through their contracts. Raises `InvalidInput` for a transaction
    that does not exist or has no swaps, `NotMined`, and `UpstreamError`, also if the node no longer has the state.
    """
    network = known.network
    check_transaction_hash(transaction)
    receipt = _read_receipt(node, transaction)
    found = (event for event in find_swaps(receipt.logs) if not event.moves_nothing)
    events = [event for event in found if not _is_other_vault(event, known)]
    if not events:
        raise InvalidInput(
            f"{transaction} contains no swap in a known kind of pool", details={"transaction": transaction}
        )
    block, parent = _read_blocks(node, transaction, receipt)
    reader = MulticallReader(node, parent, network.multicall)
    with _needs_archive_node(parent):
        keys = {event.key for event in events}
        swaps, (pools, _, tokens) = verify_in_block(
            reader, network, _known_pools(known, keys), events, logs=receipt.logs
        )
        pair_tokens = read_pair_tokens(reader, [event for event in events if event.key not in pools])
    net = find_net_swap(_paid_amounts(swap, pair_tokens) for swap in swaps)
    best = _find_best_route(open_at_block, parent, receipt, net) if net else None
    tokens = {**tokens, **read_missing_tokens(reader, tokens, pair_tokens)}
    reader.verify_block()
    gas = receipt.gas_used, receipt.gas_price_wei
    return Verification(network, transaction.lower(), block, parent, swaps, tokens, net, best, *gas)


def _read_receipt(node: ReceiptNode, transaction: str) -> Receipt:
    receipt = node.read_receipt(transaction)
    if receipt is None:
        raise InvalidInput(
            f"{node.redacted_url} has no mined transaction {transaction}",
            hint="it may be on a different network, still pending, or older than the node's history",
            details={"transaction": transaction},
        )
    if not receipt.succeeded:
        raise InvalidInput(f"{transaction} reverted: it swapped nothing", details={"transaction": transaction})
    return receipt


def _read_blocks(node: ReceiptNode, transaction: str, receipt: Receipt) -> tuple[BlockHeader, BlockHeader]:
    """Return the block of a transaction and its parent. Raises `NotMined` if it is newer than the node's latest block,
    and `ChainReorganized` if the node has different blocks."""
    number = receipt.block_number
    block, parent = node.read_block(number), node.read_block(number - 1)
    if block is None and number > node.read_head().block.number:
        raise not_mined(transaction, f"is only preconfirmed, in block {number:,}")
    if block is None or parent is None:
        raise InvalidUpstreamResponse(f"{node.redacted_url} does not have block {number}, or the one before it")
    if (block.hash, block.parent_hash) != (receipt.block_hash, parent.hash):
        raise ChainReorganized(
            f"{node.redacted_url} has a different block {number} now: the chain was reorganized",
            hint="try again",
            details={"block": number},
        )
    return block, parent


def _is_other_vault(event: SwapEvent, known: PoolSource) -> bool:
    """Return whether an event comes from an ERC-4626 vault that is not known to trade; many such vaults exist."""
    return event.kinds == (ContractKind.VAULT,) and event.key not in _known_pools(known, [event.key])


def _known_pools(known: PoolSource, keys: Collection[str]) -> Mapping[str, Pool]:
    return known.known().with_pools(keys).market.pools


@contextmanager
def _needs_archive_node(parent: BlockHeader) -> Iterator[None]:
    """Explain, for a node that refuses to read old state, that an archive node is needed."""
    try:
        yield
    except UpstreamRejected as error:
        error.hint = archive_hint(parent.number)
        raise


def _paid_amounts(swap: VerifiedSwap, pairs: Mapping[str, tuple[str, str]]) -> tuple[str | None, str | None, int, int]:
    """Return the amounts that a swap sold and bought, including in an unknown pool."""
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
    """Quote the net swap at the parent block, at the transaction's gas price."""
    try:
        source = open_at_block(parent, receipt.gas_price_wei)
        order = Order(source.token(net.token_in), source.token(net.token_out), net.amount_in)
        return BestRoute(source.quote(QuoteRequest(order, ApiVersion.V2)))
    except SwapcliError as error:
        return BestRoute(None, error.message)


def swap_document(network: Network, tokens: Mapping[str, Token], swap: VerifiedSwap) -> VerifiedSwapJson:
    """Return the JSON of a mined swap. `tokens` are by address."""
    amounts, pool = swap.event.amounts, swap.pool
    return {
        "logIndex": swap.event.last_log,
        "pool": swap.event.key,
        "protocol": pool.protocol if pool else None,
        "family": pool.family if pool else None,
        "inputToken": _token_document(network, tokens, swap.token_in),
        "outputToken": _token_document(network, tokens, swap.token_out),
        "inputAmount": str(amounts.amount_in),
        "outputAmount": str(amounts.amount_out),
        "quotedAmount": None if swap.quoted is None else str(swap.quoted),
        "outcome": swap.outcome.value,
        "reason": swap.reason or None,
    }


def _net_document(found: Verification) -> NetSwapJson | None:
    net = found.net
    if net is None:
        return None
    return {
        "inputToken": _token_document(found.network, found.tokens, net.token_in),
        "outputToken": _token_document(found.network, found.tokens, net.token_out),
        "inputAmount": str(net.amount_in),
        "outputAmount": str(net.amount_out),
    }


def _best_document(found: Verification) -> BestRouteJson | None:
    if found.best is None:
        return None
    quote = found.best.quote
    return {
        "outputAmount": str(quote.result.output_amount) if quote else None,
        "differenceBps": found.better_bps,
        "problem": found.best.problem or None,
    }


def _token_document(network: Network, tokens: Mapping[str, Token], address: str | None) -> SwapTokenJson | None:
    token = tokens.get(address or "")
    return None if token is None else render_swap_token(token, network)
