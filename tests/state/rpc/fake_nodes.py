"""Nodes of one made-up chain on loopback, each with a fault of real providers, for tests of several nodes at once.

The chain has a block every two seconds. A call returns a word that depends on the block alone, which shows the block of
an answer.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

CHAIN_ID = 31_337
BLOCK_TIME_S = 2.0
FIRST_BLOCK = 5_000
_STATE_METHODS = ("eth_call", "eth_getCode", "eth_getBalance")
_BUSY = "you've reached the limit of 10 calls per second"
_RESTRICTED = {"jsonrpc": "2.0", "id": None, "error": {"code": -32_600, "message": "Restricted JSON RPC method"}}


def word_at(number: int) -> bytes:
    """Return what a call returns at a block."""
    return sha256(f"state {number}".encode()).digest()


def hash_of(number: int) -> str:
    """Return the hash of a block."""
    return "0x" + sha256(f"block {number}".encode()).hexdigest()


@dataclass
class FakeChain:
    """The chain that nodes share. `head` is its latest block at this time, or of `halted_s` if it has halted then."""

    started_s: float = field(default_factory=time.time)
    halted_s: float | None = None
    block_time_s: float = BLOCK_TIME_S

    @property
    def head(self) -> int:
        now_s = time.time() if self.halted_s is None else self.halted_s
        return FIRST_BLOCK + int((now_s - self.started_s) / self.block_time_s)

    def block(self, number: int) -> dict[str, Any]:
        timestamp = int(self.started_s + self.block_time_s * (number - FIRST_BLOCK))
        return {
            "number": hex(number),
            "hash": hash_of(number),
            "parentHash": hash_of(number - 1),
            "timestamp": hex(timestamp),
            "baseFeePerGas": "0x1",
            "logsBloom": "0x" + "0" * 512,
        }


class Refused(Exception):
    """A node answers a request with this error object."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}


@dataclass
class FakeNode:
    """A node with one fault. `delay_s` passes before each response; `exchanges` counts HTTP requests.

    `newest_asked` counts requests for the latest block. Unless it `has_date`, its responses have no `Date` header.
    """

    chain: FakeChain
    kind: str = "good"
    delay_s: float = 0.0
    exchanges: int = 0
    newest_asked: int = 0
    hashes_sent: int = 0
    url: str = ""
    closing: threading.Event = field(default_factory=threading.Event)
    has_date: bool = True

    @property
    def lag(self) -> int:
        """How many blocks it is behind the chain."""
        return {"stale": 3_000, "behind": 5}.get(self.kind, 0)

    def answer(self, method: str, params: list[Any]) -> object:
        """Return the result of a request. Raises `Refused`."""
        head = self.chain.head - self.lag
        if method == "eth_chainId":
            return hex(1 if self.kind == "another chain" else CHAIN_ID)
        if method == "eth_gasPrice" and self.kind != "no gas price":
            return "0x3b9aca00"
        if method == "eth_getBlockByNumber":
            self.newest_asked += params[0] == "latest"
            number = head if params[0] in ("latest", "pending", "safe", "finalized") else int(params[0], 16)
            if self.kind == "no blocks" or number > head:
                return None
            block = self.chain.block(number)
            if self.kind == "other hashes":
                self.hashes_sent += 1
                block["hash"] = hash_of(1_000_000 + self.hashes_sent)
            return block
        if method in _STATE_METHODS:
            if self.kind == "without state":
                raise Refused(-32_602, "Block requested not found. Request might be querying historical state")
            if self.kind == "no backend":
                raise Refused(-32_011, "no backends available for method")
            if params[1] == "latest":
                return self._answer_at_newest(bytes.fromhex(params[0]["data"][2:]), head)
            if self.kind in UNPROVEN:
                raise Refused(-32_602, "Block requested not found. Request might be querying historical state")
            number = int(params[1], 16)
            if number > head:
                raise Refused(-32_000, "header not found")
            return "0x" + word_at(number).hex()
        raise Refused(-32_601, "the method does not exist")

    def _answer_at_newest(self, calldata: bytes, head: int) -> str:
        """Return what Multicall3 returns for calls that begin with the number and the hash of the block before."""
        count = int.from_bytes(calldata[36:68])
        first = {
            "calls on an older block": (head - 1, hash_of(head - 2)),
            "calls on another chain": (head, hash_of(1_000_000)),
        }.get(self.kind, (head, hash_of(head - 1)))
        words = [first[0].to_bytes(32), bytes.fromhex(first[1][2:]), *[word_at(head)] * (count - 2)]
        if self.kind == "reverting calls":
            return _results([(False, b"")] * count)
        if self.kind == "fewer calls":
            return _results([(True, word) for word in words[:-1]])
        if self.kind == "the same word for all":
            return "0x" + word_at(head).hex()
        return _results([(True, word) for word in words])


def _results(found: list[tuple[bool, bytes]]) -> str:
    """Return the encoded return value of `aggregate3`: a list of tuples of a flag and bytes, all of them dynamic."""
    tuples = [
        b"".join((int(done).to_bytes(32), (64).to_bytes(32), len(data).to_bytes(32), data)) for done, data in found
    ]
    offsets, at = [], 32 * len(found)
    for each in tuples:
        offsets.append(at.to_bytes(32))
        at += len(each)
    return "0x" + b"".join(((32).to_bytes(32), len(found).to_bytes(32), *offsets, *tuples)).hex()


UNPROVEN = (
    "calls on an older block",
    "calls on another chain",
    "reverting calls",
    "fewer calls",
    "the same word for all",
)
"""Kinds that have no state, but return data for calls on their latest block."""
Respond = Callable[["_Handler", list[dict[str, Any]], bool], None]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    node: ClassVar[FakeNode]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass

    def reply(self, body: object, status: int = 200, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status) if self.node.has_date else self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.close()

    def do_POST(self) -> None:
        node = self.node
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        node.exchanges += 1
        requests = content if isinstance(content, list) else [content]
        if node.delay_s:
            node.closing.wait(node.delay_s)
        try:
            WHOLE_RESPONSES.get(node.kind, _respond)(self, requests, isinstance(content, list))
        except (BrokenPipeError, ConnectionResetError, ValueError):
            self.close_connection = True  # the client has left


def _respond(handler: _Handler, requests: list[dict[str, Any]], is_batch: bool) -> None:
    responses = []
    for each in requests:
        number: object = str(each["id"]) if handler.node.kind == "ids as text" else each["id"]
        response: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        try:
            response["result"] = handler.node.answer(each["method"], each["params"])
        except Refused as refusal:
            response["error"] = refusal.error
        responses.append(response)
    handler.reply(responses if is_batch else responses[0])


def _hang(handler: _Handler, *_: object) -> None:
    handler.node.closing.wait(60.0)
    handler.hang_up()


def _refuse_batches(handler: _Handler, requests: list[dict[str, Any]], is_batch: bool) -> None:
    if is_batch:
        handler.reply(_RESTRICTED, 403)
    else:
        _respond(handler, requests, is_batch)


WHOLE_RESPONSES: Mapping[str, Respond] = {
    "rate limited": lambda handler, _, __: handler.reply(_BUSY.encode(), 429, Content_Type="text/plain"),
    "html": lambda handler, _, __: handler.reply(b"<html><body>Welcome</body></html>", 200, Content_Type="text/html"),
    "discontinued": lambda handler, _, __: handler.reply({"error": "This endpoint has been discontinued."}),
    "redirect": lambda handler, _, __: handler.reply(b"", 308, Location="https://elsewhere.example/"),
    "5xx with a body": lambda handler, _, __: handler.reply(
        {"jsonrpc": "2.0", "id": None, "error": {"code": 19, "message": "Temporary internal error"}}, 500
    ),
    "no batches": _refuse_batches,
    "hangs": _hang,
    "closes connections": lambda handler, _, __: handler.hang_up(),
    "garbage": lambda handler, _, __: handler.reply(b"\x00\xff not JSON {"),
    "bad gateway": lambda handler, _, __: handler.reply(b"error code: 521", 521, Content_Type="text/plain"),
}
ALSO_GOOD = ("slow", "no batches", "ids as text")
"""Kinds whose answers are right: one of them may win."""
KINDS = (
    "slow", "stale", "behind", "another chain", "other hashes", "without state", "no backend", "no blocks",
    "ids as text", "TLS", "refused connection", "no gas price", *WHOLE_RESPONSES,
)  # fmt: skip
SLOW_S = 1.5


@contextmanager
def fake_node(chain: FakeChain, kind: str = "good", delay_s: float = 0.0) -> Iterator[FakeNode]:
    """Run a node on loopback. The URL of the kind TLS is https, and the server speaks plain HTTP."""
    node = FakeNode(chain, kind, SLOW_S if kind == "slow" else delay_s)
    handler = type("Handler", (_Handler,), {"node": node})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    port = server.server_port
    node.url = f"{'https' if kind == 'TLS' else 'http'}://127.0.0.1:{port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    if kind == "refused connection":
        server.server_close()
    else:
        thread.start()
    try:
        yield node
    finally:
        node.closing.set()
        if thread.is_alive():
            server.shutdown()
            server.server_close()
