"""Slow and silent clients are disconnected in time, without any effect on other clients."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.service.request_io import BodyTooSlow
from swapcli.faces.service.server import with_body_timeout
from tests.support.redis_server import free_ports
from tests.support.service import build_order_query, build_swap_terms
from tests.support.service_process import (
    TIMEOUT_S,
    ServiceProcess,
    build_get_request,
    receive_all,
    run_testnet_service,
)
from tests.support.waiting import until

PATIENCE_S = 1.0
"""The client timeout in these tests; other times are far above or below it."""
DRIP_S = 0.2


@given(pieces=st.lists(st.booleans(), max_size=5))
def test_what_is_sent_in_time_is_received_as_it_is(pieces: list[bool]) -> None:
    sent = [{"type": "http.request", "body": b"x" * k, "more_body": True} for k, _ in enumerate(pieces)]
    sent += [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]
    messages = iter(sent)

    async def receive() -> Any:
        return next(messages)

    async def received() -> list[Any]:
        receive_prompt = with_body_timeout(receive, 5.0)
        return [await receive_prompt() for _ in sent]

    assert asyncio.run(received()) == sent


def test_only_the_body_has_to_be_prompt_not_the_clients_leaving() -> None:
    async def waits(whole_first: bool) -> float:
        whole = iter([{"type": "http.request", "body": b"", "more_body": False}] if whole_first else [])

        async def receive() -> Any:
            for message in whole:
                return message
            await asyncio.sleep(0.3)
            return {"type": "http.disconnect"}

        receive_prompt = with_body_timeout(receive, 0.05)
        started_s = time.monotonic()
        if whole_first:
            await receive_prompt()
            assert (await receive_prompt())["type"] == "http.disconnect"
        else:
            with pytest.raises(BodyTooSlow):
                await receive_prompt()
        return time.monotonic() - started_s

    assert asyncio.run(waits(whole_first=True)) >= 0.3
    assert asyncio.run(waits(whole_first=False)) < 0.3


@pytest.fixture(scope="module")
def running() -> Iterator[ServiceProcess]:
    with run_testnet_service(timeout_s=PATIENCE_S) as service:
        while not dripped(service, [build_get_request("/readyz", close=True)])[0].startswith(b"HTTP/1.1 200"):
            time.sleep(DRIP_S)
        yield service


QUERY = "&".join(f"{key}={value}" for key, value in build_order_query("testnet").items())
HEAD = b"POST /testnet/calldata HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
BODY = json.dumps({**build_order_query("testnet"), **build_swap_terms("testnet")}).encode()


def dripped(service: ServiceProcess, pieces: list[bytes]) -> tuple[bytes, float]:
    """Send chunks slowly; return the response and how long the connection lasted."""
    with service.connect() as connection:
        started_s = time.monotonic()
        for piece in pieces:
            try:
                connection.sendall(piece)
            except OSError:
                break
            time.sleep(DRIP_S)
        try:
            answer = receive_all(connection)
        except OSError:
            answer = b""
        return answer, time.monotonic() - started_s


def announced(length: int) -> bytes:
    return HEAD + f"Content-Length: {length}\r\n\r\n".encode()


SLOW = {
    "nothing": ([], b""),
    "a head that never ends": ([b"GET /readyz HTTP/1.1\r\n", *[b"X-A: b\r\n"] * 15], b"HTTP/1.1 408"),
    "a body that never ends": ([announced(10**5), *[b" "] * 15], b"HTTP/1.1 408"),
    "a body that never begins": ([announced(10)], b"HTTP/1.1 408"),
    "chunks that never end": ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[b"1\r\n \r\n"] * 15], b"HTTP/1.1 408"),
    "a request, then half of one": ([build_get_request("/readyz"), *[b"GET /"] + [b"a"] * 15], b"HTTP/1.1 200"),
}


def test_a_slow_client_does_not_delay_the_others(running: ServiceProcess) -> None:
    with ThreadPoolExecutor(len(SLOW)) as pool:
        slow = {name: pool.submit(dripped, running, pieces) for name, (pieces, _) in SLOW.items()}
        for _ in range(5):
            assert running.send(build_get_request(f"/testnet/route?{QUERY}", close=True)).startswith(b"HTTP/1.1 200")
            time.sleep(DRIP_S)
        found = {name: each.result() for name, each in slow.items()}
    for name, (answer, stood_s) in found.items():
        assert answer.startswith(SLOW[name][1]), name
        assert bool(answer) == bool(SLOW[name][1]), name
        assert PATIENCE_S * 0.9 < stood_s < PATIENCE_S * 4, name
    late = found["a body that never ends"][0]
    assert b"connection: close" in late.lower()
    assert json.loads(late.partition(b"\r\n\r\n")[2]) == {
        "statusCode": 408,
        "message": "the body did not arrive in time",
        "error": "Request Timeout",
        "hint": "send the whole body at once",
    }
    assert found["a request, then half of one"][0].count(b"HTTP/1.1 408") == 1


def test_a_body_in_pieces_that_arrives_in_time_is_answered(running: ServiceProcess) -> None:
    half = len(BODY) // 2
    closing = HEAD + f"Connection: close\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
    answer, _ = dripped(running, [closing, BODY[:half], BODY[half:]])
    assert answer.startswith(b"HTTP/1.1 200")


KEEP_ALIVE_S = 3.0


@pytest.fixture(scope="module")
def patient() -> Iterator[ServiceProcess]:
    """A service that keeps idle connections for longer than it waits for a head."""
    with run_testnet_service(timeout_s=PATIENCE_S, keep_alive_s=KEEP_ALIVE_S) as service:
        yield service


def connection_state(connection: socket.socket) -> bytes | None:
    """Return None if the service keeps a connection open, else the status that it has sent first, if it has."""
    connection.setblocking(False)
    try:
        return connection.recv(4_096)[9:12]
    except BlockingIOError:
        return None
    finally:
        connection.settimeout(TIMEOUT_S)


def read_answer(connection: socket.socket) -> bytes:
    """Return a response with a `Content-Length`."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(65_536)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(re.findall(rb"content-length: ([0-9]+)", head.lower())[0])
    while len(body) < length:
        body += connection.recv(65_536)
    return head + body


@pytest.mark.parametrize("idle_s", [1.5 * PATIENCE_S, KEEP_ALIVE_S - 0.5])
def test_an_idle_connection_is_reused_by_a_post(patient: ServiceProcess, idle_s: float) -> None:
    posted = announced(len(BODY)) + BODY
    with patient.connect() as connection:
        for pause_s in (0.0, idle_s, idle_s):
            time.sleep(pause_s)
            connection.sendall(posted)
            assert read_answer(connection).startswith(b"HTTP/1.1 200")


def test_an_idle_connection_is_closed_in_the_end(patient: ServiceProcess) -> None:
    with patient.connect() as connection:
        connection.sendall(build_get_request("/livez"))
        assert read_answer(connection).startswith(b"HTTP/1.1 200")
        time.sleep(KEEP_ALIVE_S - 0.5)
        assert connection_state(connection) is None
        time.sleep(1.5)
        assert connection_state(connection) == b""


SLOW_BEGINNINGS = {
    "no byte": (b"", b""),
    "a line end": (b"\r\n", b""),
    "half a head": (b"GET /livez HTTP/1.1\r\n", b"408"),
}


@pytest.mark.parametrize(("beginning", "answer"), SLOW_BEGINNINGS.values(), ids=SLOW_BEGINNINGS)
@pytest.mark.parametrize("is_used", [False, True])
def test_a_head_has_the_short_time_all_the_same(
    patient: ServiceProcess, beginning: bytes, answer: bytes, is_used: bool
) -> None:
    """Only the idle time between two requests is long, so that slow heads hold no places."""
    with patient.connect() as connection:
        if is_used:
            connection.sendall(build_get_request("/livez"))
            read_answer(connection)
            time.sleep(0.5)
        connection.sendall(beginning)
        time.sleep(PATIENCE_S + 0.5)
        assert connection_state(connection) == (answer if beginning or not is_used else None)


NGINX = """
events {{}}
http {{
    access_log off;
    upstream service {{ server {address}; keepalive 1; keepalive_timeout {proxy_s}; }}
    server {{
        listen 127.0.0.1:{port};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_next_upstream off;
        location / {{ proxy_pass http://service; }}
    }}
    {folders}
}}
"""


@pytest.mark.slow
def test_a_proxy_loses_no_post(patient: ServiceProcess, tmp_path: Path) -> None:
    """Its connections are idle for up to the whole time for which it keeps them."""
    (port,) = free_ports(1)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = " ".join(f"{kind}_temp_path {tmp_path / kind};" for kind in kinds)
    file = tmp_path / "nginx.conf"
    file.write_text(
        NGINX.format(address=patient.url.removeprefix("http://"), port=port, proxy_s="2500ms", folders=folders)
    )
    options = ("-p", str(tmp_path), "-e", str(tmp_path / "log"), "-c", str(file))
    with subprocess.Popen(["nginx", *options, "-g", f"daemon off; pid {tmp_path}/nginx.pid;"]) as proxy:
        try:
            until(lambda: accepts_connections(port))
            for pause_s in (0.0, 1.5, 2.4, 2.6, 3.0):
                time.sleep(pause_s)
                answer = httpx.post(
                    f"http://127.0.0.1:{port}/testnet/calldata",
                    content=BODY,
                    headers={"Content-Type": "application/json"},
                    timeout=TIMEOUT_S,
                )
                assert answer.status_code == 200, pause_s
        finally:
            proxy.terminate()


def accepts_connections(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_a_connection_in_use_outlives_patience(running: ServiceProcess) -> None:
    with running.connect() as connection:
        until_s = time.monotonic() + 2 * PATIENCE_S
        while time.monotonic() < until_s:
            connection.sendall(build_get_request("/readyz"))
            answer = b""
            while not answer.endswith(b"}"):
                answer += connection.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 200")
            time.sleep(DRIP_S)


def test_who_waits_for_a_long_answer_is_not_slow() -> None:
    with run_testnet_service(timeout_s=0.3, slow_s=1.0) as service:
        answer = service.send(build_get_request(f"/testnet/route?{QUERY}", close=True))
        assert answer.startswith(b"HTTP/1.1 200")
