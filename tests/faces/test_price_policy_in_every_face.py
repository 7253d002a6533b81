"""One rule for prices that are not real, in every face: a table of faces and situations, each cell with its outcome.

A face that is added gets a row in `TABLE`, and a function in `FACES` that returns its outcome in a situation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest

from swapcli.core.model.market import Provenance
from swapcli.core.model.network import Network
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.service.endpoint_table import EVENT_STREAM, Endpoint, endpoints_of
from swapcli.faces.service.examples import build_example
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.quoting.price_policy import PriceRequest, PriceUse
from tests.chain.contract_fixture import WETH
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.trader import Trader
from tests.examples import few
from tests.faces.situations import (
    Situation,
    State,
    live_settings,
    market_file,
    open_service,
    stored,
)
from tests.support.chain import restored
from tests.support.command import run_swapcli
from tests.support.markets import embedded_market
from tests.support.service import ROUTER, SendRequest, build_app, build_order_query, build_swap_terms, serve_app

COLUMNS = (
    State.LIVE, State.STORED, State.RECORDED_FILE, State.SYNTHETIC_FILE, State.SYNTHETIC_FILE_OFFLINE, State.OFFLINE,
    State.NEVER, State.UNREQUESTED, State.REAL_SERVICE, State.UNREAL_SERVICE,
)  # fmt: skip
NOWHERE = None
"""The face has no such situation: a service quotes itself."""

_QUOTES = (200, 200, 200, 200, 200, 200, 200, 200, NOWHERE, NOWHERE)
_NUMBERS = (200, 200, 200, 200, 200, 200, 200, 503, NOWHERE, NOWHERE)
_PAYLOADS = (200, 200, 200, 503, 200, 200, 200, 503, NOWHERE, NOWHERE)
TABLE: Mapping[str, tuple[int | None, ...]] = {
    # Statuses of responses.
    "service route": _QUOTES,
    "service routePicture": _QUOTES,
    "service routeV2": _QUOTES,
    "service execute": _PAYLOADS,
    "service calldata": _PAYLOADS,
    "service routeAndCalldata": _PAYLOADS,
    "service decode": _PAYLOADS,
    "service calldataV2": _PAYLOADS,
    "service routeAndCalldataV2": _PAYLOADS,
    "service health": _NUMBERS,
    "service healthV2": _NUMBERS,
    "service readyz": _NUMBERS,
    "service readyz of the network": _NUMBERS,
    "service livez": _QUOTES,
    # Exit statuses of commands.
    "health": (0, 0, 0, 0, 0, 0, 0, 8, 0, 8),
}


class Scene:
    """The situations of a test run, and the service of each of them, which starts when it is needed."""

    def __init__(self, stack: ExitStack, trader: Trader, folder: Path) -> None:
        self._stack, self._trader, self._folder = stack, trader, folder
        self._services: dict[State, Mapping[str, int]] = {}
        self._situations: dict[State, Situation] = {}

    def situation(self, state: State) -> Situation:
        if state not in self._situations:
            folder = self._folder / state.name
            folder.mkdir()
            self._situations[state] = self._open(state, folder)
        return self._situations[state]

    def _open(self, state: State, folder: Path) -> Situation:
        match state:
            case State.LIVE:
                name = self._trader.world.network.name
                return Situation(state, name, env={"SWAPCLI_CONFIG": live_settings(self._trader, folder)})
            case State.STORED:
                return Situation(state, options={"store": stored(folder)}, env={"SWAPCLI_LIVE": "never"})
            case State.RECORDED_FILE:
                return Situation(state, options={"market": market_file(folder, Provenance.RECORDED)})
            case State.SYNTHETIC_FILE:
                return Situation(state, options={"market": market_file(folder, Provenance.SYNTHETIC)})
            case State.SYNTHETIC_FILE_OFFLINE:
                return Situation(state, options={"market": market_file(folder, Provenance.SYNTHETIC)}, offline=True)
            case State.OFFLINE:
                return Situation(state, offline=True)
            case State.NEVER:
                return Situation(state, env={"SWAPCLI_LIVE": "never"})
            case State.UNREQUESTED:
                return Situation(state)
            case State.REAL_SERVICE:
                return Situation(state, options={"api_url": self._serve(Provenance.RECORDED)})
            case State.UNREAL_SERVICE:
                return Situation(state, options={"api_url": self._serve(Provenance.MODELLED)})

    def _serve(self, provenance: Provenance) -> str:
        """Serve base with such prices, requested there; return the URL."""
        market = embedded_market("base")._replace(provenance=provenance)
        registry = MarketRegistry([market.network], {"base": lambda: market}, price_request=PriceRequest.OFFLINE)
        return self._stack.enter_context(serve_app(build_app(registry)))

    def responses(self, state: State) -> Mapping[str, int]:
        """Return the statuses of the service in a situation, by row."""
        if state not in self._services:
            situation = self.situation(state)
            with open_service(situation, situation.network) as send:
                order = self._order() if state is State.LIVE else build_order_query("base")
                network = self._trader.world.network if state is State.LIVE else find_network("base")
                statuses = {name: response.status_code for name, response in exchange(send, network, order)}
                pages = {"readyz": "/readyz", "readyz of the network": f"/readyz?network={network.name}"}
                for name, path in {**pages, "livez": "/livez"}.items():
                    statuses[name] = send("GET", path).status_code
                self._services[state] = statuses
        return self._services[state]

    def _order(self) -> dict[str, str]:
        tokens = self._trader.world.tokens
        ends = {"tokenInAddress": tokens[WETH].address, "tokenOutAddress": tokens["USDC"].address}
        return {"amount": str(10**18), **ends}


def health_status(scene: Scene, state: State) -> int:
    situation = scene.situation(state)
    return run_swapcli("health", situation.network, *situation.words, env=situation.environment).exit_code


def face_of(row: str) -> Callable[[Scene, State], int]:
    """Return the function that runs a row of the table."""
    if row.startswith("service "):
        return lambda scene, state: scene.responses(state)[row.removeprefix("service ")]
    return {"health": health_status}[row]


@pytest.fixture(scope="module")
def scene(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with restored(shared_trader) as trader, ExitStack() as stack:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain), block_time_s=60)
        # The latest block of a public node must be recent.
        trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
        trader.chain.node.ask("evm_mine")
        yield Scene(stack, trader, tmp_path_factory.mktemp("prices"))


CELLS = [
    pytest.param(row, state, outcome, id=f"{row}-{state.name.lower()}")
    for row, outcomes in TABLE.items()
    for state, outcome in zip(COLUMNS, outcomes, strict=True)
    if outcome is not NOWHERE
]


@pytest.mark.parametrize(("row", "state", "outcome"), CELLS)
def test_every_face_uses_prices_as_the_rule_allows(scene: Scene, row: str, state: State, outcome: int) -> None:
    assert face_of(row)(scene, state) == outcome


# --- the endpoints of every network


def exchange(send: SendRequest, network: Network, order: Mapping[str, str]) -> Iterator[tuple[str, httpx.Response]]:
    """Send a valid request to each endpoint of a network that uses prices; yield its name and the response."""
    name, terms = network.name, build_swap_terms(network.name if network.name == "starknet" else "base")
    route = send("GET", f"/{name}/route", params=order).json()
    of_v2 = send("GET", f"/{name}/v2/route", params=order).json()
    batch = {
        "amounts": f"{order['amount']},{order['amount']}",
        "tokenInAddresses": f"{order['tokenInAddress']},{order['tokenInAddress']}",
        "tokenOutAddresses": order["tokenOutAddress"],
    }
    signed = {"route_response": route, "slippage": 0.5, "signer": terms["destination"]}
    requests: dict[str, dict[str, Any]] = {
        "route": {"params": order},
        "routePicture": {"params": order},
        "execute": {"json": {"route": route, **terms}},
        "calldata": {"json": {**order, **terms}},
        "ownCalldata": {"json": signed} if name == "citrea" else {"params": {**order, **terms}},
        "routeAndCalldata": {"params": {**order, **terms}},
        "decode": {"json": decodable_call(name)},
        "health": {},
        "routeV2": {"params": order},
        "calldataV2": {"json": {"route": of_v2, **terms}},
        "routeAndCalldataV2": {"params": {**order, **terms}},
        "healthV2": {},
        "routeBatch": {"params": batch},
        "executeBatch": {"params": {**batch, **terms}},
    }
    for endpoint in priced_endpoints(network):
        path = endpoint.path.replace("{network}", name)
        yield endpoint.operation_id, send(endpoint.method, path, **requests[endpoint.operation_id])


@cache
def decodable_call(name: str) -> Mapping[str, object]:
    """Return the transaction of a swap on the embedded market; of a network without one any call."""
    if name not in network_names():
        return {"to": ROUTER, "calldata": "0x06fdde03"}
    example = build_example(embedded_market(name), int(time.time() * 1000))
    assert example is not None
    return example.transaction


def priced_endpoints(network: Network) -> list[Endpoint]:
    """Return the endpoints that use prices, but for the stream, which has the routes of V2."""
    found = [each for each in endpoints_of(network) if each.is_quote or each.use is PriceUse.NUMBER]
    return [each for each in found if each.content_type != EVENT_STREAM]


@pytest.fixture(scope="module")
def unreal() -> Iterator[SendRequest]:
    """The service of all networks as `swapcli serve` starts it, on a machine without a network."""
    with open_service(Situation(State.UNREQUESTED), *network_names()) as send:
        yield send


@pytest.mark.parametrize("name", network_names())
def test_a_service_builds_nothing_on_unrequested_prices(unreal: SendRequest, name: str) -> None:
    network = find_network(name)
    uses = {each.operation_id: each.use for each in priced_endpoints(network)}
    assert list(uses.values()).count(PriceUse.PAYLOAD) >= 3
    for operation, response in exchange(unreal, network, build_order_query(name)):
        document = response.json() if "svg" not in response.headers["Content-Type"] else {}
        if uses[operation] is PriceUse.SHOWN:
            assert response.status_code == 200, operation
            assert response.headers["X-Swap-State"] == "modelled"
            assert "LIVE_UNAVAILABLE" in response.headers["X-Swap-Warnings"]
            continue
        assert response.status_code == 503, operation
        assert f"the prices of {name} are modelled" in document["message"]
        # The options of the service's command line are for its operator, not for its clients.
        assert "--offline" not in response.text
        if uses[operation] is PriceUse.PAYLOAD:
            shape = {"statusCode", "message", "error", "hint", "code"} | (
                {"meta"} if operation.endswith("V2") else set()
            )
            assert (document.keys(), document["statusCode"]) == (shape, 503)
            assert "calldata" not in document


@pytest.mark.parametrize("name", few(network_names(), 2))
def test_a_service_that_is_offline_on_purpose_has_every_endpoint(name: str) -> None:
    with open_service(Situation(State.OFFLINE, offline=True), name) as send:
        for operation, response in exchange(send, find_network(name), build_order_query(name)):
            assert response.status_code == 200, (operation, response.text)


def test_a_bad_request_is_rejected_before_its_prices(unreal: SendRequest) -> None:
    bad = unreal("POST", "/base/execute", json={"route": {}, **build_swap_terms("base")})
    assert (bad.status_code, "statusCode" in bad.json()) == (400, False)


def test_the_details_of_a_quote_say_why_it_is_not_live(unreal: SendRequest) -> None:
    query = {**build_order_query("base"), "details": "true"}
    warnings = unreal("GET", "/base/v2/route", params=query).json()["warnings"]
    (reason,) = [each["message"] for each in warnings if each["code"] == "LIVE_UNAVAILABLE"]
    assert reason.startswith("no live prices for base: ")


def test_one_dead_network_leaves_a_service_in_rotation(tmp_path: Path) -> None:
    options = {"store": stored(tmp_path)}
    with open_service(Situation(State.UNREQUESTED, options=options), "base", "monad") as send:
        everything, dead, good = (send("GET", f"/readyz{query}") for query in ("", "?network=monad", "?network=base"))
        assert (everything.status_code, everything.json()) == (200, {"ready": True, "missing": ["monad"]})
        assert (dead.status_code, dead.json()) == (503, {"ready": False, "missing": ["monad"]})
        assert good.status_code == 200
        metrics = send("GET", "/metrics").text
        assert 'swapcli_market_real{network="monad"} 0.0' in metrics
        assert 'swapcli_market_real{network="base"} 1.0' in metrics


def test_every_endpoint_with_a_transaction_is_one_of_payloads() -> None:
    """An endpoint is checked as one with a transaction unless it says otherwise: those that do have none."""
    for name in network_names():
        for endpoint in endpoints_of(find_network(name)):
            if endpoint.use is not PriceUse.PAYLOAD:
                assert not {"calldata", "execute"} & set(endpoint.path.lower().split("/")), endpoint.path
                assert "calldata" not in endpoint.operation_id.lower()


def test_the_embedded_markets_are_modelled() -> None:
    assert {embedded_market(name).provenance for name in network_names()} == {Provenance.MODELLED}
