"""Where a service is."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import SplitResult, quote, urlsplit

from swapcli.errors import ConfigError

_SCHEMES = ("http", "https")
_SHOWN_CHARACTERS = 200


class ServiceAddress(NamedTuple):
    """`base` is the address without a slash at its end, `shown` the host and, where it is given, the port."""

    base: str
    shown: str

    @classmethod
    def of(cls, url: str) -> ServiceAddress:
        """The address that a URL gives. Raises `ConfigError`, which does not repeat what may hold credentials."""
        parts = _split(url)
        if parts.username is not None or parts.password is not None or "@" in parts.netloc:
            raise _bad("the address of the service must not hold a user name or a password")
        if parts.scheme not in _SCHEMES or not parts.hostname:
            raise _bad("the address of the service must begin with http:// or https:// and a host")
        if parts.query or parts.fragment or "?" in url or "#" in url:
            raise _bad("the address of the service must not hold a query or a fragment")
        return cls(f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/"), parts.netloc)

    @property
    def is_secure(self) -> bool:
        """Is it reached over TLS?"""
        return self.base.startswith("https:")

    def url(self, *segments: str) -> str:
        """The address of a path, given by its segments."""
        return "/".join([self.base, *(quote(segment, safe="") for segment in segments)])


def without_secrets(url: str) -> str:
    """What may be shown of a URL that a stranger gave: scheme, host and path, cut when long."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "an address that cannot be read"
    host = f"[{host}]" if ":" in host else host
    shown = f"{parts.scheme}://{host}" if host else ""
    shown += f":{port}" if port is not None else ""
    shown += parts.path
    kept = "".join(letter for letter in shown if letter.isprintable())[:_SHOWN_CHARACTERS]
    return kept or "another address"


_SHOWN_CHARACTERS = 200


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is not a number
    except ValueError:
        raise _bad("the address of the service is not a URL") from None
    if any(letter.isspace() or not letter.isprintable() for letter in url):
        raise _bad("the address of the service is not a URL")
    return parts


def _bad(problem: str) -> ConfigError:
    return ConfigError(problem, hint="give it as in https://quotes.example", details={"key": "api_url"})
