"""Who may call the service, how often, and from which web sites: what is reloaded while requests are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from swapcli.service.key_file import ApiKey
from swapcli.service.limits import Limiter
from swapcli.service.trusted_proxies import TrustedProxies

if TYPE_CHECKING:
    from swapcli.config.settings import ServiceSettings


class Keys(Protocol):
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


class Rules(NamedTuple):
    """One version of the policy."""

    keys: Keys
    cors_origins: tuple[str, ...]
    proxies: TrustedProxies


class AccessPolicy:
    """The rules in force. `replace` is called on the event loop, where no request sees half of a change."""

    def __init__(self, settings: ServiceSettings, keys: Keys) -> None:
        self.limiter = Limiter(settings)
        self.rules = _rules(settings, keys)

    def replace(self, settings: ServiceSettings, keys: Keys) -> None:
        """Apply other settings to all requests from now on."""
        self.rules = _rules(settings, keys)
        self.limiter.change(settings)


def _rules(settings: ServiceSettings, keys: Keys) -> Rules:
    return Rules(keys, settings.cors_origins, TrustedProxies(settings.trusted_proxies))
