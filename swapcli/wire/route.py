"""RouteResult as JSON: V1 or V2, rendered and parsed.

Inside, addresses are lower-case and the direction is one of three swap types. On the wire V2 writes the wrapped native
token and says by `routeSwapType` what it stands for; V1 writes the native token by its zero address and the type 0, so
there the addresses decide.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from swapcli.errors import InvalidInput, NoRoute
from swapcli.model.network import Kind, Network
from swapcli.model.payload import SwapType
from swapcli.model.route import SHARES_PER_HOP, SHARES_PER_ROUTE
from swapcli.model.terms import MAX_FEE_BPS, MAX_SURPLUS_BPS, Integrator
from swapcli.model.token import Token
from swapcli.networks.address import display_address
from swapcli.wire.fields import MAX_AMOUNT, Fields, checked_digits, checked_text, entries, fault, plain
from swapcli.wire.result import RouteResult, WireSegment, WireSwap
from swapcli.wire.terms import Generation
from swapcli.wire.time import iso_utc, parse_iso_utc

if TYPE_CHECKING:
    from swapcli.wire.shapes import (
        AfterFee,
        IntegratorFields,
        Meta,
        RouteNotFound,
        RouteSegment,
        RouteV1,
        RouteV2,
        ShortRoute,
        Swap,
    )
    from swapcli.wire.shapes import Token as TokenShape

API_VERSION = "2.0"

MAX_SEGMENTS = 100
MAX_HOPS = 16
MAX_SWAPS = 64
MAX_EXTRA = 16
MAX_QUOTES = 1_000

_PERCENT = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,2}))?%")


def render_result(result: RouteResult, network: Network) -> RouteV1 | RouteV2:
    """The JSON object of a result, in the order of the specification's table; prices that are unknown are 0."""
    return render_v2(result, network) if result.generation is Generation.V2 else render_v1(result, network)


def render(result: RouteResult, network: Network, *, unknown_price: int | None = 0) -> dict[str, object]:
    """The same for those who add to it, and who may want an unknown price to be null."""
    document: dict[str, object] = {**render_result(result, network)}
    for key, token in (("inputToken", result.input_token), ("outputToken", result.output_token)):
        if token.price_usd is None and unknown_price is None:
            document[key] = {**_render_token(token, network), "price": None}
    return document


def render_no_route(message: str) -> RouteNotFound:
    """What stands in place of a route where none was found."""
    return {"success": False, "errorMessage": message}


def render_v1(result: RouteResult, network: Network) -> RouteV1:
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
        "route": render_segments(result, network),
        "bestQuotesByProtocols": list(map(str, result.best_quotes)),
        "initial": result.initial,
    }


def render_v2(result: RouteResult, network: Network) -> RouteV2:
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
        "route": render_segments(result, network),
        "bestQuotesByProtocols": list(map(str, result.best_quotes)),
        "initial": result.initial,
        "meta": render_meta(result.timestamp_ms),
        **_render_integrator(result.integrator, network),
    }


def render_short(result: RouteResult, network: Network) -> ShortRoute:
    """What V1 calldata tells of its route."""
    return {
        "inputToken": _render_token(result.input_token, network),
        "outputToken": _render_token(result.output_token, network),
        "inputAmount": str(result.input_amount),
        "outputAmount": str(result.output_amount),
        "time": result.time_s,
        "route": render_segments(result, network),
    }


def render_meta(timestamp_ms: int) -> Meta:
    """What every V2 answer carries."""
    return {"apiVersion": API_VERSION, "timestamp": iso_utc(timestamp_ms)}


def _render_after_fee(result: RouteResult) -> AfterFee:
    after_fee = result.output_amount_after_fee
    return {} if after_fee is None else {"outputAmountAfterFee": str(after_fee)}


def _render_token(token: Token, network: Network) -> TokenShape:
    price = token.price_usd or 0
    return {
        "name": token.name,
        "address": display_address(token.address, network.kind),
        "decimals": token.decimals,
        "price": plain_decimal(price) if network.kind is Kind.STARKNET else price,
        "symbol": token.symbol,
    }


def plain_decimal(number: float) -> str:
    """A float's shortest decimal form, without an exponent: 1e-07 -> "0.0000001"."""
    text = repr(number)
    if "e" not in text:
        return text
    from decimal import Decimal

    return format(Decimal(text), "f")


def render_segments(result: RouteResult, network: Network) -> list[RouteSegment]:
    """How the input is split."""
    return [_render_segment(segment, network) for segment in result.segments]


def _render_segment(segment: WireSegment, network: Network) -> RouteSegment:
    hops = [[_render_swap(swap, network) for swap in hop] for hop in segment.hops]
    return {"percent": f"{segment.percent}%", "swaps": hops}


def _render_swap(swap: WireSwap, network: Network) -> Swap:
    return {
        "protocol": swap.protocol_id,
        "poolName": swap.pool_name,
        "poolAddress": display_address(swap.pool_address, network.kind),
        "fromTokenAddress": display_address(swap.token_in, network.kind),
        "toTokenAddress": display_address(swap.token_out, network.kind),
        "percent": f"{swap.share // 100}.{swap.share % 100:02d}%",
        "extraData": dict(swap.extra) or None,
    }


def _render_integrator(integrator: Integrator | None, network: Network) -> IntegratorFields:
    if integrator is None:
        return {}
    fields: IntegratorFields = {"integratorAddress": display_address(integrator.address, network.kind)}
    if integrator.fee_bps:
        fields["integratorFeePercentageBps"] = integrator.fee_bps
    if integrator.surplus_bps:
        fields["integratorSurplusPercentageBps"] = integrator.surplus_bps
    if integrator.name is not None:
        fields["integratorName"] = integrator.name
    return fields


def parse(document: object, network: Network, path: str = "") -> RouteResult:
    """The result that a JSON object writes; the generation is V2 where it carries `meta`. `path` leads to the object.

    Checks everything that the object alone can tell: field types and ranges, shares that sum, hops that join up.
    Raises `InvalidInput` naming the field, `NoRoute` for the object of a route that was not found.
    """
    fields = Fields.of(document, path)
    refuse_failure(fields)
    generation = Generation.V2 if fields.has("meta") else Generation.V1
    token_in, token_out = (_parse_token(fields.inner(key), network) for key in ("inputToken", "outputToken"))
    return RouteResult(
        generation=generation,
        swap_type=_parse_swap_type(fields, generation, token_in, token_out),
        input_token=token_in,
        input_amount=fields.amount("inputAmount"),
        output_token=token_out,
        output_amount=fields.amount("outputAmount"),
        time_s=fields.number("time"),
        gas=fields.amount("estimatedGasUsed", least=0),
        gas_usd=fields.number("estimatedGasUsedInUsd") or None,
        segments=_parse_segments(fields, network),
        initial=fields.flag("initial", default=True),
        timestamp_ms=parse_meta(fields) if generation is Generation.V2 else 0,
        integrator=_parse_integrator(fields, network),
        best_quotes=_parse_best_quotes(fields),
    )


def refuse_failure(fields: Fields) -> None:
    """Raises `NoRoute` where an object says that it is no success."""
    if not fields.flag("success", default=True):
        raise NoRoute(plain(fields.values.get("errorMessage")) or "no route found")


def parse_short(fields: Fields, network: Network) -> RouteResult:
    """The result that V1 calldata tells in short: nothing of its gas, and of its direction what the tokens say."""
    token_in, token_out = (_parse_token(fields.inner(key), network) for key in ("inputToken", "outputToken"))
    return RouteResult(
        generation=Generation.V1,
        swap_type=SwapType.of(token_in.address, token_out.address),
        input_token=token_in,
        input_amount=fields.amount("inputAmount"),
        output_token=token_out,
        output_amount=fields.amount("outputAmount"),
        time_s=fields.number("time"),
        gas=0,
        gas_usd=None,
        segments=_parse_segments(fields, network),
    )


def _parse_token(fields: Fields, network: Network) -> Token:
    return Token(
        address=fields.address("address", network.kind),
        symbol=fields.text_or("symbol", ""),
        name=fields.text("name"),
        decimals=fields.integer("decimals", 0, 255),
        price_usd=(fields.number("price") or None) if fields.has("price") else None,
    )


def _parse_swap_type(fields: Fields, generation: Generation, token_in: Token, token_out: Token) -> SwapType:
    written = fields.integer("routeSwapType", 0, 2)
    if generation is Generation.V2:
        return SwapType(written)
    return SwapType.of(token_in.address, token_out.address)


def parse_meta(fields: Fields) -> int:
    """The time under `meta`, in Unix milliseconds."""
    meta = fields.inner("meta")
    try:
        return parse_iso_utc(meta.text("timestamp"))
    except ValueError:
        raise fault(meta.at("timestamp"), "must be an ISO 8601 time in UTC") from None


def _parse_integrator(fields: Fields, network: Network) -> Integrator | None:
    if not fields.has("integratorAddress"):
        return None

    def bps(key: str, most: int) -> int:
        return fields.integer(key, 0, most) if fields.has(key) else 0

    return Integrator(
        address=fields.address("integratorAddress", network.kind),
        fee_bps=bps("integratorFeePercentageBps", MAX_FEE_BPS),
        surplus_bps=bps("integratorSurplusPercentageBps", MAX_SURPLUS_BPS),
        name=fields.text("integratorName") if fields.has("integratorName") else None,
    )


def _parse_segments(fields: Fields, network: Network) -> tuple[WireSegment, ...]:
    entries_by_path = fields.items("route", MAX_SEGMENTS)
    segments = tuple(_parse_segment(Fields.of(entry, path), network) for path, entry in entries_by_path)
    _check_sum(fields.at("route"), sum(segment.percent for segment in segments), SHARES_PER_ROUTE)
    ends = {(segment.hops[0][0].token_in, segment.hops[-1][0].token_out) for segment in segments}
    if len(ends) > 1:
        raise fault(fields.at("route"), "must have segments that begin and end at the same tokens")
    return segments


def _parse_segment(fields: Fields, network: Network) -> WireSegment:
    share = _parse_percent(fields)
    if share % 100 or not share:
        raise fault(fields.at("percent"), "must be a whole percentage above zero")
    hops = tuple(_parse_hop(path, hop, network) for path, hop in fields.items("swaps", MAX_HOPS))
    for number, (before, after) in enumerate(pairwise(hops), start=1):
        if before[0].token_out != after[0].token_in:
            raise fault(f"{fields.at('swaps')}[{number}]", "must begin at the token at which the hop before ends")
    return WireSegment(share // 100, hops)


def _parse_hop(path: str, entry: object, network: Network) -> tuple[WireSwap, ...]:
    hop = tuple(_parse_swap(Fields.of(swap, at), network) for at, swap in entries(entry, path, MAX_SWAPS))
    _check_sum(path, sum(swap.share for swap in hop), SHARES_PER_HOP)
    if len({(swap.token_in, swap.token_out) for swap in hop}) > 1:
        raise fault(path, "must hold swaps between the same two tokens")
    return hop


def _check_sum(path: str, total: int, whole: int) -> None:
    if total != whole:
        raise fault(path, "must have percentages that sum to 100")


def _parse_swap(fields: Fields, network: Network) -> WireSwap:
    share = _parse_percent(fields)
    if not share:
        raise fault(fields.at("percent"), "must be above zero")
    return WireSwap(
        protocol_id=fields.integer("protocol", 0, 2**23 - 1),
        pool_name=fields.text("poolName"),
        pool_address=fields.address("poolAddress", network.kind),
        token_in=fields.address("fromTokenAddress", network.kind),
        token_out=fields.address("toTokenAddress", network.kind),
        share=share,
        extra=_parse_extra(fields),
    )


def _parse_percent(fields: Fields) -> int:
    """A percentage with at most two decimals ("35%", "61.20%"), in hundredths of a percent."""
    match = _PERCENT.fullmatch(fields.text("percent"))
    if match is None or int(match[1]) > 100:
        raise fault(fields.at("percent"), 'must be a percentage with at most two decimals, such as "61.20%"')
    return int(match[1]) * 100 + int((match[2] or "").ljust(2, "0"))


def _parse_extra(fields: Fields) -> dict[str, int | str]:
    if not fields.has("extraData"):
        return {}
    given = fields.inner("extraData")
    if len(given.values) > MAX_EXTRA:
        raise fault(given.path, f"must have at most {MAX_EXTRA} fields")
    return {checked_text(key, given.path): _parse_trait(value, given.at(key)) for key, value in given.values.items()}


def _parse_trait(value: object, path: str) -> int | str:
    if isinstance(value, str):
        return checked_text(value, path)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_AMOUNT:
        raise fault(path, "must be an integer or a string")
    return value


def _parse_best_quotes(fields: Fields) -> tuple[int, ...]:
    """The amounts under `bestQuotesByProtocols`. The interface leaves their form open: any other tells nothing."""
    quotes = fields.values.get("bestQuotesByProtocols")
    if not isinstance(quotes, list) or len(quotes) > MAX_QUOTES:
        return ()
    try:
        return tuple(checked_digits(quote, fields.at("bestQuotesByProtocols")) for quote in quotes)
    except InvalidInput:
        return ()
