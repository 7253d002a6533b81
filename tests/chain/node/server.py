"""A JSON-RPC server on loopback with network failures that a test selects."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic, sleep, time
from typing import Any

from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode

CHAIN_ID = 8453
SECRET = "a-secret-api-key"
SHOWN = "node.example"

RpcRequest = dict[str, Any]
RpcAnswer = dict[str, Any]
Answering = Callable[[RpcRequest], object]
Failure = Callable[["Handler"], bool]
"""Disturb an exchange; return False to continue normally."""


class Refused(Exception):
    """Become an error object of JSON-RPC."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server(ThreadingHTTPServer):
    """`failures` are used up, one per exchange; `exchanges` has the number of requests of each.

    The `Date` of its responses is `date_shift_s` after the time.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, answering: Answering) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answering = answering
        self.failures: list[Failure] = []
        self.always: Failure | None = None
        self.exchanges: list[int] = []
        self.headers: list[dict[str, str]] = []
        self.max_requests: int | None = None
        self.date_shift_s = 0.0

    def answer(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """Return the response to each request, in order."""
        return [self._respond(request) for request in requests]

    def _respond(self, request: RpcRequest) -> RpcAnswer:
        try:
            result = self.answering(request)
        except Refused as error:
            return refusal(request, error.code, str(error))
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect before the response."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def refusal(request: RpcRequest, code: int, message: str) -> RpcAnswer:
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string((timestamp or time()) + self.server.date_shift_s)

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # the client has hung up in the middle of its request
            self.close_connection = True
            return
        self.content = json.loads(body)
        server = self.server
        server.headers.append(dict(self.headers))
        self.requests: list[RpcRequest] = self.content if isinstance(self.content, list) else [self.content]
        server.exchanges.append(len(self.requests))
        failure = server.failures.pop(0) if server.failures else server.always
        if failure and failure(self):
            return
        if server.max_requests is not None and len(self.requests) > server.max_requests:
            self.answer({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "batch too large"}})
            return
        self.answer_all(server.answer(self.requests))

    def answer_all(self, answers: Sequence[RpcAnswer]) -> None:
        """Send a batch if the request was a batch."""
        self.answer(answers if isinstance(self.content, list) or not answers else answers[0])

    def answer(self, content: object, status: int = 200, **headers: str) -> None:
        self.send(json.dumps(content).encode(), status, **headers)

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Discard the log line."""


def hangs_up(handler: Handler) -> bool:
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)
    return True


def breaks_off(handler: Handler) -> bool:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'[{"jsonrpc"')
    return hangs_up(handler)


def stays_silent(handler: Handler) -> bool:
    sleep(1.0)
    return hangs_up(handler)


def drips(handler: Handler) -> bool:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(40):
        try:
            handler.wfile.write(b" ")
        except OSError:
            break
        sleep(0.05)
    handler.close_connection = True
    return True


def says(status: int, body: bytes = b"", **headers: str) -> Failure:
    def failure(handler: Handler) -> bool:
        handler.send(body, status, **headers)
        return True

    return failure


def closes_afterwards(handler: Handler) -> bool:
    """Close the connection after the response, as servers do with idle connections."""
    handler.close_connection = True
    return False


def limits_requests(per_s: float, rejections: list[int] | None = None) -> Failure:
    """Answer 429 to an exchange with which there would be more than `per_s` requests in a second.

    The number of requests of each such exchange is appended to `rejections`.
    """
    accepted: list[tuple[float, int]] = []

    def failure(handler: Handler) -> bool:
        now_s, count = monotonic(), len(handler.requests)
        recent = sum(each for at_s, each in accepted if now_s - at_s < 1.0)
        if recent + count <= per_s:
            accepted.append((now_s, count))
            return False
        if rejections is not None:
            rejections.append(count)
        handler.send(b"", 429)
        return True

    return failure


@contextmanager
def serving(answering: Answering) -> Iterator[Server]:
    with Server(answering) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class Pauses(list[float]):
    """A `pause` function that records the durations instead of sleeping."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@contextmanager
def node_of(server: Server, timeout_s: float = 5.0, pauses: Pauses | None = None) -> Iterator[RpcNode]:
    host, port = server.server_address[:2]
    url = f"http://user:{SECRET}@{host!s}:{port}/{SECRET}?key={SECRET}"
    node = RpcNode(
        [RpcEndpoint(url, SHOWN)],
        CHAIN_ID,
        NodePolicy(timeout_s=timeout_s, pause=Pauses() if pauses is None else pauses),
    )
    try:
        yield node
    finally:
        node.close()
