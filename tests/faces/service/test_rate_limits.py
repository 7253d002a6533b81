"""Rate limits: no client exceeds a bucket and its refill, and none within the rate is rejected."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.url import is_loopback_address
from swapcli.core.errors import RateLimited
from swapcli.faces.service.key_file import ApiKey
from swapcli.faces.service.rate_limits import (
    Buckets,
    ProcessBuckets,
    RateLimiter,
    RateLimitState,
    RequestClass,
    address_client,
)
from swapcli.quoting.config.settings import ServiceSettings

REMOTE_ADDRESS = "203.0.113.7"

addresses = st.one_of(st.ip_addresses().map(str), st.none(), st.text(max_size=20))
gaps_s = st.floats(0, 20)
limits = st.integers(1, 400)


def limiter(
    per_minute: int, buckets: Mapping[RequestClass, Buckets] | None = None, *, loopback: bool = False
) -> RateLimiter:
    settings = ServiceSettings(
        requests_per_minute=per_minute,
        requests_per_minute_with_key=per_minute * 3,
        health_requests_per_minute=per_minute * 2,
        limit_loopback=loopback,
    )
    return RateLimiter(settings, buckets)


def process_buckets(max_clients: int) -> dict[RequestClass, ProcessBuckets]:
    return {each: ProcessBuckets(max_clients) for each in RequestClass}


def acquire(
    limiter_: RateLimiter, address: str | None, key_id: str | None, purpose: RequestClass, now_s: float
) -> RateLimitState | None:
    """Count a request of a key without a plan, or of none."""
    client = limiter_.limited_client(address, ApiKey(key_id, "a", 0) if key_id else None, purpose)
    return client and limiter_.take(client, now_s)


def is_allowed(
    limits_: RateLimiter, now_s: float, address: str | None = REMOTE_ADDRESS, key_id: str | None = None
) -> bool:
    allowance = acquire(limits_, address, key_id, RequestClass.WORK, now_s)
    return allowance is None or allowance.retry_after_s == 0


@given(per_minute=limits, gaps=st.lists(gaps_s, min_size=1, max_size=300))
def test_no_interval_exceeds_a_bucket_and_its_refill(per_minute: int, gaps: list[float]) -> None:
    limits_, now_s, allowed = limiter(per_minute), 1_000.0, []
    for gap_s in gaps:
        now_s += gap_s
        if is_allowed(limits_, now_s):
            allowed.append(now_s)
    for first, start_s in enumerate(allowed):
        stretch_s = allowed[-1] - start_s
        assert len(allowed) - first <= per_minute + per_minute * stretch_s / 60 + 1e-6


@given(per_minute=limits, requests=st.integers(1, 500), start_s=st.floats(0, 1e9))
def test_who_keeps_to_the_pace_is_never_refused(per_minute: int, requests: int, start_s: float) -> None:
    limits_, pace_s = limiter(per_minute), 60 / per_minute
    assert all(is_allowed(limits_, start_s + i * pace_s * (1 + 1e-6)) for i in range(requests))


@given(per_minute=limits)
def test_all_of_a_minute_may_come_at_once_and_not_one_more(per_minute: int) -> None:
    limits_ = limiter(per_minute)
    assert [is_allowed(limits_, 5.0) for _ in range(per_minute + 3)] == [True] * per_minute + [False] * 3


@given(per_minute=limits, now_s=st.floats(0, 1e9))
def test_the_answer_says_exactly_when_to_come_back(per_minute: int, now_s: float) -> None:
    limits_ = limiter(per_minute)
    for _ in range(per_minute):
        is_allowed(limits_, now_s)
    refused = acquire(limits_, REMOTE_ADDRESS, None, RequestClass.WORK, now_s)
    assert refused is not None
    assert refused.remaining == 0
    error = refused.find_error(now_s)
    assert isinstance(error, RateLimited)
    assert error.retry_after_s == refused.retry_after_s >= 1
    assert is_allowed(limits_, now_s + refused.retry_after_s)


@given(per_minute=limits, gaps=st.lists(gaps_s, min_size=1, max_size=50))
def test_headers_show_limit_remaining_and_reset(per_minute: int, gaps: list[float]) -> None:
    limits_, now_s = limiter(per_minute), 0.0
    for gap_s in gaps:
        now_s += gap_s
        allowance = acquire(limits_, REMOTE_ADDRESS, None, RequestClass.WORK, now_s)
        assert allowance is not None
        headers = dict(allowance.headers())
        assert headers["RateLimit-Limit"] == str(per_minute)
        assert 0 <= int(headers["RateLimit-Remaining"]) < per_minute
        assert 0 <= int(headers["RateLimit-Reset"]) <= 60
    full = acquire(limits_, REMOTE_ADDRESS, None, RequestClass.WORK, now_s + int(headers["RateLimit-Reset"]) + 1e-3)
    assert full is not None
    assert full.remaining == per_minute - 1


@given(addresses=st.lists(addresses, min_size=1, max_size=60), most=st.integers(1, 10))
def test_the_number_of_buckets_is_bounded(addresses: list[str | None], most: int) -> None:
    buckets = process_buckets(most)
    limits_ = limiter(5, buckets, loopback=True)
    for now_s, address in enumerate(addresses):
        for purpose in RequestClass:
            acquire(limits_, address, None, purpose, now_s)
            assert len(buckets[purpose]) <= most


def test_the_least_recent_client_is_evicted() -> None:
    limits_ = limiter(1, process_buckets(2))
    first, second, third = "203.0.113.1", "203.0.113.2", "203.0.113.3"
    assert is_allowed(limits_, 0.0, first)
    assert is_allowed(limits_, 1.0, second)
    assert not is_allowed(limits_, 2.0, first)
    assert is_allowed(limits_, 3.0, third)
    assert not is_allowed(limits_, 4.0, first), "it requests later than the second"
    assert is_allowed(limits_, 5.0, second)


def test_keys_have_their_own_bucket_wherever_they_come_from() -> None:
    limits_ = limiter(2)
    assert [is_allowed(limits_, 0.0) for _ in range(3)] == [True, True, False]
    assert [is_allowed(limits_, 0.0, key_id="a") for _ in range(3)] == [True] * 3
    assert [is_allowed(limits_, 0.0, "203.0.113.8", "a") for _ in range(4)] == [True] * 3 + [False]
    assert is_allowed(limits_, 0.0, key_id="b")


def test_a_key_id_is_no_address() -> None:
    limits_ = limiter(1)
    assert is_allowed(limits_, 0.0, REMOTE_ADDRESS)
    assert is_allowed(limits_, 0.0, "203.0.113.8", REMOTE_ADDRESS)


def test_health_checks_have_their_own_bucket() -> None:
    limits_ = limiter(1)
    assert [is_allowed(limits_, 0.0) for _ in range(2)] == [True, False]
    health = [acquire(limits_, REMOTE_ADDRESS, None, RequestClass.HEALTH, 0.0) for _ in range(3)]
    assert [each and each.retry_after_s > 0 for each in health] == [False, False, True]


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_exempt_unless_configured(address: str) -> None:
    exempt, counted = limiter(1), limiter(1, loopback=True)
    assert all(acquire(exempt, address, None, RequestClass.WORK, 0.0) is None for _ in range(10))
    assert [is_allowed(counted, 0.0, address) for _ in range(2)] == [True, False]


@pytest.mark.parametrize(
    "address", [REMOTE_ADDRESS, "10.0.0.1", "::", "0.0.0.0", "fe80::1%eth0", "localhost", "", None]
)
def test_all_else_is_not_exempt(address: str | None) -> None:
    assert not is_loopback_address(address)
    assert acquire(limiter(1), address, None, RequestClass.WORK, 0.0) is not None


@given(network=st.integers(0, 2**64 - 1), host=st.integers(0, 2**64 - 1), other=st.integers(0, 2**64 - 1))
def test_one_ipv6_network_of_64_bits_is_one_client(network: int, host: int, other: int) -> None:
    one, another = (str(IPv6Address((network << 64) + low)) for low in (host, other))
    if network:
        assert address_client(one) == address_client(another)
        assert address_client(one) != address_client(str(IPv6Address(((network ^ 1) << 64) + host)))


@given(address=st.ip_addresses(v=4), other=st.ip_addresses(v=4))
def test_an_ipv4_address_is_one_client_however_it_is_written(address: IPv4Address, other: IPv4Address) -> None:
    assert address_client(f"::ffff:{address}") == address_client(str(address))
    assert (address_client(str(address)) == address_client(str(other))) == (address == other)


@given(address=addresses)
def test_any_address_is_some_client(address: str | None) -> None:
    assert address_client(address)


def test_a_clock_that_goes_back_adds_no_tokens() -> None:
    limits_ = limiter(2)
    assert [is_allowed(limits_, now_s) for now_s in (100.0, 50.0, 50.0)] == [True, True, False]


def test_default_limits() -> None:
    limits_ = RateLimiter(ServiceSettings())
    requests = [
        ("a", RequestClass.WORK),
        (None, RequestClass.WORK),
        (None, RequestClass.HEALTH),
        ("a", RequestClass.HEALTH),
    ]
    taken = [acquire(limits_, REMOTE_ADDRESS, key, purpose, 0.0) for key, purpose in requests]
    assert [each.limit for each in taken if each] == [1_000, 200, 1_000, 1_000]


def test_a_request_costs_little() -> None:
    """Ten thousand new clients at once get a bucket each; more evict old ones."""
    buckets = process_buckets(10_000)
    limits_ = limiter(5, buckets)
    taken = [
        acquire(limits_, f"198.{18 + i // 65536}.{i >> 8 & 255}.{i & 255}", None, RequestClass.WORK, 0.0)
        for i in range(12_000)
    ]
    assert all(each is not None and each.remaining == floor(5 - 1) for each in taken)
    assert len(buckets[RequestClass.WORK]) == 10_000
