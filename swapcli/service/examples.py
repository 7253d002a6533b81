"""Examples of requests that work: an order between two tokens of a market, and its route for what takes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from swapcli.api.route import render_result
from swapcli.api.route_result import build_result
from swapcli.errors import SwapcliError
from swapcli.model.api_version import ApiVersion
from swapcli.model.market import Market
from swapcli.model.network import Kind
from swapcli.model.order import Order
from swapcli.model.pool import Pool
from swapcli.model.route import SHARES_PER_HOP, SHARES_PER_ROUTE, Quote, Route, Segment, Swap
from swapcli.networks.address import display_address
from swapcli.routing.gas import route_gas
from swapcli.routing.replay import replay
from swapcli.service.operations import Operation

_RECEIVER = {Kind.EVM: "0x" + "12" * 20, Kind.STARKNET: "0x" + "12".zfill(64)}
_SLIPPAGE = 0.5
_MAX_BATCH = 2


class RequestExample(NamedTuple):
    """Values for every parameter; `routes` by generation are found routes."""

    token_in: str
    token_out: str
    amount: str
    destination: str
    routes: Mapping[ApiVersion, object]

    def query(self, operation: Operation) -> dict[str, object]:
        """The parameters that an operation needs."""
        values: dict[str, object] = {
            "amount": self.amount,
            "tokenInAddress": self.token_in,
            "tokenOutAddress": self.token_out,
            "slippage": _SLIPPAGE,
            "destination": self.destination,
            "amounts": ",".join([self.amount] * _MAX_BATCH),
            "tokenInAddresses": ",".join([self.token_in] * _MAX_BATCH),
            "tokenOutAddresses": self.token_out,
            "address": self.token_out,
        }
        return {each.name: values[each.name] for each in operation.parameters if each.is_required}

    def body(self, operation: Operation) -> dict[str, object] | None:
        """The body that an operation takes, None where it takes none."""
        terms: dict[str, object] = {"slippage": _SLIPPAGE, "destination": self.destination}
        match operation.body:
            case ("CalldataRequest", *_):
                order = {"amount": self.amount, "tokenInAddress": self.token_in, "tokenOutAddress": self.token_out}
                return {**order, **terms}
            case ("SignerRequest",):
                route = self.routes[ApiVersion.V1]
                return {"route_response": route, "slippage": _SLIPPAGE, "signer": self.destination}
            case ("CalldataRequestV2",):
                return {"route": self.routes[ApiVersion.V2], **terms}
            case ("ExecuteRequest",):
                return {"route": self.routes[ApiVersion.V1], **terms}
        return None


def build_example(market: Market, now_ms: int) -> RequestExample | None:
    """An example on a market, its routes found at `now_ms` (Unix); None where the market has no pool to show.

    Its routes are those of one pool, which takes no search: quick enough to be made anew whenever they grow old.
    """
    network, quote = market.network, _quote(market)
    if quote is None:
        return None
    order = quote.order
    found = {g: build_result(quote, order, network, market.pools, g, timestamp_ms=now_ms) for g in ApiVersion}
    return RequestExample(
        token_in=display_address(order.token_in.address, network.kind),
        token_out=display_address(order.token_out.address, network.kind),
        amount=str(order.amount),
        destination=_RECEIVER[network.kind],
        routes={api_version: render_result(result, network) for api_version, result in found.items()},
    )


def _quote(market: Market) -> Quote | None:
    """Of a whole native token for a stablecoin where a pool has both, else of the first pool that can give anything."""
    native, network = market.network.wrapped_native or market.network.native, market.network
    sold = [native.address, *market.tokens]
    bought = [*(address for address in network.stablecoins if address in market.tokens), *market.tokens]
    for token_in in sold:
        pools = [pool for pool in market.pools.values() if token_in in pool.tokens]
        for token_out in bought:
            quotes = [_through(pool, token_in, token_out, market) for pool in pools if token_out in pool.tokens]
            if best := max(filter(None, quotes), key=lambda quote: quote.amount_out, default=None):
                return best
    return None


def _through(pool: Pool, token_in: str, token_out: str, market: Market) -> Quote | None:
    """The quote of a whole token through one pool; None where that pool gives nothing for it."""
    network, sold = market.network, market.tokens[token_in]
    is_native = sold.address == network.wrapped_native_address
    if token_in == token_out:
        return None
    order = Order(network.native if is_native else sold, market.tokens[token_out], 10**sold.decimals)
    route = Route((Segment(SHARES_PER_ROUTE, ((Swap(pool.key, token_in, token_out, SHARES_PER_HOP),),)),))
    try:
        done = replay({pool.key: pool}, route, order.amount)
    except SwapcliError:
        return None
    return Quote(
        order=order,
        route=route,
        steps=done.steps,
        amount_in=order.amount,
        amount_out=done.amount_out,
        gas_units=route_gas({pool.key: pool}, done),
        gas_price_wei=market.gas_price_wei,
        wei_usd=None,
        price_in_usd=None,
        price_out_usd=None,
        price_impact=None,
        best_single_path_out=None,
        time_s=0.0,
    )
