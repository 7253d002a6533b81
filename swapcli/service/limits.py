"""How often a client may ask: one bucket of tokens per API key, or per address where there is none.

Time is passed in, in seconds of any clock that never goes back. A bucket holds what may be asked in a minute and fills
at that pace, so that a client may come all at once or evenly.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv6Address, ip_network
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from swapcli.encoding.url import is_loopback_address
from swapcli.errors import RateLimited
from swapcli.service.trusted_proxies import parse_address

if TYPE_CHECKING:
    from swapcli.config.settings import ServiceSettings

MAX_CLIENTS = 10_000
"""Buckets kept, health checks' apart. One that was not used for a minute is full, as a new one is."""

_MINUTE_S = 60.0
_IPV6_SITE_BITS = 64
_UNKNOWN_CLIENT = "unknown"


class RequestClass(StrEnum):
    """What is asked; each has buckets of its own."""

    WORK = "work"
    HEALTH = "health"


class RateLimitState(NamedTuple):
    """What is left to a client after a request. `retry_after_s` is 0 where the request is within its limit."""

    limit: int
    remaining: int
    reset_s: int
    retry_after_s: int = 0

    def headers(self) -> list[tuple[str, str]]:
        """What every answer to the client carries; `RateLimit-Reset` is when the bucket is full again."""
        headers = [
            ("RateLimit-Limit", str(self.limit)),
            ("RateLimit-Remaining", str(self.remaining)),
            ("RateLimit-Reset", str(self.reset_s)),
        ]
        return [*headers, ("Retry-After", str(self.retry_after_s))] if self.retry_after_s else headers

    def check(self) -> None:
        """Raises `RateLimited` where the request is one too many."""
        if self.retry_after_s:
            raise RateLimited(
                f"more than {self.limit} requests a minute", retry_after_s=self.retry_after_s, hint="ask less often"
            )


class _Bucket(NamedTuple):
    """Tokens at a moment."""

    tokens: float
    at_s: float


class RateLimiter:
    """The buckets of all clients. Where there are too many, the one that was used longest ago is given up."""

    def __init__(self, settings: ServiceSettings, *, max_clients: int = MAX_CLIENTS) -> None:
        self._settings = settings
        self._max_clients = max_clients
        self._buckets: dict[RequestClass, OrderedDict[str, _Bucket]] = {
            purpose: OrderedDict() for purpose in RequestClass
        }

    def acquire(
        self, address: str | None, key_id: str | None, request_class: RequestClass, now_s: float
    ) -> RateLimitState | None:
        """Count a request. Return None where the client is exempt: on this machine, unless configured otherwise.

        `address` is the client's as judged behind trusted proxies; `key_id` belongs to a key that was found good.
        """
        settings = self._settings
        if not settings.limit_loopback and is_loopback_address(address):
            return None
        limit = _limit(settings, key_id, request_class)
        buckets = self._buckets[request_class]
        client = client_name(address, key_id)
        rate = limit / _MINUTE_S
        tokens = _refill(buckets.get(client), limit, now_s)
        is_allowed = tokens >= 1
        tokens -= is_allowed
        buckets[client] = _Bucket(tokens, now_s)
        buckets.move_to_end(client)
        if len(buckets) > self._max_clients:
            buckets.popitem(last=False)
        return RateLimitState(
            limit=limit,
            remaining=int(tokens),
            reset_s=ceil((limit - tokens) / rate),
            retry_after_s=0 if is_allowed else max(1, ceil((1 - tokens) / rate)),
        )

    def client_count(self, request_class: RequestClass) -> int:
        """How many buckets are kept."""
        return len(self._buckets[request_class])

    def apply_settings(self, settings: ServiceSettings) -> None:
        """Apply other limits from now on. No client gets back what it has used."""
        self._settings = settings


def _limit(settings: ServiceSettings, key_id: str | None, purpose: RequestClass) -> int:
    if purpose is RequestClass.HEALTH:
        return settings.health_requests_per_minute
    return settings.requests_per_minute_with_key if key_id else settings.requests_per_minute


def client_name(address: str | None, key_id: str | None) -> str:
    """Return the one name under which a client is limited and queued: its key, else its address."""
    return f"key {key_id}" if key_id else address_client(address)


def _refill(bucket: _Bucket | None, limit: int, now_s: float) -> float:
    if bucket is None:
        return float(limit)
    return min(float(limit), bucket.tokens + max(0.0, now_s - bucket.at_s) * limit / _MINUTE_S)


@lru_cache(maxsize=4096)
def address_client(address: str | None) -> str:
    """Whom an address stands for: itself, or its /64 in IPv6, of which one household has all. What is not an address
    (another kind of socket) counts as one client."""
    parsed = parse_address(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((int(parsed), _IPV6_SITE_BITS), strict=False))
    return str(parsed) if parsed else _UNKNOWN_CLIENT
