"""The access policy: API keys, rate limits, allowed web origins and trusted proxies. It can be reloaded at any time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from swapcli.core.errors import SwapcliError
from swapcli.core.records import NamedTuple
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.key_file import ApiKey
from swapcli.faces.service.rate_limits import Buckets, RateLimiter, RateLimitState, RequestClass
from swapcli.faces.service.trusted_proxies import TrustedProxies
from swapcli.state.clock import Clock

if TYPE_CHECKING:
    from swapcli.faces.service.redis_state import RedisState
    from swapcli.quoting.config.settings import ServiceSettings


class KeyLookup(Protocol):
    """Looks up API keys."""

    def find(self, key: str) -> ApiKey | None:
        """Return the record of a key; None if it is unknown or revoked."""
        ...


class NoKeys:
    """A lookup without any keys."""

    def find(self, key: str) -> ApiKey | None:
        """Return None."""
        del key
        return None


class PolicyRules(NamedTuple):
    """One version of the policy."""

    keys: KeyLookup
    cors_origins: tuple[str, ...]
    proxies: TrustedProxies


class AccessPolicy:
    """The rules in force. Call `replace` on the event loop, so that no request sees half of a change.

    The limits are those of `state`, which services share, and of `buckets` while it does not answer.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        keys: KeyLookup,
        buckets: Mapping[RequestClass, Buckets] | None = None,
        state: RedisState | None = None,
    ) -> None:
        self.limiter = RateLimiter(settings, buckets)
        self.rules = _build_rules(settings, keys)
        self._state = state

    async def acquire(
        self, address: str | None, key_id: str | None, request_class: RequestClass, now_s: float
    ) -> RateLimitState | None:
        """Count a request and return the client's state; None if the client is exempt. As `RateLimiter.acquire`."""
        if self._state is None:
            return self.limiter.acquire(address, key_id, request_class, now_s)
        client = self.limiter.limited_client(address, key_id, request_class)
        if client is None:
            return None
        state = await self._state.take(client)
        if state is None:
            return self.limiter.take(client, now_s)
        self.limiter.set_remaining(client, state.remaining, now_s)
        return state

    def max_streams(self, address: str | None, key_id: str | None) -> int | None:
        """Return how many streams a client may have open; None if it is exempt. As `RateLimiter.max_streams`."""
        return self.limiter.max_streams(address, key_id)

    def replace(self, settings: ServiceSettings, keys: KeyLookup) -> None:
        """Apply other settings to all requests from now on."""
        self.rules = _build_rules(settings, keys)
        self.limiter.apply_settings(settings)


def _build_rules(settings: ServiceSettings, keys: KeyLookup) -> PolicyRules:
    return PolicyRules(keys, settings.cors_origins, TrustedProxies(settings.trusted_proxies))


class PolicyReloader:
    """Replaces the policy by the result of `read`, in one step. If `read` fails, the old policy stays in force."""

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
