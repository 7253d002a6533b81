"""A service in this process, a clock that only moves when told, and requests that work."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import httpx
from starlette.applications import Starlette

from swapcli.api.timestamps import format_iso_utc
from swapcli.config.settings import ServiceSettings
from swapcli.engine.clock import Clock
from swapcli.engine.load_market import open_market
from swapcli.model.market import Market
from swapcli.model.order import ZERO_ADDRESS
from swapcli.networks.address import display_address
from swapcli.networks.catalogue import network, network_names
from swapcli.service.access_log import AccessLog
from swapcli.service.access_policy import KeyLookup, NoKeys
from swapcli.service.app import create_app
from swapcli.service.market_registry import MarketOpener, MarketRegistry
from tests.cli.build import NOW_S, USDC, market_document, small_market

RECEIVER = "0x" + "12" * 20
FELT_RECEIVER = "0x" + "12".zfill(64)
ROUTER = "0x" + "77" * 20
EVM_NETWORKS = tuple(name for name in network_names() if name != "starknet")
JSON = {"Content-Type": "application/json"}

Json = Any


class FakeClock:
    """Stands still until it is moved. A look at the timer takes no time."""

    def __init__(self, now_s: float = NOW_S) -> None:
        self.now_s = now_s
        self.clock = Clock(lambda: self.now_s, lambda: self.now_s)

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds


@cache
def embedded(name: str) -> Market:
    """The embedded market of a network."""
    return open_market(name, network).market


@cache
def tiny() -> Market:
    """The market that the tests know by heart, with a router: `testnet`."""
    document = market_document()
    return small_market(network=document["network"] | {"router": ROUTER})


class World:
    """A service and whoever asks it. Requests do not touch a socket."""

    def __init__(
        self,
        markets: Mapping[str, MarketOpener],
        *,
        settings: ServiceSettings | None = None,
        keys: KeyLookup | None = None,
        clock: FakeClock | None = None,
        client: str = "127.0.0.1",
    ) -> None:
        self.time = clock or FakeClock()
        networks = [network(name) if name in network_names() else opener().network for name, opener in markets.items()]
        self.registry = MarketRegistry(networks, markets, self.time.clock)
        self.log = io.StringIO()
        self.app: Starlette = create_app(
            self.registry, settings or ServiceSettings(), keys=keys or NoKeys(), log=AccessLog(self.log)
        )
        self._client = client
        self._runner = asyncio.Runner()

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """The answer to a request, as httpx sends it."""
        answer: httpx.Response = self.run(self.ask_async(method, path, **request))
        return answer

    async def ask_async(self, method: str, path: str, **request: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self.app, client=(self._client, 1234))
        async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as client:
            response: httpx.Response = await client.request(method, path, **request)
            return response

    async def ask_raw(self, method: str, path: str, query: bytes) -> tuple[int, bytes]:
        """Status and body of the answer to a query that no client library would send."""
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
        """What a coroutine on the service's loop gives."""
        return self._runner.run(work)

    @property
    def meta(self) -> Json:
        """What an answer of the second generation carries now."""
        return {"apiVersion": "2.0", "timestamp": format_iso_utc(self.registry.now_ms())}

    def get(self, path: str, query: Mapping[str, object] | None = None, **request: Any) -> httpx.Response:
        return self.ask("GET", path, params=dict(query or {}), **request)

    def post(self, path: str, body: Json, **request: Any) -> httpx.Response:
        return self.ask("POST", path, json=body, **request)

    def found(self, path: str, query: Mapping[str, object]) -> Json:
        """The document of an answer that must be a success."""
        answer = self.get(path, query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def lines(self) -> list[Json]:
        """The lines of the log so far."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]

    def close(self) -> None:
        self._runner.close()


@contextmanager
def world(*names: str, **settings: Any) -> Iterator[World]:
    """A service of embedded markets, and of `testnet`."""
    served = World({name: opener(name) for name in names}, **settings)
    try:
        yield served
    finally:
        served.close()


def opener(name: str) -> Callable[[], Market]:
    return tiny if name == "testnet" else lambda: embedded(name)


def order(name: str, amount: int | None = None, **more: str) -> dict[str, str]:
    """A query that finds a route: some native token for the first stablecoin; on starknet its ordinary tokens."""
    market = tiny() if name == "testnet" else embedded(name)
    served = market.network
    native = served.native.address if name == "starknet" else ZERO_ADDRESS
    dollar = USDC if name == "testnet" else next(each for each in served.stablecoins if each in market.tokens)
    return {
        "amount": str(10**18 if amount is None else amount),
        "tokenInAddress": native,
        "tokenOutAddress": display_address(dollar, served.kind),
        **more,
    }


def receiver(name: str) -> str:
    return FELT_RECEIVER if name == "starknet" else RECEIVER


def terms(name: str, slippage: Any = 0.5) -> dict[str, Any]:
    return {"slippage": slippage, "destination": receiver(name)}
