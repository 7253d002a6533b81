"""Recipients that lose what they are sent are refused by every face, and burning is warned of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swapcli import Market
from swapcli.core.errors import InvalidAddress, UnsafeRecipient
from swapcli.core.networks.catalogue import all_network_names, find_network
from swapcli.payload.checks.recipients import BURN_ADDRESS, check_recipient, describe_contract
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import known_contract
from swapcli.quoting.sources.stored import StoreSource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.state.store.build import imported
from tests.support.command import CommandResult, run_swapcli
from tests.support.service import (
    FELT_RECIPIENT,
    InProcessService,
    build_order_query,
    build_swap_terms,
    in_process_service,
)
from tests.support.testnet import DIRECT_V3, USDC, build_market_document, build_testnet_market

WALLET = "0x" + "81" * 20
ROUTER = "0x" + "c0" * 20
PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
MULTICALL = "0xca11bde05977b3631167028862be2a173976ca11"
ORDER = ("testnet", "ETH", "USDC", "1")
LOST = [USDC, DIRECT_V3, ROUTER, PERMIT2, MULTICALL, "0x" + "1".zfill(40), "0x" + "100".zfill(40)]


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> str:
    document = build_market_document()
    document["network"]["router"] = ROUTER
    file = tmp_path_factory.mktemp("recipients") / "market.json"
    file.write_text(json.dumps(document))
    return str(file)


def build(market: str, recipient: str, *words: str) -> CommandResult:
    return run_swapcli("calldata", *ORDER, "--market", market, "--destination", recipient, "--json", *words)


# What is known of an address.


@pytest.mark.parametrize("name", all_network_names())
def test_every_contract_of_the_catalogue_is_described(name: str) -> None:
    network = find_network(name)
    contracts = {network.router, network.multicall, network.l1_fee_oracle, network.wrapped_native_address}
    contracts |= {network.l1_gas_oracle}
    contracts |= {token.address for token in network.tokens if token.address != network.native.address}
    contracts |= {each for router in network.routers.values() for each in (router.address, router.spender)}
    for deployment in network.deployments:
        contracts |= {*deployment.addresses.values(), *(each for hooks in deployment.hooks.values() for each in hooks)}
    known = contracts - {None}
    assert len(known) > 10
    assert {each for each in known if each and describe_contract(each, network) is None} == set()


@pytest.mark.parametrize(
    ("name", "address", "is_known"),
    [
        ("base", f"0x42{'7ff'.zfill(38)}", True),
        ("base", f"0x42{'800'.zfill(38)}", False),
        ("hyperevm", "0x" + "22" * 20, True),
        ("hyperevm", f"0x20{'10d'.zfill(38)}", True),
        ("base", "0x" + "22" * 20, False),
        ("monad", "0x" + "1000".zfill(40), True),
        ("monad", "0x" + "10000".zfill(40), False),
        ("base", BURN_ADDRESS, False),
        ("starknet", "0x" + "1".zfill(64), True),
        ("starknet", "0x" + "1234".zfill(64), False),
        ("starknet", "0x" + "1".zfill(47) + "0" * 17, True),
        ("starknet", "0x" + "0" * 24 + "f" * 40, True),
        ("starknet", "0x" + "1".zfill(24) + "0" * 40, False),
    ],
)
def test_system_addresses_are_those_of_their_network(name: str, address: str, is_known: bool) -> None:
    assert (describe_contract(address, find_network(name)) is not None) == is_known


def test_a_wallet_passes_and_a_named_contract_too() -> None:
    network = find_network("base")
    check_recipient(WALLET, None, network)
    check_recipient(PERMIT2, None, network, {PERMIT2})
    with pytest.raises(UnsafeRecipient, match="is a pool of the market: the output would be lost"):
        check_recipient(WALLET, "a pool of the market", network, {PERMIT2})


def test_memory_and_store_know_the_same_contracts(tmp_path: Path) -> None:
    market = build_testnet_market()
    with imported(tmp_path / "a.sqlite", market) as store:
        stored, in_memory = StoreSource(store, SYSTEM_CLOCK), InMemorySource(market, SYSTEM_CLOCK)
        addresses = [*market.tokens, *(pool.address for pool in market.pools.values()), WALLET]
        described = [known_contract(in_memory, each) for each in addresses]
        assert [known_contract(stored, each) for each in addresses] == described
    assert described[-1] is None
    assert None not in described[:-1]


# The faces.


@pytest.mark.parametrize("recipient", LOST)
def test_commands_refuse_what_loses_the_output(market: str, recipient: str) -> None:
    route = run_swapcli("route", *ORDER, "--market", market, "--json")
    executed = ("execute", "-", "--market", market, "--destination", recipient, "--json")
    for ran in (build(market, recipient), run_swapcli(*executed, stdin=route.stdout.encode())):
        assert (ran.exit_code, ran.error["code"], ran.stdout) == (2, "UNSAFE_RECIPIENT", "")
        assert "--allow-recipient" in ran.error["hint"]
        assert ran.error["details"]["recipient"].lower() == recipient


def test_commands_build_for_a_contract_that_is_allowed(market: str) -> None:
    allowed = build(market, ROUTER, "--allow-recipient", ROUTER.upper().replace("X", "x"))
    assert allowed.exit_code == 0
    assert ROUTER.removeprefix("0x") in allowed.json["calldata"]
    assert build(market, ROUTER, "--allow-recipient", WALLET).exit_code == 2
    assert build(market, WALLET, "--allow-recipient", "router").error["code"] == "INVALID_ADDRESS"


def test_burning_is_warned_of_in_every_face(market: str) -> None:
    assert "RECIPIENT_BURNS" in [each["code"] for each in build(market, BURN_ADDRESS).json["warnings"]]
    route = run_swapcli("route", *ORDER, "--market", market, "--json")
    words = ("execute", "-", "--market", market, "--destination", BURN_ADDRESS)
    assert "the output would be burned" in run_swapcli(*words, stdin=route.stdout.encode()).stderr
    with Market.from_file(market) as opened:
        prepared = opened.quote("ETH", "USDC", "1").prepare(destination=BURN_ADDRESS)
    assert "RECIPIENT_BURNS" in [each.code for each in prepared.warnings]


def test_decode_says_that_the_output_is_lost(market: str) -> None:
    for recipient, code, status in ((USDC, "RECIPIENT_DIFFERS", 7), (BURN_ADDRESS, "RECIPIENT_BURNS", 0)):
        built = build(market, recipient, "--allow-recipient", recipient)
        calldata = ("decode", built.json["calldata"], "--market", market, "--json")
        ran = run_swapcli(*calldata)
        assert (ran.exit_code, code in [each["code"] for each in ran.json["warnings"]]) == (status, True)
    assert run_swapcli("decode", build(market, WALLET).json["calldata"], "--market", market, "--json").exit_code == 0


@pytest.mark.parametrize("recipient", LOST)
def test_the_library_refuses_unless_the_recipient_is_allowed(market: str, recipient: str) -> None:
    with Market.from_file(market) as opened:
        quote = opened.quote("ETH", "USDC", "1")
        with pytest.raises(UnsafeRecipient, match="would be lost") as caught:
            quote.transaction(destination=recipient)
        assert "allow_recipient" in (caught.value.hint or "")
        assert quote.transaction(destination=recipient, allow_recipient=recipient)["value"] == hex(10**18)


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service("base", "hyperevm", "citrea", "starknet") as served:
        yield served


def requests(service: InProcessService, recipient: str) -> dict[str, Any]:
    """Return the answers of every endpoint that builds transactions."""
    order, terms = build_order_query("base"), build_swap_terms("base") | {"destination": recipient}
    routes = {path: service.get_json(path, order) for path in ("/base/route", "/base/v2/route")}
    body = {**order, **terms}
    hyperevm = build_order_query("hyperevm") | build_swap_terms("hyperevm") | {"destination": recipient}
    return {
        "GET V1": service.get("/base/routeAndCalldata", order | {**terms, "slippage": "0.5"}),
        "GET V2": service.get("/base/v2/routeAndCalldata", order | {**terms, "slippage": "0.5"}),
        "GET hyperevm": service.get("/hyperevm/calldata", hyperevm | {"slippage": "0.5"}),
        "POST order": service.post("/base/calldata", body),
        "POST execute": service.post("/base/execute", {"route": routes["/base/route"], **terms}),
        "POST V2": service.post("/base/v2/calldata", {"route": routes["/base/v2/route"], **terms}),
    }


def test_the_service_refuses_with_the_reason(service: InProcessService) -> None:
    for name, answer in requests(service, PERMIT2).items():
        assert answer.status_code == 400, name
        reason = answer.json().get("details") or answer.json()["message"]
        assert "is Permit2: the output would be lost" in reason, name
        assert answer.json()["hint"] == "give your wallet's address", name


def test_the_service_builds_for_recipients_of_its_settings() -> None:
    with in_process_service("base", "hyperevm", allowed_recipients=[PERMIT2.upper().replace("X", "x")]) as served:
        for name, answer in requests(served, PERMIT2).items():
            assert answer.status_code == 200, name
        assert requests(served, MULTICALL)["POST V2"].status_code == 400


def test_the_service_warns_of_burning_in_its_headers(service: InProcessService) -> None:
    for name, answer in requests(service, BURN_ADDRESS).items():
        assert answer.status_code == 200, name
        assert "RECIPIENT_BURNS" in answer.headers["X-Swap-Warnings"], name


def test_starknets_batches_and_contracts_are_refused_too(service: InProcessService) -> None:
    router = find_network("starknet").router or ""
    order = build_order_query("starknet") | build_swap_terms("starknet") | {"destination": router, "slippage": "0.5"}
    answer = service.get("/starknet/calldata", order)
    assert (answer.status_code, "is the router" in str(answer.json())) == (400, True)


# An Ethereum address on Starknet.

ETHEREUM = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045"
STARKNET_ORDER = ("starknet", "STRK", "USDC", "1000")


@pytest.mark.parametrize("recipient", [ETHEREUM, f"0x{ETHEREUM[2:].zfill(64)}", "0x1234", "0x1"])
def test_no_face_takes_an_ethereum_address_on_starknet(service: InProcessService, recipient: str) -> None:
    route = run_swapcli("route", *STARKNET_ORDER, "--offline", "--json").stdout
    destination = ("--offline", "--json", "--destination", recipient)
    for ran in (
        run_swapcli("route", *STARKNET_ORDER, *destination),
        run_swapcli("calldata", *STARKNET_ORDER, *destination),
        run_swapcli("calldata", *STARKNET_ORDER, *destination, "--allow-recipient", recipient),
        run_swapcli("execute", "-", *destination, stdin=route.encode()),
    ):
        assert (ran.exit_code, ran.error["code"], ran.stdout) == (2, "INVALID_ADDRESS", "")
        assert "is an Ethereum address" in ran.error["message"]
    with Market.open("starknet", offline=True) as market:
        quote = market.quote("STRK", "USDC", "1000")
        with pytest.raises(InvalidAddress, match=r"destination: .* is an Ethereum address"):
            quote.transaction(destination=recipient, allow_recipient=recipient)
    order, terms = build_order_query("starknet"), {"slippage": "0.5", "destination": recipient}
    posted = {"route": service.get_json("/starknet/route", order), **terms, "slippage": 0.5}
    wallet = order | {"slippage": "0.5", "destination": FELT_RECIPIENT}
    for answer in (
        service.get("/starknet/calldata", order | terms),
        service.post("/starknet/execute", posted),
        service.post("/starknet/calldata", order | terms | {"slippage": 0.5}),
    ):
        assert answer.status_code == 400
        assert "is an Ethereum address" in answer.json()["hint"]
    assert service.get("/starknet/calldata", wallet).status_code == 200


def test_decode_shows_an_ethereum_address_on_starknet_as_lost() -> None:
    wallet = "0x0" + "1" * 63
    built = run_swapcli("calldata", *STARKNET_ORDER, "--offline", "--json", "--destination", wallet).json
    felts = [str(int(ETHEREUM, 16)) if int(each, 0) == int(wallet, 16) else each for each in built["calldata"]]
    assert felts != built["calldata"]
    ran = run_swapcli("decode", json.dumps(felts), "--network", "starknet", "--offline", "--json")
    assert ran.exit_code == 7, ran.stderr
    assert any("is an Ethereum address" in each["message"] for each in ran.json["warnings"])
