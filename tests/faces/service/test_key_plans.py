"""Plans of API keys in a service: limit, streams, networks, quota and expiry, and what a damaged key file changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from swapcli.core.errors import RateLimited
from swapcli.faces.service.access_policy import EXPIRY_HEADER, AccessPolicy
from swapcli.faces.service.key_file import ApiKey
from swapcli.faces.service.key_plans import QuotaUse, quota_period
from swapcli.faces.service.keys import KeyStore
from swapcli.faces.service.rate_limits import ProcessBuckets, QuotaCounters, RequestClass
from swapcli.faces.service.stream_limits import SharedStreams
from swapcli.quoting.config.settings import ServiceSettings
from tests.support.service import FakeClock, InProcessService, in_process_service
from tests.support.testnet import NOW_S

NETWORKS = ("base", "testnet")
CLIENT = "203.0.113.7"
TOKENS, OTHER = "/testnet/tokens", "/base/tokens"
DAY_S = 86_400


@pytest.fixture
def keys(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path / "keys.json", networks=NETWORKS, now_s=lambda: NOW_S)


@pytest.fixture
def service(keys: KeyStore) -> Iterator[InProcessService]:
    keys.create("first")
    with in_process_service(*NETWORKS, keys=keys, client=CLIENT) as served:
        yield served


def statuses(service: InProcessService, path: str, count: int, key: str) -> list[int]:
    return [service.get(path, headers={"X-API-Key": key}).status_code for _ in range(count)]


@pytest.mark.parametrize(("limit", "wait_s"), [("3/min", 20), ("3/hour", 1_200)])
def test_the_limit_of_a_plan_replaces_the_setting(
    service: InProcessService, keys: KeyStore, limit: str, wait_s: int
) -> None:
    key = keys.create("a", limit=limit).key
    assert statuses(service, TOKENS, 4, key) == [200, 200, 200, 429]
    refused = service.get(TOKENS, headers={"X-API-Key": key})
    assert refused.headers["Retry-After"] == str(wait_s)
    service.fake_clock.advance(wait_s)
    assert statuses(service, TOKENS, 2, key) == [200, 429]
    keys.change("a", limit="3/s")
    service.fake_clock.advance(1)
    assert statuses(service, TOKENS, 4, key) == [200, 200, 200, 429]
    keys.change("a", limit="none")
    service.fake_clock.advance(1)
    assert statuses(service, TOKENS, 4, key) == [200] * 4


def test_a_plan_holds_for_a_key_on_this_machine_too(keys: KeyStore) -> None:
    limited, counted, free = (
        keys.create("a", limit="1/min").key,
        keys.create("b", quota="1/day").key,
        keys.create("c").key,
    )
    with in_process_service("testnet", keys=keys, settings=ServiceSettings(requests_per_minute_with_key=1)) as service:
        assert [statuses(service, TOKENS, 2, each) for each in (limited, counted, free)] == [
            [200, 429], [200, 429], [200, 200]
        ]  # fmt: skip


def test_a_key_is_valid_for_the_networks_of_its_plan(service: InProcessService, keys: KeyStore) -> None:
    key = keys.create("a", networks=["testnet"]).key
    assert statuses(service, TOKENS, 1, key) == [200]
    refused = service.get(OTHER, headers={"X-API-Key": key})
    assert (refused.status_code, refused.json()["message"]) == (403, "the API key is not valid for base")
    assert refused.json()["hint"] == "it is valid for testnet"
    assert statuses(service, "/BASE//Tokens", 1, key) == [403]
    for path, status in (
        ("/base/healthcheck", 200),
        ("/livez", 200),
        ("/supported-chains", 200),
        ("/nosuch/tokens", 404),
    ):
        assert statuses(service, path, 1, key) == [status]
    assert 'reason="key_network"' in service.get("/metrics").text


def test_a_key_expires_after_an_announcement(service: InProcessService, keys: KeyStore) -> None:
    key = keys.create("a", expires="2099-01-01").key
    headers = {"X-API-Key": key, "Origin": "https://app.example"}
    service.app.policy.replace(ServiceSettings(cors_origins=("*",)), keys)
    expires_s = keys.list().keys[-1].plan.expires_s
    assert expires_s is not None
    service.fake_clock.now_s = expires_s - 14 * DAY_S - 1
    assert EXPIRY_HEADER not in service.get(TOKENS, headers=headers).headers
    service.fake_clock.now_s = expires_s - 14 * DAY_S
    announced = service.get(TOKENS, headers=headers)
    assert announced.headers[EXPIRY_HEADER] == "Thu, 01 Jan 2099 00:00:00 GMT"
    assert EXPIRY_HEADER in announced.headers["Access-Control-Expose-Headers"]
    service.fake_clock.now_s = expires_s
    expired = service.get(TOKENS, headers=headers)
    assert (expired.status_code, expired.json()["message"]) == (401, "the API key expired on 2099-01-01")
    assert 'reason="key_expired"' in service.get("/metrics").text
    assert service.get(TOKENS).status_code == 200
    keys.change("a", expires="2100-01-01")
    assert statuses(service, TOKENS, 1, key) == [200]


def test_a_target_without_a_path_has_no_network(service: InProcessService, keys: KeyStore) -> None:
    key = keys.find(keys.create("a", networks="base").key)
    assert isinstance(key, ApiKey)
    assert service.app.policy.check_plan(key, RequestClass.WORK, "*") is None


@pytest.mark.parametrize(
    ("quota", "now", "wait_s"),
    [("3/day", 1_798_761_600 - 5, 5), ("3/month", 1_798_761_600 - 5, 5), ("3/month", 1_796_083_200, 31 * DAY_S)],
)
def test_a_quota_is_used_up_until_its_period_ends(keys: KeyStore, quota: str, now: int, wait_s: int) -> None:
    """At 2026-12-31 23:59:55 and 2026-12-01 00:00:00 UTC."""
    key = keys.create("a", quota=quota).key
    with in_process_service("testnet", keys=keys, clock=FakeClock(now), client=CLIENT) as service:
        assert statuses(service, TOKENS, 4, key) == [200, 200, 200, 429]
        refused = service.get(TOKENS, headers={"X-API-Key": key})
        assert refused.headers["Retry-After"] == str(wait_s)
        assert f"the quota of 3 requests per {quota[2:]} is used up" in refused.json()["message"]
        assert statuses(service, "/testnet/healthcheck", 1, key) == [200], "health pages do not count"
        assert 'reason="quota"' in service.get("/metrics").text
        service.fake_clock.advance(wait_s)
        assert statuses(service, TOKENS, 4, key) == [200, 200, 200, 429]


def test_what_the_service_rejects_does_not_count_in_a_quota(service: InProcessService, keys: KeyStore) -> None:
    key = keys.create("a", quota="3/day", limit="2/min", networks="testnet").key
    assert statuses(service, OTHER, 2, key) == [403, 403]
    assert statuses(service, TOKENS, 2, key) == [429, 429]
    service.fake_clock.advance(60)
    assert statuses(service, TOKENS, 2, key) == [200, 200]
    service.fake_clock.advance(60)
    assert statuses(service, TOKENS, 2, key) == [200, 429]


def test_a_quota_that_is_no_longer_counted_goes_on_as_it_is_stored() -> None:
    quotas = [QuotaUse(key_id, quota_period("day", 20_818), 3) for key_id in ("a", "b")]
    counters = QuotaCounters(ProcessBuckets(max_clients=1), lambda quota: 2 if quota.key_id == "a" else 0)
    assert [counters.take(quotas[index]) for index in (0, 0, 1, 0, 0)] == [True, False, True, True, False]


def test_quota_periods_are_days_and_months_in_utc() -> None:
    assert quota_period("month", 20_818) == ("month", "2026-12", 20_788, 20_819)
    assert quota_period("month", 20_819)[1:3] == ("2027-01", 20_819)
    assert quota_period("month", 20_512 + 365)[1:] == ("2027-02", 20_850, 20_878)
    assert quota_period("day", 20_818) == ("day", "2026-12-31", 20_818, 20_819)


# --- streams


def test_streams_of_all_workers_count_and_those_of_a_killed_one_are_free() -> None:
    streams = SharedStreams(2)
    assert [streams.open(slot, "a", 3) for slot in (0, 1, 0, 1)] == [True] * 3 + [False]
    assert streams.open(1, "b", 1)
    streams.clear(0)
    assert [streams.open(1, "a", 3) for _ in range(3)] == [True, True, False]
    streams.close(1, "a")
    assert streams.open(0, "a", 3)


def test_a_closed_stream_makes_room() -> None:
    streams = SharedStreams(1)
    for _ in range(3):
        assert [streams.open(0, "a", 1), streams.open(0, "a", 1), streams.open(0, "b", 1)] == [True, False, True]
        streams.close(0, "a")
        streams.close(0, "b")


def test_the_streams_of_a_plan_replace_the_setting(service: InProcessService, keys: KeyStore) -> None:
    policy: AccessPolicy = service.app.policy
    key = keys.find(keys.create("a", streams=1).key)
    assert isinstance(key, ApiKey)

    async def open_two() -> None:
        async with policy.stream_slot("key", CLIENT, key), policy.stream_slot("key", CLIENT, key):
            raise AssertionError

    with pytest.raises(RateLimited, match="more than 1 open streams"):
        service.run(open_two())
    assert policy.limiter.max_streams("127.0.0.1", key) == 1


# --- a damaged key file


def test_a_damaged_file_is_reported_and_rejects_nobody(service: InProcessService, keys: KeyStore) -> None:
    key = keys.create("a").key
    assert keys.path is not None
    assert statuses(service, TOKENS, 1, key) == [200]
    good = keys.path.read_bytes()
    for damaged in (good + b"x", good[:-20], b""):
        keys.path.write_bytes(damaged)
        assert statuses(service, TOKENS, 3, key) == [200] * 3
        ready = service.get("/readyz")
        assert ready.json()["warnings"] == ["KEY_FILE_DAMAGED"]
        assert "swapcli_key_file_valid 0.0" in service.get("/metrics").text
    keys.path.write_bytes(good)
    assert "warnings" not in service.get("/readyz").json()
    assert "swapcli_key_file_valid 1.0" in service.get("/metrics").text
    keys.path.chmod(0o646)
    assert statuses(service, TOKENS, 1, key) == [401]
    assert service.get("/readyz").json()["warnings"] == ["KEY_FILE_DAMAGED"]
    keys.path.chmod(0o604)
    assert statuses(service, TOKENS, 1, key) == [200]
    assert service.get("/readyz").json()["warnings"] == ["KEY_FILE_DAMAGED"]


def test_a_reload_does_not_forget_the_last_good_version(service: InProcessService, keys: KeyStore) -> None:
    key = keys.create("a").key
    assert statuses(service, TOKENS, 1, key) == [200]
    assert keys.path is not None
    keys.path.unlink()
    service.app.policy.replace(ServiceSettings(), KeyStore(keys.path))
    assert statuses(service, TOKENS, 1, key) == [200]
