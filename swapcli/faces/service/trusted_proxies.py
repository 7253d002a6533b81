"""The address of a client behind reverse proxies.

Each proxy appends the address of its caller to `X-Forwarded-For` or `Forwarded` (RFC 7239). The entries are read from
the right, as long as the proxy that wrote an entry is trusted. Entries further left may be forged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Headers = Iterable[tuple[bytes, bytes]]

MAX_FORWARDED_CHARACTERS = 1_024
"""Maximum number of characters to read of `Forwarded`, from its right end: a dozen hops, which are cheap to parse."""

_LOOPBACK = IPv4Address("127.0.0.1")
_X_FORWARDED_FOR = b"x-forwarded-for"
_FORWARDED = b"forwarded"
_MAX_NODE_CHARACTERS = 64
# A quoted string may contain commas and semicolons, which are separators elsewhere.
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_ELEMENT = re.compile(rf"(?:[^,\"]|{_QUOTED})+")
_PAIR = re.compile(rf"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=({_QUOTED}|[^;,\"\s]*)\s*(?:;|$)")
_NODE = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<v4>[0-9.]+))(?::[0-9]{1,5})?")


class TrustedProxies:
    """The networks whose hosts are trusted to forward the true client address."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks: tuple[IPv4Network | IPv6Network, ...] = tuple(ip_network(each) for each in networks)

    @property
    def trusts_loopback(self) -> bool:
        """Whether proxies on this machine, at its usual address, are trusted."""
        return self._is_trusted(_LOOPBACK)

    def client_address(self, peer: str | None, headers: Headers) -> str | None:
        """Return the client's address for a request from `peer`, which is None without an IP connection.

        `headers` have names in lower case. Returns None if a trusted proxy does not give the client's address, or if
        `X-Forwarded-For` and `Forwarded` disagree, because the proxy then wrote only one of them.
        """
        hop = parse_address(peer)
        if not self._networks or hop is None or not self._is_trusted(hop):
            return peer
        headers = list(headers)
        chains = [list(_x_forwarded_for(headers)), list(_forwarded(headers))]
        clients = {self._follow(hop, chain) for chain in chains if chain}
        if not clients:
            return peer
        client = clients.pop()
        return str(client) if client is not None and not clients else None

    def is_unnamed_proxy(self, peer: str | None, headers: Headers) -> bool:
        """Return whether a request was forwarded by an untrusted proxy on this machine."""
        hop = parse_address(peer)
        if hop is None or not hop.is_loopback or self._is_trusted(hop):
            return False
        return any(name in (_X_FORWARDED_FOR, _FORWARDED) and value.strip() for name, value in headers)

    def _follow(self, hop: Address, chain: Sequence[str]) -> Address | None:
        """Return the first untrusted hop from the right, otherwise the leftmost; None if a hop is not an address."""
        for entry in reversed(chain):
            before = _parse_node(entry)
            if before is None:
                return None
            hop = before
            if not self._is_trusted(hop):
                break
        return hop

    def _is_trusted(self, address: Address) -> bool:
        return any(address.version == network.version and address in network for network in self._networks)


@lru_cache(maxsize=4096)
def parse_address(text: str | None) -> Address | None:
    """Return the IP address in `text`, or None if it is not one. An IPv4-mapped IPv6 address becomes IPv4."""
    try:
        address = ip_address(text or "")
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _x_forwarded_for(headers: Headers) -> Iterator[str]:
    for value in _values(headers, _X_FORWARDED_FOR):
        yield from (entry.strip() for entry in value.split(","))


def _forwarded(headers: Headers) -> Iterator[str]:
    """Yield the `for` parameter of each element; empty if it is missing or malformed."""
    value = ",".join(_values(headers, _FORWARDED))
    if not value:
        return
    tail = value[-MAX_FORWARDED_CHARACTERS:]
    elements = _ELEMENT.findall(tail) if '"' in tail else tail.split(",")
    is_cut = len(tail) < len(value)
    yield from (_read_for(element) for element in elements[is_cut:] or [""])


def _read_for(element: str) -> str:
    pairs: dict[str, str] = {}
    end = 0
    for match in _PAIR.finditer(element):
        if match.start() != end:
            return ""
        end = match.end()
        pairs.setdefault(match[1].lower(), match[2])
    value = pairs.get("for", "") if end == len(element) else ""
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


def _values(headers: Headers, name: bytes) -> Iterator[str]:
    return (value.decode("latin-1") for key, value in headers if key == name and value.strip())


def _parse_node(text: str) -> Address | None:
    """Parse an address with an optional port; an IPv6 address with a port is in brackets."""
    if len(text) > _MAX_NODE_CHARACTERS:
        return None
    match = _NODE.fullmatch(text)
    return parse_address(match["v6"] or match["v4"] if match else text)
