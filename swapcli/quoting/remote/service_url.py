"""The URL of a service."""

from __future__ import annotations

from urllib.parse import SplitResult, quote

from swapcli.core.encoding.url import split_url
from swapcli.core.errors import ConfigError
from swapcli.core.records import NamedTuple

_SCHEMES = ("http", "https")


class ServiceUrl(NamedTuple):
    """A service's URL. `base_url` has no trailing slash. `netloc` is the host, with the port if it was given."""

    base_url: str
    netloc: str

    @classmethod
    def parse(cls, text: str) -> ServiceUrl:
        """Parse a URL. Raises `ConfigError`, whose message does not repeat the URL because it may hold credentials."""
        parts = _split(text)
        if parts.username is not None or parts.password is not None or "@" in parts.netloc:
            raise _config_error("the URL of the service must not contain a user name or a password")
        if parts.scheme not in _SCHEMES:
            raise _config_error("the URL of the service must begin with http:// or https://")
        if parts.query or parts.fragment or "?" in text or "#" in text:
            raise _config_error("the URL of the service must not contain a query or a fragment")
        return cls(f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/"), parts.netloc)

    @property
    def is_secure(self) -> bool:
        """Whether requests use TLS."""
        return self.base_url.startswith("https:")

    def join(self, *segments: str) -> str:
        """Return the URL of a path below the service's URL. Path segments are given unquoted."""
        return "/".join([self.base_url, *(quote(segment, safe="") for segment in segments)])


def _split(url: str) -> SplitResult:
    try:
        return split_url(url)
    except ValueError:
        raise _config_error("the URL of the service is not valid") from None


def _config_error(problem: str) -> ConfigError:
    return ConfigError(problem, hint="for example https://quotes.example", details={"key": "api_url"})
