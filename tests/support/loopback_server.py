"""A server on loopback that sends exactly the bytes that a function returns, for tests of bad responses."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from swapcli.quoting.remote.client import RevealKey, ServiceClient
from swapcli.quoting.remote.retry import RetryPolicy
from swapcli.quoting.remote.service_url import ServiceUrl

CERTIFICATES = Path(__file__).parents[1] / "quoting" / "remote" / "certificates"
HOST = "127.0.0.1"
TIMEOUT_S = 5.0


@dataclass
class FakeExchange:
    """A request as received, and the connection on which to respond."""

    head: bytes
    body: bytes
    index: int
    connection: socket.socket
    closing: threading.Event

    @property
    def target(self) -> str:
        return self.head.split(b" ", 2)[1].decode()

    @property
    def headers(self) -> dict[str, str]:
        lines = (line.decode("latin-1").partition(":") for line in self.head.split(b"\r\n")[1:] if line)
        return {name.lower(): value.strip() for name, _, value in lines}

    def send(self, raw: bytes) -> None:
        self.connection.sendall(raw)

    def wait(self, seconds: float) -> None:
        """Sleep, unless the test has ended."""
        self.closing.wait(seconds)


Responder = Callable[[FakeExchange], None]


@dataclass
class LoopbackServer:
    """A running server, and the requests that it received."""

    url: str
    exchanges: list[FakeExchange] = field(default_factory=list)


def server_tls(certificate: str) -> ssl.SSLContext:
    """Return the TLS context of a server with a self-signed certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / certificate)
    return context


def http_response(status: int, body: bytes | str = b"", *headers: str, reason: str = "Status") -> bytes:
    """Return a well-formed response, the last one on its connection."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} {reason}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def respond_with(*responses: bytes) -> Responder:
    """Return a responder that sends the responses in order, and repeats the last one."""

    def respond(exchange: FakeExchange) -> None:
        exchange.send(responses[min(exchange.index, len(responses) - 1)])

    return respond


@contextmanager
def loopback_server(responder: Responder, tls: ssl.SSLContext | None = None) -> Iterator[LoopbackServer]:
    """Run a server. A connection closes when `responder` has returned."""
    closing = threading.Event()
    with socket.create_server((HOST, 0)) as listener:
        listener.settimeout(TIMEOUT_S)
        scheme = "https" if tls else "http"
        running = LoopbackServer(f"{scheme}://{HOST}:{listener.getsockname()[1]}")
        threads: list[threading.Thread] = []

        def accept() -> None:
            while not closing.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                except OSError:
                    return
                thread = threading.Thread(target=_serve, args=(connection, running, responder, closing, tls))
                threads.append(thread)
                thread.start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield running
        finally:
            closing.set()
            with suppress(OSError):
                socket.create_connection(listener.getsockname(), timeout=1).close()
            accepting.join()
            for thread in threads:
                thread.join()


def _serve(
    connection: socket.socket,
    running: LoopbackServer,
    responder: Responder,
    closing: threading.Event,
    tls: ssl.SSLContext | None,
) -> None:
    connection.settimeout(TIMEOUT_S)
    with suppress(OSError):
        if tls:
            connection = tls.wrap_socket(connection, server_side=True)
        if request := _read_request(connection):
            exchange = FakeExchange(*request, len(running.exchanges), connection, closing)
            running.exchanges.append(exchange)
            responder(exchange)
    connection.close()


def _read_request(connection: socket.socket) -> tuple[bytes, bytes] | None:
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65_536)
        if not chunk:
            return None
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        chunk = connection.recv(65_536)
        if not chunk:  # the client has given up in the middle of its body
            return None
        body += chunk
    return head, body


@dataclass
class NoSleep:
    """Records sleeps instead of sleeping."""

    slept_s: list[float] = field(default_factory=list)
    now_s: float = 1_800_000_000.0

    def retry_policy(self) -> RetryPolicy:
        return RetryPolicy(sleep=self.slept_s.append, now_s=lambda: self.now_s, random=lambda: 1.0)


def build_client(
    url: str, *, timeout_s: float = 2.0, retries: int = 0, key: RevealKey | None = None, no_sleep: NoSleep | None = None
) -> ServiceClient:
    """Return a client that does not sleep between attempts."""
    retry_policy = (no_sleep or NoSleep()).retry_policy()
    return ServiceClient(
        ServiceUrl.parse(url), key=key, timeout_s=timeout_s, retries=retries, retry_policy=retry_policy
    )
