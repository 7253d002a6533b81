"""The metrics have a port of their own if the settings name one, and are then nowhere else."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from swapcli.faces.service.metrics_app import MAX_METRICS_CONNECTIONS
from tests.support.command import run_swapcli
from tests.support.service_process import ServiceProcess, build_get_request, child_ids, receive_all, run_service
from tests.support.waiting import until

PORT = "SWAPCLI_SERVICE_METRICS_PORT"
PROCESSES = {"one process": (), "two workers": ("--workers", "2")}


@pytest.fixture(scope="module", params=[*PROCESSES.values()], ids=[*PROCESSES])
def running(request: pytest.FixtureRequest) -> Iterator[ServiceProcess]:
    with run_service("--networks", "base", "--offline", *request.param, env={PORT: "0"}) as service:
        yield service


def metrics_url(service: ServiceProcess) -> str:
    return str(service.ready_message["metrics_url"])


def address_of_metrics(service: ServiceProcess) -> tuple[str, int]:
    url = httpx.URL(metrics_url(service))
    assert url.port is not None
    return url.host, url.port


def samples(text: str) -> dict[str, float]:
    """Return the value of each series without labels, and the number of series for the others."""
    return {sample.name: sample.value for family in text_string_to_metric_families(text) for sample in family.samples}


def exchange(service: ServiceProcess, request: bytes) -> bytes:
    with socket.create_connection(address_of_metrics(service), timeout=30) as connection:
        connection.sendall(request)
        return receive_all(connection)


def test_the_metrics_are_at_their_port_alone(running: ServiceProcess) -> None:
    answer = httpx.get(metrics_url(running))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "swapcli_http_requests_total" in answer.text
    assert httpx.get(running.url + "/metrics").status_code == 404
    assert "/metrics" not in httpx.get(running.url + "/openapi.json").json()["paths"]


def test_nothing_else_is_at_that_port(running: ServiceProcess) -> None:
    root = metrics_url(running).removesuffix("/metrics")
    for path in ("/", "/livez", "/base/tokens", "/docs", "/metrics/x"):
        answer = httpx.get(root + path)
        assert (answer.status_code, answer.json()["message"]) == (404, "this port only serves metrics")
    answer = httpx.post(root + "/metrics", content=b"x" * 1_000)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert httpx.head(root + "/metrics").status_code == 200


def test_malformed_requests_to_it_are_plain_errors(running: ServiceProcess) -> None:
    assert exchange(running, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert exchange(running, build_get_request("/metrics", "X: " + "y" * 40_000)).startswith(b"HTTP/1.1 431 ")


def test_its_idle_connections_make_room_for_new_ones(running: ServiceProcess) -> None:
    open_ = [socket.create_connection(address_of_metrics(running)) for _ in range(3 * MAX_METRICS_CONNECTIONS)]
    try:
        assert exchange(running, build_get_request("/metrics", close=True)).startswith(b"HTTP/1.1 200 ")
    finally:
        for connection in open_:
            connection.close()


def test_the_process_is_measured(running: ServiceProcess) -> None:
    """Of several workers the sums are shown, with the first start."""
    pids = child_ids(running.process.pid) or [running.process.pid]
    status = "".join(Path(f"/proc/{pid}/status").read_text() for pid in pids)
    resident_kb = sum(map(int, re.findall(r"VmRSS:\s+([0-9]+)", status)))
    time.sleep(1.2)  # workers publish every half second
    found = samples(httpx.get(metrics_url(running)).text)
    assert found["process_resident_memory_bytes"] == pytest.approx(1024 * resident_kb, rel=0.3)

    def shows_open_files() -> bool:
        open_files = sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids)
        shown = samples(httpx.get(metrics_url(running)).text)["process_open_fds"]
        return abs(shown - open_files) <= 8

    until(shows_open_files)  # connections of tests before may be closing
    assert 0 < found["process_cpu_seconds_total"] < 600
    assert time.time() - 600 < found["process_start_time_seconds"] < time.time()
    assert found["process_max_fds"] >= 1_000
    assert found["swapcli_build_info"] == 1


def test_a_service_stops_with_its_metrics() -> None:
    with run_service("--networks", "base", "--offline", env={PORT: "0"}) as service:
        with socket.create_connection(address_of_metrics(service)) as idle:
            idle.sendall(build_get_request("/metrics"))
            assert idle.recv(12) == b"HTTP/1.1 200"
            assert service.stop(signal.SIGTERM) == 0
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address_of_metrics(service))


def test_a_worker_that_replaces_another_has_metrics_too() -> None:
    options = ("--networks", "base", "--offline", "--workers", "2")
    with run_service(*options, env={PORT: "0"}) as service:
        os.kill(child_ids(service.process.pid)[0], signal.SIGKILL)
        until(lambda: samples(httpx.get(metrics_url(service)).text)["swapcli_workers_replaced_total"] == 1)
        until(lambda: samples(httpx.get(metrics_url(service)).text)["swapcli_workers"] == 2)


@pytest.mark.parametrize("options", PROCESSES.values(), ids=PROCESSES)
def test_a_port_that_is_taken_is_an_error(options: tuple[str, ...]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        words = ("serve", "--port", "0", "--networks", "base", "--offline", *options)
        refused = run_swapcli(*words, env={PORT: port})
    assert refused.exit_code == 2
    assert f"cannot listen on 127.0.0.1, port {port}" in refused.stderr
    assert "service.metrics_port" in refused.stderr
