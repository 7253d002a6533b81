"""The segments of a route as JSON: `RouteSegment` and `Swap`, rendered and parsed.

The numbers of segments, hops and pools are bounded, since documents are untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from swapcli.core.model.network import MAX_PROTOCOL_ID, Network
from swapcli.core.model.order import MAX_HOPS
from swapcli.core.model.quote import MAX_SEGMENTS, SHARES_PER_HOP, SHARES_PER_ROUTE
from swapcli.core.model.route_result import ResultSegment, ResultSwap
from swapcli.interface.fields import MAX_AMOUNT, Fields, invalid_field, require_entries, require_text

if TYPE_CHECKING:
    from swapcli.interface.json_types import RouteSegmentJson, SwapJson

MAX_SWAPS = 64  # pools per hop: a bound against hostile input; chosen
MAX_EXTRA = 16  # fields of `extra_data`: a bound against hostile input; chosen

_PERCENT = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,2}))?%")


def format_segment_share(share: int) -> str:
    """Format the share of a segment, without decimals if it is whole: 3500 -> "35%", 1234 -> "12.34%"."""
    return f"{share // 100}.{share % 100:02d}%" if share % 100 else f"{share // 100}%"


def addresses_in(segments: Sequence[ResultSegment]) -> list[str]:
    """Return the addresses of the pools and tokens in a route, with repetitions."""
    swaps = [swap for segment in segments for hop in segment.hops for swap in hop]
    return [address for swap in swaps for address in (swap.pool_address, swap.token_in, swap.token_out)]


def render_segments(segments: Sequence[ResultSegment], display: Callable[[str], str]) -> list[RouteSegmentJson]:
    """Render a route's segments; `display` formats an address."""
    return [_render_segment(segment, display) for segment in segments]


def _render_segment(segment: ResultSegment, display: Callable[[str], str]) -> RouteSegmentJson:
    hops = [[_render_swap(swap, display) for swap in hop] for hop in segment.hops]
    return {"percent": format_segment_share(segment.share), "swaps": hops}


def _render_swap(swap: ResultSwap, display: Callable[[str], str]) -> SwapJson:
    return {
        "protocol": swap.protocol_id,
        "poolName": swap.pool_name,
        "poolAddress": display(swap.pool_address),
        "fromTokenAddress": display(swap.token_in),
        "toTokenAddress": display(swap.token_out),
        "percent": f"{swap.share // 100}.{swap.share % 100:02d}%",
        "extraData": dict(swap.extra) or None,
    }


def parse_segments(fields: Fields, network: Network) -> tuple[ResultSegment, ...]:
    """Parse the segments under `route`. Raises `InvalidInput` if shares do not add up or hops do not connect."""
    entries_by_path = fields.items("route", 1, MAX_SEGMENTS)
    segments = tuple(_parse_segment(Fields(entry, path), network) for path, entry in entries_by_path)
    _check_sum(fields.path_of("route"), sum(segment.share for segment in segments), SHARES_PER_ROUTE)
    ends = {(segment.hops[0][0].token_in, segment.hops[-1][0].token_out) for segment in segments}
    if len(ends) > 1:
        raise invalid_field(fields.path_of("route"), "must have segments with the same first and last tokens")
    return segments


def _parse_segment(fields: Fields, network: Network) -> ResultSegment:
    share = _parse_percent(fields)
    if not share:
        raise invalid_field(fields.path_of("percent"), "must be above zero")
    hops = tuple(_parse_hop(path, hop, network) for path, hop in fields.items("swaps", 1, MAX_HOPS))
    for number, (hop, next_hop) in enumerate(pairwise(hops), start=1):
        if hop[0].token_out != next_hop[0].token_in:
            raise invalid_field(
                f"{fields.path_of('swaps')}[{number}]", "must begin with the token that the previous hop ends with"
            )
    return ResultSegment(share, hops)


def _parse_hop(path: str, entry: object, network: Network) -> tuple[ResultSwap, ...]:
    hop = tuple(_parse_swap(Fields(swap, at), network) for at, swap in require_entries(entry, path, MAX_SWAPS))
    _check_sum(path, sum(swap.share for swap in hop), SHARES_PER_HOP)
    if len({(swap.token_in, swap.token_out) for swap in hop}) > 1:
        raise invalid_field(path, "must have swaps between the same two tokens")
    return hop


def _check_sum(path: str, total: int, whole: int) -> None:
    if total != whole:
        raise invalid_field(path, "must have percentages that sum to 100")


def _parse_swap(fields: Fields, network: Network) -> ResultSwap:
    share = _parse_percent(fields)
    if not share:
        raise invalid_field(fields.path_of("percent"), "must be above zero")
    return ResultSwap(
        protocol_id=fields.whole_number("protocol", 0, MAX_PROTOCOL_ID),
        pool_name=fields.text("poolName"),
        pool_address=fields.address("poolAddress", network.kind),
        token_in=fields.address("fromTokenAddress", network.kind),
        token_out=fields.address("toTokenAddress", network.kind),
        share=share,
        extra=_parse_extra(fields),
    )


def _parse_percent(fields: Fields) -> int:
    """Parse a percentage with at most two decimals ("35%", "61.20%") into hundredths of a percent."""
    match = _PERCENT.fullmatch(fields.text("percent"))
    if match is None or int(match[1]) > 100:
        raise invalid_field(
            fields.path_of("percent"), 'must be a percentage with at most two decimals, such as "61.20%"'
        )
    return int(match[1]) * 100 + int((match[2] or "").ljust(2, "0"))


def _parse_extra(fields: Fields) -> dict[str, int | str]:
    if not fields.has("extraData"):
        return {}
    extra = fields.nested("extraData")
    if len(extra.values) > MAX_EXTRA:
        raise invalid_field(extra.path, f"must have at most {MAX_EXTRA} fields")
    return {
        require_text(key, extra.path): _parse_extra_value(value, extra.path_of(key))
        for key, value in extra.values.items()
    }


def _parse_extra_value(value: object, path: str) -> int | str:
    if isinstance(value, str):
        return require_text(value, path)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_AMOUNT:
        raise invalid_field(path, "must be an integer or a string")
    return value
