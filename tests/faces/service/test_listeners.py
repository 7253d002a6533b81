"""A service on the sockets of a manager of services restarts in place, and no client is refused or loses a request."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import httpx
import pytest

from swapcli.faces.service.listeners import METRICS_NAME, READY, STOPPING
from tests.examples import few
from tests.support.command import clean_environment
from tests.support.redis_server import free_ports
from tests.support.service import build_order_query
from tests.support.service_process import SWAPCLI_COMMAND, TIMEOUT_S, child_ids
from tests.support.waiting import until

SERVE = ("serve", "--offline", "--networks", "base", "--port", "0")
QUERY = "&".join(f"{key}={value}" for key, value in build_order_query("base").items())
PATHS = ("/base/protocols", "/base/protocols", "/base/tokens", f"/base/v2/route?{QUERY}")

_PASS = """
import os, sys
count, command = int(sys.argv[1]), sys.argv[2:]
for index in range(count):  # first to numbers that none of them has
    os.dup2(int(os.environ["TEST_FDS"].split(",")[index]), 100 + index)
for index in range(count):
    os.dup2(100 + index, 3 + index)
os.environ.setdefault("LISTEN_PID", str(os.getpid()))
os.execv(command[0], command)
"""
"""Passes sockets on as systemd does: from descriptor 3 on, to this very process."""


def listen(family: int = socket.AF_INET) -> socket.socket:
    listener = socket.socket(family)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1_024)
    return listener


def address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()
    return f"http://{host}:{port}"


@contextmanager
def activated(
    sockets: Sequence[socket.socket],
    *options: str,
    command: Sequence[str] = (*SWAPCLI_COMMAND, *SERVE),
    names: str = "swapcli.socket",
    env: dict[str, str] | None = None,
    log: IO[bytes] | int = subprocess.DEVNULL,
) -> Iterator[subprocess.Popen[str]]:
    """Start a service with these sockets."""
    numbers = [each.fileno() for each in sockets]
    environment = clean_environment({"TEST_FDS": ",".join(map(str, numbers)), "LISTEN_FDNAMES": names})
    environment |= {"LISTEN_FDS": str(len(sockets)), **(env or {})}
    passing = [sys.executable, "-c", _PASS, str(len(sockets)), *command, *options]
    process = subprocess.Popen(
        passing, env=environment, pass_fds=numbers, stdout=subprocess.PIPE, stderr=log, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=TIMEOUT_S)


def ready_message(process: subprocess.Popen[str]) -> dict[str, str]:
    assert process.stdout is not None
    return dict(json.loads(process.stdout.readline()))


class Clients:
    """Clients that send one request after the other, some on new connections; none repeats a request."""

    def __init__(self, address: tuple[str, int], count: int = 8) -> None:
        self._address = address
        self._stop = threading.Event()
        self.statuses: list[int] = []
        self.errors: list[str] = []
        self.slowest_s = 0.0
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(count)]

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(TIMEOUT_S)

    def wait_for(self, count: int) -> None:
        """Return after that many further responses."""
        end = len(self.statuses) + count
        until(lambda: len(self.statuses) >= end or self.errors)

    def _run(self, number: int) -> None:
        connection = http.client.HTTPConnection(*self._address, timeout=TIMEOUT_S)
        sent = 0
        while not self._stop.is_set():
            # A client looks whether the other side has closed a connection before it uses it again.
            if connection.sock is not None and (number % 2 or select.select([connection.sock], [], [], 0)[0]):
                connection.close()
            began_s = time.monotonic()
            try:
                connection.request("GET", PATHS[sent % len(PATHS)])
                response = connection.getresponse()
                response.read()
                self.statuses.append(response.status)
            except (OSError, http.client.HTTPException) as error:
                self.errors.append(repr(error))
                connection.close()
            self.slowest_s = max(self.slowest_s, time.monotonic() - began_s)
            sent += 1
        connection.close()


def restart_under_load(workers: int, restarts: int, requests: int) -> Clients:
    """Restart a service in place while clients send requests; return what they have got."""
    with ExitStack() as stack:
        listener = stack.enter_context(listen())
        options = ("--workers", str(workers))
        process = stack.enter_context(activated([listener], *options))
        assert ready_message(process)["url"] == address_of(listener)
        with Clients(listener.getsockname()) as clients:
            for _ in range(restarts):
                clients.wait_for(requests // (restarts + 1))
                process.send_signal(signal.SIGTERM)
                assert process.wait(TIMEOUT_S) == 0
                process = stack.enter_context(activated([listener], *options))
                ready_message(process)
            clients.wait_for(max(0, requests - len(clients.statuses)))
    return clients


@pytest.mark.parametrize("workers", few([1, 2], 1))
def test_a_restart_in_place_loses_no_request(workers: int) -> None:
    clients = restart_under_load(workers, restarts=1, requests=400)
    assert (clients.errors, set(clients.statuses)) == ([], {200})


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_five_restarts_lose_none_of_5000_requests(workers: int) -> None:
    clients = restart_under_load(workers, restarts=5, requests=5_000)
    assert (clients.errors, set(clients.statuses)) == ([], {200})
    assert len(clients.statuses) >= 5_000


@pytest.mark.parametrize("workers", few(["1", "2"], 1))
def test_the_metrics_have_the_socket_of_their_name(workers: str) -> None:
    with listen() as metrics, listen() as service:
        names = f"{METRICS_NAME}:swapcli.socket"
        with activated([metrics, service], "--workers", workers, names=names) as process:
            ready = ready_message(process)
            assert (ready["url"], ready["metrics_url"]) == (address_of(service), address_of(metrics) + "/metrics")
            assert "swapcli_build_info" in httpx.get(ready["metrics_url"]).text
            assert httpx.get(ready["url"] + "/metrics").status_code == 404


@pytest.mark.slow
def test_workers_of_other_settings_keep_the_metrics_to_their_socket() -> None:
    """The settings that a signal has read again do not name the port of a socket of systemd."""
    with listen() as metrics, listen() as service:
        names = f"{METRICS_NAME}:swapcli.socket"
        with activated([metrics, service], "--workers", "2", names=names) as process:
            url = ready_message(process)["url"]
            process.send_signal(signal.SIGHUP)
            for pid in child_ids(process.pid):
                os.kill(pid, signal.SIGKILL)
            expected = {"configured": 2, "live": 2, "replaced": 2}
            until(lambda: httpx.get(url + "/readyz", timeout=TIMEOUT_S).json()["workers"] == expected)
            assert {httpx.get(url + "/metrics").status_code for _ in range(4)} == {404}


def test_the_manager_is_told_of_readiness_and_the_end(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, listen() as listener:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(TIMEOUT_S)
        with activated([listener], env={"NOTIFY_SOCKET": str(tmp_path / "notify")}) as process:
            assert manager.recv(100).decode() == READY
            assert httpx.get(address_of(listener) + "/livez").status_code == 200
            process.send_signal(signal.SIGTERM)
            assert manager.recv(100).decode() == STOPPING
            assert process.wait(TIMEOUT_S) == 0


def bound() -> socket.socket:
    found = socket.socket()
    found.bind(("127.0.0.1", 0))
    return found


def unix() -> socket.socket:
    return socket.socket(socket.AF_UNIX)


def datagram() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


NOT_TCP = r"descriptor 3 \(web\) does not listen for TCP; use ListenStream with a port, and Accept=no"
UNUSABLE: dict[str, tuple[list[Callable[[], socket.socket]], dict[str, str], str]] = {
    "no socket": ([], {}, "LISTEN_FDS is 0; the socket unit needs a ListenStream"),
    "no number": ([], {"LISTEN_FDS": "x"}, "LISTEN_FDS is x; the socket unit needs a ListenStream"),
    "another process": (
        [listen],
        {"LISTEN_PID": "1"},
        r"LISTEN_PID is 1, but this process is \d+; start swapcli with exec .*",
    ),
    "no process": (
        [listen],
        {"LISTEN_PID": ""},
        r"LISTEN_PID is , but this process is \d+; start swapcli with exec .*",
    ),
    "not open": ([], {"LISTEN_FDS": "1000000"}, r"descriptor 3 \(web\) is not a socket"),
    "a datagram socket": ([datagram], {}, NOT_TCP),
    "a unix socket": ([unix], {}, NOT_TCP),
    "not listening": ([bound], {}, NOT_TCP),
    "two sockets": ([listen, listen], {}, r"descriptor 4 \(other\) is an extra socket"),
}


OPEN_LISTENERS = (
    sys.executable,
    "-c",
    "from swapcli.faces.service.listeners import open_listeners\n"
    "from swapcli.quoting.config.settings import ServiceSettings\n"
    "print(open_listeners(ServiceSettings(port=0), print).url)",
)


@pytest.mark.parametrize("name", few(UNUSABLE, 3))
def test_an_unusable_socket_is_one_sentence(name: str) -> None:
    openers, env, expected = UNUSABLE[name]
    with ExitStack() as stack:
        sockets = [stack.enter_context(each()) for each in openers]
        process = stack.enter_context(activated(sockets, names="web:other", env=env, command=OPEN_LISTENERS))
        (line, url) = process.communicate(timeout=TIMEOUT_S)[0].splitlines()
    assert re.fullmatch(f"WARNING: a systemd socket is not used: {expected}", line)
    assert url.startswith("http://127.0.0.1:")


def test_a_service_without_its_socket_serves_where_the_settings_say(tmp_path: Path) -> None:
    with open(tmp_path / "log", "wb") as log, activated([], log=log) as process:
        assert httpx.get(ready_message(process)["url"] + "/livez").status_code == 200
    warning = (tmp_path / "log").read_text().splitlines()[0]
    assert warning.startswith("WARNING: a systemd socket is not used: LISTEN_FDS is 0")


@pytest.mark.slow
def test_systemd_passes_its_socket() -> None:
    (port,) = free_ports(1)
    command = ["systemd-socket-activate", "--listen", f"127.0.0.1:{port}", *SWAPCLI_COMMAND, *SERVE]
    environment = [f"--setenv={name}={value}" for name, value in clean_environment().items()]
    with subprocess.Popen([*command[:1], *environment, *command[1:]], stdout=subprocess.PIPE, text=True) as process:
        try:
            transport = httpx.HTTPTransport(retries=5)  # until systemd listens; it starts the service at a connection
            with httpx.Client(transport=transport, timeout=TIMEOUT_S) as client:
                assert client.get(f"http://127.0.0.1:{port}/livez").status_code == 200
            assert ready_message(process)["url"] == f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            assert process.wait(TIMEOUT_S) == 0
