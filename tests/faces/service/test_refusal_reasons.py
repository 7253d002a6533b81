"""Each limit of the service refuses with a plain status, a message and a hint, and counts that under its own name."""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import socket
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from swapcli.core.errors import Overloaded
from swapcli.faces.service.error_responses import error_response
from swapcli.faces.service.http_protocol import MAX_HEAD_BYTES, MAX_HEADER_LINES
from swapcli.faces.service.keys import KeyStore
from swapcli.faces.service.order_costs import OrderClass
from swapcli.faces.service.refusal_reasons import RefusalReason, refusal_of
from swapcli.faces.service.request_io import MAX_BODY_BYTES
from swapcli.faces.service.worker_thread import IsCancelled, SearchStuck, Worker
from tests.support.service import build_order_query
from tests.support.service_process import ServiceProcess, build_get_request, receive_all, run_testnet_service
from tests.support.waiting import until

QUERY = "&".join(f"{key}={value}" for key, value in build_order_query("testnet").items())
ROUTE = build_get_request(f"/testnet/v2/route?{QUERY}", close=True)
STREAM = build_get_request(f"/testnet/v2/route/events?{QUERY}", close=True)
HEAD = b"POST /testnet/calldata HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
HALF_BODY = HEAD + b"Content-Length: 9\r\n\r\n{"
LIVE = build_get_request("/livez", close=True)
SHORT, LONG = (OrderClass(size) for size in (1, 2))


class Expected(NamedTuple):
    """The status and a part of the message of a refusal; no status if the connection is only closed."""

    status: int | None
    message: str = ""
    has_retry_after: bool = False


EXPECTED: Mapping[RefusalReason, Expected] = {
    RefusalReason.CONNECTIONS: Expected(503, "too many connections", True),
    RefusalReason.METRICS_CONNECTIONS: Expected(503, "too many connections", True),
    RefusalReason.IDLE_EVICTED: Expected(None),
    RefusalReason.HEAD_EVICTED: Expected(503, "too many connections", True),
    RefusalReason.BODY_EVICTED: Expected(503, "too many connections", True),
    RefusalReason.HEAD_SIZE: Expected(431, "larger than 32 KiB or 100 lines"),
    RefusalReason.HEAD_SYNTAX: Expected(400, "not valid HTTP|one Host header|Host header is malformed"),
    RefusalReason.HEAD_TIMEOUT: Expected(408, "head of the request did not arrive in time"),
    RefusalReason.BODY_SIZE: Expected(413, "larger than 1 MiB"),
    RefusalReason.BODY_TIMEOUT: Expected(408, "body did not arrive in time"),
    RefusalReason.RESPONSE_UNREAD: Expected(None),
    RefusalReason.API_KEY: Expected(401, "API key is unknown"),
    RefusalReason.KEY_MISSING: Expected(401, "this service requires an API key"),
    RefusalReason.KEY_EXPIRED: Expected(401, "API key expired on 1970-01-02"),
    RefusalReason.KEY_NETWORK: Expected(403, "API key is not valid for testnet"),
    RefusalReason.QUOTA: Expected(429, "quota of 1 requests per month is used up", True),
    RefusalReason.REQUEST_RATE: Expected(429, "more than 4 requests per minute", True),
    RefusalReason.CLIENT_STREAMS: Expected(429, "more than 1 open streams", True),
    RefusalReason.STREAMS: Expected(503, "too many open streams", True),
    RefusalReason.QUEUE: Expected(503, "too many orders at once", True),
    RefusalReason.EXPECTED_WAIT: Expected(503, "could not start within 2 seconds", True),
    RefusalReason.WAIT: Expected(503, "waited for 2.3 seconds", True),
    RefusalReason.INTERRUPTED: Expected(503, "too many orders at once", True),
    RefusalReason.STOPPING: Expected(503, "is stopping"),
}


WITHOUT_LINE = {
    RefusalReason.CONNECTIONS,
    RefusalReason.METRICS_CONNECTIONS,
    RefusalReason.IDLE_EVICTED,
    RefusalReason.HEAD_EVICTED,
    RefusalReason.RESPONSE_UNREAD,
    RefusalReason.STOPPING,
    RefusalReason.INTERRUPTED,
    RefusalReason.EXPECTED_WAIT,
}
"""Refusals of connections, which have no line in the log, and those that a service is not run for here."""


class Refused(NamedTuple):
    """What a refused client got, as status, headers in lower case and document; and under which name it counts."""

    refusal: RefusalReason
    status: int | None = None
    headers: str = ""
    document: Mapping[str, object] | None = None


class Outcome(NamedTuple):
    """All refusals of some services, how often these have counted each, and logged it as the reason of a request."""

    refused: dict[RefusalReason, list[Refused]]
    counted: dict[RefusalReason, float]
    logged: Counter[str]


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """All ways to be refused, each by a service with limits for it."""
    found = Outcome(defaultdict(list), defaultdict(float), Counter())
    scenarios = (
        refusals_of_two_connections,
        refusals_of_slow_clients,
        refusals_of_a_slow_market,
        refusals_of_a_client,
        refusals_of_plans,
        refusals_of_the_worker,
    )
    with ThreadPoolExecutor(len(scenarios)) as pool:
        for refused, (counted, logged) in pool.map(lambda scenario: scenario(), scenarios):
            found.logged.update(logged)
            for each in refused:
                found.refused[each.refusal].append(each)
            for refusal, count in counted.items():
                found.counted[refusal] += count
    return found


@pytest.mark.parametrize("refusal", RefusalReason)
def test_a_refusal_is_plain_and_counted(outcome: Outcome, refusal: RefusalReason) -> None:
    expected, refused = EXPECTED[refusal], outcome.refused[refusal]
    assert len(refused) == outcome.counted[refusal] > 0
    assert outcome.logged[refusal] == (0 if refusal in WITHOUT_LINE else len(refused))
    for _, status, headers, document in refused:
        assert status == expected.status
        if expected.status is None:
            assert document is None
            continue
        assert document is not None
        assert document["statusCode"] == status
        assert re.search(expected.message, str(document["message"]))
        assert len(str(document["hint"])) > len("retry")
        assert ("retry-after: " in headers) == expected.has_retry_after


def test_every_limit_is_in_the_table() -> None:
    assert EXPECTED.keys() == set(RefusalReason)


def test_more_parameters_than_any_order_has_are_refused() -> None:
    """They are mistakes of a request, not loads, and count among the responses by status."""
    with run_testnet_service() as service:
        answer = httpx.get(f"{service.url}/testnet/v2/route?{'&'.join(['a=b'] * 1_001)}")
        assert (answer.status_code, answer.json()["hint"]) == (400, "send each parameter once")
        metrics = httpx.get(f"{service.url}/metrics").text
    assert 'swapcli_http_requests_total{endpoint="/{network}/v2/route",network="testnet",status="400"} 1.0' in metrics


Found = tuple[list[Refused], tuple[Mapping[RefusalReason, float], Iterable[str]]]


def refusals_of_two_connections() -> Found:
    """Limits of heads, bodies and connections, of a service that has two at a time, and one for its metrics."""
    # A long time for clients that do not read: a busy machine may stop for ten seconds.
    with run_testnet_service(max_connections=2, max_metrics_connections=1, timeout_s=120.0) as service:

        def settle() -> None:
            """Let the service see that earlier connections are closed."""
            until(lambda: count_connections(service) == 0)

        assert is_ok(exchange(service.address, ROUTE))
        refused = [read_response(refusal, exchange(service.address, request)) for refusal, request in HOSTILE_REQUESTS]
        for refusal, beginning in EVICTED:
            settle()
            with connected(service.address, beginning, 2) as held:
                assert is_ok(exchange(service.address, LIVE))
                # The one that waits longest, mostly the first: a busy machine may take both at the same moment.
                evicted, _, _ = select.select(held, [], [], 30)
                refused.append(read_response(refusal, receive(evicted[0])))
        settle()
        with connected(service.address, STREAM, 1) as streams:
            assert streams[0].recv(12) == b"HTTP/1.1 200"
            refused.append(read_response(RefusalReason.STREAMS, exchange(service.address, STREAM)))
        settle()
        with busy_connections(service.address, "/docs", 2):
            refused.append(read_response(RefusalReason.CONNECTIONS, exchange(service.address, b"")))
        metrics = httpx.URL(str(service.ready_message["metrics_url"]))
        assert metrics.port is not None
        metrics_address = metrics.host, metrics.port
        with busy_connections(metrics_address, "/metrics", 1):
            refused.append(read_response(RefusalReason.METRICS_CONNECTIONS, exchange(metrics_address, b"")))
        settle()
        return refused, read_report(service)


def refusals_of_slow_clients() -> Found:
    """Limits of the time for a head, a body and reading the response."""
    with run_testnet_service(timeout_s=1.0, max_metrics_connections=8) as service:
        with busy_connections(service.address, "/docs", 1):
            refused = [read_response(RefusalReason.HEAD_TIMEOUT, exchange(service.address, b"GET /livez HTTP/1.1\r\n"))]
            until(lambda: read_counts(service)[RefusalReason.RESPONSE_UNREAD] == 1)
            refused.append(Refused(RefusalReason.RESPONSE_UNREAD))
        refused.append(read_response(RefusalReason.BODY_TIMEOUT, exchange(service.address, HALF_BODY)))
        return refused, read_report(service)


HOSTILE_REQUESTS = (
    (RefusalReason.HEAD_SIZE, build_get_request("/livez", "A: " + "b" * MAX_HEAD_BYTES)),
    (RefusalReason.HEAD_SIZE, build_get_request("/livez", *["A: b"] * (MAX_HEADER_LINES + 1))),
    (RefusalReason.HEAD_SYNTAX, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    (RefusalReason.HEAD_SYNTAX, b"GET /livez HTTP/1.1\r\n\r\n"),
    (RefusalReason.HEAD_SYNTAX, b"GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n"),
    (RefusalReason.BODY_SIZE, HEAD + f"Content-Length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode()),
)
EVICTED = (
    (RefusalReason.IDLE_EVICTED, b""),
    (RefusalReason.HEAD_EVICTED, b"GET /livez HTTP/1.1\r\nHost: x\r\n"),
    (RefusalReason.BODY_EVICTED, HALF_BODY),
)


@contextmanager
def busy_connections(address: tuple[str, int], path: str, count: int) -> Iterator[None]:
    """Connections whose requests the service cannot end, as their clients do not read the responses."""
    with ExitStack() as stack:
        connections = [stack.enter_context(socket.socket()) for _ in range(count)]
        for connection in connections:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.connect(address)
            connection.sendall(build_get_request(path) * 1_000)
        for connection in connections:
            assert connection.recv(1, socket.MSG_PEEK)  # from here on, the service is busy with it
        time.sleep(0.5)
        yield


def refusals_of_a_slow_market() -> Found:
    """Limits of a queue of one order while a market is opened, and of a service that has answered enough."""
    with (
        run_testnet_service(slow_s=8.0, max_queue=1, max_requests=3, max_metrics_connections=8) as service,
        ThreadPoolExecutor(1) as pool,
        connected(service.address, HALF_BODY, 1),  # until its end, the service does not stop
    ):
        waiting = ask_later(pool, service)
        refused = [read_response(RefusalReason.QUEUE, exchange(service.address, ROUTE))]
        refused.append(read_response(RefusalReason.STOPPING, exchange(service.address, ROUTE)))
        refused.append(read_response(RefusalReason.WAIT, waiting.result()))
        report = read_report(service)
    return refused, report


def refusals_of_a_client() -> Found:
    """Limits of one client: its key, its streams and its requests."""
    settings = {"limit_loopback": True, "requests_per_minute": 4, "streams": 1}
    with run_testnet_service(settings=settings) as service, connected(service.address, STREAM, 1) as streams:
        assert streams[0].recv(12) == b"HTTP/1.1 200"
        refused = [
            read_response(refusal, exchange(service.address, request))
            for refusal, request in (
                (RefusalReason.CLIENT_STREAMS, STREAM),
                (RefusalReason.API_KEY, ROUTE.replace(b"Host", b"X-API-Key: unknown\r\nHost")),
                (RefusalReason.API_KEY, ROUTE.replace(b"Host", b"Authorization: Bearer unknown\r\nHost")),
                (RefusalReason.REQUEST_RATE, ROUTE),
                (RefusalReason.REQUEST_RATE, ROUTE),
            )
        ]
        return refused, read_report(service)


def refusals_of_plans() -> Found:
    """Limits of the plans of keys."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "keys.json")
        keys = KeyStore(file, networks=("base", "testnet"), now_s=lambda: 0.0)
        expired = keys.create("a", expires="1970-01-02").key
        elsewhere = keys.create("b", networks="base").key
        used_up = keys.create("c", quota="1/month").key
        settings = {"require_keys": True}
        with run_testnet_service(keys_file=str(file), settings=settings) as service:
            requests = {
                key: ROUTE.replace(b"Host", f"X-API-Key: {key}\r\nHost".encode())
                for key in (expired, elsewhere, used_up)
            }
            requests[""] = ROUTE
            assert is_ok(exchange(service.address, requests[used_up]))
            refused = [
                read_response(refusal, exchange(service.address, requests[key]))
                for refusal, key in (
                    (RefusalReason.KEY_MISSING, ""),
                    (RefusalReason.KEY_EXPIRED, expired),
                    (RefusalReason.KEY_NETWORK, elsewhere),
                    (RefusalReason.QUOTA, used_up),
                )
            ]
            return refused, read_report(service)


def refusals_of_the_worker() -> Found:
    """Refusals that need orders of seconds, or a defect: of the worker alone, and as responses."""
    found = list[RefusalReason]()
    refused = []
    for error in (asyncio.run(order_behind_long_ones()), asyncio.run(order_with_a_stuck_one_inside())):
        reply, refusal = error_response(error), refusal_of(error)
        assert refusal is not None
        found.append(refusal)
        assert reply is not None
        assert isinstance(reply.document, dict)
        headers = "".join(f"{name}: {value}\r\n" for name, value in reply.headers).lower()
        refused.append(Refused(refusal, reply.status, headers, reply.document))
    return refused, (Counter(found), ())


async def order_behind_long_ones() -> Overloaded:
    """Return the error of an order behind two of 1.5 seconds, on a clock that the test sets."""
    now_s, gate = [0.0], threading.Event()
    worker = Worker(max_queue=8, timer_s=lambda: now_s[0])

    def take_long(_: IsCancelled) -> None:
        now_s[0] += 1.5

    def wait(is_cancelled: IsCancelled) -> None:
        gate.wait()
        take_long(is_cancelled)

    await worker.run(take_long, client="one", order_class=LONG)
    running = worker.submit(wait, client="one", order_class=LONG)
    await until_async(lambda: worker.queue_length == 0)
    waiting = worker.submit(take_long, client="one", order_class=LONG)
    with pytest.raises(Overloaded) as caught:
        worker.submit(take_long, client="one", order_class=LONG)
    gate.set()
    await asyncio.gather(running, waiting)
    worker.close()
    return caught.value


async def order_with_a_stuck_one_inside() -> Overloaded:
    """Return the error of a long order that a short one has interrupted, which then hangs."""
    worker, gate, has_begun = Worker(max_queue=8), threading.Event(), threading.Event()

    def take_long(is_cancelled: IsCancelled) -> None:
        while not is_cancelled():
            time.sleep(0.001)

    def hang(_: IsCancelled) -> None:
        has_begun.set()
        gate.wait()

    await worker.run(lambda _: None, client="two", order_class=SHORT)
    long = worker.submit(take_long, client="one", order_class=LONG)
    stuck = worker.submit(hang, client="two", order_class=SHORT)
    await until_async(has_begun.is_set)
    await until_async(lambda: worker.replace_if_stuck(limit_s=0.05))
    with pytest.raises(SearchStuck):
        await stuck
    with pytest.raises(Overloaded) as caught:
        await long
    gate.set()
    worker.close()
    return caught.value


async def until_async(is_so: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if is_so():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it did not happen")


@contextmanager
def connected(address: tuple[str, int], beginning: bytes, count: int) -> Iterator[list[socket.socket]]:
    """Connections on which this much was sent."""
    with ExitStack() as stack:
        connections = [stack.enter_context(socket.create_connection(address, timeout=30)) for _ in range(count)]
        for each in connections:
            each.sendall(beginning)
            time.sleep(0.01)  # the first one waits longer
        yield connections


def exchange(address: tuple[str, int], request: bytes) -> bytes:
    """Return all that comes back, until the service closes the connection."""
    with connected(address, request, 1) as (connection,):
        return receive(connection)


def receive(connection: socket.socket) -> bytes:
    try:
        return receive_all(connection)
    except ConnectionResetError:
        return b""


def ask_later(pool: ThreadPoolExecutor, service: ServiceProcess) -> Future[bytes]:
    """Send an order from another thread, and return what it will get, once it has been sent."""
    answer = pool.submit(exchange, service.address, ROUTE)
    time.sleep(0.3)
    return answer


def count_connections(service: ServiceProcess) -> int:
    """Return how many of the service's open files are TCP connections: sockets in any state but 0A, which listens."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    connections = {f"socket:[{row[9]}]" for row in rows if row[3] != "0A"}
    count = 0
    for file in Path(f"/proc/{service.process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since
            count += os.readlink(file) in connections
    return count


def is_ok(answer: bytes) -> bool:
    return answer.startswith(b"HTTP/1.1 200")


def read_response(refusal: RefusalReason, answer: bytes) -> Refused:
    """Parse a response; a connection that was closed without one has neither status nor document."""
    if not answer:
        return Refused(refusal)
    head, _, body = answer.decode().partition("\r\n\r\n")
    return Refused(refusal, int(head.split()[1]), head.lower(), json.loads(body))


def read_report(service: ServiceProcess) -> tuple[dict[RefusalReason, float], list[str]]:
    """Return what a service has counted, and the reasons in its log."""
    counts = read_counts(service)
    time.sleep(0.1)  # lines are written together
    return counts, [line["reason"] for line in service.log_lines() if line.get("reason") in EXPECTED]


def read_counts(service: ServiceProcess) -> dict[RefusalReason, float]:
    """Return what a service has counted."""
    text = httpx.get(str(service.ready_message.get("metrics_url", f"{service.url}/metrics"))).text
    families = {each.name: each for each in text_string_to_metric_families(text)}
    return {RefusalReason(each.labels["reason"]): each.value for each in families["swapcli_refusals"].samples}
