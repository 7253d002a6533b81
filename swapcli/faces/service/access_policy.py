"""The access policy: API keys and their plans, rate limits, allowed web origins and trusted proxies.

It can be reloaded at any time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from email.utils import formatdate
from typing import TYPE_CHECKING

from swapcli.core.errors import Forbidden, RateLimited, SwapcliError, Unauthorized
from swapcli.core.records import NamedTuple
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.key_file import ApiKey, KeyLookup
from swapcli.faces.service.key_plans import DAY_S, QuotaUse, quota_period
from swapcli.faces.service.key_usage import UsageCounter, UsageFile, UsageStorage
from swapcli.faces.service.rate_limits import (
    ProcessBuckets,
    QuotaCounters,
    RateLimiter,
    RateLimitState,
    RequestClass,
)
from swapcli.faces.service.refusal_reasons import RefusalReason, refused
from swapcli.faces.service.stream_limits import SharedStreams
from swapcli.faces.service.trusted_proxies import TrustedProxies
from swapcli.state.clock import SYSTEM_CLOCK, Clock

if TYPE_CHECKING:
    from swapcli.faces.service.redis_state import RedisState
    from swapcli.faces.service.worker_group import GroupMember
    from swapcli.quoting.config.settings import ServiceSettings

EXPIRY_HEADER = "X-Api-Key-Expires"
EXPIRY_NOTICE_S = 14 * DAY_S
"""How long before a key's expiry responses announce it: long enough to agree on a new key."""

_STREAM_RETRY_S = 15


class PolicyRules(NamedTuple):
    """One version of the policy."""

    keys: KeyLookup
    requires_key: bool
    cors_origins: tuple[str, ...]
    proxies: TrustedProxies


class AccessPolicy:
    """The rules in force. Call `replace` on the event loop, so that no request sees half of a change.

    The limits are kept in `state`, which services share. While it does not respond, they are kept in the `member`'s
    group or in this process. Key plans may contain names of `networks`.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        keys: KeyLookup,
        member: GroupMember | None = None,
        state: RedisState | None = None,
        networks: Collection[str] = (),
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._state, self._member, self._networks, self._clock = state, member, networks, clock
        group = member.group if member else None
        quotas = QuotaCounters(group.quotas if group else ProcessBuckets(), self._stored_quota)
        self.usage = UsageCounter()
        self.limiter = RateLimiter(settings, group.buckets if group else None, quotas)
        self._streams, self._slot = (member.group.streams, member.slot) if member else (SharedStreams(1), 0)
        self.rules = self._build_rules(settings, keys)

    def check_key(self, api_key: ApiKey | None, *, is_key_sent: bool, is_open: bool) -> SwapcliError | None:
        """Return why a request without a valid key is rejected, or None if it is allowed.

        A path that `is_open` never requires a key.
        """
        if api_key is not None:
            return None
        requires_key = self.rules.requires_key
        if is_key_sent:
            message, hint = (
                "the API key is unknown or was revoked",
                "send a valid key" + ", or no key" * (not requires_key),
            )
            return refused(RefusalReason.API_KEY, Unauthorized(message, hint=hint))
        if requires_key and not is_open:
            message, hint = "this service requires an API key", "send it in the header X-API-Key"
            return refused(RefusalReason.KEY_MISSING, Unauthorized(message, hint=hint))
        return None

    def check_plan(self, api_key: ApiKey, request_class: RequestClass, path: str) -> SwapcliError | None:
        """Return why a key's plan does not allow a request for `path`, or None if it does."""
        plan, now_s = api_key.plan, self._clock.now_s()
        if api_key.is_expired(now_s):
            expired = f"the API key expired on {plan.words()['expires']}"
            return refused(RefusalReason.KEY_EXPIRED, Unauthorized(expired, hint="ask the operator to extend it"))
        if plan.networks is not None and request_class is RequestClass.WORK:
            network = path[1:].partition("/")[0]
            if network in self._networks and network not in plan.networks:
                hint = f"it is valid for {', '.join(plan.networks)}"
                error = Forbidden(f"the API key is not valid for {network}", hint=hint)
                return refused(RefusalReason.KEY_NETWORK, error)
        return None

    async def acquire(
        self,
        address: str | None,
        api_key: ApiKey | None,
        request_class: RequestClass,
        now_s: float,
        *,
        is_charged: bool = True,
    ) -> RateLimitState | None:
        """Count a request and return the state of the client's limit, or None if the client is exempt.

        A request that `is_charged` counts towards its key's quota. The other parameters are the same as in
        `RateLimiter.limited_client`. `now_s` is monotonic time.
        """
        quota = None
        if api_key and api_key.plan.quota and is_charged and request_class is RequestClass.WORK:
            requests, period = api_key.plan.quota
            quota = QuotaUse(api_key.id, quota_period(period, int(self._clock.now_s() // DAY_S)), requests)
        client = self.limiter.limited_client(address, api_key, request_class, quota)
        if client is None:
            return None
        state = None if self._state is None else await self._state.take(client)
        if state is None:
            state = self.limiter.take(client, now_s)
        else:
            self.limiter.set_remaining(client, state.remaining, now_s)
            if quota is not None:
                self.limiter.quotas.raise_to(quota, state.quota_used)
        if state.charged is not None:
            self.usage.charge(state.charged.key_id, 1, self._clock.now_s())
        return state

    def give_back(self, quota: QuotaUse) -> None:
        """Return a request to a quota, because the service had to reject it."""
        self.limiter.quotas.give_back(quota)
        self.usage.charge(quota.key_id, -1, self._clock.now_s())
        if self._state is not None:
            self._state.give_back(quota)

    @property
    def usage_storage(self) -> UsageStorage | None:
        """Where the usage of keys is stored: on the server that services share, otherwise in a file next to the key
        file."""
        path = self.rules.keys.path
        return self._state if self._state is not None or path is None else UsageFile(path)

    def _stored_quota(self, quota: QuotaUse) -> int:
        storage = self.usage_storage
        return storage.used(quota) if isinstance(storage, UsageFile) else 0

    def expiry_headers(self, api_key: ApiKey | None) -> list[tuple[bytes, bytes]]:
        """Return the header that announces when a key expires.

        `Sunset` (RFC 8594) would mean that the resource disappears for all clients.
        """
        expires_s = api_key.plan.expires_s if api_key else None
        if expires_s is None or expires_s - self._clock.now_s() > EXPIRY_NOTICE_S:
            return []
        return [(EXPIRY_HEADER.lower().encode(), formatdate(expires_s, usegmt=True).encode())]

    @asynccontextmanager
    async def stream_slot(self, client: str, address: str | None, api_key: ApiKey | None) -> AsyncIterator[None]:
        """Count a client's open stream during the context. Raises `RateLimited` if the client has too many."""
        limit = self.limiter.max_streams(address, api_key)
        if limit is None:
            yield
            return
        message, hint = f"more than {limit} open streams", "close some of them"
        error = refused(RefusalReason.CLIENT_STREAMS, RateLimited(message, retry_after_s=_STREAM_RETRY_S, hint=hint))
        if not self._streams.open(self._slot, client, limit):
            raise error
        lease = None
        try:
            if self._state is not None:
                lease = await self._state.open_stream(client, limit)
                if lease is not None and lease.is_refused:
                    raise error
            yield
        finally:
            self._streams.close(self._slot, client)
            if self._state is not None and lease is not None and not lease.is_refused:
                self._state.close_stream(lease)

    def replace(self, settings: ServiceSettings, keys: KeyLookup) -> None:
        """Apply new settings to all requests from now on. A key store for the same file keeps its last good version."""
        is_same_file = keys.path is not None and keys.path == self.rules.keys.path
        self.rules = self._build_rules(settings, self.rules.keys if is_same_file else keys)
        self.limiter.apply_settings(settings)

    def _build_rules(self, settings: ServiceSettings, keys: KeyLookup) -> PolicyRules:
        if self._member is not None:
            keys.share(self._member.group.key_file)
        return PolicyRules(keys, settings.require_keys, settings.cors_origins, TrustedProxies(settings.trusted_proxies))


class PolicyReloader:
    """A reloader that replaces the policy with the result of `read`, in one step. If `read` fails, the old policy stays
    in force."""

    def __init__(
        self,
        policy: AccessPolicy,
        read: Callable[[], tuple[ServiceSettings, KeyLookup]],
        log: AccessLog | None,
        clock: Clock,
    ) -> None:
        self._policy = policy
        self._read = read
        self._log = log
        self._clock = clock

    async def __call__(self) -> None:
        """Read off the event loop, apply on it, and log the result."""
        try:
            settings, keys = await asyncio.to_thread(self._read)
            self._policy.replace(settings, keys)
        except SwapcliError as error:
            self._log_result(error)
        except Exception as error:
            # A defect or a failing file system must not stop the service.
            if self._log:
                self._log.log_defect("reload", error, self._clock.now_s())
        else:
            self._log_result(None)

    def _log_result(self, error: SwapcliError | None) -> None:
        if self._log:
            self._log.log_reload(error, self._clock.now_s())
