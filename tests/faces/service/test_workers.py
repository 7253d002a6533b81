"""A service of several processes behaves as one: over kills, signals and reloads, and in its limits and metrics."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from swapcli.faces.service.supervisor import HUNG_AFTER_S
from tests.support.service import build_order_query, build_swap_terms
from tests.support.service_process import ServiceProcess, build_get_request, child_ids, run_service
from tests.support.waiting import until


def route_path(amount: int) -> str:
    return "/base/route?" + "&".join(f"{key}={value}" for key, value in build_order_query("base", amount).items())


ROUTE, OTHER_ROUTE = route_path(10**18), route_path(2 * 10**18)
LIMIT = 300
TTL_S = 1
SETTINGS = {
    "SWAPCLI_SERVICE_REQUESTS_PER_MINUTE": str(LIMIT),
    "SWAPCLI_SERVICE_TRUSTED_PROXIES": "127.0.0.1",
    "SWAPCLI_ROUTE_TTL_S": str(TTL_S),
}
SERVE = ("--workers", "2", "--networks", "base")
SOLVES = "swapcli_solve_duration_seconds_count"
TIMEOUT_S = 10.0


@pytest.fixture(scope="module")
def running() -> Iterator[ServiceProcess]:
    with run_service(*SERVE, env=SETTINGS) as service:
        yield service


@pytest.fixture(scope="module", autouse=True)
def issued_route(running: ServiceProcess) -> tuple[object, float]:
    """Return a V1 route of the service, and when it was issued, by a monotonic clock."""
    with connected(running, 1) as [connection]:
        return json.loads(connection.get(OTHER_ROUTE)[1]), time.monotonic()


class Connection:
    """A connection that stays with the worker that accepted it. `address` is the client's, None for loopback."""

    def __init__(self, service: ServiceProcess, address: str | None = None) -> None:
        self._socket = service.connect()
        self._headers = [] if address is None else [f"X-Forwarded-For: {address}"]
        self.is_last = False

    def get(self, path: str) -> tuple[int, bytes]:
        return self._exchange(build_get_request(path, *self._headers))

    def post(self, path: str, document: object) -> tuple[int, bytes]:
        body = json.dumps(document).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: service\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        return self._exchange(head.encode() + b"\r\n\r\n" + body)

    def _exchange(self, request: bytes) -> tuple[int, bytes]:
        self._socket.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._receive()
        head, _, body = received.partition(b"\r\n\r\n")
        length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])  # type: ignore[index]
        while len(body) < length:
            body += self._receive()
        self.is_last = b"connection: close" in head.lower()
        return int(head.split(b" ", 2)[1]), body

    def _receive(self) -> bytes:
        chunk = self._socket.recv(65_536)
        if not chunk:
            raise ConnectionResetError
        return chunk

    def close(self) -> None:
        self._socket.close()


@contextmanager
def connected(service: ServiceProcess, count: int, address: str | None = None) -> Iterator[list[Connection]]:
    """Open connections, which the workers share about evenly."""
    connections = [Connection(service, address) for _ in range(count)]
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()


def worker_ids(service: ServiceProcess) -> list[int]:
    return child_ids(service.process.pid)


def is_ready_with(service: ServiceProcess, replaced: int) -> bool:
    with connected(service, 1) as [connection]:
        workers = json.loads(connection.get("/readyz")[1])["workers"]
    return bool(workers == {"configured": 2, "live": 2, "replaced": replaced})


class Load:
    """Clients that send one order after the other, each until it has to end; a lost connection is opened again."""

    def __init__(self, service: ServiceProcess, clients: int = 6) -> None:
        self._service = service
        self._stop = threading.Event()
        self.good, self.lost, self.bad = 0, 0, 0
        self._threads = [threading.Thread(target=self._run) for _ in range(clients)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        until(lambda: self.good > 6)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._stop.set()
        self.join()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(TIMEOUT_S)

    def _run(self) -> None:
        connection = Connection(self._service)
        while not self._stop.is_set() and not connection.is_last:
            try:
                status, _ = connection.get(ROUTE)
            except OSError:
                self.lost += 1
                connection.close()
                try:
                    connection = Connection(self._service)
                except OSError:
                    return
            else:
                self.good += status == 200
                self.bad += status != 200
        connection.close()


def counter(connection: Connection, name: str) -> float:
    """Return the sum of the samples of a metric."""
    lines = connection.get("/metrics")[1].decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if re.match(rf"{re.escape(name)}[ {{]", line))


def test_connections_are_spread_over_the_workers(running: ServiceProcess) -> None:
    with connected(running, 8) as connections:
        for connection in connections:
            assert connection.get("/livez")[0] == 200
        counts = [len(os.listdir(f"/proc/{pid}/fd")) for pid in worker_ids(running)]
    assert abs(counts[0] - counts[1]) <= 2


def test_a_limit_is_exact_over_all_workers(running: ServiceProcess) -> None:
    def send(connection: Connection) -> int:
        return sum(connection.get("/base/protocols")[0] == 200 for _ in range(60))

    with connected(running, 6, "203.0.113.1") as connections, ThreadPoolExecutor(6) as pool:
        started_s = time.monotonic()
        good = sum(pool.map(send, connections))
        refill = LIMIT * (time.monotonic() - started_s) / 60
    assert LIMIT <= good <= LIMIT + refill + 1
    with connected(running, 1, "203.0.113.2") as [other]:
        assert other.get("/base/protocols")[0] == 200


def test_metrics_are_sums_that_never_fall(running: ServiceProcess) -> None:
    name = r'swapcli_http_requests_total{endpoint="/{network}/tokens",network="base",status="200"}'
    with connected(running, 4) as connections:
        for connection in connections * 3:
            assert connection.get("/base/tokens")[0] == 200
        seen = [0.0]
        while seen[-1] < 12:
            seen.extend(counter(connection, name) for connection in connections)
        assert seen == sorted(seen)
        assert seen[-1] == 12
        assert counter(connections[0], "swapcli_workers") == 2
        assert counter(connections[0], "swapcli_market_pools") == pools_of_base(connections[0])


def pools_of_base(connection: Connection) -> int:
    message = json.loads(connection.get("/base/healthcheck")[1])["message"]
    assert message.endswith(", 2 of 2 workers"), message
    return int(re.search(r"([\d,]+) pools", message)[1].replace(",", ""))  # type: ignore[index]


def ended(service: ServiceProcess) -> list[dict[str, Any]]:
    """The lines of processes that have ended."""
    return [line for line in service.log_lines() if line.keys() == {"time", "level", "process", "message"}]


def test_a_killed_worker_loses_only_requests_in_flight(running: ServiceProcess) -> None:
    with connected(running, 1) as [connection]:
        before = counter(connection, SOLVES)
    with Load(running) as load:
        killed = worker_ids(running)[0]
        os.kill(killed, signal.SIGKILL)
        until(lambda: is_ready_with(running, replaced=1))
        good = load.good
        until(lambda: load.good > good + 12)
    assert load.bad == 0
    assert 0 < load.lost <= 6
    assert killed not in worker_ids(running)
    assert [(line["process"].split()[0], line["message"]) for line in ended(running)] == [
        ("worker", "was killed by SIGKILL")
    ]
    assert {line["process"] for line in running.log_lines() if "request_id" in line} == {"worker 1", "worker 2"}
    with connected(running, 1) as [connection]:
        assert counter(connection, "swapcli_workers_replaced_total") == 1
        until(lambda: counter(connection, SOLVES) > before)


def test_a_reload_under_load_loses_nothing(running: ServiceProcess) -> None:
    lines = sum("reload" in line for line in running.log_lines())
    with Load(running) as load:
        running.send_signal(signal.SIGHUP)
        until(lambda: sum("reload" in line for line in running.log_lines()) == lines + 2)
        good = load.good
        until(lambda: load.good > good + 6)
    assert (load.lost, load.bad) == (0, 0)
    assert all(line["reload"] == "done" for line in running.log_lines() if "reload" in line)


def test_a_v1_route_expires_at_every_worker(running: ServiceProcess, issued_route: tuple[object, float]) -> None:
    """One of the workers was started after the route was issued."""
    route, issued_s = issued_route
    time.sleep(max(0.0, issued_s + TTL_S + 0.2 - time.monotonic()))
    with connected(running, 4) as connections:
        body = {"route": route, **build_swap_terms("base")}
        for connection in connections:
            status, answer = connection.post("/base/execute", body)
            assert status == 400
            assert b"seconds old" in answer


def test_a_signal_to_stop_drains_all_workers(running: ServiceProcess) -> None:
    """The last test of this service. A manager of services signals the workers, too."""
    with Load(running) as load:
        for pid in worker_ids(running):
            os.kill(pid, signal.SIGTERM)
        running.send_signal(signal.SIGTERM)
        load.join()
    assert (load.lost, load.bad) == (0, 0)
    assert running.wait() == 0
    with pytest.raises(ConnectionRefusedError), socket.create_connection(running.address):
        pass


@pytest.mark.slow  # the time after which a process counts as hung
def test_a_stopped_worker_is_replaced() -> None:
    with run_service(*SERVE, env=SETTINGS) as service:
        stopped = worker_ids(service)[0]
        os.kill(stopped, signal.SIGSTOP)
        until(lambda: stopped not in worker_ids(service), HUNG_AFTER_S + TIMEOUT_S)
        until(lambda: is_ready_with(service, replaced=1))
        (line,) = ended(service)
        assert line["message"] == f"did not respond for {HUNG_AFTER_S:g} seconds and was killed"
        assert service.stop() == 0


def test_workers_build_nothing_on_prices_that_nobody_requested() -> None:
    no_network = {"SWAPCLI_LIVE": "auto", "HTTPS_PROXY": "http://127.0.0.1:9"}
    with run_service(*SERVE, env=no_network) as service, connected(service, 2) as connections:
        assert service.ready_message["modelled"] == ["base"]
        terms = "&".join(f"{key}={value}" for key, value in build_swap_terms("base").items())
        for connection in connections:
            assert connection.get(ROUTE)[0] == 200
            status, body = connection.get(f"{ROUTE.replace('/route?', '/routeAndCalldata?')}&{terms}")
            assert (status, b"the prices of base are modelled" in body) == (503, True)
            assert connection.get("/base/healthcheck")[0] == connection.get("/readyz")[0] == 503
            assert b'swapcli_market_real{network="base"} 0.0' in connection.get("/metrics")[1]
