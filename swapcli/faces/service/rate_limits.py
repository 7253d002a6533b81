"""Rate limits, with one token bucket for each API key or for each address without a key, and pacing of rejections.

Times are in seconds, from a monotonic clock that the caller passes in. A bucket holds the requests for one period and
refills evenly, so a client may send its requests all at once or spread out. The period is one minute unless a key's
plan says otherwise. A key's quota is a counter for its day or month. Buckets and counters are in this process, or in
memory that several processes share. `redis_state` keeps them on a server.
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
from swapcli.core.model.number_format import format_time
from swapcli.core.records import NamedTuple
from swapcli.faces.service.key_file import ApiKey
from swapcli.faces.service.key_plans import QuotaUse
from swapcli.faces.service.refusal_reasons import RefusalReason, refused
from swapcli.faces.service.shared_memory import Entry, SharedTable, digest_key
from swapcli.faces.service.trusted_proxies import parse_address

if TYPE_CHECKING:
    from swapcli.quoting.config.settings import ServiceSettings

MAX_CLIENTS = 10_000
"""Number of buckets to keep for each request class. A bucket unused for its period is full again, so evicting it loses
nothing."""

REJECTIONS_PER_S = 100.0
"""Average number of rejections per second sent without delay. At 0.5 ms each, they take about 5% of a processor."""
BURST = 20
"""Number of rejections that may be sent at once after a pause."""
MAX_DELAY_S = 2.0
"""Maximum delay of a rejection, reached when 200 connections retry immediately. It is no longer than the wait of an
order."""
BATCH_S = 0.1
"""Delayed rejections are sent in batches at this interval, so that the event loop interrupts the worker less often."""

MINUTE_S = 60
_PERIOD_NAMES = {1: "second", MINUTE_S: "minute", 3_600: "hour"}
_IPV6_SITE_BITS = 64
_UNKNOWN_CLIENT = "unknown"


class RequestClass(StrEnum):
    """A class of requests with its own limit."""

    WORK = "work"
    HEALTH = "health"


class RateLimitState(NamedTuple):
    """The state of a client's limit after a request. `retry_after_s` is 0 if the request is within the limit.

    `quota` is the key's quota, if the request counts towards it. `is_quota_left` is false if the quota was used up.
    """

    limit: int
    remaining: int
    reset_s: int
    retry_after_s: int = 0
    period_s: int = MINUTE_S
    quota: QuotaUse | None = None
    is_quota_left: bool = True
    quota_used: int = 0
    """The number of requests used from the quota, if a server counts them."""

    @property
    def charged(self) -> QuotaUse | None:
        """The quota from which the request was taken."""
        return self.quota if self.is_quota_left and not self.retry_after_s else None

    def headers(self) -> list[tuple[str, str]]:
        """Return the headers for every response. `RateLimit-Reset` is the time in seconds until the bucket is full
        again."""
        return [
            ("RateLimit-Limit", str(self.limit)),
            ("RateLimit-Remaining", str(self.remaining)),
            ("RateLimit-Reset", str(self.reset_s)),
        ]

    def find_error(self, now_s: float) -> RateLimited | None:
        """Return why the request is rejected (the limit, or its key's quota), or None if it is not. `now_s` is a Unix
        time."""
        if self.retry_after_s:
            message = f"more than {self.limit} requests per {_PERIOD_NAMES[self.period_s]}"
            error = RateLimited(message, retry_after_s=self.retry_after_s, hint="send fewer requests")
            return refused(RefusalReason.REQUEST_RATE, error)
        if self.is_quota_left or self.quota is None:
            return None
        period, ends_s = self.quota.period.kind, self.quota.ends_s
        error = RateLimited(
            f"the quota of {self.quota.requests:,} requests per {period} is used up",
            retry_after_s=max(1, ceil(ends_s - now_s)),
            hint=f"the next quota starts at {format_time(ends_s)}",
        )
        return refused(RefusalReason.QUOTA, error)


class LimitedClient(NamedTuple):
    """A client whose requests in a class are limited to `limit` per `period_s`, and to a quota if its key has one."""

    name: str
    request_class: RequestClass
    limit: int
    period_s: int = MINUTE_S
    quota: QuotaUse | None = None


class Buckets(Protocol):
    """The token buckets of the clients in one request class."""

    def update(self, client: str, change: Callable[[Entry | None], Entry]) -> Entry:
        """Replace a client's bucket (its tokens and their time) with the result of `change`. A new or evicted client
        has no bucket."""
        ...


class ProcessBuckets:
    """The buckets of this process. Beyond `max_clients`, the least recently used bucket is evicted."""

    def __init__(self, max_clients: int = MAX_CLIENTS) -> None:
        self._max_clients = max_clients
        self._buckets: OrderedDict[str, Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def update(self, client: str, change: Callable[[Entry | None], Entry]) -> Entry:
        """Same as `Buckets.update`."""
        bucket = self._buckets[client] = change(self._buckets.get(client))
        self._buckets.move_to_end(client)
        if len(self._buckets) > self._max_clients:
            self._buckets.popitem(last=False)
        return bucket


class SharedBuckets:
    """Buckets shared by several processes."""

    def __init__(self) -> None:
        self._table = SharedTable()

    def update(self, client: str, change: Callable[[Entry | None], Entry]) -> Entry:
        """Same as `Buckets.update`."""
        return self._table.update(digest_key(client), change)


class QuotaCounters:
    """Counters of the requests used from quotas. `read_used` returns the stored count of a quota that has no counter
    yet."""

    def __init__(self, counters: Buckets, read_used: Callable[[QuotaUse], int]) -> None:
        self._counters, self._read_used = counters, read_used

    def take(self, quota: QuotaUse) -> bool:
        """Take one request from a quota. Return whether one was left."""
        is_taken = False

        def count(entry: Entry | None) -> Entry:
            nonlocal is_taken
            used = entry.value if entry else self._read_used(quota)
            is_taken = used < quota.requests
            return Entry(used + is_taken, quota.ends_s)

        self._counters.update(quota.name, count)
        return is_taken

    def give_back(self, quota: QuotaUse) -> None:
        """Return a taken request to a quota."""
        self._counters.update(
            quota.name, lambda entry: Entry(max(0.0, entry.value - 1) if entry else 0.0, quota.ends_s)
        )

    def raise_to(self, quota: QuotaUse, used: int) -> None:
        """Raise a quota's count to at least `used`, the number that other processes have counted."""
        self._counters.update(quota.name, lambda entry: Entry(max(entry.value if entry else 0, used), quota.ends_s))


def _nothing_used(_: QuotaUse) -> int:
    return 0


class RateLimiter:
    """The rules that decide which requests are within the limits. `buckets` are keyed by request class."""

    def __init__(
        self,
        settings: ServiceSettings,
        buckets: Mapping[RequestClass, Buckets] | None = None,
        quotas: QuotaCounters | None = None,
    ) -> None:
        self._settings = settings
        self._buckets = buckets or {each: ProcessBuckets() for each in RequestClass}
        self.quotas = quotas or QuotaCounters(ProcessBuckets(), _nothing_used)

    def limited_client(
        self, address: str | None, api_key: ApiKey | None, request_class: RequestClass, quota: QuotaUse | None = None
    ) -> LimitedClient | None:
        """Return the client that a request counts for, or None if it is exempt.

        Clients on this machine are exempt, unless the settings say otherwise, or the plan of their key has a limit or a
        quota. `address` is the client's address behind trusted proxies. `api_key` is already known to be valid.
        """
        settings = self._settings
        limit = api_key.plan.limit if api_key and request_class is RequestClass.WORK else None
        if limit is None and quota is None and not settings.limit_loopback and is_loopback_address(address):
            return None
        name = client_name(address, api_key and api_key.id)
        if limit is not None:
            return LimitedClient(name, request_class, limit.requests, limit.period_s, quota)
        return LimitedClient(
            name, request_class, _limit(settings, request_class, has_key=api_key is not None), quota=quota
        )

    def max_streams(self, address: str | None, api_key: ApiKey | None) -> int | None:
        """Return how many streams a client may have open, or None if it is exempt, as in `limited_client`."""
        settings = self._settings
        if api_key and api_key.plan.streams is not None:
            return api_key.plan.streams
        if not settings.limit_loopback and is_loopback_address(address):
            return None
        return settings.streams_with_key if api_key else settings.streams

    def take(self, client: LimitedClient, now_s: float) -> RateLimitState:
        """Take a token from a client's bucket if it has one, and then a request from the client's quota."""
        is_allowed = False

        def take_token(bucket: Entry | None) -> Entry:
            nonlocal is_allowed
            tokens = _refill(bucket, client, now_s)
            is_allowed = tokens >= 1
            return Entry(tokens - is_allowed, now_s)

        bucket = self._buckets[client.request_class].update(client.name, take_token)
        is_quota_left = not is_allowed or client.quota is None or self.quotas.take(client.quota)
        return limit_state(client, bucket.value, is_allowed=is_allowed, is_quota_left=is_quota_left)

    def set_remaining(self, client: LimitedClient, tokens: int, now_s: float) -> None:
        """Set the tokens in a client's bucket to those on a server, so that this process can continue if the server
        fails."""
        self._buckets[client.request_class].update(client.name, lambda _: Entry(tokens, now_s))

    def apply_settings(self, settings: ServiceSettings) -> None:
        """Apply new limits from now on. Tokens that were used stay used."""
        self._settings = settings


def _limit(settings: ServiceSettings, request_class: RequestClass, *, has_key: bool) -> int:
    if request_class is RequestClass.HEALTH:
        return settings.health_requests_per_minute
    return settings.requests_per_minute_with_key if has_key else settings.requests_per_minute


def client_name(address: str | None, key_id: str | None) -> str:
    """Return the name under which a client is limited and queued: its key's id, otherwise its address."""
    return f"key {key_id}" if key_id else address_client(address)


def limit_state(
    client: LimitedClient, tokens: float, *, is_allowed: bool, is_quota_left: bool = True, quota_used: int = 0
) -> RateLimitState:
    """Return the state of a client that has `tokens` after its request."""
    rate = client.limit / client.period_s
    return RateLimitState(
        limit=client.limit,
        remaining=int(tokens),
        reset_s=ceil((client.limit - tokens) / rate),
        retry_after_s=0 if is_allowed else max(1, ceil((1 - tokens) / rate)),
        period_s=client.period_s,
        quota=client.quota,
        is_quota_left=is_quota_left,
        quota_used=quota_used,
    )


def _refill(bucket: Entry | None, client: LimitedClient, now_s: float) -> float:
    if bucket is None:
        return float(client.limit)
    refill = max(0.0, now_s - bucket.at) * client.limit / client.period_s
    return min(float(client.limit), bucket.value + refill)


@lru_cache(maxsize=4096)
def address_client(address: str | None) -> str:
    """Return the client that an address stands for: the address itself or, in IPv6, its /64 block, which is one
    household's.

    Other values (from another kind of socket) count as one client.
    """
    parsed = parse_address(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((int(parsed), _IPV6_SITE_BITS), strict=False))
    return str(parsed) if parsed else _UNKNOWN_CLIENT


class RejectionPacer:
    """Delays for rejections beyond `REJECTIONS_PER_S`, so that clients that retry immediately do not keep the service
    busy."""

    def __init__(self) -> None:
        self._next_s = float("-inf")

    async def wait(self) -> None:
        """Return when the next rejection may be sent."""
        delay_s = self.delay_s(asyncio.get_running_loop().time())
        if delay_s:
            await asyncio.sleep(delay_s)

    def delay_s(self, now_s: float) -> float:
        """Take the next slot, and return the seconds until it, which are at most `MAX_DELAY_S`."""
        slot_s = max(self._next_s, now_s - BURST / REJECTIONS_PER_S)
        self._next_s = min(slot_s + 1 / REJECTIONS_PER_S, now_s + MAX_DELAY_S - BATCH_S)
        return ceil(self._next_s / BATCH_S) * BATCH_S - now_s if self._next_s > now_s else 0.0
