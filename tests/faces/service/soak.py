"""A real service under a mixture of requests, for hours if need be: who asked, who was answered, and what it held.

`python -m tests.faces.service.soak REQUESTS` runs it alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from swapcli.core.networks.catalogue import find_network

RECIPIENT = "0x" + "37" * 20
CLIENTS = 16
"""Concurrent clients; fewer than the places of the queue, so that none is rejected."""
BAD, LEAVING = 0.05, 0.02
WARM = 0.25
"""The share of the requests after which memory is first measured."""
_HEADERS = "Host: localhost\r\nContent-Type: application/json\r\n"
_PATIENCE_S = 60


class Request(NamedTuple):
    """One request; `expected` are the first digits of good statuses."""

    method: str
    target: str
    body: bytes = b""
    expected: tuple[int, ...] = (2,)
    leaves: bool = False


@dataclass
class Outcome:
    """The result of a run. Ids are request ids; memory is the resident memory of the process in bytes."""

    sent: list[str] = field(default_factory=list)
    answered: dict[str, int] = field(default_factory=dict)
    unexpected: list[str] = field(default_factory=list)
    left: set[str] = field(default_factory=set)
    warm_bytes: int = 0
    end_bytes: int = 0
    seconds: float = 0.0
    before_signal: set[str] = field(default_factory=set)
    exit_status: int | None = None
    log: str = ""

    @property
    def growth(self) -> float:
        """Growth of memory after the warm-up: 0.1 is 10% more."""
        return self.end_bytes / self.warm_bytes - 1

    @property
    def logged(self) -> dict[str, int | None]:
        """Status by request id, from the service's log."""
        lines = [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]
        return {line["request_id"]: line.get("status") for line in lines}


class Service(NamedTuple):
    """A service process."""

    process: subprocess.Popen[str]
    port: int
    log: Path

    @property
    def memory_bytes(self) -> int:
        """Its resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) * 1024

    @property
    def cpu_s(self) -> float:
        """The processor time that it has taken."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(*arguments: str, tree: Path | None = None) -> Iterator[Service]:
    """A service started by the command in an environment without settings; that of another `tree`, if it is given."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        log = Path(folder) / "log"
        environment = {"HOME": folder, "PATH": os.environ.get("PATH", os.defpath), "SWAPCLI_LIVE": "never"}
        command = [sys.executable, "-m", "swapcli", "serve", "--port", "0", *arguments]
        with log.open("w") as stderr:
            process = subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=tree
            )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, log.read_text()
            yield Service(process, int(json.loads(line)["url"].rpartition(":")[2]), log)
        finally:
            process.terminate()
            process.wait(_PATIENCE_S)
            assert process.stdout is not None
            process.stdout.close()


def orders() -> list[str]:
    """The queries of a few dozen orders on Base: every pair of its main tokens, in three sizes."""
    base = find_network("base")
    tokens = [base.native.address, *(token.address for token in base.tokens[1:4])]
    decimals = {token.address: token.decimals for token in (base.native, *base.tokens)}
    return [
        f"amount={10 ** decimals[one] * size // 10}&tokenInAddress={one}&tokenOutAddress={other}"
        for one in tokens
        for other in tokens
        if one != other
        for size in (1, 10, 1_000)
    ]


def mixture(route: dict[str, Any], seed: int) -> Iterator[Request]:
    """Requests of all kinds without end; the same ones for the same seed."""
    choice, queries = random.Random(seed), orders()
    terms = f"&slippage=0.5&destination={RECIPIENT}"
    execute = json.dumps({"route": route, "slippage": 1, "destination": RECIPIENT}).encode()
    bad = (
        Request("GET", "/base/v2/route?amount=-1&tokenInAddress=x", expected=(4,)),
        Request("POST", "/base/execute", b'{"route": [[[' + b"[" * 500, expected=(4,)),
        Request("POST", "/base/v2/calldata", execute.replace(b"%", b""), expected=(4,)),
        Request("GET", "/nowhere/%ff%00", expected=(4,)),
        Request("DELETE", "/base/route", expected=(4,)),
    )
    others = ("/base/healthcheck", "/base/v2/healthcheck", "/base/tokens", "/supported-chains", "/metrics", "/readyz")
    while True:
        query, kind = choice.choice(queries), choice.random()
        if kind < BAD:
            yield choice.choice(bad)
        elif kind < BAD + LEAVING:
            yield Request("GET", f"/base/route?{query}", leaves=True)
        elif kind < 0.17:
            yield Request("GET", choice.choice(others))
        elif kind < 0.27:
            yield Request("POST", "/base/execute", execute)
        elif kind < 0.37:
            yield Request("GET", f"/base/v2/routeAndCalldata?{query}{terms}")
        else:
            yield Request("GET", f"/base/{choice.choice(('route', 'v2/route'))}?{query}")


class Client:
    """Asks over one connection after the other; as long as the service keeps one, it is used again.

    `source` is the address of this machine that they come from; `retry_after_s` is what the last answer said of that.
    """

    def __init__(self, port: int, source: str = "127.0.0.1") -> None:
        self._port = port
        self._source = source
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.retry_after_s: int | None = None

    async def ask(self, request: Request, id_: str) -> tuple[int, bytes] | None:
        """Return status and body; None if the client disconnects. Raises `OSError` without a complete response."""
        reader, writer = self._streams or await asyncio.open_connection(
            "127.0.0.1", self._port, local_addr=(self._source, 0)
        )
        self._streams = reader, writer
        length = f"Content-Length: {len(request.body)}\r\nX-Request-Id: {id_}\r\n\r\n"
        try:
            writer.write(f"{request.method} {request.target} HTTP/1.1\r\n{_HEADERS}{length}".encode() + request.body)
            await writer.drain()
            if request.leaves:
                self.close()
                return None
            return await asyncio.wait_for(self._answer(reader), _PATIENCE_S)
        except (OSError, EOFError, TimeoutError) as error:
            self.close()
            raise ConnectionError(str(error)) from None

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        retry_after = head.partition(b"retry-after:")[2].partition(b"\r\n")[0]
        self.retry_after_s = int(retry_after) if retry_after else None
        body = await reader.readexactly(length)
        if b"connection: close" in head:
            self.close()
        return int(head[9:12]), body

    def close(self) -> None:
        """Disconnect."""
        if self._streams:
            self._streams[1].close()
            self._streams = None


async def _soak(service: Service, requests: int, stop_after: int | None, seed: int) -> Outcome:
    outcome, client = Outcome(), Client(service.port)
    while await client.ask(Request("GET", "/readyz"), "ready") != (200, b'{"ready":true,"missing":[]}'):
        await asyncio.sleep(0.01)
    found = await client.ask(Request("GET", f"/base/route?{orders()[0]}"), "first")
    assert found is not None
    client.close()
    todo = enumerate(mixture(json.loads(found[1]), seed))
    began_s = time.monotonic()
    clients = [asyncio.create_task(_ask_on(service, todo, requests, stop_after, outcome)) for _ in range(CLIENTS)]
    await asyncio.gather(*clients)
    outcome.seconds = time.monotonic() - began_s
    return outcome


async def _ask_on(
    service: Service, todo: Iterator[tuple[int, Request]], requests: int, stop_after: int | None, outcome: Outcome
) -> None:
    """Run one client: send its requests until there are no more or the service has stopped."""
    client = Client(service.port)
    for number, request in todo:
        if number >= requests:
            break
        if number == int(requests * WARM):
            outcome.warm_bytes = service.memory_bytes
        if number == stop_after:
            outcome.before_signal = set(outcome.sent)
            service.process.send_signal(signal.SIGTERM)
        id_ = f"{number}"
        outcome.sent.append(id_)
        try:
            answer = await client.ask(request, id_)
        except OSError as error:
            if not outcome.before_signal:
                outcome.unexpected.append(f"{request}: {error}")
            continue
        if answer is None:
            outcome.left.add(id_)
            continue
        outcome.answered[id_] = answer[0]
        if answer[0] // 100 not in request.expected:
            outcome.unexpected.append(f"{request}: {answer}")
    client.close()


def soak(requests: int, *, stop_after: int | None = None, seed: int = 7) -> Outcome:
    """Send `requests` requests; after `stop_after` of them stop the service."""
    with served() as service:
        outcome = asyncio.run(_soak(service, requests, stop_after, seed))
        if stop_after is None:
            outcome.end_bytes = service.memory_bytes
            service.process.terminate()
        outcome.exit_status = service.process.wait(_PATIENCE_S)
        outcome.log = service.log.read_text()
    return outcome


if __name__ == "__main__":
    result = soak(int(sys.argv[1]))
    print(
        f"{len(result.answered)} answered, {len(result.left)} left, "
        f"{len(result.unexpected)} unexpected, {result.seconds:.0f} s"
    )
    print(
        f"memory {result.warm_bytes / 1e6:.1f} MB warm, "
        f"{result.end_bytes / 1e6:.1f} MB in the end, {result.growth:+.1%}"
    )
