"""Plans of keys over two workers: limits, quotas and streams, kills, and a key file that is damaged under load."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from swapcli.faces.service.keys import KeyStore
from tests.support.redis_server import RedisServer
from tests.support.service import build_order_query
from tests.support.service_process import ServiceProcess, build_get_request, child_ids, run_service
from tests.support.waiting import until

QUERY = "&".join(f"{key}={value}" for key, value in build_order_query("base").items())
EVENTS = f"/base/v2/route/events?{QUERY}"
OPTIONS = ("--networks", "base", "--offline")


def status(service: ServiceProcess, key: str, path: str = "/base/protocols") -> int:
    """Send one request on a connection of its own, so that any worker may get it."""
    answer = service.send(build_get_request(path, f"X-API-Key: {key}", close=True))
    return int(answer.split(b" ", 2)[1])


def statuses(service: ServiceProcess, key: str, count: int) -> list[int]:
    with ThreadPoolExecutor(6) as pool:
        return list(pool.map(lambda _: status(service, key), range(count)))


@contextmanager
def streams(service: ServiceProcess, key: str, count: int) -> Iterator[list[int]]:
    """Open streams, and provide their statuses."""
    connections = [service.connect() for _ in range(count)]
    try:
        found = []
        for connection in connections:
            connection.sendall(build_get_request(EVENTS, f"X-API-Key: {key}"))
            found.append(int(connection.recv(12).split(b" ")[1]))
        yield found
    finally:
        for connection in connections:
            connection.close()


@pytest.fixture
def keys(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path / "keys.json", networks=("base",))


def warnings(service: ServiceProcess) -> list[str]:
    answer = service.send(build_get_request("/readyz", close=True))
    found: list[str] = json.loads(answer.partition(b"\r\n\r\n")[2]).get("warnings", [])
    return found


@pytest.mark.slow
def test_two_workers_apply_one_plan_and_keep_the_last_good_key_file(keys: KeyStore) -> None:
    limited = keys.create("a", limit="40/hour").key
    counted = keys.create("b", quota="40/month").key
    streaming = keys.create("c", streams=5).key
    with run_service("--workers", "2", *OPTIONS, "--keys-file", str(keys.path)) as service:
        for key in (limited, counted):
            assert sorted(statuses(service, key, 60)) == [200] * 40 + [429] * 20
        with streams(service, streaming, 8) as found:
            assert sorted(found) == [200] * 5 + [429] * 3
        until(lambda: status_of_stream(service, streaming) == 200)
        # What the last second has counted is lost with the workers that are killed below.
        until(lambda: all(usage_by_name(keys).get(name) == (60, 20) for name in ("a", "b")))

        late = keys.create("d").key
        assert status(service, late) == 200
        good = keys.path.read_bytes()
        keys.path.write_bytes(good + b"x")
        started_s = time.monotonic()
        until(lambda: '"key_file":"damaged"' in service.read_log())
        assert time.monotonic() - started_s < 2
        assert warnings(service) == ["KEY_FILE_DAMAGED"]
        for worker in child_ids(service.process.pid)[:2]:
            os.kill(worker, signal.SIGKILL)
        until(lambda: b'"live":2,"replaced":2' in service.send(build_get_request("/readyz", close=True)))
        assert statuses(service, late, 20) == [200] * 20, "new workers find the last good version"
        assert re.search(r"swapcli_key_file_valid 0", service.send(build_get_request("/metrics", close=True)).decode())
        keys.path.write_bytes(good)
        until(lambda: '"key_file":"valid"' in service.read_log())
        assert service.stop() == 0
    assert service.stderr.count('"key_file":"damaged"') == 1
    assert re.search(r'"level":"warning","key_file":"damaged"', service.stderr)
    used = usage_by_name(keys)
    assert used["a"] == used["b"] == (60, 20)


def usage_by_name(keys: KeyStore) -> dict[str | None, tuple[int, int]]:
    """Return the requests and rejections of each key today."""
    return {each.name: (each.requests, each.rejections) for each in keys.usage().days}


def status_of_stream(service: ServiceProcess, key: str) -> int:
    with streams(service, key, 1) as [found]:
        return found


@pytest.mark.slow
def test_the_streams_of_a_killed_worker_are_free(keys: KeyStore) -> None:
    key = keys.create("c", streams=6).key
    with run_service("--workers", "2", *OPTIONS, "--keys-file", str(keys.path)) as service:
        for _ in range(3):
            with streams(service, key, 6) as found:
                assert found == [200] * 6
                assert status_of_stream(service, key) == 429
                for worker in child_ids(service.process.pid)[:2]:
                    os.kill(worker, signal.SIGKILL)
                until(lambda: status_of_stream(service, key) == 200)
            until(lambda: b'"live":2' in service.send(build_get_request("/readyz", close=True)))


@pytest.mark.slow
def test_two_services_of_two_workers_apply_one_plan_on_redis(keys: KeyStore, redis_server: RedisServer) -> None:
    limited = keys.create("a", limit="40/hour").key
    counted = keys.create("b", quota="40/month").key
    streaming = keys.create("c", streams=5).key
    options = ("--workers", "2", *OPTIONS, "--keys-file", str(keys.path))
    env = {"SWAPCLI_SERVICE_STATE_URL": redis_server.url}
    shared = KeyStore(keys.path, state_url=redis_server.url)
    with run_service(*options, env=env) as first, run_service(*options, env=env) as second:
        for key in (limited, counted):
            with ThreadPoolExecutor(2) as pool:
                found = list(pool.map(lambda service: statuses(service, key, 60), (first, second)))  # noqa: B023
            assert sorted(found[0] + found[1]) == [200] * 40 + [429] * 80
        with streams(first, streaming, 3) as found_by_first, streams(second, streaming, 4) as found_by_second:
            assert (found_by_first, sorted(found_by_second)) == ([200] * 3, [200, 200, 429, 429])
            until(lambda: all(usage_by_name(shared)[name] == (120, 80) for name in ("a", "b")))
            os.kill(first.process.pid, signal.SIGKILL)
            for worker in child_ids(first.process.pid):
                os.kill(worker, signal.SIGKILL)
            until(lambda: status_of_stream(second, streaming) == 200)
        assert second.stop() == 0
    assert usage_by_name(shared)["a"] == (120, 80)


@pytest.mark.slow
def test_a_damaged_key_file_rejects_nobody_under_load(keys: KeyStore) -> None:
    made = [keys.create(str(number)).key for number in range(50)]
    good = keys.path.read_bytes()
    damages = (good + b"x", good[:-1], good[: len(good) // 2], b"")
    with run_service("--workers", "2", *OPTIONS, "--keys-file", str(keys.path)) as service:
        with ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(status, service, made[number % 50]) for number in range(3_000)]
            for damage in damages * 3:
                keys.path.write_bytes(damage)
                time.sleep(0.3)
                if damage is damages[-1]:
                    keys.path.unlink()
                    time.sleep(0.3)
                keys.path.write_bytes(good)
                time.sleep(0.1)
            assert [each.result() for each in answers] == [200] * 3_000
        assert service.stop() == 0
