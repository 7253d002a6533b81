"""A quote's figures as JSON: fields in addition to the Fibrous API's."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import TYPE_CHECKING

from swapcli.core.model.finding import Finding
from swapcli.core.model.network import Network
from swapcli.core.model.quote import NO_PROOF_BPS, Certificate
from swapcli.core.model.quote_figures import PoolLimitCost, QuoteFigures, SinglePath
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import PPM_PER_PERCENT
from swapcli.core.model.token import Token, whole_tokens
from swapcli.core.networks.address import display_address

if TYPE_CHECKING:
    from swapcli.core.model.book_prices import BookPrices
    from swapcli.core.model.router_choice import RouterChoice
    from swapcli.interface.json_types import (
        BookPricesJson,
        CertificateJson,
        PoolLimitJson,
        QuoteFieldsJson,
        RouterChoiceJson,
        SinglePathJson,
        StateJson,
        SwapTokenJson,
        WarningJson,
    )


def render_quote_fields(figures: QuoteFigures, network: Network) -> QuoteFieldsJson:
    """Render a quote's figures. Fields that do not always exist, such as `l1FeeWei` and `poolLimit`, are omitted."""
    impact = figures.price_impact
    fields: QuoteFieldsJson = {
        "network": network.name,
        "priceImpact": None if impact is None else round(impact.fraction * 100, 4),
        "slippage": figures.slippage_ppm / PPM_PER_PERCENT,
        "minReceived": str(figures.min_received),
        "gasUnits": _text(figures.gas_units),
        "gasPriceWei": _text(figures.gas_price_wei),
        "gasUsd": figures.gas_usd,
        "outputAfterGas": _text(figures.output_after_gas),
        "gasValueSource": figures.gas_value_source,
        "singlePath": None if figures.single_path is None else _render_single_path(figures.single_path),
        "unreadGainBps": figures.unread_gain_bps,
        "exact": figures.is_exact,
        "sampledPools": [display_address(each, network.kind) for each in figures.sampled_pools],
        "expiresAt": figures.expires_at_s,
        "state": {
            **render_state_source(figures.state),
            "placeholderPools": [display_address(each, network.kind) for each in figures.placeholder_pools],
            "changingPools": list(figures.changing_pools),
        },
        "warnings": render_warning_list(figures.warnings),
    }
    if figures.l1_fee_wei:
        fields["l1FeeWei"] = str(figures.l1_fee_wei)
    if figures.pool_limit:
        fields["poolLimit"] = _render_pool_limit(figures.pool_limit)
    if figures.router_choice:
        fields["routerChoice"] = render_router_choice(figures.router_choice)
    if figures.book_prices:
        fields["bookPrices"] = render_book_prices(figures.book_prices, network)
    if figures.certificate:
        fields["certificate"] = render_certificate(figures.certificate, is_complete=figures.is_search_complete)
    if figures.proof_file is not None:
        fields["proofFile"] = figures.proof_file
    return fields


def _render_pool_limit(limit: PoolLimitCost) -> PoolLimitJson:
    return {
        "maxPools": limit.max_pools,
        "simple": limit.single_path,
        "amountWithout": str(limit.amount),
        "costBps": limit.cost_bps,
    }


def render_router_choice(choice: RouterChoice) -> RouterChoiceJson:
    """Render the choice of a router with its reasons."""
    return {
        "dialect": choice.dialect,
        "reason": choice.reason,
        "gainBps": choice.gain_bps,
        "over": choice.over,
        "passed": [{"dialect": each.dialect, "reason": each.reason} for each in choice.passed],
    }


def render_book_prices(prices: BookPrices, network: Network) -> BookPricesJson:
    """Render the best prices of an order book; a price that nobody offers is null."""
    bid, ask = (
        whole_tokens(price, prices.decimals).replace(",", "") if price else None for price in (prices.bid, prices.ask)
    )
    base, quote = (display_address(each.address, network.kind) for each in (prices.base, prices.quote))
    return {"name": prices.venue, "base": base, "quote": quote, "bid": bid, "ask": ask}


def render_state_source(state: StateSource) -> StateJson:
    """Render the state of pools; fields that a service does not report are null. A past block is not live."""
    rendered: StateJson = {
        "kind": state.kind,
        "block": state.block,
        "timestamp": state.timestamp,
        "ageS": state.age_s,
        "pinned": state.pinned,
        "proposed": state.is_proposed,
        "tag": state.tag,
        "source": state.description,
        "service": state.service_url,
    }
    if state.without_samples:
        rendered["skippedSampledPools"] = state.without_samples
    return rendered


def render_warning_list(warnings: Iterable[Finding]) -> list[WarningJson]:
    """Render warnings, each with its code and sentence."""
    return [{"code": str(each.code), "message": each.message} for each in warnings]


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _render_single_path(path: SinglePath) -> SinglePathJson:
    return {"outputAmount": _text(path.amount_out), "gainBps": path.gain_bps}


def render_certificate(certificate: Certificate, *, is_complete: bool) -> CertificateJson:
    """Render the bounds with their gaps, null if no useful bound was found."""
    bound, gap_bps = _bound(certificate.bound, certificate.gap_bps)
    acyclic_bound, acyclic_gap_bps = _bound(certificate.acyclic_bound, certificate.acyclic_gap_bps)
    net = certificate.after_gas
    net_bound, net_gap_bps = _bound(net.bound, net.gap_bps) if net else (None, None)
    return {
        "bound": bound,
        "gapBps": gap_bps,
        "acyclicBound": acyclic_bound,
        "acyclicGapBps": acyclic_gap_bps,
        "poolsChecked": certificate.pools_checked,
        "searchComplete": is_complete,
        "afterGasBound": net_bound,
        "afterGasGapBps": net_gap_bps,
        "scope": {"pools": net.pools, "maxHops": net.max_hops} if net else None,
        "proofComplete": net is not None and net.is_complete,
    }


def _bound(bound: float, gap_bps: float) -> tuple[str, float] | tuple[None, None]:
    return (str(ceil(bound)), gap_bps) if gap_bps < NO_PROOF_BPS else (None, None)


def render_swap_token(token: Token, network: Network) -> SwapTokenJson:
    """Render a token that is sold or bought."""
    address = display_address(token.address, network.kind)
    return {"symbol": token.symbol, "address": address, "decimals": token.decimals}
