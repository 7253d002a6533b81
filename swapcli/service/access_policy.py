"""Who may call the service, how often, and from which web sites: what is reloaded while requests are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from swapcli.service.key_file import ApiKey
from swapcli.service.limits import RateLimiter
from swapcli.service.trusted_proxies import TrustedProxies

if TYPE_CHECKING:
    from swapcli.config.settings import ServiceSettings


class KeyLookup(Protocol):
    """Knows API keys."""

    def find(self, key: str) -> ApiKey | None:
        """Return what is known of a key that somebody presents; None where it is unknown or revoked."""
        ...


class NoKeys:
    """Knows none."""

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
    """The rules in force. `replace` is called on the event loop, where no request sees half of a change."""

    def __init__(self, settings: ServiceSettings, keys: KeyLookup) -> None:
        self.limiter = RateLimiter(settings)
        self.rules = _build_rules(settings, keys)

    def replace(self, settings: ServiceSettings, keys: KeyLookup) -> None:
        """Apply other settings to all requests from now on."""
        self.rules = _build_rules(settings, keys)
        self.limiter.apply_settings(settings)


def _build_rules(settings: ServiceSettings, keys: KeyLookup) -> PolicyRules:
    return PolicyRules(keys, settings.cors_origins, TrustedProxies(settings.trusted_proxies))
