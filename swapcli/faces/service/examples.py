"""Working example requests for the OpenAPI document: an order between two tokens of a market, and its route."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapcli.core.errors import SwapcliError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Kind
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Quote, Route, Segment, Swap
from swapcli.core.model.route_result import build_result
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.core.routing.gas import route_gas
from swapcli.core.routing.replay import replay
from swapcli.faces.service.endpoint_table import Endpoint
from swapcli.faces.service.parameter_descriptions import Parameter
from swapcli.interface import json_types
from swapcli.interface.route import render_result

_RECIPIENT = {Kind.EVM: "0x" + "12" * 20, Kind.STARKNET: "0x0" + "12" * 31 + "1"}
_SLIPPAGE = 0.5
_MAX_BATCH = 2


class RequestExample(NamedTuple):
    """Values for every parameter, and routes by version of the interface."""

    token_in: str
    token_out: str
    amount: str
    recipient: str
    routes: Mapping[ApiVersion, object]

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
        """Return a body for the endpoint; None if it takes none."""
        terms: dict[str, object] = {"slippage": _SLIPPAGE, "destination": self.recipient}
        if not endpoint.body:
            return None
        body_type = endpoint.body[0]
        if body_type is json_types.CalldataRequestJson:
            order = {"amount": self.amount, "tokenInAddress": self.token_in, "tokenOutAddress": self.token_out}
            return {**order, **terms}
        route = self.routes[endpoint.api_version]
        if body_type is json_types.SignerRequestJson:
            return {"route_response": route, "slippage": _SLIPPAGE, "signer": self.recipient}
        return {"route": route, **terms}


def build_example(market: MarketState, now_ms: int) -> RequestExample | None:
    """Return an example on a market, with routes of the time `now_ms` (Unix); None if no pool can be quoted.

    Each route uses a single pool and needs no search, so it can be rebuilt cheaply when it expires.
    """
    network, quote = market.network, _quote(market)
    if quote is None:
        return None
    order = quote.order
    return RequestExample(
        token_in=display_address(order.token_in.address, network.kind),
        token_out=display_address(order.token_out.address, network.kind),
        amount=str(order.amount),
        recipient=_RECIPIENT[network.kind],
        routes={
            version: render_result(
                build_result(quote, order, network, market.pools, version, timestamp_ms=now_ms), network
            )
            for version in ApiVersion
        },
    )


def _quote(market: MarketState) -> Quote | None:
    """Quote one native token for a stablecoin if a pool has both, else the first pair with any output."""
    native, network = market.network.wrapped_native or market.network.native, market.network
    inputs = [native.address, *market.tokens]
    outputs = [*(address for address in network.stablecoins if address in market.tokens), *market.tokens]
    for token_in in inputs:
        pools = [pool for pool in market.pools.values() if token_in in pool.tokens]
        for token_out in outputs:
            quotes = [_quote_pool(pool, token_in, token_out, market) for pool in pools if token_out in pool.tokens]
            if best := max(filter(None, quotes), key=lambda quote: quote.amount_out, default=None):
                return best
    return None


def _quote_pool(pool: Pool, token_in: str, token_out: str, market: MarketState) -> Quote | None:
    """Quote one token through one pool; return None if the pool pays nothing."""
    network, sold_token = market.network, market.tokens[token_in]
    is_native = sold_token.address == network.wrapped_native_address
    if token_in == token_out:
        return None
    order = Order(network.native if is_native else sold_token, market.tokens[token_out], 10**sold_token.decimals)
    route = Route((Segment(SHARES_PER_ROUTE, ((Swap(pool.key, token_in, token_out, SHARES_PER_HOP),),)),))
    try:
        replayed = replay({pool.key: pool}, route, order.amount)
    except SwapcliError:
        return None
    return Quote(
        order=order,
        route=route,
        steps=replayed.steps,
        amount_in=order.amount,
        amount_out=replayed.amount_out,
        gas_units=route_gas({pool.key: pool}, replayed),
        gas_price_wei=market.gas_price_wei,
        wei_usd=None,
        price_in_usd=None,
        price_out_usd=None,
        price_impact=None,
        best_single_path_out=None,
        time_s=0.0,
    )
