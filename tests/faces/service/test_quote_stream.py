"""Streams of quotes over real connections: an event for each change, one search for all listeners, and their ends."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from urllib.parse import urlencode, urlsplit

import httpx
import pytest

from bench.scale.cluster import nginx_config
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.routing.search_memory import SearchMemory
from swapcli.faces.service import quote_stream
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.app import create_app
from swapcli.faces.service.key_file import ApiKey, KeyLookup
from swapcli.faces.service.key_plans import KeyPlan
from swapcli.faces.service.market_registry import MarketRegistry, ServiceRules
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.price_policy import PriceRequest
from swapcli.quoting.sources.in_memory import InMemorySource
from tests.examples import few, few_rows
from tests.support.redis_server import free_ports
from tests.support.service import FakeClock, build_order_query, open_testnet_market, serve_over_sockets
from tests.support.service_process import receive_all
from tests.support.waiting import until

PATH = "/testnet/v2/route/events"
MAX_AGE_S = 20


class Event(NamedTuple):
    """One event of a stream."""

    name: str
    id: str | None
    data: Any


class Service:
    """A followed service of `testnet` whose blocks the test makes."""

    def __init__(self, settings: ServiceSettings | None = None) -> None:
        self.clock = FakeClock()
        self.market = open_testnet_market()
        self.registry = MarketRegistry(
            [self.market.network],
            {},
            self.clock.clock,
            followed=["testnet"],
            rules=ServiceRules(max_age_s=MAX_AGE_S),
            price_request=PriceRequest.OFFLINE,
        )
        self.log = io.StringIO()
        self.app = create_app(self.registry, settings or ServiceSettings(), log=AccessLog(self.log))
        self.block = 100
        self.url = ""

    def mine(self, stride: int = 1, gas_price_wei: int | None = None) -> None:
        """Publish a block with every `stride`-th pool: other pools, another quote."""
        self.block += 1
        state = self.state(stride)
        if gas_price_wei is not None:
            state = state._replace(gas_price_wei=gas_price_wei)
        self.registry.set_source(InMemorySource(state, self.clock.clock))

    def state(self, stride: int) -> MarketState:
        pools = dict(list(self.market.pools.items())[::stride])
        return self.market._replace(
            pools=pools, block=self.block, timestamp=int(self.clock.now_s), provenance=Provenance.SYNCED
        )

    def metric(self, name: str) -> float:
        lines = self.app.metrics.render().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(name))

    @contextmanager
    def listening(self, headers: Mapping[str, str] | None = None, /, **query: str) -> Iterator[Iterator[Event]]:
        """Open a stream; yield its events."""
        order = {**build_order_query("testnet"), **query}
        with (
            httpx.Client(base_url=self.url, timeout=60) as client,
            client.stream("GET", PATH, params=order, headers=headers or {}) as response,
        ):
            assert response.status_code == 200, response.read()
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            yield events_of(response.iter_lines())

    def get(self, **query: str) -> httpx.Response:
        order = {**build_order_query("testnet"), **query}
        return httpx.get(self.url + PATH, params=order, timeout=60)


def events_of(lines: Iterator[str]) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith(":"):
            continue  # a comment, which keeps the connection open
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield Event(fields["event"], fields.get("id"), json.loads(fields["data"]))
            fields = {}


@contextmanager
def serving(settings: ServiceSettings | None = None, timeout_s: float = 10.0) -> Iterator[Service]:
    service = Service(settings)
    service.mine()
    with serve_over_sockets(service.app, timeout_s) as service.url:
        yield service


def test_each_changed_quote_is_an_event() -> None:
    with serving() as service, service.listening() as events:
        first = next(events)
        route = httpx.get(f"{service.url}/testnet/v2/route", params=build_order_query("testnet")).json()
        assert first.name == "quote"
        assert first.data["quote"] == route
        assert first.data["state"] == {"kind": "synced", "block": 101, "ageS": 0, "tag": "latest"}
        service.mine(stride=2)
        second = next(events)
        assert second.data["state"]["block"] == 102
        assert second.data["quote"]["outputAmount"] != route["outputAmount"]
        assert second.id is not None
        assert first.id != second.id
        assert second.id.startswith("102-")


def test_a_block_that_changes_nothing_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quote_stream, "HEARTBEAT_S", 0.2)
    with serving() as service, service.listening(details="true") as events:
        assert next(events).data["quote"]["minReceived"]
        service.clock.advance(2)
        service.mine()
        until(lambda: service.metric("swapcli_event_delay_seconds_count") == 1)
        state = next(each for each in events if each.data.get("state", {}).get("block") == 102)
        assert state == Event(
            "heartbeat", None, {"state": {"kind": "synced", "block": 102, "ageS": 0, "tag": "latest"}}
        )


def test_heartbeats_come_while_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quote_stream, "HEARTBEAT_S", 0.3)
    with serving() as service, service.listening() as events:
        next(events)
        stop = threading.Event()

        def mine() -> None:
            while not stop.wait(0.05):
                service.mine()

        miner = threading.Thread(target=mine)
        miner.start()
        try:
            assert [next(events).name for _ in range(2)] == ["heartbeat", "heartbeat"]
        finally:
            stop.set()
            miner.join()


def test_what_gas_time_and_usd_prices_change_is_not_a_new_quote() -> None:
    with serving() as service, service.listening(details="true") as events:
        first = next(events)
        service.clock.advance(5)
        service.mine(gas_price_wei=service.market.gas_price_wei + 1_000)
        with service.listening(details="true") as others:
            other = next(others)
        assert (other.id or "").partition("-")[::2] == ("102", (first.id or "").partition("-")[2])
        quotes = [each.data["quote"] for each in (first, other)]
        differing = {name for name in quotes[0] if quotes[0][name] != quotes[1][name]}
        assert {"gasPriceWei", "estimatedGasUsed", "outputAfterGas", "expiresAt", "state", "meta"} <= differing
        service.mine(stride=2)
        assert next(events).data["state"]["block"] == 103


def test_a_worker_behind_repeats_no_former_quote() -> None:
    with serving() as service:
        with service.listening() as events:
            old = next(events)
            service.mine(stride=2)
            seen = next(events).id
        service.block -= 2
        service.mine()
        with service.listening({"Last-Event-ID": seen or ""}) as events:
            until(lambda: service.metric("swapcli_streams_open") == 1)
            service.mine(stride=2)
            service.mine()
            again = next(events)
        assert again.data["state"]["block"] == 103
        assert again.data["quote"]["outputAmount"] == old.data["quote"]["outputAmount"]


def test_a_search_of_a_stream_starts_from_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*_: object) -> NoReturn:
        raise AssertionError("the result depends on the orders before")

    monkeypatch.setattr(SearchMemory, "search", search)
    with serving() as service, service.listening() as events:
        assert next(events).data["quote"]["success"] is True
        assert "defect" not in service.log.getvalue()


def test_all_listeners_of_an_order_share_a_search() -> None:
    with serving() as service:
        first, second = {"amount": "1000000000000000"}, {"amount": "2000000000000000"}
        with (
            service.listening(**first) as one,
            service.listening(**first) as two,
            service.listening(**{"shares": "whole", **first}) as three,
            service.listening(**second) as other,
        ):
            opened = [next(each) for each in (one, two, three, other)]
            assert service.metric("swapcli_streams_open") == 4
            assert service.metric("swapcli_event_delay_seconds_count") == 0
            for number in range(1, 6):
                service.mine(stride=1 + number % 2)
                got = [next(each) for each in (one, two, three, other)]
                assert len({each.id for each in got[:3]}) == 1
                assert {each.id for each in got}.isdisjoint(each.id for each in opened)
                assert service.metric("swapcli_event_delay_seconds_count") == 2 * number
                opened = got
        until(lambda: service.metric("swapcli_streams_open") == 0)


def test_a_client_that_reconnects_gets_only_news(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quote_stream, "HEARTBEAT_S", 0.1)
    with serving() as service:
        with service.listening() as events:
            seen = next(events).id
        assert seen is not None
        service.mine()
        with service.listening({"Last-Event-ID": seen}) as events:
            assert next(events).name == "heartbeat"
        service.mine(stride=2)
        with service.listening({"Last-Event-ID": seen}) as events:
            assert next(events).name == "quote"


@pytest.mark.parametrize("last", few(["", "-", "nonsense", "1-" + "0" * 24, "-" * 500], 2))
def test_an_unknown_last_event_gets_the_quote(last: str) -> None:
    with serving() as service, service.listening({"Last-Event-ID": last}) as events:
        assert next(events).name == "quote"


def test_no_quote_is_sent_of_old_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quote_stream, "HEARTBEAT_S", 0.1)
    with serving() as service, service.listening() as events:
        quote = next(events)
        service.clock.advance(MAX_AGE_S + 1)
        old = next(each for each in events if each.name != "heartbeat")
        assert (old.name, old.data["statusCode"]) == ("unavailable", 503)
        assert service.get().status_code == 503
        service.mine()
        again = next(each for each in events if each.name != "heartbeat")
        assert again.name == "quote"
        assert again.data["quote"]["outputAmount"] == quote.data["quote"]["outputAmount"]


@pytest.mark.parametrize(
    ("query", "status"),
    few_rows(
        [
            ({"amount": "0"}, 400),
            ({"tokenInAddress": "0x12"}, 400),
            ({"excludeProtocols": "77777"}, 400),
            ({"reverse": "true"}, 400),
            ({"integratorAddress": "0x" + "ab" * 20, "integratorFeePercentageBps": "5"}, 401),
        ],
        2,
    ),
)
def test_a_bad_order_is_refused_as_by_the_route(query: dict[str, str], status: int) -> None:
    with serving() as service:
        order = {**build_order_query("testnet"), **query}
        answer, route = service.get(**query), httpx.get(f"{service.url}/testnet/v2/route", params=order)
        assert answer.status_code == route.status_code == status
        assert answer.json()["message"] == route.json()["message"]
        assert service.metric("swapcli_streams_open") == 0


def test_an_order_without_a_route_is_an_event() -> None:
    with serving() as service, service.listening(tokenOutAddress="0x" + "99" * 20) as events:
        event = next(events)
        assert event.data["quote"]["success"] is False
        assert (event.id or "").startswith("101-")


def test_the_head_alone_can_be_requested() -> None:
    with serving() as service:
        answer = httpx.head(service.url + PATH, params=build_order_query("testnet"))
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-swap-state"].startswith("synced;block=101")


def test_open_streams_are_limited() -> None:
    with serving(ServiceSettings(streams=2, limit_loopback=True)) as service:
        with service.listening(), service.listening():
            refused = service.get()
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "15"
        until(lambda: service.metric("swapcli_streams_open") == 0)
        with service.listening() as events:
            assert next(events).name == "quote"
    with serving(ServiceSettings(max_connections=4)) as service, service.listening(), service.listening():
        assert service.get().status_code == 503


@pytest.mark.parametrize("plan", [None, KeyPlan(networks=("base",))])
def test_the_stream_of_a_revoked_key_ends(plan: KeyPlan | None) -> None:
    """Also if the network is no longer in its plan."""

    class Keys(KeyLookup):
        """Accepts one key until it is changed."""

        found: ApiKey | None = ApiKey("0a1b2c3d", "Acme", created_s=0)

        def find(self, key: str) -> ApiKey | None:
            return self.found if key == "secret" else None

    keys = Keys()
    with serving() as service, service.listening() as others:
        service.app.policy.replace(ServiceSettings(), keys)
        with service.listening({"X-API-Key": "secret"}) as events:
            assert (next(events).name, next(others).name) == ("quote", "quote")
            keys.found = plan and ApiKey("0a1b2c3d", "Acme", created_s=0, plan=plan)
            service.mine(stride=2)
            assert next(others).name == "quote"
            service.mine()
            assert next(others).name == "quote"
            assert len(list(events)) <= 1


def test_streams_without_a_key_end_once_keys_are_required() -> None:
    """As after a SIGHUP. Streams with a valid key go on."""

    class Keys(KeyLookup):
        def find(self, key: str) -> ApiKey | None:
            return ApiKey("0a1b2c3d", "Acme", created_s=0) if key == "secret" else None

    with serving() as service, service.listening() as anonymous:
        service.app.policy.replace(ServiceSettings(), Keys())
        with service.listening({"X-API-Key": "secret"}) as named:
            assert (next(anonymous).name, next(named).name) == ("quote", "quote")
            service.app.policy.replace(ServiceSettings(require_keys=True), Keys())
            service.mine(stride=2)
            assert next(named).name == "quote"
            service.mine()
            assert next(named).name == "quote"
            assert len(list(anonymous)) <= 1


def test_the_searches_of_a_stream_count_for_its_key() -> None:
    """At once, not when the stream ends."""

    class Keys(KeyLookup):
        def find(self, key: str) -> ApiKey | None:
            return ApiKey("0a1b2c3d", "Acme", created_s=0) if key == "secret" else None

    cpu = 'swapcli_key_search_cpu_seconds_total{key="0a1b2c3d"}'
    with serving() as service:
        service.app.policy.replace(ServiceSettings(), Keys())
        with service.listening({"X-API-Key": "secret"}) as events:
            assert next(events).name == "quote"
            first_s = service.metric(cpu)
            service.mine(stride=2)
            assert next(events).name == "quote"
            assert 0 < first_s < service.metric(cpu)
    line = next(line for line in map(json.loads, service.log.getvalue().splitlines()) if line.get("key"))
    assert (line["key"], line["status"]) == ("0a1b2c3d", 200)
    assert line["cpu_ms"] == pytest.approx(1_000 * service.metric(cpu), abs=0.001)


def test_a_client_that_does_not_read_is_dropped() -> None:
    with serving(timeout_s=1.0) as service, socket.socket() as stalled, service.listening() as events:
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        stalled.connect(address_of(service))
        query = urlencode({**build_order_query("testnet"), "details": "true"})
        stalled.sendall(f"GET {PATH}?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert next(events).name == "quote"
        until(lambda: service.metric("swapcli_streams_open") == 2)

        def is_dropped() -> bool:
            service.mine(stride=1 + service.block % 2)
            assert next(events).name == "quote", "others get every block meanwhile"
            return service.metric("swapcli_streams_open") == 1

        until(is_dropped)
        assert service.metric("swapcli_streams_dropped_total") == 1


def test_a_defect_in_the_first_search_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> NoReturn:
        raise AssertionError("a defect")

    monkeypatch.setattr(quote_stream, "_describe", fail)
    with serving() as service:
        answer = service.get()
        assert (answer.status_code, "requestId" in answer.json()) == (500, True)
        assert "AssertionError" in service.log.getvalue()


def test_a_stream_that_waits_for_its_first_quote_ends_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """As any other: clients of events do not connect again after an error."""
    stopping = asyncio.Event()
    monkeypatch.setattr(quote_stream, "get_closing", lambda _: stopping)
    with serving() as service:
        stopping.set()
        answer = service.get()
        assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, "text/event-stream")


def test_a_stopping_service_ends_its_streams() -> None:
    ended: list[Callable[[], list[Event]]] = []
    with serving() as service:
        client = httpx.Client(base_url=service.url, timeout=60)
        response = client.send(client.build_request("GET", PATH, params=build_order_query("testnet")), stream=True)
        lines = response.iter_lines()
        assert next(events_of(lines)).name == "quote"
        ended.append(lambda: list(events_of(lines)))
    assert ended[0]() == [], "the response is complete"
    client.close()


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_a_stream_that_ends_closes_its_connection_as_its_header_says(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks tell clients of HTTP/1.1 that the response is complete; those of HTTP/1.0 know none."""
    monkeypatch.setattr(quote_stream, "MAX_STREAM_S", 0.3)
    monkeypatch.setattr(quote_stream, "HEARTBEAT_S", 0.1)
    with serving() as service, socket.create_connection(address_of(service)) as connection:
        query = urlencode(build_order_query("testnet"))
        headers = "Host: x\r\nConnection: keep-alive\r\n\r\n"
        connection.sendall(f"GET {PATH}?{query} HTTP/{version}\r\n{headers}".encode())
        head, _, body = receive_all(connection).partition(b"\r\n\r\n")
    names = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert names[b"connection"] == b"close"
    assert b"content-length" not in names
    assert (names.get(b"transfer-encoding"), body.startswith(b"event: quote\n"), body.endswith(b"\r\n0\r\n\r\n")) == (
        (b"chunked", False, True) if version == "1.1" else (None, True, False)
    )
    assert body.count(b"event: heartbeat\n") >= 2


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_a_proxy_keeps_the_connection_of_its_client(
    version: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """nginx as `examples/region` has it, and with the version of HTTP that is its default."""
    monkeypatch.setattr(quote_stream, "MAX_STREAM_S", 0.3)
    monkeypatch.setattr(quote_stream, "HEARTBEAT_S", 0.1)
    (port,) = free_ports(1)
    with serving() as service:
        file = tmp_path / "nginx.conf"
        config = nginx_config(tmp_path, port, [address_of(service)[1]])
        file.write_text(config.replace("proxy_http_version 1.1", f"proxy_http_version {version}"))
        options = ("-p", str(tmp_path), "-e", str(tmp_path / "log"), "-c", str(file))
        with subprocess.Popen(["nginx", *options, "-g", f"daemon off; pid {tmp_path}/nginx.pid;"]) as proxy:
            try:
                until(lambda: is_open(port))
                connection = HTTPConnection("127.0.0.1", port)
                for _ in range(2):
                    connection.request("GET", f"{PATH}?{urlencode(build_order_query('testnet'))}")
                    local = connection.sock.getsockname()
                    response = connection.getresponse()
                    assert response.headers["Transfer-Encoding"] == "chunked"
                    assert b"event: quote\n" in response.read()
                    assert connection.sock.getsockname() == local
                connection.close()
            finally:
                proxy.terminate()


def address_of(service: Service) -> tuple[str, int]:
    parts = urlsplit(service.url)
    return parts.hostname or "", parts.port or 0


def is_open(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0
