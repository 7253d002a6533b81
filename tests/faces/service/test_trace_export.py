"""Traces: what a client's `traceparent` does, and the spans that a collector of OpenTelemetry gets."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from swapcli.faces.service.keys import KeyStore
from swapcli.faces.service.trace_export import open_tracer
from tests.support.redis_server import RedisServer, run_redis
from tests.support.service import build_order_query, build_swap_terms
from tests.support.service_process import ServiceProcess, run_service
from tests.support.trace_collector import run_collector
from tests.support.waiting import until

CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{CALLER[0]}-{CALLER[1]}-01"


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with run_redis() as server:
        yield server


def request_lines(service: ServiceProcess) -> list[Any]:
    return [line for line in service.log_lines() if "request_id" in line]


@pytest.mark.slow
def test_each_worker_exports_the_spans_of_its_requests(tmp_path: Path, redis: RedisServer) -> None:
    """Two workers, forked from one parent: a quote and a posted route in one trace of the client."""
    keys = tmp_path / "keys.json"
    created = KeyStore(keys).create("Acme")
    order, terms = build_order_query("base"), build_swap_terms("base")
    with run_collector() as collector:
        env = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_BSP_SCHEDULE_DELAY": "50",
            "OTEL_SERVICE_NAME": "quotes",
            "SWAPCLI_SERVICE_STATE_URL": redis.url,
            "SWAPCLI_SERVICE_KEYS_FILE": str(keys),
        }
        headers = {"X-API-Key": created.key, "traceparent": PARENT}
        with run_service("--networks", "base", "--offline", "--workers", "2", env=env) as service:
            for _ in range(8):  # each on a connection of its own, so that both workers get some
                route = httpx.get(f"{service.url}/base/route", params=order, headers=headers).json()
                posted = httpx.post(f"{service.url}/base/execute", json={"route": route, **terms}, headers=headers)
                assert posted.status_code == 200
            refused = httpx.get(f"{service.url}/base/route", params=order, headers={"X-API-Key": "x"})
            assert refused.status_code == 401
            until(lambda: sum(each["name"].startswith(("GET ", "POST ")) for each in collector.spans) == 17)
            lines = request_lines(service)
    assert len({line["process"] for line in lines}) == 2
    by_id = {each["span_id"]: each for each in collector.spans}
    for line in lines:
        span = by_id[line["span_id"]]
        parts = [each for each in collector.spans if each["parent_id"] == line["span_id"]]
        names = sorted(each["name"] for each in parts)
        assert span["name"] == f"{line['method']} {line['path']}"
        assert span["resource"]["service.name"] == "quotes"
        assert span["attributes"]["http.response.status_code"] == line["status"]
        if line["status"] == 401:
            assert (line["trace_id"] != CALLER[0], span["parent_id"], names) == (True, "", [])
            assert span["attributes"]["error.type"] == "api_key"
            continue
        assert (line["trace_id"], span["trace_id"], span["parent_id"]) == (CALLER[0], *CALLER)
        expected = ["queue", "search"] if line["method"] == "GET" else ["queue", "replay", "search"]
        assert [name for name in names if name != "Redis"] == expected
        assert "Redis" in names
        for each in [span, *parts]:
            attributes = each["attributes"]
            assert (attributes["swapcli.key"], attributes["swapcli.network"]) == (created.record.id, "base")
            assert span["start_ns"] - 10**6 <= each["start_ns"] <= each["end_ns"] <= span["end_ns"] + 10**6
    assert created.key not in str(collector.spans)


@pytest.mark.slow
def test_a_collector_that_is_away_costs_one_sentence() -> None:
    env = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://user:secret@127.0.0.1:1/path",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        "OTEL_BSP_SCHEDULE_DELAY": "20",
    }
    with run_service("--networks", "base", "--offline", env=env) as service:
        for _ in range(20):
            assert httpx.get(f"{service.url}/base/route", params=build_order_query("base")).status_code == 200
            time.sleep(0.02)
        until(lambda: any("trace_export" in line for line in service.log_lines()))
        assert httpx.get(f"{service.url}/base/route", params=build_order_query("base")).status_code == 200
        started_s = time.monotonic()
        assert service.stop() == 0
        assert time.monotonic() - started_s < 5
    lines = [json.loads(line) for line in service.stderr.splitlines() if line.startswith("{")]
    problems = [line for line in lines if "request_id" not in line]
    assert [(line["level"], line["trace_export"]) for line in problems] == [("error", "failing")]
    assert problems[0]["message"] == "the collector at http://127.0.0.1:1 accepts no spans; " + (
        "they are dropped until it does"
    )


def test_variables_that_cannot_be_used_are_one_sentence() -> None:
    problems = list[str | None]()
    wrong = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[", "OTEL_BSP_MAX_QUEUE_SIZE": "10"}
    assert open_tracer(wrong, problems.append) is None
    assert [str(each).partition(" (")[0] for each in problems] == ["the OTEL_* variables cannot be used for traces"]


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_without_a_collector_there_is_no_tracer(environ: dict[str, str]) -> None:
    assert open_tracer(environ, lambda problem: pytest.fail(str(problem))) is None


def test_without_a_collector_nothing_is_imported() -> None:
    """A service that has answered a request with a `traceparent`."""
    script = f"""
import sys
from tests.support.service import build_app, build_order_query, open_registry, send_requests
app = build_app(open_registry(["base"]))
order = {{"params": build_order_query("base"), "headers": {{"traceparent": {PARENT!r}}}}}
assert [each.status_code for each in send_requests(app, [("GET", "/base/route", order)])] == [200]
print([name for name in sys.modules if name.startswith(("opentelemetry", "google", "requests"))])
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_the_log_has_the_trace_of_the_client() -> None:
    with run_service("--networks", "base", "--offline") as service:
        for parents in ([PARENT], [], [PARENT, PARENT], [PARENT.upper()]):
            sent = [("traceparent", each) for each in parents]
            httpx.get(f"{service.url}/base/tokens", headers=sent)
        until(lambda: len(request_lines(service)) == 4)
        first, *others = request_lines(service)
    assert first["trace_id"] == CALLER[0]
    assert re.fullmatch(r"[0-9a-f]{16}", first["span_id"])
    assert first["span_id"] != CALLER[1]
    assert [line for line in others if "trace_id" in line or "span_id" in line] == []


def test_what_a_collector_does_not_take_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spans of many requests, with a collector that never answers."""
    import socket

    from swapcli.faces.service.access_log import AccessRecord

    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_BSP_MAX_QUEUE_SIZE": "64"}
        environ["OTEL_EXPORTER_OTLP_TIMEOUT"] = "3"  # more than the service waits for when it stops
        for name, value in (environ | {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "64"}).items():
            monkeypatch.setenv(name, value)
        tracer = open_tracer(environ, lambda _: None)
        assert tracer is not None
        for _ in range(1_000):
            trace = tracer.begin(None)
            tracer.end(AccessRecord("id", "GET", "/x", None, 200, 0.1, "other", trace=trace))
        processor: Any = tracer._provider._active_span_processor._span_processors[0]
        assert len(processor._batch_processor._queue) <= 64
        started_s = time.monotonic()
        tracer.close()
        assert time.monotonic() - started_s < 4
        # Its retries draw from `random`, which other tests must not see.
        processor._batch_processor._worker_thread.join(30)
        assert not processor._batch_processor._worker_thread.is_alive()
