"""State that services share on a real Redis server: exact limits and V1 routes, and what they do without the server."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.config.settings import ServiceSettings
from swapcli.encoding.redis_url import RedisUrl
from swapcli.errors import UpstreamError
from swapcli.remote.redis_client import open_redis
from swapcli.service.issued_routes import ProcessRouteTimes
from swapcli.service.rate_limits import LimitedClient, RateLimiter, RateLimitState, RequestClass
from swapcli.service.redis_state import RETRY_S, ROUTE_LIFE_S, TIMEOUT_S, RedisState
from tests.support.redis_server import RedisServer, run_redis
from tests.support.service import FakeClock, InProcessService, build_order_query, build_swap_terms, in_process_service
from tests.support.service_process import run_service

NUMBERS = count()


def new_client(limit: int) -> LimitedClient:
    """Return a client that no other test has."""
    return LimitedClient(f"client {next(NUMBERS)}", RequestClass.WORK, limit)


class Services:
    """The shared state of several services, on one event loop; what they report is in `changes`."""

    def __init__(self, redis: RedisServer, services: int) -> None:
        self.clock = FakeClock()
        self.changes: list[UpstreamError | None] = []
        self.states = [RedisState(redis.server, self.clock.clock, self.changes.append) for _ in range(services)]
        self._runner = asyncio.Runner()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(work)

    def take(self, clients: list[LimitedClient]) -> list[RateLimitState | None]:
        """Send one request of each client at once, to the services in turn."""

        async def take_all() -> list[RateLimitState | None]:
            states = (self.states[number % len(self.states)] for number in range(len(clients)))
            return await asyncio.gather(*(state.take(each) for state, each in zip(states, clients, strict=False)))

        found: list[RateLimitState | None] = self.run(take_all())
        return found

    def close(self) -> None:
        for state in self.states:
            self.run(state.close())
        self._runner.close()


@contextmanager
def sharing(redis: RedisServer, services: int = 1) -> Iterator[Services]:
    made = Services(redis, services)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    """A server that the test may stop."""
    with run_redis() as server:
        yield server


def test_a_limit_is_exact_over_services(redis_server: RedisServer) -> None:
    limit, client = 300, new_client(300)
    with sharing(redis_server, services=4) as services:
        started_s = time.monotonic()
        states = services.take([client] * 900)
        refill = limit * (time.monotonic() - started_s) / 60
        good = [each for each in states if each is not None and not each.retry_after_s]
        assert limit <= len(good) <= limit + refill + 1
        assert None not in states
        assert all(each is not None and 1 <= each.retry_after_s <= 60 for each in states if each not in good)
        assert services.changes == []


@given(data=st.data())
def test_a_bucket_is_that_of_one_process(redis_server: RedisServer, data: st.DataObject) -> None:
    """As the server's clock goes on, a bucket may be refilled a little more."""
    clients = [new_client(data.draw(st.integers(1, 8))) for _ in range(3)]
    requests = data.draw(st.lists(st.sampled_from(clients), max_size=30))
    with sharing(redis_server) as services:
        started_s = time.monotonic()
        shared = services.take(requests)
        elapsed_s = time.monotonic() - started_s
        limiter = RateLimiter(ServiceSettings())
        for client, state in zip(requests, shared, strict=True):
            slow, fast = limiter.take(client, 0.0), state
            assert fast is not None
            assert fast.limit == client.limit
            if elapsed_s * client.limit / 60 < 1 / 4:  # else a token may have come back
                assert fast.remaining == slow.remaining
                assert bool(fast.retry_after_s) == bool(slow.retry_after_s)
                assert slow.reset_s - 1 <= fast.reset_s <= slow.reset_s


def test_a_bucket_ends_when_it_is_full(redis_server: RedisServer) -> None:
    client = new_client(60)
    with sharing(redis_server) as services, open_redis(redis_server.server, 1.0) as raw:
        before = set(raw.keys("swapcli:limit:*"))
        services.take([client])
        (key,) = set(raw.keys("swapcli:limit:*")) - before
        assert 60_000 <= raw.pttl(key) <= 61_000
        assert client.name.encode() not in key


def test_without_the_server_the_process_decides(own_redis: RedisServer) -> None:
    client = new_client(5)
    with sharing(own_redis) as services:
        (state,) = services.states
        own_redis.kill()
        assert services.take([client] * 3) == [None] * 3
        own_redis.start()
        assert services.take([client]) == [None], "no attempt before the pause has ended"
        services.clock.advance(RETRY_S)
        (known,) = services.take([client])
        assert known is not None
        assert known.remaining == 4
        failed, recovered = services.changes
        assert failed is not None
        assert "hunter2" not in f"{failed} {failed.hint} {failed.details}"
        assert recovered is None
        assert state.figures == (True, 1, 4, 0)


def test_a_server_that_hangs_delays_requests_once(own_redis: RedisServer) -> None:
    client = new_client(5)
    with sharing(own_redis) as services:
        services.take([client])
        own_redis.pause()
        started_s = time.monotonic()
        assert services.take([client] * 3) == [None] * 3
        waited_s = time.monotonic() - started_s
        assert TIMEOUT_S <= waited_s < 3 * TIMEOUT_S
        started_s = time.monotonic()
        assert services.take([client] * 100) == [None] * 100
        assert time.monotonic() - started_s < TIMEOUT_S
        own_redis.resume()


def test_a_closed_idle_connection_is_no_failure(own_redis: RedisServer) -> None:
    client = new_client(9)
    with sharing(own_redis) as services, open_redis(own_redis.server, 1.0) as raw:
        (state,) = services.states
        times = state.route_times(ProcessRouteTimes(), ROUTE_LIFE_S)
        services.take([client])
        times.set(b"route", 5)
        raw.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        (known,) = services.take([client])
        assert known is not None
        assert known.remaining == 7
        assert times.get(b"route") == 5
        assert state.figures == (True, 0, 0, 0)


def test_foreign_content_of_a_bucket_is_a_failure(redis_server: RedisServer) -> None:
    client = new_client(9)
    with sharing(redis_server) as services, open_redis(redis_server.server, 1.0) as raw:
        before = set(raw.keys("swapcli:limit:*"))
        services.take([client])
        (key,) = set(raw.keys("swapcli:limit:*")) - before
        for content in (b"", b"x y", b"1"):
            raw.set(key, content)
            assert services.take([client]) == [None]
            services.clock.advance(RETRY_S)
        raw.delete(key)
        assert services.take([client]) != [None]


@pytest.mark.parametrize("reply", [b"+OK\r\n", b"*1\r\n$2\r\nOK\r\n", b"*0\r\n", b"nonsense\r\n", b""])
def test_a_server_of_another_kind_is_a_failure(reply: bytes) -> None:
    def answer(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    while connection.recv(65_536) and reply:
                        connection.sendall(reply)

    clock = FakeClock()
    changes: list[UpstreamError | None] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = RedisUrl("127.0.0.1", listener.getsockname()[1])
        threads = [Thread(target=answer, args=(listener,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        with asyncio.Runner() as runner:
            state = RedisState(server, clock.clock, changes.append)
            assert runner.run(state.take(new_client(5))) is None
            clock.advance(RETRY_S)
            assert state.find_route_time(b"route") is None
            runner.run(state.close())
        listener.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
    assert len(changes) >= 1
    assert changes[0] is not None


def test_route_times_are_shared_and_outlive_the_server(own_redis: RedisServer) -> None:
    with sharing(own_redis, services=2) as services, open_redis(own_redis.server, 1.0) as raw:
        first, second = (state.route_times(ProcessRouteTimes(), ROUTE_LIFE_S) for state in services.states)
        first.set(b"a", 1_000)
        assert second.get(b"a") == 1_000
        assert second.get(b"b") is None
        assert 0 < raw.ttl(*raw.keys("swapcli:route:*")) <= ROUTE_LIFE_S
        second.set(b"a", 2_000)
        own_redis.kill()
        assert (first.get(b"a"), second.get(b"a")) == (1_000, 2_000)
        assert [state.figures.route_fallbacks for state in services.states] == [1, 1]


@contextmanager
def service_of(redis: RedisServer, *networks: str, **options: Any) -> Iterator[InProcessService]:
    """Run a service that uses the server for its state."""
    state = RedisState(redis.server, FakeClock().clock, lambda _: None)
    with in_process_service(*networks, state=state, **options) as service:
        try:
            yield service
        finally:
            service.run(state.close())


def test_services_share_rate_limits(redis_server: RedisServer) -> None:
    options: dict[str, Any] = {"settings": ServiceSettings(requests_per_minute=3), "client": "203.0.113.77"}
    with service_of(redis_server, **options) as first, service_of(redis_server, **options) as second:
        assert [each.get("/supported-chains").status_code for each in (first, second, second)] == [200] * 3
        rejected = first.get("/supported-chains")
        assert rejected.status_code == 429
        assert rejected.headers["RateLimit-Remaining"] == "0"
        assert 1 <= int(rejected.headers["Retry-After"]) <= 20
        assert "swapcli_state_connected 1.0" in first.get("/metrics").text


def test_services_share_the_times_of_v1_routes(redis_server: RedisServer) -> None:
    with service_of(redis_server, "base") as first, service_of(redis_server, "base") as second:
        route = first.get_json("/base/route", build_order_query("base"))
        second.fake_clock.advance(61)
        refused = second.post("/base/execute", {"route": route, **build_swap_terms("base")})
        assert refused.status_code == 400
        assert "seconds old" in refused.text


def test_workers_go_on_without_the_server(own_redis: RedisServer) -> None:
    env = {"SWAPCLI_SERVICE_STATE_URL": own_redis.url, "SWAPCLI_SERVICE_LIMIT_LOOPBACK": "true"}
    with run_service("--workers", "2", "--networks", "base", env=env) as service:
        request = b"GET /base/protocols HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        assert b"ratelimit-remaining: 199" in service.send(request)
        own_redis.kill()
        assert all(b" 200 OK" in service.send(request) for _ in range(6))
        metrics = service.send(request.replace(b"/base/protocols", b"/metrics")).decode()
        fallbacks = metrics.partition('swapcli_state_fallbacks_total{use="limits"} ')[2].partition("\r\n")[0]
        assert float(fallbacks.split()[0]) >= 1
        assert service.stop() == 0
    problems = [line for line in service.stderr.splitlines() if '"state":"failing"' in line]
    assert 1 <= len(problems) <= 2
    assert "hunter2" not in service.stderr
