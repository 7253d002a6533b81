"""A service on public nodes: two of them confirm a pool's state, once per block, before a payload is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import PublicNode
from swapcli.faces.service.app import create_app
from swapcli.interface.state_headers import WARNINGS_HEADER, WITNESSES_HEADER
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.openers.nodes import NodeOpener
from tests.chain.lying_public_nodes import behaving, moved_by, on_state, public_nodes
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import hangs_up
from tests.chain.proxy import Proxy
from tests.chain.trader import Trader
from tests.support.chain import restored
from tests.support.openers import user_setup
from tests.support.service import RECIPIENT, FakeClock, InProcessService


class World(NamedTuple):
    """A chain with public nodes, and what a service has read of it."""

    trader: Trader
    nodes: list[Proxy]
    market: MarketState
    folder: Path

    @contextmanager
    def service(self, *, reads_nodes: bool = True, market: MarketState | None = None) -> Iterator[InProcessService]:
        served = market or self.market
        clock = FakeClock(float(served.timestamp or 0))
        service = InProcessService({"anvil": lambda: served}, clock=clock)
        urls = tuple(PublicNode(f"http://127.0.0.1:{each.server_port}") for each in self.nodes)
        network = served.network._replace(public_nodes=urls)
        found = NodeOpener(user_setup(self.folder)).service_witnesses(network, is_public=True)
        assert found is not None
        if reads_nodes:
            service.app = create_app(service.registry, ServiceSettings(), witnesses={"anvil": found})
        try:
            yield service
        finally:
            service.close()


@pytest.fixture
def world(shared_trader: Trader, tmp_path: Path) -> Iterator[World]:
    with restored(shared_trader) as trader, public_nodes(trader.chain.node.port, 3) as nodes:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        head = trader.chain.node.ask("eth_getBlockByNumber", "latest", False)
        market = read_market(trader.world)._replace(
            provenance=Provenance.SYNCED, block=int(head["number"], 16), timestamp=int(head["timestamp"], 16)
        )
        yield World(trader, nodes, market, tmp_path)


def order(trader: Trader, **more: object) -> dict[str, object]:
    sold, bought = (trader.world.tokens[symbol] for symbol in ("WETH", "USDC"))
    terms = {"slippage": 1, "destination": RECIPIENT}
    return {"amount": 10**18, "tokenInAddress": sold.address, "tokenOutAddress": bought.address, **terms, **more}


def payloads(service: InProcessService, trader: Trader) -> Iterator[tuple[str, httpx.Response]]:
    """The responses of the endpoints with transactions."""
    query = order(trader)
    route = {name: query[name] for name in ("amount", "tokenInAddress", "tokenOutAddress")}
    yield "routeAndCalldata", service.get("/anvil/routeAndCalldata", query)
    found = service.get("/anvil/route", route).json()
    terms: Mapping[str, Any] = {"route": found, "slippage": 1, "destination": RECIPIENT}
    yield "execute", service.post("/anvil/execute", terms)
    yield "calldata", service.post("/anvil/calldata", terms)


def test_two_nodes_confirm_each_payload_and_its_body_stays(world: World) -> None:
    with world.service() as service, world.service(reads_nodes=False) as other:
        unconfirmed = dict(payloads(other, world.trader))
        for endpoint, response in payloads(service, world.trader):
            assert response.status_code == 200, (endpoint, response.text)
            assert response.headers[WITNESSES_HEADER] == "2", endpoint
            assert response.json() == unconfirmed[endpoint].json(), endpoint
            assert WITNESSES_HEADER not in unconfirmed[endpoint].headers


def test_a_pool_is_confirmed_once_per_block(world: World) -> None:
    with world.service() as service:
        for _ in range(3):
            assert service.get("/anvil/routeAndCalldata", order(world.trader)).headers[WITNESSES_HEADER] == "2"
            counts = [len(each.exchanges) for each in world.nodes]
        first = counts
        assert service.get("/anvil/routeAndCalldata", order(world.trader)).status_code == 200
        assert [len(each.exchanges) for each in world.nodes] == first


def test_details_have_the_count(world: World) -> None:
    with world.service() as service:
        response = service.get("/anvil/routeAndCalldata", order(world.trader, details="true"))
        assert response.json()["route"]["witnesses"] == 2, response.text


def test_a_route_needs_no_confirmation(world: World) -> None:
    with world.service() as service:
        query = order(world.trader)
        response = service.get("/anvil/route", {k: query[k] for k in ("amount", "tokenInAddress", "tokenOutAddress")})
        assert response.status_code == 200
        assert WITNESSES_HEADER not in response.headers
        assert not any(each.exchanges for each in world.nodes)


@pytest.mark.parametrize("direction", ["better", "worse"])
def test_state_that_the_nodes_do_not_have_is_refused(world: World, direction: str) -> None:
    sold, bought, whole = ("USDC", "WETH", 60_000) if direction == "better" else ("WETH", "USDC", 20)
    trader = world.trader.copy()
    snapshot = trader.chain.node.ask("evm_snapshot")
    tokens = trader.world.tokens
    from swapcli.core.model.order import Order

    trader.execute(trader.quote_trade(Order(tokens[sold], tokens[bought], whole * 10 ** tokens[sold].decimals)))
    moved = read_market(trader.world)
    assert trader.chain.node.ask("evm_revert", snapshot)
    lied = world.market._replace(pools=moved.pools)
    with world.service(market=lied) as service:
        response = service.get("/anvil/routeAndCalldata", order(world.trader))
        assert response.status_code == 503, response.text
        assert "different states at block" in response.json()["message"]


def test_a_lying_witness_is_outvoted(world: World) -> None:
    lie = on_state(moved_by(world.trader, "WETH", "USDC", 20))
    for liar in world.nodes:
        for node in world.nodes:
            node.always = behaving(lie if node is liar else None)
        with world.service() as service:
            response = service.get("/anvil/routeAndCalldata", order(world.trader))
            assert (response.status_code, response.headers.get(WITNESSES_HEADER)) == (200, "2"), response.text


def test_without_a_second_node_there_is_a_warning(world: World) -> None:
    for node in world.nodes[1:]:
        node.always = hangs_up
    with world.service() as service:
        response = service.get("/anvil/routeAndCalldata", order(world.trader))
        assert response.status_code == 200, response.text
        assert response.headers[WITNESSES_HEADER] == "1"
        assert "STATE_UNCONFIRMED" in response.headers[WARNINGS_HEADER]
