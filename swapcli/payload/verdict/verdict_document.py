"""A verdict as JSON."""

from __future__ import annotations

from swapcli.core.model.network import Kind
from swapcli.core.model.swap_terms import PPM_PER_PERCENT
from swapcli.core.networks.address import display_address
from swapcli.interface.json_types import TokenPowersJson, TriedSaleJson, VerdictJson
from swapcli.payload.evm.token_powers import TokenPowers
from swapcli.payload.verdict.verdict import TriedSale, Verdict


def render_verdict(verdict: Verdict) -> VerdictJson:
    """Return a verdict on a swap on an EVM network as JSON."""
    facts = verdict.facts
    return {
        "status": verdict.status,
        "reasons": [
            {"code": str(each.code), "status": each.level.value, "message": each.message, "hint": each.hint or ""}
            for each in verdict.findings
        ],
        "facts": {
            "block": facts.block,
            "sender": None if facts.sender is None else display_address(facts.sender, Kind.EVM),
            "received": _text(facts.received),
            "sales": [_render_sale(sale) for sale in facts.sales],
            "powers": [_render_powers(each) for each in facts.powers],
            "priceReferences": [
                {
                    "kind": each.kind.value,
                    "source": each.source,
                    "amountOut": str(each.amount_out),
                    "lossPercent": each.loss_ppm / PPM_PER_PERCENT,
                }
                for each in facts.references
            ],
        },
    }


def _render_powers(powers: TokenPowers) -> TokenPowersJson:
    return {
        "token": display_address(powers.token, Kind.EVM),
        "owner": None if powers.owner is None else display_address(powers.owner, Kind.EVM),
        "powers": [{"power": each.power.value, "evidence": each.evidence} for each in powers.powers],
    }


def _render_sale(sale: TriedSale) -> TriedSaleJson:
    is_address = len(sale.pool) == len(sale.token_out)
    return {
        "pool": display_address(sale.pool, Kind.EVM) if is_address else sale.pool,
        "amountIn": str(sale.amount_in),
        "tokenOut": display_address(sale.token_out, Kind.EVM),
        "received": _text(sale.received),
        "expected": _text(sale.expected),
    }


def _text(amount: int | None) -> str | None:
    return None if amount is None else str(amount)
