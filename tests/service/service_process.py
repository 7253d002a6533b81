"""A real service on loopback, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAIT_S = 20.0


class Serving:
    """The process, and where it listens."""

    def __init__(self, process: subprocess.Popen[str], url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self._log = log
        host, port = url.removeprefix("http://").rsplit(":", 1)
        self.address = (host.strip("[]"), int(port))

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=WAIT_S)

    def send(self, request: bytes) -> bytes:
        """All that comes back on a connection that the service closes."""
        with self.connect() as connection:
            connection.sendall(request)
            return read_all(connection)

    def tell(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """Its exit status."""
        return self.process.wait(WAIT_S)

    def lines(self) -> list[Any]:
        """The lines of its log."""
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def wait_for(self, lines: int) -> list[Any]:
        """The lines of its log, once there are so many."""
        until_s = time.monotonic() + WAIT_S
        while len(self.lines()) < lines and time.monotonic() < until_s:
            time.sleep(0.01)
        return self.lines()


def read_all(connection: socket.socket) -> bytes:
    received = b""
    while piece := connection.recv(65_536):
        received += piece
    return received


def get(path: str, *headers: str, close: bool = False) -> bytes:
    """A GET as it goes over the wire."""
    lines = [f"GET {path} HTTP/1.1", "Host: service", *headers, *(["Connection: close"] if close else [])]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@contextmanager
def serving(folder: Path, **options: Any) -> Iterator[Serving]:
    """A service with these options of `main`, stopped at the end if it still runs."""
    log = folder / "log"
    with open(log, "w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.service.service_process", json.dumps(options)],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url, log.read_text()
        yield Serving(process, url, log)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def main(
    host: str = "127.0.0.1",
    slow_s: float = 0.0,
    max_requests: int | None = None,
    grace_s: int = 10,
    patience_s: float = 10.0,
    max_connections: int = 1_024,
    networks: tuple[str, ...] = ("testnet",),
) -> int:
    """Serves markets of the tests; `testnet` takes `slow_s` to open, and with it whatever asks it first."""
    from swapcli.config.settings import ServiceSettings
    from swapcli.engine.clock import SYSTEM_CLOCK
    from swapcli.model.market import Market
    from swapcli.service.access_log import AccessLog
    from swapcli.service.app import create_app
    from swapcli.service.log_writer import log_stream
    from swapcli.service.market_registry import MarketRegistry
    from swapcli.service.server import serve
    from tests.service.in_process import opener, tiny

    def slow() -> Market:
        time.sleep(slow_s)
        return tiny()

    openers = {name: slow if name == "testnet" else opener(name) for name in networks}
    known = [(tiny if name == "testnet" else opener(name))().network for name in networks]
    with log_stream(sys.stderr) as stream:
        app = create_app(MarketRegistry(known, openers, SYSTEM_CLOCK), ServiceSettings(), log=AccessLog(stream))
        return serve(
            app,
            host=host,
            port=0,
            on_ready=lambda url: print(url, flush=True),
            max_requests=max_requests,
            max_connections=max_connections,
            grace_s=grace_s,
            timeout_s=patience_s,
        )


if __name__ == "__main__":
    os.environ.pop("PYTHONWARNINGS", None)
    sys.exit(main(**json.loads(sys.argv[1])))
