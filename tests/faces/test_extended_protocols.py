"""Protocols that the interface does not list are used only by those who ask for them, by every face."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.model.market import MarketState
from swapcli.core.model.network import FIBROUS, OWN, Network
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.interface.route import parse_result
from swapcli.payload.evm.router.deployment import PROTOCOL_IDS
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.markets.format import parse_market
from swapcli.state.sync import SyncFilter
from tests.support.command import CommandResult, run_swapcli
from tests.support.service import InProcessService
from tests.support.testnet import DIRECT_V2, USDC, WETH, build_market_document, raise_unknown_network

FIRST_ID = 100
EXTENDED = "uniswapV2"
ORDER = {"amount": str(25 * 10**18), "tokenInAddress": WETH, "tokenOutAddress": USDC}
TERMS = {"slippage": "0.5", "destination": "0x" + "77" * 20}


def market_document() -> dict[str, Any]:
    """Return the test network's market, whose best pools belong to an extended protocol."""
    document = build_market_document()
    protocols = document["network"]["protocols"]
    document["network"]["protocols"] = [
        {**each, "id": FIRST_ID} if each["amm_name"] == EXTENDED else each for each in protocols
    ]
    document["network"]["router"] = "0x" + "d0" * 20
    return document


def network_settings() -> dict[str, Any]:
    """Return the test network as the settings describe it."""
    network = market_document()["network"]
    protocols = [{**each, "extended": each["amm_name"] == EXTENDED} for each in network["protocols"]]
    known = {key: network[key] for key in ("chain_id", "native", "wrapped_native", "router")}
    return known | {"protocols": protocols, "routers": {OWN: {"address": network["router"]}}}


def market_file(folder: Path) -> Path:
    file = folder / "market.json"
    file.write_text(json.dumps(market_document()))
    return file


def extended_market() -> MarketState:
    market = parse_market(json.dumps(market_document()), networks=raise_unknown_network).market
    return market._replace(network=with_extended(market.network))


def with_extended(network: Network) -> Network:
    protocols = (each._replace(is_extended=each.amm_name == EXTENDED) for each in network.protocols)
    return network._replace(protocols=tuple(protocols))


def ids_of(route: Any) -> set[int]:
    return {swap.protocol_id for segment in route.segments for hop in segment.hops for swap in hop}


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    served = InProcessService({"testnet": extended_market})
    yield served
    served.close()


@pytest.mark.parametrize("path", ["route", "v2/route"])
def test_the_service_uses_them_on_request_only(service: InProcessService, path: str) -> None:
    network = extended_market().network
    plain, listed, extended = (
        parse_result(service.get(f"/testnet/{path}", {**ORDER, **more}).json(), network)
        for more in ({}, {"protocols": "listed"}, {"protocols": "extended"})
    )
    assert plain.output_amount == listed.output_amount < extended.output_amount
    assert max(ids_of(plain) | ids_of(listed)) < FIRST_ID <= max(ids_of(extended))


def test_the_service_lists_them_on_request_only(service: InProcessService) -> None:
    plain = service.get("/testnet/protocols").json()
    extended = service.get("/testnet/protocols", {"protocols": "extended"}).json()
    assert {"amm_name": EXTENDED, "protocol": FIRST_ID} in extended
    assert EXTENDED not in {each["amm_name"] for each in plain}
    assert len(extended) == len(plain) + 1


@pytest.mark.parametrize("path", ["route", "v2/route", "protocols"])
def test_other_lists_are_refused(service: InProcessService, path: str) -> None:
    response = service.get(f"/testnet/{path}", {**ORDER, "protocols": "all"})
    assert response.status_code == 400
    assert "listed, extended" in response.text


def test_the_public_router_does_not_execute_them(service: InProcessService) -> None:
    query = {**ORDER, **TERMS}
    assert service.get("/testnet/v2/routeAndCalldata", query).status_code == 200
    refused = service.get("/testnet/v2/routeAndCalldata", {**query, "protocols": "extended"})
    assert refused.status_code == 400
    assert EXTENDED in refused.text


@pytest.mark.parametrize("name", network_names())
def test_their_ids_are_apart_from_those_of_the_interface(name: str) -> None:
    for protocol in find_network(name).protocols:
        assert protocol.is_extended is (protocol.id >= FIRST_ID)
        assert protocol.id < PROTOCOL_IDS


@pytest.mark.parametrize("name", ["base", "hyperevm"])
def test_sync_stores_them_only_where_they_are_named(name: str) -> None:
    network = find_network(name)
    extended = network.extended_protocols
    assert extended
    listed = SyncFilter().protocols_on(network)
    assert listed is not None
    assert set(listed) == {protocol.amm_name for protocol in network.protocols} - extended
    assert SyncFilter(protocols=extended).protocols_on(network) == extended
    factories, _ = find_factories(network, sorted(extended))
    # The definition has the sampled pools that nothing announces.
    announced = {each.amm_name for each in network.protocols if each.is_extended and each.family != "sampled"}
    assert {protocol.amm_name for factory in factories for protocol in factory.all_protocols} == announced


def test_the_command_line_lists_them() -> None:
    listed = json.loads(run_swapcli("protocols", "base", "--json").stdout)
    assert {each["protocol"] for each in listed if each["extended"]} == find_network("base").extended_protocols


def run_order(command: str, folder: Path, *more: str) -> CommandResult:
    """Run a command with the order on the market of the test network."""
    config = folder / "config.yaml"
    config.write_text(json.dumps({"networks": {"testnet": network_settings()}}))
    options = ("--market", str(market_file(folder)), "--config", str(config), "--json", *more)
    return run_swapcli(command, "testnet", WETH, USDC, "25", *options)


def test_an_option_of_the_command_line_adds_them(tmp_path: Path) -> None:
    plain, extended = (run_order("route", tmp_path, *more).stdout for more in ((), ("--extended-protocols",)))
    assert int(json.loads(plain)["outputAmount"]) < int(json.loads(extended)["outputAmount"])
    assert DIRECT_V2 not in plain.lower()
    assert DIRECT_V2 in extended.lower()


def test_an_order_that_only_they_fill_names_the_option(tmp_path: Path) -> None:
    refused = run_order("route", tmp_path, "--exclude-protocols", "uniswapV3")
    assert refused.exit_code != 0
    assert "add the extended protocols (--extended-protocols): uniswapV2 has pools for this order" in refused.stderr


def test_only_the_router_contract_executes_them(tmp_path: Path) -> None:
    options = ("--extended-protocols", "--destination", TERMS["destination"], "--router-dialect")
    refused, executed = (run_order("calldata", tmp_path, *options, dialect) for dialect in (FIBROUS, OWN))
    assert "does not support the protocol uniswapV2" in refused.stderr
    assert "use the router dialect own, or find a route without --extended-protocols" in refused.stderr
    assert json.loads(executed.stdout)["calldata"], executed.stderr
