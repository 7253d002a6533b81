"""The JSON and the CSV of `hindsight`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from swapcli.core.model.distribution import Distribution
from swapcli.core.model.network import Network
from swapcli.interface.quote_fields import render_swap_token
from swapcli.quoting.verification.hindsight import HindsightSummary, SwapHindsight
from swapcli.state.mined.swap_verification import Outcome

if TYPE_CHECKING:
    from swapcli.interface.document_types import DistributionJson, HindsightJson, HindsightSwapJson, SwapTokenJson


def hindsight_document(network: Network, swaps: Sequence[SwapHindsight], summary: HindsightSummary) -> HindsightJson:
    """Return the document of `swapcli hindsight --json`."""
    return {
        "network": network.name,
        "explained": summary.explained,
        "notExplained": summary.not_explained,
        "better": summary.better,
        "equal": summary.equal,
        "worse": summary.worse,
        "bps": distribution_document(summary.bps),
        "venues": [
            {
                "venue": venue.name,
                "used": venue.used,
                "wouldUse": venue.would_use,
                "bps": distribution_document(venue.bps),
            }
            for venue in summary.venues
        ],
        "swaps": [_swap(network, swap) for swap in swaps],
    }


def csv_documents(network: Network, swaps: Sequence[SwapHindsight]) -> list[dict[str, object]]:
    """Return a row for each transaction, with the symbols and the decimals of its tokens; amounts are as in JSON."""
    rows = []
    for swap in swaps:
        found = _swap(network, swap)
        row: dict[str, object] = {}
        for name, value in found.items():
            if name in ("inputToken", "outputToken"):
                token = found["inputToken"] if name == "inputToken" else found["outputToken"]
                row[name] = token["symbol"] if token else None
                row[name.replace("Token", "Decimals")] = token["decimals"] if token else None
            else:
                row[name] = value
        row["venues"], row["bestVenues"] = "; ".join(found["venues"]), "; ".join(found["bestVenues"])
        rows.append(row)
    return rows


def distribution_document(found: Distribution | None) -> DistributionJson | None:
    """Return a distribution as JSON; None without values."""
    if found is None:
        return None
    return {
        "size": found.size,
        "p05": round(found.p05, 4),
        "p25": round(found.p25, 4),
        "median": round(found.median, 4),
        "p75": round(found.p75, 4),
        "p95": round(found.p95, 4),
    }


def _swap(network: Network, swap: SwapHindsight) -> HindsightSwapJson:
    found = swap.verification
    net = found.net if found else None

    def token(address: str | None) -> SwapTokenJson | None:
        known = found.tokens.get(address or "") if found else None
        return None if known is None else render_swap_token(known, network)

    return {
        "transaction": swap.transaction,
        "block": found.block.number if found else None,
        "stateBlock": found.parent.number if found else None,
        "timestamp": found.block.timestamp if found else None,
        "inputToken": token(net.token_in) if net else None,
        "outputToken": token(net.token_out) if net else None,
        "inputAmount": str(net.amount_in) if net else None,
        "outputAmount": _text(swap.amount_out),
        "outputNetOfGas": _text(swap.net_of_gas),
        "gasUsed": found.gas_used if found else None,
        "gasPriceWei": str(found.gas_price_wei) if found else None,
        "venues": list(swap.venues),
        "bestAmount": _text(swap.best_amount_out),
        "bestNetOfGas": _text(swap.best_net_of_gas),
        "bestGasUnits": swap.best_gas_units,
        "bestVenues": list(swap.best_venues),
        "differenceBps": swap.difference_bps,
        "netDifferenceBps": swap.net_difference_bps,
        "poolsEqual": found.count(Outcome.EQUAL) if found else None,
        "poolsDifferent": found.count(Outcome.DIFFERENT) if found else None,
        "poolsNotExplained": found.count(Outcome.NOT_EXPLAINED) if found else None,
        "reason": swap.reason or None,
        "retryable": swap.is_retryable,
    }


def _text(amount: int | None) -> str | None:
    return None if amount is None else str(amount)
