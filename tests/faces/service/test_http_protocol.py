"""Limits of heads, bodies and connections, over real sockets."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from swapcli.faces.service import server
from swapcli.faces.service.http_protocol import MAX_HEAD_BYTES, MAX_HEADER_LINES
from tests.support.service import build_order_query, build_swap_terms
from tests.support.service_process import ServiceProcess, build_get_request, receive_all, run_testnet_service

QUERY = "&".join(f"{key}={value}" for key, value in build_order_query("testnet").items())
ROUTE = f"/testnet/v2/route?{QUERY}"
BODY = json.dumps({**build_order_query("testnet"), **build_swap_terms("testnet")}).encode()


@pytest.fixture(scope="module")
def running() -> Iterator[ServiceProcess]:
    with run_testnet_service() as service:
        assert statuses(service.send(build_get_request(ROUTE, close=True))) == [200]
        yield service


def statuses(answers: bytes) -> list[int]:
    return [int(each) for each in re.findall(rb"HTTP/1\.1 ([0-9]{3}) ", answers)]


def exchange(service: ServiceProcess, request: bytes, *, half_close: bool = False) -> bytes:
    """All that comes back, until the service closes the connection."""
    with service.connect() as connection:
        try:
            connection.sendall(request)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        try:
            return receive_all(connection)
        except ConnectionResetError:
            return b""


def head(*lines: str, close: bool = True) -> bytes:
    return build_get_request("/livez", *lines, close=close)


def padded(size: int) -> bytes:
    """A request with a head of about this size."""
    return head("X-Padding: " + "x" * size)


LARGE_HEADS = {
    "a line too many": head(*["A: b"] * MAX_HEADER_LINES),
    "a long line": padded(MAX_HEAD_BYTES),
    "long lines": head(*["A: " + "b" * 4_000] * 9),
    "a long path": build_get_request("/" + "x" * MAX_HEAD_BYTES),
    "a line without end": head()[:-4] + b"\r\nA: " + b"b" * (MAX_HEAD_BYTES + 5_000),
    "nothing but line ends": b"\r\n" * MAX_HEAD_BYTES,
}


@pytest.mark.parametrize("name", LARGE_HEADS)
def test_a_head_that_is_too_large_is_a_431(running: ServiceProcess, name: str) -> None:
    answer = exchange(running, LARGE_HEADS[name])
    assert statuses(answer) == [431]
    assert b"connection: close" in answer.lower()
    document = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (document["statusCode"], document["error"]) == (431, "Request Header Fields Too Large")


def test_a_head_just_within_its_bounds_is_answered(running: ServiceProcess) -> None:
    assert statuses(exchange(running, head(*["A: b"] * (MAX_HEADER_LINES - 2)))) == [200]
    assert statuses(exchange(running, padded(MAX_HEAD_BYTES - 200))) == [200]


def test_each_request_of_a_connection_has_a_head_of_its_own(running: ServiceProcess) -> None:
    request = head("X-Padding: " + "x" * (MAX_HEAD_BYTES - 500), close=False)
    posted = post(BODY, "Content-Type: application/json", "X-Padding: " + "x" * (MAX_HEAD_BYTES - 500))
    assert statuses(exchange(running, request * 3 + posted * 2 + head())) == [200] * 6


def test_a_request_before_a_large_head_is_answered_first(running: ServiceProcess) -> None:
    assert statuses(
        exchange(running, build_get_request(ROUTE) + build_get_request(ROUTE) + LARGE_HEADS["a long line"])
    ) == [200, 200, 431]


def post(body: bytes, *lines: str) -> bytes:
    head_lines = ["POST /testnet/calldata HTTP/1.1", "Host: x", *lines, f"Content-Length: {len(body)}"]
    return ("\r\n".join(head_lines) + "\r\n\r\n").encode() + body


@pytest.mark.parametrize("trailer", [b"A: b\r\n" * 30_000, b"A: " + b"b" * 200_000])
def test_trailers_are_bounded_as_heads_are(running: ServiceProcess, trailer: bytes) -> None:
    chunked = b"POST /testnet/calldata HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n"
    assert statuses(exchange(running, chunked + trailer)) == []


def test_refused_heads_are_in_the_log_and_the_counters(running: ServiceProcess) -> None:
    time.sleep(0.2)  # until the lines of earlier tests are written
    before = len(running.log_lines())
    exchange(running, LARGE_HEADS["a line too many"])
    exchange(running, b"nonsense\r\n\r\n")
    statuses_logged: list[int] = []
    until_s = time.monotonic() + 10
    while len(statuses_logged) < 2 and time.monotonic() < until_s:
        # A disconnected client of an earlier test may be logged meanwhile, without a status.
        statuses_logged = [line["status"] for line in running.wait_for_log_lines(before + 2)[before:] if line["status"]]
    assert statuses_logged == [431, 400]
    metrics = exchange(running, build_get_request("/metrics", close=True))
    assert b'endpoint="other",network="other",status="431"' in metrics


HOSTS = [
    ("HTTP/1.1", [], 400),
    ("HTTP/1.1", ["Host: a", "Host: a"], 400),
    ("HTTP/1.1", ["Host: a", "hOST: b"], 400),
    ("HTTP/1.0", ["Host: a", "Host: b"], 400),
    ("HTTP/1.1", ["Host: a b"], 400),
    ("HTTP/1.1", ["Host: a/b"], 400),
    ("HTTP/1.1", ["Host: [::1]:8000"], 200),
    ("HTTP/1.1", ["Host:"], 200),
    ("HTTP/1.0", [], 200),
]


@pytest.mark.parametrize(("version", "hosts", "status"), HOSTS)
def test_exactly_one_host_is_required(running: ServiceProcess, version: str, hosts: list[str], status: int) -> None:
    lines = [f"GET /livez {version}", *hosts, "Connection: close"]
    assert statuses(exchange(running, ("\r\n".join(lines) + "\r\n\r\n").encode())) == [status]


def test_an_upgrade_is_not_made_and_hides_no_request(running: ServiceProcess) -> None:
    upgrade_request = head("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMA", close=False)
    assert statuses(exchange(running, upgrade_request + head())) == [200, 200]


# --- clients that stop sending


@pytest.mark.slow
def test_a_client_that_ends_its_sending_side_is_gone() -> None:
    """As for proxies: its order is cancelled, and delays nobody."""
    with run_testnet_service(slow_s=0.7) as service:
        assert exchange(service, build_get_request(ROUTE), half_close=True) == b""
        assert [line["status"] for line in service.wait_for_log_lines(1)] == [None]


def test_an_incomplete_request_gets_no_response(running: ServiceProcess) -> None:
    assert statuses(exchange(running, build_get_request("/livez")[:-2], half_close=True)) == []
    assert statuses(exchange(running, post(BODY)[:-2], half_close=True)) == []


# --- many requests and connections


def test_requests_sent_ahead_are_all_answered_in_order(running: ServiceProcess) -> None:
    paths = ["/livez", "/nowhere", "/testnet/healthcheck"] * 200
    answers = exchange(running, b"".join(build_get_request(path) for path in paths) + head())
    assert statuses(answers) == [200, 404, 200] * 200 + [200]


def answers_still(connection: socket.socket) -> bool:
    """Whether a request on an idle connection is answered, rather than the connection closed."""
    try:
        connection.sendall(build_get_request("/livez", close=True))
        return statuses(receive_all(connection)) == [200]
    except OSError:
        return False


def test_an_idle_connection_makes_room_for_a_new_one() -> None:
    with run_testnet_service(max_connections=4) as service:
        idle = [service.connect() for _ in range(4)]
        time.sleep(0.1)
        for _ in range(3):
            assert statuses(service.send(build_get_request("/livez", close=True))) == [200]
        assert [answers_still(each) for each in idle].count(True) in (1, 2, 3)
        for each in idle:
            each.close()


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def begin_body(service: ServiceProcess) -> socket.socket:
    """Open a connection whose body has begun and does not end; return it once the service waits for the rest."""
    connection = service.connect()
    connection.sendall(post(BODY, "Content-Type: application/json", "Expect: 100-continue")[:-1])
    assert connection.recv(len(CONTINUE)) == CONTINUE
    time.sleep(0.005)  # the clock of the event loop counts milliseconds
    return connection


@pytest.mark.slow
def test_slow_bodies_make_room_for_new_connections() -> None:
    with run_testnet_service(max_connections=4, timeout_s=120.0) as service:
        slow = [begin_body(service) for _ in range(4)]
        for number in range(3):
            assert statuses(service.send(build_get_request("/livez", close=True))) == [200]
            assert statuses(exchange(service, post(BODY, "Content-Type: application/json", "Connection: close"))) == [
                200
            ]
            evicted = receive_all(slow[number])  # the one that has waited longest
            assert statuses(evicted) == [503]
            assert b"retry-after: 1" in evicted
            assert json.loads(evicted.partition(b"\r\n\r\n")[2])["message"] == "too many connections"
            slow.append(begin_body(service))
        slow[-1].sendall(BODY[-1:])
        assert slow[-1].recv(12) == b"HTTP/1.1 200"
        for each in slow:
            each.close()
        time.sleep(0.1)  # else the next connection evicts one more
        metrics = service.send(build_get_request("/metrics", close=True)).decode()
        assert 'swapcli_refusals_total{reason="body_evicted"} 3.0' in metrics
        assert [line["status"] for line in service.log_lines() if line["path"] == "/{network}/calldata"].count(503) == 3


@pytest.mark.slow
def test_a_body_that_waits_behind_an_answer_is_not_evicted() -> None:
    """Its connection is busy with the request before."""
    with run_testnet_service(max_connections=1, slow_s=1.0) as service, service.connect() as connection:
        connection.sendall(
            build_get_request(ROUTE) + post(BODY, "Content-Type: application/json", "Connection: close")[:-1]
        )
        time.sleep(0.3)
        assert statuses(exchange(service, b"")) == [503]
        time.sleep(0.3)
        connection.sendall(BODY[-1:])
        assert statuses(receive_all(connection)) == [200, 200]


@pytest.mark.slow
def test_many_slow_bodies_keep_nobody_out() -> None:
    with run_testnet_service(max_connections=64, timeout_s=120.0) as service:
        assert statuses(service.send(build_get_request(ROUTE, close=True))) == [200]
        slow = [begin_body(service) for _ in range(200)]
        for _ in range(30):
            assert statuses(exchange(service, build_get_request(ROUTE, close=True))) == [200]
            slow.append(begin_body(service))
        for each in slow:
            each.close()


def drip(address: tuple[str, int], count: int, stop: threading.Event) -> None:
    """Hold connections with bodies that arrive byte by byte, and open new ones for those that are closed."""
    connections: list[socket.socket] = []
    while not stop.wait(0.5):
        for each in list(connections):
            try:
                each.sendall(b" ")
            except OSError:
                connections.remove(each)
                each.close()
        while len(connections) < count:
            connection = socket.create_connection(address)
            connection.sendall(b"POST /testnet/calldata HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{")
            connections.append(connection)
    for each in connections:
        each.close()


def p99_s(service: ServiceProcess) -> float:
    times_s = []
    for _ in range(200):
        started_s = time.perf_counter()
        assert statuses(service.send(build_get_request(ROUTE, close=True))) == [200]
        times_s.append(time.perf_counter() - started_s)
    return sorted(times_s)[197]


@pytest.mark.slow
def test_1500_slow_bodies_hardly_delay_others(running: ServiceProcess) -> None:
    server.allow_open_files(1_600)
    alone_s, stop = p99_s(running), threading.Event()
    attack = threading.Thread(target=drip, args=(running.address, 1_500, stop))
    attack.start()
    try:
        time.sleep(3.0)
        attacked_s = p99_s(running)
    finally:
        stop.set()
        attack.join()
    assert attacked_s <= 10 * alone_s


@pytest.mark.slow
def test_busy_connections_stay_beyond_the_limit() -> None:
    with run_testnet_service(max_connections=4, slow_s=1.0) as service:
        answers: list[bytes] = []

        def ask() -> None:
            answers.append(service.send(build_get_request(ROUTE, close=True)))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.4)
        refused = exchange(service, b"")
        assert statuses(refused) == [503]
        assert b"retry-after: 1" in refused
        for thread in threads:
            thread.join()
        assert [statuses(answer) for answer in answers] == [[200]] * 4
        assert statuses(service.send(build_get_request("/livez", close=True))) == [200]


@pytest.mark.slow
def test_a_client_that_takes_no_answers_is_left() -> None:
    with run_testnet_service(timeout_s=0.5) as service, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect(service.address)
        connection.sendall(build_get_request("/docs") * 1_000)
        time.sleep(2.0)
        try:
            answers = receive_all(connection)
        except ConnectionResetError:
            answers = b""
        assert len(statuses(answers)) < 1_000
        assert statuses(service.send(build_get_request("/livez", close=True))) == [200]


def test_a_new_connection_has_the_whole_time_to_read(running: ServiceProcess) -> None:
    """Its first responses fill the buffers before the service looks at its connections for the first time."""
    for _ in range(3):
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.settimeout(30)
            connection.connect(running.address)
            connection.sendall(build_get_request("/docs") * 299 + build_get_request("/docs", close=True))
            time.sleep(1.0)
            assert statuses(receive_all(connection)) == [200] * 300


def test_a_client_that_reads_slowly_gets_everything() -> None:
    """The system sends from its own buffer of up to 4 MB, and takes more only once a third of that is free."""
    count = 220
    with run_testnet_service(timeout_s=0.5) as service, service.connect() as connection:
        connection.sendall(build_get_request("/docs") * (count - 1) + build_get_request("/docs", close=True))
        received = bytearray()
        while part := connection.recv(20_000):
            received += part
            time.sleep(0.02)
        assert statuses(bytes(received)) == [200] * count
