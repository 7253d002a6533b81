"""Misbehaving servers cost bounded time and memory, and each failure is one sentence."""

from __future__ import annotations

import gzip
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from swapcli.core.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.quoting.remote.client import ServiceRequest, ServiceResponse
from swapcli.state.connect_failure import USER_AGENT
from tests.support.loopback_server import (
    CERTIFICATES,
    TIMEOUT_S,
    FakeExchange,
    Responder,
    build_client,
    http_response,
    loopback_server,
    respond_with,
    server_tls,
)

GET = ServiceRequest("GET", ("base", "v2", "route"), (("amount", "1"),))
POST = ServiceRequest("POST", ("base", "execute"), body={"slippage": 0.5})
OK = http_response(200, "{}")
KEEP_ALIVE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
"""The same response from a server that offers to keep the connection open."""
SLACK_S = 1.5
"""Allowance for a busy machine."""


def error_of_request(
    url: str, service_request: ServiceRequest = GET, *, timeout_s: float = 2.0, retries: int = 0
) -> UpstreamError:
    """Return the error of a request that must fail. Its message must be one printable line."""
    with pytest.raises(UpstreamError) as caught:
        build_client(url, timeout_s=timeout_s, retries=retries).send(service_request)
    error = caught.value
    assert error.message.isprintable()
    assert len(error.message) < 400
    assert error.__cause__ is None
    assert error.__context__ is None
    return error


def error_of_response(
    responder: Responder, service_request: ServiceRequest = GET, *, timeout_s: float = 2.0
) -> UpstreamError:
    with loopback_server(responder) as running:
        return error_of_request(running.url, service_request, timeout_s=timeout_s)


def drip(response: bytes, every_s: float) -> Responder:
    """Return a responder that sends a response one byte at a time."""

    def send(exchange: FakeExchange) -> None:
        for byte in response:
            if exchange.closing.is_set():
                return
            exchange.send(bytes([byte]))
            exchange.wait(every_s)

    return send


def send_head_only(exchange: FakeExchange) -> None:
    """Send a head, and never the body that it announces."""
    exchange.send(http_response(200, "{}")[:-2])
    exchange.wait(3)


def send_nothing(exchange: FakeExchange) -> None:
    exchange.wait(3)


def send_endless_body(exchange: FakeExchange) -> None:
    """Send a body without announced length and without end."""
    exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while not exchange.closing.is_set():
        exchange.send(bytes(2**20))


def send_interim_responses(exchange: FakeExchange) -> None:
    """Send interim responses without end."""
    while not exchange.closing.is_set():
        exchange.send(b"HTTP/1.1 102 Processing\r\n\r\n")
        exchange.wait(0.01)


class TestRequest:
    """The bytes that are sent."""

    def test_a_request_arrives_as_it_was_built(self) -> None:
        service_request = ServiceRequest("GET", ("base", "v2", "route"), (("a", "1,2"), ("b", "x y&z=ü"), ("a", "3")))
        with loopback_server(respond_with(OK)) as running:
            assert build_client(running.url + "/api").send(service_request) == ServiceResponse(200, b"{}")
            (exchange,) = running.exchanges
        assert exchange.target == "/api/base/v2/route?a=1%2C2&b=x+y%26z%3D%C3%BC&a=3"
        assert exchange.headers["user-agent"] == USER_AGENT
        assert exchange.headers["accept-encoding"] == "gzip"
        assert not {"cookie", "authorization", "x-api-key", "content-type"} & exchange.headers.keys()

    def test_a_body_is_json_with_any_method(self) -> None:
        with loopback_server(respond_with(OK)) as running:
            for method in ("POST", "GET"):
                build_client(running.url).send(
                    ServiceRequest(method, ("citrea", "calldata"), body={"slippage": 0.5, "name": "ü"})
                )
            bodies = {(exchange.body.decode(), exchange.headers["content-type"]) for exchange in running.exchanges}
        assert bodies == {('{"slippage":0.5,"name":"\\u00fc"}', "application/json")}

    def test_the_environment_does_not_redirect_requests(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password hunter2\n")
        monkeypatch.setenv("HOME", str(tmp_path))
        for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        with loopback_server(respond_with(OK)) as running:
            assert build_client(running.url).send(GET).status == 200
            assert "authorization" not in running.exchanges[0].headers

    def test_cookies_do_not_matter(self) -> None:
        with loopback_server(respond_with(http_response(200, "{}", "Set-Cookie: a=b; Path=/"))) as running:
            client = build_client(running.url)
            assert [client.send(POST).status for _ in range(2)] == [200, 200]


class TestResponse:
    """Responses of any status and type."""

    @pytest.mark.parametrize("status", [200, 201, 400, 401, 404, 413, 429, 500, 503])
    def test_a_response_of_any_status_is_returned(self, status: int) -> None:
        with loopback_server(respond_with(http_response(status, "<html>", "Content-Type: text/html"))) as running:
            assert build_client(running.url).send(GET) == ServiceResponse(status, b"<html>")

    def test_a_gzipped_response_is_decompressed(self) -> None:
        with loopback_server(
            respond_with(http_response(200, gzip.compress(b"{}" * 1000), "Content-Encoding: gzip"))
        ) as running:
            assert build_client(running.url).send(GET).body == b"{}" * 1000

    def test_chunks_are_joined(self) -> None:
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"
        with loopback_server(respond_with(chunked)) as running:
            assert build_client(running.url).send(GET).body == b"{}"


class TestTime:
    """No server holds a client beyond its timeout."""

    @pytest.mark.parametrize(
        ("responder", "message"),
        [
            (send_nothing, "did not respond within 0.2 seconds"),
            (drip(http_response(200, "x" * 400), 0.01), "within 0.2 seconds"),
            (drip(OK[:-2] + b"x", 0.01), "within 0.2 seconds"),
            (send_head_only, "did not finish its response within 0.2 seconds"),
            (send_interim_responses, "did not respond within 0.2 seconds"),
        ],
        ids=["silent", "dripping", "dripping its head", "half", "announcing"],
    )
    def test_the_whole_exchange_is_bounded(self, responder: Responder, message: str) -> None:
        started_s = time.monotonic()
        error = error_of_response(responder, timeout_s=0.2)
        assert time.monotonic() - started_s < 0.2 + SLACK_S
        assert isinstance(error, UpstreamTimeout)
        assert message in error.message

    def test_a_server_that_does_not_read_times_out(self) -> None:
        heavy = ServiceRequest("POST", ("base", "execute"), body="x" * 16 * 2**20)

        def send_to(listener: socket.socket) -> float:
            started_s = time.monotonic()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            assert isinstance(error_of_request(url, heavy, timeout_s=0.2), UpstreamTimeout)
            return time.monotonic() - started_s

        with socket.create_server(("127.0.0.1", 0)) as listener:
            assert send_to(listener) < 0.2 + SLACK_S

    def test_a_slow_name_lookup_is_abandoned(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(3))
        started_s = time.monotonic()
        error = error_of_request("http://service.example", timeout_s=0.1)
        assert time.monotonic() - started_s < 0.1 + SLACK_S
        assert isinstance(error, UpstreamTimeout)


class TestSize:
    """No server makes a client store more than the limit."""

    @pytest.mark.parametrize(
        "responder",
        [
            send_endless_body,
            respond_with(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}"),
            respond_with(http_response(200, gzip.compress(bytes(64 * 2**20)), "Content-Encoding: gzip")),
        ],
        ids=["endless", "announced", "bomb"],
    )
    def test_a_body_is_bounded(self, responder: Responder) -> None:
        error = error_of_response(responder)
        assert isinstance(error, InvalidUpstreamResponse)
        assert "sent more than 8 MiB" in error.message

    def test_a_head_is_bounded(self) -> None:
        error = error_of_response(
            respond_with(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(100_000)))
        )
        assert isinstance(error, InvalidUpstreamResponse | Unreachable)


class TestMalformedResponse:
    """Malformed responses have an error of their own."""

    @pytest.mark.parametrize(
        "raw",
        [
            b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
            b"HTTP/1.1 abc\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n",
        ],
    )
    def test_malformed_http_is_an_invalid_response(self, raw: bytes) -> None:
        error = error_of_response(respond_with(raw))
        assert isinstance(error, InvalidUpstreamResponse)
        assert "malformed or incomplete HTTP" in error.message

    @pytest.mark.parametrize(
        ("headers", "message"),
        [(["Content-Encoding: br"], "not requested"), (["Content-Encoding: gzip"], "not gzip")],
    )
    def test_a_wrong_encoding_is_an_invalid_response(self, headers: list[str], message: str) -> None:
        error = error_of_response(respond_with(http_response(200, "{}", *headers)))
        assert isinstance(error, InvalidUpstreamResponse)
        assert message in error.message


class TestConnection:
    """Why no connection is made, or why it ends."""

    def test_a_refused_connection_is_reported(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        error = error_of_request(f"http://127.0.0.1:{port}")
        assert isinstance(error, Unreachable)
        assert error.message == f"127.0.0.1:{port} refuses connections"

    def test_an_unknown_host_name_is_reported(self) -> None:
        error = error_of_request("http://missing.invalid:8000")
        assert error.message == "the host name of missing.invalid:8000 cannot be resolved"

    def test_a_host_name_that_is_too_long_is_reported(self) -> None:
        assert isinstance(error_of_request(f"http://{'a' * 300}.example"), Unreachable)

    def test_a_name_that_cannot_be_encoded_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> list[object]:
            raise UnicodeError("label too long")

        monkeypatch.setattr(socket, "getaddrinfo", fail)
        assert "cannot be resolved" in error_of_request("http://service.example").message

    def test_a_second_address_is_tried_when_the_first_refuses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with loopback_server(respond_with(OK)) as running:
            resolve_to(monkeypatch, UNUSED_ADDRESS, "127.0.0.1")
            url = running.url.replace("127.0.0.1", "service.example")
            assert build_client(url).send(GET).status == 200
            assert running.exchanges[0].headers["host"].startswith("service.example:")

    def test_a_second_address_is_tried_when_the_first_drops_packets(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with loopback_server(respond_with(OK)) as running, socket.socket() as full, socket.socket() as waiting:
            port = int(running.url.rsplit(":", 1)[1])
            full.bind((UNUSED_ADDRESS, port))
            full.listen(0)
            waiting.connect((UNUSED_ADDRESS, port))  # fills the queue: Linux drops what comes next
            resolve_to(monkeypatch, UNUSED_ADDRESS, "127.0.0.1")
            url = running.url.replace("127.0.0.1", "service.example")
            assert build_client(url, timeout_s=1.0).send(GET).status == 200

    @pytest.mark.slow
    def test_the_last_failure_is_reported_when_no_address_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with loopback_server(respond_with(OK)) as running:
            resolve_to(monkeypatch, UNUSED_ADDRESS)
            error = error_of_request(running.url.replace("127.0.0.1", "service.example"))
        assert "refuses connections" in error.message

    def test_a_name_without_addresses_cannot_be_connected_to(self, monkeypatch: pytest.MonkeyPatch) -> None:
        resolve_to(monkeypatch)
        assert "cannot connect to service.example" in error_of_request("http://service.example").message

    @pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Le"])
    def test_a_connection_closed_before_the_response_is_reported(self, sent: bytes) -> None:
        error = error_of_response(respond_with(sent))
        assert isinstance(error, Unreachable)
        assert "closed the connection before it responded" in error.message

    def test_a_truncated_chunk_is_reported_and_repeated(self) -> None:
        cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"
        assert "malformed or incomplete HTTP" in error_of_response(respond_with(cut)).message
        with loopback_server(respond_with(cut, OK)) as running:
            assert build_client(running.url, retries=1).send(GET).status == 200

    def test_a_truncated_response_is_reported(self) -> None:
        error = error_of_response(respond_with(http_response(200, '{"success": true}')[:-3]))
        assert isinstance(error, Unreachable)
        assert "closed the connection in the middle of its response" in error.message


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every host name have these addresses."""

    def resolve(_: str, port: int, *_rest: object, **_options: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


UNUSED_ADDRESS = "127.0.0.2"
"""An address of this machine at which no server listens."""


def answer_anything(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(OK)


class TestTls:
    """Which certificates a client accepts."""

    def test_a_self_signed_certificate_is_rejected(self) -> None:
        with loopback_server(respond_with(OK), server_tls("loopback.pem")) as running:
            error = error_of_request(running.url, retries=2)
            assert not running.exchanges
        assert isinstance(error, Unreachable)
        assert "is not trusted: self-signed certificate" in error.message
        assert "SSL_CERT_FILE" in str(error.hint)

    def test_a_custom_authority_can_be_configured(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "loopback.pem"))
        with loopback_server(respond_with(OK), server_tls("loopback.pem")) as running:
            assert build_client(running.url).send(GET).status == 200

    def test_a_certificate_of_another_host_is_rejected(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "elsewhere.pem"))
        with loopback_server(respond_with(OK), server_tls("elsewhere.pem")) as running:
            assert "is not trusted: IP address mismatch" in error_of_request(running.url).message

    def test_a_server_without_tls_is_reported(self) -> None:
        with loopback_server(respond_with(OK)) as running:
            error = error_of_request(running.url.replace("http:", "https:"), timeout_s=0.2)
        assert isinstance(error, UpstreamTimeout | Unreachable)

    def test_an_http_response_to_a_handshake_is_reported(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
            pool.submit(answer_anything, listener)
            error = error_of_request(f"https://127.0.0.1:{listener.getsockname()[1]}")
        assert isinstance(error, Unreachable)
        assert "TLS handshake" in error.message


class TestRedirect:
    """Redirects are never followed."""

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 304, 300])
    @pytest.mark.parametrize("service_request", [GET, POST], ids=["GET", "POST"])
    def test_redirects_are_not_followed(self, status: int, service_request: ServiceRequest) -> None:
        with loopback_server(respond_with(OK)) as other:
            target = f"{other.url}/steal?secret=hunter2#hunter2"
            with loopback_server(respond_with(http_response(status, "", f"Location: {target}"))) as running:
                error = error_of_request(running.url, service_request, retries=2)
                assert len(running.exchanges) == 1
            assert not other.exchanges
        assert isinstance(error, UpstreamRejected)
        assert f"{other.url}/steal" in error.message
        assert "hunter2" not in f"{error.message} {error.hint} {error.details}"

    def test_a_redirect_to_https_is_not_followed(self) -> None:
        with loopback_server(
            lambda exchange: exchange.send(http_response(301, "", f"Location: https://{exchange.headers['host']}/"))
        ) as running:
            assert "https://127.0.0.1" in error_of_request(running.url).message

    def test_a_redirect_without_a_location_is_reported(self) -> None:
        assert "redirects to another address" in error_of_response(respond_with(http_response(302))).message


def keep_open(exchange: FakeExchange) -> None:
    """Respond, and wait for the client to close the connection."""
    exchange.send(KEEP_ALIVE)
    exchange.connection.recv(1)


def test_connections_close_with_their_client() -> None:
    started_s = time.monotonic()
    with loopback_server(keep_open) as running:
        build_client(running.url).send(GET)
    assert time.monotonic() - started_s < TIMEOUT_S / 2
