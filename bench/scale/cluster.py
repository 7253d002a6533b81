"""The processes: Redis, the writer that publishes the feed, replicas that follow it, and nginx in front of them."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.support.command import clean_environment
from tests.support.redis_server import RedisServer, free_ports
from tests.support.service_process import SWAPCLI_COMMAND

CLIENT_HEADER = "X-Client"
"""nginx passes its value on as the client's address."""

_CHANGES = (
    ("resolver 127.0.0.11 valid=5s;", 'map $http_x_client $client {{ default $http_x_client; "" 127.0.0.1; }}'),
    ("server replica:8000 resolve max_fails=0;", "{servers}"),
    ("listen 8080;", "listen 127.0.0.1:{port};"),
    ("X-Forwarded-For $proxy_add_x_forwarded_for;", "X-Forwarded-For $client;"),
    ("http {", "http {{ access_log off; {temporary_folders}"),
)
"""Differences from the file in `examples/region`: this machine's addresses, folders, and the clients of the load."""
_FOLDERS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
_NGINX_CONFIG = Path(__file__).parents[2] / "examples" / "region" / "nginx.conf"
_STOP_S = 20.0


class Process(Protocol):
    """A process that can be killed and restarted."""

    def kill(self) -> None:
        """Kill the process at once."""

    def start(self) -> None:
        """Start the process again."""


@dataclass
class Daemon:
    """A process that can be killed and started again; its output is appended to `log`."""

    name: str
    command: Sequence[str]
    env: dict[str, str]
    log: Path
    starts: int = 0
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process without waiting until it is ready."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self.starts += 1

    def kill(self) -> None:
        """Kill the process and its children at once."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(_STOP_S)
            self._process = None

    @property
    def pid(self) -> int:
        """The id of the process, which must be running."""
        assert self._process is not None
        return self._process.pid

    def exit_code(self) -> int | None:
        """Return the exit code of a process that ended on its own; None while it is running, or after `kill`."""
        return None if self._process is None else self._process.poll()

    def descriptors(self) -> int:
        """Return the number of open files and connections of the process."""
        assert self._process is not None
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))

    def memory_bytes(self) -> int:
        """Return the resident memory of the process."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


@dataclass
class Cluster:
    """All processes. Replicas listen on `replica_ports`, nginx on `port`."""

    redis: RedisServer
    writer: Daemon
    replicas: Sequence[Daemon]
    replica_ports: Sequence[int]
    port: int


@contextmanager
def run_cluster(
    folder: Path, redis: RedisServer, settings: Path, network: str, replicas: int, max_age_s: int
) -> Iterator[Cluster]:
    """Start all processes; kill them at the end."""
    ports = free_ports(replicas + 1)
    env = clean_environment({"SWAPCLI_CONFIG": str(settings)})
    writer = Daemon(
        "writer",
        [*SWAPCLI_COMMAND, "sync", network, "--watch", "--json", "--publish", redis.url],
        env,
        folder / "writer.log",
    )
    serve = ["serve", "--networks", network, "--feed", redis.url, "--max-age", str(max_age_s)]
    services = [
        Daemon(
            f"replica {number}", [*SWAPCLI_COMMAND, *serve, "--port", str(port)], env, folder / f"replica{number}.log"
        )
        for number, port in enumerate(ports[1:], 1)
    ]
    proxy = Daemon("nginx", nginx_command(folder, ports[0], ports[1:]), dict(os.environ), folder / "nginx.out")
    with ExitStack() as stack:
        for daemon in (writer, *services, proxy):
            stack.callback(daemon.kill)
            daemon.start()
        yield Cluster(redis, writer, services, ports[1:], ports[0])


def nginx_command(folder: Path, port: int, replica_ports: Sequence[int]) -> list[str]:
    """Write the configuration of `nginx_config` into a folder; return the command that runs nginx with it."""
    file = folder / "nginx.conf"
    file.write_text(nginx_config(folder, port, replica_ports))
    log = folder / "nginx.log"
    return ["nginx", "-p", str(folder), "-e", str(log), "-c", str(file), "-g", f"daemon off; pid {folder}/nginx.pid;"]


def nginx_config(folder: Path, port: int, replica_ports: Sequence[int]) -> str:
    """Return the configuration in `examples/region` for replicas on ports of this machine."""
    config = _NGINX_CONFIG.read_text()
    values = {
        "servers": " ".join(f"server 127.0.0.1:{each} max_fails=0;" for each in replica_ports),
        "port": port,
        "temporary_folders": " ".join(f"{each}_temp_path {folder / each};" for each in _FOLDERS),
    }
    for documented, changed in _CHANGES:
        assert config.count(documented) == 1, documented
        config = config.replace(documented, changed.format(**values))
    return config


def get_page(port: int, path: str) -> tuple[int, str]:
    """Return the status and body of a page; 0 and an empty body without a response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5.0)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    except OSError:
        return 0, ""
    finally:
        connection.close()
