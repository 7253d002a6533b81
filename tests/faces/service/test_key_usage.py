"""Usage of API keys: counted by day and key, stored about every second, and never written on the way of a request."""

from __future__ import annotations

import asyncio
import io
import signal
import sqlite3
import stat
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from swapcli.core.errors import ConfigError, InvalidOption
from swapcli.faces.service import key_usage
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.key_plans import DAY_S, QuotaUse, quota_period
from swapcli.faces.service.key_usage import (
    KEPT_DAYS,
    UsageCounter,
    UsageCounts,
    UsageFile,
    UsageStorage,
    UsageWriter,
)
from swapcli.faces.service.keys import KeyStore
from swapcli.faces.service.redis_state import RedisState
from swapcli.faces.service.refusal_reasons import RefusalReason
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.command import run_swapcli
from tests.support.redis_server import RedisServer
from tests.support.service_process import build_get_request, run_service

TODAY = int(time.time() // DAY_S)
NOW_S = TODAY * DAY_S + 3_600.0


def store(writer: UsageWriter, storage: UsageStorage | None) -> None:
    asyncio.run(writer.store(storage))


@pytest.fixture
def keys(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path / "keys.json", now_s=lambda: NOW_S)


def test_requests_are_added_up_by_day_and_key(keys: KeyStore) -> None:
    first, second = (keys.create(name).record for name in ("a", "b"))
    counter, file = UsageCounter(), UsageFile(keys.path)
    writers = [UsageWriter(counter, None, SYSTEM_CLOCK) for _ in range(2)]
    counter.record(first.id, None, 0.25, NOW_S - DAY_S)
    counter.record(first.id, RefusalReason.QUEUE, 0.5, NOW_S)
    store(writers[0], file)
    counter.record(first.id, None, 0.125, NOW_S + 1.5)
    counter.record(second.id, None, 0.0, NOW_S)
    store(writers[1], file)
    store(writers[1], file)
    rows = [(each.day.toordinal(), each.name, each.requests, each.rejections, each.cpu_s) for each in keys.usage().days]
    day = rows[-1][0]
    assert sorted(rows) == [(day - 1, "a", 1, 0, 0.25), (day, "a", 2, 1, 0.625), (day, "b", 1, 0, 0.0)]
    assert [each.name for each in keys.usage("b").days] == ["b"]
    assert len(keys.usage(first.id, since=keys.usage().days[-1].day.isoformat()).days) == 1
    assert keys.list().last_used_s == {first.id: int(NOW_S + 1.5), second.id: int(NOW_S)}
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    for wrong, error in ((("c", None), "no key"), ((None, "2027-1-1"), "since: expected a date")):
        with pytest.raises(InvalidOption, match=error):
            keys.usage(wrong[0], since=wrong[1])


def test_an_empty_list_names_its_first_day(keys: KeyStore) -> None:
    keys.create("a")
    command = ("keys", "usage", "--keys-file", str(keys.path))
    assert "no requests with a key since 2026-12-01" in run_swapcli(*command, "--since", "2026-12-01").stderr
    first = [datetime.now(UTC).date() - timedelta(days=30)]
    shown = run_swapcli(*command).stderr
    first.append(datetime.now(UTC).date() - timedelta(days=30))
    assert any(f"no requests with a key since {each}\n" in shown for each in first)


def test_a_quota_goes_on_after_a_restart(keys: KeyStore) -> None:
    file = UsageFile(keys.path)
    month = quota_period("month", TODAY)
    file.add({(TODAY, "k"): UsageCounts(charged=5), (month.first_day - 1, "k"): UsageCounts(charged=7)})
    file.add({(TODAY, "k"): UsageCounts(charged=-1), (TODAY, "other"): UsageCounts(charged=9)})
    assert file.used(QuotaUse("k", month, 10)) == 4
    assert file.used(QuotaUse("k", quota_period("day", month.first_day - 1), 10)) == 7


def test_old_days_are_removed(keys: KeyStore) -> None:
    file = UsageFile(keys.path)
    file.add({(TODAY - KEPT_DAYS - 1, "a"): UsageCounts(1), (TODAY - KEPT_DAYS, "a"): UsageCounts(1)})
    file.add({(TODAY, "a"): UsageCounts(1)})
    assert {day for day, _ in file.read(0)} == {TODAY - KEPT_DAYS, TODAY}


def test_what_cannot_be_stored_waits_and_is_logged_once(keys: KeyStore) -> None:
    key, counter, stream = keys.create("a").record, UsageCounter(), io.StringIO()
    writer, file = UsageWriter(counter, AccessLog(stream), SYSTEM_CLOCK), UsageFile(keys.path)
    file.path.write_bytes(b"not a database, but long enough to be read as one" * 10)
    for _ in range(3):
        counter.record(key.id, None, 0.0, NOW_S)
        store(writer, file)
    with pytest.raises(ConfigError, match="cannot be read"):
        keys.usage()
    assert "cannot be read" in (keys.list().problem or "")
    file.path.unlink()
    store(writer, file)
    store(writer, file)
    assert [each.requests for each in keys.usage().days] == [3]
    lines = stream.getvalue().splitlines()
    assert ['"failing"' in lines[0], '"recovered"' in lines[1], len(lines)] == [True, True, 2]


def test_a_write_that_goes_on_when_the_service_stops_counts_once(
    keys: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_usage, "STORE_S", 0.01)
    counter, file = UsageCounter(), UsageFile(keys.path)
    file.add({(TODAY, "a"): UsageCounts(1)})
    writer = UsageWriter(counter, None, SYSTEM_CLOCK)

    async def stop_during_a_write() -> None:
        other = sqlite3.connect(file.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        counter.record("a", None, 0.0, NOW_S)
        writing = asyncio.create_task(writer.run(lambda: file))
        await asyncio.sleep(0.3)
        writing.cancel()
        for _ in range(2):
            counter.record("a", None, 0.0, NOW_S)
        asyncio.get_running_loop().call_later(0.1, other.close)
        await writer.store(file)

    asyncio.run(stop_during_a_write())
    assert file.read(TODAY)[TODAY, "a"].requests == 4


def test_two_processes_that_write_at_once_lose_nothing(keys: KeyStore) -> None:
    file = UsageFile(keys.path)

    async def write_once() -> None:
        while await file.add_usage("", {(TODAY, "a"): UsageCounts(1)}) is not None:
            pass  # it waited too long for the others

    async def write() -> None:
        await asyncio.gather(*(write_once() for _ in range(40)))

    asyncio.run(write())
    assert file.read(TODAY) == {(TODAY, "a"): UsageCounts(40)}


def test_a_batch_that_redis_got_twice_counts_once(redis_server: RedisServer, tmp_path: Path) -> None:
    keys = KeyStore(tmp_path / "keys.json", state_url=redis_server.url, now_s=lambda: NOW_S)
    key = keys.create("a").record
    many = {(TODAY, f"{number:08x}"): UsageCounts(1) for number in range(600)}

    async def add() -> None:
        state = RedisState(redis_server.server, lambda _: None)
        for _ in range(2):
            assert (
                await state.add_usage("batch", {(TODAY, key.id): UsageCounts(3, 1, 0, 1_500_000, int(NOW_S))}) is None
            )
            assert await state.add_usage("many", many) is None
            assert await state.add_usage("running", {(TODAY, key.id): UsageCounts(charged=1)}) is None
        await state.close()

    asyncio.run(add())
    (used,) = keys.usage("a").days
    assert (used.requests, used.rejections, used.cpu_s) == (3, 1, 1.5)
    assert keys.list().last_used_s[key.id] == int(NOW_S)
    assert sum(each.requests for each in keys.usage().days) == 603


def test_the_usage_of_a_server_that_is_away_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    env = {"SWAPCLI_SERVICE_STATE_URL": "redis://127.0.0.1:1"}
    assert run_swapcli("keys", "create", "a", "--keys-file", str(file), env=env).exit_code == 0
    listed = run_swapcli("keys", "list", "--keys-file", str(file), env=env)
    assert listed.exit_code == 0
    assert "cannot reach" in listed.stderr
    assert run_swapcli("keys", "usage", "--keys-file", str(file), env=env).exit_code == 5


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_service_stores_usage_and_a_kill_loses_a_second(tmp_path: Path, workers: str) -> None:
    file = tmp_path / "keys.json"
    key = run_swapcli("keys", "create", "a", "--quota", "30/day", "--keys-file", str(file)).stdout.strip()
    request = build_get_request("/base/protocols", f"X-API-Key: {key}", close=True)
    options = ("--networks", "base", "--offline", "--workers", workers, "--keys-file", str(file))
    with run_service(*options) as service:
        assert [b" 200 OK" in service.send(request) for _ in range(20)] == [True] * 20
        time.sleep(2.0)
        service.process.send_signal(signal.SIGKILL)
        service.wait()
    with sqlite3.connect(UsageFile(file).path) as connection:
        assert connection.execute("SELECT SUM(charged) FROM usage").fetchone() == (20,)
    with run_service(*options) as service:
        assert [b" 200 OK" in service.send(request) for _ in range(15)] == [True] * 10 + [False] * 5
        service.stop()
    (used,) = KeyStore(file).usage().days
    assert (used.requests, used.rejections) == (35, 5)
