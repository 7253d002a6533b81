"""Find out whether this machine can reach the internet at all, without waiting for a connection to time out.

Without a network connection, a resolver may hang for many seconds, so all names are resolved in parallel threads. A
connected UDP socket shows whether there is a route to an address, without sending anything.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from hashlib import sha256
from ipaddress import ip_address
from threading import Lock, Thread
from typing import Any, Final

Resolve = Callable[[str], Sequence[tuple[int, Any]]]
"""Returns the addresses of a host name, each with its socket family and port. Raises `OSError`."""

_ANY_PORT: Final = 443
_FAR_ADDRESSES: Final = ((socket.AF_INET, ("198.51.100.1", _ANY_PORT)), (socket.AF_INET6, ("2001:db8::1", _ANY_PORT)))
"""Addresses in the documentation blocks (RFC 5737, RFC 3849): nothing is ever sent to them."""
_FINGERPRINT_CHARACTERS: Final = 16  # digits of a hash in hex


def resolve(host: str) -> list[tuple[int, Any]]:
    """Return a host's addresses, as resolved by the system. Raises `OSError`."""
    return [(each[0], each[4]) for each in socket.getaddrinfo(host, _ANY_PORT, type=socket.SOCK_STREAM)]


def find_route(family: int, address: Any) -> str | None:
    """Return this machine's own address on the route to `address`; None if there is no route."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(address)
            return str(probe.getsockname()[0])
    except (OSError, UnicodeError, OverflowError):
        return None


def route_fingerprint(hosts: Sequence[str]) -> str:
    """Return a short text that changes whenever this machine's network connection or `hosts` change."""
    routes = [find_route(family, address) or "" for family, address in _FAR_ADDRESSES]
    return sha256("\n".join([*routes, *sorted(hosts)]).encode()).hexdigest()[:_FINGERPRINT_CHARACTERS]


class Reachability:
    """Whether any of several hosts can be reached, judging by name resolution and routes."""

    def __init__(self, hosts: Sequence[str], resolve_name: Resolve = resolve) -> None:
        self._hosts, self._resolve = tuple(dict.fromkeys(hosts)), resolve_name
        self._lock = Lock()
        self._pending = set(self._hosts)
        self._problems: dict[str, str] = {}
        self._is_reachable = False

    def start(self, notify: Callable[[], object]) -> None:
        """Start to look up all names in parallel threads, which call `notify` once the result is known."""
        for host in self._hosts:
            if _is_local(host):
                self._record(host)
        if self._is_reachable or not self._pending:
            notify()
            return
        for host in tuple(self._pending):
            Thread(target=self._look_up, args=(host, notify), daemon=True).start()

    def problem(self, *, is_late: bool) -> str | None:
        """Return why no host can be reached; None if one can, or if the result is not known yet. `is_late` treats
        unfinished look-ups as failed."""
        with self._lock:
            if self._is_reachable or not self._hosts:
                return None
            if not self._pending:
                return next(iter(self._problems.values()))
            return "no host name was resolved in time" if is_late else None

    @property
    def is_known(self) -> bool:
        """Whether the result is final, so that waiting longer changes nothing."""
        return self._is_reachable or not self._pending

    def _look_up(self, host: str, notify: Callable[[], object]) -> None:
        self._record(host)
        if self.is_known:
            notify()

    def _record(self, host: str) -> None:
        problem = self._find_problem(host)
        with self._lock:
            self._pending.discard(host)
            if problem is None:
                self._is_reachable = True
            else:
                self._problems[host] = problem

    def _find_problem(self, host: str) -> str | None:
        try:
            addresses = self._resolve(host)
        except (OSError, UnicodeError):
            return f"the host name {host} cannot be resolved"
        if any(find_route(family, address) for family, address in addresses):
            return None
        return f"no route to {host}"


def _is_local(host: str) -> bool:
    """Return whether the system needs no name server for this host."""
    if host == "localhost":
        return True
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
