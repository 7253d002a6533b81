"""RouteResult as JSON: V1 or V2, rendered and parsed.

Inside, addresses are lower-case and the direction is one of three swap types. On the wire V2 writes the wrapped native
token and says by `routeSwapType` what it stands for; V1 writes the native token by its zero address and the type 0, so
there the addresses decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.api.fields import Fields, invalid_field, plain, require_decimal_string
from swapcli.api.route_result import RouteResult
from swapcli.api.segments import parse_segments, render_segments
from swapcli.api.timestamps import format_iso_utc, parse_iso_utc
from swapcli.errors import InvalidInput, NoRoute
from swapcli.model.api_version import ApiVersion
from swapcli.model.network import Kind, Network
from swapcli.model.swap_terms import MAX_FEE_BPS, MAX_SURPLUS_BPS, Integrator
from swapcli.model.token import Token
from swapcli.model.transaction import SwapType
from swapcli.networks.address import display_address

if TYPE_CHECKING:
    from swapcli.api.schemas import (
        AfterFeeJson,
        IntegratorFieldsJson,
        MetaJson,
        RouteNotFoundJson,
        RouteV1Json,
        RouteV2Json,
        ShortRouteJson,
    )
    from swapcli.api.schemas import TokenJson as TokenShape

API_VERSION = "2.0"

MAX_QUOTES = 1_000


def render_result(result: RouteResult, network: Network) -> RouteV1Json | RouteV2Json:
    """The JSON object of a result, in the order of the specification's table; prices that are unknown are 0."""
    return render_v2(result, network) if result.api_version is ApiVersion.V2 else render_v1(result, network)


def render(result: RouteResult, network: Network, *, unknown_price: int | None = 0) -> dict[str, object]:
    """The same for those who add to it, and who may want an unknown price to be null."""
    document: dict[str, object] = {**render_result(result, network)}
    for key, token in (("inputToken", result.input_token), ("outputToken", result.output_token)):
        if token.price_usd is None and unknown_price is None:
            document[key] = {**_render_token(token, network), "price": None}
    return document


def render_no_route(message: str) -> RouteNotFoundJson:
    """What stands in place of a route where none was found."""
    return {"success": False, "errorMessage": message}


def render_v1(result: RouteResult, network: Network) -> RouteV1Json:
    """The JSON object of a V1 result."""
    return {
        "success": True,
        "routeSwapType": 0,
        "inputToken": _render_token(result.input_token, network),
        "inputAmount": str(result.input_amount),
        "outputToken": _render_token(result.output_token, network),
        "outputAmount": str(result.output_amount),
        "time": result.time_s,
        "estimatedGasUsed": str(result.gas),
        "estimatedGasUsedInUsd": result.gas_usd or 0,
        "route": render_segments(result.segments, network),
        "bestQuotesByProtocols": list(map(str, result.best_quotes)),
        "initial": result.initial,
    }


def render_v2(result: RouteResult, network: Network) -> RouteV2Json:
    """The JSON object of a V2 result."""
    return {
        "success": True,
        "routeSwapType": int(result.swap_type),
        "inputToken": _render_token(result.input_token, network),
        "inputAmount": str(result.input_amount),
        "outputToken": _render_token(result.output_token, network),
        "outputAmount": str(result.output_amount),
        **_render_after_fee(result),
        "time": result.time_s,
        "estimatedGasUsed": str(result.gas),
        "estimatedGasUsedInUsd": result.gas_usd or 0,
        "route": render_segments(result.segments, network),
        "bestQuotesByProtocols": list(map(str, result.best_quotes)),
        "initial": result.initial,
        "meta": render_meta(result.timestamp_ms),
        **_render_integrator(result.integrator, network),
    }


def render_short(result: RouteResult, network: Network) -> ShortRouteJson:
    """What V1 calldata tells of its route."""
    return {
        "inputToken": _render_token(result.input_token, network),
        "outputToken": _render_token(result.output_token, network),
        "inputAmount": str(result.input_amount),
        "outputAmount": str(result.output_amount),
        "time": result.time_s,
        "route": render_segments(result.segments, network),
    }


def render_meta(timestamp_ms: int) -> MetaJson:
    """What every V2 answer carries."""
    return {"apiVersion": API_VERSION, "timestamp": format_iso_utc(timestamp_ms)}


def _render_after_fee(result: RouteResult) -> AfterFeeJson:
    after_fee = result.output_amount_after_fee
    return {} if after_fee is None else {"outputAmountAfterFee": str(after_fee)}


def _render_token(token: Token, network: Network) -> TokenShape:
    price = token.price_usd or 0
    return {
        "name": token.name,
        "address": display_address(token.address, network.kind),
        "decimals": token.decimals,
        "price": format_decimal(price) if network.kind is Kind.STARKNET else price,
        "symbol": token.symbol,
    }


def format_decimal(number: float) -> str:
    """A float's shortest decimal form, without an exponent: 1e-07 -> "0.0000001"."""
    text = repr(number)
    if "e" not in text:
        return text
    from decimal import Decimal

    return format(Decimal(text), "f")


def _render_integrator(integrator: Integrator | None, network: Network) -> IntegratorFieldsJson:
    if integrator is None:
        return {}
    fields: IntegratorFieldsJson = {"integratorAddress": display_address(integrator.address, network.kind)}
    if integrator.fee_bps:
        fields["integratorFeePercentageBps"] = integrator.fee_bps
    if integrator.surplus_bps:
        fields["integratorSurplusPercentageBps"] = integrator.surplus_bps
    if integrator.name is not None:
        fields["integratorName"] = integrator.name
    return fields


def parse_result(document: object, network: Network, path: str = "") -> RouteResult:
    """The result that a JSON object writes; the api_version is V2 where it carries `meta`. `path` leads to the object.

    Checks everything that the object alone can tell: field types and ranges, shares that sum, hops that join up. The
    output after a fee is not kept: it follows from the fee.
    Raises `InvalidInput` naming the field, `NoRoute` for the object of a route that was not found.
    """
    fields = Fields(document, path)
    raise_if_no_route(fields)
    api_version = ApiVersion.V2 if fields.has("meta") else ApiVersion.V1
    if fields.has("outputAmountAfterFee"):
        fields.amount("outputAmountAfterFee", minimum=0)
    token_in, token_out = (_parse_token(fields.nested(key), network) for key in ("inputToken", "outputToken"))
    return RouteResult(
        api_version=api_version,
        swap_type=_parse_swap_type(fields, api_version, token_in, token_out),
        input_token=token_in,
        input_amount=fields.amount("inputAmount"),
        output_token=token_out,
        output_amount=fields.amount("outputAmount"),
        time_s=fields.number("time"),
        gas=fields.amount("estimatedGasUsed", minimum=0),
        gas_usd=fields.number("estimatedGasUsedInUsd") or None,
        segments=parse_segments(fields, network),
        initial=fields.boolean("initial", default=True),
        timestamp_ms=parse_meta(fields) if api_version is ApiVersion.V2 else 0,
        integrator=_parse_integrator(fields, network) if api_version is ApiVersion.V2 else None,
        best_quotes=_parse_best_quotes(fields),
    )


def raise_if_no_route(fields: Fields) -> None:
    """Raises `NoRoute` where an object says that it is no success."""
    if not fields.boolean("success", default=True):
        raise NoRoute(plain(fields.values.get("errorMessage")) or "no route found")


def parse_short(fields: Fields, network: Network) -> RouteResult:
    """The result that V1 calldata tells in short: nothing of its gas, and of its direction what the tokens say."""
    token_in, token_out = (_parse_token(fields.nested(key), network) for key in ("inputToken", "outputToken"))
    return RouteResult(
        api_version=ApiVersion.V1,
        swap_type=SwapType.of(token_in.address, token_out.address),
        input_token=token_in,
        input_amount=fields.amount("inputAmount"),
        output_token=token_out,
        output_amount=fields.amount("outputAmount"),
        time_s=fields.number("time"),
        gas=0,
        gas_usd=None,
        segments=parse_segments(fields, network),
    )


def _parse_token(fields: Fields, network: Network) -> Token:
    return Token(
        address=fields.token_address("address", network.kind),
        symbol=fields.text_or("symbol", ""),
        name=fields.text("name"),
        decimals=fields.json_integer("decimals", 0, 255),
        price_usd=(fields.number("price") or None) if fields.has("price") else None,
    )


def _parse_swap_type(fields: Fields, api_version: ApiVersion, token_in: Token, token_out: Token) -> SwapType:
    written = fields.json_integer("routeSwapType", 0, 2)
    if api_version is ApiVersion.V2:
        return SwapType(written)
    return SwapType.of(token_in.address, token_out.address)


def parse_meta(fields: Fields) -> int:
    """The time under `meta`, in Unix milliseconds."""
    meta = fields.nested("meta")
    try:
        return parse_iso_utc(meta.text("timestamp"))
    except ValueError:
        raise invalid_field(meta.path_of("timestamp"), "must be an ISO 8601 time in UTC") from None


def _parse_integrator(fields: Fields, network: Network) -> Integrator | None:
    if not fields.has("integratorAddress"):
        return None

    def bps(key: str, most: int) -> int:
        return fields.json_integer(key, 0, most) if fields.has(key) else 0

    return Integrator(
        address=fields.address("integratorAddress", network.kind),
        fee_bps=bps("integratorFeePercentageBps", MAX_FEE_BPS),
        surplus_bps=bps("integratorSurplusPercentageBps", MAX_SURPLUS_BPS),
        name=fields.text("integratorName") if fields.has("integratorName") else None,
    )


def _parse_best_quotes(fields: Fields) -> tuple[int, ...]:
    """The amounts under `bestQuotesByProtocols`. The interface leaves their form open: any other tells nothing."""
    quotes = fields.values.get("bestQuotesByProtocols")
    if not isinstance(quotes, list) or len(quotes) > MAX_QUOTES:
        return ()
    try:
        return tuple(require_decimal_string(quote, fields.path_of("bestQuotesByProtocols")) for quote in quotes)
    except InvalidInput:
        return ()
