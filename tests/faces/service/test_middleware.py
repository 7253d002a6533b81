"""Middleware: request ids, log, metrics, keys, limits, CORS, defects, disconnects."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from swapcli.core.errors import Cancelled, MarketError, NoRoute
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.faces.service import worker_thread
from swapcli.faces.service.app import create_app
from swapcli.faces.service.endpoint_table import ENDPOINTS, canonical_path, classify_path
from swapcli.faces.service.key_file import ApiKey, KeyLookup
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.rate_limits import RequestClass
from swapcli.faces.service.worker_thread import IsCancelled
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.price_policy import PriceRequest
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.tracing import Trace, current_trace
from tests.faces.service.test_endpoints import OneKey
from tests.support.service import (
    RECIPIENT,
    InProcessService,
    build_order_query,
    build_swap_terms,
    in_process_service,
    open_testnet_market,
)

SECRET = "swk_c0ffee"


class Revocable(KeyLookup):
    """A lookup with one key that can be revoked."""

    def __init__(self) -> None:
        self.is_revoked = False

    def find(self, key: str) -> ApiKey | None:
        return ApiKey("0badcafe", "Acme", 0) if key == SECRET and not self.is_revoked else None


@pytest.fixture
def service() -> Iterator[InProcessService]:
    with in_process_service("testnet", keys=Revocable()) as served:
        yield served


def test_each_request_is_one_line_with_its_id_and_pattern(service: InProcessService) -> None:
    answer = service.get("/TestNet/V2/Route", build_order_query("testnet"))
    (line,) = service.log_lines()
    assert line["path"] == "/{network}/v2/route"
    assert (line["network"], line["status"], line["method"]) == ("testnet", 200, "GET")
    assert line["request_id"] == answer.headers["X-Request-Id"]
    service.get("/secret-place")
    assert service.log_lines()[-1]["path"] == "other"


def test_ids_differ(service: InProcessService) -> None:
    ids = {service.get("/readyz").headers["X-Request-Id"] for _ in range(50)}
    assert len(ids) == 50


def test_the_log_contains_no_client_data(service: InProcessService) -> None:
    headers = {"X-API-Key": SECRET, "User-Agent": "agent-smith", "Cookie": "session=1"}
    query = {**build_order_query("testnet", 123_456_789_012), **build_swap_terms("testnet")}
    route = service.get("/testnet/v2/route", query, headers=headers).json()
    service.post("/testnet/v2/calldata", {"route": route, **build_swap_terms("testnet")}, headers=headers)
    service.post("/testnet/execute", {"route": [RECIPIENT], **build_swap_terms("testnet")}, headers=headers)
    service.get(f"/{SECRET}/route", headers=headers)
    service.get(f"/testnet/tokens/{RECIPIENT}", headers=headers)
    service.get("/testnet/route", query, headers={"X-API-Key": "wrong-key-of-mine"})
    log = service.log.getvalue()
    assert len(service.log_lines()) == 6
    for secret in (SECRET, RECIPIENT, "123456789012", "agent-smith", "session", "wrong-key", "Acme", "0x"):
        assert secret not in log


def test_a_revoked_key_stops_working_at_once() -> None:
    keys = Revocable()
    with in_process_service("testnet", keys=keys) as served:
        headers = {"X-API-Key": SECRET}
        assert served.get("/testnet/tokens", headers=headers).status_code == 200
        keys.is_revoked = True
        refused = served.get("/testnet/tokens", headers=headers)
        assert refused.status_code == 401
        assert SECRET not in refused.text


def test_counters_tell_what_was_answered(service: InProcessService) -> None:
    for _ in range(3):
        service.get("/testnet/route", build_order_query("testnet"))
    service.get("/nowhere")
    text = service.get("/metrics").text
    assert 'swapcli_http_requests_total{endpoint="/{network}/route",network="testnet",status="200"} 3.0' in text
    assert 'swapcli_http_requests_total{endpoint="other",network="other",status="404"} 1.0' in text
    assert 'swapcli_solve_duration_seconds_count{network="testnet"} 3.0' in text
    assert "swapcli_solve_queue_length 0.0" in text


def limited(**settings: Any) -> ServiceSettings:
    return ServiceSettings(
        requests_per_minute=3, requests_per_minute_with_key=5, health_requests_per_minute=7, **settings
    )


def test_a_client_beyond_its_limit_hears_when_to_come_back() -> None:
    with in_process_service("testnet", settings=limited(), client="203.0.113.9") as served:
        answers = [served.get("/testnet/route", build_order_query("testnet")) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert [answer.headers["RateLimit-Remaining"] for answer in answers[:4]] == ["2", "1", "0", "0"]
        assert {answer.headers["RateLimit-Limit"] for answer in answers} == {"3"}
        refused = answers[3]
        assert refused.json() == {
            "statusCode": 429,
            "message": "more than 3 requests per minute",
            "error": "Too Many Requests",
            "hint": "send fewer requests",
        }
        assert refused.headers.get_list("Retry-After") == ["20"]
        served.fake_clock.advance(20)
        assert served.get("/testnet/route", build_order_query("testnet")).status_code == 200
        assert 'swapcli_refusals_total{reason="request_rate"} 2.0' in served.get("/metrics").text


def test_health_checks_have_a_limit_of_their_own() -> None:
    with in_process_service("testnet", settings=limited(), client="203.0.113.9") as served:
        for _ in range(4):
            served.get("/testnet/route", build_order_query("testnet"))
        paths = ["/testnet/healthcheck", "/testnet/v2/healthCheck", "/readyz", "/metrics"] * 2
        assert [served.get(path).status_code == 429 for path in paths] == [False] * 7 + [True]


def test_a_key_has_a_higher_limit_and_its_own_bucket() -> None:
    with in_process_service("testnet", settings=limited(), client="203.0.113.9", keys=OneKey()) as served:
        good = [served.get("/supported-chains", headers={"X-API-Key": "good"}).status_code for _ in range(6)]
        assert good == [200] * 5 + [429]
        bad = [served.get("/supported-chains", headers={"X-API-Key": "bad"}).status_code for _ in range(4)]
        assert bad == [401] * 3 + [429]


def test_this_machine_is_exempt_unless_configured_otherwise() -> None:
    with in_process_service("testnet", settings=limited()) as served:
        assert {served.get("/testnet/tokens").status_code for _ in range(10)} == {200}
        assert "RateLimit-Limit" not in served.get("/testnet/tokens").headers
    with in_process_service("testnet", settings=limited(limit_loopback=True)) as served:
        assert [served.get("/testnet/tokens").status_code for _ in range(4)] == [200, 200, 200, 429]


def test_no_other_site_may_call_unless_configured(service: InProcessService) -> None:
    answer = service.get(
        "/testnet/route", build_order_query("testnet"), headers={"Origin": "https://elsewhere.example"}
    )
    assert not [name for name in answer.headers if name.startswith("access-control")]
    preflight = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "GET"}
    assert service.send("OPTIONS", "/testnet/route", headers=preflight).status_code == 405


@pytest.mark.parametrize(("origins", "response"), [(("https://app.example",), "https://app.example"), (("*",), "*")])
def test_sites_that_are_configured_may_call(origins: tuple[str, ...], response: str) -> None:
    with in_process_service("testnet", settings=ServiceSettings(cors_origins=origins)) as served:
        origin = {"Origin": "https://app.example"}
        answer = served.get("/testnet/route", build_order_query("testnet"), headers=origin)
        assert answer.headers["Access-Control-Allow-Origin"] == response
        assert "X-Request-Id" in answer.headers["Access-Control-Expose-Headers"]
        refused = served.get("/testnet/route", {"amount": "x"}, headers=origin)
        assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (400, response)
        preflight_headers = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "x-api-key,content-type",
        }
        preflight = served.send("OPTIONS", "/testnet/execute", headers=origin | preflight_headers)
        assert preflight.status_code == 200
        assert preflight.headers["Access-Control-Allow-Origin"] == response
        other = served.get("/testnet/route", build_order_query("testnet"), headers={"Origin": "https://evil.example"})
        assert other.headers.get("Access-Control-Allow-Origin") in (None, "*")


def test_answers_are_not_sniffed_or_stored(service: InProcessService) -> None:
    for path in ("/testnet/route", "/nowhere", "/docs", "/openapi.json"):
        answer = service.get(path)
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        # A stored page is used only after its ETag has been compared.
        assert answer.headers["Cache-Control"] == ("no-cache" if "ETag" in answer.headers else "no-store")
        assert "Server" not in answer.headers


@pytest.mark.parametrize("path", ["/testnet/route", "/testnet/v2/healthcheck", "/supported-chains", "/openapi.json"])
def test_head_is_a_get(service: InProcessService, path: str) -> None:
    assert service.send("HEAD", path, params=build_order_query("testnet")).status_code == 200


class Broken(InMemorySource):
    """Raises an unexpected error."""

    def quote(
        self, request: QuoteRequest, terms: SwapTerms | None = None, *, is_cancelled: IsCancelled | None = None
    ) -> LocalQuote:
        del terms, is_cancelled
        raise ZeroDivisionError(f"amount {request.order.amount}")


def test_a_defect_is_a_500_with_the_id_in_the_log(service: InProcessService) -> None:
    service.get("/testnet/tokens")
    service.registry._sources["testnet"] = Broken(open_testnet_market(), service.fake_clock.clock)
    answer = service.get("/testnet/route", build_order_query("testnet", 987_654_321))
    assert answer.status_code == 500
    document = answer.json()
    assert document == {
        "statusCode": 500,
        "message": "internal error",
        "error": "Internal Server Error",
        "requestId": answer.headers["X-Request-Id"],
    }
    defect, access = service.log_lines()[-2:]
    assert defect["request_id"] == access["request_id"] == document["requestId"]
    assert defect["defect"] == "ZeroDivisionError"
    assert access["status"] == 500
    assert "987654321" not in service.log.getvalue()
    assert "swapcli_defects_total 1.0" in service.get("/metrics").text
    assert service.get("/testnet/tokens").status_code == 200


def test_a_request_without_a_trace_has_not_that_of_the_one_before(service: InProcessService) -> None:
    async def visits() -> list[Trace | None]:
        """As pipelined requests, in one context."""
        parent = f"00-{'1' * 32}-{'2' * 16}-01"
        await service.send_async("GET", "/livez", headers={"traceparent": parent})
        first = current_trace.get()
        await service.send_async("GET", "/livez")
        return [first, current_trace.get()]

    first, second = service.run(visits())
    assert first is not None
    assert second is None


class Endless(InMemorySource):
    """Compute until cancelled."""

    begun = 0
    given_up = 0

    def quote(
        self, request: QuoteRequest, terms: SwapTerms | None = None, *, is_cancelled: IsCancelled | None = None
    ) -> LocalQuote:
        del request, terms
        if is_cancelled is None:
            raise NoRoute("this is only a sample")
        type(self).begun += 1
        while not is_cancelled():
            time.sleep(0.001)
        type(self).given_up += 1
        raise Cancelled("given up")


class Leaver:
    """A client that disconnects on command."""

    def __init__(self, app: Any, query: bytes, address: str = "127.0.0.1") -> None:
        self.has_left = asyncio.Event()
        self.sent: list[Any] = []
        scope = {"type": "http", "method": "GET", "path": "/testnet/v2/route", "query_string": query, "headers": []}
        self.task = asyncio.create_task(app({**scope, "client": (address, 1)}, self.receive, self.send))
        self.messages = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive(self) -> Any:
        for message in self.messages:
            return message
        await self.has_left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)


def query_of(name: str) -> bytes:
    return "&".join(f"{key}={value}" for key, value in build_order_query(name).items()).encode()


def test_a_disconnect_cancels_running_and_waiting_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_thread, "MAX_DEPTH", 1)  # no order interrupts the endless one, however long that runs
    monkeypatch.setattr(worker_thread, "MAX_WAIT_S", 60.0)
    with in_process_service("testnet", settings=ServiceSettings(max_queue=2)) as served:
        served.get("/testnet/tokens")
        Endless.begun = Endless.given_up = 0
        served.registry._sources["testnet"] = Endless(open_testnet_market(), served.fake_clock.clock)

        async def visits() -> None:
            clients = [Leaver(served.app, query_of("testnet"))]
            while not Endless.begun:
                await asyncio.sleep(0.001)
            clients += [Leaver(served.app, query_of("testnet"), f"127.0.0.{number}") for number in (2, 3)]
            while (await served.send_async("GET", "/metrics")).text.find("queue_length 2.0") < 0:
                await asyncio.sleep(0.001)
            full = await served.send_async("GET", "/testnet/route", params=build_order_query("testnet"))
            assert (full.status_code, full.headers["Retry-After"]) == (503, "1")
            assert full.json()["error"] == "Service Unavailable"
            health = await served.send_async("GET", "/readyz")
            assert health.status_code == 200
            for client in reversed(clients):
                client.has_left.set()
                await client.task
                assert client.sent == []
            while not Endless.given_up:
                await asyncio.sleep(0.001)

        served.run(visits())
        assert Endless.begun == Endless.given_up == 1
        text = served.get("/metrics").text
        assert 'swapcli_solves_cancelled_total{network="testnet"} 3.0' in text
        assert 'swapcli_refusals_total{reason="queue"} 1.0' in text
        assert [line["status"] for line in served.log_lines()].count(None) == 3


def test_a_client_that_leaves_while_it_sends_is_no_defect(service: InProcessService) -> None:
    async def context() -> list[Any]:
        sent: list[Any] = []
        messages = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])

        async def receive() -> Any:
            return next(messages)

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/testnet/execute", "query_string": b"", "headers": []}
        await service.app({**scope, "client": None}, receive, send)
        return sent

    assert service.run(context()) == []
    assert service.log_lines()[-1]["status"] is None
    assert "defect" not in service.log.getvalue()


def test_readiness_needs_all_markets_health_its_own() -> None:
    served = InProcessService({"testnet": open_testnet_market})
    try:
        waiting = served.get("/readyz")
        assert (waiting.status_code, waiting.json()) == (503, {"ready": False, "missing": ["testnet"]})

        async def live() -> None:
            async with served.app.lifespan():
                while "market_pools{" not in (await served.send_async("GET", "/metrics")).text:
                    await asyncio.sleep(0.001)

        served.run(live())
        assert served.get("/readyz").json() == {"ready": True, "missing": []}
        assert 'swapcli_market_pools{network="testnet"} 5.0' in served.get("/metrics").text
        assert 'swapcli_market_age_seconds{network="testnet"} 7200.0' in served.get("/metrics").text
    finally:
        served.close()


def broken_market() -> MarketState:
    raise MarketError("/home/me/secret.json: pools: must be an array")


def test_an_unloadable_market_is_unavailable_without_details() -> None:
    with in_process_service("testnet") as served:
        served.registry = MarketRegistry(
            [open_testnet_market().network],
            {"testnet": broken_market},
            served.fake_clock.clock,
            price_request=PriceRequest.OFFLINE,
        )
        served.app = create_app(served.registry, ServiceSettings())
        answers = [
            served.get("/testnet/route", build_order_query("testnet")),
            served.post("/testnet/calldata", {**build_order_query("testnet"), **build_swap_terms("testnet")}),
            served.get("/testnet/tokens"),
        ]
        message = {
            "statusCode": 503,
            "message": "the market of testnet cannot be loaded",
            "hint": "retry later",
            "code": "MARKET_UNAVAILABLE",
            "error": "Service Unavailable",
        }
        assert [(answer.status_code, answer.json()) for answer in answers] == [(503, message)] * 3
        health = served.get("/testnet/healthcheck")
        assert (health.status_code, health.json()) == (503, {"staus": 503, "message": message["message"]})
        v2 = served.get("/testnet/v2/healthcheck").json()
        assert v2["status"] == 503
        assert v2["meta"]["apiVersion"] == "2.0"
        assert served.get("/readyz").status_code == 503
        assert not re.search("secret", "".join(answer.text for answer in answers))


def test_a_network_without_a_market_exists_and_is_unavailable() -> None:
    with in_process_service("testnet") as served:
        served.registry = MarketRegistry(
            [open_testnet_market().network], {}, served.fake_clock.clock, price_request=PriceRequest.OFFLINE
        )
        served.app = create_app(served.registry, ServiceSettings())
        assert served.get("/testnet/route", build_order_query("testnet")).status_code == 503
        assert served.get("/supported-chains").json() == []
        assert served.get("/readyz").status_code == 503


def test_state_of_a_node_that_is_too_old_is_not_quoted_on() -> None:
    aged = open_testnet_market()._replace(provenance=Provenance.SYNCED)
    served = InProcessService({"testnet": lambda: aged})
    try:
        answer = served.get("/testnet/route", build_order_query("testnet"))
        assert answer.status_code == 503
        assert "7200 seconds old" in answer.json()["message"]
        assert served.get("/testnet/healthcheck").json()["staus"] == 503
    finally:
        served.close()


def test_health_is_sampled_anew_before_it_is_ten_seconds_old(service: InProcessService) -> None:
    assert service.get("/testnet/healthcheck").json()["staus"] == 200
    service.registry._sources["testnet"] = Broken(open_testnet_market(), service.fake_clock.clock)
    service.fake_clock.advance(2)
    assert service.get("/testnet/healthcheck").status_code == 200
    service.fake_clock.advance(9)
    assert service.get("/testnet/healthcheck").status_code == 500


def test_health_uses_the_cached_result_while_the_worker_is_busy() -> None:
    with in_process_service("testnet") as served:
        assert served.get("/testnet/healthcheck").status_code == 200
        Endless.begun = 0
        served.registry._sources["testnet"] = Endless(open_testnet_market(), served.fake_clock.clock)

        async def visits() -> None:
            client = Leaver(served.app, query_of("testnet"))
            while not Endless.begun:
                await asyncio.sleep(0.001)
            served.fake_clock.advance(9)
            response = await served.send_async("GET", "/testnet/healthcheck")
            assert response.status_code == 200
            served.fake_clock.advance(2)
            response = await served.send_async("GET", "/testnet/healthcheck")
            message = "testnet router is busy: no sample order was quoted for 11 seconds"
            assert (response.status_code, response.json()) == (503, {"staus": 503, "message": message})
            client.has_left.set()
            await client.task

        served.run(visits())


@pytest.mark.parametrize(
    "path", ["/testnet/route", "/testnet/v2/healthcheck", "/testnet/tokens/weth", "/livez", "/docs"]
)
def test_repeated_slashes_and_one_at_the_end_change_nothing(service: InProcessService, path: str) -> None:
    query = f"?{urlencode(build_order_query('testnet'))}" if path.endswith("route") else ""
    expected = service.send("GET", path + query)
    spellings = [f"/{path}", path.replace("/", "//"), f"///{path.lstrip('/')}"]
    spellings += [f"{path}/", f"{path}//", f"/{path}/"] if path != "/docs" else []
    for spelling in spellings:
        answer = service.send("GET", f"http://service.test{spelling}{query}")
        assert answer.status_code == expected.status_code != 404
        assert answer.headers["content-type"] == expected.headers["content-type"]
    text = service.get("/metrics").text
    assert 'endpoint="other"' not in text


def test_a_health_check_stays_one_with_more_slashes() -> None:
    for path in ("/livez", "/testnet/healthcheck", "/testnet/v2/healthcheck"):
        for spelling in (path, f"{path}/", f"/{path}//"):
            assert classify_path(canonical_path(spelling)) is RequestClass.HEALTH


def test_the_document_has_every_served_path_and_no_other(service: InProcessService) -> None:
    described = set(json.loads(service.get("/openapi.json").text)["paths"])
    table = {each.path for each in ENDPOINTS if each.exists_on(open_testnet_market().network)}
    names = {path.replace("/testnet/", "/{network}/") for path in described}
    assert table <= names
    assert all(
        service.send("GET", path.replace("{network}", "testnet")).status_code != 404
        for path in described - {path for path in described if "{address}" in path}
    )
