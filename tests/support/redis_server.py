"""A real Redis server from Debian's package, on loopback, with TLS, and on a Unix socket. It stores nothing on disk."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from swapcli.core.encoding.redis_url import RedisUrl

CERTIFICATE = Path(__file__).parents[1] / "quoting" / "remote" / "certificates" / "loopback.pem"
PASSWORD = "hunter2/%"
"""Contains characters that must be quoted in a URL."""
TIMEOUT_S = 10.0


class RedisServer:
    """A server that can be stopped and started again on the same ports. It starts empty each time."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port, self.tls_port = free_ports(2)
        self.socket_path = str(folder / "redis.sock")
        self._folder, self._options = folder, options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The URL with the password."""
        return f"redis://:hunter2%2F%25@127.0.0.1:{self.port}"

    @property
    def tls_url(self) -> str:
        return f"rediss://:hunter2%2F%25@127.0.0.1:{self.tls_port}"

    @property
    def unix_url(self) -> str:
        return f"unix://:hunter2%2F%25@{self.socket_path}"

    @property
    def server(self) -> RedisUrl:
        return RedisUrl.parse(self.url)

    def start(self) -> None:
        """Start the server, and return once it accepts connections."""
        settings = {
            "bind": "127.0.0.1",
            "port": self.port,
            "tls-port": self.tls_port,
            "tls-cert-file": CERTIFICATE,
            "tls-key-file": CERTIFICATE,
            "tls-auth-clients": "no",
            "unixsocket": self.socket_path,
            "requirepass": PASSWORD,
            "save": "",
            "appendonly": "no",
            "dir": self._folder,
        }
        options = [part for name, value in settings.items() for part in (f"--{name}", str(value))]
        self._process = subprocess.Popen(
            ["redis-server", *options, *self._options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline_s = time.monotonic() + TIMEOUT_S
        while not _accepts(self.socket_path):
            assert self._process.poll() is None, "redis-server ended"
            assert time.monotonic() < deadline_s, "redis-server does not start"
            time.sleep(0.005)

    def kill(self) -> None:
        """Kill the server at once."""
        if self._process is not None:
            self.resume()
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Stop the server from running; connections to it stay open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the server continue."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, number)


@contextmanager
def run_redis(*options: str) -> Iterator[RedisServer]:
    """Run a server during the context; `options` are additional command line options."""
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisServer(Path(folder), *options)
        server.start()
        try:
            yield server
        finally:
            server.kill()


def _accepts(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Return ports of this machine on which nothing listens."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports
