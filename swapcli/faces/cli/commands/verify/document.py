"""The JSON that `verify` prints: the swaps of a mined transaction with their quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.interface.quote_fields import render_swap_token
from swapcli.quoting.verification.transaction_verification import Verification
from swapcli.state.mined.swap_verification import Outcome, VerifiedSwap

if TYPE_CHECKING:
    from swapcli.interface.document_types import (
        BestRouteJson,
        NetSwapJson,
        SwapTokenJson,
        VerificationJson,
        VerifiedSwapJson,
    )


def verification_document(found: Verification) -> VerificationJson:
    """Return the document of `swapcli verify --json`."""
    return {
        "network": found.network.name,
        "transaction": found.transaction,
        "block": found.block.number,
        "stateBlock": found.parent.number,
        "equal": found.count(Outcome.EQUAL),
        "different": found.count(Outcome.DIFFERENT),
        "notExplained": found.count(Outcome.NOT_EXPLAINED),
        "swaps": [_swap(found, swap) for swap in found.swaps],
        "netSwap": _net_swap(found),
        "bestRoute": _best_route(found),
    }


def _swap(found: Verification, swap: VerifiedSwap) -> VerifiedSwapJson:
    amounts, pool = swap.event.amounts, swap.pool
    return {
        "logIndex": swap.event.last_log,
        "pool": swap.event.key,
        "protocol": pool.protocol if pool else None,
        "family": pool.family if pool else None,
        "inputToken": _token(found, swap.token_in),
        "outputToken": _token(found, swap.token_out),
        "inputAmount": str(amounts.amount_in),
        "outputAmount": str(amounts.amount_out),
        "quotedAmount": None if swap.quoted is None else str(swap.quoted),
        "outcome": swap.outcome.value,
        "reason": swap.reason or None,
    }


def _net_swap(found: Verification) -> NetSwapJson | None:
    net = found.net
    if net is None:
        return None
    return {
        "inputToken": _token(found, net.token_in),
        "outputToken": _token(found, net.token_out),
        "inputAmount": str(net.amount_in),
        "outputAmount": str(net.amount_out),
    }


def _best_route(found: Verification) -> BestRouteJson | None:
    if found.best is None:
        return None
    quote = found.best.quote
    return {
        "outputAmount": str(quote.result.output_amount) if quote else None,
        "differenceBps": found.better_bps,
        "problem": found.best.problem or None,
    }


def _token(found: Verification, address: str | None) -> SwapTokenJson | None:
    token = found.tokens.get(address or "")
    return None if token is None else render_swap_token(token, found.network)
