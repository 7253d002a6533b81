"""Metrics: a parser reads back the counts, and no client chooses a label."""

from __future__ import annotations

import platform

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from swapcli import __version__
from swapcli.faces.service.key_counters import OTHER
from swapcli.faces.service.metrics import CONTENT_TYPE, MarketMetrics, Metrics
from swapcli.faces.service.refusal_reasons import RefusalReason

NETWORKS = ("base", "starknet")
ENDPOINTS = ("/{network}/route", "/metrics")


def samples(metrics: Metrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    families = text_string_to_metric_families(metrics.render().decode())
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return samples(metrics).get((name, frozenset(labels.items())))


@given(
    requests=st.lists(
        st.tuples(
            st.sampled_from([*ENDPOINTS, None]),
            st.sampled_from([*NETWORKS, None]),
            st.sampled_from([200, 404, 429, 503]),
            st.floats(0, 20),
        ),
        max_size=30,
    )
)
def test_every_request_is_counted_once_and_timed_once(
    requests: list[tuple[str | None, str | None, int, float]],
) -> None:
    metrics = Metrics(NETWORKS, ENDPOINTS)
    for request in requests:
        metrics.record_request(*request)
    for endpoint, network, status, _ in requests:
        alike = sum(other[:3] == (endpoint, network, status) for other in requests)
        labels = {"endpoint": endpoint or OTHER, "network": network or OTHER, "status": str(status)}
        assert value(metrics, "swapcli_http_requests_total", **labels) == alike
        timed = sum(other[0] == endpoint for other in requests)
        counted = value(metrics, "swapcli_http_request_duration_seconds_count", endpoint=endpoint or OTHER)
        assert counted == timed


@given(
    endpoint=st.text(max_size=40),
    network=st.text(max_size=40),
    status=st.integers(),
    others=st.lists(st.text(), max_size=5),
)
def test_no_label_comes_from_a_client(endpoint: str, network: str, status: int, others: list[str]) -> None:
    metrics = Metrics(NETWORKS, ENDPOINTS)
    for each in (endpoint, *others):
        metrics.record_request(each, network, status, 0.1)
        metrics.record_solve(each, 0.1)
        metrics.record_cancelled(each)
    metrics.watch_markets(lambda: [MarketMetrics(each, 3, 1.0, 4, 5) for each in (endpoint, *others)])
    allowed = {"endpoint": {*ENDPOINTS, OTHER}, "network": {*NETWORKS, OTHER}}
    for _, labels in samples(metrics):
        for name, text in labels:
            if name in allowed:
                assert text in allowed[name]
            elif name == "reason":
                assert text in [*RefusalReason]
            elif name == "status":
                assert text == OTHER or 100 <= int(text) < 600
            else:
                assert name in ("le", "version", "python")
                assert name == "le" or text in (__version__, platform.python_version())


def test_a_request_lies_in_every_bucket_from_its_time_on() -> None:
    metrics = Metrics(NETWORKS, ENDPOINTS)
    metrics.record_request("/metrics", None, 200, 0.02)
    buckets = {
        dict(labels)["le"]: number
        for (name, labels), number in samples(metrics).items()
        if name == "swapcli_http_request_duration_seconds_bucket"
    }
    assert {le for le, number in buckets.items() if not number} == {"0.001", "0.0025", "0.005", "0.01"}
    assert buckets["+Inf"] == 1


def test_queue_and_market_age_are_read_on_render() -> None:
    metrics, queue, age = Metrics(NETWORKS, ENDPOINTS), [0], [5.0]
    metrics.watch_queue(lambda: queue[0])
    metrics.watch_markets(lambda: [MarketMetrics("base", 220, age[0], 7_000_000, 3)])
    assert value(metrics, "swapcli_solve_queue_length") == 0
    assert value(metrics, "swapcli_market_age_seconds", network="base") == 5
    queue[0], age[0] = 7, 6.5
    assert value(metrics, "swapcli_solve_queue_length") == 7
    assert value(metrics, "swapcli_market_age_seconds", network="base") == 6.5
    assert value(metrics, "swapcli_market_pools", network="base") == 220
    assert value(metrics, "swapcli_market_block", network="base") == 7_000_000
    assert value(metrics, "swapcli_market_update_failures_total", network="base") == 3


def test_a_market_without_a_time_has_no_age() -> None:
    metrics = Metrics(NETWORKS, ENDPOINTS)
    metrics.watch_markets(lambda: [MarketMetrics("base", 220), MarketMetrics("starknet", failures=2)])
    assert value(metrics, "swapcli_market_pools", network="base") == 220
    assert value(metrics, "swapcli_market_age_seconds", network="base") is None
    assert value(metrics, "swapcli_market_update_failures_total", network="base") is None
    assert value(metrics, "swapcli_market_pools", network="starknet") is None
    assert value(metrics, "swapcli_market_update_failures_total", network="starknet") == 2


def test_what_befalls_requests_is_counted() -> None:
    metrics = Metrics(NETWORKS, ENDPOINTS)
    for count, refusal in enumerate(RefusalReason, start=1):
        for _ in range(count):
            metrics.record_refusal(refusal)
    metrics.record_defect()
    metrics.record_cancelled("base")
    metrics.record_solve("base", 0.3)
    metrics.record_solve("base", 0.1)
    counted = [value(metrics, "swapcli_refusals_total", reason=each.value) for each in RefusalReason]
    assert counted == [*range(1, len(RefusalReason) + 1)]
    assert value(metrics, "swapcli_defects_total") == 1
    assert value(metrics, "swapcli_solves_cancelled_total", network="base") == 1
    assert value(metrics, "swapcli_solve_duration_seconds_count", network="base") == 2
    assert value(metrics, "swapcli_solve_duration_seconds_sum", network="base") == 0.4


def test_the_build_is_named_and_no_series_is_of_a_creation() -> None:
    metrics = Metrics(NETWORKS, ENDPOINTS)
    metrics.record_request("/metrics", None, 200, 0.02)
    metrics.record_solve("base", 0.3)
    python = platform.python_version()
    assert value(metrics, "swapcli_build_info", version=__version__, python=python) == 1
    assert not [name for name, _ in samples(metrics) if name.endswith("_created")]


def test_two_services_in_one_process_do_not_count_together() -> None:
    one, other = Metrics(NETWORKS, ENDPOINTS), Metrics(NETWORKS, ENDPOINTS)
    one.record_defect()
    assert value(other, "swapcli_defects_total") == 0


def test_the_format_is_the_one_that_is_announced() -> None:
    assert CONTENT_TYPE.startswith("text/plain; version=0.0.4")
    assert generate_latest(CollectorRegistry()) == b""
    assert all(
        line.startswith(("#", "swapcli_", "process_"))
        for line in Metrics(NETWORKS, ENDPOINTS).render().decode().splitlines()
    )
