"""Rate limits: one token bucket for each API key, or for each address without a key; and pacing of rejections.

Times are in seconds of a monotonic clock that the caller passes in. A bucket holds one minute's requests and refills at
that rate, so a client may send its requests all at once or evenly. The buckets are in this process, or in memory that
several processes share; `redis_state` has them on a server.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv6Address, ip_network
from math import ceil
from typing import TYPE_CHECKING, Protocol

from swapcli.core.encoding.url import is_loopback_address
from swapcli.core.errors import RateLimited
from swapcli.core.records import NamedTuple
from swapcli.faces.service.shared_memory import Entry, SharedTable, digest_key
from swapcli.faces.service.trusted_proxies import parse_address

if TYPE_CHECKING:
    from swapcli.quoting.config.settings import ServiceSettings

MAX_CLIENTS = 10_000
"""Buckets kept for each request class. A bucket unused for a minute is full again, so evicting it loses nothing."""

REJECTIONS_PER_S = 100.0
"""Average rate of rejections sent without delay. At 0.5 ms each they take about 5% of a processor."""
BURST = 20
"""Rejections that may be sent at once after a pause."""
MAX_DELAY_S = 2.0
"""Maximum delay of a rejection, reached when 200 connections retry immediately: nobody waits longer than for an
order."""
BATCH_S = 0.1
"""Delayed rejections are sent in batches at this interval, so that the event loop interrupts the worker less often."""

MINUTE_S = 60.0
_IPV6_SITE_BITS = 64
_UNKNOWN_CLIENT = "unknown"


class RequestClass(StrEnum):
    """Classes of requests that are limited separately."""

    WORK = "work"
    HEALTH = "health"


class RateLimitState(NamedTuple):
    """The state of a client's limit after a request. `retry_after_s` is 0 if the request is within the limit."""

    limit: int
    remaining: int
    reset_s: int
    retry_after_s: int = 0

    def headers(self) -> list[tuple[str, str]]:
        """Return the rate-limit headers; `RateLimit-Reset` is the time until the bucket is full again."""
        headers = [
            ("RateLimit-Limit", str(self.limit)),
            ("RateLimit-Remaining", str(self.remaining)),
            ("RateLimit-Reset", str(self.reset_s)),
        ]
        return [*headers, ("Retry-After", str(self.retry_after_s))] if self.retry_after_s else headers

    def check(self) -> None:
        """Raise `RateLimited` if the request exceeds the limit."""
        if self.retry_after_s:
            raise RateLimited(
                f"more than {self.limit} requests a minute",
                retry_after_s=self.retry_after_s,
                hint="send fewer requests",
            )


class LimitedClient(NamedTuple):
    """A client whose requests of a class are limited to `limit` a minute."""

    name: str
    request_class: RequestClass
    limit: int


class Buckets(Protocol):
    """The token buckets of the clients of one request class."""

    def update(self, client: str, change: Callable[[Entry | None], Entry]) -> Entry:
        """Replace a client's bucket: its tokens, and their time. A new or evicted client has none."""
        ...


class ProcessBuckets:
    """Buckets of this process. The least recently used one is evicted beyond `max_clients`."""

    def __init__(self, max_clients: int = MAX_CLIENTS) -> None:
        self._max_clients = max_clients
        self._buckets: OrderedDict[str, Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def update(self, client: str, change: Callable[[Entry | None], Entry]) -> Entry:
        """As `Buckets.update`."""
        bucket = self._buckets[client] = change(self._buckets.get(client))
        self._buckets.move_to_end(client)
        if len(self._buckets) > self._max_clients:
            self._buckets.popitem(last=False)
        return bucket


class SharedBuckets:
    """Buckets that several processes share."""

    def __init__(self) -> None:
        self._table = SharedTable()

    def update(self, client: str, change: Callable[[Entry | None], Entry]) -> Entry:
        """As `Buckets.update`."""
        return self._table.update(digest_key(client), change)


class RateLimiter:
    """Decides which requests are within the limits. `buckets` are those of each request class."""

    def __init__(self, settings: ServiceSettings, buckets: Mapping[RequestClass, Buckets] | None = None) -> None:
        self._settings = settings
        self._buckets = buckets or {each: ProcessBuckets() for each in RequestClass}

    def acquire(
        self, address: str | None, key_id: str | None, request_class: RequestClass, now_s: float
    ) -> RateLimitState | None:
        """Count a request and return the client's state; None if the client is exempt."""
        client = self.limited_client(address, key_id, request_class)
        return client and self.take(client, now_s)

    def limited_client(
        self, address: str | None, key_id: str | None, request_class: RequestClass
    ) -> LimitedClient | None:
        """Return the client of a request; None if it is exempt.

        Clients on this machine are exempt unless configured otherwise. `address` is the client's address behind
        trusted proxies; `key_id` belongs to a valid key.
        """
        settings = self._settings
        if not settings.limit_loopback and is_loopback_address(address):
            return None
        return LimitedClient(client_name(address, key_id), request_class, _limit(settings, key_id, request_class))

    def max_streams(self, address: str | None, key_id: str | None) -> int | None:
        """Return how many streams a client may have open; None if it is exempt."""
        if self.limited_client(address, key_id, RequestClass.WORK) is None:
            return None
        return self._settings.streams_with_key if key_id else self._settings.streams

    def take(self, client: LimitedClient, now_s: float) -> RateLimitState:
        """Take a token from the bucket of a client, if it has one."""
        is_allowed = False

        def take_token(bucket: Entry | None) -> Entry:
            nonlocal is_allowed
            tokens = _refill(bucket, client.limit, now_s)
            is_allowed = tokens >= 1
            return Entry(tokens - is_allowed, now_s)

        bucket = self._buckets[client.request_class].update(client.name, take_token)
        return limit_state(client, bucket.value, is_allowed=is_allowed)

    def set_remaining(self, client: LimitedClient, tokens: int, now_s: float) -> None:
        """Set the tokens of a client's bucket to what a server says, so that this process can go on without it."""
        self._buckets[client.request_class].update(client.name, lambda _: Entry(tokens, now_s))

    def apply_settings(self, settings: ServiceSettings) -> None:
        """Apply other limits from now on. Used tokens stay used."""
        self._settings = settings


def _limit(settings: ServiceSettings, key_id: str | None, request_class: RequestClass) -> int:
    if request_class is RequestClass.HEALTH:
        return settings.health_requests_per_minute
    return settings.requests_per_minute_with_key if key_id else settings.requests_per_minute


def client_name(address: str | None, key_id: str | None) -> str:
    """Return the name under which a client is limited and queued: its key, else its address."""
    return f"key {key_id}" if key_id else address_client(address)


def limit_state(client: LimitedClient, tokens: float, *, is_allowed: bool) -> RateLimitState:
    """Return the state of a client that has `tokens` after its request."""
    rate = client.limit / MINUTE_S
    return RateLimitState(
        limit=client.limit,
        remaining=int(tokens),
        reset_s=ceil((client.limit - tokens) / rate),
        retry_after_s=0 if is_allowed else max(1, ceil((1 - tokens) / rate)),
    )


def _refill(bucket: Entry | None, limit: int, now_s: float) -> float:
    if bucket is None:
        return float(limit)
    return min(float(limit), bucket.value + max(0.0, now_s - bucket.at) * limit / MINUTE_S)


@lru_cache(maxsize=4096)
def address_client(address: str | None) -> str:
    """Return the client that an address stands for: itself, or its /64 in IPv6, which one household has entirely.

    Other values (from another kind of socket) count as one client.
    """
    parsed = parse_address(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((int(parsed), _IPV6_SITE_BITS), strict=False))
    return str(parsed) if parsed else _UNKNOWN_CLIENT


class RejectionPacer:
    """Delays rejections beyond `REJECTIONS_PER_S`: a client that retries at once must not keep the service busy."""

    def __init__(self) -> None:
        self._next_s = float("-inf")

    async def wait(self) -> None:
        """Return when the next rejection may be sent."""
        delay_s = self.delay_s(asyncio.get_running_loop().time())
        if delay_s:
            await asyncio.sleep(delay_s)

    def delay_s(self, now_s: float) -> float:
        """Take the next slot, and return the seconds until it, at most `MAX_DELAY_S`."""
        slot_s = max(self._next_s, now_s - BURST / REJECTIONS_PER_S)
        self._next_s = min(slot_s + 1 / REJECTIONS_PER_S, now_s + MAX_DELAY_S - BATCH_S)
        return ceil(self._next_s / BATCH_S) * BATCH_S - now_s if self._next_s > now_s else 0.0
