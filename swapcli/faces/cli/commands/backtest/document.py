"""The JSON of `backtest`, and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from swapcli.core.model.distribution import Distribution
from swapcli.core.model.network import Network
from swapcli.interface.quote_fields import render_swap_token
from swapcli.quoting.backtest import BacktestOrder, BacktestQuote, BacktestSummary

if TYPE_CHECKING:
    from swapcli.interface.document_types import BacktestJson, BacktestQuoteJson, DistributionJson

QUOTE_FIELDS: Final = (
    "block", "timestamp", "id", "inputToken", "outputToken", "inputAmount", "outputAmount", "outputNetOfGas",
    "gasUnits", "singlePathAmount", "singlePathNetOfGas", "gainBps", "pools", "error",
)  # fmt: skip
"""The fields of a row, in their order."""


def backtest_document(
    network: Network, blocks: Sequence[int], summary: BacktestSummary, quotes: Sequence[BacktestQuote] | None
) -> BacktestJson:
    """Return the document of `swapcli backtest --json`; the `quotes` are left out where a file has them."""
    by_id = {each.order.id: each.order for each in summary.orders}
    document: BacktestJson = {
        "network": network.name,
        "firstBlock": blocks[0],
        "lastBlock": blocks[-1],
        "blocks": len(blocks),
        "quoted": summary.quoted,
        "failed": summary.failed,
        "gainBps": _distribution(summary.gains, 4),
        "winShare": summary.win_share,
        "orders": [
            {
                "id": each.order.id,
                "inputToken": render_swap_token(each.order.token_in, network),
                "outputToken": render_swap_token(each.order.token_out, network),
                "inputAmount": str(each.order.amount_in),
                "quoted": each.quoted,
                "failed": each.failed,
                "rate": _distribution(each.rates, None),
                "gainBps": _distribution(each.gains, 4),
                "winShare": each.win_share,
            }
            for each in summary.orders
        ],
    }
    if quotes is not None:
        document["quotes"] = [quote_document(quote, by_id[quote.order_id]) for quote in quotes]
    return document


def quote_document(quote: BacktestQuote, order: BacktestOrder) -> BacktestQuoteJson:
    """Return one quote as JSON without nested values."""
    return {
        "block": quote.block,
        "timestamp": quote.timestamp,
        "id": quote.order_id,
        "inputToken": order.token_in.symbol,
        "outputToken": order.token_out.symbol,
        "inputAmount": str(quote.amount_in),
        "outputAmount": _text(quote.amount_out),
        "outputNetOfGas": _text(quote.net_of_gas),
        "gasUnits": quote.gas_units,
        "singlePathAmount": _text(quote.single_out),
        "singlePathNetOfGas": _text(quote.single_net_of_gas),
        "gainBps": quote.gain_bps,
        "pools": quote.pools,
        "error": quote.error or None,
    }


def _distribution(found: Distribution | None, digits: int | None) -> DistributionJson | None:
    if found is None:
        return None
    p05, p25, median, p75, p95 = (each if digits is None else round(each, digits) for each in found[1:])
    return {"size": found.size, "p05": p05, "p25": p25, "median": median, "p75": p75, "p95": p95}


def _text(amount: int | None) -> str | None:
    return None if amount is None else str(amount)
