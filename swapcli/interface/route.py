"""Render and parse `RouteResult` as JSON, in V1 and V2.

Internally, addresses are lower-case and the direction is one of three swap types. In V2 JSON, the wrapped native token
represents the native one, and `routeSwapType` gives the direction. In V1 the native token is the zero address and
`routeSwapType` is always 0, so the addresses give the direction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidInput, NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network, is_dialect
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.model.units import BPS
from swapcli.core.networks.address import display_of
from swapcli.interface.fields import Fields, invalid_field, plain, require_decimal_string
from swapcli.interface.integrators import ADDRESS, FEE, SURPLUS, build_integrator
from swapcli.interface.interface_by_network import KindVariant, kind_variant
from swapcli.interface.segments import addresses_in, parse_segments, render_segments
from swapcli.interface.timestamps import format_iso_utc, parse_rfc3339

if TYPE_CHECKING:
    from swapcli.interface.json_types import (
        AfterFeeJson,
        IntegratorFieldsJson,
        MetaJson,
        RouteNotFoundJson,
        RouteV1Json,
        RouteV2Json,
        ShortRouteJson,
    )
    from swapcli.interface.json_types import TokenJson as TokenShape

API_VERSION = "2.0"

MAX_QUOTES = 1_000  # a bound against hostile input; chosen


def render_result(result: RouteResult, network: Network) -> RouteV1Json | RouteV2Json:
    """Render a result in its API version, with the fields in the order of the specification; unknown prices are 0."""
    return render_v2(result, network) if result.api_version is ApiVersion.V2 else render_v1(result, network)


def render(result: RouteResult, network: Network, *, unknown_price: int | None = 0) -> dict[str, object]:
    """Render a result as an extensible dictionary, with `unknown_price` (0 or None) for tokens without a price."""
    rendered = render_result(result, network)
    document: dict[str, object] = {**rendered}
    if unknown_price is None and result.input_token.price_usd is None:
        document["inputToken"] = {**rendered["inputToken"], "price": None}
    if unknown_price is None and result.output_token.price_usd is None:
        document["outputToken"] = {**rendered["outputToken"], "price": None}
    return document


def render_no_route(message: str) -> RouteNotFoundJson:
    """Render the failure that replaces a route."""
    return {"success": False, "errorMessage": message}


def render_v1(result: RouteResult, network: Network) -> RouteV1Json:
    """Render a V1 result."""
    display, variant = _display_for(result, network), kind_variant(network.kind)
    return {
        "success": True,
        "routeSwapType": 0,
        "inputToken": _render_token(result.input_token, display, variant),
        "inputAmount": str(result.input_amount),
        "outputToken": _render_token(result.output_token, display, variant),
        "outputAmount": str(result.output_amount),
        "time": result.time_s,
        "estimatedGasUsed": str(result.gas_units or 0),
        "estimatedGasUsedInUsd": result.gas_usd or 0,
        "route": render_segments(result.segments, display),
        "bestQuotesByProtocols": list(map(str, result.best_quotes)),
        "initial": result.initial,
    }


def render_v2(result: RouteResult, network: Network) -> RouteV2Json:
    """Render a V2 result."""
    display, variant = _display_for(result, network), kind_variant(network.kind)
    return {
        "success": True,
        "routeSwapType": int(result.swap_type),
        "inputToken": _render_token(result.input_token, display, variant),
        "inputAmount": str(result.input_amount),
        "outputToken": _render_token(result.output_token, display, variant),
        "outputAmount": str(result.output_amount),
        **_render_after_fee(result),
        "time": result.time_s,
        "estimatedGasUsed": str(result.gas_cost_wei or 0),
        "estimatedGasUsedInUsd": result.gas_usd or 0,
        "route": render_segments(result.segments, display),
        "bestQuotesByProtocols": list(map(str, result.best_quotes)),
        "initial": result.initial,
        "meta": render_meta(result.timestamp_ms),
        **_render_integrator(result.integrator, display),
    }


def render_short(result: RouteResult, network: Network) -> ShortRouteJson:
    """Render the short route of V1 calldata."""
    display, variant = _display_for(result, network), kind_variant(network.kind)
    return {
        "inputToken": _render_token(result.input_token, display, variant),
        "outputToken": _render_token(result.output_token, display, variant),
        "inputAmount": str(result.input_amount),
        "outputAmount": str(result.output_amount),
        "time": result.time_s,
        "route": render_segments(result.segments, display),
    }


def render_meta(timestamp_ms: int) -> MetaJson:
    """Render the `meta` object of a V2 response."""
    return {"apiVersion": API_VERSION, "timestamp": format_iso_utc(timestamp_ms)}


def _render_after_fee(result: RouteResult) -> AfterFeeJson:
    after_fee = result.output_amount_after_fee
    return {} if after_fee is None else {"outputAmountAfterFee": str(after_fee)}


def _display_for(result: RouteResult, network: Network) -> Callable[[str], str]:
    tokens = (result.input_token.address, result.output_token.address)
    return display_of(network.kind, [*tokens, *addresses_in(result.segments)])


def _render_token(token: Token, display: Callable[[str], str], variant: KindVariant) -> TokenShape:
    price = token.price_usd or 0
    return {
        "name": token.name,
        "address": display(token.address),
        "decimals": token.decimals,
        "price": format_decimal(price) if variant.prices_are_text else price,
        "symbol": token.symbol,
    }


def format_decimal(number: float) -> str:
    """Format a float in its shortest decimal form without an exponent: 1e-07 -> "0.0000001"."""
    text = repr(number)
    if "e" not in text:
        return text
    from decimal import Decimal

    return format(Decimal(text), "f")


def _render_integrator(integrator: Integrator | None, display: Callable[[str], str]) -> IntegratorFieldsJson:
    if integrator is None:
        return {}
    fields: IntegratorFieldsJson = {"integratorAddress": display(integrator.address)}
    if integrator.fee_bps:
        fields["integratorFeePercentageBps"] = integrator.fee_bps
    if integrator.surplus_bps:
        fields["integratorSurplusPercentageBps"] = integrator.surplus_bps
    if integrator.name is not None:
        fields["integratorName"] = integrator.name
    return fields


def parse_result(document: object, network: Network, path: str = "") -> RouteResult:
    """Parse a result, in V2 if it has `meta`. `path` is the path of the object in its document, for errors.

    Checks everything that the object alone determines: types and ranges of fields, sums of shares, connected hops, and
    the rules on integrators. Time and gas, on which nothing depends, may be missing. The output after the fee is
    checked but not stored, since it follows from the fee. Raises `InvalidInput` with the field, `NoRoute` for `success:
    false`.
    """
    fields = Fields(document, path)
    raise_if_no_route(fields)
    api_version = ApiVersion.V2 if fields.has("meta") else ApiVersion.V1
    if fields.has("outputAmountAfterFee"):
        fields.amount("outputAmountAfterFee", minimum=0)
    token_in, token_out = (_parse_token(fields.nested(key), network) for key in ("inputToken", "outputToken"))
    v2 = api_version is ApiVersion.V2
    gas = fields.amount("estimatedGasUsed", minimum=0) if fields.has("estimatedGasUsed") else None
    return RouteResult(
        api_version=api_version,
        swap_type=_parse_swap_type(fields, api_version, token_in, token_out),
        input_token=token_in,
        input_amount=fields.amount("inputAmount"),
        output_token=token_out,
        output_amount=fields.amount("outputAmount"),
        time_s=_parse_time_s(fields),
        gas_units=None if v2 else gas,
        gas_cost_wei=gas if v2 else None,
        gas_usd=(fields.number("estimatedGasUsedInUsd") or None) if fields.has("estimatedGasUsedInUsd") else None,
        segments=parse_segments(fields, network),
        initial=fields.boolean("initial", default=True),
        timestamp_ms=parse_meta(fields) if v2 else 0,
        integrator=_parse_integrator(fields, network) if v2 else None,
        best_quotes=_parse_best_quotes(fields),
    )


def parse_posted_result(document: object, network: Network, path: str = "") -> RouteResult:
    """Parse a route sent back by a client. Raises the errors of `parse_result`, and `InvalidInput` if its `meta` has a
    different version.

    A route without a version is accepted, because it may come from a client that keeps only the fields it needs.
    """
    result = parse_result(document, network, path)
    if result.api_version is ApiVersion.V2:
        meta = Fields(document, path).nested("meta")
        if meta.has("apiVersion") and meta.values["apiVersion"] != API_VERSION:
            raise invalid_field(meta.path_of("apiVersion"), f'must be "{API_VERSION}"')
    choice = Fields(document, path)
    if not choice.has("routerChoice"):
        return result
    dialect = choice.nested("routerChoice").text("dialect")
    return result._replace(dialect=dialect if is_dialect(dialect) else None)


def raise_if_no_route(fields: Fields) -> None:
    """Raise `NoRoute` if an object has `success: false`."""
    if not fields.boolean("success", default=True):
        raise NoRoute(plain(fields.values.get("errorMessage")) or "no route found")


def parse_short(fields: Fields, network: Network) -> RouteResult:
    """Parse the short route of V1 calldata. It has no gas; the tokens give its direction."""
    token_in, token_out = (_parse_token(fields.nested(key), network) for key in ("inputToken", "outputToken"))
    return RouteResult(
        api_version=ApiVersion.V1,
        swap_type=SwapType.of(token_in.address, token_out.address),
        input_token=token_in,
        input_amount=fields.amount("inputAmount"),
        output_token=token_out,
        output_amount=fields.amount("outputAmount"),
        time_s=_parse_time_s(fields),
        gas_units=None,
        gas_cost_wei=None,
        gas_usd=None,
        segments=parse_segments(fields, network),
    )


def _parse_token(fields: Fields, network: Network) -> Token:
    return Token(
        address=fields.token_address("address", network.kind),
        symbol=fields.text_or("symbol", ""),
        name=fields.text("name"),
        decimals=fields.whole_number("decimals", 0, 255),
        price_usd=(fields.number("price") or None) if fields.has("price") else None,
    )


def _parse_time_s(fields: Fields) -> float:
    """Parse the time that finding the route took. Nothing depends on it, so it may be missing."""
    return fields.number("time") if fields.has("time") else 0.0


def _parse_swap_type(fields: Fields, api_version: ApiVersion, token_in: Token, token_out: Token) -> SwapType:
    if api_version is ApiVersion.V2:
        return SwapType(fields.json_integer("routeSwapType", 0, 2))
    fields.whole_number("routeSwapType", 0, 2)
    return SwapType.of(token_in.address, token_out.address)


def parse_meta(fields: Fields) -> int:
    """Parse the time in `meta`, in Unix milliseconds."""
    meta = fields.nested("meta")
    try:
        return parse_rfc3339(meta.text("timestamp"))
    except ValueError:
        raise invalid_field(
            meta.path_of("timestamp"), "must be an RFC 3339 time, such as 2026-01-24T21:46:40.000Z"
        ) from None


def _parse_integrator(fields: Fields, network: Network) -> Integrator | None:
    """Parse the integrator by the rules of a query."""

    def bps(key: str) -> int:
        return fields.json_integer(key, 0, BPS) if fields.has(key) else 0

    return build_integrator(
        fields.address(ADDRESS, network.kind) if fields.values.get(ADDRESS) else None,
        bps(FEE),
        bps(SURPLUS),
        network.kind,
        name=fields.text("integratorName") if fields.has("integratorName") else None,
        path=fields.path_of(""),
    )


def _parse_best_quotes(fields: Fields) -> tuple[int, ...]:
    """Parse `bestQuotesByProtocols`. The Fibrous API does not define its elements, so other formats are ignored."""
    quotes = fields.values.get("bestQuotesByProtocols")
    if not isinstance(quotes, list) or len(quotes) > MAX_QUOTES:
        return ()
    try:
        return tuple(require_decimal_string(quote, fields.path_of("bestQuotesByProtocols")) for quote in quotes)
    except InvalidInput:
        return ()
