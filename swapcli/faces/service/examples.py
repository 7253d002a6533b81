"""Working example requests for the OpenAPI document: an order between two tokens in a market, and its route."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from swapcli.core.errors import SwapcliError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Kind
from swapcli.core.model.order import Order
from swapcli.core.model.quote import Quote
from swapcli.core.model.route_result import RouteResult, build_result
from swapcli.core.model.swap_terms import DEFAULT_SLIPPAGE_PPM, SwapTerms
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.core.routing.router import Router
from swapcli.faces.service.endpoint_table import Endpoint
from swapcli.faces.service.parameter_descriptions import Parameter
from swapcli.interface import json_types
from swapcli.interface.fields import render_felts
from swapcli.interface.route import render_result
from swapcli.payload.payloads import build_transaction

_RECIPIENT = {Kind.EVM: "0x" + "12" * 20, Kind.STARKNET: "0x0" + "12" * 31 + "1"}
_SLIPPAGE = 0.5
_MAX_BATCH = 2
_NAME_CALL = "0x06fdde03"
"""The calldata of `name()`."""


class RequestExample(NamedTuple):
    """An example's values for every parameter, its routes by API version, and the transaction of the first route."""

    token_in: str
    token_out: str
    amount: str
    recipient: str
    routes: Mapping[ApiVersion, object]
    transaction: Mapping[str, object]

    def query(self, parameters: Sequence[Parameter]) -> dict[str, object]:
        """Return values of the required parameters, by name."""
        values: dict[str, object] = {
            "amount": self.amount,
            "tokenInAddress": self.token_in,
            "tokenOutAddress": self.token_out,
            "slippage": _SLIPPAGE,
            "destination": self.recipient,
            "amounts": ",".join([self.amount] * _MAX_BATCH),
            "tokenInAddresses": ",".join([self.token_in] * _MAX_BATCH),
            "tokenOutAddresses": self.token_out,
            "address": self.token_out,
        }
        return {each.name: values[each.name] for each in parameters if each.is_required}

    def body(self, endpoint: Endpoint) -> dict[str, object] | None:
        """Return a body for the endpoint, or None if it does not accept one."""
        terms: dict[str, object] = {"slippage": _SLIPPAGE, "destination": self.recipient}
        if not endpoint.body:
            return None
        body_type = endpoint.body[0]
        if body_type is json_types.CalldataRequestJson:
            order = {"amount": self.amount, "tokenInAddress": self.token_in, "tokenOutAddress": self.token_out}
            return {**order, **terms}
        if body_type in (json_types.DecodeRequestJson, json_types.StarknetDecodeRequestJson):
            return {**self.transaction, "destination": self.recipient}
        route = self.routes[endpoint.api_version]
        if body_type is json_types.SignerRequestJson:
            return {"route_response": route, "slippage": _SLIPPAGE, "signer": self.recipient}
        return {"route": route, **terms}


def build_example(market: MarketState, now_ms: int) -> RequestExample | None:
    """Return an example for a market, with routes made at `now_ms` (Unix), or None if no pool can be quoted.

    Its paths have a single hop, so that rebuilding an expired example takes only a search of a few pools.
    """
    network, quote = market.network, _quote(market)
    if quote is None:
        return None
    order = quote.order
    results = {
        version: build_result(quote, order, network, market.pools, version, timestamp_ms=now_ms)
        for version in ApiVersion
    }
    return RequestExample(
        token_in=display_address(order.token_in.address, network.kind),
        token_out=display_address(order.token_out.address, network.kind),
        amount=str(order.amount),
        recipient=_RECIPIENT[network.kind],
        routes={version: render_result(result, network) for version, result in results.items()},
        transaction=_transaction(quote, results[ApiVersion.V1], market),
    )


def _transaction(quote: Quote, result: RouteResult, market: MarketState) -> Mapping[str, object]:
    """Return the fields of the swap; if the router is unknown, of a call to the bought token."""
    network = market.network
    try:
        terms = SwapTerms(DEFAULT_SLIPPAGE_PPM, _RECIPIENT[network.kind])
        payload = build_transaction(result, quote.steps, quote.amount_out, market.pools, network, terms)
    except SwapcliError:
        return {"to": display_address(quote.order.token_out.address, network.kind), "calldata": _NAME_CALL}
    if payload.felts:
        return {"calldata": render_felts(payload.felts)}
    to = display_address(payload.to, network.kind)
    return {"to": to, "calldata": payload.calldata, "value": str(payload.value)}


def _quote(market: MarketState) -> Quote | None:
    """Quote one native token for a stablecoin if a pool has both, otherwise the first pair with any output."""
    native, network = market.network.wrapped_native or market.network.native, market.network
    stablecoins = [address for address in network.stablecoins if address in market.tokens]
    for sold in sorted(market.tokens, key=lambda address: address != native.address):
        pools = {key: pool for key, pool in market.pools.items() if sold in pool.tokens}
        token_in = network.native if sold == network.wrapped_native_address else market.tokens[sold]
        for bought in dict.fromkeys((*stablecoins, *market.tokens)):
            direct = {key: pool for key, pool in pools.items() if bought in pool.tokens and bought != sold}
            if direct:
                order = Order(market.tokens[sold], market.tokens[bought], 10**token_in.decimals)
                with suppress(SwapcliError):
                    found = Router(market._replace(pools=direct)).quote(order)
                    return found._replace(order=order._replace(token_in=token_in))
    return None
