"""A server that behaves badly costs bounded time and memory, and is told of in one sentence."""

from __future__ import annotations

import gzip
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from swapcli.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.remote.client import USER_AGENT, ServiceRequest, ServiceResponse
from tests.support.loopback_server import (
    TIMEOUT_S,
    FakeExchange,
    Responder,
    build_client,
    http_response,
    loopback_server,
    respond_with,
)

CERTIFICATES = Path(__file__).parent / "certificates"
GET = ServiceRequest("GET", ("base", "v2", "route"), (("amount", "1"),))
POST = ServiceRequest("POST", ("base", "execute"), body={"slippage": 0.5})
OK = http_response(200, "{}")
KEPT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
"""The same from a server that says that it keeps the connection."""
SLACK_S = 1.5
"""What a busy machine may add."""


def failure(url: str, question: ServiceRequest = GET, *, timeout_s: float = 2.0, retries: int = 0) -> UpstreamError:
    """The error of a request that must fail, which is one line that can be printed."""
    with pytest.raises(UpstreamError) as caught:
        build_client(url, timeout_s=timeout_s, retries=retries).send(question)
    error = caught.value
    assert error.message.isprintable()
    assert len(error.message) < 400
    assert error.__cause__ is None
    assert error.__context__ is None
    return error


def failure_of(behaviour: Responder, question: ServiceRequest = GET, *, timeout_s: float = 2.0) -> UpstreamError:
    with loopback_server(behaviour) as running:
        return failure(running.url, question, timeout_s=timeout_s)


def drip(answer: bytes, every_s: float) -> Responder:
    """Sends an answer a byte at a time."""

    def send(talk: FakeExchange) -> None:
        for byte in answer:
            if talk.closing.is_set():
                return
            talk.send(bytes([byte]))
            talk.wait(every_s)

    return send


def in_two(talk: FakeExchange) -> None:
    """Sends a head, and never the body that it announces."""
    talk.send(http_response(200, "{}")[:-2])
    talk.wait(3)


def never(talk: FakeExchange) -> None:
    talk.wait(3)


def flood(talk: FakeExchange) -> None:
    """Sends without end what it does not announce the length of."""
    talk.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while not talk.closing.is_set():
        talk.send(bytes(2**20))


def patience(talk: FakeExchange) -> None:
    """Announces an answer again and again."""
    while not talk.closing.is_set():
        talk.send(b"HTTP/1.1 102 Processing\r\n\r\n")
        talk.wait(0.01)


class TestRequest:
    """What is sent."""

    def test_a_question_arrives_as_it_was_asked(self) -> None:
        question = ServiceRequest("GET", ("base", "v2", "route"), (("a", "1,2"), ("b", "x y&z=ü"), ("a", "3")))
        with loopback_server(respond_with(OK)) as running:
            assert build_client(running.url + "/api").send(question) == ServiceResponse(200, b"{}")
            (talk,) = running.exchanges
        assert talk.target == "/api/base/v2/route?a=1%2C2&b=x+y%26z%3D%C3%BC&a=3"
        assert talk.headers["user-agent"] == USER_AGENT
        assert talk.headers["accept-encoding"] == "gzip"
        assert not {"cookie", "authorization", "x-api-key", "content-type"} & talk.headers.keys()

    def test_a_body_is_json_also_where_the_method_is_get(self) -> None:
        with loopback_server(respond_with(OK)) as running:
            for method in ("POST", "GET"):
                build_client(running.url).send(
                    ServiceRequest(method, ("citrea", "calldata"), body={"slippage": 0.5, "name": "ü"})
                )
            bodies = {(talk.body.decode(), talk.headers["content-type"]) for talk in running.exchanges}
        assert bodies == {('{"slippage":0.5,"name":"\\u00fc"}', "application/json")}

    def test_the_environment_has_no_say_in_where_a_request_goes(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password hunter2\n")
        monkeypatch.setenv("HOME", str(tmp_path))
        for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        with loopback_server(respond_with(OK)) as running:
            assert build_client(running.url).send(GET).status == 200
            assert "authorization" not in running.exchanges[0].headers

    def test_a_cookie_of_one_answer_is_not_needed_for_the_next(self) -> None:
        with loopback_server(respond_with(http_response(200, "{}", "Set-Cookie: a=b; Path=/"))) as running:
            asking = build_client(running.url)
            assert [asking.send(POST).status for _ in range(2)] == [200, 200]


class TestAnswer:
    """What comes back, whatever its status and its type."""

    @pytest.mark.parametrize("status", [200, 201, 400, 401, 404, 413, 429, 500, 503])
    def test_an_answer_of_any_status_is_handed_back(self, status: int) -> None:
        with loopback_server(respond_with(http_response(status, "<html>", "Content-Type: text/html"))) as running:
            assert build_client(running.url).send(GET) == ServiceResponse(status, b"<html>")

    def test_a_zipped_answer_is_unzipped(self) -> None:
        with loopback_server(
            respond_with(http_response(200, gzip.compress(b"{}" * 1000), "Content-Encoding: gzip"))
        ) as running:
            assert build_client(running.url).send(GET).body == b"{}" * 1000

    def test_an_answer_in_chunks_is_joined(self) -> None:
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"
        with loopback_server(respond_with(chunked)) as running:
            assert build_client(running.url).send(GET).body == b"{}"


class TestTime:
    """No server holds a client longer than it wants to be held."""

    @pytest.mark.parametrize(
        ("behaviour", "said"),
        [
            (never, "did not answer within 0.2 seconds"),
            (drip(http_response(200, "x" * 400), 0.01), "within 0.2 seconds"),
            (drip(OK[:-2] + b"x", 0.01), "within 0.2 seconds"),
            (in_two, "did not finish its answer within 0.2 seconds"),
            (patience, "did not answer within 0.2 seconds"),
        ],
        ids=["silent", "dripping", "dripping its head", "half", "announcing"],
    )
    def test_the_whole_exchange_is_bounded(self, behaviour: Responder, said: str) -> None:
        started_s = time.monotonic()
        error = failure_of(behaviour, timeout_s=0.2)
        assert time.monotonic() - started_s < 0.2 + SLACK_S
        assert isinstance(error, UpstreamTimeout)
        assert said in error.message

    def test_a_server_that_does_not_read_is_left(self) -> None:
        heavy = ServiceRequest("POST", ("base", "execute"), body="x" * 16 * 2**20)

        def deaf(listener: socket.socket) -> float:
            started_s = time.monotonic()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            assert isinstance(failure(url, heavy, timeout_s=0.2), UpstreamTimeout)
            return time.monotonic() - started_s

        with socket.create_server(("127.0.0.1", 0)) as listener:
            assert deaf(listener) < 0.2 + SLACK_S

    def test_a_slow_name_lookup_is_abandoned(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(3))
        started_s = time.monotonic()
        error = failure("http://service.example", timeout_s=0.1)
        assert time.monotonic() - started_s < 0.1 + SLACK_S
        assert isinstance(error, UpstreamTimeout)


class TestSize:
    """No server makes a client hold more than an answer can need."""

    @pytest.mark.parametrize(
        "behaviour",
        [
            flood,
            respond_with(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}"),
            respond_with(http_response(200, gzip.compress(bytes(64 * 2**20)), "Content-Encoding: gzip")),
        ],
        ids=["endless", "announced", "bomb"],
    )
    def test_a_body_is_bounded(self, behaviour: Responder) -> None:
        error = failure_of(behaviour)
        assert isinstance(error, InvalidUpstreamResponse)
        assert "sent more than 8 MiB" in error.message

    def test_a_head_is_bounded(self) -> None:
        error = failure_of(respond_with(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(100_000))))
        assert isinstance(error, InvalidUpstreamResponse | Unreachable)


class TestNonsense:
    """What is not an answer is told as what it is."""

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
    def test_what_is_not_http_is_nonsense(self, raw: bytes) -> None:
        error = failure_of(respond_with(raw))
        assert isinstance(error, InvalidUpstreamResponse)
        assert "malformed or incomplete HTTP" in error.message

    @pytest.mark.parametrize(
        ("headers", "said"),
        [(["Content-Encoding: br"], "not asked for"), (["Content-Encoding: gzip"], "not gzip")],
    )
    def test_an_encoding_that_is_wrong_is_nonsense(self, headers: list[str], said: str) -> None:
        error = failure_of(respond_with(http_response(200, "{}", *headers)))
        assert isinstance(error, InvalidUpstreamResponse)
        assert said in error.message


class TestConnection:
    """Why there is none."""

    def test_a_refused_connection_is_told(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        error = failure(f"http://127.0.0.1:{port}")
        assert isinstance(error, Unreachable)
        assert error.message == f"127.0.0.1:{port} refuses connections"

    def test_a_name_that_does_not_exist_is_told(self) -> None:
        error = failure("http://nobody.invalid:8000")
        assert error.message == "the host name of nobody.invalid:8000 cannot be resolved"

    def test_a_name_that_cannot_be_one_is_told(self) -> None:
        assert isinstance(failure(f"http://{'a' * 300}.example"), Unreachable)

    def test_a_name_that_cannot_be_encoded_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> list[object]:
            raise UnicodeError("label too long")

        monkeypatch.setattr(socket, "getaddrinfo", fail)
        assert "cannot be resolved" in failure("http://service.example").message

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

    def test_the_last_failure_is_reported_when_no_address_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with loopback_server(respond_with(OK)) as running:
            resolve_to(monkeypatch, UNUSED_ADDRESS)
            error = failure(running.url.replace("127.0.0.1", "service.example"))
        assert "refuses connections" in error.message

    def test_a_name_without_addresses_cannot_be_connected_to(self, monkeypatch: pytest.MonkeyPatch) -> None:
        resolve_to(monkeypatch)
        assert "cannot connect to service.example" in failure("http://service.example").message

    @pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Le"])
    def test_a_connection_that_closes_before_the_answer_is_told(self, sent: bytes) -> None:
        error = failure_of(respond_with(sent))
        assert isinstance(error, Unreachable)
        assert "closed the connection before it answered" in error.message

    def test_a_truncated_chunk_is_reported_and_repeated(self) -> None:
        cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"
        assert "malformed or incomplete HTTP" in failure_of(respond_with(cut)).message
        with loopback_server(respond_with(cut, OK)) as running:
            assert build_client(running.url, retries=1).send(GET).status == 200

    def test_a_truncated_answer_is_told(self) -> None:
        error = failure_of(respond_with(http_response(200, '{"success": true}')[:-3]))
        assert isinstance(error, Unreachable)
        assert "closed the connection in the middle of its answer" in error.message


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every host name have these addresses."""

    def resolve(_: str, port: int, *_rest: object, **_options: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


UNUSED_ADDRESS = "127.0.0.2"
"""An address of this machine at which no server listens."""


def server_tls(certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / certificate)
    return context


def answer_anything(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(OK)


class TestTls:
    """Whom a client trusts."""

    def test_a_certificate_that_nobody_vouches_for_is_refused(self) -> None:
        with loopback_server(respond_with(OK), server_tls("loopback.pem")) as running:
            error = failure(running.url, retries=2)
            assert not running.exchanges
        assert isinstance(error, Unreachable)
        assert "cannot be trusted: self-signed certificate" in error.message
        assert "SSL_CERT_FILE" in str(error.hint)

    def test_an_authority_of_ones_own_can_be_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "loopback.pem"))
        with loopback_server(respond_with(OK), server_tls("loopback.pem")) as running:
            assert build_client(running.url).send(GET).status == 200

    def test_a_certificate_of_somebody_else_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "elsewhere.pem"))
        with loopback_server(respond_with(OK), server_tls("elsewhere.pem")) as running:
            assert "cannot be trusted: IP address mismatch" in failure(running.url).message

    def test_a_server_without_tls_is_told(self) -> None:
        with loopback_server(respond_with(OK)) as running:
            error = failure(running.url.replace("http:", "https:"), timeout_s=0.2)
        assert isinstance(error, UpstreamTimeout | Unreachable)

    def test_a_server_that_answers_a_handshake_in_http_is_told(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
            pool.submit(answer_anything, listener)
            error = failure(f"https://127.0.0.1:{listener.getsockname()[1]}")
        assert isinstance(error, Unreachable)
        assert "TLS handshake" in error.message


class TestRedirect:
    """None is followed."""

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 304, 300])
    @pytest.mark.parametrize("question", [GET, POST], ids=["GET", "POST"])
    def test_nothing_is_sent_to_where_a_redirect_points(self, status: int, question: ServiceRequest) -> None:
        with loopback_server(respond_with(OK)) as other:
            target = f"{other.url}/steal?secret=hunter2#hunter2"
            with loopback_server(respond_with(http_response(status, "", f"Location: {target}"))) as running:
                error = failure(running.url, question, retries=2)
                assert len(running.exchanges) == 1
            assert not other.exchanges
        assert isinstance(error, UpstreamRejected)
        assert f"{other.url}/steal" in error.message
        assert "hunter2" not in f"{error.message} {error.hint} {error.details}"

    def test_an_upgrade_of_the_same_origin_is_not_followed_either(self) -> None:
        with loopback_server(
            lambda talk: talk.send(http_response(301, "", f"Location: https://{talk.headers['host']}/"))
        ) as running:
            assert "https://127.0.0.1" in failure(running.url).message

    def test_a_redirect_to_nowhere_is_told(self) -> None:
        assert "redirects to another address" in failure_of(respond_with(http_response(302))).message


def hold(talk: FakeExchange) -> None:
    """Answers, and waits for the other side to close."""
    talk.send(KEPT)
    talk.connection.recv(1)


def test_connections_close_when_a_client_is_let_go_of() -> None:
    started_s = time.monotonic()
    with loopback_server(hold) as running:
        build_client(running.url).send(GET)
    assert time.monotonic() - started_s < TIMEOUT_S / 2
