"""Where a service is."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import SplitResult, quote

from swapcli.encoding.url import split_url
from swapcli.errors import ConfigError

_SCHEMES = ("http", "https")


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
        if parts.scheme not in _SCHEMES:
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


def _split(url: str) -> SplitResult:
    try:
        return split_url(url)
    except ValueError:
        raise _bad("the address of the service is not a URL such as https://quotes.example") from None


def _bad(problem: str) -> ConfigError:
    return ConfigError(problem, hint="give it as in https://quotes.example", details={"key": "api_url"})
