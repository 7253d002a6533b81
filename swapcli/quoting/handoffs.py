"""Prepared swaps as documents for those who sign them: a Safe's batch, and a wallet's request for calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidOption
from swapcli.payload.handoff.safe_batch import BatchTexts, safe_batch_document
from swapcli.payload.handoff.swap_summary import summarize_swap
from swapcli.payload.handoff.wallet_calls import wallet_calls_document
from swapcli.quoting.review.presign_checker import traded_tokens

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.interface.handoff_types import SafeBatchJson, WalletCallsRequestJson
    from swapcli.payload.transactions_to_send import RenderedTransaction
    from swapcli.quoting.prepared_payload import PreparedRoute
    from swapcli.quoting.swap_quote import PreparedSwap


def safe_batch(prepared: PreparedSwap | PreparedRoute) -> SafeBatchJson:
    """Return the file of Safe's Transaction Builder. Raises `InvalidOption` on Starknet."""
    network = prepared.network
    transactions, chain_id = _evm_transactions(prepared, "a Safe's batch")
    token_in, token_out = traded_tokens(prepared.route, prepared.payload, network)
    texts = BatchTexts(
        printable(f"Swap {token_in.symbol} for {token_out.symbol} on {network.name}"),
        summarize_swap(prepared.payload, token_in, token_out),
    )
    return safe_batch_document(transactions, chain_id, prepared.figures.quoted_at_s * 1000, texts)


def wallet_calls(prepared: PreparedSwap | PreparedRoute) -> WalletCallsRequestJson:
    """Return the request `wallet_sendCalls`. Raises `InvalidOption` on Starknet."""
    return wallet_calls_document(*_evm_transactions(prepared, "wallet_sendCalls"))


def _evm_transactions(prepared: PreparedSwap | PreparedRoute, what: str) -> tuple[list[RenderedTransaction], int]:
    """Return the transactions, and the id of their chain."""
    network: Network = prepared.network
    transactions, chain_id = prepared.built.transactions(), network.chain_id
    if chain_id is None or any(each.request is None for each in transactions):
        raise InvalidOption(f"{what} is for EVM networks, not for {network.name}", hint="document() has the calls")
    return transactions, chain_id
