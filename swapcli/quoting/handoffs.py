"""Convert prepared swaps to documents for other signers: a Safe batch, or a wallet request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidOption
from swapcli.payload.handoff.safe_batch import BatchTexts, safe_batch_document
from swapcli.payload.handoff.swap_summary import summarize_swap
from swapcli.payload.handoff.wallet_calls import wallet_calls_document
from swapcli.payload.transactions_to_send import RenderedTransaction, traded_tokens

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.core.model.quote_figures import QuoteFigures
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.interface.handoff_types import SafeBatchJson, WalletCallsRequestJson


class _RendersTransactions(Protocol):
    """A payload that can render its transactions, in the order in which to send them."""

    def transactions(self) -> list[RenderedTransaction]:
        """Return the required approvals, followed by the swap."""


class _PreparedToSign(Protocol):
    """A swap with its transactions: a `PreparedSwap` or a `PreparedRoute`."""

    @property
    def network(self) -> Network:
        """The network of the swap."""

    @property
    def route(self) -> RouteResult:
        """The route of the swap."""

    @property
    def payload(self) -> UnsignedTransaction:
        """The transaction of the swap."""

    @property
    def figures(self) -> QuoteFigures:
        """The figures of the quote."""

    @property
    def built(self) -> _RendersTransactions:
        """The payload with its transactions."""


def safe_batch(prepared: _PreparedToSign) -> SafeBatchJson:
    """Return a prepared swap as a file for Safe's Transaction Builder. Raises `InvalidOption` on Starknet."""
    transactions = _evm_transactions(prepared, "a Safe's batch")
    token_in, token_out = traded_tokens(prepared.route, prepared.payload, prepared.network)
    texts = BatchTexts(
        printable(f"Swap {token_in.symbol} for {token_out.symbol} on {prepared.network.name}"),
        summarize_swap(prepared.payload, token_in, token_out),
    )
    return safe_batch_document(transactions, prepared.network.chain_id, prepared.figures.quoted_at_s * 1000, texts)


def wallet_calls(prepared: _PreparedToSign) -> WalletCallsRequestJson:
    """Return a prepared swap as the wallet request `wallet_sendCalls`. Raises `InvalidOption` on Starknet."""
    transactions = _evm_transactions(prepared, "a request for wallet calls")
    return wallet_calls_document(transactions, prepared.network.chain_id)


def _evm_transactions(prepared: _PreparedToSign, what: str) -> list[RenderedTransaction]:
    transactions, network = prepared.built.transactions(), prepared.network
    if any(each.request is None for each in transactions):
        raise InvalidOption(
            f"{what} is for EVM networks, not for {network.name}", hint="use document(), which has the calls"
        )
    return transactions
