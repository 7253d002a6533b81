"""The reading of a router on the command line: found by one process, used by the next, forgotten with the code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.model.market import Provenance
from swapcli.core.model.router_variant import ExtraDataForm, RateVariant, RouterVariant
from swapcli.payload.evm import decode_call
from swapcli.state.markets.format import render_market
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.test_checks_commands import BOB, Client
from tests.chain.trader import USER, Trader
from tests.chain.variant_routers import deploy_reading_router
from tests.support.chain import restored
from tests.support.command import clean_environment, run_swapcli
from tests.support.service_process import SWAPCLI_COMMAND, run_service

READING = RouterVariant(RateVariant.ABSOLUTE_INPUT, ExtraDataForm.WORD)
ORDER = ("ETH", "USDC", "400")
"""Large enough to split the input."""


@pytest.fixture
def client(shared_trader: Trader, tmp_path: Path) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        router = deploy_reading_router(trader, READING).address
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain), router=router)
        trader.market = trader.market._replace(network=trader.world.network)
        client = Client(trader, tmp_path)
        settings = json.loads(client.settings.read_text()) | {"check": "never"}  # else a guess that reverts is refused
        client.settings.write_text(json.dumps(settings))
        yield client


def received(client: Client, document: dict[str, Any]) -> int:
    """Return what the printed transactions pay when they are mined, and revert them."""
    usdc = client.trader.world.address("USDC")
    with client.trader.chain.revert_after():
        before = client.trader.world.balance(usdc, BOB)
        assert client.mine(document["transactions"][-1])
        return client.trader.world.balance(usdc, BOB) - before


def test_a_simulation_finds_the_reading(client: Client) -> None:
    ran = client.calldata(*ORDER, "--simulate", "--json")
    assert ran.exit_code == 0, ran.stderr
    document = ran.json
    call = decode_call(document["calldata"])
    assert len([swap for swap in call.swaps if swap.token_in == call.route.token_in]) > 1
    assert document["simulation"]["reading"]["extraData"] == ["word"]
    assert "absolute_input" in document["simulation"]["reading"]["rate"]
    assert "relative" not in document["simulation"]["reading"]["rate"]
    amount = int(document["route"]["outputAmount"])
    assert amount == int(document["simulation"]["expected"]) == received(client, document)
    table = client.calldata(*ORDER, "--simulate", "--format=plain")
    assert "extra data as a word" in table.stdout
    listed = run_swapcli("protocols", client.name, "--json", env={"SWAPCLI_CONFIG": str(client.settings)}).json
    agreed = {each["protocolId"]: each["lastAgreed"]["block"] for each in listed if "lastAgreed" in each}
    assert agreed == {swap.protocol_id: document["simulation"]["block"] for swap in call.swaps if swap.protocol_id}


def test_the_next_process_knows_the_reading(client: Client) -> None:
    guessed = client.calldata(*ORDER, "--json").json
    found = client.calldata(*ORDER, "--simulate", "--json").json
    words = ("calldata", client.name, *ORDER, "--destination", BOB, "--json")
    environment = clean_environment({"SWAPCLI_CONFIG": str(client.settings)})
    ran = subprocess.run([*SWAPCLI_COMMAND, *words], capture_output=True, env=environment, check=True)
    document = json.loads(ran.stdout)
    assert document["calldata"] == found["calldata"] != guessed["calldata"]
    assert received(client, document) == int(document["route"]["outputAmount"])
    route = client.route(*ORDER)
    executed = client.execute(route, "--json").json
    assert received(client, executed) == int(json.loads(route)["outputAmount"])


def test_the_reading_is_forgotten_with_the_code(client: Client) -> None:
    guessed = client.calldata(*ORDER, "--from", USER, "--json").json
    found = client.calldata(*ORDER, "--from", USER, "--simulate", "--json").json
    assert client.calldata(*ORDER, "--from", USER, "--json").json["calldata"] == found["calldata"]
    node, router = client.trader.chain.node, client.trader.world.network.router
    code = node.ask("eth_getCode", router, "latest")
    node.ask("anvil_setCode", router, f"{code}00")
    for _ in range(2):
        assert client.calldata(*ORDER, "--from", USER, "--json").json["calldata"] == guessed["calldata"]


def test_a_new_router_is_noticed_with_the_block(client: Client) -> None:
    """Without any check of the sender or the payload, and without another exchange."""
    guessed = client.calldata(*ORDER, "--json").json
    found = client.calldata(*ORDER, "--simulate", "--json").json
    route = client.route(*ORDER)
    assert client.calldata(*ORDER, "--json").json["calldata"] == found["calldata"] != guessed["calldata"]
    node, router = client.trader.chain.node, client.trader.world.network.router
    with client.trader.chain.revert_after():
        node.ask("anvil_setCode", router, f"{node.ask('eth_getCode', router, 'latest')}00")
        changed = client.calldata(*ORDER, "--json")
        assert changed.json["calldata"] == guessed["calldata"]
        assert changed.json["route"]["outputAmount"] == guessed["route"]["outputAmount"]
        executed = decode_call(client.execute(route, "--slippage", "5", "--json").json["calldata"])
        forms = {len(swap.extra_data) for swap in executed.swaps}
        assert forms == {len(swap.extra_data) for swap in decode_call(guessed["calldata"]).swaps}
        assert forms != {len(swap.extra_data) for swap in decode_call(found["calldata"]).swaps}
    assert client.calldata(*ORDER, "--json").json["calldata"] == found["calldata"]


def test_a_payload_of_a_service_is_tried_as_its_variant_only(client: Client) -> None:
    file = client.folder / "market.json"
    market = read_market(client.trader.world)._replace(block=3, timestamp=1, provenance=Provenance.MODELLED)
    file.write_text(render_market(market))
    env = {"SWAPCLI_CONFIG": str(client.settings), "SWAPCLI_LIVE": "never"}  # the user requests modelled prices
    with run_service("--market", str(file), env=env) as service:
        ran = client.calldata(*ORDER, "--api-url", service.url, "--simulate", "--json")
    assert ran.error["code"] == "SIMULATION_FAILED"
    assert ran.error["hint"].startswith("only the service's router variant was simulated")
    assert client.calldata(*ORDER, "--simulate", "--json").exit_code == 0


def test_without_a_variant_that_pays_it_is_refused(client: Client) -> None:
    router = deploy_reading_router(client.trader, READING, skimmed=10**6).address
    node = client.trader.chain.node
    node.ask("anvil_setCode", client.trader.world.network.router, node.ask("eth_getCode", router, "latest"))
    ran = client.calldata(*ORDER, "--simulate", "--json")
    assert ran.exit_code != 0
    assert ran.error["code"] == "SIMULATION_FAILED"
