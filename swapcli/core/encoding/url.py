"""Parse URLs, and display them without credentials. Node providers put keys into usernames, paths and queries."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import single_line, truncate

if TYPE_CHECKING:
    from urllib.parse import SplitResult

_MAX_SHOWN_CHARACTERS = 200  # characters of an address in a message; chosen
_IPC_PREFIXES = ("/", "~/", "\\\\.\\pipe\\")
"""Unix paths, and Windows named pipes."""


def split_url(url: str) -> SplitResult:
    """Split a URL. Raises `ValueError` if it has no host, an invalid port, whitespace or unprintable characters.

    The error does not repeat any part of the URL.
    """
    from urllib.parse import urlsplit  # deferred: most commands parse no URL

    try:
        parts = urlsplit(url)
        has_host = parts.hostname is not None and (parts.port is None or parts.port >= 0)
    except ValueError:
        has_host = False
    if not has_host or any(character.isspace() or not character.isprintable() for character in url):
        raise ValueError("not a URL with a host")
    return parts


def with_local_scheme(url: str) -> str:
    """Return the URL of a server on this machine or its local network, with `http://` added if the text lacks it.

    A local server is localhost or a private IP address with a port, as in `localhost:8545`. Any other text stays
    unchanged: an unencrypted request to a remote host needs an explicit `http://`.
    """
    authority, slash, path = url.partition("/")
    host, colon, port = authority.rpartition(":")
    if not (colon and port.isascii() and port.isdecimal()):
        return url
    return f"http://{authority}{slash}{path}" if _is_local_host(host.removeprefix("[").removesuffix("]")) else url


def _is_local_host(host: str) -> bool:
    from ipaddress import ip_address  # deferred, as above

    try:
        return host.lower() == "localhost" or ip_address(host).is_private
    except ValueError:
        return False


def is_ipc_path(text: str) -> bool:
    """Return whether `text` is the path of a socket rather than a URL: an absolute path, or one relative to the home
    folder.

    Example: `is_ipc_path("/home/me/.ethereum/geth.ipc")` is `True`.
    """
    return text.startswith(_IPC_PREFIXES) and not text.startswith("//")  # a URL without its scheme begins with this


def is_http_url(text: str) -> bool:
    """Return whether a URL is an http or https URL, rather than a URL for another transport."""
    return text.lower().startswith(("http://", "https://"))


def origin_of(parts: SplitResult) -> str:
    """Return scheme, host and port (if there is one), without credentials: `https://node.example:8545`."""
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + ("" if parts.port is None else f":{parts.port}")


def redact_url(url: str) -> str:
    """Return scheme, host, port and path of an untrusted URL: at most 200 characters, no credentials."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        origin = origin_of(parts) if parts.netloc else ""
    except ValueError:
        return "an invalid address"
    shown = single_line(f"{origin.removeprefix('://')}{parts.path}")
    return truncate(shown, _MAX_SHOWN_CHARACTERS - 1) or "another address"


@lru_cache(maxsize=4096)
def is_loopback_address(address: str | None) -> bool:
    """Return whether an IP address is a loopback address, including an IPv4 loopback address mapped into IPv6."""
    from ipaddress import IPv6Address, ip_address  # deferred, as above

    try:
        parsed = ip_address(address or "")
    except ValueError:
        return False
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return (mapped or parsed).is_loopback


def is_loopback_host(host: str) -> bool:
    """Return whether a server that binds to `host` is reachable from this machine only."""
    return host.lower() == "localhost" or is_loopback_address(host)
