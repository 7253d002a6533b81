"""A service over real sockets: it starts on a free port and shuts down without losing requests."""

from __future__ import annotations

import gc
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from swapcli.core.errors import InvalidOption
from swapcli.faces.service.listeners import base_url, bind
from swapcli.faces.service.request_io import MAX_BODY_BYTES
from tests.examples import few
from tests.support.service import build_app, build_order_query, build_swap_terms, open_registry, serve_app
from tests.support.service_process import ServiceProcess, build_get_request, receive_all, run_testnet_service

QUERY = "&".join(f"{key}={value}" for key, value in build_order_query("testnet").items())
ROUTE = f"/testnet/v2/route?{QUERY}"


@pytest.fixture(scope="module")
def running() -> Iterator[ServiceProcess]:
    with run_testnet_service(networks=["testnet", "base", "citrea", "starknet"]) as service:
        yield service


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def body_of(answer: bytes) -> bytes:
    return answer.partition(b"\r\n\r\n")[2]


def test_it_says_where_it_listens_and_answers_there(running: ServiceProcess) -> None:
    assert running.url.startswith("http://127.0.0.1:")
    with httpx.Client(base_url=running.url) as client:
        route = client.get("/base/v2/route", params=build_order_query("base")).json()
        assert route["success"] is True
        made = client.post("/base/v2/calldata", json={"route": route, **build_swap_terms("base")})
        assert made.status_code == 200
        assert made.json()["route"]["amount_out"] == route["outputAmount"]
        v1 = client.get("/citrea/route", params=build_order_query("citrea")).json()
        body = {"route_response": v1, "slippage": 0.5, "signer": "0x" + "12" * 20}
        assert client.request("GET", "/citrea/calldata", json=body).json()["success"] is True
        assert client.get("/starknet/healthcheck").json()["staus"] == 200
        assert client.get("/docs").headers["Content-Type"].startswith("text/html")


@pytest.mark.slow
def test_many_connections_at_once_are_all_answered(running: ServiceProcess) -> None:
    def ask(number: int) -> int:
        with httpx.Client(base_url=running.url) as client:
            return sum(client.get(ROUTE if number % 2 else "/base/healthcheck").status_code == 200 for _ in range(10))

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(ask, range(16))) == 160


def test_pipelined_requests_are_answered_in_order(running: ServiceProcess) -> None:
    answers = running.send(
        build_get_request(ROUTE) + build_get_request("/nowhere") + build_get_request("/readyz", close=True)
    )
    assert answers.count(b"HTTP/1.1 ") == 3
    assert [status_of(b"HTTP/1.1 " + each) for each in answers.split(b"HTTP/1.1 ")[1:]] == [200, 404, 200]


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /testnet/route HTTP/1.1\r\nHost: x\r\nX-Bad\r\n\r\n",
        b"GET /testnet/route HTTP/1.1\r\nHost: x\r\nX-A: a\x00b\r\n\r\n",
        b"POST /testnet/execute HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /testnet/execute HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_what_is_not_http_is_a_400(running: ServiceProcess, request_: bytes) -> None:
    with running.connect() as connection:
        connection.sendall(request_)
        connection.shutdown(socket.SHUT_WR)
        answer = receive_all(connection)
    assert answer == b"" or status_of(answer) == 400
    assert b"Traceback" not in answer


@pytest.mark.parametrize("path", ["/%zz", "/testnet/route?amount=\xff", "/testnet/%c3%28", "/testnet/route?%00"])
def test_raw_rubbish_in_a_request_line_is_below_500(running: ServiceProcess, path: str) -> None:
    with running.connect() as connection:
        connection.sendall(build_get_request(path, close=True).decode().encode("latin-1"))
        connection.shutdown(socket.SHUT_WR)
        answer = receive_all(connection)
    assert answer == b"" or 400 <= status_of(answer) < 500


def test_injected_headers_do_not_arrive(running: ServiceProcess) -> None:
    answer = running.send(
        build_get_request("/testnet/tokens/0x1%0d%0aSet-Cookie:%20a=b", "X-Request-Id: a\tb", close=True)
    )
    head = answer.partition(b"\r\n\r\n")[0].lower()
    assert status_of(answer) == 400
    assert b"set-cookie" not in head
    assert b"a\tb" not in head


def post_head(length: int, path: str = "/testnet/execute", *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", *headers]
    return ("\r\n".join([*lines, f"Content-Length: {length}"]) + "\r\n\r\n").encode()


def test_a_declared_large_body_is_rejected_before_it_is_sent(running: ServiceProcess) -> None:
    with running.connect() as connection:
        connection.sendall(post_head(MAX_BODY_BYTES + 1))
        answer = receive_all(connection)
    assert status_of(answer) == 413
    assert b"connection: close" in answer.lower()


def test_a_body_in_chunks_is_refused_once_it_is_too_large(running: ServiceProcess) -> None:
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with running.connect() as connection:
        head = b"POST /testnet/execute HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head + chunk * 17)
        received = connection.recv(65_536)
    assert status_of(received) == 413


def test_a_client_that_asks_first_is_told_to_go_on(running: ServiceProcess) -> None:
    body = json.dumps({**build_order_query("testnet"), **build_swap_terms("testnet")}).encode()
    with running.connect() as connection:
        connection.sendall(post_head(len(body), "/testnet/calldata", "Expect: 100-continue", "Connection: close"))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(body)
        assert status_of(receive_all(connection)) == 200


def test_what_was_asked_is_answered_after_it_was_told_to_stop() -> None:
    with run_testnet_service(slow_s=1.0) as service, service.connect() as active, service.connect() as idle:
        active.sendall(build_get_request(ROUTE))
        time.sleep(0.8)
        service.send_signal(signal.SIGTERM)
        answer = receive_all(active)
        assert status_of(answer) == 200
        assert json.loads(body_of(answer))["success"] is True
        assert b"connection: close" in answer.lower()
        assert receive_all(idle) == b""
        with pytest.raises(ConnectionRefusedError):
            service.connect()
        assert service.wait() == 0
        assert [line["status"] for line in service.log_lines()] == [200]


@pytest.mark.slow
def test_a_request_just_after_the_signal_is_answered() -> None:
    with run_testnet_service() as service, service.connect() as open_:
        open_.sendall(build_get_request("/readyz"))
        assert status_of(open_.recv(65_536)) in (200, 503)
        service.send_signal(signal.SIGTERM)
        time.sleep(0.15)
        open_.sendall(build_get_request(ROUTE))
        answer = receive_all(open_)
        assert status_of(answer) == 200
        assert b"connection: close" in answer.lower()
        assert service.wait() == 0


@pytest.mark.parametrize("number", few([signal.SIGINT, signal.SIGTERM], 1))
def test_it_ends_well_by_either_signal(number: signal.Signals) -> None:
    with run_testnet_service() as service:
        assert status_of(service.send(build_get_request(ROUTE, close=True))) == 200
        service.send_signal(number)
        assert service.wait() == 0


@pytest.mark.slow
def test_what_takes_longer_than_the_grace_is_given_up() -> None:
    with run_testnet_service(slow_s=30, grace_s=1) as service, service.connect() as active:
        active.sendall(build_get_request(ROUTE))
        time.sleep(0.8)
        started_s = time.monotonic()
        service.send_signal(signal.SIGTERM)
        assert service.wait() == 0
        assert 0.9 < time.monotonic() - started_s < 15


@pytest.mark.slow
def test_a_second_signal_ends_it_at_once() -> None:
    with run_testnet_service(slow_s=30, grace_s=20) as service, service.connect() as active:
        active.sendall(build_get_request(ROUTE))
        time.sleep(0.8)
        started_s = time.monotonic()
        service.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        service.send_signal(signal.SIGTERM)
        service.wait()
        assert time.monotonic() - started_s < 15


@pytest.mark.slow
@pytest.mark.parametrize("most", few([3, 1], 1))
def test_it_answers_so_many_requests_and_ends(most: int) -> None:
    with run_testnet_service(max_requests=most) as service:
        for _ in range(most):
            assert status_of(service.send(build_get_request(ROUTE, close=True))) == 200
        assert service.wait() == 0
        assert len(service.log_lines()) == most


@pytest.mark.slow
def test_of_many_at_once_exactly_so_many_are_answered_in_full() -> None:
    with run_testnet_service(max_requests=3, slow_s=0.5) as service:
        start = threading.Barrier(10)

        def ask(_: int) -> bytes:
            start.wait()
            try:
                return service.send(build_get_request(ROUTE))
            except OSError:
                return b""

        with ThreadPoolExecutor(10) as pool:
            answers = list(pool.map(ask, range(10)))
        assert service.wait() == 0
        good = [answer for answer in answers if answer and status_of(answer) == 200]
        assert len(good) == 3
        assert all(json.loads(body_of(answer))["success"] for answer in good)
        assert {status_of(answer) for answer in answers if answer} <= {200, 503}


@pytest.mark.slow
def test_a_disconnect_cancels_only_its_own_request() -> None:
    with run_testnet_service(slow_s=0.7) as service:
        with service.connect() as leaving, service.connect() as queueing:
            leaving.sendall(build_get_request(ROUTE))
            queueing.sendall(build_get_request(ROUTE))
            time.sleep(0.2)
        assert status_of(service.send(build_get_request(ROUTE, close=True))) == 200
        lines = service.wait_for_log_lines(3)
        assert [line["status"] for line in lines] == [None, None, 200]
        metrics = body_of(service.send(build_get_request("/metrics", close=True))).decode()
        assert 'swapcli_solves_cancelled_total{network="testnet"} 2.0' in metrics


def test_an_unusable_address_is_an_error_in_one_sentence() -> None:
    with bind("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(InvalidOption, match=f"cannot listen on 127.0.0.1, port {port}: Address already in use"):
            bind("127.0.0.1", port)
    with pytest.raises(InvalidOption, match=r"cannot listen on no\.such\.host\.invalid, port 1"):
        bind("no.such.host.invalid", 1)


def test_an_ipv6_address_is_written_in_brackets() -> None:
    if not socket.has_ipv6:
        return
    with bind("::1", 0) as listener:
        assert base_url(listener) == f"http://[::1]:{listener.getsockname()[1]}"


@pytest.mark.slow
def test_health_stays_fast_while_orders_saturate_it(running: ServiceProcess) -> None:
    """The benchmark tests the threshold of 20 ms at p99; this test, that health checks do not wait for orders."""
    done = threading.Event()

    def saturate(number: int) -> int:
        count = 0
        with httpx.Client(base_url=running.url) as client:
            while not done.is_set():
                query = build_order_query("base", 10**18 + number * 10**15 + count)
                count += client.get("/base/v2/route", params=query).status_code == 200
        return count

    with ThreadPoolExecutor(8) as pool:
        loads = [pool.submit(saturate, number) for number in range(8)]
        with httpx.Client(base_url=running.url) as client:
            took_s = []
            for _ in range(60):
                started_s = time.perf_counter()
                assert client.get("/base/v2/healthcheck").json()["status"] == 200
                took_s.append(time.perf_counter() - started_s)
                time.sleep(0.01)
        done.set()
        assert sum(load.result() for load in loads) > 60
    assert sorted(took_s)[30] < 0.25


def ask_from(service: ServiceProcess, address: str, answers: list[int]) -> threading.Thread:
    """A client at a local address that sends one request."""

    def ask() -> None:
        with socket.create_connection(service.address, timeout=20, source_address=(address, 0)) as connection:
            connection.sendall(build_get_request(ROUTE, close=True))
            answers.append(status_of(receive_all(connection)))

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


@pytest.mark.slow
def test_a_client_has_the_places_that_others_leave_free() -> None:
    """One client takes all places of the queue, and gives up the newest to others."""
    with run_testnet_service(slow_s=1.5, max_queue=128) as service:
        greedy, modest = list[int](), list[int]()
        threads = [ask_from(service, "127.0.0.2", greedy) for _ in range(140)]
        time.sleep(0.4)
        threads += [ask_from(service, f"127.0.0.{number}", modest) for number in range(3, 13)]
        for thread in threads:
            thread.join()
        assert modest == [200] * 10
        assert 118 <= greedy.count(200) <= 119
        assert greedy.count(503) == 140 - greedy.count(200)


def test_header_lines_without_end_take_no_memory() -> None:
    with run_testnet_service() as service:
        assert status_of(service.send(build_get_request(ROUTE, close=True))) == 200
        before = peak_bytes(service)
        lines = b"X-Header-Line: some of the value\r\n" * 30_000

        def send(_: int) -> None:
            with service.connect() as connection:
                try:
                    connection.sendall(build_get_request("/livez")[:-2])
                    for _ in range(5):
                        connection.sendall(lines)
                except OSError:
                    return

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(send, range(8)))
        assert status_of(service.send(build_get_request("/livez", close=True))) == 200
        assert peak_bytes(service) - before < 25e6


def peak_bytes(service: ServiceProcess) -> int:
    """The peak memory of the process."""
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) * 1024


def test_objects_that_a_program_has_frozen_stay_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with serve_app(build_app(open_registry(["base"]))):
        pass
    assert gc.get_freeze_count() >= frozen
