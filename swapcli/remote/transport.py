"""HTTP over sockets that keep one deadline for the whole exchange.

Common clients bound each wait for a byte, so a server that drips its answer holds them for as long as it likes. Here
the looking-up of the name, the connection, the handshake, and every read and write get what is left of one time. The
deadline travels where httpcore carries timeouts, as a moment instead of a length: `_Stream` and `_Backend`, which
alone read it, turn it back.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from ssl import SSLContext

import httpcore
import httpx

Resolve = Callable[[str, int], list[str]]

_WRITE_BYTES = 16 * 2**10
_IDLE_S = 4.0
"""Less than servers commonly keep a connection that nobody uses."""


def resolve_name(host: str, port: int) -> list[str]:
    """The addresses of a host, in the system's order. Raises `OSError`."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class DeadlineTransport(httpx.BaseTransport):
    """Sends requests over HTTP/1.1; the read timeout of a request bounds all of its exchange.

    Only GETs use a connection again: a server may be closing it at this very moment, and then nobody knows whether it
    has read a request that must not be repeated. `monotonic_s` measures time; `ssl_context` says whom to trust.
    """

    def __init__(
        self, timer_s: Callable[[], float], ssl_context: SSLContext | None = None, resolve: Resolve = resolve_name
    ) -> None:
        self._timer_s = timer_s
        backend = _Backend(timer_s, resolve)
        self._kept = httpcore.ConnectionPool(ssl_context, keepalive_expiry=_IDLE_S, network_backend=backend)
        self._fresh = httpcore.ConnectionPool(ssl_context, max_keepalive_connections=0, network_backend=backend)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """As `httpx.BaseTransport`. Raises the errors of httpx."""
        length_s = float(request.extensions["timeout"]["read"])
        moment = self._timer_s() + length_s
        timeouts = {"connect": moment, "read": moment, "write": moment, "pool": length_s}
        pool = self._kept if request.method == "GET" else self._fresh
        with _as_httpx():
            answer = pool.handle_request(
                httpcore.Request(
                    method=request.method,
                    url=httpcore.URL(
                        scheme=request.url.raw_scheme,
                        host=request.url.raw_host,
                        port=request.url.port,
                        target=request.url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions={"timeout": timeouts},
                )
            )
        assert isinstance(answer.stream, Iterable)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer.stream))

    def close(self) -> None:
        """Closes all connections."""
        self._kept.close()
        self._fresh.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Iterable[bytes]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._stream

    def close(self) -> None:
        if hasattr(self._stream, "close"):
            self._stream.close()


class _Stream(httpcore.NetworkStream):
    """A connection; its timeouts are moments."""

    def __init__(self, stream: httpcore.NetworkStream, timer_s: Callable[[], float]) -> None:
        self._stream, self._timer_s = stream, timer_s

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left_s(timeout, self._timer_s))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _WRITE_BYTES):
            self._stream.write(buffer[start : start + _WRITE_BYTES], _left_s(timeout, self._timer_s))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left_s = _left_s(timeout, self._timer_s)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left_s), self._timer_s)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    """Opens connections; timeouts are moments."""

    def __init__(self, timer_s: Callable[[], float], resolve: Resolve) -> None:
        self._timer_s, self._resolve = timer_s, resolve
        self._system = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        addresses = _in_time(lambda: self._resolve(host, port), _left_s(timeout, self._timer_s))
        failure: Exception = httpcore.ConnectError("the host has no address")
        for tried, address in enumerate(addresses):
            # Each gets its part of what is left, so that one which swallows packets leaves time for the next.
            left_s = _left_s(timeout, self._timer_s) / (len(addresses) - tried)
            try:
                stream = self._system.connect_tcp(address, port, left_s, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Stream(stream, self._timer_s)
        raise failure


def _left_s(moment: float | None, timer_s: Callable[[], float]) -> float:
    """The time until `moment`. Raises where none is left."""
    assert moment is not None, "every request has a deadline"
    left_s = moment - timer_s()
    if left_s <= 0:
        raise httpcore.ReadTimeout("out of time")
    return left_s


def _in_time(look_up: Callable[[], list[str]], left_s: float) -> list[str]:
    """What `look_up` returns, if it does so in time. The system's resolver cannot be interrupted, only left behind."""
    answers: SimpleQueue[list[str] | OSError] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(look_up())
        except (OSError, UnicodeError) as error:
            answers.put(error if isinstance(error, OSError) else socket.gaierror(str(error)))

    threading.Thread(target=run, daemon=True).start()
    try:
        answer = answers.get(timeout=left_s)
    except Empty:
        raise httpcore.ConnectTimeout("out of time") from None
    if not isinstance(answer, OSError):
        return answer
    try:
        # httpcore drops causes on the way, but keeps the context.
        raise answer
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Errors of httpcore under the names that httpx gives them, which are the same."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error
