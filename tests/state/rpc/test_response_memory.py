"""Responses of any size cost little memory, and end in an error that says so."""

from __future__ import annotations

import subprocess
import sys
import zlib
from contextlib import suppress

import pytest

from tests.examples import few
from tests.support.loopback_server import FakeExchange, loopback_server

MIB = 2**20
SENT_MIB, MOST_MIB = 400, 100
_READERS = """
import resource, sys

from swapcli.core.errors import UpstreamError
from swapcli.quoting.remote.client import ServiceRequest
from swapcli.quoting.remote.url_document import download
from swapcli.state.rpc.http_connection import HttpConnection
from tests.support.loopback_server import build_client

url = sys.argv[1]
readers = {
    "node": lambda: HttpConnection(url, "the node").post(b"{}", 20.0),
    "service": lambda: build_client(url, timeout_s=20.0).send(ServiceRequest("GET", ("base", "v2", "healthcheck"))),
    "token list": lambda: download(url, timeout_s=20.0, max_bytes=8 * 2**20),
}
for name, read in readers.items():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        read()
    except UpstreamError as error:
        print(name, error.message.split(" sent ")[-1], sep="|", end="|")
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def stream(exchange: FakeExchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    part = b"%x\r\n%s\r\n" % (MIB, b"[" * MIB)
    with suppress(OSError):
        for _ in range(SENT_MIB):
            exchange.send(part)


def announce(exchange: FakeExchange) -> None:
    with suppress(OSError):
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (SENT_MIB * MIB))
        for _ in range(SENT_MIB):
            exchange.send(bytes(MIB))


def gzipped() -> bytes:
    """Return the beginning of a body: after a flush, equal bytes become equal bytes again."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    first, *_, other = (pack.compress(bytes(MIB)) + pack.flush(zlib.Z_FULL_FLUSH) for _ in range(3))
    return first + other * (SENT_MIB - 1)


def bomb(exchange: FakeExchange) -> None:
    body = gzipped()
    with suppress(OSError):
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


@pytest.mark.parametrize("respond", few([stream, announce, bomb], 1))
def test_a_huge_response_costs_at_most_100_mib(respond: object) -> None:
    with loopback_server(respond) as server:  # type: ignore[arg-type]
        done = subprocess.run(
            [sys.executable, "-c", _READERS, server.url], capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()]
    assert [name for name, *_ in rows] == ["node", "service", "token list"], done.stdout
    for name, problem, grown_mib in rows:
        assert problem.startswith("more than "), name
        assert int(grown_mib) < MOST_MIB, (name, grown_mib)
