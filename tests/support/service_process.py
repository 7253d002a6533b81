"""A service in a separate process: `swapcli serve`, or the test service that is slow on request."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import IO, Any

from tests.support.command import clean_environment

SWAPCLI_COMMAND = [sys.executable, "-m", "swapcli"]
TIMEOUT_S = 30


@dataclass
class ServiceProcess:
    """A ready service: its process, the JSON line it printed when ready, and the file with its stderr.

    Stderr goes to a file because a process blocks once it has filled a pipe that no one reads.
    """

    process: subprocess.Popen[str]
    ready_message: dict[str, Any]
    log_file: IO[bytes]
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = field(default=None)

    @property
    def url(self) -> str:
        return str(self.ready_message["url"])

    @property
    def address(self) -> tuple[str, int]:
        """The host and port of the service."""
        host, port = self.url.removeprefix("http://").rsplit(":", 1)
        return host.strip("[]"), int(port)

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=TIMEOUT_S)

    def send(self, request: bytes) -> bytes:
        """Return all bytes that arrive until the service closes the connection."""
        with self.connect() as connection:
            connection.sendall(request)
            return receive_all(connection)

    def send_signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        """Wait for the end of the process; return its exit code."""
        self.stdout, _ = self.process.communicate(timeout=TIMEOUT_S)
        self.stderr = self.read_log()
        self.exit_code = self.process.returncode
        return self.exit_code

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; return the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def log_lines(self) -> list[Any]:
        """Return the JSON lines of its log so far; the last one may be incomplete."""
        return [json.loads(line) for line in self.whole_lines()]

    def whole_lines(self) -> list[str]:
        """Return the complete lines of its log."""
        return self.read_log().rpartition("\n")[0].splitlines()

    def wait_for_log_lines(self, count: int) -> list[Any]:
        """Return the JSON lines of its log once there are at least `count`."""
        deadline_s = time.monotonic() + TIMEOUT_S
        while len(self.log_lines()) < count and time.monotonic() < deadline_s:
            time.sleep(0.01)
        return self.log_lines()

    def read_log(self) -> str:
        """Return its log so far."""
        # Not with the file's offset, which the process shares and moves when it writes.
        descriptor = self.log_file.fileno()
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode()


@contextmanager
def run_service(*options: str, env: Mapping[str, str] | None = None) -> Iterator[ServiceProcess]:
    """Run `swapcli serve --port 0` with options; kill it at the end if it is still running."""
    with _run_until_ready([*SWAPCLI_COMMAND, "serve", "--port", "0", *options], clean_environment(env)) as service:
        yield service


@contextmanager
def run_testnet_service(**options: Any) -> Iterator[ServiceProcess]:
    """Run a service with these options of `main`; kill it at the end if it is still running."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    command = [sys.executable, "-m", "tests.support.service_process", json.dumps(options)]
    with _run_until_ready(command, environment) as service:
        yield service


@contextmanager
def _run_until_ready(command: Sequence[str], env: Mapping[str, str]) -> Iterator[ServiceProcess]:
    with TemporaryFile("ab+") as log_file:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log_file, stdin=subprocess.DEVNULL, text=True, env=env
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            service = ServiceProcess(process, json.loads(line or "{}"), log_file)
            if not line:
                service.wait()
                raise AssertionError(service.stderr)
            yield service
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate(timeout=TIMEOUT_S)
            process.stdout.close()


def ready_file_option(folder: Path) -> tuple[Path, tuple[str, str]]:
    """Return the file that a service writes when it is ready, and the option that names it."""
    file = folder / "ready.json"
    return file, ("--ready-file", str(file))


def child_ids(pid: int) -> list[int]:
    """Return the processes that a single-threaded process has started, in order."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def receive_all(connection: socket.socket) -> bytes:
    """Return the bytes that arrive until the other side closes the connection."""
    received = b""
    while chunk := connection.recv(65_536):
        received += chunk
    return received


def build_get_request(path: str, *headers: str, close: bool = False) -> bytes:
    """Return the bytes of a GET request."""
    lines = [f"GET {path} HTTP/1.1", "Host: service", *headers, *(["Connection: close"] if close else [])]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def main(
    host: str = "127.0.0.1",
    slow_s: float = 0.0,
    max_requests: int | None = None,
    grace_s: int = 10,
    timeout_s: float = 10.0,
    max_connections: int = 1_024,
    keep_alive_s: float = 75.0,
    max_queue: int = 1_024,
    networks: tuple[str, ...] = ("testnet",),
    settings: Mapping[str, Any] = MappingProxyType({}),
    max_metrics_connections: int | None = None,
    keys_file: str | None = None,
) -> int:
    """Serve test markets. Opening `testnet` takes `slow_s`, so the first request to it waits that long.

    With `max_metrics_connections` the metrics have a separate port. `settings` are additional settings of the service.
    """
    from swapcli.core.model.market import MarketState
    from swapcli.faces.service.access_log import AccessLog
    from swapcli.faces.service.app import create_app
    from swapcli.faces.service.key_file import KeyLookup
    from swapcli.faces.service.keys import KeyStore
    from swapcli.faces.service.listeners import Listeners, bind
    from swapcli.faces.service.log_writer import log_stream
    from swapcli.faces.service.market_registry import MarketRegistry
    from swapcli.faces.service.metrics_app import MetricsApp, MetricsPort
    from swapcli.faces.service.server import ServerLimits, serve
    from swapcli.quoting.config.settings import ServiceSettings
    from swapcli.quoting.price_policy import PriceRequest
    from swapcli.state.clock import SYSTEM_CLOCK
    from tests.support.service import market_opener, open_testnet_market

    def open_slowly() -> MarketState:
        time.sleep(slow_s)
        return open_testnet_market()

    openers = {name: open_slowly if name == "testnet" else market_opener(name) for name in networks}
    known = [market_opener(name)().network for name in networks]
    with log_stream(sys.stderr) as stream:
        served = ServiceSettings(max_queue=max_queue, max_connections=max_connections, **settings)
        app = create_app(
            MarketRegistry(known, openers, SYSTEM_CLOCK, price_request=PriceRequest.OFFLINE),
            served,
            keys=KeyStore(Path(keys_file), networks=("base", *networks)) if keys_file else KeyLookup(),
            log=AccessLog(stream),
        )
        on_refusal = app.metrics.record_refusal
        listeners = Listeners(bind(host, 0), None if max_metrics_connections is None else bind(host, 0))
        ready, port = {"url": listeners.url}, None
        if listeners.metrics is not None and max_metrics_connections is not None:
            port = MetricsPort(listeners.metrics, MetricsApp(app.metrics), on_refusal, max_metrics_connections)
            ready["metrics_url"] = str(listeners.metrics_url)
        return serve(
            app,
            listeners.service,
            ServerLimits(max_requests, max_connections, keep_alive_s, grace_s, timeout_s),
            on_ready=lambda: print(json.dumps(ready), flush=True),
            metrics=port,
            on_refusal=on_refusal,
        )


if __name__ == "__main__":
    sys.exit(main(**json.loads(sys.argv[1])))
