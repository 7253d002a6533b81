"""State that services share on a real Redis server: exact limits and V1 routes, and what they do without the server."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.core.errors import UpstreamError, UpstreamTimeout
from swapcli.faces.service import redis_state
from swapcli.faces.service.issued_routes import ProcessRouteTimes
from swapcli.faces.service.key_plans import DAY_S, QuotaUse, quota_period
from swapcli.faces.service.keys import KeyStore
from swapcli.faces.service.rate_limits import LimitedClient, RateLimiter, RateLimitState, RequestClass
from swapcli.faces.service.redis_state import ROUTE_LIFE_S, TIMEOUT_S, RedisState, StreamLease
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.state.feed.redis_client import open_redis
from tests.support.redis_server import RedisServer, run_redis
from tests.support.service import InProcessService, build_order_query, build_swap_terms, in_process_service
from tests.support.service_process import run_service

T = TypeVar("T")

NUMBERS = count()
PAUSE_S = 0.02
PATIENT_S = 10.0
"""The timeout in tests whose server always answers, also on a machine that stands still for seconds."""


def new_client(limit: int) -> LimitedClient:
    """Return a client that no other test has."""
    return LimitedClient(f"client {next(NUMBERS)}", RequestClass.WORK, limit)


class Services:
    """The shared state of several services, on one event loop; what they report is in `changes`."""

    def __init__(self, redis: RedisServer, services: int, timeout_s: float) -> None:
        self.changes: list[UpstreamError | None] = []
        self.states = [
            RedisState(redis.server, self.changes.append, retry_s=PAUSE_S, timeout_s=timeout_s) for _ in range(services)
        ]
        self._runner = asyncio.Runner()
        for state in self.states:
            self.run(state.connect())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(work)

    def run_on_thread(self, function: Callable[..., T], *args: object) -> T:
        """Return the result of a function that runs beside the event loop."""
        result: T = self.run(asyncio.to_thread(function, *args))
        return result

    def take(self, clients: list[LimitedClient]) -> list[RateLimitState | None]:
        """Send one request of each client at once, to the services in turn."""

        async def take_all() -> list[RateLimitState | None]:
            states = (self.states[number % len(self.states)] for number in range(len(clients)))
            return await asyncio.gather(*(state.take(each) for state, each in zip(states, clients, strict=False)))

        found: list[RateLimitState | None] = self.run(take_all())
        return found

    def wait(self, *, is_connected: bool) -> None:
        """Wait until the states have noticed that the server answers, or that it does not."""

        async def wait() -> None:
            async with asyncio.timeout(10.0):
                while any(state.figures.is_connected != is_connected for state in self.states):
                    await asyncio.sleep(PAUSE_S / 4)

        self.run(wait())

    def close(self) -> None:
        for state in self.states:
            self.run(state.close())
        self._runner.close()


@contextmanager
def sharing(redis: RedisServer, services: int = 1, timeout_s: float = PATIENT_S) -> Iterator[Services]:
    made = Services(redis, services, timeout_s)
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
    with sharing(own_redis, timeout_s=TIMEOUT_S) as services:
        (state,) = services.states
        own_redis.kill()
        assert services.take([client] * 3) == [None] * 3
        own_redis.start()
        assert services.take([client]) == [None], "a request does not wait for an attempt"
        services.wait(is_connected=True)
        (known,) = services.take([client])
        assert known is not None
        assert known.remaining == 4
        failed, recovered = services.changes
        assert failed is not None
        assert "hunter2" not in f"{failed} {failed.hint} {failed.details}"
        assert recovered is None
        assert state.figures._replace(failures=0) == (True, 0, 4, 0)


def test_the_server_is_watched_without_any_request(own_redis: RedisServer) -> None:
    with sharing(own_redis, services=2, timeout_s=TIMEOUT_S) as services:
        for _ in range(3):
            own_redis.kill()
            services.wait(is_connected=False)
            own_redis.start()
            services.wait(is_connected=True)
        assert [change is None for change in services.changes].count(True) == 6
        assert {state.figures._replace(failures=0) for state in services.states} == {(True, 0, 0, 0)}


def test_no_request_waits_while_the_server_comes_and_goes(own_redis: RedisServer) -> None:
    """Only those that wait when it fails do, for the time of one answer; all get a state or know that there is none."""
    times_s: list[float] = []

    async def request(state: RedisState, seconds: float) -> None:
        end_s, client = time.monotonic() + seconds, new_client(10**6)
        while (started_s := time.monotonic()) < end_s:
            await state.take(client)
            times_s.append(time.monotonic() - started_s)
            await asyncio.sleep(0)

    def disturb() -> None:
        for act in (
            own_redis.kill,
            own_redis.start,
            own_redis.pause,
            own_redis.resume,
            own_redis.kill,
            own_redis.start,
        ):
            time.sleep(4 * PAUSE_S)
            act()

    with sharing(own_redis, services=2, timeout_s=TIMEOUT_S) as services:
        disturber = Thread(target=disturb)
        disturber.start()

        async def request_all() -> None:
            await asyncio.gather(*(request(state, 32 * PAUSE_S) for state in services.states))

        services.run(request_all())
        disturber.join()
        services.wait(is_connected=True)
        assert max(times_s) < TIMEOUT_S + 0.25
        assert all(state.figures.limit_fallbacks for state in services.states)
        assert None not in services.take([new_client(5)] * 2)


def test_a_server_that_hangs_delays_requests_once(own_redis: RedisServer) -> None:
    client = new_client(5)
    with sharing(own_redis, timeout_s=TIMEOUT_S) as services:
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
    with sharing(own_redis, timeout_s=TIMEOUT_S) as services, open_redis(own_redis.server, 1.0) as raw:
        (state,) = services.states
        times = state.route_times(ProcessRouteTimes(), ROUTE_LIFE_S)
        services.take([client])
        services.run_on_thread(times.set, b"route", 5)
        raw.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        (known,) = services.take([client])
        assert known is not None
        assert known.remaining == 7
        assert services.run_on_thread(times.get, b"route") == 5
        assert state.figures == (True, 0, 0, 0)


def test_foreign_content_of_a_key_counts_as_absent(redis_server: RedisServer) -> None:
    client = new_client(9)
    with sharing(redis_server) as services, open_redis(redis_server.server, 1.0) as raw:
        (state,) = services.states
        before = set(raw.keys("swapcli:limit:*"))
        services.take([client])
        (key,) = set(raw.keys("swapcli:limit:*")) - before
        for content in (
            b"",
            b"x y",
            b"1",
            b"nan 1",
            b"inf 1",
            b"-1e99 1",
            b"1 -nan",
            b"5 1e99",
            b"0x9 1",
            b"\xff \x00",
        ):
            raw.set(key, content)
            (known,) = services.take([client])
            assert known is not None
            assert 0 <= known.remaining < client.limit
        times = state.route_times(ProcessRouteTimes(), ROUTE_LIFE_S)
        services.run_on_thread(times.set, b"foreign", 5)
        (route_key,) = raw.keys(f"swapcli:route:{b'foreign'.hex()}")
        for foreign in (key, route_key):
            raw.delete(foreign)
            raw.lpush(foreign, "a list")
        (known,) = services.take([client])
        assert known is not None
        assert known.remaining == 8
        assert services.run_on_thread(state.find_route_time, b"foreign") is None
        services.run_on_thread(times.set, b"foreign", 6)
        assert services.run_on_thread(state.find_route_time, b"foreign") == 6
        assert state.figures == (True, 0, 0, 0)


@pytest.mark.parametrize("reply", [b"+OK\r\n", b"*1\r\n$2\r\nOK\r\n", b"*0\r\n", b"nonsense\r\n", b""])
def test_a_server_of_another_kind_is_a_failure(reply: bytes) -> None:
    def answer(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    while connection.recv(65_536) and reply:
                        connection.sendall(reply)

    changes: list[UpstreamError | None] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = RedisUrl("127.0.0.1", listener.getsockname()[1])
        threads = [Thread(target=answer, args=(listener,), daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        with asyncio.Runner() as runner:
            state = RedisState(server, changes.append)
            assert runner.run(state.take(new_client(5))) is None
            runner.run(state.connect())
            assert runner.run(asyncio.to_thread(state.find_route_time, b"route")) is None
            runner.run(state.close())
        listener.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
    assert len(changes) >= 1
    assert changes[0] is not None


# --- plans of keys


def test_a_quota_is_exact_over_services(redis_server: RedisServer) -> None:
    today = int(time.time() // DAY_S)
    quota = QuotaUse(f"{next(NUMBERS):08x}", quota_period("day", today), 40)
    client = new_client(10**6)._replace(quota=quota)
    with sharing(redis_server, services=3) as services, open_redis(redis_server.server, 1.0) as raw:
        states = [each for each in services.take([client] * 100) if each is not None]
        assert (len(states), sum(each.charged is not None for each in states)) == (100, 40)
        assert all(each.retry_after_s == 0 for each in states)
        services.run(give_back(services.states[0], quota, 3))
        assert sum(each is not None and each.charged is not None for each in services.take([client] * 10)) == 3
        (key,) = raw.keys(f"swapcli:quota:{quota.key_id}:*")
        assert raw.expiretime(key) == quota.ends_s + DAY_S
        for content in (b"", b"x", b"-5", b"1e9", b"nan"):
            raw.set(key, content)
            (known,) = services.take([client])
            assert known is not None
            assert known.charged == quota
        assert services.changes == []


async def give_back(state: RedisState, quota: QuotaUse, count: int) -> None:
    for _ in range(count):
        state.give_back(quota)
    await asyncio.gather(*state._tasks)


def test_a_request_beyond_the_limit_does_not_count_in_the_quota(redis_server: RedisServer) -> None:
    quota = QuotaUse(f"{next(NUMBERS):08x}", quota_period("day", int(time.time() // DAY_S)), 5)
    client = LimitedClient(f"client {next(NUMBERS)}", RequestClass.WORK, 2, 3_600, quota)
    with sharing(redis_server) as services:
        states = services.take([client] * 5)
        assert [each and each.quota_used for each in states] == [1, 2, 0, 0, 0]
        assert [each and each.retry_after_s for each in states] == [0, 0, 1_800, 1_800, 1_800]


def test_streams_are_exact_over_services_and_those_of_a_killed_one_are_free(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_state, "STREAM_LEASE_S", 1.0)
    client = f"client {next(NUMBERS)}"
    with sharing(redis_server, services=2) as services, open_redis(redis_server.server, 1.0) as raw:
        first, second = services.states

        async def open_streams(state: RedisState, count: int) -> int:
            leases = await asyncio.gather(*(state.open_stream(client, 7) for _ in range(count)))
            return sum(lease is not None and not lease.is_refused for lease in leases)

        assert services.run(open_streams(first, 5)) == 5
        assert services.run(open_streams(second, 5)) == 2
        services.run(asyncio.sleep(1.5))
        assert services.run(open_streams(second, 1)) == 0, "leases are renewed"
        services.run(first.close())
        opened, deadline_s = 0, time.monotonic() + 30
        while opened < 5 and time.monotonic() < deadline_s:
            services.run(asyncio.sleep(5 * PAUSE_S))
            opened += services.run(open_streams(second, 9))
        assert opened == 5

        async def close_streams(leases: list[StreamLease]) -> None:
            for lease in leases:
                second.close_stream(lease)
            await asyncio.gather(*second._tasks)

        services.run(close_streams([*second._leases][:3]))
        assert services.run(open_streams(second, 9)) == 3
        (key,) = [each for each in raw.keys("swapcli:streams:*") if raw.zcard(each) == 7]
        raw.delete(key)
        raw.set(key, "foreign")
        services.run(asyncio.sleep(5 * PAUSE_S))
        assert raw.zcard(key) == 7
        assert services.changes == []


def test_services_share_the_plan_of_a_key(redis_server: RedisServer, tmp_path: Path) -> None:
    keys = KeyStore(tmp_path / "keys.json")
    headers = {"X-API-Key": keys.create("a", quota="3/day").key}
    with service_of(redis_server, keys=keys) as first, service_of(redis_server, keys=keys) as second:
        for each in (first, second):
            each.fake_clock.now_s = time.time()
        asked = (first, second, first, second, first)
        statuses = [each.get("/supported-chains", headers=headers).status_code for each in asked]
        assert statuses == [200, 200, 200, 429, 429]


def test_route_times_are_shared_and_outlive_the_server(own_redis: RedisServer) -> None:
    with sharing(own_redis, services=2, timeout_s=TIMEOUT_S) as services, open_redis(own_redis.server, 1.0) as raw:
        first, second = (state.route_times(ProcessRouteTimes(), ROUTE_LIFE_S) for state in services.states)
        services.run_on_thread(first.set, b"a", 1_000)
        assert services.run_on_thread(second.get, b"a") == 1_000
        assert services.run_on_thread(second.get, b"b") is None
        assert 0 < raw.ttl(*raw.keys("swapcli:route:*")) <= ROUTE_LIFE_S
        services.run_on_thread(second.set, b"a", 2_000)
        own_redis.kill()
        assert [services.run_on_thread(each.get, b"a") for each in (first, second)] == [1_000, 2_000]
        assert [state.figures.route_fallbacks for state in services.states] == [1, 1]


class _LoopWithoutNames(asyncio.SelectorEventLoop):
    """An event loop whose name server does not answer."""

    async def getaddrinfo(self, *_: Any, **__: Any) -> NoReturn:
        await asyncio.sleep(60)
        raise AssertionError


def test_a_name_server_that_hangs_delays_requests_once() -> None:
    changes: list[UpstreamError | None] = []
    with asyncio.Runner(loop_factory=_LoopWithoutNames) as runner:
        state = RedisState(RedisUrl("redis.example", 6379), changes.append, retry_s=60)
        started_s = time.monotonic()
        runner.run(state.connect())
        times = state.route_times(ProcessRouteTimes(), ROUTE_LIFE_S)
        runner.run(asyncio.to_thread(times.set, b"route", 5))
        assert runner.run(asyncio.to_thread(times.get, b"route")) == 5
        assert TIMEOUT_S <= time.monotonic() - started_s < 3 * TIMEOUT_S
        runner.run(state.close())
    assert [type(each) for each in changes] == [UpstreamTimeout]


@contextmanager
def service_of(redis: RedisServer, *networks: str, **options: Any) -> Iterator[InProcessService]:
    """Run a service that uses the server for its state."""
    state = RedisState(redis.server, lambda _: None)
    with in_process_service(*networks, state=state, **options) as service:
        service.run(state.connect())
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


def test_a_used_up_limit_outlives_the_server(own_redis: RedisServer) -> None:
    options: dict[str, Any] = {"settings": ServiceSettings(requests_per_minute=3), "client": "203.0.113.78"}
    with service_of(own_redis, **options) as service:
        assert [service.get("/supported-chains").status_code for _ in range(3)] == [200] * 3
        own_redis.kill()
        assert service.get("/supported-chains").status_code == 429
        # The request for the metrics is one, too.
        assert 'swapcli_state_fallbacks_total{use="limits"} 2.0' in service.get("/metrics").text


def test_services_share_the_times_of_v1_routes(redis_server: RedisServer) -> None:
    with service_of(redis_server, "base") as first, service_of(redis_server, "base") as second:
        route = first.get_json("/base/route", build_order_query("base"))
        second.fake_clock.advance(61)
        refused = second.post("/base/execute", {"route": route, **build_swap_terms("base")})
        assert refused.status_code == 400
        assert "seconds old" in refused.text


@pytest.mark.slow
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
    problems = [line for line in service.stderr.splitlines() if '"shared_state":"failing"' in line]
    assert 1 <= len(problems) <= 2
    assert "hunter2" not in service.stderr
