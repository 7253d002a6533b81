"""The V1 routes that this service issued, and when it issued them, because V1 responses contain no time.

Routes are compared by their effect, not by their spelling, because clients may reformat numbers and percentages, or
drop prices.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import Protocol

from swapcli.core.model.route_result import ResultSwap, RouteResult
from swapcli.faces.service.shared_memory import KEY_BYTES, Entry, SharedTable

MAX_ROUTES = 10_000


class RouteTimes(Protocol):
    """The times at which routes were issued, in Unix milliseconds, by digest. Use it from one thread only."""

    def set(self, digest: bytes, now_ms: int) -> None:
        """Record or renew the time of a route."""
        ...

    def get(self, digest: bytes) -> int | None:
        """Return the time of a route, or None if it is unknown."""
        ...


class ProcessRouteTimes:
    """The times of the last `max_routes` routes issued by this process."""

    def __init__(self, max_routes: int = MAX_ROUTES) -> None:
        self._max_routes = max_routes
        self._issued_ms: OrderedDict[bytes, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._issued_ms)

    def set(self, digest: bytes, now_ms: int) -> None:
        """Same as `RouteTimes.set`. Beyond the limit, the oldest route is dropped."""
        self._issued_ms[digest] = now_ms
        self._issued_ms.move_to_end(digest)
        if len(self._issued_ms) > self._max_routes:
            self._issued_ms.popitem(last=False)

    def get(self, digest: bytes) -> int | None:
        """Same as `RouteTimes.get`."""
        return self._issued_ms.get(digest)


class SharedRouteTimes:
    """Route times shared by several processes."""

    def __init__(self) -> None:
        self._table = SharedTable()

    def set(self, digest: bytes, now_ms: int) -> None:
        """Same as `RouteTimes.set`."""
        self._table.update(digest, lambda _: Entry(now_ms, now_ms))

    def get(self, digest: bytes) -> int | None:
        """Same as `RouteTimes.get`."""
        entry = self._table.find(digest)
        return None if entry is None else int(entry.value)


class IssuedRoutes:
    """The issued routes. Issuing a route again renews its time."""

    def __init__(self, times: RouteTimes | None = None) -> None:
        self._times = ProcessRouteTimes() if times is None else times

    def record(self, network: str, result: RouteResult, now_ms: int) -> None:
        """Record a route issued at `now_ms` (Unix)."""
        self._times.set(route_digest(network, result), now_ms)

    def issue_time_ms(self, network: str, result: RouteResult) -> int | None:
        """Return when a posted route was issued, in Unix milliseconds, or None if it is unknown."""
        return self._times.get(route_digest(network, result))


def route_digest(network: str, result: RouteResult) -> bytes:
    """Return a digest of the fields that determine a route's effect, without prices, names, gas and times."""
    segments = [
        (segment.share, [list(map(_swap_identity, hop)) for hop in segment.hops]) for segment in result.segments
    ]
    ends = result.input_token.address, result.output_token.address
    amounts = result.input_amount, result.output_amount
    return blake2b(repr((network, ends, amounts, segments)).encode(), digest_size=KEY_BYTES).digest()


def _swap_identity(swap: ResultSwap) -> tuple[int | str, ...]:
    return swap.protocol_id, swap.pool_key, swap.token_in, swap.token_out, swap.share
