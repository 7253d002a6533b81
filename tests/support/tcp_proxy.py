"""A TCP proxy on loopback that cuts connections, refuses them, or goes silent."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from threading import Lock, Thread

_CHUNK_BYTES = 65_536


class ProxyState(Enum):
    """The treatment of connections."""

    FORWARDING = "bytes pass in both directions"
    REFUSING = "new connections are closed at once"
    SILENT = "bytes are read and dropped"


class TcpProxy:
    """Forwards connections to `port` of this machine; `accepted` counts them. `state` may be set at any time."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock, self._sockets = Lock(), set[socket.socket]()
        self.state = ProxyState.FORWARDING
        self.accepted = 0

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def run(self) -> None:
        """Accept connections until it is closed."""
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.accepted += 1
                if self.state is ProxyState.REFUSING:
                    client.close()
                    continue
                self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            client.close()
            return
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._sockets |= {client, server}
        # From here on each thread may close its end at any time.
        for ends in ((client, server), (server, client)):
            Thread(target=self._forward, args=ends, daemon=True).start()

    def cut(self) -> int:
        """Close all open connections. Return their number."""
        with self._lock:
            sockets, self._sockets = self._sockets, set()
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        return len(sockets) // 2

    def close(self) -> None:
        """Stop accepting, and cut all connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK_BYTES):
                if self.state is not ProxyState.SILENT:
                    sink.sendall(chunk)
        with self._lock:
            self._sockets.discard(source)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
        source.close()


@contextmanager
def open_tcp_proxy(port: int) -> Iterator[TcpProxy]:
    """Run a proxy in front of `port` until the context ends."""
    proxy = TcpProxy(port)
    thread = Thread(target=proxy.run, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join()
