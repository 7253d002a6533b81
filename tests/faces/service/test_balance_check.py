"""Execute on hyperevm asks its node whether the wallet holds what it sells, beside all other orders."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientBalance, UpstreamTimeout
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.catalogue import find_network
from swapcli.faces.service import balance_check
from swapcli.faces.service.app import create_app
from swapcli.faces.service.balance_check import MAX_WAITING, TIMEOUT_S, BalanceChecker
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.price_policy import PriceRequest
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.rpc.node import StateOverrideNode
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.anvil import CHAIN_ID
from tests.chain.contract_fixture import WETH
from tests.chain.settings import url_of
from tests.chain.trader import USER, Trader
from tests.support.chain import restored
from tests.support.trace_collector import run_collector

POOR = "0x" + "90" * 20
BALANCE_WEI = 3 * 10**18
DETAILED, PLAIN = "hyperevm", "anvil"


class Service:
    """Two networks of one chain, one of them with the manners of hyperevm."""

    def __init__(self, market: MarketState, nodes: Mapping[str, StateOverrideNode]) -> None:
        own = market.network
        markets = {name: market._replace(network=own._replace(name=name)) for name in (DETAILED, PLAIN)}
        self.registry = MarketRegistry(
            [each.network for each in markets.values()], {}, followed=markets, price_request=PriceRequest.OFFLINE
        )
        for each in markets.values():
            self.registry.set_source(InMemorySource(each, self.registry.clock))
        self.app = create_app(self.registry, ServiceSettings(), nodes=nodes)

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        transport = httpx.ASGITransport(app=self.app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://service.example") as client:
            return await client.request(method, path, **more)

    async def route(self, name: str, sold: str, bought: str, amount: int = BALANCE_WEI) -> Any:
        order = {"amount": str(amount), "tokenInAddress": sold, "tokenOutAddress": bought}
        return (await self.ask("GET", f"/{name}/route", params=order)).json()

    async def execute(self, name: str, route: Any, wallet: str) -> httpx.Response:
        return await self.ask("POST", f"/{name}/execute", json={"route": route, "slippage": 0.5, "destination": wallet})


@pytest.fixture(scope="module")
def market(shared_trader: Trader) -> Iterator[tuple[MarketState, str]]:
    """A market, and the URL of its node. The user has plenty, `POOR` a unit less than `BALANCE_WEI`."""
    with restored(shared_trader) as trader:
        trader.chain.fund(POOR, BALANCE_WEI - 1)
        block = int(trader.chain.node.ask("eth_blockNumber"), 16)
        yield trader.market._replace(block=block), url_of(trader.chain)


@contextmanager
def node_at(url: str) -> Iterator[dict[str, StateOverrideNode]]:
    node = RpcNode([RpcEndpoint(url, "a node")], CHAIN_ID, NodePolicy(timeout_s=20))
    try:
        yield {DETAILED: node, PLAIN: node}
    finally:
        node.close()


@pytest.fixture
def has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, an honest node may need more than the service allows."""
    monkeypatch.setattr(balance_check, "TIMEOUT_S", 60.0)


@pytest.mark.usefixtures("has_time")
def test_a_low_balance_is_refused_on_hyperevm_alone(market: tuple[MarketState, str]) -> None:
    stored, url = market
    weth, usdc = (next(t.address for t in stored.tokens.values() if t.symbol == each) for each in (WETH, "USDC"))

    async def go(service: Service) -> None:
        orders = (ZERO_ADDRESS, usdc, BALANCE_WEI), (weth, usdc, BALANCE_WEI), (usdc, ZERO_ADDRESS, 3_000 * 10**6)
        for sold, bought, amount in orders:
            for name in (DETAILED, PLAIN):
                route = await service.route(name, sold, bought, amount)
                rich, poor = [await service.execute(name, route, wallet) for wallet in (USER, POOR)]
                assert rich.status_code == 200
                assert poor.status_code == (400 if name == DETAILED else 200)
                if name == DETAILED:
                    assert poor.json() == {"success": False, "error": "Insufficient balance", "details": details[sold]}
        less = await service.route(DETAILED, ZERO_ADDRESS, usdc, BALANCE_WEI - 1)
        assert (await service.execute(DETAILED, less, POOR)).status_code == 200

    details = {
        ZERO_ADDRESS: "Insufficient balance: the sender holds 2.999999999999999999 ETH, but the swap takes 3 ETH",
        weth: "Insufficient balance: the sender holds 0 WETH, but the swap takes 3 WETH",
        usdc: "Insufficient balance: the sender holds 0 USDC, but the swap takes 3,000 USDC",
    }
    with node_at(url) as nodes:
        asyncio.run(go(Service(stored, nodes)))


@contextmanager
def recording_proxy(url: str) -> Iterator[tuple[str, list[str | None]]]:
    """A proxy before a node; yield its URL, and the header `traceparent` of each request that has passed it."""
    passed = list[str | None]()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            passed.append(self.headers["traceparent"])
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = httpx.post(url, content=body, headers={"Content-Type": "application/json"}).content
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", passed
        server.shutdown()


@pytest.mark.usefixtures("has_time")
def test_the_node_gets_the_trace_of_the_client(
    market: tuple[MarketState, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the request's own span as the caller, which a collector gets with the call of the node inside."""
    stored, url = market
    trace_id, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

    async def go(service: Service) -> None:
        route = await service.route(DETAILED, ZERO_ADDRESS, stored.network.stablecoins[0])
        assert passed == []
        body = {"route": route, "slippage": 0.5, "destination": USER}
        headers = {"traceparent": f"00-{trace_id}-{caller}-01"}
        async with service.app.lifespan():
            response = await service.ask("POST", f"/{DETAILED}/execute", json=body, headers=headers)
        assert response.status_code == 200

    with run_collector() as collector, recording_proxy(url) as (proxy_url, passed), node_at(proxy_url) as nodes:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        asyncio.run(go(Service(stored, nodes)))
        (request,) = (each for each in collector.spans if each["parent_id"] == caller)
    assert set(passed) == {f"00-{trace_id}-{request['span_id']}-01"}
    parts = [each["name"] for each in collector.spans if each["parent_id"] == request["span_id"]]
    assert (parts[:3], set(parts[3:])) == (["replay", "queue", "search"], {"node"})


def test_a_wrong_route_is_refused_before_the_balance_check(market: tuple[MarketState, str]) -> None:
    stored, url = market

    async def go(service: Service) -> None:
        route = await service.route(DETAILED, ZERO_ADDRESS, stored.network.stablecoins[0])
        response = await service.execute(DETAILED, {**route, "outputAmount": "1" + route["outputAmount"]}, POOR)
        assert response.json()["error"] == "Slippage exceeded"

    with node_at(url) as nodes:
        asyncio.run(go(Service(stored, nodes)))


@pytest.mark.slow
def test_without_a_node_answer_no_order_is_refused_or_delayed(market: tuple[MarketState, str]) -> None:
    stored, _ = market
    usdc = stored.network.stablecoins[0]

    async def go(service: Service) -> float:
        route = await service.route(DETAILED, ZERO_ADDRESS, usdc)
        started_s = time.monotonic()
        executing = asyncio.create_task(service.execute(DETAILED, route, POOR))
        await asyncio.sleep(0.2)
        requested_s = time.monotonic()
        assert (await service.route(PLAIN, ZERO_ADDRESS, usdc))["success"] is True
        assert time.monotonic() - requested_s < TIMEOUT_S / 2, "orders do not wait for checks"
        assert (await executing).status_code == 200
        return time.monotonic() - started_s

    assert asyncio.run(go(Service(stored, {}))) < TIMEOUT_S
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        node_at(f"http://127.0.0.1:{silent.getsockname()[1]}") as nodes,
    ):
        assert TIMEOUT_S <= asyncio.run(go(Service(stored, nodes))) < 2 * TIMEOUT_S
    with node_at("http://127.0.0.1:1") as nodes:
        assert asyncio.run(go(Service(stored, nodes))) < 2 * TIMEOUT_S


@given(st.integers(0, 3 * MAX_WAITING), st.booleans())
def test_what_cannot_be_checked_has_no_objection(count: int, is_poor: bool) -> None:
    """However many ask at once: those that are checked are refused if they are poor, the others never."""

    def check(_: object) -> None:
        if is_poor:
            raise InsufficientBalance("too little")
        raise UpstreamTimeout("no answer")

    async def go() -> list[object]:
        checker = BalanceChecker({"here": RpcNode([RpcEndpoint("http://127.0.0.1:1", "a node")], 1)})
        try:
            checks = [checker.run("here", check) for _ in range(count)]
            answers: list[object] = list(await asyncio.gather(*checks, return_exceptions=True))
            assert await asyncio.gather(*(checker.run("there", check) for _ in range(count))) == [None] * count
            return answers
        finally:
            checker.close()

    response = asyncio.run(go())
    refused = [each for each in response if isinstance(each, InsufficientBalance)]
    assert len(refused) + response.count(None) == count
    assert (min(count, MAX_WAITING) <= len(refused)) if is_poor else not refused


def test_only_hyperevm_checks() -> None:
    from swapcli.core.networks.catalogue import network_names
    from swapcli.interface.interface_by_network import network_variant

    assert [name for name in network_names() if network_variant(name).execute_checks_balance] == [DETAILED]
    assert find_network(DETAILED).name == DETAILED
