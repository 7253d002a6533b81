"""Which V1 routes this service gave out, and when: V1 answers carry no time of their own.

Told by what a route means, not by how it is spelled: a client may reformat numbers and percentages, or drop prices.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b

from swapcli.api.route_result import ResultSwap, RouteResult

MAX_ROUTES = 10_000

_DIGEST_BYTES = 16


class IssuedRoutes:
    """The last `max_routes` routes by digest. One that is given out again counts from then."""

    def __init__(self, max_routes: int = MAX_ROUTES) -> None:
        self._max_routes = max_routes
        self._issued_ms: OrderedDict[bytes, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._issued_ms)

    def record(self, network: str, result: RouteResult, now_ms: int) -> None:
        """Remembers a route given out at `now_ms` (Unix), and forgets the oldest one where there are too many."""
        key = route_digest(network, result)
        self._issued_ms[key] = now_ms
        self._issued_ms.move_to_end(key)
        if len(self._issued_ms) > self._max_routes:
            self._issued_ms.popitem(last=False)

    def issue_time_ms(self, network: str, result: RouteResult) -> int | None:
        """When a posted route was given out; None where it is not known to have been."""
        return self._issued_ms.get(route_digest(network, result))


def route_digest(network: str, result: RouteResult) -> bytes:
    """Of everything that decides what a route does, and nothing else: not its prices, names, gas or time."""
    segments = [
        (segment.percent, [list(map(_swap_identity, hop)) for hop in segment.hops]) for segment in result.segments
    ]
    ends = result.input_token.address, result.output_token.address
    amounts = result.input_amount, result.output_amount
    return blake2b(repr((network, ends, amounts, segments)).encode(), digest_size=_DIGEST_BYTES).digest()


def _swap_identity(swap: ResultSwap) -> tuple[int | str, ...]:
    return swap.protocol_id, swap.pool_key, swap.token_in, swap.token_out, swap.share
