"""A router call as JSON: `CalldataRoute` and `SwapParameter`, rendered and parsed.

On Starknet, the `extra_data` of a swap consists of felts, 32 bytes each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from swapcli.core.model.network import MAX_PROTOCOL_ID, Network
from swapcli.core.model.quote import RATE_SCALE
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.core.networks.address import display_address, prepare_display
from swapcli.interface.fields import Fields, invalid_field

if TYPE_CHECKING:
    from swapcli.interface.json_types import CalldataJson, CalldataRouteJson, SwapParameterJson

MAX_SWAPS = 2_000  # a bound against hostile input; chosen

_FELT_BYTES = 32


def render_call(call: RouterCall, network: Network, *, names_tokens: bool = True) -> CalldataJson:
    """Render a call with its swaps, and `integrator_data` if there is an integrator."""
    document: CalldataJson = {
        "route": render_call_route(call.route, network, names_tokens=names_tokens),
        "swap_parameters": render_swap_parameters(call.swaps, network),
    }
    if call.integrator_data:
        document["integrator_data"] = render_hex(call.integrator_data)
    return document


def render_call_route(route: RouterRouteParam, network: Network, *, names_tokens: bool = True) -> CalldataRouteJson:
    """Render the route of a call, with or without its two tokens."""
    document: CalldataRouteJson = {
        "amount_in": str(route.amount_in),
        "amount_out": str(route.amount_out),
        "min_received": str(route.min_received),
        "destination": display_address(route.recipient, network.kind),
        "swap_type": int(route.swap_type),
    }
    if not names_tokens:
        return document
    token_in, token_out = (display_address(token, network.kind) for token in (route.token_in, route.token_out))
    return {"token_in": token_in, "token_out": token_out, **document}


def render_swap_parameters(swaps: Iterable[RouterSwapParam], network: Network) -> list[SwapParameterJson]:
    """Render the swaps in a call."""
    known = list(swaps)
    return [
        {**swap_alone, "swap_type": int(swap.swap_type), "extra_data": render_hex(_extra_bytes(swap))}
        for swap, swap_alone in zip(known, render_short_swap_parameters(known, network), strict=True)
    ]


def render_short_swap_parameters(swaps: Iterable[RouterSwapParam], network: Network) -> list[SwapParameterJson]:
    """Render the swaps in a call for V1 calldata, without `swap_type` and `extra_data`."""
    known = list(swaps)
    prepare_display(
        [each for swap in known for each in (swap.token_in, swap.token_out, swap.pool_address)], network.kind
    )
    return [_render_swap(swap, network) for swap in known]


def _render_swap(swap: RouterSwapParam, network: Network) -> SwapParameterJson:
    return {
        "token_in": display_address(swap.token_in, network.kind),
        "token_out": display_address(swap.token_out, network.kind),
        "rate": str(swap.rate),
        "protocol_id": str(swap.protocol_id),
        "pool_address": display_address(swap.pool_address, network.kind),
    }


def _extra_bytes(swap: RouterSwapParam) -> bytes:
    return swap.extra_data or b"".join(felt.to_bytes(_FELT_BYTES) for felt in swap.extra_felts)


def render_hex(octets: bytes) -> str:
    """Return bytes in hex with 0x."""
    return "0x" + octets.hex()


def parse_call(fields: Fields, network: Network) -> RouterCall:
    """Parse a call from the fields `route`, `swap_parameters` and `integrator_data` of an object.

    If the route omits its tokens, the input token is the one that no swap buys, and the output token the one that no
    swap sells. Raises `InvalidInput` with the field.
    """
    swaps = parse_swap_parameters(fields, network)
    return RouterCall(
        parse_call_route(fields.nested("route"), swaps, network), swaps, fields.hex_bytes("integrator_data")
    )


def parse_call_route(fields: Fields, swaps: tuple[RouterSwapParam, ...], network: Network) -> RouterRouteParam:
    """Parse the route of a call. Raises `InvalidInput` with the field."""
    tokens_in, tokens_out = {swap.token_in for swap in swaps}, {swap.token_out for swap in swaps}
    # Wrapping is a single swap of a token for itself.
    is_wrapping = tokens_in == tokens_out and len(tokens_in) == 1
    return RouterRouteParam(
        token_in=_named_or_only(fields, "token_in", tokens_in if is_wrapping else tokens_in - tokens_out, network),
        token_out=_named_or_only(fields, "token_out", tokens_out if is_wrapping else tokens_out - tokens_in, network),
        amount_in=fields.amount("amount_in"),
        amount_out=fields.amount("amount_out"),
        min_received=fields.amount("min_received", minimum=0),
        recipient=fields.address("destination", network.kind),
        swap_type=SwapType(fields.json_integer("swap_type", 0, 2)),
    )


def _named_or_only(fields: Fields, key: str, candidates: set[str], network: Network) -> str:
    if fields.has(key):
        return fields.address(key, network.kind)
    if len(candidates) != 1:
        raise invalid_field(fields.path_of(key), "is missing, and the swaps do not determine it")
    return next(iter(candidates))


def parse_swap_parameters(fields: Fields, network: Network) -> tuple[RouterSwapParam, ...]:
    """Parse the swaps under `swap_parameters`. A swap without a type has the type of `route`, otherwise 2."""
    route = fields.values.get("route")
    route_type = route.get("swap_type") if isinstance(route, dict) else None
    default = SwapType(route_type) if route_type in (0, 1, 2) else SwapType.TOKEN_TO_TOKEN
    entries = fields.items("swap_parameters", 1, MAX_SWAPS)
    return tuple(_parse_swap(Fields(entry, path), network, default) for path, entry in entries)


def _parse_swap(fields: Fields, network: Network, default: SwapType) -> RouterSwapParam:
    has_felts = network.kind.traits.has_felts
    return RouterSwapParam(
        token_in=fields.address("token_in", network.kind),
        token_out=fields.address("token_out", network.kind),
        rate=fields.decimal_string("rate", 1, RATE_SCALE),
        protocol_id=fields.decimal_string("protocol_id", 0, MAX_PROTOCOL_ID),
        pool_address=fields.address("pool_address", network.kind),
        swap_type=SwapType(fields.json_integer("swap_type", 0, 2)) if fields.has("swap_type") else default,
        extra_data=b"" if has_felts else fields.hex_bytes("extra_data"),
        extra_felts=_parse_felts(fields) if has_felts else (),
    )


def _parse_felts(fields: Fields) -> tuple[int, ...]:
    octets = fields.hex_bytes("extra_data")
    if len(octets) % _FELT_BYTES:
        raise invalid_field(fields.path_of("extra_data"), "must be felts of 32 bytes each")
    starts = range(0, len(octets), _FELT_BYTES)
    return tuple(int.from_bytes(octets[start : start + _FELT_BYTES]) for start in starts)
