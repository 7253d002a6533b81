"""The V1 routes that this service issued, and when: V1 responses contain no time.

Routes are compared by meaning, not by spelling: clients may reformat numbers and percentages, or drop prices.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b

from swapcli.api.route_result import ResultSwap, RouteResult

MAX_ROUTES = 10_000

_DIGEST_BYTES = 16


class IssuedRoutes:
    """The last `max_routes` routes by digest. Issuing a route again renews its time."""

    def __init__(self, max_routes: int = MAX_ROUTES) -> None:
        self._max_routes = max_routes
        self._issued_ms: OrderedDict[bytes, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._issued_ms)

    def record(self, network: str, result: RouteResult, now_ms: int) -> None:
        """Record a route issued at `now_ms` (Unix). Beyond the limit, the oldest one is dropped."""
        key = route_digest(network, result)
        self._issued_ms[key] = now_ms
        self._issued_ms.move_to_end(key)
        if len(self._issued_ms) > self._max_routes:
            self._issued_ms.popitem(last=False)

    def issue_time_ms(self, network: str, result: RouteResult) -> int | None:
        """Return when a posted route was issued, in Unix milliseconds; None if it is unknown."""
        return self._issued_ms.get(route_digest(network, result))


def route_digest(network: str, result: RouteResult) -> bytes:
    """Return a digest of the fields that determine what a route does, without prices, names, gas and time."""
    segments = [
        (segment.share, [list(map(_swap_identity, hop)) for hop in segment.hops]) for segment in result.segments
    ]
    ends = result.input_token.address, result.output_token.address
    amounts = result.input_amount, result.output_amount
    return blake2b(repr((network, ends, amounts, segments)).encode(), digest_size=_DIGEST_BYTES).digest()


def _swap_identity(swap: ResultSwap) -> tuple[int | str, ...]:
    return swap.protocol_id, swap.pool_key, swap.token_in, swap.token_out, swap.share
