"""Services in this process: with a fake clock and without sockets, or over HTTP from a thread."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from threading import Event, Thread
from typing import Any

import httpx
import uvicorn

from swapcli.core.model.market import MarketState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.address import display_address
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.service import server
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.app import ServiceApp, create_app
from swapcli.faces.service.key_file import KeyLookup
from swapcli.faces.service.listeners import base_url, bind
from swapcli.faces.service.market_registry import MarketOpener, MarketRegistry, ServiceRules
from swapcli.faces.service.redis_state import RedisState
from swapcli.interface.timestamps import format_iso_utc
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.price_policy import PriceRequest
from swapcli.state.clock import Clock
from tests.support.markets import embedded_market
from tests.support.testnet import NOW_S, USDC, build_market_document, build_testnet_market

RECIPIENT = "0x" + "12" * 20
FELT_RECIPIENT = "0x0" + "12" * 31 + "1"
ROUTER = "0x" + "77" * 20
EVM_NETWORKS = tuple(name for name in network_names() if name != "starknet")
JSON = {"Content-Type": "application/json"}

Json = Any


class FakeClock:
    """A clock that stands still until `advance` moves it."""

    def __init__(self, now_s: float = NOW_S) -> None:
        self.now_s = now_s
        self.clock = Clock(lambda: self.now_s, lambda: self.now_s)

    def advance(self, seconds: float) -> None:
        self.now_s += seconds


@cache
def open_testnet_market() -> MarketState:
    """Return the market of `testnet`, with a router."""
    document = build_market_document()
    return build_testnet_market(network=document["network"] | {"router": ROUTER})


class InProcessService:
    """A service and its client. Requests use no socket."""

    def __init__(
        self,
        markets: Mapping[str, MarketOpener],
        *,
        settings: ServiceSettings | None = None,
        keys: KeyLookup | None = None,
        clock: FakeClock | None = None,
        client: str = "127.0.0.1",
        state: RedisState | None = None,
        allowed_recipients: Iterable[str] = (),
    ) -> None:
        self.fake_clock = clock or FakeClock()
        networks = [
            find_network(name) if name in network_names() else opener().network for name, opener in markets.items()
        ]
        self.registry = MarketRegistry(
            networks,
            markets,
            self.fake_clock.clock,
            ServiceRules(allowed_recipients=tuple(allowed_recipients)),
            price_request=PriceRequest.OFFLINE,
        )
        self.log = io.StringIO()
        self.app: ServiceApp = create_app(
            self.registry, settings or ServiceSettings(), keys=keys or KeyLookup(), log=AccessLog(self.log), state=state
        )
        self._client = client
        self._runner = asyncio.Runner()

    def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Return the response to a request; `request` has the parameters of `httpx.Client.request`."""
        answer: httpx.Response = self.run(self.send_async(method, path, **request))
        return answer

    async def send_async(self, method: str, path: str, **request: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self.app, client=(self._client, 1234))
        async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as client:
            response: httpx.Response = await client.request(method, path, **request)
            return response

    async def send_raw(self, method: str, path: str, query: bytes) -> tuple[int, bytes]:
        """Send a query that no client library would send; return status and body."""
        sent: list[Any] = []
        waits = asyncio.Event()
        arrived = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> Any:
            for message in arrived:
                return message
            return await waits.wait()

        async def send(message: Any) -> None:
            sent.append(message)

        request: dict[str, Any] = {"method": method, "path": path, "query_string": query, "headers": [], "client": None}
        scope = {"type": "http", **request}
        await self.app(scope, receive, send)
        return sent[0]["status"], b"".join(message["body"] for message in sent[1:])

    def run(self, work: Any) -> Any:
        """Run a coroutine on the loop of the service."""
        return self._runner.run(work)

    @property
    def v2_metadata(self) -> Json:
        """Return the metadata of a V2 response sent now."""
        return {"apiVersion": "2.0", "timestamp": format_iso_utc(int(self.registry.clock.now_s() * 1000))}

    def get(self, path: str, query: Mapping[str, object] | None = None, **request: Any) -> httpx.Response:
        return self.send("GET", path, params=dict(query or {}), **request)

    def post(self, path: str, body: Json, **request: Any) -> httpx.Response:
        return self.send("POST", path, json=body, **request)

    def get_json(self, path: str, query: Mapping[str, object]) -> Json:
        """Return the document of a response that must be a success."""
        answer = self.get(path, query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def log_lines(self) -> list[Json]:
        """Return the lines of the log so far."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]

    def close(self) -> None:
        self._runner.close()


@contextmanager
def in_process_service(*names: str, **settings: Any) -> Iterator[InProcessService]:
    """Run a service of embedded markets and of `testnet`."""
    served = InProcessService({name: market_opener(name) for name in names}, **settings)
    try:
        yield served
    finally:
        served.close()


def market_opener(name: str) -> Callable[[], MarketState]:
    return open_testnet_market if name == "testnet" else lambda: embedded_market(name)


def build_order_query(name: str, amount: int | None = None, **more: str) -> dict[str, str]:
    """Return a query that finds a route: the native token for the first stablecoin."""
    market = open_testnet_market() if name == "testnet" else embedded_market(name)
    served = market.network
    native = served.native.address if name == "starknet" else ZERO_ADDRESS
    dollar = USDC if name == "testnet" else next(each for each in served.stablecoins if each in market.tokens)
    return {
        "amount": str(10**18 if amount is None else amount),
        "tokenInAddress": native,
        "tokenOutAddress": display_address(dollar, served.kind),
        **more,
    }


def recipient_on(name: str) -> str:
    return FELT_RECIPIENT if name == "starknet" else RECIPIENT


def build_swap_terms(name: str, slippage: Any = 0.5) -> dict[str, Any]:
    return {"slippage": slippage, "destination": recipient_on(name)}


BASE_URL = "http://service.example"


def open_registry(names: Iterable[str] | None = None) -> MarketRegistry:
    """Return a registry with open markets."""
    served = tuple(names or network_names())
    registry = MarketRegistry(
        [find_network(name) for name in served],
        {name: partial(embedded_market, name) for name in served},
        price_request=PriceRequest.OFFLINE,
    )
    for name in served:
        registry.open_source(name)
    return registry


def build_app(
    registry: MarketRegistry | None = None, settings: ServiceSettings | None = None, **others: Any
) -> ServiceApp:
    """Return the application on embedded markets."""
    return create_app(registry or open_registry(), settings or ServiceSettings(), **others)


@contextmanager
def serve_app(app: ServiceApp) -> Iterator[str]:
    """Serve an application over HTTP from a thread; yield its URL."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, log_level="critical", access_log=False)
    running = uvicorn.Server(config)
    thread = Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        assert thread.is_alive()
        time.sleep(0.01)
    host, port = running.servers[0].sockets[0].getsockname()
    try:
        yield f"http://{host}:{port}"
    finally:
        running.should_exit = True
        thread.join()


SendRequest = Callable[..., httpx.Response]


@contextmanager
def open_client(app: ServiceApp) -> Iterator[SendRequest]:
    """Start the application, and yield a function that sends requests to it, with the arguments of httpx."""

    async def start() -> tuple[Any, httpx.AsyncClient]:
        life = app.lifespan()
        await life.__aenter__()
        return life, httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE_URL)

    async def end(life: Any, client: httpx.AsyncClient) -> None:
        await client.aclose()
        await life.__aexit__(None, None, None)

    with asyncio.Runner() as runner:
        life, client = runner.run(start())
        try:
            yield lambda *args, **given: runner.run(client.request(*args, **given))
        finally:
            runner.run(end(life, client))


def send_requests(app: ServiceApp, requests: Iterable[tuple[str, str, Mapping[str, Any]]]) -> list[httpx.Response]:
    """Send requests one after the other; return the responses."""
    with open_client(app) as ask:
        return [ask(method, path, **given) for method, path, given in requests]


@contextmanager
def serve_over_sockets(app: ServiceApp, timeout_s: float = 10.0) -> Iterator[str]:
    """Serve an application from a thread as `swapcli serve` does, with its own HTTP protocol; yield its URL."""
    listener = bind("127.0.0.1", 0)
    running = server._new_server(app, server.ServerLimits(timeout_s=timeout_s), app.metrics.record_refusal)
    started = Event()
    running.on_ready = started.set
    thread = Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    assert started.wait(30)
    try:
        yield base_url(listener)
    finally:
        running.should_exit = True
        thread.join()
        listener.close()
