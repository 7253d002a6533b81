"""RouteResult as JSON: V1 or V2, rendered and parsed.

Inside, addresses are lower-case and the direction is one of three swap types. On the wire V2 writes the wrapped native
token and says by `routeSwapType` what it stands for; V1 writes the native token by its zero address and the type 0, so
there the addresses decide.
"""

from __future__ import annotations

import re
from itertools import pairwise

from swapcli.errors import NoRoute
from swapcli.model.network import Kind, Network
from swapcli.model.payload import SwapType
from swapcli.model.route import SHARES_PER_HOP, SHARES_PER_ROUTE
from swapcli.model.terms import MAX_FEE_BPS, MAX_SURPLUS_BPS, Integrator
from swapcli.model.token import Token
from swapcli.networks.address import display_address, parse_address
from swapcli.wire.fields import Fields, entries, fault
from swapcli.wire.result import RouteResult, WireSegment, WireSwap
from swapcli.wire.terms import Generation
from swapcli.wire.time import iso_utc, parse_iso_utc

API_VERSION = "2.0"

_PERCENT = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,2}))?%")


def render(result: RouteResult, network: Network, *, unknown_price: int | None = 0) -> dict[str, object]:
    """The JSON object of a result, in the order of the specification's table.

    `unknown_price` stands for prices that are not known: 0 on the wire. Integrator fields appear where there is one.
    """
    v2 = result.generation is Generation.V2
    document: dict[str, object] = {
        "success": True,
        "routeSwapType": int(result.swap_type) if v2 else 0,
        "inputToken": _render_token(result.input_token, network, unknown_price),
        "inputAmount": str(result.input_amount),
        "outputToken": _render_token(result.output_token, network, unknown_price),
        "outputAmount": str(result.output_amount),
    }
    if result.output_amount_after_fee is not None:
        document["outputAmountAfterFee"] = str(result.output_amount_after_fee)
    document |= {
        "time": result.time_s,
        "estimatedGasUsed": str(result.gas),
        "estimatedGasUsedInUsd": 0 if result.gas_usd is None else result.gas_usd,
        "route": [_render_segment(segment, network) for segment in result.segments],
        "bestQuotesByProtocols": [],
        "initial": result.initial,
    }
    if v2:
        document["meta"] = {"apiVersion": API_VERSION, "timestamp": iso_utc(result.timestamp_ms)}
    return document | _render_integrator(result.integrator, network)


def render_no_route(message: str) -> dict[str, object]:
    """What stands in place of a route where none was found."""
    return {"success": False, "errorMessage": message}


def _render_token(token: Token, network: Network, unknown_price: int | None) -> dict[str, object]:
    price = unknown_price if token.price_usd is None else token.price_usd
    return {
        "name": token.name,
        "address": display_address(token.address, network.kind),
        "decimals": token.decimals,
        "price": plain_decimal(price) if network.kind is Kind.STARKNET and price is not None else price,
        "symbol": token.symbol,
    }


def plain_decimal(number: float) -> str:
    """A float's shortest decimal form, without an exponent: 1e-07 -> "0.0000001"."""
    text = repr(number)
    if "e" not in text:
        return text
    from decimal import Decimal

    return format(Decimal(text), "f")


def _render_segment(segment: WireSegment, network: Network) -> dict[str, object]:
    hops = [[_render_swap(swap, network) for swap in hop] for hop in segment.hops]
    return {"percent": f"{segment.percent}%", "swaps": hops}


def _render_swap(swap: WireSwap, network: Network) -> dict[str, object]:
    return {
        "protocol": swap.protocol_id,
        "poolName": swap.pool_name,
        "poolAddress": display_address(swap.pool_address, network.kind),
        "fromTokenAddress": display_address(swap.token_in, network.kind),
        "toTokenAddress": display_address(swap.token_out, network.kind),
        "percent": f"{swap.share // 100}.{swap.share % 100:02d}%",
        "extraData": dict(swap.extra) or None,
    }


def _render_integrator(integrator: Integrator | None, network: Network) -> dict[str, object]:
    if integrator is None:
        return {}
    document: dict[str, object] = {"integratorAddress": display_address(integrator.address, network.kind)}
    if integrator.fee_bps:
        document["integratorFeePercentageBps"] = integrator.fee_bps
    if integrator.surplus_bps:
        document["integratorSurplusPercentageBps"] = integrator.surplus_bps
    if integrator.name is not None:
        document["integratorName"] = integrator.name
    return document


def parse(document: object, network: Network) -> RouteResult:
    """The result that a JSON object writes; the generation is V2 where it carries `meta`.

    Checks everything that the object alone can tell: field types and ranges, shares that sum, hops that join up.
    Raises `InvalidInput` naming the field, `NoRoute` for the object of a route that was not found.
    """
    fields = Fields.of(document)
    if not fields.flag("success", default=True):
        raise NoRoute(str(fields.values.get("errorMessage") or "no route found"))
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
        timestamp_ms=_parse_timestamp(fields) if generation is Generation.V2 else 0,
        integrator=_parse_integrator(fields, network),
    )


def _parse_token(fields: Fields, network: Network) -> Token:
    return Token(
        address=_parse_address(fields, "address", network),
        symbol=fields.text("symbol") if fields.has("symbol") else "",
        name=fields.text("name"),
        decimals=fields.integer("decimals", 0, 255),
        price_usd=(fields.number("price") or None) if fields.has("price") else None,
    )


def _parse_address(fields: Fields, key: str, network: Network) -> str:
    return parse_address(fields.text(key), network.kind)


def _parse_swap_type(fields: Fields, generation: Generation, token_in: Token, token_out: Token) -> SwapType:
    written = fields.integer("routeSwapType", 0, 2)
    if generation is Generation.V2:
        return SwapType(written)
    return SwapType.of(token_in.address, token_out.address)


def _parse_timestamp(fields: Fields) -> int:
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
        address=_parse_address(fields, "integratorAddress", network),
        fee_bps=bps("integratorFeePercentageBps", MAX_FEE_BPS),
        surplus_bps=bps("integratorSurplusPercentageBps", MAX_SURPLUS_BPS),
        name=fields.text("integratorName") if fields.has("integratorName") else None,
    )


def _parse_segments(fields: Fields, network: Network) -> tuple[WireSegment, ...]:
    segments = tuple(_parse_segment(Fields.of(entry, path), network) for path, entry in fields.items("route"))
    _check_sum(fields.at("route"), sum(segment.percent for segment in segments), SHARES_PER_ROUTE)
    ends = {(segment.hops[0][0].token_in, segment.hops[-1][0].token_out) for segment in segments}
    if len(ends) > 1:
        raise fault(fields.at("route"), "must have segments that begin and end at the same tokens")
    return segments


def _parse_segment(fields: Fields, network: Network) -> WireSegment:
    share = _parse_percent(fields)
    if share % 100 or not share:
        raise fault(fields.at("percent"), "must be a whole percentage above zero")
    hops = tuple(_parse_hop(path, hop, network) for path, hop in fields.items("swaps"))
    for number, (before, after) in enumerate(pairwise(hops), start=1):
        if before[0].token_out != after[0].token_in:
            raise fault(f"{fields.at('swaps')}[{number}]", "must begin at the token at which the hop before ends")
    return WireSegment(share // 100, hops)


def _parse_hop(path: str, entry: object, network: Network) -> tuple[WireSwap, ...]:
    hop = tuple(_parse_swap(Fields.of(swap, at), network) for at, swap in entries(entry, path))
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
        pool_address=_parse_address(fields, "poolAddress", network),
        token_in=_parse_address(fields, "fromTokenAddress", network),
        token_out=_parse_address(fields, "toTokenAddress", network),
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
    extra: dict[str, int | str] = {}
    for key, value in fields.inner("extraData").values.items():
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise fault(f"{fields.at('extraData')}.{key}", "must be an integer or a string")
        extra[key] = value
    return extra
