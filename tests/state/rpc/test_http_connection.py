"""Custom headers, proxies, compressed responses and spare nodes."""

from __future__ import annotations

import gzip
import json
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from swapcli.core.errors import ConfigError, InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected
from swapcli.state.rpc.http_connection import HttpConnection
from swapcli.state.rpc.node import LogFilter
from swapcli.state.rpc.proxy_from_environment import find_proxy
from swapcli.state.rpc.refusals import is_clearly_too_much, may_shrink
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.node.responses import NUMBER, TOPIC, answer, echo_calls
from tests.chain.node.server import (
    CHAIN_ID,
    SECRET,
    Failure,
    Handler,
    Pauses,
    Refused,
    Server,
    hangs_up,
    says,
    serving,
)

ECHOED = [call.calldata for call in echo_calls(3)]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answer) as running:
        yield running


@pytest.fixture
def spare() -> Iterator[Server]:
    with serving(answer) as running:
        yield running


def url_of(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_port}/"


def node_at(
    *servers: Server,
    reported: list[str] | None = None,
    headers: Mapping[str, str] | None = None,
    proxy: str | None = None,
    **options: Any,
) -> RpcNode:
    """Connect to the first server, with the others as spares."""
    spares = [RpcEndpoint(url_of(each), f"spare {at}") for at, each in enumerate(servers[1:], 1)]
    report = (lambda _: None) if reported is None else reported.append
    first = RpcEndpoint(url_of(servers[0]), "first", headers or {}, proxy)
    return RpcNode([first, *spares], CHAIN_ID, NodePolicy(pause=Pauses(), report=report, **options))


def test_custom_headers_replace_ours_in_every_request(server: Server) -> None:
    with closing(node_at(server, headers={"Authorization": f"Bearer {SECRET}", "accept": "*/*"})) as node:
        node.read_head()
        node.call_many(echo_calls(2), NUMBER)
    assert [each["Authorization"] for each in server.headers] == [f"Bearer {SECRET}"] * 2
    assert [(each["accept"], each.get("Accept")) for each in server.headers] == [("*/*", None)] * 2


def test_no_error_repeats_a_header(server: Server) -> None:
    def refusing(_: dict[str, Any]) -> object:
        raise Refused(-32_000, f"no credit for Bearer {SECRET}, that is {SECRET}")

    server.answering = refusing
    with (
        closing(node_at(server, headers={"X-Key": f"Bearer {SECRET}"})) as node,
        pytest.raises(UpstreamRejected) as caught,
    ):
        node.read_head()
    assert caught.value.message == "first rejected eth_chainId: no credit for …, that is …"


def packed(handler: Handler) -> bool:
    assert handler.headers["Accept-Encoding"] == "gzip"
    responses = handler.server.answer(handler.requests)
    body = gzip.compress(json.dumps(responses if isinstance(handler.content, list) else responses[0]).encode())
    handler.send(body, Content_Encoding="gzip")
    return True


def test_gzip_responses_are_decoded(server: Server) -> None:
    server.always = packed
    with closing(node_at(server)) as node:
        assert node.read_head().block.number == NUMBER
        assert node.call_many(echo_calls(3), NUMBER) == ECHOED


@pytest.mark.parametrize("statuses", [(100,), (102,), (103,), (100, 102, 103, 103, 199)])
def test_interim_responses_are_skipped(server: Server, statuses: tuple[int, ...]) -> None:
    def interim(handler: Handler) -> bool:
        for status in statuses:
            handler.wfile.write(b"HTTP/1.1 %d Wait\r\nLink: </style.css>; rel=preload\r\n\r\n" % status)
        return False

    server.always = interim
    with closing(node_at(server, attempts=1)) as node:
        assert node.read_head().block.number == NUMBER
        assert node.call_many(echo_calls(3), NUMBER) == ECHOED


def bomb() -> bytes:
    """Unpacks to 33 MiB."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return b"".join([*(pack.compress(bytes(2**20)) for _ in range(33)), pack.flush()])


@pytest.mark.parametrize(
    ("failure", "problem"),
    [
        (says(200, b"no gzip", Content_Encoding="gzip"), "sent a body that is not gzip, although its header says so"),
        (says(200, gzip.compress(b"[]")[:-4], Content_Encoding="gzip"), "sent a body that ends early"),
        (says(200, b"[]", Content_Encoding="br"), "used a compression that was not requested"),
        (says(200, bomb(), Content_Encoding="gzip"), "sent more than 32 MiB, more than any response needs"),
    ],
)
def test_an_invalid_compressed_body_is_refused(server: Server, failure: Failure, problem: str) -> None:
    server.always = failure
    with (
        closing(node_at(server, attempts=1)) as node,
        pytest.raises(InvalidUpstreamResponse, match=f"^first {problem}$"),
    ):
        node.read_head()


def test_responses_that_are_too_large_make_batches_smaller(server: Server) -> None:
    def is_too_large(handler: Handler) -> bool:
        return len(handler.requests) > 2 and says(200, bomb(), Content_Encoding="gzip")(handler)

    server.always = is_too_large
    with closing(node_at(server, attempts=1)) as node:
        assert node.call_many(echo_calls(3), NUMBER) == ECHOED
    assert server.exchanges[0] == 3
    assert max(server.exchanges[1:]) < 3


def test_a_range_of_events_that_is_too_large_is_divided(server: Server) -> None:
    query = LogFilter((), (TOPIC,), NUMBER - 7, NUMBER)

    def is_too_large(handler: Handler) -> bool:
        logs = [each for each in handler.requests if each["method"] == "eth_getLogs"]
        wide = [each for each in logs if each["params"][0]["fromBlock"] == hex(query.from_block)]
        return bool(wide) and says(200, bomb(), Content_Encoding="gzip")(handler)

    server.always = is_too_large
    with closing(node_at(server, attempts=4)) as node, pytest.raises(InvalidUpstreamResponse) as caught:
        node.read_logs(query)
    assert may_shrink(caught.value)
    assert is_clearly_too_much(caught.value)


class HttpProxy(ThreadingHTTPServer):
    """Forwards every request and records it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Passing)
        self.passed: list[tuple[str, str, str | None, str]] = []


class Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        assert isinstance(self.server, HttpProxy)
        host = self.headers["Host"]
        self.server.passed.append((self.command, self.path, self.headers["Proxy-Authorization"], host))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with closing(HTTPConnection(host)) as onward:
            onward.request("POST", self.path.removeprefix(f"http://{host}"), body)
            body_out = onward.getresponse().read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body_out)))
        self.end_headers()
        self.wfile.write(body_out)

    def do_CONNECT(self) -> None:
        assert isinstance(self.server, HttpProxy)
        self.server.passed.append((self.command, self.path, self.headers["Proxy-Authorization"], ""))
        self.send_error(502)

    def log_message(self, *_: object) -> None:
        """Discard the log line."""


@contextmanager
def proxying() -> Iterator[HttpProxy]:
    with HttpProxy() as proxy:
        thread = Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()


def test_a_proxy_gets_the_full_url_and_its_own_credentials(server: Server) -> None:
    with proxying() as proxy:
        named = f"http://me:{SECRET}@127.0.0.1:{proxy.server_port}"
        with closing(node_at(server, proxy=named)) as node:
            assert node.read_head().block.number == NUMBER
            assert node.call_many(echo_calls(3), NUMBER) == ECHOED
        credentials = f"Basic {b64encode(f'me:{SECRET}'.encode()).decode()}"
        host = f"127.0.0.1:{server.server_port}"
        assert proxy.passed == [("POST", f"http://{host}/", credentials, host)] * 2


def test_an_encrypted_connection_goes_through_a_tunnel() -> None:
    with proxying() as proxy:
        line = HttpConnection("https://node.example/v2/key", "a node", proxy=f"127.0.0.1:{proxy.server_port}")
        shown = f"no connection to a node through the proxy 127.0.0.1:{proxy.server_port}"
        with pytest.raises(Unreachable, match=f"^{shown}$"):
            line.post(b"{}", 5.0)
        assert proxy.passed == [("CONNECT", "node.example:443", None, "")]


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "https://proxy.example", "http://", "http://a b"])
def test_an_invalid_proxy_is_refused_without_repeating_it(proxy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        HttpConnection("http://h/", "a node", proxy=proxy)
    assert proxy.partition("//")[2] not in caught.value.message or proxy == "http://"


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("http://h/", {}, None),
        ("http://h/", {"http_proxy": "http://p:1"}, "http://p:1"),
        ("http://h/", {"HTTP_PROXY": "http://p:1", "http_proxy": "http://q:1"}, "http://q:1"),
        ("http://h/", {"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, None),
        ("https://h/", {"HTTP_PROXY": "http://p:1"}, None),
        ("https://h/", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://h/", {"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ("https://h/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ("https://a.h.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x, .h.example"}, None),
        ("https://h.example/", {"HTTPS_PROXY": "http://p:1", "no_proxy": "H.example"}, None),
        ("https://anh.example/", {"HTTPS_PROXY": "http://p:1", "no_proxy": "h.example"}, "http://p:1"),
        ("https://h:8/", {"HTTPS_PROXY": "http://p:1", "no_proxy": "h:9"}, "http://p:1"),
        ("https://h:9/", {"HTTPS_PROXY": "http://p:1", "no_proxy": "h:9"}, None),
        ("http://127.0.0.1:8545/", {"HTTP_PROXY": "http://p:1", "NO_PROXY": "localhost,127.0.0.1"}, None),
    ],
)
def test_proxies_are_read_from_the_environment(url: str, environ: Mapping[str, str], proxy: str | None) -> None:
    assert find_proxy(url, environ) == proxy


FAILING: list[tuple[Failure, str]] = [
    (hangs_up, "first closed the connection before it responded"),
    (says(401, b"who?"), "first responded with status 401: who?"),
    (says(503), "first responded with status 503"),
    (says(200, b"<html>"), "first responded with something other than JSON-RPC"),
]


@pytest.mark.parametrize(("failure", "reason"), FAILING, ids=[reason for _, reason in FAILING])
def test_a_spare_node_takes_over_and_the_reason_is_noted_once(
    server: Server, spare: Server, failure: Failure, reason: str
) -> None:
    reported: list[str] = []
    with closing(node_at(server, spare, reported=reported)) as node:
        assert node.read_head().block.number == NUMBER
        server.always = failure
        assert node.call_many(echo_calls(3), NUMBER) == ECHOED
        assert node.read_head().block.number == NUMBER
        assert node.read_logs(LogFilter((), (TOPIC,), 1, NUMBER))
        assert node.redacted_url == "spare 1"
    assert reported == [f"{reason}; using spare 1 from now on"]


def test_if_all_nodes_fail_their_failures_are_raised_as_the_first(server: Server, spare: Server) -> None:
    server.always, spare.always = says(401), hangs_up
    with closing(node_at(server, spare)) as node:
        with pytest.raises(UpstreamRejected) as rejected:
            node.read_head()
        assert rejected.value.message == (
            "first responded with status 401; spare 1 closed the connection before it responded"
        )
        spare.always = None
        assert node.read_head().block.number == NUMBER


def test_a_spare_of_another_chain_is_refused(server: Server, spare: Server) -> None:
    server.always = hangs_up
    spare.answering = lambda request: "0x1" if request["method"] == "eth_chainId" else answer(request)
    with closing(node_at(server, spare)) as node, pytest.raises(Unreachable, match="first"):
        node.read_head()


def test_a_refusal_is_not_retried_on_a_spare(server: Server, spare: Server) -> None:
    """The range of a log query must shrink instead of moving to another node."""

    def refusing(request: dict[str, Any]) -> object:
        if request["method"] == "eth_getLogs":
            raise Refused(-32_602, "eth_getLogs is limited to a 10 block range")
        return answer(request)

    server.answering = refusing
    with closing(node_at(server, spare)) as node, pytest.raises(UpstreamError, match=r"^first rejected eth_getLogs"):
        node.read_logs(LogFilter((), (TOPIC,), 1, NUMBER))
    assert spare.exchanges == []
