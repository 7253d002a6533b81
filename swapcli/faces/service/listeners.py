"""The listening sockets of a service: passed by systemd, otherwise bound to the addresses in the settings.

systemd keeps its sockets open while the service restarts, so that new connections wait instead of being rejected. The
protocols are sd_listen_fds(3) and sd_notify(3), which other service managers use too.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat

from swapcli.core.errors import InvalidOption
from swapcli.core.records import NamedTuple
from swapcli.faces.service.endpoint_table import METRICS
from swapcli.quoting.config.settings import ServiceSettings

METRICS_NAME = "metrics"
"""The name (FileDescriptorName=) of the metrics socket. Any other socket serves requests."""

READY, STOPPING = "READY=1", "STOPPING=1"

_NOT_USED = "WARNING: a systemd socket is not used: {}"
_METRICS_PORT = "service.metrics_port"
_FIRST_DESCRIPTOR = 3


class Listeners(NamedTuple):
    """The service's socket, and a separate metrics socket if there is one."""

    service: socket.socket
    metrics: socket.socket | None

    @property
    def url(self) -> str:
        """The base URL of the service."""
        return base_url(self.service)

    @property
    def metrics_url(self) -> str | None:
        """The URL of the metrics on their separate socket."""
        return None if self.metrics is None else base_url(self.metrics) + METRICS

    def describe_in(self, settings: ServiceSettings) -> ServiceSettings:
        """Return `settings` with the metrics port that is actually open, or with none. Settings that are read again may
        name a different port, and never contain the ports of systemd's sockets."""
        return settings._replace(metrics_port=self.metrics.getsockname()[1] if self.metrics else None)

    def close(self) -> None:
        """Close the sockets in this process."""
        self.service.close()
        if self.metrics is not None:
            self.metrics.close()


def open_listeners(settings: ServiceSettings, warn: Callable[[str], object]) -> Listeners:
    """Return the sockets passed by systemd, and bind the missing ones. `warn` receives a line for each unusable socket.

    Raises `InvalidOption` if an address cannot be bound.
    """
    passed: dict[bool, socket.socket] = {}
    for name, found in _passed_sockets():
        if isinstance(found, str):
            warn(_NOT_USED.format(found))
        elif passed.setdefault(name == METRICS_NAME, found) is not found:
            warn(_NOT_USED.format(f"descriptor {found.detach()} ({name}) is an extra socket"))
    service = passed.get(False) or bind(settings.host, settings.port)
    metrics = passed.get(True)
    if metrics is None and settings.metrics_port is not None:
        try:
            metrics = bind(settings.host, settings.metrics_port, _METRICS_PORT)
        except InvalidOption:
            service.close()
            raise
    return Listeners(service, metrics)


def _passed_sockets() -> Iterator[tuple[str, socket.socket | str]]:
    """Yield the name of each socket passed by systemd, with the socket or the reason why it cannot be used."""
    count, pid, names = (os.environ.pop(f"LISTEN_{key}", None) for key in ("FDS", "PID", "FDNAMES"))
    if count is None:
        return
    if pid != str(os.getpid()):
        yield "", f"LISTEN_PID is {pid}, but this process is {os.getpid()}; start swapcli with exec in a wrapper script"
        return
    if not count.isdecimal() or int(count) < 1:
        yield "", f"LISTEN_FDS is {count}; the socket unit needs a ListenStream"
        return
    descriptors = range(_FIRST_DESCRIPTOR, _FIRST_DESCRIPTOR + int(count))
    for descriptor, name in zip(descriptors, chain((names or "").split(":"), repeat("")), strict=False):
        try:
            found = socket.socket(fileno=descriptor)
        except OSError:
            yield name, f"descriptor {descriptor} ({name}) is not a socket"
            return
        is_tcp = found.family in (socket.AF_INET, socket.AF_INET6) and found.type == socket.SOCK_STREAM
        if is_tcp and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            os.set_inheritable(descriptor, False)
            yield name, found
        else:
            problem = "does not listen for TCP; use ListenStream with a port, and Accept=no"
            yield name, f"descriptor {found.detach()} ({name}) {problem}"


def bind(host: str, port: int, option: str = "--port") -> socket.socket:
    """Return a socket bound to an address. Raises `InvalidOption` if that fails, and the error names `option`, which
    sets the port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _cannot_bind(host, port, option, error) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise _cannot_bind(host, port, option, error) from None
    return listener


def _cannot_bind(host: str, port: int, option: str, error: OSError) -> InvalidOption:
    return InvalidOption(
        f"cannot listen on {host}, port {port}: {error.strerror or error}",
        hint=f"choose another --host or {option}; port 0 takes a free one",
    )


def base_url(listener: socket.socket) -> str:
    """Return the URL of the service."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def notify_manager(state: str) -> None:
    """Send `READY` or `STOPPING` to systemd, if it expects notifications (Type=notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.sendto(state.encode(), "\0" + address[1:] if address.startswith("@") else address)
